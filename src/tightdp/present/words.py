"""Values as text: datasets, outputs, probabilities."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from math import inf
from typing import Any

from tightdp.exact.expressions import pretty
from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.numbers import Exact, as_text, decimal_text, exponent_of, log
from tightdp.exact.writing import brief, listed, shortened, written

__all__ = [
    "RELATIVE",
    "brief",
    "ends_in_full",
    "in_full",
    "listed",
    "shortened",
    "shown",
    "shown_ends",
    "shown_epsilon",
    "shown_number",
    "shown_probability",
]

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
