"""Exact pseudo-random draws from the discrete Gaussian law, from rational coins alone.

Source: Canonne, Kamath and Steinke 2020, "The Discrete Gaussian for Differential Privacy", Algorithms 1 to 3.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from random import Random

__all__ = ["gaussian"]


def gaussian(generator: Random, variance: Fraction) -> int:
    """Draw from the discrete Gaussian around 0 with sigma² = `variance` > 0: discrete Laplace draws, some rejected."""
    scale = isqrt(variance.numerator // variance.denominator) + 1
    while True:
        z = _laplace(generator, scale)
        if _exponential_coin(generator, (abs(z) - variance / scale) ** 2 / (2 * variance)):
            return z


def _laplace(generator: Random, scale: int) -> int:
    """Draw z with probability proportional to e^(-|z|/scale)."""
    while True:
        rest = generator.randrange(scale)
        if not _exponential_coin(generator, Fraction(rest, scale)):
            continue
        times = 0
        while _exponential_coin(generator, Fraction(1)):
            times += 1
        size, negative = rest + scale * times, generator.randrange(2)
        if size or not negative:
            return -size if negative else size


def _exponential_coin(generator: Random, exponent: Fraction) -> bool:
    """Return True with probability e^-exponent, for an exponent >= 0."""
    while exponent > 1:
        if not _exponential_coin(generator, Fraction(1)):
            return False
        exponent -= 1
    tries = 1
    while generator.randrange(exponent.denominator * tries) < exponent.numerator:
        tries += 1
    return tries % 2 == 1
