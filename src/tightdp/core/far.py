"""Numbers beyond all others: what stands for the far end of noise on all integers.

Such a number is a combination of a few infinite ones, each infinitely larger than those before it, and a finite rest.
Sums, multiples and comparisons are what they are in that ordered vector space. Everything else that Python does with a
number is done with one very large integer in place of the infinite ones: a value that the noise really can take.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from functools import wraps
from typing import Any, TypeAlias

from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.weights import as_exact

__all__ = ["Far", "in_place_of_far"]

Operand: TypeAlias = Any
"""What an operation of Python is given, or gives."""
_LARGE = 1 << 60
_SURELY_LARGE = 1 << 40
"""A result that is larger came from such a number: quotients of the large integer, say."""


class Far:
    """An infinite number: `parts` are (rank, coefficient), the highest rank first, and `rest` is what is added.

    An infinite number of higher rank is infinitely larger than one of lower rank.
    """

    __slots__ = ("parts", "rest")

    def __init__(self, parts: tuple[tuple[int, int | Number], ...], rest: int | Number = 0) -> None:
        self.parts, self.rest = parts, rest

    def __repr__(self) -> str:
        return str(self.stand_in())

    def __format__(self, spec: str) -> str:
        return format(self.stand_in(), spec)

    def stand_in(self) -> Operand:
        """Return a very large number that this one may stand for."""
        number = sum(coefficient * _LARGE for _, coefficient in self.parts) + self.rest
        return number.numerator if isinstance(number, Fraction) and number.denominator == 1 else number

    def in_order(self) -> Operand:
        """Return a number that is to others of this kind, and to all that are not very large, as this one is."""
        return sum((coefficient * _LARGE ** (rank + 1) for rank, coefficient in self.parts), start=self.rest)

    @property
    def sign(self) -> int:
        """1 or -1."""
        return 1 if self.parts[0][1] > 0 else -1

    # order

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Far) and self.parts == other.parts and self.rest == other.rest

    def __hash__(self) -> int:
        return hash((self.parts, self.rest))

    def _compared(self, other: Operand) -> Operand:
        """Return a number with the sign of the difference."""
        difference = self - other
        return difference.sign if isinstance(difference, Far) else difference

    def __lt__(self, other: Operand) -> bool:
        return bool(self._compared(other) < 0)

    def __le__(self, other: Operand) -> bool:
        return bool(self._compared(other) <= 0)

    def __gt__(self, other: Operand) -> bool:
        return bool(self._compared(other) > 0)

    def __ge__(self, other: Operand) -> bool:
        return bool(self._compared(other) >= 0)

    # the vector space

    def __add__(self, other: Operand) -> Operand:
        if not isinstance(other, Far):
            return Far(self.parts, self.rest + other)
        found = dict(self.parts)
        for rank, coefficient in other.parts:
            found[rank] = found.get(rank, 0) + coefficient
        parts = tuple((rank, found[rank]) for rank in sorted(found, reverse=True) if found[rank])
        return Far(parts, self.rest + other.rest) if parts else self.rest + other.rest

    __radd__ = __add__

    def __neg__(self) -> Far:
        return Far(tuple((rank, -coefficient) for rank, coefficient in self.parts), -self.rest)

    def __pos__(self) -> Far:
        return self

    def __sub__(self, other: Operand) -> Operand:
        return self + -other

    def __rsub__(self, other: Operand) -> Operand:
        return -self + other

    def __abs__(self) -> Far:
        return -self if self.sign < 0 else self

    def __mul__(self, other: Operand) -> Operand:
        if isinstance(other, Far):
            return _large(self.stand_in() * other.stand_in())
        if not other:
            return 0
        return Far(tuple((rank, coefficient * other) for rank, coefficient in self.parts), self.rest * other)

    __rmul__ = __mul__

    def __truediv__(self, other: Operand) -> Operand:
        if isinstance(other, Far):
            return _large(as_exact(self.stand_in()) / other.stand_in())
        return self * (1 / as_exact(other))

    def __rtruediv__(self, other: Operand) -> Operand:
        return _large(other / as_exact(self.stand_in()))

    # the rest of Python's numbers

    def __floor__(self) -> Operand:
        return self._rounded(math.floor)

    def __ceil__(self) -> Operand:
        return self._rounded(math.ceil)

    def __trunc__(self) -> Operand:
        return self._rounded(math.floor if self.sign > 0 else math.ceil)

    def __round__(self, *digits: int) -> Operand:
        return self._rounded(lambda number: round(number, *digits), exact=not digits)

    def _rounded(self, function: Callable[[Operand], Operand], exact: bool = True) -> Operand:
        """Return what rounds this number: only the rest of it, where it is an integer otherwise."""
        if exact and not any(isinstance(c, ExpNumber) or Fraction(c).denominator > 1 for _, c in self.parts):
            return Far(self.parts, function(self.rest))
        return _large(function(self.stand_in()))


def _large(number: Operand) -> Operand:
    """Return a number, as one beyond all others where it is that large."""
    if not isinstance(number, (int, Fraction)) or -_SURELY_LARGE < number < _SURELY_LARGE:
        return number
    return Far(((0, Fraction(number, _LARGE)),))


def _finite(number: Operand) -> Operand:
    return number.stand_in() if isinstance(number, Far) else number


def in_place_of_far(function: Callable[..., Operand]) -> Callable[..., Operand]:
    """Make a function take a very large integer wherever it is given a number beyond all others."""

    @wraps(function)
    def on_all(*values: Operand) -> Operand:
        if any(type(value) is Far for value in values):
            return _large(function(*map(_finite, values)))
        return function(*values)

    return on_all


for _name in ("floordiv", "mod", "pow", "and", "or", "xor", "rshift", "lshift"):
    _operation = in_place_of_far(getattr(operator, f"__{_name}__"))
    setattr(Far, f"__{_name}__", _operation)
    setattr(Far, f"__r{_name}__", lambda self, other, _operation=_operation: _operation(other, self))
