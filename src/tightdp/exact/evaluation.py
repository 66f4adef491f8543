"""Integer polynomials at T = e^(1/root): signs, decided by balls that are refined, and changes of the root."""

from __future__ import annotations

import math
from functools import lru_cache

from flint import arb, ctx, fmpz_poly

from tightdp.errors import ParameterError
from tightdp.exact.enclosure import precisions

__all__ = ["MAX_DEGREE", "at_root", "common_step", "compare_ratios", "lifted", "monomial", "power_of_root", "sign"]

MAX_DEGREE = 1_000_000
"""The largest power of e^(1/d), d the common denominator of all exponents, that is written as a polynomial."""


def sign(polynomial: fmpz_poly, root: int = 1) -> int:
    """Return the sign (-1, 0, 1) of an integer polynomial at e^(1/root). Always decided."""
    degree = polynomial.degree()
    if degree <= 0:
        constant = int(polynomial[0])
        return (constant > 0) - (constant < 0)
    for bits in precisions():
        with ctx.workprec(bits):
            found = at_root(polynomial, root)
            if found > 0:
                return 1
            if found < 0:
                return -1
    raise AssertionError("unreachable")


def compare_ratios(a: fmpz_poly, b: fmpz_poly, c: fmpz_poly, d: fmpz_poly, root: int = 1) -> int:
    """Return the sign of a/b - c/d at e^(1/root), for b and d positive there. Always decided."""
    return sign(a * d - c * b, root)


def lifted(polynomial: fmpz_poly, by: int) -> fmpz_poly:
    """Substitute T^by for T."""
    degree = polynomial.degree()
    if by == 1 or degree <= 0:
        return polynomial
    if degree * by > MAX_DEGREE:
        raise ParameterError(
            f"a power {degree * by:,} of e^(1/d) is out of reach, d the common denominator of all exponents",
            f"use exponents with fewer different denominators: powers up to {MAX_DEGREE:,} are written",
        )
    return polynomial.inflate(by)


def power_of_root(power: int) -> fmpz_poly:
    if power > MAX_DEGREE:
        raise ParameterError(
            f"an exponent with the numerator {power:,} is out of reach",
            f"round it: powers of e^(1/d) up to {MAX_DEGREE:,} are written",
        )
    return fmpz_poly([1]).left_shift(power)


def common_step(polynomial: fmpz_poly, step: int) -> int:
    """Return the greatest common divisor of `step` and all powers that occur."""
    for power, coefficient in enumerate(polynomial.coeffs()):
        if coefficient:
            step = math.gcd(step, power)
            if step == 1:
                break
    return step


def monomial(polynomial: fmpz_poly) -> tuple[int, int] | None:
    """Return (coefficient, power) of a polynomial with one term, None for others."""
    degree = polynomial.degree()
    if any(polynomial[power] for power in range(degree)):
        return None
    return int(polynomial[degree]), degree


@lru_cache(maxsize=256)
def _root_of_e(root: int, bits: int) -> arb:
    """Return a ball around e^(1/root)."""
    with ctx.workprec(bits):
        return (arb(1) / root).exp()


def at_root(polynomial: fmpz_poly, root: int) -> arb:
    """Evaluate a polynomial at e^(1/root), at the precision in force."""
    return polynomial(_root_of_e(root, ctx.prec))
