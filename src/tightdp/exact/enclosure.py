"""Certified enclosures of real numbers: exact rational ends, every rounding outward.

Exponentials and logarithms come from `decimal`, whose `exp` and `ln` are correctly rounded; one unit in the
last place is added on either side. The normal distribution function is summed in integers from a series of
positive terms. No float decides anything here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

__all__ = [
    "BITS",
    "Enclosure",
    "exp",
    "exp_minus_half_square",
    "float_above",
    "float_below",
    "ln",
    "normal_cdf",
    "round_down",
    "round_up",
]

BITS = 256
"""Fractional bits of the fixed-point numbers used in certified sums."""

_DIGITS = 60
_FLOOR = Context(prec=_DIGITS, rounding=ROUND_FLOOR, Emin=-999999, Emax=999999)
_CEILING = Context(prec=_DIGITS, rounding=ROUND_CEILING, Emin=-999999, Emax=999999)
# pi to 70 digits, cut off; the next digits are 23078...
_PI = Fraction(31415926535897932384626433832795028841971693993751058209749445923078164, 10**70)


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

    def __float__(self) -> float:
        """Return the upper end, rounded up: the safe side of a p-value."""
        return float_above(self.upper)

    def __str__(self) -> str:
        if self.is_exact and len(str(self.lower)) <= 40:
            return str(self.lower)
        return f"[{float_below(self.lower)!r}, {float_above(self.upper)!r}]"


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


def exp(value: Fraction) -> Enclosure:
    """Enclose e to the power `value`."""
    if value == 0:
        return Enclosure.exactly(1)
    below = _FLOOR.exp(_decimal(value, _FLOOR)).next_minus(_FLOOR)
    above = _CEILING.exp(_decimal(value, _CEILING)).next_plus(_CEILING)
    return Enclosure(Fraction(below), Fraction(above))


def ln(value: Fraction) -> Enclosure:
    """Enclose the natural logarithm of a positive rational."""
    if value == 1:
        return Enclosure.exactly(0)
    below = _FLOOR.ln(_decimal(value, _FLOOR)).next_minus(_FLOOR)
    above = _CEILING.ln(_decimal(value, _CEILING)).next_plus(_CEILING)
    return Enclosure(Fraction(below), Fraction(above))


def exp_minus_half_square(value: Fraction) -> Enclosure:
    """Enclose exp(-value²/2)."""
    return exp(-value * value / 2)


def normal_cdf(value: Enclosure) -> Enclosure:
    """Enclose Φ, the standard normal distribution function, over an enclosure of its argument."""
    return Enclosure(_normal_cdf(round_down(value.lower, 200), 0), _normal_cdf(round_up(value.upper, 200), 1))


def _normal_cdf(x: Fraction, upward: int) -> Fraction:
    """Φ(x) = 1/2 + φ(x) (x + x³/3 + x⁵/15 + ...), rounded down (`upward` 0) or up (1).

    All terms have one sign, so nothing cancels in the sum.
    """
    if x < 0:
        return 1 - _normal_cdf(-x, 1 - upward)
    if x > 15:  # 1 - Φ(15) < 10^-50
        return Fraction(1) if upward else 1 - Fraction(1, 10**50)
    half, density = Fraction(1, 2), exp_minus_half_square(x)
    if upward:
        return min(Fraction(1), round_up(half + _odd_series(x, 1) * density.upper / _ROOT_TWO_PI.lower))
    return round_down(half + _odd_series(x, 0) * density.lower / _ROOT_TWO_PI.upper)


def _odd_series(x: Fraction, upward: int) -> Fraction:
    """Sum x + x³/3 + x⁵/(3·5) + ..., every term rounded down (`upward` 0) or up (1)."""
    term, square = (_fixed(value, upward) for value in (x, x * x))
    total, odd = term, 1
    # Once the ratio of neighbouring terms is at most 1/2 the rest is at most the last term.
    while term > upward or 2 * square > (odd + 2) << BITS:
        odd += 2
        term = -((-term * square >> BITS) // odd) if upward else (term * square >> BITS) // odd
        total += term
    return Fraction(total + term * upward, 1 << BITS)


def _fixed(value: Fraction, upward: int) -> int:
    """Return a number in units of 2^-BITS, rounded down or up."""
    scaled = value.numerator << BITS
    return -(-scaled // value.denominator) if upward else scaled // value.denominator


def _root_two_pi() -> Enclosure:
    below = math.isqrt(int(2 * _PI * (1 << 2 * BITS)))
    above = math.isqrt(int(2 * (_PI + Fraction(1, 10**70)) * (1 << 2 * BITS))) + 1
    return Enclosure(Fraction(below, 1 << BITS), Fraction(above, 1 << BITS))


_ROOT_TWO_PI = _root_two_pi()


def _decimal(value: Fraction, context: Context) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))
