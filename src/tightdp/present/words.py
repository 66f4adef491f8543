"""Values, headings, ends of enclosures and witnesses in words."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from functools import singledispatch
from math import inf
from typing import Any

from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.numbers import Exact, as_text, brief, decimal_text, exponent_of, listed, log, written
from tightdp.exact.parameters import pretty
from tightdp.results.result import (
    CheckedWitness,
    ConversationWitness,
    DensityWitness,
    EventWitness,
    LimitWitness,
    PairWitness,
    Result,
    StrategyWitness,
    TripleWitness,
)

RELATIVE = ("error", "|output - target| / max(1, |target|)")
"""The fact that errors are relative ones."""
_LONGEST_NUMBER = 40


def shown(value: Any) -> str:
    """Write a dataset, a record or an output as Python has it, rationals as p/q."""
    return written(value, quoted=True)


def in_full(*values: Exact | int) -> tuple[str, ...]:
    """Say where to find the exact numbers that `shown_number` writes as decimals only; nothing if there are none."""
    long = any(len(as_text(value)) > _LONGEST_NUMBER for value in values)
    return ("A number that is written as ≈ only is known exactly: --json prints it in full.",) if long else ()


def ends_in_full(lower: Exact | int, upper: Exact | int) -> tuple[str, ...]:
    """The same for both ends of an enclosure, as `shown_ends` writes them."""
    return () if _close(lower, upper) else in_full(lower, upper)


def shown_number(value: Exact | int) -> str:
    """Write an exact number and its decimal; one that fills lines is written as its decimal only."""
    exact = pretty(value) if isinstance(value, ExpNumber) else as_text(value)
    decimal = decimal_text(value)
    if exact == decimal:
        return exact
    if isinstance(value, (int, Fraction)) and len(exact) > _LONGEST_NUMBER and Fraction(decimal) == value:
        return decimal
    if len(exact) > _LONGEST_NUMBER:
        return f"≈ {decimal}"
    return (
        f"{exact} = {decimal}"
        if not isinstance(value, ExpNumber) and Fraction(decimal) == value
        else f"{exact} ≈ {decimal}"
    )


def shown_ends(lower: Exact | int, upper: Exact | int) -> tuple[str, str]:
    """Write both ends of an enclosure; where they are close, with digits that tell them apart, rounded outward."""
    if _close(lower, upper):
        return decimal_text(lower, 14, ROUND_FLOOR), decimal_text(upper, 14, ROUND_CEILING)
    return shown_number(lower), shown_number(upper)


def _close(lower: Exact | int, upper: Exact | int) -> bool:
    rational = isinstance(lower, Fraction) and isinstance(upper, Fraction)
    return rational and decimal_text(lower) == decimal_text(upper)


def shown_epsilon(exp_epsilon: Exact) -> str:
    """Write an ε exactly where it is rational or infinite, else as a rounded number."""
    exponent = exponent_of(exp_epsilon) if exp_epsilon != inf else None
    return "inf" if exp_epsilon == inf else f"≈ {log(exp_epsilon)!r}" if exponent is None else shown_number(exponent)


def shown_probability(value: Number) -> str:
    """Write a probability exactly, or as a decimal where that fills lines."""
    exact = pretty(value) if isinstance(value, ExpNumber) else as_text(value)
    return exact if len(exact) <= _LONGEST_NUMBER else f"about {decimal_text(value)}"


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


def where_reached(result: Result) -> str:
    """Say that an answer, or else its lower end, is what a witness has."""
    return "It is attained" if result.status == "exact" else "The lower end is reached"


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
    outputs = f"the outputs {brief(witness.output)} + k·{brief(witness.direction)} as k grows"
    return f"{_approached(witness, said)} on {_pair(witness)} by {outputs}."


def _approached(witness: LimitWitness | DensityWitness, said: str) -> str:
    if said.startswith("The lower"):
        return "The lower end is approached"
    return "It is approached, and not attained," if witness.attained is False else "It is approached"


@witness_sentence.register
def _density_sentence(witness: DensityWitness, said: str = "It is attained") -> str:
    if witness.side is None:
        return f"{said} on {_pair(witness)} by the densities of outputs around {brief(witness.output)}."
    outputs = f"the densities of the outputs {brief(witness.output)} + {brief(witness.side)}/k as k grows"
    return f"{_approached(witness, said)} on {_pair(witness)} by {outputs}."


@witness_sentence.register
def _event_sentence(witness: EventWitness, said: str = "It is attained") -> str:
    outputs = listed([brief(output, 80) for output in witness.event])
    among = "" if len(witness.event) == 1 else "one of "
    return f"{said} on {_pair(witness)} by the event that the output is {among}{outputs}."


@witness_sentence.register
def _conversation_sentence(witness: ConversationWitness, said: str = "It is attained") -> str:
    odds = f"{shown_probability(witness.probability)} against {shown_probability(witness.probability_prime)}"
    with_it = "with these answers the conversation" if witness.strategy.moves else "the conversation"
    return f"On {_pair(witness)} {with_it} that ends with {brief(witness.output)} has probability {odds}."


@witness_sentence.register
def _strategy_sentence(witness: StrategyWitness, said: str = "It is attained") -> str:
    by = "by an analyst with these answers" if witness.strategy.moves else "whatever the analyst answers"
    return f"{said} on {_pair(witness)} {by}."


@witness_sentence.register
def _checked_sentence(witness: CheckedWitness, said: str = "It is attained") -> str:
    t, delta = (decimal_text(value, 15, ROUND_FLOOR) for value in (witness.exp_epsilon, witness.delta))
    return f"{said} on {_pair(witness)}. Their δ at e^ε = {t}, computed again in exact numbers, is at least {delta}."


def _pair(witness: PairWitness) -> str:
    return f"x = {brief(witness.x)} and its neighbour x' = {brief(witness.x_prime)}"
