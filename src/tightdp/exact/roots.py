"""Real roots of polynomials in one unknown with coefficients in Z[e^(1/d)]: isolated, compared, never sampled.

By Descartes' rule of signs (Vincent; Collins and Akritas 1976): a polynomial has no more roots in an interval than a
change of variable gives it changes of sign, and exactly one where there is one change. Signs of coefficients are
decided (`polynomials`), so the rule holds with e^q in them too.

Equal numbers are recognised by algebra, never by more and more digits; others are enclosed as closely as it takes to
tell them apart. The interval that isolates a root never changes, so no question makes the next one longer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from flint import arb, ctx, fmpz, fmpz_mpoly, fmpz_poly

from tightdp.exact.enclosure import ball, bits_of, precisions
from tightdp.exact.field import Number, as_ball, ratio
from tightdp.exact.polynomials import RING, UNKNOWN, Polynomial, dense, in_powers_of_e, raised, sign
from tightdp.exact.whole import Whole, polynomials
from tightdp.limits.calibrated import QUICK_BITS

_ONE_MORE = fmpz_poly([1, 1])


@dataclass(frozen=True)
class Line:
    """A polynomial in the unknown: polynomials with integer coefficients by the power of T = e^(1/root)."""

    parts: tuple[tuple[int, fmpz_poly], ...]
    root: int = 1

    @cached_property
    def degree(self) -> int:
        """The degree in the unknown; -1 for 0."""
        return max((int(part.degree()) for _, part in self.parts), default=-1)

    @cached_property
    def key(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """The polynomial as a plain value."""
        return tuple((power, tuple(map(int, part.coeffs()))) for power, part in self.parts)

    @property
    def polynomial(self) -> fmpz_mpoly:
        """The same polynomial in the ring."""
        terms: dict[tuple[int, ...], int | fmpz] = {
            (x, e, 0): int(c) for e, part in self.parts for x, c in enumerate(part.coeffs()) if c
        }
        return RING.from_dict(terms)

    @cached_property
    def without_multiples(self) -> Line:
        """The polynomial with the same roots, each of them once."""
        polynomial = self.polynomial
        return line_of(polynomial / polynomial.gcd(polynomial.derivative(0)), self.root)

    def shared(self, other: Line) -> Line:
        """Return the greatest common divisor."""
        (ours, theirs), root = _together(self, other)
        return line_of(ours.polynomial.gcd(theirs.polynomial), root)

    def __add__(self, other: Line) -> Line:
        (ours, theirs), root = _together(self, other)
        found = dict(ours.parts)
        for power, part in theirs.parts:
            found[power] = found[power] + part if power in found else part
        return _made(found, root)

    def __neg__(self) -> Line:
        return Line(tuple((power, -part) for power, part in self.parts), self.root)

    def __sub__(self, other: Line) -> Line:
        return self + -other

    def __mul__(self, other: Line) -> Line:
        (ours, theirs), root = _together(self, other)
        found: dict[int, fmpz_poly] = {}
        for power, part in ours.parts:
            for more, factor in theirs.parts:
                product = part * factor
                found[power + more] = found[power + more] + product if power + more in found else product
        return _made(found, root)

    def derivative(self) -> Line:
        """Return the derivative in the unknown."""
        return _made({power: part.derivative() for power, part in self.parts}, self.root)

    def at(self, point: Number | int) -> Number:
        """Return the value at an exact number."""
        if isinstance(point, (int, Fraction)):
            values, scale = self._values(Fraction(point))
            return ratio(dense(values), fmpz_poly([scale]), self.root)
        found: Number = Fraction(0)
        for index in range(self.degree, -1, -1):
            found = found * point + self.coefficient_at(index)
        return found

    def _values(self, at: Fraction) -> tuple[list[tuple[int, int]], int]:
        degree, above, below = max(0, self.degree), at.numerator, at.denominator
        values = [(power, int(_scaled(part, below, degree)(above))) for power, part in self.parts]
        return values, below**degree

    def sign(self, at: Fraction) -> int:
        """Return the sign at a rational."""
        with ctx.workprec(2 * QUICK_BITS):
            near = self.ball(ball(at))
        if near > 0 or near < 0:
            return 1 if near > 0 else -1
        return _sign_of(self._values(at)[0], self.root)

    def sign_after(self, at: Fraction) -> int:
        """Return the sign just to the right of a rational: that of the first derivative which is not 0 there."""
        found = self.sign(at)
        if found or not self.parts:
            return found
        shifted = self.moved(at, None)
        return next(found for index in range(self.degree + 1) if (found := shifted.coefficient(index)))

    def coefficient(self, index: int) -> int:
        """Return the sign of a coefficient."""
        return _sign_of([(power, int(part[index])) for power, part in self.parts], self.root)

    def coefficient_at(self, index: int) -> Number:
        """Return a coefficient, an exact number."""
        return ratio(dense([(power, int(part[index])) for power, part in self.parts]), fmpz_poly([1]), self.root)

    def moved(self, low: Fraction, high: Fraction | None) -> Line:
        """Return a polynomial whose positive roots are the roots between two rationals (None: infinity)."""
        degree = self.degree
        if high is None:
            step = fmpz_poly([low.numerator, low.denominator])
            return Line(tuple((at, _scaled(p, low.denominator, degree)(step)) for at, p in self.parts), self.root)
        below = math.lcm(low.denominator, high.denominator)
        step = fmpz_poly([int(low * below), int((high - low) * below)])
        found = []
        for power, part in self.parts:
            inside = [int(c) for c in _scaled(part, below, degree)(step).coeffs()]
            inside += [0] * (degree + 1 - len(inside))
            found.append((power, fmpz_poly(inside[::-1])(_ONE_MORE)))
        return Line(tuple(found), self.root)

    def changes(self, low: Fraction, high: Fraction | None, most: int = 2) -> int:
        """Return how often signs change between two rationals, no further than `most`."""
        moved = self.moved(low, high)
        if len(moved.parts) == 1 and not moved.parts[0][0]:
            signs = [(c > 0) - (c < 0) for c in moved.parts[0][1].coeffs()]
        else:
            signs = [moved.coefficient(index) for index in range(self.degree + 1)]
        kept = [each for each in signs if each]
        return min(most, sum(one != other for one, other in pairwise(kept)))

    def ball(self, point: arb) -> arb:
        """Return a ball around the values on a ball, at the precision in force."""
        total = arb(0)
        for power, part in self.parts:
            total += part(point) * (arb(power) / self.root).exp()
        return total

    def isolated(self, low: Fraction, high: Fraction | None) -> list[tuple[Fraction, Fraction]]:
        """Return disjoint intervals around the roots between two rationals, which are simple; rational ones alone."""
        if high is None:
            width = Fraction(1)
            while self.changes(low + width, None, 1) or not self.sign(low + width):
                width *= 2
            high = low + width
        found: list[tuple[Fraction, Fraction]] = []
        stack = [(low, high)]
        while stack:
            start, end = stack.pop()
            number = self.changes(start, end)
            if number == 1:
                found.append((start, end))
            elif number:
                middle = (start + end) / 2
                if not self.sign(middle):
                    found.append((middle, middle))
                stack += [(start, middle), (middle, end)]
        return sorted(found)


def line_of(polynomial: Polynomial, root: int) -> Line:
    """Return a polynomial of the ring, without logarithms, as one in the unknown."""
    return _made(in_powers_of_e(raised(polynomial)), root)


def lines_of(*weights: Whole) -> tuple[Line, ...]:
    """Return weights as polynomials in the unknown, in a common root of e."""
    found, root = polynomials(*weights)
    return tuple(line_of(polynomial, root) for polynomial in found)


def parts_in_x(value: Number) -> tuple[Line, Line]:
    """Return numerator and denominator of a function of the unknown, of any sign, as polynomials in it."""
    if isinstance(value, Fraction):
        return line_of(fmpz_poly([value.numerator]), 1), line_of(fmpz_poly([value.denominator]), 1)
    above, below = (line_of(part, value.root) for part in value.polynomials)
    return above, below


def quotient(above: Line, below: Line) -> Number:
    """Return the function of the unknown that the quotient of two polynomials is."""
    (ours, theirs), root = _together(above, below)
    return ratio(ours.polynomial, theirs.polynomial, root)


def _made(parts: dict[int, fmpz_poly], root: int) -> Line:
    return Line(tuple(sorted((power, part) for power, part in parts.items() if part)), root)


def _together(one: Line, other: Line) -> tuple[tuple[Line, Line], int]:
    """Return two polynomials in a common root of e."""
    root = math.lcm(one.root, other.root)
    return (_lifted(one, root), _lifted(other, root)), root


def _lifted(line: Line, root: int) -> Line:
    by = root // line.root
    return line if by == 1 else Line(tuple((power * by, part) for power, part in line.parts), root)


def _scaled(part: fmpz_poly, by: int, degree: int) -> fmpz_poly:
    """Return by^degree·p(x/by)."""
    if by == 1:
        return part
    return fmpz_poly([int(c) * by ** (degree - at) for at, c in enumerate(part.coeffs())])


def _sign_of(terms: Sequence[tuple[int, int]], root: int) -> int:
    """Return the sign of a sum of integers times powers of e^(1/root)."""
    if all(not value for _, value in terms[1:]):
        value = terms[0][1] if terms else 0
        return (value > 0) - (value < 0)
    return sign(dense(terms), root)


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
        found = _sign_at(self.line, value)
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
            return _sign_at(line, self.value)
        for bits in precisions(_FIRST_BITS):
            low, high = self.enclosed(bits)
            if low == high:
                return line.sign(low)
            with ctx.workprec(2 * bits):
                found = line.ball(ball(low).union(ball(high)))
            if found > 0 or found < 0:
                return 1 if found > 0 else -1
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


def _sign_at(line: Line, value: Number) -> int:
    """Return the sign of a polynomial at an exact number. Always decided."""
    if isinstance(value, Fraction):
        return line.sign(value)
    for bits in precisions(QUICK_BITS, 4 * QUICK_BITS):
        with ctx.workprec(bits):
            near = line.ball(as_ball(value))
        if near > 0 or near < 0:
            return 1 if near > 0 else -1
    found = line.at(value)
    return (found > 0) - (found < 0)


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
