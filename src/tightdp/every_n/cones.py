"""Windows: the largest ratio over all continuations of a few records before and after the change."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from tightdp.every_n.chain import Chain, Matrix, Vector, column, product, row
from tightdp.language.domains import Record

__all__ = ["covers", "doubled", "largest", "largest_at_end", "noisy_end", "pairs", "windows"]

_MOST = 100
_MOST_CLOSED = 80
_LONGEST = 64
_GRID = 1 << 200
_MOST_PRODUCTS = 1_000_000
"""No longer windows are looked at after so many products of two numbers: these take some three seconds."""


def windows(chain: Chain) -> Iterator[Fraction | float]:
    """Yield the upper bounds of `covers`."""
    return (value for value, _ in covers(chain))


def covers(chain: Chain) -> Iterator[tuple[Fraction | float, list[Vector]]]:
    """Yield upper bounds on the ratio for windows of 0, 1, 2, ... records on either side of the one that changes.

    Only where one record changes. Every row s·M···M is in the cone of the rows, every column M···M·f in that of the
    columns; a ratio of sums of nonnegative products is at most the largest ratio of a product. Each comes with the
    generators of the cone of columns.
    """
    matrices = chain.matrices()
    others = chain.reversed().matrices()
    units = [{i: Fraction(1)} for i in range(chain.size)]
    all_rows, all_columns = _closed(chain.starts, matrices), _closed(chain.finals, others)
    rows, columns = all_rows or units, all_columns or units
    spent = 0
    for _ in range(_LONGEST):
        yield largest(chain, rows, columns), columns
        spent += chain.size * len(rows) * len(columns) * len(chain.moves) * len(chain.steps)
        if spent > _MOST_PRODUCTS:
            return
        more = all_rows or _thinned([*chain.starts, *(row(each, matrix) for each in rows for matrix in matrices)])
        last = all_columns or _thinned([*chain.finals, *(row(each, matrix) for each in columns for matrix in others)])
        if len(more) > _MOST or len(last) > _MOST or (more == rows and last == columns):
            return
        rows, columns = more, last


def pairs(chain: Chain) -> Fraction | float:
    """Return the largest ratio where all records may change, if the pairs of rows have finitely many directions.

    A pair is s·M_x1(y1)···M_xk(yk) beside s·M_x'1(y1)···M_x'k(yk); infinite where these are not found to be finitely
    many.
    """
    found = _closed(*doubled(chain))
    return math.inf if found is None else largest_at_end(chain, found)


def doubled(chain: Chain) -> tuple[list[Vector], list[Matrix]]:
    """Return the initial pairs, as rows of twice the size, and the matrices that lead from pair to pair."""
    size = chain.size
    start = [{**each, **{size + i: value for i, value in each.items()}} for each in chain.starts]
    both = [
        {**by.get(old, {}), **{size + i: {size + j: v for j, v in e.items()} for i, e in by.get(new, {}).items()}}
        for by in chain.steps.values()
        for old, new in chain.moves
    ]
    return start, both


def largest_at_end(chain: Chain, found: Iterable[Vector]) -> Fraction | float:
    """Return the largest ratio of the two rows of a pair at the end of the program."""
    size, most = chain.size, Fraction(1)
    for each in found:
        ours = {i: value for i, value in each.items() if i < size}
        theirs = {i - size: value for i, value in each.items() if i >= size}
        for final in chain.finals:
            above, below = product(ours, final), product(theirs, final)
            if above and not below:
                return math.inf
            most = max(most, above / below) if above else most
    return most


def noisy_end(chain: Chain) -> Fraction | float:
    """Return the largest ratio where messages reveal nothing of the state, so that only the end of the program does.

    Every M_x(y) then has the same sum in all rows. The result is the largest ratio of these sums under a change of
    record (they must be equal where all may change), times the largest ratio of the entries of a final column; else
    infinite.
    """
    cost: Fraction | float = Fraction(1)
    for by in chain.steps.values():
        sums: dict[Record, Fraction] = {}
        for record, matrix in by.items():
            found = {sum(matrix.get(i, {}).values(), Fraction(0)) for i in range(chain.size)}
            if len(found) > 1:
                return math.inf
            sums[record] = found.pop()
        for old, new in chain.moves:
            ours, theirs = sums.get(old, Fraction(0)), sums.get(new, Fraction(0))
            if ours and (not theirs or (chain.all_at_once and ours != theirs)):
                return math.inf
            cost = max(cost, ours / theirs) if ours else cost
    last = {j for matrix in chain.matrices() for entries in matrix.values() for j in entries}
    ratios = [max(final.values()) / min(final.values()) if last <= final.keys() else math.inf for final in chain.finals]
    return cost * max(ratios)


def _closed(starts: Sequence[Vector], matrices: Sequence[Matrix]) -> list[Vector] | None:
    """Return generators of a cone that contains all products of the starts and matrices.

    None where no finite set of generators is found.
    """
    known = _thinned(starts)
    for _ in range(_LONGEST):
        more = _thinned([*known, *(row(each, matrix) for each in known for matrix in matrices)])
        if more == known:
            return known
        if len(more) > _MOST_CLOSED:
            return None
        known = more
    return None


def largest(chain: Chain, rows: list[Vector], columns: list[Vector]) -> Fraction | float:
    """Return the largest ratio when one record changes between one of these rows and one of these columns."""
    most = Fraction(1)
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
                    most = max(most, above / below)
    return most


def _thinned(vectors: Iterable[Vector]) -> list[Vector]:
    """Return vectors that generate the cone of the given ones."""
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
    """Return a vector of two entries with short numbers, slightly outside the cone."""
    (i, _), (j, second) = pair
    if second.denominator < _GRID:
        return dict(pair)
    scaled = second * _GRID
    share = Fraction(min(math.ceil(scaled), _GRID) if up else math.floor(scaled), _GRID)
    return {at: value for at, value in ((i, 1 - share), (j, share)) if value}
