"""Exact pseudo-random draws from the discrete Gaussian law, from rational coins alone.

Draws from real laws are nearest floats.

Source: Canonne, Kamath and Steinke 2020, "The Discrete Gaussian for Differential Privacy", Algorithms 1 to 3.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp, expm1, floor, isinf, isqrt, log, log1p
from random import Random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tightdp.language.laws import Exponentials


def gaussian(generator: Random, variance: Fraction) -> int:
    """Draw from the discrete Gaussian around 0 with sigma² = `variance` > 0: discrete Laplace draws, some rejected."""
    scale = isqrt(variance.numerator // variance.denominator) + 1
    while True:
        z = _laplace(generator, scale)
        if _exponential_coin(generator, (abs(z) - variance / scale) ** 2 / (2 * variance)):
            return z


def by_pieces(generator: Random, law: Exponentials) -> int | float:
    """Draw from a law by pieces: an integer, or a float."""
    parts = [(float("-inf") if a is None else float(a), float("inf") if b is None else float(b), log(base))
             for a, b, base in law.pieces]  # fmt: skip
    if not law.real:
        ((low, _, rate),) = parts  # the failures of a one-sided law
        return int(law.centre) + int(low) + floor(log1p(-generator.random()) / rate)
    low, high, rate = generator.choices(parts, [_mass(*part) for part in parts])[0]
    share = generator.random()
    if not rate:
        return float(law.centre) + low + share * (high - low)
    if isinf(low):
        return float(law.centre) + high + log1p(-share) / rate
    return float(law.centre) + low + log1p(share * expm1(rate * (high - low))) / rate


def _mass(low: float, high: float, rate: float) -> float:
    """Return the integral of e^(rate·z)."""
    return (exp(rate * high) - exp(rate * low)) / rate if rate else high - low


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
