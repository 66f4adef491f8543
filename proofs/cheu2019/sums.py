"""Exact laws and curves from binomial coefficients alone. Nothing is taken from the engine."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import permutations
from math import comb
from typing import TypeVar

from tightdp.claims import Real, log, sqrt

Y = TypeVar("Y", bound=Hashable)


Law = dict[int, Fraction]


ZERO = Fraction(0)


def hockey_stick(law: dict[Y, Fraction], other: dict[Y, Fraction], t: Fraction) -> Fraction:
    """Σ max(0, P(y) - t·Q(y))."""
    return sum((max(ZERO, p - t * other.get(y, ZERO)) for y, p in law.items()), ZERO)


def rational_below(value: Real, digits: int = 30) -> Fraction:
    """A rational just below a real: δ at it is an upper bound of δ at the real, as curves fall."""
    return value.enclosure(digits).lower


def l_of(delta: Fraction) -> Real:
    """L = ln(4/δ)."""
    return log(4 / delta)


def size_epsilon(size: int | Real, delta: Fraction) -> Real:
    """sqrt(32 ln(4/δ) / |H|), of Claim 4.4 and 4.5."""
    return sqrt(32 * l_of(delta) / size)


def bit_sum_delta(n: int, lam: Fraction, t: Fraction) -> Fraction:
    """δ of Σ R(x_i) at t, over all neighbours: c and c + 1 ones among n, in both directions."""
    flip = Fraction(lam) / (2 * n)
    wrong, whole = flip.numerator, flip.denominator
    right = whole - wrong
    worst = 0
    for others in _other_clients(n - 1, wrong, right):
        zero, one = _times(others, right, wrong), _times(others, wrong, right)
        for p, q in ((zero, one), (one, zero)):
            here = sum(max(0, t.denominator * a - t.numerator * b) for a, b in zip(p, q, strict=True))
            worst = max(worst, here)
    return Fraction(worst, t.denominator * whole**n)


def _other_clients(n: int, wrong: int, right: int) -> Iterator[list[int]]:
    """The (scaled) laws of the sum of n clients with 0, 1, ..., n ones among them."""
    law = [comb(n, j) * right ** (n - j) * wrong**j for j in range(n + 1)]
    for ones in range(n + 1):
        yield law
        if ones < n:
            law = _times(_divided(law, right, wrong), wrong, right)


def _times(law: Sequence[int], constant: int, linear: int) -> list[int]:
    """The product with constant + linear·z."""
    return [constant * a + linear * b for a, b in zip((*law, 0), (0, *law), strict=True)]


def _divided(law: Sequence[int], constant: int, linear: int) -> list[int]:
    """The quotient by constant + linear·z, which divides it."""
    quotient: list[int] = []
    before = 0
    for a in law[:-1]:
        before = (a - linear * before) // constant
        quotient.append(before)
    return quotient


def local_delta(randomizer: dict[int, Law], t: Fraction) -> Fraction:
    """δ of the randomizer itself at t."""
    return max(hockey_stick(p, q, t) for p, q in permutations(randomizer.values(), 2))


Instances = list[dict[str, object]]
"""What a claim is checked on."""


def listed(names: str, *rows: tuple[object, ...]) -> Instances:
    """Instances from rows of values."""
    return [dict(zip(names.split(), row, strict=True)) for row in rows]


def ones(c: int, n: int) -> tuple[int, ...]:
    """A dataset with c ones."""
    return (1,) * c + (0,) * (n - c)


def agreed(engine: object, direct: Fraction) -> Fraction:
    """What the engine and the direct computation both find."""
    if not isinstance(direct, Fraction) or engine != direct:
        raise AssertionError(f"the engine finds {engine}, the binomial sum {direct}")
    return direct


def assumed(condition: bool) -> None:
    """An instance is one of the claim: its hypotheses hold."""
    if not condition:
        raise AssertionError("the instance is outside the claim")
