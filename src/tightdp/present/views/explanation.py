"""How an explanation is shown: the line to blame, its remedies, the draws, the smallest instance."""

from __future__ import annotations

import math
from typing import Any

from tightdp.exact.numbers import Exact, as_text
from tightdp.present.registry import answer_of, json_of, record_of, view_of
from tightdp.present.view import Grid, View
from tightdp.present.views.result import heading, unresolved_remark, witness_sentence
from tightdp.present.words import brief, listed, plain, shown_number
from tightdp.results.explanation import DrawLoss, Explanation, Remedy, Smallest


@record_of.register
def _draw_record(draw: DrawLoss) -> dict[str, Any]:
    return {
        "line": draw.line,
        "text": draw.text,
        "published": plain(draw.published),
        "fixed": plain(draw.fixed),
    }


@record_of.register
def _remedy_record(remedy: Remedy) -> dict[str, Any]:
    return {
        "line": remedy.line,
        "before": remedy.before,
        "after": remedy.after,
        "loss": plain(remedy.loss),
        "holds": remedy.holds,
        "moved": plain(remedy.moved),
    }


@record_of.register
def _smallest_record(found: Smallest) -> dict[str, Any]:
    return {
        "parameters": {name: plain(value) for name, value in found.parameters},
        "records": plain(found.records),
        "loss": plain(found.loss),
        "witness": json_of(found.witness),
    }


@answer_of.register
def _explanation_answer(result: Explanation) -> dict[str, Any]:
    answer: dict[str, Any] = {"exp_epsilon": plain(result.exp_epsilon)}
    if result.witness is not None:
        answer["witness"] = json_of(result.witness)
    answer["draws"] = [json_of(draw) for draw in result.draws]
    if result.claimed is not None:
        answer |= {"claimed": plain(result.claimed), "delta": plain(result.delta), "holds": result.holds}
        answer |= {"line": result.line, "remedies": [json_of(remedy) for remedy in result.remedies]}
    if result.smallest is not None:
        answer["smallest"] = json_of(result.smallest)
    return answer


@view_of.register
def _explanation_view(result: Explanation) -> View:
    facts = [("tight e^ε", _number(result.exp_epsilon))]
    said = [witness_sentence(result.witness)] if result.witness is not None else []
    if result.claimed is not None:
        at = f" and δ = {as_text(result.delta)}" if result.delta else ""
        verdict = "holds" if result.holds else "refuted"
        facts.append((f"claim e^ε = {as_text(result.claimed)}{at}", verdict))
    if result.line is not None:
        facts.append((f"to blame: line {result.line}", result.source[result.line - 1].strip()))
    for draw in result.draws:
        published, fixed = _number(draw.published), _number(draw.fixed)
        facts.append((f"draw, line {draw.line}: {draw.text}", f"e^ε {published} when published, {fixed} when fixed"))
    if result.smallest is not None:
        said.append(_smallest_sentence(result.smallest))
    remark = unresolved_remark(result, "what is shown belongs to the pair compared so far")
    if result.reason and result.status == "exact":
        said.append(f"{result.reason[0].upper()}{result.reason[1:]}.")
    return View(heading(result), tuple(facts), _remedies(result), (*remark, *said))


def _remedies(result: Explanation) -> Grid | None:
    if not result.remedies:
        return None
    name = "δ then" if result.delta else "e^ε then"
    rows = tuple(
        (
            str(remedy.line),
            f"{remedy.before} → {remedy.after}",
            _number(remedy.loss),
            "holds" if remedy.holds else "refuted",
            shown_number(remedy.moved),
        )
        for remedy in result.remedies
    )
    return Grid(("line", "if it were", name, "claim", "outputs moved"), rows, keys=2)


def _smallest_sentence(found: Smallest) -> str:
    where = ", ".join(f"{name}={brief(value, quoted=False)}" for name, value in found.parameters)
    records = listed([brief(record, 40) for record in found.records])
    event = listed([brief(output) for output in found.witness.event])
    pair = f"x = {brief(found.witness.x)} and x' = {brief(found.witness.x_prime)}"
    return f"It fails already at {where} with records {records}: on {pair} by the output {event}."


def _number(value: Exact) -> str:
    return "∞" if value == math.inf else shown_number(value)
