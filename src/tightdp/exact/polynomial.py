"""Sums of independent counts: polynomials with weights as coefficients.

Flint multiplies them where all weights are ints; with e^q in them they are multiplied weight by weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb
from typing import TypeAlias

from flint import fmpz_poly

from tightdp.exact.whole import Whole

__all__ = ["Joint", "add_into", "joint_power", "joint_times", "power", "times", "unpacked"]

Joint: TypeAlias = dict[int, list[Whole]]
"""By a number r, the weights of a number v = 0, 1, 2, ..."""


def times(left: Sequence[Whole], right: Sequence[Whole]) -> list[Whole]:
    """Return the product of two polynomials; it is as long as the lengths of both make it."""
    if not left or not right:
        return []
    ours, theirs = _plainly(left), _plainly(right)
    if ours is not None and theirs is not None:
        return _coefficients(ours * theirs, len(left) + len(right) - 1)
    found: list[Whole] = [0] * (len(left) + len(right) - 1)
    for at, one in enumerate(left):
        for to, other in enumerate(right):
            found[at + to] += one * other
    return found


def power(base: Sequence[Whole], exponent: int) -> list[Whole]:
    """Return a power of a polynomial."""
    plain = _plainly(base)
    if plain is not None:
        return _coefficients(plain**exponent, exponent * (len(base) - 1) + 1)
    found: list[Whole] = [1]
    for _ in range(exponent):
        found = times(found, base)
    return found


def _plainly(weights: Sequence[Whole]) -> fmpz_poly | None:
    """Return a polynomial as flint has it, None where a weight has e^q in it."""
    ints = [weight for weight in weights if isinstance(weight, int)]
    return fmpz_poly(ints) if len(ints) == len(weights) else None


def _coefficients(polynomial: fmpz_poly, length: int) -> list[Whole]:
    found: list[Whole] = list(map(int, polynomial.coeffs()))
    return found + [0] * (length - len(found))


def add_into(target: list[Whole], other: Sequence[Whole]) -> None:
    """Add a polynomial to another one in place."""
    if len(target) < len(other):
        target.extend([0] * (len(other) - len(target)))
    for at, value in enumerate(other):
        target[at] += value


def joint_times(left: Mapping[int, Sequence[Whole]], right: Mapping[int, Sequence[Whole]]) -> Joint:
    """Return the product of two polynomials in two variables."""
    result: Joint = {}
    for r, ours in left.items():
        for s, theirs in right.items():
            add_into(result.setdefault(r + s, []), times(ours, theirs))
    return result


def joint_power(base: Mapping[int, Sequence[Whole]], exponent: int) -> Joint:
    """Return a power of a polynomial in two variables."""
    if len(base) == 2:
        return _binomial_power(base, exponent)
    result: Joint = {0: [1]}
    square: Joint = {r: list(weights) for r, weights in base.items()}
    while exponent:
        if exponent & 1:
            result = joint_times(result, square)
        exponent >>= 1
        if exponent:
            square = joint_times(square, square)
    return result


def _binomial_power(base: Mapping[int, Sequence[Whole]], exponent: int) -> Joint:
    """Return a power of a sum of two terms, by the binomial theorem."""
    (r, first), (s, second) = base.items()
    powers: list[list[Whole]] = [[1]]
    for _ in range(exponent):
        powers.append(times(powers[-1], second))
    result: Joint = {}
    other: list[Whole] = [1]
    for number in range(exponent + 1):
        weights = times(other, powers[exponent - number])
        ways = comb(exponent, number)
        result[r * number + s * (exponent - number)] = [ways * weight for weight in weights]
        other = times(other, first)
    return result


def unpacked(number: int, width: int, length: int) -> list[int]:
    """Return the digits of a number, lowest first, in base 256^width."""
    data = number.to_bytes(width * length, "little")
    return [int.from_bytes(data[at : at + width], "little") for at in range(0, len(data), width)]
