"""What a question about accuracy asks: within which error, with which probability, and what is to be best.

Apart from `accuracy`, which answers: reading a question loads nothing that computes with laws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from tightdp.core.operators import is_number
from tightdp.errors import QueryError
from tightdp.exact.enclosure import exp
from tightdp.exact.field import Number
from tightdp.exact.numbers import SHORT
from tightdp.exact.weights import as_exact
from tightdp.language.outputs import Output
from tightdp.language.tails import GaussianTail, Tail, share_of


@dataclass(frozen=True, kw_only=True)
class Measure:
    """How far an output is from its target: by |output - target|, or relative to max(1, |target|)."""

    relative: bool = False

    def unit(self, target: int | Number) -> Number:
        """Return the absolute error that counts as 1."""
        size = as_exact(target if target >= 0 else -target)
        return size if self.relative and size > 1 else Fraction(1)


@dataclass(frozen=True)
class AccuracyAt(Measure):
    """The question for the tight 1 - β at an error bound alpha >= 0, with the `top` worst classes of datasets."""

    alpha: Number
    top: int = 1

    def within(self, target: int | Number) -> tuple[Number, Number]:
        """Return the least and the largest output that is near the target."""
        reach = self.alpha * self.unit(target)
        return target - reach, target + reach


@dataclass(frozen=True)
class LeastError(Measure):
    """The question for the least error bound that every dataset keeps with probability 1 - beta."""

    beta: Number


Moment: TypeAlias = tuple[Number, Number]
"""Both ends of an expectation, given the output; equal where it is known exactly."""


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
        ratio = exp(-Fraction(2 * output.reach + 1) / (2 * output.variance), SHORT).upper
        least = max(output.reach + away, Fraction(0)) ** power
        return least, _geometric(output.reach + (away if away > 0 else -away), ratio, power)
    value = abs(output - target) ** power
    return value, value


def _geometric(start: Number, ratio: Number, power: int) -> Number:
    """Return the mean of |start + K|^power for P(K = k) = (1 - ratio)·ratio^k, k >= 0."""
    near: Number = Fraction(0)
    steps = max(0, -math.floor(start))
    for k in range(steps):
        near += (1 - ratio) * ratio**k * max(start + k, -start - k) ** power
    start += steps
    mean = ratio / (1 - ratio)
    rest = start + mean
    if power == 2:
        rest = start * start + 2 * start * mean + ratio * (1 + ratio) / (1 - ratio) ** 2
    return near + ratio**steps * rest


ACCURACY, ABSOLUTE, SQUARED, RIGHT = "accuracy", "absolute error", "squared error", "right answer"
MEASURES = (ACCURACY, ABSOLUTE, SQUARED, RIGHT)
"""What can be best: P(|output - target| <= α), E|output - target|, E(output - target)², and P(output = target)."""


@dataclass(frozen=True)
class Goal:
    """The measure that is to be best on the worst dataset, with its error bound α where it is accuracy."""

    measure: str
    alpha: Number | None = None

    @property
    def least(self) -> bool:
        """Whether the best value is the least one, as with errors."""
        return self.measure in (ABSOLUTE, SQUARED)

    def value(self, output: Output, target: Output) -> Number:
        """Return what the measure is the mean of, given an output. Raises QueryError where it has no meaning."""
        if self.measure == RIGHT:
            return share_of(output, target)
        if not is_number(target) or not is_real(output):
            wrong = f"the target {target!r}" if not is_number(target) else f"the output {output!r}"
            raise QueryError(f"{self.measure} needs numbers, and {wrong} is none", "ask for the right answer")
        if self.alpha is None:
            return as_exact(moment(output, target, 2 if self.measure == SQUARED else 1)[0])
        low, high = AccuracyAt(self.alpha).within(target)
        return output.share(low, high) if isinstance(output, Tail) else Fraction(low <= output <= high)
