"""Piecewise rational functions of an unknown: the largest of several, and where one is small.

All ends are exact. Which piece is the largest is asked at one rational between two ends, and then shown to hold up to
the next point where another one crosses it (`roots`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, cmp_to_key
from itertools import pairwise
from typing import Generic, TypeVar

from tightdp.exact.field import Number
from tightdp.exact.lines import Line
from tightdp.exact.roots import Point, between, covering, roots

W = TypeVar("W")
Interval = tuple[Point, "Point | None"]
"""The numbers between two points (None: infinity)."""


@dataclass(frozen=True)
class Piece(Generic[W]):
    """above/below between two points (None: infinity), where `below` is positive, or 0 for infinity; and a witness."""

    low: Point
    high: Point | None
    above: Line
    below: Line
    witness: W

    @cached_property
    def infinite(self) -> bool:
        """Whether the value is infinite."""
        return self.below.degree < 0

    def over(self, other: Piece[W]) -> Line:
        """Return a polynomial that is positive where this piece is larger than the other one."""
        return self.above * other.below - other.above * self.below

    def within(self, low: Point, high: Point | None) -> Piece[W]:
        """Return the part of the piece between two points."""
        return replace(self, low=low, high=high)


def largest(
    candidates: Iterable[Sequence[Piece[W]]], low: Point, high: Point | None, watch: Callable[[], None]
) -> list[Piece[W]]:
    """Return the largest of some functions between two points, in order; each is given by its pieces there."""
    distinct = _distinct(list(candidates), low, high)

    def around(start: Point, stop: Point | None) -> Piece[W]:
        watch()
        sample, best, others = _best(distinct, start, stop)
        piece = best.within(*_common(best, start, stop))
        for other in others:
            watch()
            piece = _shortened(piece, other, sample)
        return piece

    return joined(covering(low, high, around) if distinct else [])


def _common(piece: Piece[W], low: Point, high: Point | None) -> tuple[Point, Point | None]:
    """Return the ends of what a piece and an interval have in common."""
    start = piece.low if piece.low.compare(low) > 0 else low
    if high is None or (piece.high is not None and piece.high.compare(high) < 0):
        return start, piece.high
    return start, high


def _distinct(candidates: list[Sequence[Piece[W]]], low: Point, high: Point | None) -> list[Sequence[Piece[W]]]:
    """Return the candidates without those of one piece that equal another one."""
    if not candidates:
        return []
    sample = between(low, high)
    by_value: dict[object, list[Piece[W]]] = {}
    kept: list[Sequence[Piece[W]]] = []
    for pieces in candidates:
        if len(pieces) == 1:
            piece = pieces[0]
            value = None if piece.infinite else piece.above.at(sample) / piece.below.at(sample)
            same = by_value.setdefault(value, [])
            if any(piece.over(other).degree < 0 for other in same):
                continue
            same.append(piece)
        kept.append(pieces)
    return kept


def _best(
    candidates: list[Sequence[Piece[W]]], low: Point, high: Point | None
) -> tuple[Fraction, Piece[W], list[Sequence[Piece[W]]]]:
    """Return a rational between two points, the largest piece there, and the other candidates, larger ones first."""
    ties, stop = True, high
    while ties:
        sample = between(low, stop)
        pieces = [_piece_at(candidate, sample) for candidate in candidates]
        values = [_value(piece, sample) for piece in pieces]
        order = sorted(range(len(pieces)), key=lambda at: values[at], reverse=True)
        best = pieces[order[0]]
        near = [pieces[at] for at in order[1:] if values[at] == values[order[0]]]
        ties = any(best.over(other).degree >= 0 for other in near) and not best.infinite
        stop = Point(sample)
    return sample, best, [candidates[at] for at in order[1:]]


def _value(piece: Piece[W], sample: Fraction) -> Number | float:
    if piece.infinite:
        return float("inf")
    return piece.above.at(sample) / piece.below.at(sample)


def _piece_at(pieces: Sequence[Piece[W]], sample: Fraction) -> Piece[W]:
    """Return the piece of a candidate at a rational; at an end the one to the left."""
    for piece in pieces:
        if piece.high is None or piece.high.compare(sample) >= 0:
            return piece
    return pieces[-1]


def _shortened(piece: Piece[W], others: Sequence[Piece[W]], inside: Fraction) -> Piece[W]:
    """Return the part of a piece around a rational on which another candidate is not larger."""
    if piece.infinite:
        return piece
    for other in others:
        if other.high is not None and other.high.compare(piece.low) <= 0:
            continue
        if piece.high is not None and other.low.compare(piece.high) >= 0:
            break
        part = _common(other, piece.low, piece.high)
        signs = signs_between(piece.over(other), *part)
        piece = piece.within(*kept_around(inside, (piece.low, piece.high), signs))
    return piece


def kept_around(inside: Fraction, ends: Interval, signs: Iterable[tuple[Point, Point | None, int]]) -> Interval:
    """Return what is left around a rational of an interval without the parts with negative sign, given in order."""
    low, high = ends
    for start, stop, sign in signs:
        if sign < 0:
            if start.compare(inside) >= 0:
                return low, start
            assert stop is not None
            low = stop
    return low, high


def signs_between(line: Line, low: Point, high: Point | None) -> list[tuple[Point, Point | None, int]]:
    """Return the intervals between two points on which a polynomial keeps its sign, which is not 0 there."""
    ends: list[Point | None] = [low, *_roots(line, low, high), high]
    found = []
    for start, stop in pairwise(ends):
        assert start is not None
        found.append((start, stop, line.sign_after(between(start, stop))))
    return found


def keeps_its_sign(line: Line, low: Point, high: Point | None) -> bool:
    """Whether a polynomial that is not 0 has no root between two points."""
    return not _roots(line, low, high)


def _roots(line: Line, low: Point, high: Point | None) -> list[Point]:
    return [
        point
        for point in roots(line, low.low, None if high is None else high.high)
        if point.compare(low) > 0 and (high is None or point.compare(high) < 0)
    ]


def joined(pieces: Sequence[Piece[W]]) -> list[Piece[W]]:
    """Join neighbouring pieces that are the same function."""
    found: list[Piece[W]] = []
    for piece in pieces:
        if found and found[-1].infinite == piece.infinite and found[-1].over(piece).degree < 0:
            found[-1] = found[-1].within(found[-1].low, piece.high)
        else:
            found.append(piece)
    return found


def positive_parts(
    terms: Sequence[tuple[Line, int]],
    below: Line,
    low: Point,
    high: Point | None,
    witness: Callable[[tuple[int, ...]], W],
) -> list[Piece[W]]:
    """Return the sum of the positive parts of some functions over a positive denominator, in pieces.

    `witness` is called with the numbers of the terms that are positive.
    """
    borders: list[Point] = []
    changing: list[tuple[Line, int, list[tuple[Point, Point | None, int]]]] = []
    for line, number in terms:
        signs = signs_between(line, low, high) if line.degree >= 0 else []
        changing.append((line, number, signs))
        borders += [start for start, _, _ in signs[1:]]
    borders.sort(key=cmp_to_key(lambda one, other: one.compare(other)))
    ends: list[Point | None] = [low]
    for point in borders:
        if len(ends) == 1 or point.compare(ends[-1] or low):
            ends.append(point)
    found = []
    for start, stop in zip(ends, [*ends[1:], high], strict=True):
        assert start is not None
        sample, total, positive = between(start, stop), Line(), []
        for line, number, signs in changing:
            while len(signs) > 1 and signs[0][1] is not None and signs[0][1].compare(sample) < 0:
                del signs[0]
            if signs and signs[0][2] > 0:
                total += line
                positive.append(number)
        found.append(Piece(start, stop, total, below, witness(tuple(positive))))
    return joined(found)


@dataclass(frozen=True)
class Span:
    """The numbers between two points (None: infinity), and whether the ends belong to them."""

    low: Point
    high: Point | None
    with_low: bool
    with_high: bool


def spans_where(line: Line, low: Point, high: Point | None) -> list[Span]:
    """Return where a polynomial is at least 0 between two points, which are left out."""
    found: list[Span] = []
    signs = [(low, high, 1)] if line.degree < 0 else signs_between(line, low, high)
    for at, (start, stop, sign) in enumerate(signs):
        if sign >= 0:
            found.append(Span(start, stop, at > 0, stop is not None and at + 1 < len(signs)))
        elif at and not (found and found[-1].high is start):
            found.append(Span(start, start, True, True))
    return joined_spans(found)


def joined_spans(spans: Sequence[Span]) -> list[Span]:
    """Join spans that meet in a point which belongs to one of them."""
    found: list[Span] = []
    for span in spans:
        last = found[-1] if found else None
        if (
            last is not None
            and last.high is not None
            and last.high.compare(span.low) >= 0
            and (last.with_high or span.with_low)
        ):
            found[-1] = Span(last.low, span.high, last.with_low, span.with_high)
        else:
            found.append(span)
    return found


def common_spans(ours: Sequence[Span], theirs: Sequence[Span]) -> list[Span]:
    """Return the numbers that belong to a span of each list."""
    found = []
    for one in ours:
        for other in theirs:
            order = one.low.compare(other.low)
            low = one.low if order >= 0 else other.low
            with_low = (one.with_low or order < 0) and (other.with_low or order > 0)
            high, with_high = _least_end(one, other)
            size = 1 if high is None else high.compare(low)
            if size > 0 or (not size and with_low and with_high):
                found.append(Span(low, high, with_low, with_high))
    return joined_spans(found)


def _least_end(one: Span, other: Span) -> tuple[Point | None, bool]:
    """Return the upper end of what two spans have in common, and whether it belongs to both."""
    if one.high is None or other.high is None:
        return (other.high, other.with_high) if one.high is None else (one.high, one.with_high)
    order = one.high.compare(other.high)
    high = one.high if order <= 0 else other.high
    return high, (one.with_high or order > 0) and (other.with_high or order < 0)
