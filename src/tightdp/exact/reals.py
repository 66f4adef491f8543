"""Certified reals: expressions with e^x, logarithms and roots, compared by enclosures, never by floats.

A value is a rational that is known, or a recipe for a ball; the ball shrinks as the bits grow, and a comparison doubles
them until the balls are apart. Two values that are equal, and not known to be rational, can never be told apart that
way: `UndecidedError` is raised, and the equality has to be shown algebraically.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import Any, TypeAlias, Union

from flint import arb, ctx

from tightdp.errors import TightdpError
from tightdp.exact import enclosure as closed
from tightdp.exact.enclosure import Enclosure, ball, bits_of, enclosures, precisions
from tightdp.exact.numbers import decimal_text
from tightdp.exact.whole import Ordered

Number: TypeAlias = Union["Real", Fraction, int]

_LAST_BITS = 8192


class UndecidedError(TightdpError):
    """Two values are too close to be told apart, or equal."""


class Real(Ordered):
    """A real number, known to any precision; `exact` is its value where that is known to be rational."""

    def __init__(self, recipe: Callable[[], arb] | None, exact: Fraction | None = None) -> None:
        self._recipe = (lambda: ball(exact)) if recipe is None and exact is not None else recipe
        self.exact = exact
        self._known: dict[int, arb] = {}

    def ball(self) -> arb:
        """Return a ball around the value, at the precision in force; it may be unbounded where that is too low."""
        bits = ctx.prec
        if bits not in self._known:
            assert self._recipe is not None
            self._known[bits] = self._recipe()
        return self._known[bits]

    def enclosure(self, digits: int = 20) -> Enclosure:
        """Return rationals lower <= value <= upper, computed with at least so many digits."""
        if self.exact is not None:
            return Enclosure.exactly(self.exact)
        first = bits_of(digits)
        for found in enclosures(self.ball, first, max(_LAST_BITS, 4 * first)):
            return found
        raise UndecidedError("a divisor or argument cannot be told from 0", "simplify the expression")

    def text(self, digits: int = 8) -> str:
        """Write an enclosure."""
        low, high = self.enclosure(digits + 12)
        below, above = decimal_text(low, digits, ROUND_FLOOR), decimal_text(high, digits, ROUND_CEILING)
        return below if low == high else f"[{below}, {above}]"

    def _compare(self, other: Number) -> int:
        right = real(other)
        if self.exact is not None and right.exact is not None:
            return (self.exact > right.exact) - (self.exact < right.exact)
        for bits in precisions(last=_LAST_BITS):
            with ctx.workprec(bits):
                ours, theirs = self.ball(), right.ball()
                if ours < theirs:
                    return -1
                if ours > theirs:
                    return 1
        raise UndecidedError(
            f"{self.text(30)} and {right.text(30)} cannot be told apart",
            "show algebraically that they are equal",
        )

    def __neg__(self) -> Real:
        return 0 - self

    def __abs__(self) -> Real:
        if self.exact is not None:
            return real(abs(self.exact))
        return Real(lambda: abs(self.ball()))

    def __add__(self, other: Number) -> Real:
        return _combined(self, other, operator.add)

    def __mul__(self, other: Number) -> Real:
        return _combined(self, other, operator.mul)

    __radd__, __rmul__ = __add__, __mul__

    def __sub__(self, other: Number) -> Real:
        return _combined(self, other, operator.sub)

    def __rsub__(self, other: Number) -> Real:
        return real(other) - self

    def __truediv__(self, other: Number) -> Real:
        if real(other).exact == 0:
            raise ZeroDivisionError("division by 0")
        return _combined(self, other, operator.truediv)

    def __rtruediv__(self, other: Number) -> Real:
        return real(other) / self

    def __pow__(self, power: Number) -> Real:
        if not isinstance(power, int):
            return exp(log(self) * power)
        if self.exact is not None:
            return real(self.exact**power)
        return Real(lambda: self.ball() ** power)

    def __rpow__(self, base: Number) -> Real:
        return exp(log(base) * self)

    def __repr__(self) -> str:
        return f"<Real {self.text()}>"

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise TypeError("certified reals are not compared with ==; show the equality algebraically")


def real(value: Number) -> Real:
    """Return an exact number as a certified real."""
    if isinstance(value, Real):
        return value
    if isinstance(value, float):
        raise TypeError(f"{value!r} is a float; give an int or a Fraction")
    return Real(None, Fraction(value))


def exp(value: Number) -> Real:
    """Return e^value."""
    exponent = real(value)
    if exponent.exact is not None:
        closed.exp(exponent.exact, 1)  # refuses what is out of reach
        return real(1) if exponent.exact == 0 else Real(lambda: exponent.ball().exp())
    return Real(lambda: exponent.ball().exp())


def log(value: Number) -> Real:
    """Return the natural logarithm of a positive value."""
    argument = real(value)
    if argument.exact == 1:
        return real(0)

    def recipe() -> arb:
        found = argument.ball()
        if found <= 0:
            raise ValueError("the logarithm of a number that is not positive")
        return found.log()

    return Real(recipe)


def sqrt(value: Number) -> Real:
    """Return the square root of a value >= 0; a rational where that is known."""
    argument = real(value)
    if argument.exact is not None and argument.exact >= 0:
        found = closed.root(argument.exact, 1)
        if found.is_exact:
            return real(found.lower)

    def recipe() -> arb:
        found = argument.ball()
        if found < 0:
            raise ValueError("the square root of a negative number")
        if found > 0 or not found.is_finite():
            return found.sqrt()
        return arb(0).union(found.upper().sqrt())

    return Real(recipe)


def _combined(left: Real, right: Number, operation: Callable[[Any, Any], Any]) -> Real:
    """Apply an operation of rationals where both are known, else of balls."""
    other = real(right)
    if left.exact is not None and other.exact is not None:
        return real(operation(left.exact, other.exact))
    return Real(lambda: operation(left.ball(), other.ball()))
