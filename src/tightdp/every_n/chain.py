"""Finite chains: what a program that treats all records alike does with each, for every n; and bounds by its rows.

Windows give upper bounds: the largest ratio over all continuations of a few records before and after the change.
Limits are approached as one record is repeated: a row u·M^m tends, as m grows, to a row that is computed exactly where
the root of M that decides is rational, so that no upper bound for all n is below the ratios at such rows and columns.
The proofs are in docs/every-n.md.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeAlias

from flint import fmpq_mat, fmpz_poly

from tightdp.exact.absorbing import reaching
from tightdp.exact.enclosure import as_fmpq
from tightdp.language.domains import Record
from tightdp.language.outputs import Output
from tightdp.limits.calibrated import FEW_VALUES

Vector: TypeAlias = dict[int, Fraction]
"""The entries that are not 0."""
Matrix: TypeAlias = dict[int, Vector]
"""The rows that are not 0."""
Letter: TypeAlias = Output
"""What one record publishes."""
Move: TypeAlias = tuple[Record, Record]


@dataclass(frozen=True)
class Chain:
    """P(y_1, ..., y_n, o | x) = s·M_x1(y_1)···M_xn(y_n)·f_o, for all n, with the initial row s and final columns f.

    `steps[y][x]` is M_x(y). `moves` lists what a record may become. Where `all_at_once`, every record makes such a move
    (or none), else exactly one does. What the program returns is a function of (y_1, ..., y_n, o) and n; where the
    chain is `faithful`, the output determines all messages, one of every record (or there are none), and o.
    """

    size: int
    starts: tuple[Vector, ...]
    steps: dict[Letter, dict[Record, Matrix]]
    finals: tuple[Vector, ...]
    moves: tuple[Move, ...]
    all_at_once: bool
    faithful: bool = False

    def matrices(self) -> list[Matrix]:
        """Return M_x(y) for all records and letters that have one."""
        return [matrix for by in self.steps.values() for matrix in by.values()]

    def reversed(self) -> Chain:
        """Return the chain that reads the records backwards, with the same probabilities."""
        steps = {y: {x: transposed(matrix) for x, matrix in by.items()} for y, by in self.steps.items()}
        return Chain(self.size, self.finals, steps, self.starts, self.moves, self.all_at_once, self.faithful)


def row(vector: Vector, matrix: Matrix) -> Vector:
    """Return vector·matrix."""
    result: Vector = {}
    for i, value in vector.items():
        for j, entry in matrix.get(i, {}).items():
            result[j] = result.get(j, Fraction(0)) + value * entry
    return result


def column(matrix: Matrix, vector: Vector) -> Vector:
    """Return matrix·vector."""
    result = {i: product(entries, vector) for i, entries in matrix.items()}
    return {i: value for i, value in result.items() if value}


def product(left: Vector, right: Vector) -> Fraction:
    """Return the inner product."""
    if len(right) < len(left):
        left, right = right, left
    return sum((value * right[i] for i, value in left.items() if i in right), Fraction(0))


def transposed(matrix: Matrix) -> Matrix:
    """Return the transposed matrix."""
    result: Matrix = {}
    for i, entries in matrix.items():
        for j, value in entries.items():
            result.setdefault(j, {})[i] = value
    return result


_MOST = 100
_MOST_CLOSED = 80
_GRID = 1 << 200
_MOST_PRODUCTS = 1_000_000
"""No longer windows are looked at after so many products of two numbers: these take some three seconds."""


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
    for _ in range(FEW_VALUES):
        yield largest(chain, rows, columns), columns
        spent += chain.size * len(rows) * len(columns) * len(chain.moves) * len(chain.steps)
        if spent > _MOST_PRODUCTS:
            return
        more = all_rows or _thinned([*chain.starts, *(row(each, matrix) for each in rows for matrix in matrices)])
        last = all_columns or _thinned([*chain.finals, *(row(each, matrix) for each in columns for matrix in others)])
        if len(more) > _MOST or len(last) > _MOST or (more == rows and last == columns):
            return
        rows, columns = more, last


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
    for _ in range(FEW_VALUES):
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


_MOST_LOOKED_AT = 40
"""At most this many rows, and as many columns, are looked at."""

Root: TypeAlias = tuple[Fraction, int, list[Fraction]]
"""A root, its multiplicity, and the coefficients of the remaining factor of the polynomial, the highest first."""


def approached(chain: Chain) -> Fraction | float:
    """Return the largest ratio that is found to be approached as n grows; infinite where the ratios are unbounded.

    Only where the output of the program determines all messages; 1 otherwise.
    """
    if not chain.faithful:
        return Fraction(1)
    return max((_approached(each) for each in _parts(chain)), default=Fraction(1))


def _approached(chain: Chain) -> Fraction | float:
    if chain.all_at_once:
        return largest_at_end(chain, _rows(*doubled(chain)))
    back = chain.reversed()
    return largest(chain, _rows(chain.starts, chain.matrices()), _rows(back.starts, back.matrices()))


def _parts(chain: Chain) -> Iterator[Chain]:
    """Yield, for each final column, the chain of the states from which it is reached."""
    ways: dict[int, set[int]] = {}
    for matrix in chain.matrices():
        for i, entries in matrix.items():
            ways.setdefault(i, set()).update(entries)
    parts: dict[frozenset[int], list[Vector]] = {}
    for final in chain.finals:
        parts.setdefault(frozenset(reaching(final, ways)), []).append(final)
    for kept, finals in parts.items():
        steps = {
            y: {x: {i: _within(v, kept) for i, v in matrix.items() if i in kept} for x, matrix in by.items()}
            for y, by in chain.steps.items()
        }
        yield replace(
            chain, starts=tuple(_within(each, kept) for each in chain.starts), steps=steps, finals=tuple(finals)
        )


def _within(vector: Vector, kept: Container[int]) -> Vector:
    return {i: value for i, value in vector.items() if i in kept}


def direction(vector: Vector, matrix: Matrix) -> Vector | None:
    """Return what vector·matrix^m tends to, up to a factor, as m grows; None where that is not found.

    With λ the dominating root, of multiplicity k, of the characteristic polynomial on the states that are reached, and
    q the product of the other factors, it is vector·q(M)·(M - λ)^j with the largest j < k for which this is not 0.
    """
    states = sorted(reaching(vector, transposed(matrix)))
    if len(states) > FEW_VALUES:
        return None
    found = _dominating([[matrix.get(i, {}).get(j, Fraction(0)) for j in states] for i in states])
    if found is None:
        return None
    root, times, rest = found
    total: Vector = {}
    for factor in rest:  # Horner's rule
        total = plus(row(total, matrix), vector, factor)
    last: Vector = {}
    for _ in range(times):
        if not total:
            break
        last, total = total, plus(row(total, matrix), total, -root)
    size = sum(last.values(), Fraction(0))
    return {i: value / size for i, value in last.items()} if size else None


def _rows(starts: Iterable[Vector], matrices: Sequence[Matrix]) -> list[Vector]:
    """Return rows that products of the starts and the matrices have, or tend to, up to a factor."""
    found: dict[tuple[tuple[int, Fraction], ...], Vector] = {}
    pending = list(starts)
    while pending and len(found) < _MOST_LOOKED_AT:
        more: list[Vector] = []
        for each in pending:
            size = sum(each.values(), Fraction(0))
            scaled = {i: value / size for i, value in each.items()} if size else {}
            key = tuple(sorted(scaled.items()))
            if not scaled or key in found or len(found) >= _MOST_LOOKED_AT:
                continue
            found[key] = scaled
            limits = (direction(scaled, matrix) for matrix in matrices)
            more += [limit for limit in limits if limit is not None]
            more += [row(scaled, matrix) for matrix in matrices]
        pending = more
    return list(found.values())


def _dominating(matrix: list[list[Fraction]]) -> Root | None:
    """Return the root above all others by absolute value, where it is rational and that is certain."""
    size = len(matrix)
    entries = [as_fmpq(value) for each in matrix for value in each]
    polynomial = fmpq_mat(size, size, entries).charpoly().numer()
    best: Root | None = None
    for factor, times in polynomial.factor()[1]:
        if factor.degree() == 1 and factor[0] < 0 < factor[1]:
            root = Fraction(-int(factor[0]), int(factor[1]))
            if best is None or root > best[0]:
                best = root, times, _coefficients(polynomial // factor**times)
    if best is None:
        return None
    edge = as_fmpq(best[0])
    others: Any = fmpz_poly([int(each.numerator) for each in reversed(best[2])]).complex_roots()
    return best if all(abs(other).upper() < edge for other, _ in others) else None


def _coefficients(polynomial: fmpz_poly) -> list[Fraction]:
    return [Fraction(int(each)) for each in reversed(polynomial.coeffs())]


def plus(one: Vector, other: Vector, factor: Fraction) -> Vector:
    """Return one vector and so many times another one."""
    total = dict(one)
    for i, value in other.items():
        total[i] = total.get(i, Fraction(0)) + factor * value
    return {i: value for i, value in total.items() if value}
