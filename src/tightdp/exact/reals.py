"""Certified reals: expressions with e^x, logarithms and roots, compared by enclosures, never by floats.

A value is enclosed by two rationals, which come closer as the precision grows; a comparison raises the
precision until the enclosures are apart. Two values that are equal can never be told apart that way:
`UndecidedError` is raised, and the equality has to be shown algebraically.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import TypeAlias, Union

from tightdp.errors import TightdpError
from tightdp.exact.numbers import decimal_text, exp_enclosure

__all__ = ["Real", "UndecidedError", "exp", "log", "real", "sqrt"]

Interval: TypeAlias = tuple[Fraction, Fraction]
Number: TypeAlias = Union["Real", Fraction, int]

_PRECISIONS = (20, 40, 80, 160, 320, 640, 1280)


class UndecidedError(TightdpError):
    """Two values are too close to be told apart, or equal."""


class _TooCoarseError(Exception):
    """At this precision an operand cannot be told from 0."""


class Real:
    """A real number, known to any precision."""

    def __init__(self, enclose: Callable[[int], Interval]) -> None:
        self._enclose = enclose
        self._known: dict[int, Interval] = {}

    def at(self, digits: int) -> Interval:
        """Return an enclosure computed with so many digits."""
        if digits not in self._known:
            low, high = self._enclose(digits)
            self._known[digits] = (_rounded(low, digits, ROUND_FLOOR), _rounded(high, digits, ROUND_CEILING))
        return self._known[digits]

    def enclosure(self, digits: int = 20) -> Interval:
        """Return rationals low <= value <= high, computed with at least so many digits."""
        for precision in (digits, *(each for each in _PRECISIONS if each > digits)):
            try:
                return self.at(precision)
            except _TooCoarseError:
                continue
        raise UndecidedError("a divisor or argument cannot be told from 0", "simplify the expression")

    def text(self, digits: int = 8) -> str:
        """Write an enclosure."""
        low, high = self.enclosure(digits + 12)
        below, above = decimal_text(low, digits, ROUND_FLOOR), decimal_text(high, digits, ROUND_CEILING)
        return below if low == high else f"[{below}, {above}]"

    def _sign_of_difference(self, other: Number) -> int:
        right = real(other)
        for digits in _PRECISIONS:
            try:
                low, high = self.at(digits)
                below, above = right.at(digits)
            except _TooCoarseError:
                continue
            if high < below:
                return -1
            if low > above:
                return 1
            if low == high == below == above:
                return 0
        raise UndecidedError(
            f"{self.text(30)} and {right.text(30)} cannot be told apart",
            "show algebraically that they are equal",
        )

    def __lt__(self, other: Number) -> bool:
        return self._sign_of_difference(other) < 0

    def __le__(self, other: Number) -> bool:
        return self._sign_of_difference(other) <= 0

    def __gt__(self, other: Number) -> bool:
        return self._sign_of_difference(other) > 0

    def __ge__(self, other: Number) -> bool:
        return self._sign_of_difference(other) >= 0

    def __neg__(self) -> Real:
        def enclose(digits: int) -> Interval:
            low, high = self.at(digits)
            return -high, -low

        return Real(enclose)

    def __abs__(self) -> Real:
        def enclose(digits: int) -> Interval:
            low, high = self.at(digits)
            if low >= 0:
                return low, high
            return (-high, -low) if high <= 0 else (Fraction(0), max(-low, high))

        return Real(enclose)

    def __add__(self, other: Number) -> Real:
        return _combined(self, other, lambda a, b: (a[0] + b[0], a[1] + b[1]))

    def __sub__(self, other: Number) -> Real:
        return _combined(self, other, lambda a, b: (a[0] - b[1], a[1] - b[0]))

    def __mul__(self, other: Number) -> Real:
        return _combined(self, other, _product)

    def __truediv__(self, other: Number) -> Real:
        return _combined(self, other, lambda a, b: _product(a, _inverse(b)))

    def __radd__(self, other: Number) -> Real:
        return real(other) + self

    def __rsub__(self, other: Number) -> Real:
        return real(other) - self

    def __rmul__(self, other: Number) -> Real:
        return real(other) * self

    def __rtruediv__(self, other: Number) -> Real:
        return real(other) / self

    def __pow__(self, power: Number) -> Real:
        if isinstance(power, int):
            return _power(self, power)
        return exp(log(self) * power)

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
    exact = Fraction(value)
    return Real(lambda digits: (exact, exact))


def exp(value: Number) -> Real:
    """Return e^value."""
    exponent = real(value)

    def enclose(digits: int) -> Interval:
        low, high = exponent.at(digits)
        return exp_enclosure(low, digits)[0], exp_enclosure(high, digits)[1]

    return Real(enclose)


def log(value: Number) -> Real:
    """Return the natural logarithm of a positive value."""
    argument = real(value)

    def enclose(digits: int) -> Interval:
        low, high = _positive(argument.at(digits), "the logarithm")
        if low == high == 1:
            return Fraction(0), Fraction(0)
        return _outward(low, high, digits, "ln")

    return Real(enclose)


def sqrt(value: Number) -> Real:
    """Return the square root of a value >= 0."""
    argument = real(value)

    def enclose(digits: int) -> Interval:
        low, high = argument.at(digits)
        if high < 0:
            raise ValueError("the square root of a negative number")
        if high == 0:
            return Fraction(0), Fraction(0)
        below, above = _outward(max(low, Fraction(0)), high, digits, "sqrt")
        return max(below, Fraction(0)), above

    return Real(enclose)


def _combined(left: Real, right: Number, operation: Callable[[Interval, Interval], Interval]) -> Real:
    other = real(right)
    return Real(lambda digits: operation(left.at(digits), other.at(digits)))


def _product(left: Interval, right: Interval) -> Interval:
    corners = [a * b for a in left for b in right]
    return min(corners), max(corners)


def _inverse(interval: Interval) -> Interval:
    low, high = interval
    if low == high == 0:
        raise ZeroDivisionError("division by 0")
    if low <= 0 <= high:
        raise _TooCoarseError
    return 1 / high, 1 / low


def _power(base: Real, power: int) -> Real:
    def enclose(digits: int) -> Interval:
        low, high = base.at(digits)
        if power < 0:
            low, high = _inverse((low, high))
        ends = (low ** abs(power), high ** abs(power))
        if power % 2 == 0 and low < 0 < high:
            return Fraction(0), max(ends)
        return min(ends), max(ends)

    return Real(enclose)


def _positive(interval: Interval, what: str) -> Interval:
    low, high = interval
    if high <= 0:
        raise ValueError(f"{what} of a number that is not positive")
    if low <= 0:
        raise _TooCoarseError
    return low, high


def _outward(low: Fraction, high: Fraction, digits: int, function: str) -> Interval:
    """Enclose an increasing function that `decimal` rounds correctly."""
    context = _context(digits + 4, ROUND_HALF_EVEN)
    below = getattr(context, function)(_quotient(low, digits + 4, ROUND_FLOOR))
    above = getattr(context, function)(_quotient(high, digits + 4, ROUND_CEILING))
    return Fraction(context.next_minus(below)), Fraction(context.next_plus(above))


def _rounded(value: Fraction, digits: int, rounding: str) -> Fraction:
    """Round to a few more digits than asked, so that rationals stay short; short ones are kept."""
    if value.denominator.bit_length() + abs(value.numerator).bit_length() < 8 * digits:
        return value
    return Fraction(_quotient(value, digits + 4, rounding))


def _quotient(value: Fraction, precision: int, rounding: str) -> Decimal:
    return _context(precision, rounding).divide(Decimal(value.numerator), Decimal(value.denominator))


def _context(precision: int, rounding: str) -> Context:
    return Context(prec=precision, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX, clamp=0)
