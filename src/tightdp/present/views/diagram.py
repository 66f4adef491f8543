"""How the structure of a compiled mechanism is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tightdp.methods.plan import Summary, Work
from tightdp.present.diagram import dot, picture, svg
from tightdp.present.show import file_of, view_of
from tightdp.present.view import Grid, View
from tightdp.results.diagram import DiagramSize, Structure

_SETS = ("inference_set", "privacy_set", "accuracy_set")


@view_of.register
def _structure_view(result: Structure) -> View:
    seen = _size_view(result.size)
    facts = [*seen.facts, ("method", result.stats.method), *(("symmetry", words) for words in result.symmetry.words)]
    sizes = {name: getattr(result.symmetry, name) for name in _SETS}
    facts += [(name.replace("_", " "), f"{size:,}") for name, size in sizes.items() if size is not None]
    grid = Grid(("plan", "estimated", "actual", "taken"), tuple(_rows(result.plan))) if result.plan else None
    return View(seen.heading, facts, grid, picture=picture(result))


def _rows(plan: Iterable[Summary], depth: int = 0) -> Iterator[tuple[str, ...]]:
    """Yield the methods that were looked at, with their work; of the parts of a program those that answer."""
    for step in plan:
        name = "  " * depth + step.method
        if step.refusal:
            if not depth:
                yield name, "", "", f"no: {step.refusal}"
            continue
        for at, work in enumerate(step.work or (Work(""),)):
            amounts = ("" if each is None else f"{each:,} {work.unit}" for each in (work.estimated, work.actual))
            yield "" if at else name, *amounts, "" if at else "yes"
        yield from _rows(step.parts, depth + 1)


@view_of.register
def _size_view(result: DiagramSize) -> View:
    facts = [(name.replace("_", " "), f"{count:,}") for name, count in result.counts]
    return View(f"{result.subject}, neighbours: {result.neighbours}", facts)


@file_of.register
def _structure_file(result: Structure, form: str) -> str:
    return dot(result) if form == "dot" else svg(result)
