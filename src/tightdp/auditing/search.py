"""The least e^ε that an audit does not reject, between certified ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from tightdp.exact.enclosure import Enclosure

__all__ = ["least_not_rejected", "rejected_near"]

_BITS = 56
_LARGEST = Fraction(10**100)
_LARGEST_LOG = 230.0
_NEAR_BITS, _ROUGH_BITS = 38, 5


def least_not_rejected(rejects: Callable[[Fraction], bool], start: float) -> Enclosure:
    """Return an enclosure [a, b] with a = 1 or a rejected, and b not shown to be rejected (or above 10^100);
    b <= a (1 + 2^-50).

    `rejects(t)` is true only where (ln t, δ)-DP is certainly rejected. Whoever satisfies a guarantee satisfies it for
    every larger t, so the rejection of one t refutes all smaller ones: a lower end needs no monotone p-value. `start`
    is a first guess of the answer.
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


def rejected_near(rejects: Callable[[Fraction], bool], excess: Callable[[Fraction], float]) -> Fraction:
    """Return an e^ε that is rejected, or 1, for costly decisions: floats find the place, `rejects` decides.

    `excess(t)` is negative where the guarantee should be rejected. A rough place is decided first, so that something is
    known where a limit cuts the search short. Where the place is not confirmed, ε is lowered in small steps.
    """
    low, high = 0.0, 1.0
    if excess(Fraction(1)) > 0:
        return Fraction(1)
    while high < _LARGEST_LOG and excess(_grid(math.exp(high))) <= 0:
        low, high = high, 2 * high
    for bits in (_ROUGH_BITS, _NEAR_BITS):
        while high - low > high * 2.0**-bits:
            middle = (low + high) / 2
            low, high = (middle, high) if excess(_grid(math.exp(middle))) <= 0 else (low, middle)
        if bits == _ROUGH_BITS:
            rejects(_grid(math.exp(low)))
    lowered = 2.0**-_NEAR_BITS
    while lowered < 1:
        t = max(Fraction(1), _grid(math.exp(low * (1 - lowered))))
        if rejects(t):
            return t
        lowered *= 8
    return Fraction(1)


def _grid(value: float) -> Fraction:
    """Return the nearest rational with few bits (a float is one already)."""
    shift = _BITS - math.frexp(value)[1]
    return Fraction(round(math.ldexp(value, shift)), 1) / Fraction(2) ** shift
