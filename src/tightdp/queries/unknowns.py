"""Tight ratios, δ, e^ε at a δ, and accuracy as functions of an unknown, from laws that contain it.

Candidates are collected at one point of a cell (`exact/generators`): weights that are positive there are positive on
all of it, so likelihood ratios are finite on all of it or on none of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from itertools import chain
from typing import Any

from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.lines import Line, lines_of, parts_in_x, quotient
from tightdp.exact.pieces import (
    Interval,
    Piece,
    joined,
    keeps_its_sign,
    kept_around,
    largest,
    positive_parts,
    signs_between,
)
from tightdp.exact.polynomials import sign
from tightdp.exact.roots import Point, between, covering
from tightdp.exact.weights import quotient as quotient_of
from tightdp.exact.whole import Whole, polynomials
from tightdp.language.program import Dataset
from tightdp.methods.base import Pair
from tightdp.symmetry.sets import Table

Watch = Callable[[], None]
Ratio = tuple[Line, Line]
"""A function of the unknown: numerator and denominator, which is positive."""


@dataclass(frozen=True)
class Quotient:
    """A function of the unknown, with a positive denominator, and what has this value."""

    above: Whole
    below: Whole
    witness: Any


@dataclass(frozen=True)
class Shares:
    """P(y|x) and P(y|x') of one pair over a common denominator, with the code of y; as polynomials in the unknown."""

    laws: tuple[tuple[Line, Line, int], ...]
    below: Line
    pair: Pair

    def excess(self, t: Ratio) -> tuple[list[tuple[Line, int]], Line]:
        """Return P(y|x) - t·P(y|x') for every code, over a common denominator."""
        up, down = t
        return [(ours * down - theirs * up, code) for ours, theirs, code in self.laws], self.below * down


@dataclass(frozen=True)
class Ratios:
    """The different likelihood ratios of some pairs: places of P and Q in `functions`, and the first that has them."""

    functions: list[Number]
    found: dict[tuple[int, int], tuple[Pair, int]]


def ratios(pairs: Iterable[Pair]) -> Ratios:
    """Return the different likelihood ratios of the outputs of some pairs, without those that are 1."""
    found: dict[tuple[int, int], tuple[Pair, int]] = {}
    functions: list[Number] = [Fraction(0)]
    names: dict[object, int] = {function(functions[0]): 0}
    sign = cache(_sign)

    @cache
    def probability(weight: Whole, total: Whole) -> int:
        if sign(weight) * sign(total) < 0:  # what it is on the whole cell
            raise AssertionError("a weight is negative: a defect of the encoding")
        value = quotient_of(weight, total)
        name = names.setdefault(function(value), len(names)) if value else 0
        functions.extend([value] * (name == len(functions)))
        return name

    @cache
    def law(table: Table, x: Dataset) -> dict[int, int]:
        weights = table.weights(x)
        return {code: probability(weight, weights.total) for code, weight in weights.by_code.items()}

    for pair in pairs:
        ours, theirs = law(pair.table, pair.x), law(pair.table, pair.x_prime)
        for code, one in ours.items():
            both = one, theirs.get(code, 0)
            if one and one != both[1] and both not in found:
                found[both] = pair, code
    return Ratios(functions, found)


def shares(pairs: Iterable[Pair]) -> list[Shares]:
    """Return the laws of some pairs as functions of the unknown, each two laws once."""
    found: dict[object, Shares] = {}
    for pair in pairs:
        ours, theirs = pair.table.weights(pair.x), pair.table.weights(pair.x_prime)
        total: Whole = ours.total
        first: Whole = 1
        second: Whole = 1
        if ours.total != theirs.total:
            total, first, second = ours.total * theirs.total, theirs.total, ours.total
        sign = _sign(total)
        codes = list(ours.by_code)
        weights = [ours.by_code[code] * first * sign for code in codes]
        others = [theirs.by_code.get(code, 0) * second * sign for code in codes]
        below, *lines = lines_of(total * sign, *weights, *others)
        laws = tuple(zip(lines[: len(codes)], lines[len(codes) :], codes, strict=True))
        found.setdefault((below.key, tuple(sorted((p.key, q.key) for p, q, _ in laws))), Shares(laws, below, pair))
    return list(found.values())


def as_quotient(value: Number, witness: Dataset) -> Quotient:
    """Return a number with the unknown in it as a function, with the dataset that has it."""
    above, below = value.as_integer_ratio()
    positive = _sign(below)
    return Quotient(above * positive, below * positive, witness)


def largest_quotient(
    quotients: Sequence[Quotient], low: Point, high: Point | None, watch: Watch
) -> list[Piece[Quotient]]:
    """Return the largest of some functions on a cell."""
    lines = lines_of(*(part for each in quotients for part in (each.above, each.below)))
    pieces = [
        [Piece(low, high, above, below, each)]
        for each, above, below in zip(quotients, lines[::2], lines[1::2], strict=True)
    ]
    return largest(pieces, low, high, watch)


def leading(ratios: Ratios, low: Point, high: Point | None, watch: Watch) -> list[Quotient]:
    """Return the ratios P/Q of numbers of at least 0 without those below another of the same Q, or P, on all of a cell.

    To compare two numbers takes much less than to compare two ratios, and of many pairs of datasets they are the same.
    """
    names = list(ratios.found)
    pieces: dict[int, Piece[Number]] = {}
    for name in dict.fromkeys(chain.from_iterable(names)):
        above, below = lines_of(*ratios.functions[name].as_integer_ratio())
        pieces[name] = Piece(low, high, above, below, ratios.functions[name])
    sample = between(low, high)
    values = {name: piece.above.at(sample) / piece.below.at(sample) for name, piece in pieces.items()}

    @cache
    def larger(one: int, other: int) -> bool:
        watch()
        return values[one] > values[other] and keeps_its_sign(pieces[one].over(pieces[other]), low, high)

    left: Iterable[tuple[int, int]] = names
    for at in (0, 1):
        groups: dict[int, list[int]] = {}
        for both in left:
            groups.setdefault(both[1 - at], []).append(both[at])
        best = {other: (min if at else max)(group, key=values.__getitem__) for other, group in groups.items()}
        beside = [(both, both[at], best[both[1 - at]]) for both in left]
        left = [both for both, own, leads in beside if not larger(*((own, leads) if at else (leads, own)))]
    found = []
    for both in left:
        (up, divisor), (down, over) = (ratios.functions[name].as_integer_ratio() for name in both)
        found.append(Quotient(up * over, divisor * down, ratios.found[both]))
    return found


def function(value: Number) -> object:
    """Return a function of the unknown as a plain value."""
    return (value.parts, value.root) if isinstance(value, ExpNumber) else value


Event = tuple[Pair, tuple[int, ...]]


def _event(pair: Pair, codes: tuple[int, ...]) -> Event:
    return pair, codes


def largest_delta(
    pairs: Sequence[Shares], t: Number, low: Point, high: Point | None, watch: Watch
) -> list[Piece[Event]]:
    """Return the largest δ at t = e^ε of some pairs on a cell, with the pair and the codes of its event."""
    up, down = lines_of(*t.as_integer_ratio())

    def pieces() -> Iterator[list[Piece[Event]]]:
        known: set[object] = set()
        for each in pairs:
            watch()
            terms, below = each.excess((up, down))
            name = below.key, tuple(sorted(term.key for term, _ in terms))
            if name not in known:  # else another pair has the same function
                known.add(name)
                yield positive_parts(terms, below, low, high, partial(_event, each.pair))

    return largest(pieces(), low, high, watch)


def _sign(weight: Whole) -> int:
    """Return the sign of a weight, which it keeps on the whole cell."""
    (polynomial,), root = polynomials(weight)
    return sign(polynomial, root)


Test = tuple[Shares, tuple[int, ...]]
"""A pair of neighbours, and the positions of outputs in its laws."""


def least_ratio(
    pairs: Sequence[Shares], delta: Number, low: Point, high: Point | None, watch: Watch
) -> list[Piece[Pair | None]]:
    """Return the least t >= 1 with δ(t) <= delta between two points, in pieces, with the pair that has it."""
    up, down = lines_of(*delta.as_integer_ratio())
    return joined(covering(low, high, lambda *ends: _piece_within(pairs, (up, down), ends, watch)))


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


def _around(sample: Fraction, ends: Interval, event: Test | None, bar: Ratio, infinite: bool) -> tuple[Interval, Ratio]:
    """Return the t of an event as a function of the unknown, and where it is at least 1; infinity where P' has 0."""
    (one,) = lines_of(1)
    if event is None:
        return ends, (one, one)
    shares, codes = event
    above, below = Line(), Line()
    for at in codes:
        above, below = above + shares.laws[at][0], below + shares.laws[at][1]
    above, below = above * bar[1] - bar[0] * shares.below, below * bar[1]
    if infinite:
        return kept_around(sample, ends, signs_between(above, *ends)), (one, Line())
    above, below = _reduced(above, below, sample)
    return kept_around(sample, ends, signs_between(above - below, *ends)), (above, below)


def _enough(sample: Fraction, ends: Interval, shares: Shares, t: Ratio, bar: Ratio) -> Interval:
    terms, below = shares.excess(t)
    pieces = positive_parts(terms, below, *ends, lambda _: None)
    spare = ((bar[0] * below - piece.above * bar[1], piece.low, piece.high) for piece in pieces)
    return kept_around(sample, ends, chain.from_iterable(signs_between(*each) for each in spare))


def _least_at(pairs: Sequence[Shares], bar: Ratio, at: Fraction, watch: Watch) -> tuple[Number | float, Test | None]:
    """Return the least t >= 1 at a value of the unknown, with the event that has it, which is None for 1."""
    best: tuple[Number | float, Test | None] = (Fraction(1), None)
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
