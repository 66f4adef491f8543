"""How utility is shown: one row for each measure."""

from __future__ import annotations

from typing import Any

from tightdp.present.registry import answer_of, record_of, view_of
from tightdp.present.view import Grid, View
from tightdp.present.views.result import heading
from tightdp.present.words import brief, in_full, plain, shown_ends, shown_number
from tightdp.results.utility import Utility, Worst


@record_of.register
def _worst_record(result: Worst) -> dict[str, Any]:
    found = {"measure": result.measure, "value": plain(result.value), "x": plain(result.x)}
    if result.better is None:
        return found
    low, high = sorted((result.value, result.better))
    return {**found, "lower": plain(low), "upper": plain(high)}


@answer_of.register
def _utility_answer(result: Utility) -> dict[str, Any]:
    return {"measures": [_worst_record(worst) for worst in result.measures]}


@view_of.register
def _utility_view(result: Utility) -> View:
    if any(worst.better is not None for worst in result.measures):
        ends = [
            sorted((worst.value, worst.value if worst.better is None else worst.better)) for worst in result.measures
        ]
        enclosed = tuple(
            (worst.measure, *shown_ends(*both), brief(worst.x, 60))
            for worst, both in zip(result.measures, ends, strict=True)
        )
        return View(heading(result), (), Grid(("measure", "worst value at least", "at most", "on x"), enclosed))
    rows = tuple((worst.measure, shown_number(worst.value), brief(worst.x, 60)) for worst in result.measures)
    said = in_full(*(worst.value for worst in result.measures))
    return View(heading(result), (), Grid(("measure", "worst value", "on x"), rows), said)
