"""Approximate and f-differential privacy: exact curves; and likelihood ratios output by output.

For one pair of neighbours, δ(t) = Σ_y max(0, P(y) - t·P'(y)) is the largest of the lines P(E) - t·P'(E) over events E,
and the events that matter are the likelihood-ratio tests. So the points (P'(E), P(E)) of all tests of all pairs, and
their upper convex hull, hold δ(t) for every t, its inverse, and the trade-off function.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from tightdp.exact.field import Number
from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole
from tightdp.language.outputs import Output, as_output, order_of
from tightdp.language.tails import GaussianTail, has_part
from tightdp.logic.count import Weights
from tightdp.methods.base import Exact, Known, Pair
from tightdp.queries.hull import ALL, NONE, Event, events_of, on_one_scale, tests_of, upper_hull

_MOST_EVENTS = 50_000
"""When so many were added to a hull, those below it are left out."""


@dataclass(frozen=True)
class Profile:
    """The exact privacy profile of pairs of neighbours: the upper hull of all its likelihood-ratio tests.

    The hull runs from (0, 0), or the largest mass of outputs impossible on x', to (1, 1), over one denominator.
    """

    hull: tuple[Event, ...]

    @property
    def scale(self) -> Whole:
        """What the coordinates are to be divided by."""
        return self.hull[0].scale

    def delta(self, t: Number) -> Number:
        """Return δ(t) for t = e^ε >= 0."""
        best = self._best(t)
        return max(quotient(best.y, self.scale) - t * quotient(best.x, self.scale), Fraction(0))

    def _best(self, t: Number) -> Event:
        """Return the vertex with the largest P(E) - t·P'(E), the first of those; slopes decrease along the hull."""
        up, down = t.as_integer_ratio()

        def rises(at: int) -> bool:
            left, right = self.hull[at : at + 2]
            return down * (right.y - left.y) <= up * (right.x - left.x)

        return self.hull[bisect_left(range(len(self.hull) - 1), True, key=rises)]

    def breakpoints(self) -> tuple[tuple[Number, Number], ...]:
        """Return (t, δ(t)) at t = 1 and wherever the slope of δ changes beyond; δ is linear in between.

        After the last point δ stays constant.
        """
        points: dict[Number, Number] = {Fraction(1): self.delta(Fraction(1))}
        for left, right in zip(self.hull, self.hull[1:], strict=False):
            up, down = right.y - left.y, right.x - left.x
            if up > down:
                slope = quotient(up, down)
                points[slope] = quotient(left.y * down - left.x * up, self.scale * down)
        return tuple(sorted(points.items()))

    def vertices(self) -> tuple[tuple[Number, Number], ...]:
        """Return the vertices (false positive rate, false negative rate) of the trade-off function.

        The null hypothesis is x', the alternative x; the function is the convex hull over all pairs of neighbours
        (xiang2025, Sec. 2.1). Where x' never gives some outputs of x, it starts below 1.
        """
        return tuple((quotient(vertex.x, self.scale), 1 - quotient(vertex.y, self.scale)) for vertex in self.hull)


def event_of(pair: Pair, t: Number) -> tuple[Output, ...]:
    """Return the outputs y with P(y) > t·P'(y), in order, without tails of noise whose law is not exact."""
    table = pair.table
    ours, theirs = table.weights(pair.x), table.weights(pair.x_prime)
    left, right = theirs.total * t.denominator, ours.total * t.numerator
    get = theirs.by_code.get
    codes = [code for code, weight in ours.by_code.items() if weight * left > get(code, 0) * right]
    listed = (output for output in table.event(codes, pair.x) if not has_part(output, GaussianTail))
    return tuple(sorted(map(as_output, listed), key=order_of))


def delta_of(ours: Weights, theirs: Weights, t: Number) -> Number:
    """Return δ(t) of one pair of neighbours."""
    up, down = t.as_integer_ratio()
    same = ours.total == theirs.total  # then what is multiplied stays small
    left, right = (down, up) if same else (theirs.total * down, ours.total * up)
    get = theirs.by_code.get
    above = (weight * left - get(code, 0) * right for code, weight in ours.by_code.items())
    return quotient(sum(part for part in above if part > 0), ours.total * left)


def profile(pairs: Iterable[Pair], knows: Callable[[Known], None] = lambda _: None) -> Profile:
    """Return the exact privacy profile over some pairs of neighbours; `knows` is passed a function for δ(1) so far."""
    found, kept = [NONE, ALL], 0

    def so_far() -> Profile:
        nonlocal kept
        found[:] = on_one_scale(upper_hull(found))
        kept = len(found)
        return Profile(tuple(found))

    knows(lambda: so_far().delta(Fraction(1)))
    for pair in pairs:
        found += events_of(pair.table.weights(pair.x), pair.table.weights(pair.x_prime), pair)
        if len(found) - kept > _MOST_EVENTS:
            so_far()
    return so_far()


def least_of(ours: Weights, theirs: Weights, delta: Number) -> Exact:
    """Return the least t with δ(t) <= delta for one pair: the largest (P(E) - delta) / P'(E) over its tests E."""
    up_best: Whole = 0
    down_best: Whole = 1
    bar = delta.numerator * ours.total
    for down, up in tests_of(ours, theirs):
        excess = up * delta.denominator - bar
        if excess > 0:
            if not down:
                return math.inf
            if excess * down_best > up_best * down:
                up_best, down_best = excess, down
    return quotient(up_best * theirs.total, down_best * ours.total * delta.denominator)


@dataclass(frozen=True)
class LikelihoodRow:
    """One output with its probabilities on x and on x', and their ratio: a Fraction >= 0, or infinite.

    Where probabilities are enclosed, these are their lower ends; `above` has both upper ends.
    """

    output: Output
    probability: Number
    probability_prime: Number
    above: tuple[Number, Number] | None = None

    @property
    def ratio(self) -> Exact:
        """P(output | x) / P(output | x')."""
        below = self.probability_prime if self.above is None else self.above[1]
        return self.probability / below if below else math.inf

    @property
    def ratio_above(self) -> Exact:
        """The upper end of the ratio."""
        ours = self.probability if self.above is None else self.above[0]
        return ours / self.probability_prime if self.probability_prime else math.inf


def likelihood_table(
    law: Iterable[tuple[Output, Number]],
    law_prime: Iterable[tuple[Output, Number]],
    ends: Callable[[Number], tuple[Number, Number]] | None = None,
) -> tuple[LikelihoodRow, ...]:
    """Return one row for every output that has positive probability under one of two laws, largest ratio first.

    Outputs of equal ratio keep the order of the laws, those of the first one before the others. Where probabilities
    are enclosed, `ends` gives both ends.
    """
    first, second = dict(law), dict(law_prime)
    outputs = [output for output in {**first, **second} if first.get(output) or second.get(output)]
    none = Fraction(0)
    rows = [LikelihoodRow(output, first.get(output, none), second.get(output, none)) for output in outputs]
    rows.sort(key=lambda row: row.ratio, reverse=True)
    return tuple(rows if ends is None else [_enclosed(row, ends) for row in rows])


def _enclosed(row: LikelihoodRow, ends: Callable[[Number], tuple[Number, Number]]) -> LikelihoodRow:
    (low, high), (low_prime, high_prime) = ends(row.probability), ends(row.probability_prime)
    return LikelihoodRow(row.output, low, low_prime, (high, high_prime))
