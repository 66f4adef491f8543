"""Finite laws that stand for the tail of a geometric law.

A function on the integers z >= 0 that is a combination of 1 and of powers e^z, with finitely many e in (0, 1), has the
same mean under a geometric law as under a law on finitely many z and a point at infinity, where e^z is 0.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from flint import arb, arb_mat, ctx

from tightdp.exact.field import ExpNumber, Number, as_ball

__all__ = ["tail_nodes"]

_BITS = 64
"""With so many bits for each base, and as many more, weights are screened."""


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
    if any(isinstance(number, ExpNumber) and number.unknown for number in (ratio, *bases)):
        return _mean_of(ratio, bases, count, 0)
    for points in itertools.count(count):
        for first in range(points - count, -1, -1):
            if _may_be_law(ratio, bases, points, first):
                found = _mean_of(ratio, bases, points, first)
                if min(weight for _, weight in found) > 0 and sum(weight for _, weight in found) < 1:
                    return found
    raise AssertionError("unreachable")


def _mean_of(ratio: Number, bases: tuple[Number, ...], points: int, first: int) -> tuple[tuple[int, Number], ...]:
    """Return so many points with weights that give the means, corrected from `first` on; without weights of 0.

    With an unknown a weight is left out where it is 0 as a function: what it is at a point is not asked for.
    """
    beyond = [(1 - ratio) * (ratio * base) ** points / (1 - ratio * base) for base in bases]
    weights = [(1 - ratio) * ratio**z for z in range(points)]
    for at, change in enumerate(_weights([base**first for base in bases], bases, beyond)):
        weights[first + at] += change
    return tuple((z, weight) for z, weight in enumerate(weights) if not _is_zero(weight))


def _may_be_law(ratio: Number, bases: tuple[Number, ...], points: int, first: int) -> bool:
    """Whether `_mean_of` may have weights that are not negative and of sum below 1; decided by balls as far as these
    tell."""
    count = len(bases)
    with ctx.workprec(_BITS * (count + 1)):
        r, balls = as_ball(ratio), [as_ball(base) for base in bases]
        rows = arb_mat([[base ** (first + at) for at in range(count)] for base in balls])
        beyond = arb_mat(count, 1, [(1 - r) * (r * base) ** points / (1 - r * base) for base in balls])
        try:
            changes = rows.solve(beyond).entries()
        except ZeroDivisionError:
            return True
        if any((1 - r) * r ** (first + at) + change < 0 for at, change in enumerate(changes)):
            return False
        return not sum(changes, arb(0)) >= r**points


def _weights(scales: Sequence[Number], bases: Sequence[Number], wanted: Sequence[Number]) -> list[Number]:
    """The w with sum over j of w_j·scale·base^j = wanted for each base: a Vandermonde system, solved by elimination."""
    size = len(bases)
    rows = [
        [scale * base**j for j in range(size)] + [value]
        for scale, base, value in zip(scales, bases, wanted, strict=True)
    ]
    for at in range(size):
        pivot = next(row for row in range(at, size) if not _is_zero(rows[row][at]))
        rows[at], rows[pivot] = rows[pivot], rows[at]
        rows[at] = [entry / rows[at][at] for entry in rows[at]]
        for row in range(size):
            if row != at and not _is_zero(rows[row][at]):
                factor = rows[row][at]
                rows[row] = [a - factor * b for a, b in zip(rows[row], rows[at], strict=True)]
    return [row[size] for row in rows]


def _is_zero(number: Number) -> bool:
    """Whether a number is 0, as a function where it has the unknown: no sign is asked for."""
    return isinstance(number, Fraction) and not number
