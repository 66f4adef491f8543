"""How an explanation is shown: the line to blame, its remedies, the draws, the smallest instance."""

from __future__ import annotations

import math

from tightdp.exact.numbers import Exact, as_text
from tightdp.present.show import view_of
from tightdp.present.view import Grid, View
from tightdp.present.views.result import heading, unresolved_remark, witness_sentence
from tightdp.present.words import brief, listed, shown_number
from tightdp.results.explanation import Explanation, Remedy, Smallest


@view_of.register
def _explanation_view(result: Explanation) -> View:
    facts = [("tight e^ε", _number(result.exp_epsilon))]
    said = [witness_sentence(result.witness)] if result.witness is not None else []
    if result.claimed is not None:
        at = f" and δ = {as_text(result.delta)}" if result.delta else ""
        facts.append((f"claim e^ε = {as_text(result.claimed)}{at}", _verdict(bool(result.holds))))
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
    return View(heading(result), facts, _remedies(result), (*remark, *said))


def _remedies(result: Explanation) -> Grid | None:
    def row(remedy: Remedy) -> tuple[str, ...]:
        change, moved = f"{remedy.before} → {remedy.after}", shown_number(remedy.moved)
        return str(remedy.line), change, _number(remedy.loss), _verdict(remedy.holds), moved

    if not result.remedies:
        return None
    header = ("line", "if it were", "δ then" if result.delta else "e^ε then", "claim", "outputs moved")
    return Grid(header, tuple(map(row, result.remedies)), keys=2)


def _verdict(holds: bool) -> str:
    return "holds" if holds else "refuted"


def _smallest_sentence(found: Smallest) -> str:
    where = ", ".join(f"{name}={brief(value, quoted=False)}" for name, value in found.parameters)
    records = listed([brief(record, 40) for record in found.records])
    event = listed([brief(output) for output in found.witness.event])
    pair = f"x = {brief(found.witness.x)} and x' = {brief(found.witness.x_prime)}"
    return f"It fails already at {where} with records {records}: on {pair} by the output {event}."


def _number(value: Exact) -> str:
    return "∞" if value == math.inf else shown_number(value)
