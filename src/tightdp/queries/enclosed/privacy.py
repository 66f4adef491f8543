"""δ at e^ε, and e^ε at δ, of a published sum over many records: both ends, over all pairs of neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from tightdp.errors import LimitError
from tightdp.exact.field import Number
from tightdp.queries.enclosed.bounds import Bounds
from tightdp.queries.enclosed.counts import Box, Letters, boxes_through, climb
from tightdp.queries.enclosed.pairs import Move, Tests, tests_of

__all__ = ["Found", "delta", "largest_ratio", "least_ratio"]

_NARROW = 0.4
"""The share of the requested width that is left to the search; the rest is for rounding."""

Watch = Callable[[], None]


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

    def worth(counts: tuple[int, ...]) -> Fraction:
        assert best[2] is not None
        ours, theirs = tests_of(letters, letters.law(counts), best[2]).event(near)
        return ours - t * theirs

    def goal() -> float:
        return max(float(best[0]) * (1 + _NARROW * width), least)

    whole, bounds = letters.boxes(records), Bounds(letters, moves)
    for counts in letters.first(records):
        look_at(counts)
    note(Found(best[0], Fraction(1), best[1], best[2]))
    try:
        if best[1] is not None and letters.many:
            look_at(climb(best[1], worth, watch))
            bounds.forget_small(whole, near, goal(), watch)
        left, stopped = boxes_through(whole, lambda box: bounds.below(box, near, goal()), look_at, watch)
    except LimitError as error:
        left, stopped = [whole], error
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

    def raised(tests: Tests, t: float) -> float:
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
            tests = tests_of(letters, law, move)
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
        return math.isinf(upper) or bounds.below(box, upper, most)

    def worth(counts: tuple[int, ...]) -> Fraction | float:
        assert best[2] is not None
        ours, theirs = tests_of(letters, letters.law(counts), best[2]).best(most)
        return (ours - least) / theirs if theirs else math.inf

    def found(end: Fraction | float, stopped: LimitError | None = None) -> Found[Fraction | float]:
        return Found(best[0], max(end, best[0]), best[1], best[2], stopped)

    end: Fraction | float = max(bound, Fraction(1)) if isinstance(bound, Fraction) else math.inf
    whole, bounds = letters.boxes(records), Bounds(letters, moves)
    try:
        for counts in letters.first(records):
            look_at(counts)
        note(found(end))
        if best[1] is not None and math.isfinite(upper) and letters.many:
            look_at(climb(best[1], worth, watch))
            bounds.forget_small(whole, upper, most, watch)
            if math.isfinite(far := bounds.ratio_above(whole, upper, most, watch)):
                end = min(end, Fraction(far))
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
