"""Weights, with which the engine counts: exact numbers over a common denominator, and sums of independent counts.

Such a sum is a product of polynomials with weights as coefficients. Flint multiplies them where all weights are ints;
with e^q in them they are multiplied weight by weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import comb
from sys import hash_info
from typing import Any, TypeAlias, TypeVar

from flint import fmpz_poly

from tightdp.exact.field import ExpNumber, Number, ratio
from tightdp.exact.rationals import as_fraction
from tightdp.exact.whole import ExpInteger, Whole, lcm, polynomials

K = TypeVar("K")

NUMBERS = (int, Fraction, ExpNumber)
"""The types of exact numbers."""


def quotient(above: Whole, below: Whole) -> Number:
    """Return the quotient of two weights. Raises ZeroDivisionError where the second is 0."""
    if isinstance(above, int) and isinstance(below, int):
        return Fraction(above, below)
    if not isinstance(above, (int, ExpInteger)) or not isinstance(below, (int, ExpInteger)):
        return above / below  # type: ignore[unreachable]  # other kinds of numbers divide by themselves
    (up, down), root = polynomials(above, below)
    return ratio(up, down, root)


def steepest(ours: Mapping[K, Whole], theirs: Mapping[K, Whole]) -> tuple[Whole, Whole, K]:
    """Return the weights with the largest quotient, and where they stand: the lower one is 0 where there is none.

    There is a weight in `ours`, and none of them is 0.
    """
    best: tuple[Whole, Whole, K] | None = None
    for key, weight in ours.items():
        other = theirs.get(key, 0)
        if not other:
            return weight, 0, key
        if best is None or weight * best[1] > best[0] * other:
            best = weight, other, key
    assert best is not None
    return best


def may_be_positive(mass: Number | Whole) -> bool:
    """Whether a weight is positive, as far as that is asked of numbers with an unknown.

    Points that stand for the tail of a law (`core/windows.py`) may weigh less than 0 for some of its values: then what
    they add up to is right, and only that is used.
    """
    return (isinstance(mass, (ExpNumber, ExpInteger)) and mass.unknown) or mass > 0


def over_common(numbers: Sequence[Number]) -> tuple[Sequence[Whole], Whole]:
    """Return exact numbers as weights over one denominator, the least that is positive and common to all."""
    if any(isinstance(number, ExpNumber) and number.unknown for number in numbers):
        return _over_common(numbers)  # by signs at the place in force
    return _known(tuple(numbers))


def _over_common(numbers: Sequence[Number]) -> tuple[Sequence[Whole], Whole]:
    ratios: list[tuple[Whole, Whole]] = [number.as_integer_ratio() for number in numbers]
    common = lcm(*(below for _, below in ratios))
    return tuple(above * (common // below) for above, below in ratios), common


_known = lru_cache(maxsize=1024)(_over_common)  # a law is asked for by every pass, and by every method


def all_over_common(laws: Sequence[Sequence[Number]]) -> tuple[list[list[Whole]], Whole]:
    """Return the numbers of several laws as weights over one denominator; numbers that laws share are read once."""
    numbers = {id(number): number for law in laws for number in law}
    weights, common = over_common(list(numbers.values()))
    known = dict(zip(numbers, weights, strict=True))
    return [[known[id(number)] for number in law] for law in laws], common


def all_sum_to_one(laws: Sequence[Sequence[Number]]) -> bool:
    """Whether the sums of exact numbers are 1; as functions, where they have the unknown.

    Many sums of rationals are looked at modulo a large prime, by the hashes of Python's numbers: that finds mistakes.
    """
    numbers = {id(number): number for law in laws for number in law}
    if all(isinstance(number, Fraction) and number.denominator % hash_info.modulus for number in numbers.values()):
        residues = {key: hash(number) for key, number in numbers.items()}
        return all(sum(residues[id(number)] for number in law) % hash_info.modulus == 1 for law in laws)
    return all(_sum_to_one(law) for law in laws)


def _sum_to_one(numbers: Sequence[Number]) -> bool:
    if any(isinstance(number, ExpNumber) and number.unknown for number in numbers):
        return sum(numbers) == 1
    weights, common = over_common(numbers)
    return sum(weights) == common


def over(weight: Any, denominator: Whole) -> Any:
    """Return weight / denominator, where the weight may be a number of another kind that the denominator divides."""
    return quotient(weight, denominator) if isinstance(weight, (int, ExpInteger)) else weight / denominator


def as_exact(value: Any) -> Number:
    """Return the exact number that a value stands for (bools: 0 and 1). Raises ParameterError where there is none."""
    if isinstance(value, ExpNumber):
        return value
    return Fraction(value) if isinstance(value, bool) else as_fraction(value)


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
