"""δ at e^ε, and e^ε at δ, of a published sum over many records: both ends, over all pairs of neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import zip_longest

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


# What is asked: a number that is the larger, the easier two laws are to tell apart.


@dataclass(frozen=True)
class AtRatio:
    """δ(t) at a t = e^ε between two ends."""

    low: Fraction
    high: Fraction
    least: Fraction = Fraction(0)

    def bar(self, value: float) -> tuple[float, float]:
        """Return a t and a bar such that the number is at most `value` where δ(t) is at most the bar."""
        return float(self.low), value

    def shown(self, tests: Tests) -> Fraction | float:
        """Return a lower end of the number for these laws."""
        ours, theirs = tests.event(float(self.high))
        return max(ours - self.high * theirs, Fraction(0))

    def enough(self, tests: Tests, start: float) -> float:
        """Return a value of at least `start` that the number surely does not exceed for these laws."""
        return max(start, tests.delta_above(float(self.low)))

    def above(self, bounds: Bounds, box: Box, start: float, watch: Watch) -> float:
        """Return a value of at least `start` that the number does not exceed on a box; infinite where none is found."""
        return max(start, *(bounds.delta_above(box, move, float(self.low), start) for move in bounds.moves))

    def limit(self, bound: Number | float) -> Fraction | float:
        """Return an upper end where no likelihood ratio exceeds `bound`."""
        return Fraction(bound > self.low)

    def claim(self, value: Fraction) -> tuple[Fraction, Fraction]:
        """Return t and δ with δ(t) >= δ, which is so where the number is at least `value`."""
        return self.high, value


@dataclass(frozen=True)
class AtDelta:
    """The least t = e^ε >= 1 with δ(t) <= a bar between two ends; its methods are those of `AtRatio`."""

    low: Fraction
    high: Fraction
    least: Fraction = Fraction(1)

    @property
    def _most(self) -> float:
        return math.nextafter(float(self.low), 0.0)

    def bar(self, value: float) -> tuple[float, float]:
        return value, self._most

    def shown(self, tests: Tests) -> Fraction | float:
        ours, theirs = tests.best(self._most)
        if ours <= self.high:
            return Fraction(1)
        return max((ours - self.high) / theirs, Fraction(1)) if theirs else math.inf

    def enough(self, tests: Tests, start: float) -> float:
        return tests.enough(start, self._most)

    def above(self, bounds: Bounds, box: Box, start: float, watch: Watch) -> float:
        def within(t: float) -> bool:
            watch()
            return bounds.below(box, t, self._most)

        if within(start):
            return start
        low, step = start, 1e-6
        while not within(start * (1 + step)):
            low, step = start * (1 + step), 4 * step
            if step > _FAR:
                return math.inf
        high = start * (1 + step)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if within(middle) else (middle, high)
        return high

    def limit(self, bound: Number | float) -> Fraction | float:
        return max(bound, Fraction(1)) if isinstance(bound, Fraction) else math.inf

    def claim(self, value: Fraction) -> tuple[Fraction, Fraction]:
        return value, self.high


Asked = AtRatio | AtDelta


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


@dataclass(frozen=True)
class Found:
    """Both ends of an answer, with the counts of the other records and the change that show the lower end.

    `stopped` says which limit was met before the ends were as close as asked.
    """

    lower: Fraction | float
    upper: Fraction | float
    others: tuple[int, ...] | None = None
    move: Move | None = None
    stopped: LimitError | None = None


def largest(
    asked: Asked,
    letters: Letters,
    moves: Sequence[Move],
    records: int,
    width: float,
    watch: Watch,
    note: Callable[[Found], None] = lambda found: None,
    bound: Number | float = math.inf,
    floor: float = 0.0,
) -> Found:
    """Return both ends of the largest number that is asked for, with `records` records besides the one that changes.

    No likelihood ratio exceeds `bound`; an upper end of `floor` is low enough. `note` is told what is known once a few
    datasets were looked at.
    """
    best: tuple[Fraction | float, tuple[int, ...] | None, Move | None] = (asked.least, None, None)
    upper = max(float(asked.least), floor)

    def look_at(counts: tuple[int, ...]) -> None:
        nonlocal best, upper
        law = letters.law(counts)
        for move in moves:
            tests = tests_of(letters, law, move)
            lower = asked.shown(tests)
            if lower > best[0]:
                best = lower, counts, move
            if lower > 1e300:
                upper = math.inf
            elif math.isfinite(upper) and asked.enough(tests, upper) > upper:
                upper = asked.enough(tests, max(float(lower) * (1 + _NARROW * width), upper))

    def found(end: Fraction | float, stopped: LimitError | None = None) -> Found:
        return Found(best[0], max(end, best[0]), best[1], best[2], stopped)

    end = asked.limit(bound)
    if end <= asked.least:
        return found(end)
    whole, bounds = letters.boxes(records), Bounds(letters, moves)
    try:
        for counts in letters.first(records):
            look_at(counts)
        note(found(end))
        if math.isfinite(upper):
            far = asked.above(bounds, whole, upper, watch)
            end = min(end, Fraction(far) if math.isfinite(far) else far)
        note(found(end))
    except LimitError as error:
        return found(end, error)
    left, stopped = boxes_through(
        whole, lambda box: math.isinf(upper) or bounds.below(box, *asked.bar(upper)), look_at, watch
    )
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
