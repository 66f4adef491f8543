"""Symbolic integers: noise on all integers, and sums that grow, with what is added to them.

A run that compares one of them takes both branches, one after the other, and records the condition of each.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from tightdp.exact.field import Number
from tightdp.language.laws import Law, OnIntegers, TwoSided
from tightdp.language.primitives import Indefinite, Source, current_source

__all__ = ["SIZE", "Affine", "Bounds", "Form", "Terms", "Trace", "Untraceable", "fresh", "held"]

Terms: TypeAlias = tuple[tuple[tuple[str, int], Fraction], ...]
"""Unknown integers with their coefficients, which are not 0, in a fixed order."""
Bounds: TypeAlias = dict[Terms, tuple[float, float]]
"""The least and the greatest value of combinations of unknown integers; they are integers or infinite."""

SIZE: Terms = ((("size", 0), Fraction(1)),)
"""The number of records."""
_MOST_WAYS = 60
_BOTH: Law = ((0, Fraction(1)), (1, Fraction(1)))


class Untraceable(Exception):
    """A value is used in a way that is not followed for all integers at once."""


class Affine(NamedTuple):
    """A combination of unknown integers, and a constant."""

    terms: Terms
    constant: Fraction


def held(place: int) -> Terms:
    """Return the symbol of the value passed from one record to the next in this place."""
    return ((("held", place), Fraction(1)),)


def fresh(place: int) -> Terms:
    """Return the symbol of the noise with this number in a run, centred at 0."""
    return ((("fresh", place), Fraction(1)),)


class Trace:
    """A source of randomness that keeps noise on all integers symbolic, and takes both branches of comparisons."""

    def __init__(self, source: Source) -> None:
        self.noises: list[Number] = []
        self.bounds: Bounds = {}
        self._source = source
        self._ways = 0

    def draw(self, law: Law) -> int:
        """Draw from a finite law."""
        return self._source.draw(law)

    def draw_integer(self, law: OnIntegers) -> Any:
        """Return symbolic noise. Raises Untraceable for noise that is not two-sided geometric."""
        if not isinstance(law, TwoSided):
            raise Untraceable("noise on all integers has no ratio")
        self.noises.append(law.ratio)
        return Form(fresh(len(self.noises) - 1), Fraction(law.centre))

    def observe(self, condition: bool) -> None:
        """Go on when the condition holds."""
        self._source.observe(condition)

    def at_least(self, terms: Terms, value: int) -> bool:
        """Decide a comparison: as earlier ones on this path imply, or else both ways in turn."""
        low, high = self.bounds.get(terms, (-math.inf, math.inf))
        if low >= value or high < value:
            return low >= value
        self._ways += 1
        if self._ways > _MOST_WAYS:
            raise Untraceable("noise is compared too often for one record")
        if self._source.draw(_BOTH):
            self.bounds[terms] = value, high
            return True
        self.bounds[terms] = low, value - 1
        return False


class Form(Indefinite):
    """A symbolic integer with Python's arithmetic and comparisons."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, terms: Terms, constant: Fraction) -> None:
        self.affine = Affine(terms, constant)

    def _plus(self, other: Any, factor: int) -> Any:
        if isinstance(other, (int, Fraction)):
            return Form(self.affine.terms, self.affine.constant + factor * other)
        if not isinstance(other, Form):
            return NotImplemented
        total = dict(self.affine.terms)
        for symbol, times in other.affine.terms:
            total[symbol] = total.get(symbol, Fraction(0)) + factor * times
        terms = tuple(sorted((symbol, times) for symbol, times in total.items() if times))
        constant = self.affine.constant + factor * other.affine.constant
        return Form(terms, constant) if terms else _number(constant)

    def __add__(self, other: Any) -> Any:
        return self._plus(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._plus(other, -1)

    def __rsub__(self, other: Any) -> Any:
        return (-self)._plus(other, 1)

    def __neg__(self) -> Form:
        return Form(tuple((symbol, -times) for symbol, times in self.affine.terms), -self.affine.constant)

    def __pos__(self) -> Form:
        return self

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, (int, Fraction)):
            raise Untraceable("noise is multiplied with something that is not known")
        terms = tuple((symbol, times * other) for symbol, times in self.affine.terms)
        return Form(terms, self.affine.constant * other) if other else 0

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if not isinstance(other, (int, Fraction)) or not other:
            raise Untraceable("noise is divided by something that is not known")
        return self * Fraction(1, other)

    def __abs__(self) -> Any:
        return self if self >= 0 else -self

    def __bool__(self) -> bool:
        return self != 0

    def __round__(self, digits: int | None = None) -> Form:
        if not self._whole():
            raise Untraceable("noise is rounded")
        return self

    def _whole(self) -> bool:
        return all(each.denominator == 1 for each in (self.affine.constant, *(times for _, times in self.affine.terms)))

    def __ge__(self, other: Any) -> bool:
        return self._above(other, strictly=False)

    def __gt__(self, other: Any) -> bool:
        return self._above(other, strictly=True)

    def __lt__(self, other: Any) -> bool:
        return not self._above(other, strictly=False)

    def __le__(self, other: Any) -> bool:
        return not self._above(other, strictly=True)

    def __eq__(self, other: Any) -> bool:
        if not isinstance(other, (int, Fraction, Form)):
            return False
        return self >= other and not self > other

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def _above(self, other: Any, strictly: bool) -> bool:
        difference = self - other
        if not isinstance(difference, Form):
            return bool(difference > 0 if strictly else difference >= 0)
        (terms, constant), trace = difference.affine, current_source()
        assert isinstance(trace, Trace)
        shared = _shared([times for _, times in terms])
        if terms[0][1] > 0:  # terms·v >= -constant
            least = _beyond(-constant / shared, strictly)
            return trace.at_least(tuple((symbol, times / shared) for symbol, times in terms), least)
        most = _beyond(-constant / shared, strictly)  # -(terms·v) <= -most
        return not trace.at_least(tuple((symbol, -times / shared) for symbol, times in terms), 1 - most)


def _shared(numbers: list[Fraction]) -> Fraction:
    """Return the largest rational of which all these are integer multiples."""
    below = math.lcm(*(each.denominator for each in numbers))
    return Fraction(math.gcd(*(int(each * below) for each in numbers)), below)


def _beyond(value: Fraction, strictly: bool) -> int:
    """Return the least integer that is at least this value, or above it."""
    return math.floor(value) + 1 if strictly else math.ceil(value)


def _number(value: Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value
