"""The bases of exponentials: numbers that are known by identity, so that equal ones are one object.

Their products and powers are computed once. Exact numbers are slow to hash, and a law has few bases in many terms.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

__all__ = ["Base", "Bases"]


class Bases:
    """All bases of some laws; `unit` is 1."""

    def __init__(self, one: Any) -> None:
        self._known: dict[Any, Base] = {}
        self.unit = self.of(one)

    def of(self, value: Any) -> Base:
        """Return a number as a base."""
        if value not in self._known:
            self._known[value] = Base(value, self)
        return self._known[value]


class Base:
    """A positive number."""

    __slots__ = ("_powers", "_products", "_table", "value")

    def __init__(self, value: Any, table: Bases) -> None:
        self.value, self._table = value, table
        self._products: dict[Base, Base] = {}
        self._powers: dict[int | Fraction, Base] = {}

    def __mul__(self, other: Base) -> Base:
        found = self._products.get(other)
        if found is None:
            found = self._products[other] = self._table.of(self.value * other.value)
        return found

    def __pow__(self, exponent: int | Fraction) -> Base:
        if self is self.unit:
            return self
        found = self._powers.get(exponent)
        if found is None:
            whole = isinstance(exponent, Fraction) and exponent.denominator == 1
            found = self._table.of(self.value ** (int(exponent) if whole else exponent))
            self._powers[exponent] = found
        return found

    @property
    def unit(self) -> Base:
        """The base 1."""
        return self._table.unit

    def __repr__(self) -> str:
        return f"Base({self.value})"
