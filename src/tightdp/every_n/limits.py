"""Limits: what ratios approach as one record is repeated, from the dominating root of its matrix.

A row u·M^m tends, as m grows, to a row that is computed exactly where the root of M that decides is rational. Ratios at
such rows and columns are approached by ratios of some n, so that no upper bound for all n is below them. The proof is
in docs/every-n.md.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

from flint import fmpq, fmpq_mat, fmpz_poly

from tightdp.every_n.chain import Chain, Matrix, Vector, reached, row
from tightdp.every_n.cones import doubled, largest, largest_at_end

__all__ = ["approached", "direction"]

_MOST = 40
"""At most this many rows, and as many columns, are looked at."""
_LARGEST = 60
"""Matrices with more states have no limits here."""

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
    back = {i: {j: Fraction(1) for j in others} for i, others in _before(chain).items()}
    parts: dict[frozenset[int], list[Vector]] = {}
    for final in chain.finals:
        parts.setdefault(frozenset(reached(final, back)), []).append(final)
    for kept, finals in parts.items():
        steps = {
            y: {x: {i: _within(v, kept) for i, v in matrix.items() if i in kept} for x, matrix in by.items()}
            for y, by in chain.steps.items()
        }
        yield replace(
            chain, starts=tuple(_within(each, kept) for each in chain.starts), steps=steps, finals=tuple(finals)
        )


def _before(chain: Chain) -> dict[int, set[int]]:
    """Return, for every state, the states that lead to it by one record."""
    found: dict[int, set[int]] = {}
    for matrix in chain.matrices():
        for i, entries in matrix.items():
            for j in entries:
                found.setdefault(j, set()).add(i)
    return found


def _within(vector: Vector, kept: Container[int]) -> Vector:
    return {i: value for i, value in vector.items() if i in kept}


def direction(vector: Vector, matrix: Matrix) -> Vector | None:
    """Return what vector·matrix^m tends to, up to a factor, as m grows; None where that is not found.

    With λ the dominating root, of multiplicity k, of the characteristic polynomial on the states that are reached, and
    q the product of the other factors, it is vector·q(M)·(M - λ)^j with the largest j < k for which this is not 0.
    """
    states = sorted(reached(vector, matrix))
    if len(states) > _LARGEST:
        return None
    found = _dominating([[matrix.get(i, {}).get(j, Fraction(0)) for j in states] for i in states])
    if found is None:
        return None
    root, times, rest = found
    total: Vector = {}
    for factor in rest:  # Horner's rule
        total = _plus(row(total, matrix), vector, factor)
    last: Vector = {}
    for _ in range(times):
        if not total:
            break
        last, total = total, _plus(row(total, matrix), total, -root)
    size = sum(last.values(), Fraction(0))
    return {i: value / size for i, value in last.items()} if size else None


def _rows(starts: Iterable[Vector], matrices: Sequence[Matrix]) -> list[Vector]:
    """Return rows that products of the starts and the matrices have, or tend to, up to a factor."""
    found: dict[tuple[tuple[int, Fraction], ...], Vector] = {}
    pending = list(starts)
    while pending and len(found) < _MOST:
        more: list[Vector] = []
        for each in pending:
            size = sum(each.values(), Fraction(0))
            scaled = {i: value / size for i, value in each.items()} if size else {}
            key = tuple(sorted(scaled.items()))
            if not scaled or key in found or len(found) >= _MOST:
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
    entries = [fmpq(value.numerator, value.denominator) for each in matrix for value in each]
    polynomial = fmpq_mat(size, size, entries).charpoly().numer()
    best: Root | None = None
    for factor, times in polynomial.factor()[1]:
        if factor.degree() == 1 and factor[0] < 0 < factor[1]:
            root = Fraction(-int(factor[0]), int(factor[1]))
            if best is None or root > best[0]:
                best = root, times, _coefficients(polynomial // factor**times)
    if best is None:
        return None
    edge = fmpq(best[0].numerator, best[0].denominator)
    others: Any = fmpz_poly([int(each.numerator) for each in reversed(best[2])]).complex_roots()
    return best if all(abs(other).upper() < edge for other, _ in others) else None


def _coefficients(polynomial: fmpz_poly) -> list[Fraction]:
    return [Fraction(int(each)) for each in reversed(polynomial.coeffs())]


def _plus(one: Vector, other: Vector, factor: Fraction) -> Vector:
    total = dict(one)
    for i, value in other.items():
        total[i] = total.get(i, Fraction(0)) + factor * value
    return {i: value for i, value in total.items() if value}
