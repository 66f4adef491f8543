"""δ at e^ε, and e^ε at δ, of a published sum over many records: both ends, over all pairs of neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

import numpy as np

from tightdp.errors import LimitError
from tightdp.exact.field import Number
from tightdp.exact.scaled import UNIT, Scaled, gamma
from tightdp.queries.enclosed.counts import Box, Letters, boxes_through

__all__ = ["Found", "delta", "largest_ratio", "least_ratio"]

_NARROW = 0.4
"""Of the width that is asked for, so much is left to the search; the rest to rounding."""

Move = tuple[int, int]
"""A change of one record: the letters before and after."""
Watch = Callable[[], None]


End = TypeVar("End", Fraction, "Fraction | float")


@dataclass(frozen=True)
class Found(Generic[End]):
    """Both ends of an answer, the counts of the other records and the change that show the lower end.

    `stopped` says which limit was met before the ends were as close as asked.
    """

    lower: End
    upper: End
    others: tuple[int, ...] | None = None
    move: Move | None = None
    stopped: LimitError | None = None


Event = np.ndarray[tuple[int], np.dtype[np.bool_ | np.intp]]
"""Places of a law: a mask, or a list."""


@dataclass(frozen=True)
class _Tests:
    """The laws of the sum on two neighbours, on the same integers, with a common bound on relative errors."""

    p: np.ndarray[tuple[int], np.dtype[np.float64]]
    q: np.ndarray[tuple[int], np.dtype[np.float64]]
    error: float
    missing: float

    def delta_above(self, t: float) -> float:
        """Return a number that is at least Σ max(0, P - t·P')."""
        # The subtraction and the product with t are roundings of P + t P'; `t` is within one of the true one.
        error = self.error + 10 * UNIT
        with np.errstate(invalid="ignore", over="ignore"):  # at an infinite t nothing exceeds t·P'
            scaled_q = t * self.q
            excess = self.p - scaled_q + error * (self.p + scaled_q)
        return float(excess[excess > 0].sum()) * (1 + gamma(len(excess) + 4)) + self.missing * (1 + 4 * UNIT)

    def event(self, t: float) -> tuple[Fraction, Fraction]:
        """Return P(E) from below and P'(E) from above, for the event E that P exceeds t·P'."""
        inside = self.p > t * self.q
        return self._ends(inside)

    def best(self, delta: float) -> tuple[Fraction, Fraction]:
        """Return the same for the event with the largest (P(E) - delta) / P'(E)."""
        kept = self.p > 0
        p, q = self.p[kept], self.q[kept]
        with np.errstate(divide="ignore", over="ignore"):
            order = np.argsort(-(p / q), kind="stable")
            ours, theirs = np.cumsum(p[order]), np.cumsum(q[order])
            worth = np.where(ours > delta, (ours - delta) / theirs, 0.0)
        at = int(np.argmax(worth))
        return self._ends(np.flatnonzero(kept)[order[: at + 1]])

    def _ends(self, event: Event) -> tuple[Fraction, Fraction]:
        ours, theirs = (Fraction(math.fsum(side[event])) for side in (self.p, self.q))
        error = Fraction(self.error + 4 * UNIT)
        return ours * (1 - error), theirs * (1 + error) + Fraction(self.missing)


def _tests(letters: Letters, others: Scaled, move: Move) -> _Tests:
    """Return the laws of the sum on neighbours whose other records add something with this law."""
    before, after = (letters.scaled[letter] for letter in move)
    first = others.first + min(before.first, after.first)
    last = others.last + max(before.last, after.last)
    sides = []
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
    return _Tests(sides[0], sides[1], error, missing)


def delta(
    letters: Letters, moves: Sequence[Move], records: int, t: Fraction, width: float, watch: Watch
) -> Found[Fraction]:
    """Return δ at t = e^ε >= 0, with `records` records beside the one that changes."""
    near = float(t)
    best: tuple[Fraction, tuple[int, ...] | None, Move | None] = (Fraction(0), None, None)
    above = 0.0

    def look_at(counts: tuple[int, ...]) -> None:
        nonlocal best, above
        law = letters.law(counts)
        for move in moves:
            tests = _tests(letters, law, move)
            ours, theirs = tests.event(near)
            above = max(above, tests.delta_above(near))
            if ours - t * theirs > best[0]:
                best = (ours - t * theirs, counts, move)

    def enough(box: Box) -> bool:
        bar = float(best[0]) * (1 + _NARROW * width)
        return all(_tests(letters, box.law, move).delta_above(near) <= bar for move in moves)

    for counts in letters.first(records):
        look_at(counts)
    left, stopped = boxes_through(letters.boxes(records), enough, look_at, watch, len(moves))
    upper = max([Fraction(above), best[0] * (1 + Fraction(_NARROW * width))])
    for box in left:
        upper = max([upper, *(Fraction(_tests(letters, box.law, move).delta_above(near)) for move in moves)])
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

    def raised(tests: _Tests, t: float) -> float:
        """Return a t, near the one given, that is surely enough for a pair; infinite where none is."""
        step = width / 16
        while tests.delta_above(t) > most:
            t, step = t * (1 + step), 2 * step
            if step > 1e6:
                return math.inf
        return t

    def look_at(counts: tuple[int, ...]) -> None:
        nonlocal best, upper
        law = letters.law(counts)
        for move in moves:
            tests = _tests(letters, law, move)
            ours, theirs = tests.best(most)
            if ours <= least:
                continue
            t: Fraction | float = (ours - least) / theirs if theirs else math.inf
            if t > best[0]:
                best = (t, counts, move)
            if math.isfinite(upper) and tests.delta_above(upper) > most:
                near = float(t) if t < 1e300 else math.inf
                upper = near if math.isinf(near) else raised(tests, max(near, upper) * (1 + _NARROW * width))

    def enough(box: Box) -> bool:
        return math.isinf(upper) or all(_tests(letters, box.law, move).delta_above(upper) <= most for move in moves)

    ends: list[Fraction | float] = [max(bound, Fraction(1))] if isinstance(bound, Fraction) else []
    for counts in letters.first(records):
        look_at(counts)
    note(Found(best[0], max(min([math.inf, *ends]), best[0]), best[1], best[2]))
    left, stopped = boxes_through(letters.boxes(records), enough, look_at, watch, len(moves))
    for box in left:
        for move in moves:
            upper = max(upper, raised(_tests(letters, box.law, move), max(upper, 1.0)))
    ends.append(Fraction(upper) if math.isfinite(upper) else math.inf)
    return Found(best[0], max(min(ends), best[0]), best[1], best[2], stopped)


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
