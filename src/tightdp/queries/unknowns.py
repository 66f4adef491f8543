"""Tight ratios, δ and accuracy as functions of an unknown: the candidates to compare, from laws that contain it.

Candidates are collected at one point of a cell (`exact/generators`): weights that are positive there are positive on
all of it, so likelihood ratios are finite on all of it or on none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from tightdp.exact.evaluation import sign
from tightdp.exact.field import Number
from tightdp.exact.lines import Line, lines_of
from tightdp.exact.pieces import Piece, largest, positive_parts
from tightdp.exact.roots import Point
from tightdp.exact.weights import as_exact
from tightdp.exact.whole import Whole, polynomials
from tightdp.language.interp import target_of
from tightdp.language.program import Dataset
from tightdp.methods.base import Pair
from tightdp.methods.sums import mass
from tightdp.queries.accuracy import number
from tightdp.queries.nearness import AccuracyAt
from tightdp.symmetry.sets import Table

__all__ = ["Quotient", "Shares", "errors_beyond", "largest_delta", "largest_quotient", "ratios", "shares"]

Watch = Callable[[], None]
Ratio = tuple[Line, Line]
"""A function of the unknown: numerator and denominator, which is positive."""


@dataclass(frozen=True)
class Quotient:
    """A function of the unknown, and its source: a pair with the code of an output, or a dataset."""

    above: Whole
    below: Whole
    pair: Pair | None = None
    code: int = 0
    x: Dataset = ()


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


def ratios(pairs: Iterable[Pair]) -> Iterator[Quotient]:
    """Yield the likelihood ratios of the outputs of some pairs."""
    for pair in pairs:
        ours, theirs = pair.table.weights(pair.x), pair.table.weights(pair.x_prime)
        first, second = _sign(ours.total), _sign(theirs.total)
        for code, weight in ours.by_code.items():
            up, down = weight * first, theirs.by_code.get(code, 0) * second
            if up:
                _check_positive(up)
                _check_positive(down)
                yield Quotient(up * theirs.total * second, down * ours.total * first, pair, code)


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


def errors_beyond(table: Table, datasets: Iterable[tuple[Dataset, int]], question: AccuracyAt) -> Iterator[Quotient]:
    """Yield, for some datasets, the probability of an output that is not near the target."""
    for x, _ in datasets:
        weights, (low, high) = table.weights(x), question.within(target_of(table.bound, x))
        positive = _sign(weights.total)
        far = [code for code in weights.by_code if not low <= as_exact(number(table, x, code)) <= high]
        yield Quotient(mass(weights.by_code, far) * positive, weights.total * positive, None, 0, x)


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


def _check_positive(weight: Whole) -> None:
    """Check that a weight is not negative; it keeps its sign on the whole cell."""
    if _sign(weight) < 0:
        raise AssertionError("a weight is negative: a defect of the encoding")
