"""One-parameter families of trade-off functions, and the least scale that an audit does not reject."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from tightdp.auditing.linear_program import Game
from tightdp.auditing.named import Family
from tightdp.auditing.optimal_curve import upper_bound
from tightdp.auditing.search import least_not_rejected
from tightdp.auditing.shooting import Shot, shoot
from tightdp.auditing.tradeoff import Curve, Gaussian
from tightdp.errors import ParameterError

__all__ = ["least_scale", "least_scale_estimated", "least_scale_optimal", "rejected_exp_epsilon"]

_SMALL, _BIG = 2.0**-12, 64.0
_COARSE = 20
_COARSER = 18
_FINE = 22
_FIRST_ROUNDS, _QUICK_ROUNDS = 8, 2
_START = 0.5
_STEPS = 40


def least_scale(family: Family, rejects: Callable[[Curve], bool]) -> Fraction | None:
    """Return a scale whose guarantee is rejected, within 2^-_COARSE of the largest found; None if there is
    none.

    A smaller scale is a stronger guarantee, so the rejection of one scale refutes all smaller ones.
    """
    return _bisect(lambda mu: rejects(family(mu)), _COARSE)


def least_scale_estimated(
    family: Family, estimate: Callable[[Curve], float], rejects: Callable[[Curve], bool], level: float
) -> Fraction | None:
    """As `least_scale`, where floats estimate the logarithm of the p-value and find the place, and `rejects` decides.

    Where it does not confirm the place, the scale is lowered in small steps.
    """
    found = _crossing(lambda mu: estimate(family(_short(mu))) - level)
    return None if found is None else _confirmed(found, _COARSE, lambda mu: rejects(family(mu)))


def least_scale_optimal(family: Family, game: Game, significance: Fraction) -> Fraction | None:
    """As `least_scale_estimated` for the optimal method, where every optimum helps to find the next."""
    shot: Shot | None = None

    def excess(mu: float) -> float:
        nonlocal shot
        shot = shoot(game, family(_short(mu)), shot, _FIRST_ROUNDS if shot is None else _QUICK_ROUNDS)
        return math.log(max(1e-300, shot.value)) - math.log(float(significance))

    found = _crossing(excess)
    if found is None:
        return None
    bits = _COARSE if shot is None or shot.settled else _COARSER
    return _confirmed(found, bits, lambda mu: upper_bound(game, family(mu), shot).bound <= significance)


def _confirmed(found: float, bits: int, rejects: Callable[[Fraction], bool]) -> Fraction | None:
    """Return the first scale below `found` that is certainly rejected."""
    lowered = 2.0**-bits
    while lowered < 0.5:
        mu = _short(found * (1 - lowered))
        if rejects(mu):
            return mu
        lowered *= 4
    return None


def _crossing(excess: Callable[[float], float]) -> float | None:
    """Return the scale at which `excess` turns positive, in floats; None where it is positive from the start."""
    low = high = _START
    below = above = excess(low)
    while below > 0:
        low, high, above = low / 1.5, low, below
        if low < _SMALL:
            return None
        below = excess(low)
    while above <= 0:
        low, high, below = high, 1.5 * high, above
        if high > _BIG:
            return low
        above = excess(high)
    return _between(excess, (low, below), (high, above))


def _between(excess: Callable[[float], float], left: tuple[float, float], right: tuple[float, float]) -> float:
    """Return a scale just below the change of sign of `excess`: the Illinois form of regula falsi."""
    (low, below), (high, above) = left, right
    side = 0
    for _ in range(_STEPS):
        if high - low < low * 2.0**-_FINE:
            break
        at = low + (high - low) * -below / (above - below)
        margin = low * 2.0 ** -(_FINE + 1)
        at = max(low + margin, min(high - margin, at))
        found = excess(at)
        if found <= 0:
            low, below, above, side = at, found, above / 2 if side < 0 else above, -1
        else:
            high, above, below, side = at, found, below / 2 if side > 0 else below, 1
    return low


def rejected_exp_epsilon(curve: Curve, delta: Fraction) -> Fraction:
    """Return a rational at most the least e^ε with δ(ε) <= delta, close to it: the guarantee's ε at this δ."""
    if delta == 0 and isinstance(curve, Gaussian):
        raise ParameterError("a Gaussian trade-off function has no finite epsilon at delta = 0", "give delta above 0")
    return least_not_rejected(lambda t: curve.delta(t).lower > delta, 2.0).lower


def _bisect(rejects: Callable[[Fraction], bool], bits: int) -> Fraction | None:
    low, high = _START, _START
    while rejects(_short(high)):
        low, high = high, 1.5 * high
        if high > _BIG:
            return _short(low)
    while low == high or not rejects(_short(low)):
        low, high = low / 1.5, low
        if low < _SMALL:
            return None
    while high - low > low * 2.0**-bits:
        middle = (low + high) / 2
        low, high = (middle, high) if rejects(_short(middle)) else (low, middle)
    return _short(low)


def _short(value: float) -> Fraction:
    return Fraction(round(value * 2**36), 2**36)
