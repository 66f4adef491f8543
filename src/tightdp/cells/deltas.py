"""δ at an ε and ε at a δ of two laws beside each other, exact or enclosed, and lines below the curve."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from typing import Any

from flint import arb, ctx

from tightdp.cells.comparing import Comparing, near
from tightdp.cells.sums import Exact
from tightdp.cells.suprema import TooLong
from tightdp.exact.enclosure import BITS, as_fraction, ends, round_down, round_up
from tightdp.exact.field import Number
from tightdp.language.program import Dataset

_MOST_STEPS = 40
_CLOSE = 40
"""An e^ε at a δ is enclosed up to 2^-40 times it, where it is not exact."""


@dataclass(frozen=True)
class Tangent:
    """A line below δ as a function of t = e^ε: δ at t is from `delta` to `upper`, and how fast it falls there."""

    t: Fraction
    delta: Fraction
    upper: Fraction
    least_fall: Fraction
    most_fall: Fraction

    def after(self, t: Fraction) -> Fraction:
        """Return a number that δ is at least at a larger t."""
        return self.delta - self.most_fall * (t - self.t)


class Beside:
    """The laws of two datasets beside each other, whose values are exact or enclosed. All raise TooLong."""

    def __init__(self, comparing: Comparing, x: Dataset, x_prime: Dataset) -> None:
        self._laws, self._larger = comparing.laws, partial(comparing.larger, x, x_prime)
        self.delta = cache(self._delta)

    def _delta(self, t: Number) -> tuple[Number, Number]:
        """Return both ends of Σ max(0, P(output|x) - t·P(output|x')): equal ones where it is exact."""
        exact = self._laws.exact(t)
        low, high = _ends_of(*self._larger(exact), exact)
        return self._laws.number(low), self._laws.number(high)

    def surely_below(self, t: Number, delta: Number) -> bool:
        """Whether that is at most `delta`."""
        return self.delta(t)[1] <= delta

    def least_ratio(self, delta: Number) -> tuple[Number | float, Number | float]:
        """Return both ends of the least t >= 1 for which that is at most `delta` > 0.

        It is convex in t: Newton's steps from below end at the very number where it is piecewise linear, unless its
        pieces become shorter and shorter there, and else come close to it.
        """
        exact, t = self._laws.exact(delta), self._laws.one
        for _ in range(_MOST_STEPS):
            ours, theirs = self._larger(t)
            if isinstance(ours, arb):
                return self._enclosed_least(t, exact, delta)
            if ours - t * theirs <= exact:
                return (self._laws.number(t),) * 2
            if not theirs:
                return math.inf, math.inf
            t = (ours - exact) / theirs
        raise TooLong

    def _enclosed_least(self, t: Exact, exact: Exact, delta: Number) -> tuple[Number, Number]:
        """Return ends where probabilities are enclosed: the δ of an event, linear in t, is a lower end."""
        with ctx.workprec(BITS):
            bar, place = near(exact), near(t).mid()
            for _ in range(_MOST_STEPS):
                ours, theirs = (near(c) for c in self._larger(self._laws.exact(_rational(place))))
                before, reached = place, (ours - bar) / theirs
                place = reached.lower()
                step = (place * arb(2) ** -_CLOSE).max(2 * (reached.upper() - place))
                if not place - before > step:
                    break
            low = max(_rational(place), Fraction(1))
            for times in (1, 4, 16, 64):
                high = _rational(place + times * step)
                if self.surely_below(high, delta):
                    return low, max(low, high)
        raise TooLong


def tangent(comparing: Comparing, pairs: Iterable[tuple[Dataset, Dataset]], t: Fraction) -> Tangent:
    """Return what bounds the largest such sum around t, of all pairs. Raises TooLong."""
    exact = comparing.laws.exact(t)
    best = Tangent(t, Fraction(0), Fraction(0), Fraction(0), Fraction(0))
    most = Fraction(0)
    for pair in pairs:
        ours, theirs = comparing.larger(*pair, exact)
        with ctx.workprec(BITS):
            delta, slope = ends(near(ours) - near(t) * near(theirs)), ends(near(theirs))
        if delta is None or slope is None:
            raise TooLong
        most = max(most, round_up(delta.upper))
        if delta.lower > best.delta:
            best = Tangent(t, round_down(delta.lower), most, round_down(slope.lower), round_up(slope.upper))
    return replace(best, upper=most)


def _rational(t: arb) -> Fraction:
    return as_fraction(t.mid().fmpq())


def _ends_of(ours: Any, theirs: Any, t: Any) -> tuple[Any, Any]:
    if not isinstance(ours, arb):
        return ours - t * theirs, ours - t * theirs
    with ctx.workprec(BITS):
        found = ends(ours - near(t) * theirs)
    if found is None:
        raise TooLong
    return max(Fraction(0), round_down(found.lower)), round_up(found.upper)
