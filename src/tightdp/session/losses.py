"""The privacy loss of real numbers that are published: two finite pairs, one that dominates and one that is dominated.

Between some t = e^ε the largest δ of all pairs is below its chords, as it is convex, and so a curve with corners: that
of a finite pair. The tests P > t·Q at these t are those of the pair of laws of which no more is told than between which
of these t the likelihood ratio lies: what is composed of such is at most as far apart as what is composed of the laws.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise

from tightdp.cells import deltas, noise, suprema
from tightdp.cells.deltas import Tangent
from tightdp.errors import QueryError
from tightdp.language.neighbours import DIRECTIONS
from tightdp.limits.calibrated import MOST_PAIRS
from tightdp.queries.composition.lattice import Runs
from tightdp.queries.composition.loss import Direction, of_one
from tightdp.queries.composition.pairs import DominatingPair, merged, pair_of_hull
from tightdp.queries.privacy import TightRatio
from tightdp.results.privacy import Privacy
from tightdp.results.result import Stats
from tightdp.session import numeric
from tightdp.session.engine import Engine

_PLACES = 64
"""At so many e^ε above 1, and as many below, δ is asked for."""
_LAST = 16.0
"""Larger ε are not looked at: what has them is taken for certain."""
_BITS = 64
"""Both ends are rounded to so many binary digits."""
Point = tuple[Fraction, Fraction]


def of_reals(name: str, engine: Engine) -> tuple[Direction, Stats] | None:
    """Return the loss in one direction of change, None where no real numbers are published. Raises QueryError."""
    query = engine.query()
    laws = engine.program.cells(query.control)
    if laws is None or not numeric.of_reals(laws.laws):
        return None
    tight = numeric.answer(engine, TightRatio())
    assert isinstance(tight, Privacy)
    widest = _LAST if isinstance(tight.upper, float) else min(_LAST, math.log(float(tight.upper)) * (1 + 2.0**-20))
    step = max(widest, 2.0**-20) / _PLACES
    places = [Fraction(math.exp(k * step)) for k in range(-_PLACES, _PLACES + 1)]
    pairs = list(numeric.pairs_of(engine, query))

    def curve(some: Sequence[numeric.Pair]) -> list[Tangent]:
        every = deltas.Deltas(laws, some)
        return [every.tangent(t, len(places)) for t in places]

    def real(largest: Sequence[Tangent]) -> tuple[Runs, ...]:
        chosen = list(dict.fromkeys(each.pair for each in largest if each.delta))[: MOST_PAIRS // 2]
        curves = (curve([pair]) if len(chosen) > 1 else largest for pair in chosen)
        return tuple(((_told_apart(each), 1),) for each in curves)

    with query.searching():
        try:
            largest = curve(pairs)
            by_one = [pair for pair in pairs if of_one(*pair)] if name in DIRECTIONS else []
            known = real(largest)
            alone = known if len(by_one) == len(pairs) else real(curve(by_one)) if by_one else ()
        except (suprema.TooLong, noise.Outside):
            raise QueryError(
                "densities of several real numbers are too long to compare here", "ask for ε, or publish fewer numbers"
            ) from None
    direction = Direction(name, ((_dominating(largest), 1),), known, alone)
    return direction, query.outcome(numeric.METHOD).stats


def _dominating(largest: Iterable[Tangent]) -> DominatingPair:
    """Return the pair whose δ are the chords between upper ends, and 1 at t = 0."""
    corners = _below([(Fraction(0), Fraction(1)), *((each.t, _rounded(each.upper, math.ceil)) for each in largest)])
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(corners)]
    outcomes = [(corners[-1][1], Fraction(0)), (Fraction(0), 1 + slopes[0])]
    for (t, _), slope, after in zip(corners[1:], slopes, [*slopes[1:], Fraction(0)], strict=True):
        outcomes.append((t * (after - slope), after - slope))
    return merged(outcomes)


def _told_apart(curve: Iterable[Tangent]) -> DominatingPair:
    """Return a pair that is no further apart than the laws are when they are told apart by some tests only."""
    tests = [(Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))]
    for each in curve:
        level, power = each.most_fall, each.delta + each.t * each.least_fall
        if level < 1 and power > level:
            tests.append((_rounded(level, math.ceil), _rounded(power, math.floor)))
    mirrored = _below(sorted((level, -power) for level, power in tests))
    return pair_of_hull([(level, -power) for level, power in mirrored])


def _below(points: Iterable[Point]) -> list[Point]:
    """Return the corners of the largest convex function that is at most at some points, in order."""
    found: list[Point] = []
    for t, value in points:
        while found and found[-1][0] == t:
            value = min(value, found.pop()[1])
        while len(found) > 1 and _turns_right(found[-2], found[-1], (t, value)):
            found.pop()
        found.append((t, value))
    return found


def _turns_right(a: Point, b: Point, c: Point) -> bool:
    return (b[1] - a[1]) * (c[0] - b[0]) >= (c[1] - b[1]) * (b[0] - a[0])


def _rounded(value: Fraction, function: Callable[[Fraction], int]) -> Fraction:
    return Fraction(min(function(value * (1 << _BITS)), 1 << _BITS), 1 << _BITS)
