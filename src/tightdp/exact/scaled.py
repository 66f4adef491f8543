"""Laws on integers as double-precision weights with a proved relative error.

Weights are nonnegative, so sums and products of them lose nothing by cancellation: with unit roundoff u, a sum of m
products in any order has a relative error of at most (m + 1)u / (1 - (m + 1)u) beyond those of its factors (Higham
2002, Section 3.1). What is cut off at the ends, or would underflow, is counted as mass that is missing. docs/large.md
has the proofs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, TypeVar

from flint import ctx, fmpz_poly

from tightdp.exact.arrays import np
from tightdp.exact.enclosure import bounded
from tightdp.exact.field import Number, as_ball

UNIT = 2.0**-53
"""The unit roundoff of doubles."""
_LEAST = 1e-200
"""Smaller weights count as missing, so that products of two do not underflow."""
_LOST = 1e-290
_PART = 128
_FIRST = 64

Doubles = Any
"""A one-dimensional array of doubles."""
L = TypeVar("L")


def gamma(steps: int) -> float:
    """Return a bound on the relative error of so many roundings."""
    return 1.01 * steps * UNIT


@dataclass(frozen=True)
class Scaled:
    """A law on integers: the probability of `first + i * step` is `weights[i]`, up to a relative error of `error`.

    The true law is the sum of this, each weight times a factor between 1 - error and 1 + error, and of something
    nonnegative with mass at most `missing`.
    """

    first: int
    weights: Doubles
    error: float
    missing: float
    step: int = 1

    @property
    def last(self) -> int:
        """The largest integer that has a weight."""
        return self.first + (len(self.weights) - 1) * self.step

    def between(self, low: int, high: int) -> Doubles:
        """Return the weights from `low` to `high`, both included, at step 1; 0 where there are none."""
        found = np.zeros(max(high - low + 1, 0))
        start, end = max(low, self.first), min(high, self.last)
        if start <= end:
            found[start - low : end - low + 1] = self.weights[start - self.first : end - self.first + 1]
        return found

    def mass(self, low: int, high: int) -> tuple[float, float]:
        """Return the two ends of the probability of the integers from `low` to `high`, both included."""
        start = -(-(max(low, self.first) - self.first) // self.step)
        end = (min(high, self.last) - self.first) // self.step + 1
        part = self.weights[start:end] if start < end else self.weights[:0]
        whole, error = float(part.sum()), self.error + gamma(len(part) + 4)
        return max(whole * (1 - error), 0.0), whole * (1 + error) + self.missing * (1 + 4 * UNIT)

    def excess_above(self, other: Scaled, t: Number) -> float:
        """Return a number that is at least Σ max(0, P - t·P') for this law P, another one P', and t >= 0."""
        first, last = min(self.first, other.first), max(self.last, other.last)
        p, q = self.between(first, last), other.between(first, last)
        return excess_above(p, q, as_double(t), max(self.error, other.error), self.missing)

    def cut(self, least: float) -> Scaled:
        """Return the law without ends that hold less than `least` each, and with no weight too small to multiply."""
        weights = self.weights
        start, end = _below(weights, least), len(weights) - _below(weights[::-1], least)
        if start >= end:
            start, end = 0, len(weights)
        kept = weights[start:end]
        gone = float(weights[:start].sum()) + float(weights[end:].sum())
        small = (kept < _LEAST) & (kept > 0)
        if small.any():
            gone += float(kept[small].sum())
            kept = np.where(small, 0.0, kept)
        if not gone:
            return replace(self, first=self.first + start * self.step, weights=kept)
        lost = gone * (1 + self.error + gamma(len(weights) + 8)) + len(weights) * _LOST
        return replace(self, first=self.first + start * self.step, weights=kept, missing=self.missing + lost)


def _below(weights: Doubles, least: float) -> int:
    """Return how many of the first weights hold less than `least` together."""
    size = _FIRST
    while True:
        sums = np.cumsum(weights[:size])
        if size >= len(weights) or sums[-1] >= least:
            return int(np.searchsorted(sums, least))
        size *= 8


def excess_above(p: Doubles, q: Doubles, t: float, error: float, missing: float) -> float:
    """Return a number that is at least Σ max(0, P - t·P') for weights with these relative errors and missing mass.

    `t` may be two roundings away from the true one.
    """
    # The subtraction and the product with t are roundings of P + t P'.
    error += 10 * UNIT
    with np.errstate(invalid="ignore", over="ignore"):  # at an infinite t nothing exceeds t·P'
        scaled_q = t * q
        excess = p - scaled_q + error * (p + scaled_q)
    return float(excess[excess > 0].sum()) * (1 + gamma(len(excess) + 4)) + missing * (1 + 4 * UNIT)


def convolved(one: Scaled, other: Scaled, least: float) -> Scaled:
    """Return the law of the sum of two independent integers, its ends cut off where they hold less than `least`.

    Both have the same step, or one of them is a constant.
    """
    for constant, law in ((one, other), (other, one)):
        if len(constant.weights) == 1 and constant.weights[0] == 1.0 and not constant.missing:
            return replace(law, first=one.first + other.first)
    step = one.step if len(one.weights) > 1 else other.step
    weights, steps = products(one.weights, other.weights)
    error = (1 + one.error) * (1 + other.error) * (1 + gamma(steps)) - 1 + 4 * UNIT
    missing = (one.missing + other.missing) * (1 + 4 * UNIT)
    return Scaled(one.first + other.first, weights, error, missing, step).cut(least)


def products(one: Doubles, other: Doubles) -> tuple[Doubles, int]:
    """Return the convolution of nonnegative weights, and how many roundings follow each other at most.

    The shorter side is taken in parts, so that no sum of products is long, and the parts are added one by one.
    """
    if len(one) < len(other):
        one, other = other, one
    total = np.zeros(len(one) + len(other) - 1)
    for start in range(0, len(other), _PART):
        part = np.convolve(one, other[start : start + _PART])
        total[start : start + len(part)] += part
    return total, min(len(other), _PART) + len(other) // _PART + 4


def point(value: int) -> Scaled:
    """Return the law of a constant."""
    return Scaled(value, np.ones(1), 0.0, 0.0)


def scaled(masses: dict[int, Number], step: int = 1) -> Scaled:
    """Return the law with these probabilities, which are exact and sum to 1, of integers that differ by `step`s."""
    low, high = min(masses), max(masses)
    weights = np.zeros((high - low) // step + 1)
    for value, mass in masses.items():
        weights[(value - low) // step] = as_double(mass)
    exact = all(Fraction(float(weights[(value - low) // step])) == mass for value, mass in masses.items())
    return Scaled(low, weights, 0.0 if exact else 2 * UNIT, 0.0, step).cut(0.0)


def endless(
    mass: Callable[[int], Number], beyond: Callable[[int], Number], times: int, least: float, step: int
) -> Scaled:
    """Return the law of `times` a symmetric integer around 0: of k it is mass(k), of k or more beyond(k)."""
    reach = 1
    while as_double(beyond(reach)) >= least:
        reach *= 2
    apart = abs(times) // step
    weights = np.zeros(2 * (reach - 1) * apart + 1)
    weights[::apart] = [as_double(mass(k)) for k in range(1 - reach, reach)]
    return Scaled((1 - reach) * abs(times), weights, 4 * UNIT, 2.02 * as_double(beyond(reach)), step)


def power(masses: dict[int, Fraction], times: int, least: float, step: int = 1) -> Scaled:
    """Return the law of the sum of so many independent integers, each weight rounded once."""
    low, denominator = min(masses), math.lcm(*(mass.denominator for mass in masses.values()))
    counts = [0] * ((max(masses) - low) // step + 1)
    for value, mass in masses.items():
        counts[(value - low) // step] = int(mass * denominator)
    whole = denominator**times
    weights = np.array([int(count) / whole for count in (fmpz_poly(counts) ** times).coeffs()])
    return Scaled(low * times, weights, 2 * UNIT, len(weights) * _LOST, step).cut(least)


def doubled(power: Callable[[int], L], times: int, added: Callable[[L, L], L]) -> L:
    """Return the power of a law from half of it: the law of the sum of so many draws, two at least."""
    half = power(times // 2)
    square = added(half, half)
    return added(square, power(1)) if times % 2 else square


def as_double(value: Number) -> float:
    """Return a double within two roundings of an exact number."""
    if isinstance(value, Fraction):
        return value.numerator / value.denominator
    with ctx.workprec(128):
        return float(as_ball(value).mid())


def binomial(trials: int, low: int, p_low: Number, high: int, p_high: Number, least: float, step: int = 1) -> Scaled:
    """Return the law of the sum of so many integers that are `low` or `high`, with these positive probabilities.

    Weights go from the mode outward by their ratios, and are divided by their sum: the error is that of the ratios.
    """
    odds = _long(p_high / p_low)
    mode = min(int((trials + 1) * float(odds) / (1 + float(odds))), trials)
    # By Bernstein's inequality, less than `least` lies outside; checked below all the same.
    spread = 2 * math.log(1 / least)
    width = math.ceil(spread / 3 + math.sqrt(trials * float(odds) / (1 + float(odds)) ** 2 * spread)) + 16
    start, end = max(mode - width, 0), min(mode + width, trials)
    ups = np.arange(mode, end, dtype=np.longdouble)
    downs = np.arange(mode, start, -1, dtype=np.longdouble)
    up = np.cumprod((trials - ups) / (ups + 1) * odds)
    down = np.cumprod(downs / (trials - downs + 1) / odds)
    weights = np.concatenate((down[::-1], np.ones(1, dtype=np.longdouble), up))
    total = weights.sum()
    error = 1.01 * (12 * len(weights) + 16) * float(np.finfo(np.longdouble).eps)
    missing = 0.0
    # Beyond the ends weights fall at least as fast as a geometric series with the last ratio.
    if end < trials:
        ratio = float((trials - end) / (end + 1) * odds) * (1 + 1e-9)
        missing += float(weights[-1] / total) * ratio / (1 - ratio)
    if start > 0:
        ratio = float(start / (trials - start + 1) / odds) * (1 + 1e-9)
        missing += float(weights[0] / total) * ratio / (1 - ratio)
    missing *= 1 + 1e-6
    doubles = (weights / total).astype(np.float64)
    if (apart := (high - low) // step) > 1:
        spaced = np.zeros((len(doubles) - 1) * apart + 1)
        spaced[::apart] = doubles
        doubles = spaced
    # The sum lacks the missing mass, relatively to which the quotients are too large.
    error += missing + 4 * UNIT
    return Scaled(trials * low + start * (high - low), doubles, error, missing, step).cut(least)


def _long(value: Number) -> np.longdouble:
    """Return an exact number to the precision of a long double, up to four roundings."""
    if not isinstance(value, Fraction):
        with ctx.workprec(256):
            value = bounded(as_ball(value)).lower
    high = value.numerator / value.denominator
    rest = value - Fraction(high)
    return np.longdouble(high) + np.longdouble(rest.numerator / rest.denominator)
