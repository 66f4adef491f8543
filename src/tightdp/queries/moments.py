"""Expected errors of outputs, including those that stand for a tail of the integers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeAlias

from tightdp.core.operators import is_number
from tightdp.exact.enclosure import exp
from tightdp.exact.field import Number
from tightdp.language.program import Output
from tightdp.language.tails import GaussianTail, Tail

__all__ = ["Moment", "is_real", "moment"]

Moment: TypeAlias = tuple[Number, Number]
"""Both ends of an expectation, given the output; equal where it is known exactly."""
_DIGITS = 30


def is_real(output: Output) -> bool:
    """Whether an output is a number, or a tail of the integers."""
    return is_number(output) or isinstance(output, (Tail, GaussianTail))


def moment(output: Output, target: Number, power: int) -> Moment:
    """Return the expected |output - target|^power, for the power 1 or 2.

    For a tail it is the mean over its integers: exact for geometric noise; for Gaussian noise, whose masses fall faster
    and faster, the geometric value is an upper end.
    """
    if isinstance(output, Tail):
        start = output.direction * (output.first - target) / Fraction(output.step)
        value = _geometric(start, output.ratio, power) * output.step**power
        return value, value
    if isinstance(output, GaussianTail):
        away = output.direction * (output.offset - target)
        ratio = exp(-Fraction(2 * output.reach + 1) / (2 * output.variance), _DIGITS).upper
        least = _power(max(output.reach + away, Fraction(0)), power)
        return least, _geometric(output.reach + (away if away > 0 else -away), ratio, power)
    value = abs(output - target) ** power
    return value, value


def _geometric(start: Number, ratio: Number, power: int) -> Number:
    """Return the mean of |start + K|^power for P(K = k) = (1 - ratio)·ratio^k, k >= 0."""
    near: Number = Fraction(0)
    steps = max(0, -math.floor(start))
    for k in range(steps):
        near += (1 - ratio) * ratio**k * _power(start + k, power)
    start += steps
    mean = ratio / (1 - ratio)
    rest = start + mean
    if power == 2:
        rest = start * start + 2 * start * mean + ratio * (1 + ratio) / (1 - ratio) ** 2
    return near + ratio**steps * rest


def _power(value: Number, power: int) -> Number:
    return value * value if power == 2 else value if value >= 0 else -value
