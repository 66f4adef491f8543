"""The privacy curve by brute force: the upper envelope of the δ of all pairs, which are convex and piecewise linear."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import symmetry_oracle

Line = tuple[Any, Any]
Pairs = list[tuple[Any, Any]]


def breaks(pairs: Pairs, low: Any, high: Any) -> list[Any]:
    """Where the slope of the largest δ changes, between two ends, which are among them."""
    right, left = _line(pairs, low, after=True), _line(pairs, high, after=False)
    if right == left:
        return [low, high]
    middle = (right[0] - left[0]) / (right[1] - left[1])
    largest = max(symmetry_oracle.delta_of(law, other, middle) for law, other in pairs)
    if largest == right[0] - right[1] * middle:
        return [low, middle, high]
    return breaks(pairs, low, middle) + breaks(pairs, middle, high)


def _line(pairs: Pairs, t: Any, after: bool) -> Line:
    """Constant a and slope b of the largest δ, a - b·t, just after or just before a point."""
    best: tuple[Any, Any, Any] | None = None
    for law, other in pairs:
        a, b = Fraction(0), Fraction(0)
        for y, p in law.items():
            q = other.get(y, Fraction(0))
            if p > t * q or (not after and p == t * q):
                a, b = a + p, b + q
        here = (a - b * t, -b if after else b, a)
        best = here if best is None or here[:2] > best[:2] else best
    assert best is not None
    return best[2], abs(best[1])


def without_straight(points: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """The break points at which the slope changes."""
    kept: list[tuple[Any, Any]] = []
    slopes = [(q[1] - p[1]) / (q[0] - p[0]) for p, q in pairwise(points)]
    for place, point in enumerate(points):
        before = slopes[place - 1] if place else None
        after = slopes[place] if place < len(slopes) else Fraction(0)
        if before is None or before != after:
            kept.append(point)
    return kept
