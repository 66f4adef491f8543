"""The largest scale of a guarantee (its ε, or the mu of a family) that an audit rejects; whoever satisfies a guarantee
satisfies those of larger scales, so the rejection of one scale refutes all smaller ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from tightdp.auditing.curves import Gaussian
from tightdp.auditing.tradeoff import Curve
from tightdp.errors import ParameterError
from tightdp.exact.lazily import lazily

optimize = lazily("scipy.optimize")

_LEAST = 2.0**-30
"""A smaller scale is not told from 0."""
LARGEST_EPSILON = 230.0
"""e^230 is about 10^100."""


def largest_rejected(rejects: Callable[[float], bool], most: float, bits: int) -> float | None:
    """Return a rejected scale within a factor of 1 + 2^-bits of the largest up to `most`, None if there is none."""
    low, high = _LEAST, most
    if not rejects(low):
        return None
    while high - low > low * 2.0**-bits:
        middle = math.sqrt(low * high) if high > 2 * low else (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if rejects(middle) else (low, middle)
    return low


def confirmed(
    excess: Callable[[float], float], rejects: Callable[[float], bool], most: float, bits: int
) -> float | None:
    """Return a rejected scale, or None, for costly decisions: floats find the place, `rejects` decides.

    `excess` is at most 0 where the scale should be rejected. Where the place is not confirmed, it is lowered in small
    steps.
    """

    low = high = 0.5
    while excess(low) > 0:
        low, high = low / 2, low
        if low < _LEAST:
            return None
    while high < most and excess(high) <= 0:
        low, high = high, min(most, 2 * high)
    found = low
    if low < high:
        rejects(low)  # something is known then, should a limit cut the search short
        found = optimize.brentq(excess, low, high, xtol=low * 2.0 ** -(bits + 2), rtol=2.0**-50)
    lowered = 2.0**-bits
    while lowered < 1:
        if rejects(found * (1 - lowered)):
            return found * (1 - lowered)
        lowered *= 8
    return None


def t_of(epsilon: float) -> Fraction:
    """Return a rational e^ε."""
    return Fraction(math.exp(epsilon))


def rejected_t(rejects: Callable[[Fraction], bool]) -> Fraction:
    """Return a rejected e^ε within 2^-48 of the largest found, or 1: `rejects` is asked about an e^ε."""
    found = largest_rejected(lambda epsilon: rejects(t_of(epsilon)), LARGEST_EPSILON, 52)
    return Fraction(1) if found is None else t_of(found)


def rejected_exp_epsilon(curve: Curve, delta: Fraction) -> Fraction:
    """Return a rational at most the least e^ε with δ(ε) <= delta, close to it: the guarantee's ε at this δ."""
    if delta == 0 and isinstance(curve, Gaussian):
        raise ParameterError("a Gaussian trade-off function has no finite epsilon at delta = 0", "give delta above 0")
    return rejected_t(lambda t: curve.delta(t).lower > delta)
