"""Tight ratios, δ and accuracy as functions of an unknown: the candidates to compare, from laws that contain it.

Candidates are collected at one point of a cell (`exact/generators`): weights that are positive there are positive on
all of it, so likelihood ratios are finite on all of it or on none of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

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
from tightdp.symmetry.sets import Table

__all__ = ["Quotient", "Shares", "deltas", "errors_beyond", "largest_delta", "largest_quotient", "ratios"]

Watch = Callable[[], None]


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
    """P(y|x) - t·P(y|x') for one pair, by code, over one denominator."""

    terms: tuple[tuple[Whole, int], ...]
    below: Whole
    pair: Pair


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


def deltas(pairs: Iterable[Pair], t: Number) -> Iterator[Shares]:
    """Yield the terms of δ(t) for some pairs."""
    above, below = t.as_integer_ratio()
    for pair in pairs:
        ours, theirs = pair.table.weights(pair.x), pair.table.weights(pair.x_prime)
        signs = _sign(ours.total) * _sign(theirs.total)
        first, second = theirs.total * below * signs, ours.total * above * signs
        terms = tuple(
            (weight * first - theirs.by_code.get(code, 0) * second, code) for code, weight in ours.by_code.items()
        )
        yield Shares(terms, ours.total * first, pair)


def errors_beyond(table: Table, datasets: Iterable[tuple[Dataset, int]], alpha: Number) -> Iterator[Quotient]:
    """Yield P(|M(x) - V(x)| > alpha) for some datasets."""
    for x, _ in datasets:
        target, weights = target_of(table.bound, x), table.weights(x)
        positive = _sign(weights.total)
        far = [code for code in weights.by_code if as_exact(abs(number(table, x, code) - target)) > alpha]
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


def largest_delta(shares: Sequence[Shares], low: Point, high: Point | None, watch: Watch) -> list[Piece[Event]]:
    """Return the largest δ of some pairs on a cell, with the pair and the codes of the event that attain it."""

    def pieces() -> Iterator[list[Piece[Event]]]:
        known: set[object] = set()
        for share in shares:
            watch()
            below, *terms = lines_of(share.below, *(weight for weight, _ in share.terms))
            name = below.key, tuple(sorted(term.key for term in terms))
            if name in known:
                continue  # another pair has the same function
            known.add(name)
            yield _pieces_of(share, below, terms, low, high)

    return largest(pieces(), low, high, watch)


def _pieces_of(share: Shares, below: Line, terms: list[Line], low: Point, high: Point | None) -> list[Piece[Event]]:
    numbered = [(term, code) for term, (_, code) in zip(terms, share.terms, strict=True)]
    return positive_parts(numbered, below, low, high, lambda codes: (share.pair, codes))


def _sign(weight: Whole) -> int:
    """Return the sign of a weight, which it keeps on the whole cell."""
    (polynomial,), root = polynomials(weight)
    return sign(polynomial, root)


def _check_positive(weight: Whole) -> None:
    """Check that a weight is not negative; it keeps its sign on the whole cell."""
    if _sign(weight) < 0:
        raise AssertionError("a weight is negative: a defect of the encoding")
