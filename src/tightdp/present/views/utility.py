"""How utility is shown: one row for each measure."""

from __future__ import annotations

from typing import Any

from tightdp.present.registry import answer_of, record_of, view_of
from tightdp.present.view import Grid, View
from tightdp.present.views.result import heading
from tightdp.present.words import brief, in_full, plain, shown_number
from tightdp.results.utility import Utility, Worst


@record_of.register
def _worst_record(result: Worst) -> dict[str, Any]:
    return {"measure": result.measure, "value": plain(result.value), "x": plain(result.x)}


@answer_of.register
def _utility_answer(result: Utility) -> dict[str, Any]:
    return {"measures": [_worst_record(worst) for worst in result.measures]}


@view_of.register
def _utility_view(result: Utility) -> View:
    rows = tuple((worst.measure, shown_number(worst.value), brief(worst.x, 60)) for worst in result.measures)
    said = in_full(*(worst.value for worst in result.measures))
    return View(heading(result), (), Grid(("measure", "worst value", "on x"), rows), said)
