"""The least e^ε that an audit does not reject, between certified ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from tightdp.query.audit.enclosure import Enclosure

__all__ = ["least_not_rejected"]

_BITS = 56
_LARGEST = Fraction(10**100)


def least_not_rejected(rejects: Callable[[Fraction], bool], start: float) -> Enclosure:
    """Return an enclosure [a, b] with a = 1 or a rejected, and b not shown to be rejected (or above 10^100);
    b <= a (1 + 2^-50).

    `rejects(t)` is true only where (ln t, δ)-DP is certainly rejected. Whoever satisfies a guarantee
    satisfies it for every larger t, so the rejection of one t refutes all smaller ones: a lower end needs no
    monotone p-value. `start` is a guess of the answer.
    """
    one = Fraction(1)
    if not rejects(one):
        return Enclosure(one, one)
    low, high = one, _grid(max(start, 1.0) * (1 + 2.0**-8))
    while high < _LARGEST and rejects(high):
        low, high = high, _grid(float(high) * float(high) + 1)
    near = _grid(start * (1 - 2.0**-8))
    if low < near < high and rejects(near):
        low = near
    while True:
        middle = _grid(math.sqrt(low) * math.sqrt(high))
        if not low < middle < high or high - low <= low / (1 << 50):
            return Enclosure(low, high)
        if rejects(middle):
            low = middle
        else:
            high = middle


def _grid(value: float) -> Fraction:
    """Return the nearest rational with few bits (a float is one already)."""
    shift = _BITS - math.frexp(value)[1]
    return Fraction(round(math.ldexp(value, shift)), 1) / Fraction(2) ** shift
