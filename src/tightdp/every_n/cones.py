"""Windows: the largest ratio over all continuations of a few records before and after the change."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

from tightdp.every_n.chain import Chain, Vector, column, product, row

__all__ = ["windows"]

_MOST = 600
_LONGEST = 64
_GRID = 1 << 200


def windows(chain: Chain) -> Iterator[Fraction | float]:
    """Yield upper ends of the ratio for windows of 0, 1, 2, ... records on either side of the one that changes.

    Only where one record changes. Every row s·M···M is in the cone of the rows, every column M···M·f in that of the
    columns; a ratio of sums of nonnegative products is at most the largest ratio of a product.
    """
    matrices = [matrix for by in chain.steps.values() for matrix in by.values()]
    others = [matrix for by in chain.reversed().steps.values() for matrix in by.values()]
    rows = [{i: Fraction(1)} for i in range(chain.size)]
    columns = list(rows)
    for _ in range(_LONGEST):
        yield _largest(chain, rows, columns)
        more = _thinned([*chain.starts, *(row(each, matrix) for each in rows for matrix in matrices)])
        last = _thinned([*chain.finals, *(row(each, matrix) for each in columns for matrix in others)])
        if len(more) > _MOST or len(last) > _MOST or (more == rows and last == columns):
            return
        rows, columns = more, last


def _largest(chain: Chain, rows: list[Vector], columns: list[Vector]) -> Fraction | float:
    largest: Fraction | float = Fraction(1)
    for by in chain.steps.values():
        sides = {record: [column(matrix, each) for each in columns] for record, matrix in by.items()}
        nothing: list[Vector] = [{} for _ in columns]
        for old, new in chain.moves:
            for ours, theirs in zip(sides.get(old, nothing), sides.get(new, nothing), strict=True):
                for each in rows:
                    above = product(each, ours)
                    if not above:
                        continue
                    below = product(each, theirs)
                    if not below:
                        return math.inf
                    largest = max(largest, above / below)
    return largest


def _thinned(vectors: Iterable[Vector]) -> list[Vector]:
    """Return vectors of which all these are sums of nonnegative multiples."""
    kept = {tuple(sorted(_scaled(vector).items())) for vector in vectors if vector}
    flat = [dict(each) for each in kept if len(each) > 2]
    edges: dict[tuple[int, ...], list[tuple[Fraction, tuple[tuple[int, Fraction], ...]]]] = {}
    for each in kept:
        if len(each) <= 2:
            edges.setdefault(tuple(i for i, _ in each), []).append((each[-1][1], each))
    for same in edges.values():
        low, high = min(same), max(same)
        flat += [dict(low[1])] if low == high else [_rounded(low[1], up=False), _rounded(high[1], up=True)]
    return sorted(flat, key=lambda each: sorted(each.items()))


def _scaled(vector: Vector) -> Vector:
    total = sum(vector.values())
    return {i: value / total for i, value in vector.items()}


def _rounded(pair: tuple[tuple[int, Fraction], ...], up: bool) -> Vector:
    """Return a vector of two entries with short numbers, a little farther out."""
    (i, _), (j, second) = pair
    scaled = second * _GRID
    share = Fraction(min(math.ceil(scaled), _GRID) if up else math.floor(scaled), _GRID)
    return {at: value for at, value in ((i, 1 - share), (j, share)) if value}
