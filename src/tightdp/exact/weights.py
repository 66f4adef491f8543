"""Exact numbers from weights: quotients of what the engine counts with, and what counts as an exact number."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from sys import hash_info
from typing import Any

from tightdp.exact.field import ExpNumber, Number, ratio
from tightdp.exact.rationals import as_fraction
from tightdp.exact.whole import ExpInteger, Whole, lcm, polynomials

__all__ = [
    "NUMBERS",
    "all_over_common",
    "all_sum_to_one",
    "as_exact",
    "may_be_positive",
    "over",
    "over_common",
    "quotient",
]

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
