"""Real roots of polynomials in one unknown with coefficients in Z[e^(1/d)]: isolated, compared, never sampled.

Equal numbers are recognised by algebra, never by more and more digits; others are enclosed as closely as it takes to
tell them apart. The interval that isolates a root never changes, so no question makes the next one longer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cmp_to_key
from typing import Any

from flint import ctx

from tightdp.errors import LimitError
from tightdp.exact.enclosure import ball, bits_of, precisions, sign_of
from tightdp.exact.field import Number, ratio
from tightdp.exact.lines import Line, line_of
from tightdp.exact.polynomials import UNKNOWN
from tightdp.exact.waves import Undecided

_DIGITS = 20
_FEW_BITS, _FIRST_BITS = 4, 32


class Point:
    """A real number: exact, or the only root of a polynomial between two rationals, both left out; it is simple."""

    def __init__(
        self, value: Number | None, line: Line | None = None, low: Fraction = Fraction(0), high: Fraction = Fraction(0)
    ) -> None:
        self.value, self.line = value, line
        if isinstance(value, Fraction):
            low = high = value
        elif value is not None:
            low, high = value.enclosure(_DIGITS)
        self.low, self.high = low, high
        self._closest = low, high

    def near(self, digits: int) -> tuple[Fraction, Fraction]:
        """Return rationals around the number that agree to so many digits; both are the number where that is 0."""
        return self.enclosed(bits_of(digits))

    def enclosed(self, bits: int) -> tuple[Fraction, Fraction]:
        """Return rationals around the number that agree to so many bits; both are the number where it is met."""
        low, high = self._closest
        unit = Fraction(1, 1 << bits)
        if high - low <= unit * max(abs(low), abs(high)):
            return low, high
        if self.line is None:
            assert not isinstance(self.value, Fraction)
            assert self.value is not None
            low, high = self.value.enclosure(math.ceil(bits * math.log10(2)) + 1)
        else:
            before = self.line.sign_after(self.low)
            while high - low > unit * max(abs(low), abs(high)):
                middle = Fraction(0) if low < 0 < high else (low + high) / 2
                found = self.line.sign(middle)
                if not found or found == before:
                    low = middle
                if not found or found != before:
                    high = middle
        self._closest = low, high
        return low, high

    def compare(self, other: Point | Number) -> int:
        """Return the sign of the difference. Always decided."""
        if not isinstance(other, Point):
            return self._side(other)
        if other.value is not None:
            return self._side(other.value)
        return -other._side(self.value) if self.value is not None else self._compare_roots(other)

    def _side(self, value: Number) -> int:
        """Return the sign of the difference to an exact number."""
        if self.value is not None:
            return (self.value > value) - (self.value < value)
        assert self.line is not None
        if value <= self.low or value >= self.high:
            return 1 if value <= self.low else -1
        found = self.line.sign(value)
        return found and (1 if found == self.line.sign_after(self.low) else -1)

    def _compare_roots(self, other: Point) -> int:
        if self is other or self.low >= other.high or self.high <= other.low:
            return 0 if self is other else 1 if self.low >= other.high else -1
        for bits in precisions(_FEW_BITS):
            (a, b), (c, d) = self.enclosed(bits), other.enclosed(bits)
            if a == b or c == d:
                return -other._side(a) if a == b else self._side(c)
            if a >= d or b <= c:
                return 1 if a >= d else -1
            if bits == _FIRST_BITS and self._shares_root(other.line, max(a, c), min(b, d)):
                return 0
        raise AssertionError("unreachable")

    def _shares_root(self, line: Line | None, low: Fraction, high: Fraction) -> bool:
        """Whether a polynomial has a root, which the point is then, in common with its own between two rationals."""
        assert self.line is not None
        assert line is not None
        shared = self.line.shared(line)
        return shared.degree > 0 and bool(roots(shared, low, high))

    def sign_of(self, line: Line) -> int:
        """Return the sign of a polynomial at the point. Always decided."""
        if self.value is not None:
            return line.sign(self.value)
        for bits in precisions(_FIRST_BITS):
            low, high = self.enclosed(bits)
            if low == high:
                return line.sign(low)
            with ctx.workprec(2 * bits):
                found = sign_of(line.ball(ball(low).union(ball(high))))
            if found:
                return found
            if bits == _FIRST_BITS and self._shares_root(line, low, high):
                return 0
        raise AssertionError("unreachable")

    def __float__(self) -> float:
        low, high = self.near(_DIGITS)
        return float((low + high) / 2)


def roots(line: Line, low: Fraction, high: Fraction | None) -> list[Point]:
    """Return the distinct roots of a polynomial that is not 0 between two rationals (None: infinity), in order."""
    if line.degree <= 0:
        return []
    if line.mixed:
        return _crossings(line, low, high)
    number = line.changes(low, high)
    if not number:
        return []
    if number > 1:
        line = line.without_multiples
    return [Point(start) if start == end else Point(None, line, start, end) for start, end in line.isolated(low, high)]


def _crossings(line: Line, low: Fraction, high: Fraction | None) -> list[Point]:
    """Return the same with the unknown in exponents too; multiple roots are those of a factor.

    Two factors have no root in common, nor has one a multiple root, where no number but the unknown is in exponents: it
    would be algebraic, and so would be a power of e^unknown (Lindemann 1882). Raises LimitError where roots are not
    told apart.
    """
    try:
        return _points(line, line.crossings(low, high))
    except Undecided:
        pass
    found: list[Point] = []
    for factor, _ in line.polynomial.factor()[1]:
        one = line_of(factor, line.root)
        try:
            found += _points(one, one.crossings(low, high)) if one.mixed else roots(one, low, high)
        except Undecided:
            what = "two values of the unknown at which answers change are not told apart"
            raise LimitError(what, "give a smaller range for it, as in lam=?[1/10,1/5]") from None
    return sorted(found, key=cmp_to_key(Point.compare))


def _points(line: Line, ends: list[tuple[Fraction, Fraction]]) -> list[Point]:
    return [Point(start) if start == end else Point(None, line, start, end) for start, end in ends]


def closed(point: Point) -> Point:
    """Return the same point: exact where it has a closed form, else as a root of what cannot be factored."""
    if point.value is not None or point.line is None or point.line.mixed:
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


def between(low: Point, high: Point | None) -> Fraction:
    """Return a rational between two points, a short one as far as their distance allows."""
    if high is None:
        return Fraction(math.floor(low.high) + 1)
    for bits in precisions(_FEW_BITS):
        (first, start), (stop, last) = low.enclosed(bits), high.enclosed(bits)
        if 2 * (stop - start) > last - first:
            break
    width = (stop - start) / 3
    bits = 1 + max(0, (width.denominator // width.numerator).bit_length())
    return Fraction(math.floor((start + width) * 2**bits) + 1, 2**bits)


def covering(low: Point, high: Point | None, within: Callable[[Point, Point | None], Any]) -> list[Any]:
    """Return parts, from `low` to `high` each, that cover an interval, in order; `within` gives one in a gap."""
    found: list[Any] = []
    gaps: list[tuple[Point, Point | None]] = [(low, high)]
    while gaps:
        start, stop = gaps.pop()
        part = within(start, stop)
        found.append(part)
        if part.high is not None and (stop is None or part.high.compare(stop) < 0):
            gaps.append((part.high, stop))
        if part.low.compare(start) > 0:
            gaps.append((start, part.low))
    return sorted(found, key=lambda each: between(each.low, each.high))
