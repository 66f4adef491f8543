"""A tail of the integers as one output."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from fractions import Fraction

from tightdp.errors import QueryError
from tightdp.exact.field import Number
from tightdp.exact.weights import NUMBERS

BEYOND = "noise beyond what is looked at"
"""What stands for outputs of runs in which noise that was cut off is further out."""


class Tail(str):
    """All integers from `first` on, upwards (`direction` 1) or downwards (-1), as one output: ">= 7", "<= -7".

    Under every dataset the probabilities in it fall by `ratio` from one integer to the next, given the rest of the
    output. So all its integers have the same likelihood ratio between two datasets, and their total has it too.
    Numbers at another distance than 1, `step`, are written ">= 7 in steps of 2". Where a noisy value is published
    `again`, each number of the tail comes with one of the tail that was published first.
    """

    first: int | Fraction
    direction: int
    ratio: Number
    step: int | Fraction
    again: bool

    def __new__(
        cls,
        first: int | Fraction,
        direction: int,
        ratio: Number,
        step: int | Fraction = 1,
        again: bool = False,
    ) -> Tail:
        """Write the tail as a comparison."""
        steps = "" if step == 1 else f" in steps of {step}"
        tail = super().__new__(cls, f"{'>=' if direction > 0 else '<='} {first}{steps}")
        tail.first, tail.direction, tail.ratio, tail.step, tail.again = first, direction, ratio, step, again
        return tail

    def __eq__(self, other: object) -> bool:
        """Whether the other is the same text, and no tail whose numbers have other shares."""
        if str.__eq__(self, other) is not True:
            return False
        return not isinstance(other, Tail) or (self.ratio, self.again) == (other.ratio, other.again)

    def __ne__(self, other: object) -> bool:
        """Whether the other differs."""
        return not self == other

    __hash__ = str.__hash__

    def number(self, place: int) -> int | Fraction:
        """Return the number at a place of the tail, from 0."""
        return self.first + self.direction * self.step * place

    def share(self, low: int | Number, high: int | Number) -> Number:
        """Return what share of the probability of the tail belongs to numbers from `low` to `high`, both included."""
        places = self._places(low, high)
        if places and self.again:
            what = "the probability of a number that noise on all integers gives twice is not known far out"
            raise QueryError(what, "publish each noisy value once")
        return self.ratio**places.start - self.ratio**places.stop if places else Fraction(0)

    def within(self, low: int | Number, high: int | Number) -> Iterator[int | Fraction]:
        """Yield the numbers of the tail from `low` to `high`, both included."""
        return map(self.number, self._places(low, high))

    def _places(self, low: int | Number, high: int | Number) -> range:
        """Return the places of the numbers from `low` to `high`, both included."""
        ends = [(end - self.first) / Fraction(self.direction * self.step) for end in (low, high)]
        return range(max(-_floor(-min(ends)), 0), _floor(max(ends)) + 1)

    def __reduce__(self) -> tuple[type[Tail], tuple[int | Fraction, int, Number, int | Fraction, bool]]:
        """Return how a copy is made."""
        return Tail, (self.first, self.direction, self.ratio, self.step, self.again)


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
