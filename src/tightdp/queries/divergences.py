"""Rényi divergence of non-integer orders, and zero-concentrated differential privacy: enclosures over pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from tightdp.exact.divergence import least_rho, renyi_moment
from tightdp.exact.enclosure import Enclosure
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.exact.rounding import down, up
from tightdp.exact.weights import quotient
from tightdp.methods.base import Known, Pair

__all__ = ["Enclosed", "concentrated", "renyi_of_order"]

_SHORT = 30
"""The ends of an enclosure are rounded outward to this many digits."""


@dataclass(frozen=True)
class Enclosed:
    """A largest value over pairs of neighbours between two ends, the pair that has the lower one, and its order."""

    lower: Exact
    upper: Exact
    pair: Pair | None
    order: float | None = None


def _masses(pair: Pair) -> list[tuple[Number, Number]]:
    """Return P(y|x) and P(y|x') of every output that x gives."""
    ours, theirs = pair.table.weights(pair.x), pair.table.weights(pair.x_prime)
    return [
        (quotient(weight, ours.total), quotient(theirs.by_code.get(code, 0), theirs.total))
        for code, weight in ours.by_code.items()
    ]


def renyi_of_order(pairs: Iterable[Pair], order: Fraction, knows: Callable[[Known], None] = lambda _: None) -> Enclosed:
    """Enclose the largest Σ_y P(y|x)^a P(y|x')^(1-a) over some pairs, for a rational order a > 1.

    `knows` is passed a function that returns its lower end so far.
    """
    best = Enclosed(Fraction(1), Fraction(1), None)
    knows(lambda: best.lower)
    for pair in pairs:
        found = renyi_moment(_masses(pair), order)
        if isinstance(found, float):
            return Enclosed(math.inf, math.inf, pair)
        lower, upper = _ends(found) if isinstance(found, Enclosure) else (found, found)
        first = best.pair is None or lower > best.lower
        best = Enclosed(max(lower, best.lower), max(upper, best.upper), pair if first else best.pair)
    return best


def concentrated(
    pairs: Iterable[Pair], reached: Callable[[int, int, Fraction], None] = lambda done, total, lower: None
) -> Enclosed:
    """Enclose the least ρ such that all pairs are ρ-zCDP; the order is the one at which its lower end is attained.

    `reached` is told the number of pairs done, their total, and the lower end so far.
    """
    listed = list(pairs)
    found = least_rho(map(_masses, listed), reached=reached)
    pair = None if found.pair is None else listed[found.pair]
    if isinstance(found.rho, float):
        return Enclosed(math.inf, math.inf, pair)
    return Enclosed(*_ends(found.rho), pair, found.order)


def _ends(found: Enclosure) -> tuple[Fraction, Fraction]:
    return down(found.lower, _SHORT), up(found.upper, _SHORT)
