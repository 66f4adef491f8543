"""Ends of enclosures with few digits, rounded outward."""

from __future__ import annotations

import math
from fractions import Fraction

from tightdp.exact.numbers import Exact

__all__ = ["down", "up"]

_DIGITS = 40


def down(value: Exact, digits: int = _DIGITS) -> Fraction:
    """Return a rational of so many significant digits, over a power of 2, at or just below a finite number."""
    return _rounded(value, digits, up=False)


def up(value: Exact, digits: int = _DIGITS) -> Fraction:
    """Return a rational of so many significant digits, over a power of 2, at or just above a finite number."""
    return _rounded(value, digits, up=True)


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
