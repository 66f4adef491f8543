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
from tightdp.exact.numbers import Exact, ends_of
from tightdp.exact.scaled import UNIT, Scaled, as_double, excess_above, gamma
from tightdp.limits.calibrated import COMPOSITION_BITS
from tightdp.queries.enclosed.counts import Box, Letters, NoiseBeside, boxes_through
from tightdp.queries.enclosed.forms import PublishedSum
from tightdp.queries.privacy import DeltaAt, LeastRatio

Event = np.ndarray[tuple[int], np.dtype[np.bool_ | np.intp]]
"""Places of a law: a mask, or a list."""


Move = tuple[int, int]
"""A change of one record: the letters before and after."""

_START, _PASSES = 50_000, 20
"""Looking at a law costs as much as this many products, and this many more for every weight."""


Asked = DeltaAt | LeastRatio
"""What is asked of laws: a number that is the larger, the easier they are to tell apart."""


def _bar(question: LeastRatio) -> float:
    return math.nextafter(float(ends_of(question.delta)[0]), 0.0)


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

    def shown(self, question: Asked) -> Fraction | float:
        """Return a lower end of what is asked."""
        if isinstance(question, DeltaAt):
            high = ends_of(question.high)[1]
            ours, theirs = self.event(float(high))
            return max(ours - high * theirs, question.least)
        (ours, theirs), most = self.best(_bar(question)), ends_of(question.delta)[1]
        if ours <= most:
            return question.least
        return max((ours - most) / theirs, question.least) if theirs else math.inf

    def enough(self, question: Asked, start: float) -> float:
        """Return a value of at least `start` that is surely not exceeded; infinite where none is found.

        δ is convex: where its tangent meets the bar, t is still too small.
        """
        if isinstance(question, DeltaAt):
            return max(start, self.delta_above(as_double(question.low)))
        t, step, bar = start, 1e-14, _bar(question)
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

    def keeps(self, question: Asked, box: Box, value: float) -> bool:
        """Whether what is asked is surely at most `value` for all changes and all datasets."""
        t, bar = (as_double(question.low), value) if isinstance(question, DeltaAt) else (value, _bar(question))
        return all(self.delta_above(box, move, t, bar) <= bar for move in self.moves)

    def enough(self, question: Asked, box: Box, start: float, watch: Watch) -> float:
        """Return a value of at least `start` that is not exceeded on a box; infinite where none is found."""
        if isinstance(question, DeltaAt):
            t = as_double(question.low)
            return max(start, *(self.delta_above(box, move, t, start) for move in self.moves))
        if self.keeps(question, box, start):
            return start
        low, step = start, 1e-6
        while not self.keeps(question, box, start * (1 + step)):
            watch()
            low, step = start * (1 + step), 4 * step
            if step > _FAR:
                return math.inf
        high = start * (1 + step)
        for _ in range(_HALVINGS):
            watch()
            middle = (low + high) / 2
            low, high = (low, middle) if self.keeps(question, box, middle) else (middle, high)
        return high


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
    upper: Exact
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
            lower = tests.shown(asked)
            if lower > best[0]:
                best = lower, counts, move
            if lower > 1e300:
                upper = math.inf
            elif math.isfinite(upper) and tests.enough(asked, upper) > upper:
                upper = tests.enough(asked, max(float(lower) * (1 + _NARROW * width), upper))

    def found(end: Exact, stopped: LimitError | None = None) -> Found:
        return Found(best[0], max(end, best[0]), best[1], best[2], stopped)

    end = asked.bound(bound)
    if end <= asked.least:
        return found(end)
    whole, bounds = letters.boxes(records), Bounds(letters, moves)
    try:
        for counts in letters.first(records):
            look_at(counts)
        note(found(end))
        if math.isfinite(upper):
            far = bounds.enough(asked, whole, upper, watch)
            end = min(end, Fraction(far) if math.isfinite(far) else far)
        note(found(end))
    except LimitError as error:
        return found(end, error)
    left, stopped = boxes_through(
        whole, lambda box: math.isinf(upper) or bounds.keeps(asked, box, upper), look_at, watch
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
