"""Polynomials in one unknown with coefficients in Z[e^(1/d)]: arithmetic, signs, Descartes' rule.

By that rule (Vincent; Collins and Akritas 1976) a polynomial has no more roots in an interval than a change of variable
gives it changes of sign, and exactly one where there is one change. Signs of coefficients are decided (`polynomials`),
so the rule holds with e^q in them too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

from flint import arb, ctx, fmpz, fmpz_mpoly, fmpz_poly

from tightdp.exact.enclosure import ball
from tightdp.exact.field import Number, ratio
from tightdp.exact.polynomials import RING, dense, in_powers_of_e, sign
from tightdp.limits.calibrated import QUICK_BITS

_ONE_MORE = fmpz_poly([1, 1])


@dataclass(frozen=True)
class Line:
    """A polynomial in the unknown: polynomials with integer coefficients by the power of T = e^(1/root)."""

    parts: tuple[tuple[int, fmpz_poly], ...]
    root: int = 1
    mixed: ClassVar[bool] = False
    """Whether the unknown stands in exponents of e besides (`mixed`)."""

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
            (x, e, 0, 0, 0): int(c) for e, part in self.parts for x, c in enumerate(part.coeffs()) if c
        }
        return RING.from_dict(terms)

    @cached_property
    def without_multiples(self) -> Line:
        """The polynomial with the same roots, each of them once."""
        polynomial = self.polynomial
        return plain_line(polynomial / polynomial.gcd(polynomial.derivative(0)), self.root)

    def shared(self, other: Line) -> Line:
        """Return the greatest common divisor."""
        if other.mixed:
            return other.shared(self)
        (ours, theirs), root = _together(self, other)
        return plain_line(ours.polynomial.gcd(theirs.polynomial), root)

    def __add__(self, other: Line) -> Line:
        if other.mixed:
            return other + self
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
        if other.mixed:
            return other * self
        (ours, theirs), root = _together(self, other)
        found: dict[int, fmpz_poly] = {}
        for power, part in ours.parts:
            for more, factor in theirs.parts:
                product = part * factor
                found[power + more] = found[power + more] + product if power + more in found else product
        return _made(found, root)

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


def plain_line(polynomial: fmpz_mpoly, root: int) -> Line:
    """Return a polynomial of the ring, without exponentials of the unknown, as one in the unknown."""
    return _made(in_powers_of_e(polynomial), root)


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
