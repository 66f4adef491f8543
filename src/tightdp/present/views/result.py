"""How what all results have in common is shown: the heading, the status, witnesses, what a query cost."""

from __future__ import annotations

from decimal import ROUND_FLOOR
from functools import singledispatch
from typing import Any

from tightdp.exact.numbers import Exact, decimal_text
from tightdp.present.registry import record_of
from tightdp.present.words import brief, listed, plain, shown_probability
from tightdp.results.result import (
    CheckedWitness,
    EventWitness,
    LimitWitness,
    PairWitness,
    Result,
    Stats,
    Status,
    TripleWitness,
)

__all__ = ["enclosure", "heading", "unresolved_remark", "witness_sentence"]


def heading(result: Result) -> str:
    """Say what the answer is about."""
    return f"{result.subject}, neighbours: {result.neighbours}, status: {result.status}"


def enclosure(status: Status, lower: Exact | None, upper: Exact | None) -> dict[str, Any]:
    """Return the ends of an enclosure as JSON has them; nothing where the answer is exact."""
    return {} if status == "exact" else {"lower": plain(lower), "upper": plain(upper)}


def unresolved_remark(result: Result, remark: str) -> tuple[str, ...]:
    """Say why a result is not exact and what is known; nothing where it is, or where an enclosure was asked for."""
    if result.status == "exact" or not result.cut_short:
        return ()
    said = f"{result.status.capitalize()}: {result.reason or 'a limit was reached'}; {remark}."
    return (said, f"  {result.hint}") if result.hint else (said,)


@singledispatch
def witness_sentence(witness: PairWitness, said: str = "It is attained") -> str:
    """Say in words what a witness shows; `said` is what happens there, such as "The lower end is reached"."""
    return f"{said} on {_pair(witness)}."


@witness_sentence.register
def _triple_sentence(witness: TripleWitness, said: str = "It is attained") -> str:
    odds = f"{shown_probability(witness.probability)} against {shown_probability(witness.probability_prime)}"
    return f"On {_pair(witness)} the output {brief(witness.output)} has probability {odds}."


@witness_sentence.register
def _limit_sentence(witness: LimitWitness, said: str = "It is attained") -> str:
    told = "The lower end is approached" if said.startswith("The lower") else "It is approached, and not attained,"
    outputs = f"the outputs {brief(witness.output)} + k·{brief(witness.direction)} as k grows"
    return f"{told} on {_pair(witness)} by {outputs}."


@witness_sentence.register
def _event_sentence(witness: EventWitness, said: str = "It is attained") -> str:
    outputs = listed([brief(output, 80) for output in witness.event])
    among = "" if len(witness.event) == 1 else "one of "
    return f"{said} on {_pair(witness)} by the event that the output is {among}{outputs}."


@witness_sentence.register
def _checked_sentence(witness: CheckedWitness, said: str = "It is attained") -> str:
    t, delta = (decimal_text(value, 15, ROUND_FLOOR) for value in (witness.exp_epsilon, witness.delta))
    return f"{said} on {_pair(witness)}. Their δ at e^ε = {t}, computed again in exact numbers, is at least {delta}."


def _pair(witness: PairWitness) -> str:
    return f"x = {brief(witness.x)} and its neighbour x' = {brief(witness.x_prime)}"


@record_of.register
def _pair_record(witness: PairWitness) -> dict[str, Any]:
    return {"x": plain(witness.x), "x_prime": plain(witness.x_prime)}


@record_of.register
def _triple_record(witness: TripleWitness) -> dict[str, Any]:
    return {
        **_pair_record(witness),
        "output": plain(witness.output),
        "probability": plain(witness.probability),
        "probability_prime": plain(witness.probability_prime),
    }


@record_of.register
def _limit_record(witness: LimitWitness) -> dict[str, Any]:
    direction = plain(witness.direction)
    return {**_pair_record(witness), "output": plain(witness.output), "direction": direction, "attained": False}


@record_of.register
def _event_record(witness: EventWitness) -> dict[str, Any]:
    return {**_pair_record(witness), "event": plain(witness.event)}


@record_of.register
def _checked_record(witness: CheckedWitness) -> dict[str, Any]:
    return {
        **_pair_record(witness),
        "exp_epsilon": plain(witness.exp_epsilon),
        "delta": plain(witness.delta),
    }


@record_of.register
def _stats_record(stats: Stats) -> dict[str, Any]:
    return {
        "variables": stats.variables,
        "nodes": stats.nodes,
        "queries": stats.queries,
        "inference_set": stats.inference_set,
        "privacy_set": stats.privacy_set,
        **({} if stats.accuracy_set is None else {"accuracy_set": stats.accuracy_set}),
        "method": stats.method,
        "symmetries": list(stats.symmetries),
        "seconds": {
            "compile": round(stats.compile, 6),
            "count": round(stats.count, 6),
            "search": round(stats.search, 6),
        },
    }
