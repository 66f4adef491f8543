"""Exact numbers on their way to the reader: text, and logarithms and exponentials with rigorous rounding.

Every enclosure comes from `decimal`, whose quotients follow the rounding mode and whose `ln` and `exp` are correctly
rounded; one unit in the last place on either side makes the result certain.
"""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import TypeAlias

from tightdp.errors import ParameterError

__all__ = [
    "MAX_EXPONENT",
    "Exact",
    "as_text",
    "compare_log",
    "decimal_text",
    "exp_enclosure",
    "log",
    "log_down",
    "log_up",
]

Exact: TypeAlias = "Fraction | float"
"""An exact number: a Fraction, or math.inf."""

MAX_EXPONENT = 10_000
"""The largest |E| for which e^E is enclosed; beyond, its digits alone would fill pages."""

_FIRST_PRECISION = 30


def as_text(value: Exact | int) -> str:
    """Write an exact number as "p/q", as "p" when it is whole, or as "inf"."""
    if isinstance(value, float):
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        raise TypeError(f"{value!r} is a float, not an exact number")
    numerator, denominator = value.numerator, value.denominator
    whole = _digits(numerator)
    return whole if denominator == 1 else f"{whole}/{_digits(denominator)}"


def _digits(number: int) -> str:
    """Write an integer of any length; `str` refuses those beyond a few thousand digits."""
    return str(number) if number.bit_length() < 10_000 else f"{Decimal(number):f}"


def decimal_text(value: Exact | int, digits: int = 6, rounding: str = ROUND_HALF_EVEN) -> str:
    """Write a decimal with so many significant digits, without trailing zeros; whole numbers in full.

    `rounding` is a mode of `decimal`: to the nearest, unless ROUND_FLOOR or ROUND_CEILING is given.
    """
    if isinstance(value, float) or (value.denominator == 1 and -(10**16) < value < 10**16):
        return as_text(value)
    rounded = _quotient(Fraction(value), digits, rounding).normalize(_context(digits, rounding))
    if -5 <= rounded.adjusted() < 16:
        return f"{rounded:f}"
    return f"{rounded:e}".replace("e+", "e")


def log(value: Exact, divisor: int = 1) -> float:
    """Return ln(value) / divisor, correctly rounded to the nearest float; ±inf for infinity and 0."""
    special = _special_log(value)
    if special is not None:
        return special
    precision = _FIRST_PRECISION
    while True:
        low, high = _log_enclosure(Fraction(value), precision)
        below = float(_context(precision, ROUND_FLOOR).divide(low, Decimal(divisor)))
        above = float(_context(precision, ROUND_CEILING).divide(high, Decimal(divisor)))
        if below == above:
            return below
        precision *= 2


def log_down(value: Exact) -> float:
    """Return the largest float that is at most ln(value)."""
    nearest = log(value)
    if _special_log(value) is not None or compare_log(Fraction(value), Fraction(nearest)) > 0:
        return nearest
    return math.nextafter(nearest, -math.inf)


def log_up(value: Exact) -> float:
    """Return the smallest float that is at least ln(value)."""
    nearest = log(value)
    if _special_log(value) is not None or compare_log(Fraction(value), Fraction(nearest)) < 0:
        return nearest
    return math.nextafter(nearest, math.inf)


def compare_log(value: Exact, exponent: Fraction) -> int:
    """Return the sign (-1, 0, 1) of ln(value) - exponent, which is that of value - e^exponent. Always decided.

    Both are equal only for value 1 and exponent 0: e^E is irrational for every other rational E (Lindemann).
    """
    special = _special_log(value)
    if special is not None:
        return (special > exponent) - (special < exponent)
    precision = _FIRST_PRECISION
    while True:
        low, high = _log_enclosure(Fraction(value), precision)
        if low > exponent:
            return 1
        if high < exponent:
            return -1
        precision *= 2


def exp_enclosure(exponent: Fraction, digits: int) -> tuple[Fraction, Fraction]:
    """Return rationals lower <= e^exponent <= upper that agree to about so many significant digits.

    They are equal for exponent 0 only. Raises ParameterError for an exponent beyond MAX_EXPONENT.
    """
    if exponent == 0:
        return Fraction(1), Fraction(1)
    if abs(exponent) > MAX_EXPONENT:
        raise ParameterError(
            f"e^{decimal_text(exponent)} is out of reach",
            f"give an exponent between -{MAX_EXPONENT} and {MAX_EXPONENT}",
        )
    precision = digits + 6
    exact = _context(precision, ROUND_HALF_EVEN)
    low = exact.exp(_quotient(exponent, precision, ROUND_FLOOR))
    high = exact.exp(_quotient(exponent, precision, ROUND_CEILING))
    return Fraction(exact.next_minus(low)), Fraction(exact.next_plus(high))


def _special_log(value: Exact) -> float | None:
    """Return ln(value) where it is a float: at 0, 1 and infinity."""
    if value < 0:
        raise ValueError(f"{value} has no logarithm")
    if value == 0:
        return -math.inf
    if value == 1:
        return 0.0
    return math.inf if value == math.inf else None


def _log_enclosure(value: Fraction, precision: int) -> tuple[Decimal, Decimal]:
    exact = _context(precision, ROUND_HALF_EVEN)
    low = exact.ln(_quotient(value, precision, ROUND_FLOOR))
    high = exact.ln(_quotient(value, precision, ROUND_CEILING))
    return exact.next_minus(low), exact.next_plus(high)


def _quotient(value: Fraction, precision: int, rounding: str) -> Decimal:
    return _context(precision, rounding).divide(Decimal(value.numerator), Decimal(value.denominator))


def _context(precision: int, rounding: str) -> Context:
    return Context(prec=precision, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX, clamp=0)
