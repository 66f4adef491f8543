"""How the probability of a failing run is shown."""

from __future__ import annotations

from typing import Any

from tightdp.present.registry import answer_of, view_of
from tightdp.present.view import View
from tightdp.present.views.result import enclosure, heading
from tightdp.present.words import brief, in_full, plain, shown_ends, shown_number
from tightdp.results.failure import Failure


@answer_of.register
def _failure_answer(result: Failure) -> dict[str, Any]:
    return {
        "x": plain(result.x),
        "probability": plain(result.probability),
        **({} if result.lower is None else enclosure(result.status, result.lower, result.probability)),
        "worst": result.worst,
        "error": result.error,
        "place": result.place,
    }


@view_of.register
def _failure_view(result: Failure) -> View:
    facts = [("a run fails with probability", shown_number(result.probability))]
    if result.lower is not None:
        low, high = shown_ends(result.lower, result.probability)
        facts = [("a run fails with probability at least", low), ("and at most", high)]
    facts.append(("x", brief(result.x)))
    if result.error is not None:
        facts.append(("likeliest error", result.error))
    if result.place is not None:
        facts.append(("raised at", result.place))
    if not result.worst:
        said: tuple[str, ...] = ()
    elif result.probability:
        said = ("No dataset has a larger probability of a failing run.",)
    else:
        said = ("No run fails on any dataset.",)
    return View(heading(result), tuple(facts), None, (*said, *in_full(result.probability)))
