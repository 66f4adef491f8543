"""δ at an ε and ε at a δ of two laws beside each other, exact or enclosed, and lines below the curve."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from tightdp.cells.comparing import Comparing, near
from tightdp.cells.sums import Exact
from tightdp.cells.suprema import TooLong
from tightdp.exact.enclosure import as_fraction, ends, round_down, round_up
from tightdp.exact.waves import WAVE_BITS
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


def excess(comparing: Comparing, x: Dataset, x_prime: Dataset, t: Exact) -> tuple[Exact, Exact]:
    """Return both ends of Σ max(0, P(output|x) - t·P(output|x')): equal ones where it is exact. Raises TooLong."""
    return _ends_of(*comparing.larger(x, x_prime, t), t)


def delta(
    comparing: Comparing, pairs: Iterable[tuple[Dataset, Dataset]], t: Exact
) -> tuple[Exact, Exact, tuple[Dataset, Dataset] | None]:
    """Return both ends of the largest such sum, and the first pair that has the lower one."""
    lower, upper = 0 * comparing.laws.one, 0 * comparing.laws.one
    first: tuple[Dataset, Dataset] | None = None
    for pair in pairs:
        least, most = excess(comparing, *pair, t)
        if least > lower:
            lower, first = least, pair
        upper = max(upper, most)
    return lower, upper, first


def tangent(comparing: Comparing, pairs: Iterable[tuple[Dataset, Dataset]], t: Fraction) -> Tangent:
    """Return what bounds the largest such sum around t, of all pairs. Raises TooLong."""
    exact = comparing.laws.exact(t)
    best = Tangent(t, Fraction(0), Fraction(0), Fraction(0), Fraction(0))
    most = Fraction(0)
    for pair in pairs:
        ours, theirs = comparing.larger(*pair, exact)
        with ctx.workprec(WAVE_BITS):
            delta, slope = ends(near(ours) - near(t) * near(theirs)), ends(near(theirs))
        if delta is None or slope is None:
            raise TooLong
        most = max(most, round_up(delta.upper))
        if delta.lower > best.delta:
            best = Tangent(t, round_down(delta.lower), most, round_down(slope.lower), round_up(slope.upper))
    return replace(best, upper=most)


def least(
    comparing: Comparing, pairs: Iterable[tuple[Dataset, Dataset]], delta: Exact
) -> tuple[Any, Any, tuple[Dataset, Dataset] | None]:
    """Return both ends of the least t >= 1 for which that is at most `delta` > 0, and a pair that needs it.

    For one pair it is convex in t: Newton's steps from below end at the very number where it is piecewise linear,
    unless its pieces become shorter and shorter there, and else come close to it. Raises TooLong.
    """
    lower = upper = comparing.laws.one
    last: tuple[Dataset, Dataset] | None = None
    for pair in pairs:
        if excess(comparing, *pair, upper)[1] <= delta:
            continue
        least, most = _least_of(comparing, pair, lower, delta)
        if least == math.inf:
            return least, most, pair
        if least > lower:
            lower, last = least, pair
        upper = max(upper, most)
    return lower, upper, last


def _least_of(comparing: Comparing, pair: tuple[Dataset, Dataset], t: Any, delta: Exact) -> tuple[Any, Any]:
    for _ in range(_MOST_STEPS):
        ours, theirs = comparing.larger(*pair, t)
        if isinstance(ours, arb):
            break
        if ours - t * theirs <= delta:
            return t, t
        if not theirs:
            return math.inf, math.inf
        t = (ours - delta) / theirs
    else:
        raise TooLong
    return _enclosed_least(comparing, pair, t, delta)


def _enclosed_least(comparing: Comparing, pair: tuple[Dataset, Dataset], t: Any, delta: Exact) -> tuple[Any, Any]:
    """Return ends of the least t where probabilities are enclosed: the δ of an event, linear in t, is a lower end."""
    exact = comparing.laws.exact
    with ctx.workprec(WAVE_BITS):
        bar, place = near(delta), near(t).mid()
        for _ in range(_MOST_STEPS):
            ours, theirs = (near(c) for c in comparing.larger(*pair, exact(_rational(place))))
            before, reached = place, (ours - bar) / theirs
            place = reached.lower()
            step = (place * arb(2) ** -_CLOSE).max(2 * (reached.upper() - place))
            if not place - before > step:
                break
        low = max(exact(_rational(place)), comparing.laws.one)
        for times in (1, 4, 16, 64):
            high = exact(_rational(place + times * step))
            if excess(comparing, *pair, high)[1] <= delta:
                return low, high
    raise TooLong


def _rational(t: arb) -> Fraction:
    return as_fraction(t.mid().fmpq())


def _ends_of(ours: Any, theirs: Any, t: Any) -> tuple[Any, Any]:
    if not isinstance(ours, arb):
        return ours - t * theirs, ours - t * theirs
    with ctx.workprec(WAVE_BITS):
        found = ends(ours - near(t) * theirs)
    if found is None:
        raise TooLong
    return max(Fraction(0), round_down(found.lower)), round_up(found.upper)
