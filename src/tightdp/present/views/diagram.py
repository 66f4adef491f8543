"""How the structure of a compiled mechanism is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tightdp.methods.plan import Summary, Work
from tightdp.present.diagram import dot, picture, svg
from tightdp.present.registry import answer_of, file_of, view_of
from tightdp.present.view import Grid, View
from tightdp.results.diagram import Structure


@answer_of.register
def _structure_answer(result: Structure) -> dict[str, Any]:
    return {**result.counts, "plan": [_step(step) for step in result.plan]}


def _step(step: Summary) -> dict[str, Any]:
    found: dict[str, Any] = {"method": step.method}
    if step.refusal:
        return {**found, "refusal": step.refusal}
    works = [{"unit": work.unit, "estimated": work.estimated, "actual": work.actual} for work in step.work]
    return {**found, "work": works, "parts": [_step(part) for part in step.parts]}


def _rows(steps: Iterable[Summary], depth: int = 0) -> Iterator[tuple[str, ...]]:
    """Yield the methods that were looked at, with their work; of the parts of a program those that answer."""
    for step in steps:
        name = "  " * depth + step.method
        if step.refusal:
            if not depth:
                yield name, "", "", f"no: {step.refusal}"
            continue
        works = step.work or (Work(""),)
        for at, work in enumerate(works):
            yield name if not at else "", _amount(work.estimated, work), _amount(work.actual, work), "" if at else "yes"
        yield from _rows(step.parts, depth + 1)


def _amount(amount: int | None, work: Work) -> str:
    return "" if amount is None else f"{amount:,} {work.unit}"


@view_of.register
def _structure_view(result: Structure) -> View:
    facts = [(name.replace("_", " "), f"{count:,}") for name, count in result.counts.items()]
    facts.append(("method", result.stats.method))
    facts += [("symmetry", words) for words in result.symmetry.words]
    for name in ("inference_set", "privacy_set", "accuracy_set"):
        size = getattr(result.symmetry, name)
        if size is not None:
            facts.append((name.replace("_", " "), f"{size:,}"))
    grid = Grid(("plan", "estimated", "actual", "taken"), tuple(_rows(result.plan))) if result.plan else None
    return View(f"{result.subject}, neighbours: {result.neighbours}", tuple(facts), grid, picture=picture(result))


@file_of.register
def _structure_file(result: Structure, form: str) -> str:
    return dot(result) if form == "dot" else svg(result)
