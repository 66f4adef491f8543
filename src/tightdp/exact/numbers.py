"""Exact numbers on their way to the reader: text, logarithms with rigorous rounding, ends with few digits.

Decimals come from `decimal`, whose quotients follow the rounding mode; logarithms from enclosures that are refined
until every end rounds alike.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from itertools import groupby
from typing import Any, TypeAlias

from tightdp.exact.enclosure import Enclosure, ball, enclosures
from tightdp.exact.field import ExpNumber, Number

Exact: TypeAlias = Number | float
"""An exact number: a Fraction, a number with e^q, or math.inf."""


def as_text(value: Exact | int) -> str:
    """Write an exact number as "p/q", as "p" when it is whole, as an expression with exp(q), or as "inf"."""
    if isinstance(value, ExpNumber):
        return str(value)
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
    if isinstance(value, float):
        return as_text(value)
    if isinstance(value, ExpNumber):
        return _decimal_of_irrational(value, digits, rounding)
    if value.denominator == 1 and -(10**16) < value < 10**16:
        return as_text(value)
    rounded = _quotient(Fraction(value), digits, rounding).normalize(_context(digits, rounding))
    if -5 <= rounded.adjusted() < 16:
        return f"{rounded:f}"
    return f"{rounded:e}".replace("e+", "e")


def _decimal_of_irrational(value: ExpNumber, digits: int, rounding: str) -> str:
    """Write a decimal of a number that is not rational, so that close enclosures round alike."""

    def text(end: Fraction) -> str:
        return f"{_quotient(end, digits, rounding).normalize(_context(digits, rounding)):e}" if end else "0"

    below = next(low for each in enclosures(value.ball) if (low := text(each.lower)) == text(each.upper))
    return decimal_text(Fraction(Decimal(below)), digits, rounding)


def log(value: Exact, divisor: Fraction | int = 1) -> float:
    """Return ln(value) / divisor, correctly rounded to the nearest float; ±inf for infinity and 0."""
    special = _special_log(value)
    if special is not None:
        return special
    exponent = exponent_of(value)
    if exponent is not None:
        return float(exponent / divisor)
    ends = ((float(each.lower / divisor), float(each.upper / divisor)) for each in _log_enclosures(value))
    return next(below + 0.0 for below, above in ends if below == above)  # never -0.0


def log_down(value: Exact) -> float:
    """Return the largest float that is at most ln(value)."""
    nearest = log(value)
    if _special_log(value) is not None or compare_log(value, Fraction(nearest)) >= 0:
        return nearest
    return math.nextafter(nearest, -math.inf)


def log_up(value: Exact) -> float:
    """Return the smallest float that is at least ln(value)."""
    nearest = log(value)
    if _special_log(value) is not None or compare_log(value, Fraction(nearest)) <= 0:
        return nearest
    return math.nextafter(nearest, math.inf)


def compare_log(value: Exact, exponent: Fraction) -> int:
    """Return the sign (-1, 0, 1) of ln(value) - exponent, which is that of value - e^exponent. Always decided.

    Both are equal only where the value is e^exponent as a number of `field`, or 1 and the exponent 0: e^E is irrational
    for every other rational E (Lindemann).
    """
    special = _special_log(value)
    known = special if special is not None else exponent_of(value)
    if known is not None:
        return (known > exponent) - (known < exponent)
    signs = ((each.lower > exponent) - (each.upper < exponent) for each in _log_enclosures(value))
    return next(filter(None, signs))


def exponent_of(value: Exact) -> Fraction | None:
    """Return q where the value is e^q for a rational q, None elsewhere."""
    if isinstance(value, ExpNumber):
        return value.exponent
    return Fraction(0) if value == 1 else None


def ends_of(value: Number) -> tuple[Fraction, Fraction]:
    """Return rational ends of a number, both the number itself where it is rational."""
    if isinstance(value, Fraction):
        return value, value
    low, high = value.enclosure(DIGITS)
    return low, high


def _special_log(value: Exact) -> float | None:
    """Return ln(value) where it is a float: at 0, 1 and infinity."""
    if value < 0:
        raise ValueError(f"{value} has no logarithm")
    if value == 0:
        return -math.inf
    if value == 1:
        return 0.0
    return math.inf if value == math.inf else None


def _log_enclosures(value: Exact) -> Iterator[Enclosure]:
    """Yield closer and closer enclosures of ln(value), for a positive number other than 1."""
    assert not isinstance(value, float)
    return enclosures(lambda: (value.ball() if isinstance(value, ExpNumber) else ball(value)).log())


def _quotient(value: Fraction, precision: int, rounding: str) -> Decimal:
    return _context(precision, rounding).divide(Decimal(value.numerator), Decimal(value.denominator))


def _context(precision: int, rounding: str) -> Context:
    return Context(prec=precision, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX, clamp=0)


DIGITS = 40
"""To so many significant digits numbers are enclosed."""
SHORT = 30
"""To so many where both ends are shown."""


def down(value: Exact, digits: int = DIGITS) -> Fraction:
    """Return a rational of so many significant digits, over a power of 2, at or just below a finite number."""
    return _rounded(value, digits, up=False)


def up(value: Exact, digits: int = DIGITS) -> Fraction:
    """Return a rational of so many significant digits, over a power of 2, at or just above a finite number."""
    return _rounded(value, digits, up=True)


def outward(lower: Exact, upper: Exact, digits: int) -> tuple[Exact, Exact]:
    """Return both ends of an enclosure with so many digits, rounded outward; infinite ones stay."""
    low = lower if isinstance(lower, float) else down(lower, digits)
    return low, upper if isinstance(upper, float) else up(upper, digits)


def rounded(value: Exact | int, up: bool) -> float:
    """Return the float next to a number on one side of it, or the number itself where it is a float."""
    try:
        near = float(value)
    except OverflowError:
        near = math.inf
    if math.isinf(near):
        return near if up or value == math.inf else sys.float_info.max
    if Fraction(near) == value or (Fraction(near) > value) == up:
        return near
    return math.nextafter(near, math.inf if up else -math.inf)


def _rounded(value: Exact, digits: int, up: bool) -> Fraction:
    assert not isinstance(value, float), "an infinite end has no digits"
    if not isinstance(value, (Fraction, int)):
        ends = value.enclosure(digits + 5)
        value = ends.upper if up else ends.lower
    if not value:
        return Fraction(0)
    bits = math.ceil(digits * math.log2(10)) + value.denominator.bit_length() - value.numerator.bit_length()
    scaled = value * Fraction(2) ** bits
    return Fraction(math.ceil(scaled) if up else math.floor(scaled)) / Fraction(2) ** bits


class OfDouble(Fraction):
    """A rational that a double is, which is written as Python writes the double."""

    __slots__ = ()


_COMPACT = 60
"""Tuples whose text is longer are written with equal entries in a row once."""


def written(value: Any, quoted: bool = False) -> str:
    """Write a parameter, a dataset or an output as Python has it, rationals as p/q, words without quotes outside."""
    if isinstance(value, OfDouble):
        return repr(float(value))
    if isinstance(value, (Fraction, ExpNumber)):
        return as_text(value)
    if isinstance(value, tuple):
        inner = ", ".join(written(item, quoted=True) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return value if isinstance(value, str) and not quoted else repr(value)


def brief(value: Any, longest: int = 160, quoted: bool = True) -> str:
    """Write a value; in a long tuple, equal entries in a row are written once, as in (1, 0 × 999).

    What is longer still loses entries in the middle: no entry is cut that is not too long by itself.
    """
    text = written(value, quoted)
    if not isinstance(value, tuple) or len(text) <= min(longest, _COMPACT):
        return shortened(text, longest)
    shown: list[str] = []
    for item, equal in groupby(value):
        one, times = brief(item, max(longest // 2, 20)), len(list(equal))
        shown += [f"{one} × {times}"] if times > 2 else [one] * times
    end = ",)" if len(value) == 1 else ")"
    return f"({listed(shown, longest - 1 - len(end))}{end}"


def listed(parts: Sequence[str], longest: int = 160) -> str:
    """Write parts with commas between them; where they are too long, those in the middle are left out."""
    if sum(map(len, parts)) + 2 * (len(parts) - 1) <= longest or len(parts) < 3:
        return ", ".join(parts)
    front, back, room = 1, 1, longest - len(parts[0]) - len(parts[-1]) - len(", ..., ")
    while front + back < len(parts):
        nearer = parts[front] if front <= back else parts[-back - 1]
        room -= len(nearer) + 2
        if room < 0:
            return ", ".join([*parts[:front], "...", *parts[-back:]])
        front, back = (front + 1, back) if front <= back else (front, back + 1)
    return ", ".join(parts)


def shortened(text: str, longest: int = 160) -> str:
    """Return a text, or its beginning and end where it is too long to read, cut at spaces where there are some."""
    if len(text) <= longest:
        return text
    half = (longest - 5) // 2
    first, last = text[:half], text[-half:]
    if " " in first[half // 2 :]:
        first = first.rpartition(" ")[0]
    if " " in last[: half // 2]:
        last = last.partition(" ")[2]
    return f"{first} ... {last}"
