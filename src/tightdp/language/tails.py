"""A tail of the integers as one output, and an interval of real numbers."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from fractions import Fraction
from typing import Any, TypeAlias

from tightdp.errors import QueryError
from tightdp.exact.field import Number, exp
from tightdp.exact.weights import NUMBERS

Terms: TypeAlias = "tuple[tuple[Number, int, Number], ...]"
"""Factors, powers and bases, or rates."""

BEYOND = "noise beyond what is looked at"
"""What stands for outputs of runs in which noise that was cut off is further out."""


class Tail(str):
    """All integers from `first` on, upwards (`direction` 1) or downwards (-1), as one output: ">= 7", "<= -7".

    Under every dataset the probabilities in it fall by `ratio` from one integer to the next, given the rest of the
    output. So all its integers have the same likelihood ratio between two datasets, and their total has it too.
    Numbers at another distance than 1, `step`, are written ">= 7 in steps of 2". Where a noisy value is published
    `again`, each number of the tail comes with one of the tail that was published first.

    Where probabilities fall in another way there are `terms`: number k, from 0, has the share Σ factor·k^power·base^k
    of the tail, and `ratio` is what the quotient of neighbouring probabilities tends to.
    """

    first: int | Fraction
    direction: int
    ratio: Number
    step: int | Fraction
    again: bool
    terms: Terms

    def __new__(
        cls,
        first: int | Fraction,
        direction: int,
        ratio: Number,
        step: int | Fraction = 1,
        again: bool = False,
        terms: Terms = (),
    ) -> Tail:
        """Write the tail as a comparison."""
        steps = "" if step == 1 else f" in steps of {step}"
        tail = super().__new__(cls, f"{'>=' if direction > 0 else '<='} {first}{steps}")
        tail.first, tail.direction, tail.ratio, tail.step, tail.again = first, direction, ratio, step, again
        tail.terms = terms
        return tail

    def __eq__(self, other: object) -> bool:
        """Whether the other is the same text, and no tail whose numbers have other shares."""
        if str.__eq__(self, other) is not True:
            return False
        return not isinstance(other, Tail) or self._law == other._law

    def __ne__(self, other: object) -> bool:
        """Whether the other differs."""
        return not self == other

    __hash__ = str.__hash__

    @property
    def _law(self) -> tuple[Any, ...]:
        return self.ratio, self.again, self.terms

    @property
    def shares(self) -> Terms:
        """The shares of its numbers as terms, also where these fall by one ratio."""
        return self.terms or ((1 - self.ratio, 0, self.ratio),)

    def as_json(self, mass: Number) -> dict[str, Any]:
        """Return how its probability is spread: from its first number on it falls by a ratio, or is a sum of terms."""
        steps = {} if self.step == 1 else {"step": self.step}
        found: dict[str, Any] = {"from": self.first, "direction": self.direction, **steps}
        if not self.terms:
            return {**found, "first": mass * (1 - self.ratio), "ratio": self.ratio}
        terms = [{"factor": mass * factor, "power": power, "ratio": base} for factor, power, base in self.terms]
        return {**found, "terms": terms}

    def number(self, place: int) -> int | Fraction:
        """Return the number at a place of the tail, from 0."""
        return self.first + self.direction * self.step * place

    def share(self, low: int | Number, high: int | Number) -> Number:
        """Return what share of the probability of the tail belongs to numbers from `low` to `high`, both included."""
        places = self._places(low, high)
        if places and self.again:
            what = "the probability of a number that noise on all integers gives twice is not known far out"
            raise QueryError(what, "publish each noisy value once")
        if self.terms:
            return sum((f * k**power * base**k for f, power, base in self.terms for k in places), start=Fraction(0))
        return self.ratio**places.start - self.ratio**places.stop if places else Fraction(0)

    def within(self, low: int | Number, high: int | Number) -> Iterator[int | Fraction]:
        """Yield the numbers of the tail from `low` to `high`, both included."""
        return map(self.number, self._places(low, high))

    def _places(self, low: int | Number, high: int | Number) -> range:
        """Return the places of the numbers from `low` to `high`, both included."""
        ends = [(end - self.first) / Fraction(self.direction * self.step) for end in (low, high)]
        return range(max(-_floor(-min(ends)), 0), _floor(max(ends)) + 1)

    def __reduce__(self) -> tuple[type[Tail], tuple[int | Fraction, int, Number, int | Fraction, bool, Terms]]:
        return Tail, (self.first, self.direction, self.ratio, self.step, self.again, self.terms)


class Interval(str):
    """The real numbers between two ends, as one output: "0 < y < 2", "y > 2"; None is no end.

    They have the density Σ factor·d^power·e^(rate·d) at the distance d from `origin`, one of the ends.
    """

    low: Fraction | None
    high: Fraction | None
    origin: Fraction
    terms: Terms

    def __new__(cls, low: Fraction | None, high: Fraction | None, origin: Fraction, terms: Terms) -> Interval:
        """Write the interval as inequalities."""
        if low is None:
            text = "y" if high is None else f"y < {high}"
        else:
            text = f"y > {low}" if high is None else f"{low} < y < {high}"
        made = super().__new__(cls, text)
        made.low, made.high, made.origin, made.terms = low, high, origin, terms
        return made

    def as_json(self) -> dict[str, Any]:
        """Return its ends and its density."""
        terms = [{"factor": factor, "power": power, "rate": rate} for factor, power, rate in self.terms]
        return {"from": self.low, "to": self.high, "origin": self.origin, "terms": terms}

    def density(self, y: int | Fraction) -> Number:
        """Return the density at a number, 0 outside of the interval."""
        if not ((self.low is None or self.low < y) and (self.high is None or y < self.high)):
            return Fraction(0)
        away = abs(Fraction(y) - self.origin)
        return sum((f * away**power * exp(rate * away) for f, power, rate in self.terms), start=Fraction(0))

    def __reduce__(self) -> tuple[type[Interval], tuple[Fraction | None, Fraction | None, Fraction, Terms]]:
        return Interval, (self.low, self.high, self.origin, self.terms)


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


def parts_of(output: object) -> Iterator[object]:
    """Yield the scalars of an output."""
    if isinstance(output, tuple):
        for item in output:
            yield from parts_of(item)
    else:
        yield output


def is_beyond(output: object) -> bool:
    """Whether an output stands for noise that was cut off, or has a part that does."""
    return any(map(is_beyond, output)) if isinstance(output, tuple) else output is BEYOND or output == BEYOND


def has_part(output: object, *kinds: type) -> bool:
    """Whether an output, or a part of it, stands for noise that was cut off, or is of one of these kinds."""
    return any(is_beyond(part) or isinstance(part, kinds) for part in parts_of(output))


def _floor(value: int | Number) -> int:
    """Return the greatest integer that is at most this number."""
    below = math.floor(float(value))
    while value < below:
        below -= 1
    while value >= below + 1:
        below += 1
    return below
