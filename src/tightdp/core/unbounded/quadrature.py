"""Finite laws that stand for the tail of a geometric law.

A function on the integers z >= 0 that is a combination of 1 and of powers e^z, with finitely many e in (0, 1), has the
same mean under a geometric law as under a law on finitely many z and a point at infinity, where e^z is 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from tightdp.exact.field import ExpNumber, Number

__all__ = ["tail_nodes"]


@lru_cache(1024)
def tail_nodes(ratio: Number, bases: tuple[Number, ...]) -> tuple[tuple[int, Number], ...]:
    """Points z >= 0 with positive weights of sum below 1 that give the mean of e^z, for each base e.

    The mean is that of P(z) = (1 - ratio)·ratio^z. `ratio` and the distinct `bases` are in (0, 1). What is missing from
    1 is the weight of the point at infinity, and positive. The first m points keep their own probabilities, up to a
    correction on as many of them as there are bases; with m it falls like the m-th power of the largest base.
    With an unknown there are as many points as bases, and weights of any sign: means are right all the same.
    """
    count = len(bases)
    if not count:
        return ()
    points = count
    unknown = any(isinstance(number, ExpNumber) and number.unknown for number in (ratio, *bases))
    while True:
        beyond = [(1 - ratio) * (ratio * base) ** points / (1 - ratio * base) for base in bases]
        for first in range(points - count, -1, -1):
            correction = _weights([base**first for base in bases], bases, beyond)
            weights = [(1 - ratio) * ratio**z for z in range(points)]
            for at, change in enumerate(correction):
                weights[first + at] += change
            if unknown or (min(weights) >= 0 and sum(weights) < 1):
                return tuple((z, weight) for z, weight in enumerate(weights) if weight)
        points += 1


def _weights(scales: Sequence[Number], bases: Sequence[Number], wanted: Sequence[Number]) -> list[Number]:
    """The w with sum over j of w_j·scale·base^j = wanted for each base: a Vandermonde system, solved by elimination."""
    size = len(bases)
    rows = [
        [scale * base**j for j in range(size)] + [value]
        for scale, base, value in zip(scales, bases, wanted, strict=True)
    ]
    for at in range(size):
        pivot = next(row for row in range(at, size) if rows[row][at])
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [entry / rows[at][at] for entry in rows[at]]
        for row in range(size):
            if row != at and rows[row][at]:
                factor = rows[row][at]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[at], strict=True)]
    return [row[size] for row in rows]
