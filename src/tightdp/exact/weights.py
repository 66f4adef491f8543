"""Exact numbers from weights: quotients of what the engine counts with, and what counts as an exact number."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tightdp.exact.field import ExpNumber, Number, ratio
from tightdp.exact.rationals import as_fraction
from tightdp.exact.whole import ExpInteger, Whole, polynomials

__all__ = ["NUMBERS", "as_exact", "may_be_positive", "over", "quotient"]

NUMBERS = (int, Fraction, ExpNumber)
"""The types of exact numbers."""


def quotient(above: Whole, below: Whole) -> Number:
    """Return the quotient of two weights. Raises ZeroDivisionError where the second is 0."""
    if isinstance(above, int) and isinstance(below, int):
        return Fraction(above, below)
    (up, down), root = polynomials(above, below)
    return ratio(up, down, root)


def may_be_positive(mass: Number | Whole) -> bool:
    """Whether a weight is positive, as far as that is asked of numbers with an unknown.

    Points that stand for the tail of a law (`core/unbounded`) may weigh less than 0 for some of its values: then what
    they add up to is right, and only that is used.
    """
    return (isinstance(mass, (ExpNumber, ExpInteger)) and mass.unknown) or mass > 0


def over(weight: Any, denominator: Whole) -> Any:
    """Return weight / denominator, where the weight may be a number of another kind that the denominator divides."""
    return quotient(weight, denominator) if isinstance(weight, (int, ExpInteger)) else weight / denominator


def as_exact(value: Any) -> Number:
    """Return the exact number that a value stands for (bools: 0 and 1). Raises ParameterError where there is none."""
    if isinstance(value, ExpNumber):
        return value
    return Fraction(value) if isinstance(value, bool) else as_fraction(value)
