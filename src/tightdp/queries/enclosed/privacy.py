"""δ at e^ε, and e^ε at δ, of a published sum over many records: both ends, over all pairs of neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest
from typing import Generic, TypeVar

import numpy as np
from flint import fmpz_poly

from tightdp.errors import LimitError
from tightdp.exact.field import Number
from tightdp.exact.scaled import UNIT, Scaled, excess_above, gamma
from tightdp.limits.calibrated import COMPOSITION_BITS
from tightdp.queries.enclosed.counts import Box, Letters, NoiseBeside, boxes_through
from tightdp.queries.enclosed.forms import PublishedSum

Event = np.ndarray[tuple[int], np.dtype[np.bool_ | np.intp]]
"""Places of a law: a mask, or a list."""


Move = tuple[int, int]
"""A change of one record: the letters before and after."""

_START, _PASSES = 50_000, 20
"""Looking at a law costs as much as this many products, and this many more for every weight."""


@dataclass(frozen=True)
class Tests:
    """The laws of the sum on two neighbours, on the same integers, with a common bound on relative errors."""

    p: np.ndarray[tuple[int], np.dtype[np.float64]]
    q: np.ndarray[tuple[int], np.dtype[np.float64]]
    error: float
    missing: float

    def delta_above(self, t: float) -> float:
        """Return a number that is at least Σ max(0, P - t·P')."""
        return excess_above(self.p, self.q, t, self.error, self.missing)

    def event(self, t: float) -> tuple[Fraction, Fraction]:
        """Return P(E) from below and P'(E) from above, for the event E that P exceeds t·P'."""
        inside = self.p > t * self.q
        return self._ends(inside)

    def best(self, delta: float) -> tuple[Fraction, Fraction]:
        """Return the bounds of `event` for the event with the largest (P(E) - delta) / P'(E)."""
        kept = self.p > 0
        p, q = self.p[kept], self.q[kept]
        with np.errstate(divide="ignore", over="ignore"):
            order = np.argsort(-(p / q), kind="stable")
            ours, theirs = np.cumsum(p[order]), np.cumsum(q[order])
            worth = np.where(ours > delta, (ours - delta) / theirs, 0.0)
        at = int(np.argmax(worth))
        return self._ends(np.flatnonzero(kept)[order[: at + 1]])

    def enough(self, start: float, bar: float) -> float:
        """Return a t >= start that is surely enough for δ(t) <= bar; infinite where none is found.

        δ is convex: where its tangent meets the bar, t is still too small.
        """
        t, step = start, 1e-14
        while (over := self.delta_above(t) - bar) > 0:
            theirs = float(self.event(t)[1])
            if not theirs or t > 1e100 or step > 1:
                return math.inf
            t, step = max(t + over / theirs, t * (1 + step)), 2 * step
        return t

    def _ends(self, event: Event) -> tuple[Fraction, Fraction]:
        ours, theirs = (Fraction(math.fsum(side[event])) for side in (self.p, self.q))
        error = Fraction(self.error + 4 * UNIT)
        return ours * (1 - error), theirs * (1 + error) + Fraction(self.missing)


def tests_of(letters: Letters, others: Scaled, move: Move) -> Tests:
    """Return the laws of the sum on neighbours whose other records' sum has the law `others`."""
    before, after = (letters.scaled[letter] for letter in move)
    first = others.first + min(before.first, after.first)
    last = others.last + max(before.last, after.last)
    sides = []
    letters.work += (len(before.weights) + len(after.weights) + _PASSES) * len(others.weights) + _START
    for letter in (before, after):
        side = np.zeros(last - first + 1)
        start = others.first + letter.first - first
        side[start : start + len(others.weights) + len(letter.weights) - 1] = np.convolve(
            others.weights, letter.weights
        )
        sides.append(side)
    terms = min(len(others.weights), max(len(before.weights), len(after.weights)))
    own = max(before.error, after.error)
    error = (1 + others.error) * (1 + own) * (1 + gamma(terms + 4)) - 1 + 4 * UNIT
    missing = (others.missing + max(before.missing, after.missing)) * (1 + 4 * UNIT) + len(sides[0]) * 1e-290
    return Tests(sides[0], sides[1], error, missing)


_FAR = 1e6
_HALVINGS = 12

Watch = Callable[[], None]


class Bounds:
    """Bounds that ignore the records not decided yet, or keep of them the noise that all letters share."""

    def __init__(self, letters: Letters, moves: Sequence[Move]) -> None:
        self._letters, self.moves = letters, tuple(moves)
        self._last: tuple[Box, NoiseBeside] | None = None

    def delta_above(self, box: Box, move: Move, t: float, bar: float) -> float:
        """Return a number that is at least δ(t) of this change on all datasets; one above `bar` may be coarse."""

        def delta(law: Scaled) -> float:
            return tests_of(self._letters, law, move).delta_above(t)

        found = delta(box.law)
        if found <= bar or box.single or not self._letters.many or self._letters.noise.nothing:
            return found
        if self._last is None or self._last[0] is not box:
            self._last = box, self._letters.noise.beside(box.law, box.left)
        return min(found, self._last[1].delta_above(delta, bar))

    def below(self, box: Box, t: float, bar: float) -> bool:
        """Whether δ(t) is surely at most `bar` for all changes and all datasets."""
        return all(self.delta_above(box, move, t, bar) <= bar for move in self.moves)

    def ratio_above(self, box: Box, t: float, bar: float, watch: Watch) -> float:
        """Return a ratio of at least t at which δ is surely at most `bar`; infinite where none is found."""
        for move in self.moves:
            if self._within(box, move, t, bar, watch):
                continue
            low, step = t, 1e-6
            while not self._within(box, move, t * (1 + step), bar, watch):
                low, step = t * (1 + step), 4 * step
                if step > _FAR:
                    return math.inf
            high = t * (1 + step)
            for _ in range(_HALVINGS):
                middle = (low + high) / 2
                low, high = (low, middle) if self._within(box, move, middle, bar, watch) else (middle, high)
            t = high
        return t

    def _within(self, box: Box, move: Move, t: float, bar: float, watch: Watch) -> bool:
        watch()
        return self.delta_above(box, move, t, bar) <= bar


def exact_delta(form: PublishedSum, others: Sequence[int], move: Move, t: Fraction | None) -> Fraction | None:
    """Return δ(t) of neighbours whose other records have these counts of letters; None where the numbers are too long.

    Without t it is the δ that is left however large t is: the probability of outputs that the other dataset lacks.

    Independent of the doubles that found the pair: the laws are recomputed as products of integer polynomials.
    """
    factors = [(form.letters[letter], times) for letter, times in enumerate(others) if times]
    for times, law in form.noises:
        if not isinstance(law, dict):
            return None
        factors.append(({times * value: mass for value, mass in law.items()}, 1))
    before, after = (form.letters[letter] for letter in move)
    if not all(isinstance(mass, Fraction) for law, _ in [*factors, (before, 1), (after, 1)] for mass in law.values()):
        return None
    length = sum(times * (max(law) - min(law)) for law, times in factors) + 1
    bits = sum(times * math.log2(_denominator(law)) for law, times in factors)
    if length * bits * len(factors) > COMPOSITION_BITS:
        return None
    product, denominator = fmpz_poly([1]), 1
    for law, times in factors:
        product *= _weights(law, _denominator(law), min(law)) ** times
        denominator *= _denominator(law) ** times
    shared, low = math.lcm(_denominator(before), _denominator(after)), min(*before, *after)
    ours, theirs = (_weights(law, shared, low) for law in (before, after))
    if t is None:
        pairs = zip_longest((product * ours).coeffs(), (product * theirs).coeffs(), fillvalue=0)
        return Fraction(sum(int(weight) for weight, other in pairs if not other), denominator * shared)
    excess = product * (ours * t.denominator - theirs * t.numerator)
    above = sum(int(weight) for weight in excess.coeffs() if weight > 0)
    return Fraction(above, denominator * shared * t.denominator)


def _denominator(law: Mapping[int, Number]) -> int:
    return math.lcm(*(mass.denominator for mass in law.values() if isinstance(mass, Fraction)))


def _weights(law: Mapping[int, Number], denominator: int, low: int) -> fmpz_poly:
    """Return a law as integers over a denominator; the first of them is the weight of `low`."""
    weights = [0] * (max(law) - low + 1)
    for value, mass in law.items():
        weights[value - low] = int(mass * denominator)
    return fmpz_poly(weights)


_NARROW = 0.4
"""The share of the requested width that is left to the search; the rest is for rounding."""


End = TypeVar("End", Fraction, "Fraction | float")


@dataclass(frozen=True)
class Found(Generic[End]):
    """Both ends of an answer, with the counts of the other records and the change that show the lower end.

    `stopped` says which limit was met before the ends were as close as asked.
    """

    lower: End
    upper: End
    others: tuple[int, ...] | None = None
    move: Move | None = None
    stopped: LimitError | None = None


def delta(
    letters: Letters,
    moves: Sequence[Move],
    records: int,
    t: Fraction,
    width: float,
    watch: Watch,
    note: Callable[[Found[Fraction]], None] = lambda found: None,
    least: float = 0.0,
) -> Found[Fraction]:
    """Return δ at t = e^ε >= 0, with `records` records besides the one that changes.

    An upper end of `least` is low enough. `note` is told what is known once a few datasets were looked at.
    """
    near = float(t)
    best: tuple[Fraction, tuple[int, ...] | None, Move | None] = (Fraction(0), None, None)
    above = 0.0

    def look_at(counts: tuple[int, ...]) -> None:
        nonlocal best, above
        law = letters.law(counts)
        for move in moves:
            tests = tests_of(letters, law, move)
            ours, theirs = tests.event(near)
            above = max(above, tests.delta_above(near))
            if ours - t * theirs > best[0]:
                best = (ours - t * theirs, counts, move)

    def goal() -> float:
        return max(float(best[0]) * (1 + _NARROW * width), least)

    whole, bounds = letters.boxes(records), Bounds(letters, moves)
    for counts in letters.first(records):
        look_at(counts)
    note(Found(best[0], Fraction(1), best[1], best[2]))
    left, stopped = boxes_through(whole, lambda box: bounds.below(box, near, goal()), look_at, watch)
    upper = max(Fraction(above), best[0] * (1 + Fraction(_NARROW * width)), Fraction(least))
    if left:
        upper = max([upper, *(Fraction(bounds.delta_above(whole, move, near, 0.0)) for move in bounds.moves)])
    return Found(best[0], min(upper, Fraction(1)), best[1], best[2], stopped)


def least_ratio(
    letters: Letters,
    moves: Sequence[Move],
    records: int,
    bar: tuple[Fraction, Fraction],
    bound: Number | float,
    width: float,
    watch: Watch,
    note: Callable[[Found[Fraction | float]], None] = lambda found: None,
) -> Found[Fraction | float]:
    """Return the least t = e^ε >= 1 with δ(t) <= bar, given by both its ends; no likelihood ratio exceeds `bound`.

    `note` is told what is known once a few datasets were looked at.
    """
    most, least = math.nextafter(float(bar[0]), 0.0), bar[1]
    best: tuple[Fraction | float, tuple[int, ...] | None, Move | None] = (Fraction(1), None, None)
    upper = 1.0

    def look_at(counts: tuple[int, ...]) -> None:
        nonlocal best, upper
        law = letters.law(counts)
        for move in moves:
            tests = tests_of(letters, law, move)
            ours, theirs = tests.best(most)
            if ours <= least:
                continue
            t: Fraction | float = (ours - least) / theirs if theirs else math.inf
            if t > best[0]:
                best = (t, counts, move)
            if math.isfinite(upper) and tests.delta_above(upper) > most:
                near = float(t) if t < 1e300 else math.inf
                upper = near if math.isinf(near) else tests.enough(max(near, upper) * (1 + _NARROW * width), most)

    def enough(box: Box) -> bool:
        return math.isinf(upper) or bounds.below(box, upper, most)

    def found(end: Fraction | float, stopped: LimitError | None = None) -> Found[Fraction | float]:
        return Found(best[0], max(end, best[0]), best[1], best[2], stopped)

    end: Fraction | float = max(bound, Fraction(1)) if isinstance(bound, Fraction) else math.inf
    whole, bounds = letters.boxes(records), Bounds(letters, moves)
    try:
        for counts in letters.first(records):
            look_at(counts)
        note(found(end))
        if best[1] is not None and math.isfinite(upper) and letters.many:
            far = bounds.ratio_above(whole, upper, most, watch)
            end = min(end, Fraction(far) if math.isfinite(far) else far)
        note(found(end))
    except LimitError as error:
        return found(end, error)
    left, stopped = boxes_through(whole, enough, look_at, watch)
    if not left and math.isfinite(upper):
        end = min(end, Fraction(upper))
    return found(end, stopped)


def largest_ratio(letters: Letters, moves: Sequence[Move]) -> tuple[Number | float, Number | float, Move | None]:
    """Return both ends of the largest likelihood ratio, and the change that has the lower one.

    A ratio of sums is at most the largest ratio of its terms. At the largest and the smallest sum there is one term:
    whatever the other records are, the ratio there is that of one record's largest or smallest value.
    """
    lower: tuple[Number | float, Move | None] = (Fraction(1), None)
    upper: Number | float = Fraction(1)
    for move in moves:
        ours, theirs = (letters.laws[letter] for letter in move)
        for value, mass in ours.items():
            ratio = mass / theirs[value] if value in theirs else math.inf
            upper = max(upper, ratio)
        for top, end in ((True, max), (False, min)):
            value = end(ours)
            if value == end(theirs):
                ratio = ours[value] / theirs[value]
            elif (value > max(theirs)) if top else (value < min(theirs)):
                ratio = math.inf
            else:
                continue
            if ratio > lower[0]:
                lower = ratio, move
    return lower[0], upper, lower[1]
