"""How what all results have in common is shown: the heading, the status, the ends of an enclosure, witnesses."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR
from functools import singledispatch

from tightdp.exact.numbers import Exact, decimal_text
from tightdp.present.words import brief, listed, shown_ends, shown_probability
from tightdp.results.result import CheckedWitness, EventWitness, LimitWitness, PairWitness, Result, TripleWitness

__all__ = ["between", "heading", "unresolved_remark", "witness_sentence"]


def heading(result: Result) -> str:
    """Say what the answer is about."""
    return f"{result.subject}, neighbours: {result.neighbours}, status: {result.status}"


def between(name: str, lower: Exact, upper: Exact, digits: int = 0) -> list[tuple[str, str]]:
    """Return both ends of an enclosure as facts, to so many digits where these are given, rounded outward."""
    low, high = shown_ends(lower, upper)
    if digits:
        low, high = decimal_text(lower, digits, ROUND_FLOOR), decimal_text(upper, digits, ROUND_CEILING)
    return [(f"{name} at least", low), (f"{name} at most", high)]


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
