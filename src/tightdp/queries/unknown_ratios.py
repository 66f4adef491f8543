"""The least e^ε at a δ as a function of an unknown: found at one value, and shown to hold around it.

At a value of the unknown the least t with δ(t) <= δ is (P(E) - δ)/P'(E) for some pair of neighbours and event E. As a
function of the unknown this t is never too large; it is large enough as far as no pair has a larger δ at it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain

from tightdp.exact.field import Number
from tightdp.exact.lines import Line, lines_of, parts_in_x, quotient
from tightdp.exact.pieces import Interval, Piece, covering, kept_around, positive_parts, signs_between
from tightdp.exact.roots import Point, between
from tightdp.methods.base import Pair
from tightdp.queries.unknowns import Ratio, Shares, Watch

__all__ = ["least_ratio"]

Event = tuple[Shares, tuple[int, ...]]
"""A pair of neighbours, and the positions of outputs in its laws."""


def least_ratio(
    pairs: Sequence[Shares], delta: Number, low: Point, high: Point | None, watch: Watch
) -> list[Piece[Pair | None]]:
    """Return the least t >= 1 with δ(t) <= delta between two points, in pieces, with the pair that has it."""
    up, down = lines_of(*delta.as_integer_ratio())
    return covering(low, high, lambda *ends: _piece_within(pairs, (up, down), ends, watch))


def _piece_within(pairs: Sequence[Shares], bar: Ratio, ends: Interval, watch: Watch) -> Piece[Pair | None]:
    """Return the answer around some value of an interval."""
    stop = ends[1]
    while True:  # where candidates cross just at the sample, another one is taken
        sample = between(ends[0], stop)
        t, event = _least_at(pairs, bar, sample, watch)
        kept, function = _around(sample, ends, event, bar, t == math.inf)
        if t != math.inf:
            for each in sorted(pairs, key=lambda each: each is not (event and event[0])):
                watch()
                kept = _enough(sample, kept, each, function, bar)
        if kept[1] is None or kept[1].compare(kept[0]) > 0:
            return Piece(*kept, *function, None if event is None else event[0].pair)
        stop = Point(sample)


def _around(
    sample: Fraction, ends: Interval, event: Event | None, bar: Ratio, infinite: bool
) -> tuple[Interval, Ratio]:
    """Return the t of an event as a function of the unknown, and where it is at least 1; infinity where P' has 0."""
    (one,) = lines_of(1)
    if event is None:
        return ends, (one, one)
    shares, codes = event
    above, below = Line(()), Line(())
    for at in codes:
        above, below = above + shares.laws[at][0], below + shares.laws[at][1]
    above, below = above * bar[1] - bar[0] * shares.below, below * bar[1]
    if infinite:
        return kept_around(sample, ends, signs_between(above, *ends)), (one, Line(()))
    above, below = _reduced(above, below, sample)
    return kept_around(sample, ends, signs_between(above - below, *ends)), (above, below)


def _enough(sample: Fraction, ends: Interval, shares: Shares, t: Ratio, bar: Ratio) -> Interval:
    """Return the part around a value of an interval on which δ(t) of a pair is at most the bar."""
    terms, below = shares.excess(t)
    pieces = positive_parts(terms, below, *ends, lambda _: None)
    spare = ((bar[0] * below - piece.above * bar[1], piece.low, piece.high) for piece in pieces)
    return kept_around(sample, ends, chain.from_iterable(signs_between(*each) for each in spare))


def _least_at(pairs: Sequence[Shares], bar: Ratio, at: Fraction, watch: Watch) -> tuple[Number | float, Event | None]:
    """Return the least t >= 1 at a value of the unknown, with the event that has it, which is None for 1."""
    best: tuple[Number | float, Event | None] = (Fraction(1), None)
    delta = bar[0].at(at) / bar[1].at(at)
    for shares in pairs:
        watch()
        t, codes = _least_of(
            [(ours.at(at), theirs.at(at)) for ours, theirs, _ in shares.laws], shares.below.at(at) * delta
        )
        if t > best[0]:
            best = t, (shares, codes)
        if t == math.inf:
            break
    return best


def _least_of(laws: Sequence[tuple[Number, Number]], bar: Number) -> tuple[Number | float, tuple[int, ...]]:
    """Return the largest (P(E) - bar)/P'(E) of all events E, with that event, for laws of any scale."""
    order = sorted((at for at, (p, _) in enumerate(laws) if p), key=lambda at: _quotient(*laws[at]), reverse=True)
    best: tuple[Number | float, int] = (Fraction(0), 0)
    ours: Number = -bar
    theirs: Number = Fraction(0)
    for size, at in enumerate(order, 1):
        ours, theirs = ours + laws[at][0], theirs + laws[at][1]
        if ours > 0 and (t := _quotient(ours, theirs)) > best[0]:
            best = t, size
    return best[0], tuple(order[: best[1]])


def _quotient(above: Number, below: Number) -> Number | float:
    return above / below if below else math.inf


def _reduced(above: Line, below: Line, at: Fraction) -> Ratio:
    """Return a function in lowest terms; the denominator, which is positive around a rational, still is."""
    up, down = parts_in_x(quotient(above, below))
    return (up, down) if down.sign(at) > 0 else (-up, -down)
