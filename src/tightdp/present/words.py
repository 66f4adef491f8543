"""Values as JSON and as text: datasets, outputs, probabilities."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from itertools import groupby
from typing import Any

from tightdp.exact.expressions import pretty
from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.numbers import Exact, as_text, decimal_text
from tightdp.results.result import written

__all__ = [
    "brief",
    "in_full",
    "plain",
    "shortened",
    "shown",
    "shown_ends",
    "shown_number",
    "shown_probability",
]

_LONGEST_NUMBER = 40
_AS_IN_JSON = {int, str, bool, type(None)}


def plain(value: Any) -> Any:
    """Return a value as JSON has it: rationals as "p/q", infinity as "inf", tuples as arrays."""
    if type(value) in _AS_IN_JSON:
        return value
    if isinstance(value, (tuple, list)):
        # Laws hold many long tuples of ints, which are as JSON has them.
        return list(value) if set(map(type, value)) <= _AS_IN_JSON else [plain(item) for item in value]
    if isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return as_text(value) if value in (float("inf"), float("-inf")) else value
    if isinstance(value, (Fraction, ExpNumber)):
        return as_text(value)
    return str(value)


def shown(value: Any) -> str:
    """Write a dataset, a record or an output as Python has it, rationals as p/q."""
    return written(value, quoted=True)


def shortened(text: str, longest: int = 160) -> str:
    """Return a text, or its beginning and end where it is too long to read."""
    if len(text) <= longest:
        return text
    half = (longest - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"


def brief(value: Any, longest: int = 160) -> str:
    """Write a value; in a long tuple, equal entries in a row are written once, as in (1, 0 × 999)."""
    text = shown(value)
    if len(text) <= longest or not isinstance(value, tuple):
        return shortened(text, longest)
    runs = [(item, len(list(equal))) for item, equal in groupby(value)]
    parts = (shown(item) if times == 1 else f"{shown(item)} × {times}" for item, times in runs)
    return shortened(f"({', '.join(parts)})", longest)


def in_full(*values: Exact | int) -> tuple[str, ...]:
    """Say where exact numbers are printed that `shown_number` writes as decimals only; nothing without such."""
    long = any(len(as_text(value)) > _LONGEST_NUMBER for value in values)
    return ("A number that is written as ≈ only is known exactly: --json prints it in full.",) if long else ()


def shown_number(value: Exact | int) -> str:
    """Write an exact number and its decimal; one that fills lines is written as its decimal only."""
    exact = pretty(value) if isinstance(value, ExpNumber) else as_text(value)
    decimal = decimal_text(value)
    if exact == decimal:
        return exact
    if len(exact) > _LONGEST_NUMBER:
        return f"≈ {decimal}"
    return (
        f"{exact} = {decimal}"
        if not isinstance(value, ExpNumber) and Fraction(decimal) == value
        else f"{exact} ≈ {decimal}"
    )


def shown_ends(lower: Exact | int, upper: Exact | int) -> tuple[str, str]:
    """Write both ends of an enclosure; where they are close, with digits that tell them apart, rounded outward."""
    if isinstance(lower, Fraction) and isinstance(upper, Fraction) and decimal_text(lower) == decimal_text(upper):
        return decimal_text(lower, 14, ROUND_FLOOR), decimal_text(upper, 14, ROUND_CEILING)
    return shown_number(lower), shown_number(upper)


def shown_probability(value: Number) -> str:
    """Write a probability exactly, or as a decimal where that fills lines."""
    exact = pretty(value) if isinstance(value, ExpNumber) else as_text(value)
    return exact if len(exact) <= _LONGEST_NUMBER else f"about {decimal_text(value)}"
