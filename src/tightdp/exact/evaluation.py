"""Integer polynomials at T = e^(1/root): signs, decided by balls that are refined, and changes of the root.

Polynomials with an unknown (`generators`) have a sign at the place in force, and balls without ends.
"""

from __future__ import annotations

import math
from functools import lru_cache

from flint import arb, ctx, fmpz_mpoly, fmpz_poly

from tightdp.errors import ParameterError
from tightdp.exact.enclosure import precisions
from tightdp.exact.generators import Polynomial, in_force

__all__ = [
    "MAX_DEGREE",
    "at_root",
    "common_step",
    "deflated",
    "lifted",
    "monomial",
    "power_of_root",
    "sign",
]

MAX_DEGREE = 1_000_000
"""The largest power of e^(1/d), d the common denominator of all exponents, that is written as a polynomial."""


def sign(polynomial: Polynomial, root: int = 1) -> int:
    """Return the sign (-1, 0, 1) of an integer polynomial at e^(1/root). Always decided."""
    if isinstance(polynomial, fmpz_mpoly):
        return in_force().sign(polynomial, root) if polynomial else 0
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


def lifted(polynomial: Polynomial, by: int) -> Polynomial:
    """Substitute T^by for T."""
    unknown = isinstance(polynomial, fmpz_mpoly)
    degree = polynomial.degrees()[1] if unknown else polynomial.degree()
    if by == 1 or degree <= 0:
        return polynomial
    if degree * by > MAX_DEGREE:
        raise ParameterError(
            f"a power {degree * by:,} of e^(1/d) is out of reach, d the common denominator of all exponents",
            f"use exponents with fewer different denominators: powers up to {MAX_DEGREE:,} are written",
        )
    return polynomial.inflate([1, by, 1]) if unknown else polynomial.inflate(by)


def deflated(polynomial: Polynomial, by: int) -> Polynomial:
    """Substitute T for T^by, where only such powers occur."""
    if isinstance(polynomial, fmpz_mpoly):
        terms = polynomial.terms()
        return polynomial.context().from_dict({(x, power // by, log): c for (x, power, log), c in terms})
    return polynomial.deflate(by)


def power_of_root(power: int) -> fmpz_poly:
    if power > MAX_DEGREE:
        raise ParameterError(
            f"an exponent with the numerator {power:,} is out of reach",
            f"round it: powers of e^(1/d) up to {MAX_DEGREE:,} are written",
        )
    return fmpz_poly([1]).left_shift(power)


def common_step(polynomial: Polynomial, step: int) -> int:
    """Return the greatest common divisor of `step` and all powers of T that occur."""
    if isinstance(polynomial, fmpz_mpoly):
        return math.gcd(step, *(int(powers[1]) for powers in polynomial.monoms()))
    degree = polynomial.degree()
    step = math.gcd(step, max(degree, 0))
    for power in range(degree):
        if step == 1:
            break
        if power % step and polynomial[power]:
            step = math.gcd(step, power)
    return step


def monomial(polynomial: Polynomial) -> tuple[int, int] | None:
    """Return (coefficient, power) of a polynomial in T with one term, None for others."""
    if isinstance(polynomial, fmpz_mpoly):
        return None
    degree = polynomial.degree()
    if any(polynomial[power] for power in range(degree)):
        return None
    return int(polynomial[degree]), degree


@lru_cache(maxsize=256)
def _root_of_e(root: int, bits: int) -> arb:
    """Return a ball around e^(1/root)."""
    with ctx.workprec(bits):
        return (arb(1) / root).exp()


def at_root(polynomial: Polynomial, root: int) -> arb:
    """Evaluate a polynomial at e^(1/root), at the precision in force."""
    if isinstance(polynomial, fmpz_mpoly):
        return arb(0, "inf")
    found: arb = polynomial(_root_of_e(root, ctx.prec))
    return found
