"""The discrete Gaussian law in rationals: every probability within a known relative error.

P(k) = e^(-k²/(2s)) / θ with θ = Σ_k e^(-k²/(2s)), a theta constant, which no finite expression with e^q equals. All
terms are positive: balls of `arb` hold every sum, and what is left out of one is at most a geometric series.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil, isqrt

from flint import arb, ctx

from tightdp.errors import LimitError
from tightdp.exact.enclosure import as_fraction, ball

RELATIVE = Fraction(1, 1 << 256)
"""The largest relative error of what `mass` and `beyond` return."""
_BITS = 320
_LEAST = Fraction(1, 1 << 320)
_FARTHEST = 1 << 15
"""Up to this k²/(2s) probabilities are written out: beyond, their digits alone would fill pages."""
_NEGLECTED = 139
"""e^-139 < 2^-200."""


@lru_cache(1 << 16)
def mass(variance: Fraction, k: int) -> Fraction:
    """The probability of k under a discrete Gaussian around 0 with sigma² = `variance` > 0.

    Raises LimitError where it is too small to be written out.
    """
    _check_near(variance, k)
    with ctx.workprec(_BITS):
        return _rational(_term(variance, k) / _theta(variance))


@lru_cache(1 << 12)
def beyond(variance: Fraction, k: int) -> Fraction:
    """The probability of k or more. Raises LimitError where it is too small to be written out."""
    if k <= 0:
        return 1 - beyond(variance, 1 - k)
    _check_near(variance, k)
    with ctx.workprec(_BITS):
        return _rational(_sum_from(variance, k) / _theta(variance))


def reach_of(variance: Fraction) -> int:
    """Return a k >= 1 so far out that the probability of k or more is below 2^-200."""
    return isqrt(int(2 * _NEGLECTED * variance) + 1) + 2


def sum_around(variance: Fraction, middle: Fraction, first: int) -> arb:
    """Enclose Σ over k >= first of e^(-(k - middle)²/(2·variance)) / θ, at the precision in force."""
    near = max(first, ceil(middle))
    total = _one_sided(variance, near - middle)
    if first < near:  # from `middle` down to `first`: the whole of that side without what is below `first`
        total += _one_sided(variance, middle - (near - 1)) - _one_sided(variance, middle - (first - 1))
    return total / _theta(variance)


@lru_cache(64)
def _theta(variance: Fraction) -> arb:
    with ctx.workprec(_BITS):
        return 1 + 2 * _sum_from(variance, 1)


def _sum_from(variance: Fraction, first: int) -> arb:
    """Sum e^(-k²/(2s)) over k >= first, at the precision in force; first is positive."""
    return _one_sided(variance, Fraction(first))


def _one_sided(variance: Fraction, first: Fraction) -> arb:
    """Sum e^(-k²/(2s)) over k = first, first + 1, ..., where first >= 0."""
    term = _term(variance, first)
    ratio, square = (-ball((2 * first + 1) / (2 * variance))).exp(), (-1 / ball(variance)).exp()
    least = term * ball(_LEAST)
    total = arb(0)
    while True:
        total += term
        term *= ratio
        ratio *= square
        if term < least:
            rest = (term / (1 - ratio)).upper()  # each later term is at most `ratio` times the one before it
            return total + arb(0).union(rest)


def _term(variance: Fraction, k: Fraction | int) -> arb:
    return (-ball(Fraction(k * k) / (2 * variance))).exp()


def _check_near(variance: Fraction, k: int) -> None:
    if Fraction(k * k) / (2 * variance) > _FARTHEST:
        raise LimitError(
            f"discrete Gaussian noise is looked at {abs(k):,} from its centre, where it is rarer than 10^-14000",
            "compare it with smaller numbers, or give it a larger sigma_squared",
        )


def _rational(value: arb) -> Fraction:
    """Return the middle of a narrow positive ball."""
    assert value.rel_accuracy_bits() > 270
    return as_fraction(value.mid().fmpq())
