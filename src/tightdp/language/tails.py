"""A tail of the integers as one output."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from fractions import Fraction

from tightdp.exact.field import Number
from tightdp.exact.weights import NUMBERS

__all__ = ["BEYOND", "GaussianTail", "Tail", "is_beyond", "share_of", "shown_by"]

BEYOND = "noise beyond what is looked at"
"""What stands for outputs of runs in which noise that was cut off is further out."""


class Tail(str):
    """All integers from `first` on, upwards (`direction` 1) or downwards (-1), as one output: ">= 7", "<= -7".

    Under every dataset the probabilities in it fall by `ratio` from one integer to the next, given the rest of the
    output. So all its integers have the same likelihood ratio between two datasets, and their total has it too.
    """

    first: int
    direction: int
    ratio: Number

    def __new__(cls, first: int, direction: int, ratio: Number) -> Tail:
        """Write the tail as a comparison."""
        tail = super().__new__(cls, f"{'>=' if direction > 0 else '<='} {first}")
        tail.first, tail.direction, tail.ratio = first, direction, ratio
        return tail

    def __eq__(self, other: object) -> bool:
        """Whether the other is the same text, and no tail that falls by another ratio."""
        return str.__eq__(self, other) is True and (not isinstance(other, Tail) or self.ratio == other.ratio)

    def __ne__(self, other: object) -> bool:
        """Whether the other differs."""
        return not self == other

    __hash__ = str.__hash__

    def share(self, low: int | Number, high: int | Number) -> Number:
        """Return what share of the probability of the tail belongs to integers from `low` to `high`, both included."""
        if self.direction < 0:
            low, high = -high, -low
        nearest = max(_floor(-low) * -1, self.direction * self.first)
        last = _floor(high)
        if last < nearest:
            return Fraction(0)
        start = self.direction * self.first
        return self.ratio ** (nearest - start) - self.ratio ** (last - start + 1)

    def within(self, low: int | Number, high: int | Number) -> Iterator[int]:
        """Yield the integers of the tail from `low` to `high`, both included."""
        return (value for value in range(-_floor(-low), _floor(high) + 1) if self.share(value, value))

    def __reduce__(self) -> tuple[type[Tail], tuple[int, int, Number]]:
        """Return how a copy is made."""
        return Tail, (self.first, self.direction, self.ratio)


class GaussianTail(str):
    """The runs in which published Gaussian noise is at `reach` or beyond, as one output that tells what is added to it.

    That tells more than the integer itself. Of all runs they have a probability below 2^-199, and an integer of such a
    run may lie within the core too, where `offset` draws it there.
    """

    reach: int
    direction: int
    variance: Fraction
    offset: int

    def __new__(cls, reach: int, direction: int, variance: Fraction, offset: int) -> GaussianTail:
        """Write the tail as a comparison; `reach` is positive, `direction` 1 or -1."""
        tail = super().__new__(cls, f"{'>=' if direction > 0 else '<='} {direction * reach + offset}")
        tail.reach, tail.direction, tail.variance, tail.offset = reach, direction, variance, offset
        return tail

    def __reduce__(self) -> tuple[type[GaussianTail], tuple[int, int, Fraction, int]]:
        """Return how a copy is made."""
        return GaussianTail, (self.reach, self.direction, self.variance, self.offset)


def share_of(shown: object, output: object) -> Number:
    """Return the probability of an output, given the one that stands for it; a Gaussian tail counts as 0."""
    if isinstance(shown, tuple) and isinstance(output, tuple) and len(shown) == len(output):
        return math.prod(map(share_of, shown, output), start=Fraction(1))
    if isinstance(shown, Tail) and isinstance(output, NUMBERS):
        return shown.share(output, output)
    return Fraction(shown == output)


def shown_by(output: object, values: Collection[object]) -> tuple[object, Number] | None:
    """Return which of some values stands for a scalar, and the scalar's share of its probability, None for none."""
    if output in values:
        return output, Fraction(1)
    shares = ((value, share_of(value, output)) for value in values if isinstance(value, Tail))
    return next(((value, share) for value, share in shares if share), None)


def is_beyond(output: object) -> bool:
    """Whether an output stands for noise that was cut off, or has a part that does."""
    return any(map(is_beyond, output)) if isinstance(output, tuple) else output is BEYOND or output == BEYOND


def _floor(value: int | Number) -> int:
    """Return the greatest integer that is at most this number."""
    below = math.floor(float(value))
    while value < below:
        below -= 1
    while value >= below + 1:
        below += 1
    return below
