"""δ at an ε and ε at a δ of two laws beside each other, exact or enclosed, and lines below the curve."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial

from flint import arb, ctx

from tightdp.cells.comparing import Comparing
from tightdp.cells.sums import Exact, near
from tightdp.cells.suprema import TooLong
from tightdp.exact.enclosure import BITS, as_fraction, ends, round_down, round_up
from tightdp.exact.field import Number
from tightdp.language.program import Dataset

_MOST_STEPS = 40
_CLOSE = 40
"""An e^ε at a δ is enclosed up to 2^-40 times it, where it is not exact."""
_CLOSER = (2.0**-8, 2.0**-14, 2.0**-24, 2.0**-36)
"""How closely a δ is asked for, one after the other, until that is as closely as it can be."""
_OF_A_CURVE = 2.0**-20
"""How closely it is asked for at the places of a curve."""


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
        excess, _ = self._larger(self._laws.exact(t))
        if not isinstance(excess, arb):
            return (self._laws.number(excess),) * 2
        low, high = _ends_of(excess)
        return max(Fraction(0), low), high

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
            excess, theirs = self._larger(t, close=_CLOSER[0])
            if isinstance(excess, arb):
                return self._enclosed_least(t, exact, delta)
            if excess <= exact:
                return (self._laws.number(t),) * 2
            if not theirs:
                return math.inf, math.inf
            t = t + (excess - exact) / theirs
        raise TooLong

    def _enclosed_least(self, t: Exact, exact: Exact, delta: Number) -> tuple[Number, Number | float]:
        """Return ends where probabilities are enclosed: the δ of an event, linear in t, is a lower end."""
        with ctx.workprec(BITS):
            bar, place = near(exact), near(t).mid()
            excess = arb(0, 1)
            for close in _CLOSER:
                if excess.rad() <= close:
                    continue
                for _ in range(_MOST_STEPS):
                    excess, theirs = map(near, self._larger(self._laws.exact(_rational(place)), close=close))
                    before, least = place, place + (excess - bar) / theirs
                    if not least.is_finite():
                        break
                    place = least.mid().max(arb(1))
                    if not abs(place - before) > least.rad().max(place * arb(2) ** -_CLOSE):
                        break
                if excess.rad() > close:  # it is not known more closely
                    break
            low = max(round_down(as_fraction(least.lower().fmpq())), Fraction(1)) if least.is_finite() else Fraction(1)
            step = (place * arb(2) ** -_CLOSE).max(2 * least.rad())
            for times in (1, 4, 16, 64) if step.is_finite() else ():
                high = _rational(place + times * step)
                if self.surely_below(high, delta):
                    return low, max(low, high)
        return low, math.inf


def tangent(comparing: Comparing, pairs: Iterable[tuple[Dataset, Dataset]], t: Fraction) -> Tangent:
    """Return what bounds the largest such sum around t, of all pairs. Raises TooLong."""
    exact = comparing.laws.exact(t)
    best = Tangent(t, Fraction(0), Fraction(0), Fraction(0), Fraction(0))
    most = Fraction(0)
    for pair in pairs:
        excess, theirs = comparing.larger(*pair, exact, _OF_A_CURVE)
        with ctx.workprec(BITS):
            (delta, upper), slope = _ends_of(near(excess)), _ends_of(near(theirs))
        most = max(most, upper)
        if delta > best.delta:
            best = Tangent(t, delta, most, *slope)
    return replace(best, upper=most)


def _rational(t: arb) -> Fraction:
    return as_fraction(t.mid().fmpq())


def _ends_of(value: arb) -> tuple[Fraction, Fraction]:
    with ctx.workprec(BITS):
        found = ends(value)
    if found is None:
        raise TooLong
    return round_down(found.lower), round_up(found.upper)
