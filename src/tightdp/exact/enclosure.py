"""Certified enclosures of real numbers: exact rational ends, every rounding outward, on the balls of `arb`.

Nothing is decided by a float. `arb` returns a ball that is proved to hold the value; its ends are rationals, and a
comparison that they leave open is repeated with twice as many bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpq

from tightdp.errors import ParameterError
from tightdp.limits.calibrated import MAX_EXPONENT, QUICK_BITS

BITS = 256
"""Fractional bits of the fixed-point numbers used in certified sums."""

_DIGITS = 60


@dataclass(frozen=True)
class Enclosure:
    """A real number known to lie between two rationals, ends included; exact where they are equal."""

    lower: Fraction
    upper: Fraction

    @classmethod
    def exactly(cls, value: Fraction | int) -> Enclosure:
        """Return the enclosure that holds `value` alone."""
        return cls(Fraction(value), Fraction(value))

    @property
    def is_exact(self) -> bool:
        """Whether the number is known exactly."""
        return self.lower == self.upper

    def __iter__(self) -> Iterator[Fraction]:
        yield self.lower
        yield self.upper

    def __float__(self) -> float:
        """Return the upper end, rounded up: the safe side of a p-value."""
        return float_above(self.upper)

    def __str__(self) -> str:
        if self.is_exact and len(str(self.lower)) <= 40:
            return str(self.lower)
        return f"[{float_below(self.lower)!r}, {float_above(self.upper)!r}]"


# balls


def ball(value: Fraction | int) -> arb:
    """Return a ball around an exact number, at the precision in force."""
    return arb(as_fmpq(value))


def ends(found: arb) -> Enclosure | None:
    """Return the ends of a ball as rationals, with the bits in force; None where it is not bounded."""
    if not found.is_finite():
        return None
    return Enclosure(as_fraction(found.lower().fmpq()), as_fraction(found.upper().fmpq()))


def as_fmpq(value: Fraction | int | float) -> fmpq:
    """Return a rational, or what a float is exactly, as flint has it."""
    return fmpq(*value.as_integer_ratio())


def as_fraction(value: fmpq) -> Fraction:
    """Return a rational of flint as a Fraction."""
    return Fraction(int(value.p), int(value.q))


def precisions(first: int = QUICK_BITS, last: int | None = None) -> Iterator[int]:
    """Yield first, 2 first, 4 first, ... bits, up to `last` where it is given, and without end otherwise."""
    bits = first
    while last is None or bits <= last:
        yield bits
        bits *= 2


def balls(recipe: Callable[[], arb], first: int = QUICK_BITS, last: int | None = None) -> Iterator[arb]:
    """Yield balls around a number at higher and higher precision; see `precisions`."""
    for bits in precisions(first, last):
        with ctx.workprec(bits):
            found = recipe()
        yield found


def enclosures(recipe: Callable[[], arb], first: int = QUICK_BITS, last: int | None = None) -> Iterator[Enclosure]:
    """Yield closer and closer enclosures of a number, of those of its balls that are bounded."""
    for bits in precisions(first, last):
        with ctx.workprec(bits):
            found = ends(recipe())
        if found is not None:
            yield found


def sign_of(found: Any) -> int:
    """Return the sign of a number, of a ball that of all its numbers; 0 where that is not seen."""
    return int(found > 0) - int(found < 0)


def bits_of(digits: int) -> int:
    """Return the bits of a precision of so many decimal digits, and some to spare."""
    return math.ceil(digits * math.log2(10)) + 12


def closely(recipe: Callable[[], arb], digits: int, spare: int = 0) -> Enclosure:
    """Enclose a number other than 0 to so many significant digits, by its balls at higher and higher precision."""
    for bits in precisions(bits_of(digits) + spare):
        with ctx.workprec(bits):
            found = recipe()
            if found.rel_accuracy_bits() >= bits_of(digits) - 8:
                return bounded(found)
    raise AssertionError("unreachable")


# functions


def exp(exponent: Fraction, digits: int = _DIGITS) -> Enclosure:
    """Enclose e^exponent to at least so many significant digits; exact for 0 only.

    Raises ParameterError for an exponent beyond MAX_EXPONENT.
    """
    if exponent == 0:
        return Enclosure.exactly(1)
    if abs(exponent) > MAX_EXPONENT:
        raise ParameterError(
            f"e^{float(exponent):g} is out of reach",
            f"give an exponent between -{MAX_EXPONENT} and {MAX_EXPONENT}",
        )
    with ctx.workprec(bits_of(digits) + 16):
        return bounded(ball(exponent).exp())


def ln(value: Fraction, digits: int = _DIGITS) -> Enclosure:
    """Enclose the natural logarithm of a positive rational to at least so many significant digits."""
    return Enclosure.exactly(0) if value == 1 else closely(lambda: ball(value).log(), digits)


def root(value: Fraction, digits: int = _DIGITS) -> Enclosure:
    """Enclose the square root of a rational >= 0; exact where it is rational."""
    below, above = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if below * below == value.numerator and above * above == value.denominator:
        return Enclosure.exactly(Fraction(below, above))
    with ctx.workprec(bits_of(digits)):
        return bounded(ball(value).sqrt())


def power(base: Fraction, exponent: Fraction, digits: int = _DIGITS) -> Enclosure:
    """Enclose a power of a positive rational; exact where the exponent is whole."""
    if exponent.denominator == 1:
        return Enclosure.exactly(base**exponent.numerator)
    spare = abs(exponent.numerator).bit_length() + max(base.numerator, base.denominator).bit_length().bit_length()
    with ctx.workprec(bits_of(digits) + spare):
        return bounded(ball(base) ** ball(exponent))


def normal_cdf(value: Enclosure, digits: int = _DIGITS) -> Enclosure:
    """Enclose Φ, the standard normal distribution function, over an enclosure of its argument."""
    with ctx.workprec(bits_of(digits) + 16):
        low, high = (bounded(normal_tail(-ball(end))) for end in value)
        return Enclosure(low.lower, min(Fraction(1), high.upper))


def normal_tail(score: arb) -> arb:
    """Return P(N(0, 1) >= score), at the precision in force."""
    return (score / arb(2).sqrt()).erfc() / 2


def bounded(found: arb) -> Enclosure:
    """Return the ends of a ball, with the bits in force. Raises ArithmeticError where there are none."""
    enclosed = ends(found)
    if enclosed is None:
        raise ArithmeticError(f"{found} is not bounded")
    return enclosed


# rounding


def round_down(value: Fraction, bits: int = BITS) -> Fraction:
    """Return the largest multiple of 2^-bits that is not above `value`."""
    return Fraction((value.numerator << bits) // value.denominator, 1 << bits)


def round_up(value: Fraction, bits: int = BITS) -> Fraction:
    """Return the least multiple of 2^-bits that is not below `value`."""
    return -round_down(-value, bits)


def float_below(value: Fraction) -> float:
    """Return the largest float that is not above `value`."""
    near = value.numerator / value.denominator
    return near if Fraction(near) <= value else math.nextafter(near, -math.inf)


def float_above(value: Fraction) -> float:
    """Return the least float that is not below `value`."""
    return -float_below(-value)
