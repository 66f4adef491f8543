"""Real roots of polynomials in one unknown with coefficients in Z[e^(1/d)]: isolated, compared, never sampled.

By Descartes' rule of signs (Vincent; Collins and Akritas 1976): a polynomial has no more roots in an interval than a
change of variable gives it changes of sign, and exactly one where there is one change. Signs of coefficients are
decided (`evaluation`), so the rule holds with e^q in them too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from tightdp.exact.field import ExpNumber, Number, ratio
from tightdp.exact.generators import UNKNOWN
from tightdp.exact.lines import Line, line_of

__all__ = ["Point", "between", "closed", "roots", "sign_at"]


@dataclass(eq=False)
class Point:
    """A real number: exact, or the only root of a polynomial between two rationals, both left out.

    The enclosure is refined in place when a comparison needs it.
    """

    value: Number | None
    line: Line | None = None
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if isinstance(self.value, Fraction):
            self.low = self.high = self.value
        elif self.value is not None:
            self.low, self.high = self.value.enclosure(20)

    @cached_property
    def _sign_at_low(self) -> int:
        assert self.line is not None
        return self.line.sign_after(self.low)

    def refine(self) -> None:
        """Make the enclosure narrower: by half at least, or such that 0 is not inside."""
        if isinstance(self.value, ExpNumber):
            digits, width = 20, self.high - self.low
            while self.high - self.low > width / 2:
                digits *= 2
                self.low, self.high = self.value.enclosure(digits)
        elif self.line is not None and self.low < self.high:
            before = self._sign_at_low
            middle = Fraction(0) if self.low < 0 < self.high else (self.low + self.high) / 2
            found = self.line.sign(middle)
            if not found:
                self.value, self.low, self.high = middle, middle, middle
            elif found == before:
                self.low = middle
            else:
                self.high = middle

    def near(self, digits: int) -> tuple[Fraction, Fraction]:
        """Return rationals around the number that agree to so many digits; both are the number where that is 0."""
        unit = Fraction(1, 10**digits)
        while self.high - self.low > unit * max(abs(self.low), abs(self.high)):
            self.refine()
        return self.low, self.high

    def compare(self, other: Point | Fraction) -> int:
        """Return the sign of the difference."""
        right = other if isinstance(other, Point) else Point(other)
        checked = False
        while True:
            if self.value is not None and right.value is not None:
                return (self.value > right.value) - (self.value < right.value)
            if self.low >= right.high:
                return 1
            if self.high <= right.low:
                return -1
            if not checked and self._is(right):
                return 0
            checked = True
            self.refine()
            right.refine()

    def _is(self, other: Point) -> bool:
        """Whether it is the same number as another one, whose enclosure overlaps."""
        ours, theirs = (self, other) if self.line is not None else (other, self)
        assert ours.line is not None
        if theirs.value is not None:
            inside = theirs.value > ours.low and theirs.value < ours.high
            return inside and not ours.line.at(theirs.value)
        assert theirs.line is not None
        low, high = max(self.low, other.low), min(self.high, other.high)
        shared = ours.line.shared(theirs.line)
        return low < high and shared.degree > 0 and bool(roots(shared, low, high))

    def __float__(self) -> float:
        low, high = self.near(20)
        return float((low + high) / 2)


def roots(line: Line, low: Fraction, high: Fraction | None) -> list[Point]:
    """Return the distinct roots of a polynomial that is not 0 between two rationals (None: infinity), in order."""
    if line.degree <= 0:
        return []
    number = line.changes(low, high)
    if not number:
        return []
    if number > 1:
        line = line.without_multiples
    return [Point(start) if start == end else Point(None, line, start, end) for start, end in line.isolated(low, high)]


def closed(point: Point) -> Point:
    """Return the same point: exact where it has a closed form, else as a root of what cannot be factored."""
    if point.value is not None or point.line is None:
        return point
    for factor, _ in point.line.polynomial.factor()[1]:
        degree = int(factor.degrees()[0])
        if degree < 1:
            continue
        if degree == 1:
            slope = factor.derivative(0)
            value = ratio(slope * UNKNOWN - factor, slope, point.line.root)
            if point.low < value < point.high:
                return Point(value)
        else:
            line = line_of(factor, point.line.root)
            if line.changes(point.low, point.high, 1) and roots(line, point.low, point.high):
                return Point(None, line, point.low, point.high)
    raise AssertionError("unreachable")


def sign_at(line: Line, point: Point) -> int:
    """Return the sign of a polynomial at a point. Always decided."""
    if point.value is not None:
        found = line.at(point.value)
        return (found > 0) - (found < 0)
    assert point.line is not None
    shared = line.shared(point.line)
    if shared.degree > 0 and roots(shared, point.low, point.high):
        return 0
    while line.degree > 0 and line.changes(point.low, point.high, 1):
        point.refine()
        if point.low == point.high:
            return line.sign(point.low)
    return line.sign((point.low + point.high) / 2)


def between(low: Point, high: Point | None) -> Fraction:
    """Return a short rational between two points."""
    if high is None:
        return Fraction(math.floor(low.high) + 1)
    while low.high >= high.low:
        low.refine()
        high.refine()
    width = (high.low - low.high) / 3
    bits = 1 + max(0, (width.denominator // width.numerator).bit_length())
    return Fraction(math.floor((low.high + width) * 2**bits) + 1, 2**bits)
