"""Functions of one unknown x: polynomials in x, T = e^(1/root), and e^(x/root) or e^(1/(x·root)); their signs.

Without the unknown in exponents they are polynomials with coefficients in Z[e^(1/d)], for which Descartes' rule holds
(Vincent; Collins and Akritas 1976): one has no more roots in an interval than a change of variable gives it changes of
sign, and exactly one where there is one change. Signs of coefficients are decided (`polynomials`). With the unknown in
exponents, as in laws of noise whose scale is unknown, signs are found as those of waves (`waves`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from flint import arb, fmpz_mpoly, fmpz_poly

from tightdp.errors import ParameterError
from tightdp.exact.enclosure import balls, sign_of
from tightdp.exact.field import ExpNumber, Number, as_ball, exp, ratio
from tightdp.exact.polynomials import (
    RING,
    UNKNOWN,
    E,
    F,
    Polynomial,
    dense,
    exponentials,
    in_force,
    in_powers_of_e,
    lifted,
    raised,
    sign,
)
from tightdp.exact.waves import Wave
from tightdp.exact.whole import Whole, polynomials
from tightdp.limits.calibrated import QUICK_BITS

_MOST_BITS = 4_096
_ONE_MORE = fmpz_poly([1, 1])


@dataclass(frozen=True)
class Line:
    """A polynomial of the ring, without logarithms, as a function of the unknown."""

    polynomial: fmpz_mpoly = field(default_factory=lambda: RING.constant(0))
    root: int = 1

    @cached_property
    def mixed(self) -> bool:
        """Whether the unknown stands in exponents of e besides."""
        return bool(self.polynomial) and any(exponentials(self.polynomial))

    @cached_property
    def parts(self) -> list[tuple[int, fmpz_poly]]:
        """Polynomials in the unknown by the power of T, where it stands in no exponent."""
        return sorted(in_powers_of_e(self.polynomial).items())

    @cached_property
    def degree(self) -> int:
        """The degree in the unknown, -1 for 0; 1 where it stands in exponents: then the function is not constant."""
        return 1 if self.mixed else max((int(part.degree()) for _, part in self.parts), default=-1)

    @cached_property
    def key(self) -> Any:
        """The function as a plain value."""
        return tuple((int(c), (*map(int, powers), self.root)) for powers, c in self.polynomial.terms())

    @cached_property
    def without_multiples(self) -> Line:
        """The polynomial with the same roots, each of them once."""
        return Line(self.polynomial / self.polynomial.gcd(self.polynomial.derivative(0)), self.root)

    @cached_property
    def inverse(self) -> bool:
        """Whether exponents have 1/x."""
        in_e, in_f = exponentials(self.polynomial)
        if in_e and in_f:
            raise ParameterError("the unknown and its inverse stand in exponents", "let one of them stand there")
        return in_f > 0

    # arithmetic

    def _joined(self, other: Line, operation: Callable[[Any, Any], Any]) -> Line:
        (ours, theirs), root = together(self, other)
        return Line(operation(ours, theirs), root)

    def shared(self, other: Line) -> Line:
        """Return the greatest common divisor."""
        return self._joined(other, lambda ours, theirs: ours.gcd(theirs))

    def __add__(self, other: Line) -> Line:
        return self._joined(other, lambda ours, theirs: ours + theirs)

    def __neg__(self) -> Line:
        return Line(-self.polynomial, self.root)

    def __sub__(self, other: Line) -> Line:
        return self._joined(other, lambda ours, theirs: ours - theirs)

    def __mul__(self, other: Line) -> Line:
        return self._joined(other, lambda ours, theirs: ours * theirs)

    # values

    def at(self, point: Number | int) -> Number:
        """Return the value at an exact number, which is rational where the unknown stands in exponents.

        Raises ParameterError elsewhere.
        """
        found: Number = Fraction(0)
        if isinstance(point, (int, Fraction)):
            return self._with_exponents(Fraction(point)) if self.mixed else self._plainly(Fraction(point))
        if self.mixed:
            raise ParameterError(f"the unknown is {point}, in an exponent", "give a range with rational ends")
        for index in range(self.degree, -1, -1):
            found = found * point + self.coefficient_at(index)
        return found

    def _plainly(self, at: Fraction) -> Number:
        degree, above, below = max(0, self.degree), at.numerator, at.denominator
        values = [(power, int(_scaled(part, below, degree)(above))) for power, part in self.parts]
        return ratio(dense(values), fmpz_poly([below**degree]), self.root)

    def _with_exponents(self, x: Fraction) -> Number:
        if self.inverse and not x:
            raise ParameterError("the unknown is 0, and stands in a denominator", "give a range of positive values")
        by_exponent: dict[Fraction, Fraction] = {}
        for (power, t, _, e, f), c in self.polynomial.terms():
            q = (Fraction(int(t)) + int(e) * x + (Fraction(int(f)) / x if f else 0)) / self.root
            by_exponent[q] = by_exponent.get(q, Fraction(0)) + int(c) * x ** int(power)
        return sum((value * exp(q) for q, value in by_exponent.items()), start=Fraction(0))

    @cached_property
    def _by_powers(self) -> list[tuple[int, int, fmpz_poly]]:
        """Polynomials in the unknown, or in the exponential and a power of the unknown, by that and the power of T."""
        if not self.mixed:
            return [(0, t, part) for t, part in self.parts]
        lines: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for (power, t, _, e, f), c in self.polynomial.terms():
            lines.setdefault((int(power), int(t)), []).append((int(e) + int(f), int(c)))
        return [(power, t, dense(terms)) for (power, t), terms in lines.items()]

    def ball(self, point: arb) -> arb:
        """Return a ball around the values on a ball, at the precision in force."""
        inner = ((1 / point if self.inverse else point) / self.root).exp() if self.mixed else point
        total = arb(0)
        for power, t, line in self._by_powers:
            value = line(inner) * point**power if power else line(inner)
            total += value * (arb(t) / self.root).exp() if t else value
        return total

    # signs

    def sign(self, at: Number) -> int:
        """Return the sign at an exact number. Always decided. Raises ParameterError where `at` does."""
        most = _MOST_BITS if self.mixed else 4 * QUICK_BITS
        near = map(sign_of, balls(lambda: self.ball(as_ball(at)), 2 * QUICK_BITS, most))
        return next(filter(None, near), None) or sign_of(self.at(at))

    def sign_after(self, at: Fraction) -> int:
        """Return the sign just to the right of a rational: that of the first derivative which is not 0 there.

        Raises Undecided where the unknown stands in exponents.
        """
        if (found := self.sign(at)) or not self.polynomial:
            return found
        if self.mixed:
            return self._wave(*((Fraction(0), 1 / at) if self.inverse else (at, None))).ends[self.inverse].sign
        return next(found for each in self._moved(at, None) if (found := _sign_of(each, self.root)))

    def coefficient_at(self, index: int) -> Number:
        """Return a coefficient, an exact number."""
        terms = [(power, int(part[index])) for power, part in self.parts]
        return ratio(dense(terms), fmpz_poly([1]), self.root)

    # roots

    def _moved(self, low: Fraction, high: Fraction | None) -> list[list[tuple[int, int]]]:
        """Return the coefficients of a polynomial whose positive roots are those between two rationals."""
        degree, below = self.degree, math.lcm(low.denominator, 1 if high is None else high.denominator)
        step = fmpz_poly([int(low * below), below if high is None else int((high - low) * below)])
        found = []
        for power, part in self.parts:
            inside = _scaled(part, below, degree)(step)
            if high is not None:
                coefficients = [int(c) for c in inside.coeffs()]
                coefficients += [0] * (degree + 1 - len(coefficients))
                inside = fmpz_poly(coefficients[::-1])(_ONE_MORE)
            found.append((power, inside))
        return [[(power, int(part[index])) for power, part in found] for index in range(degree + 1)]

    def changes(self, low: Fraction, high: Fraction | None, most: int = 2) -> int:
        """Return how often signs change between two rationals (None: infinity), no further than `most`."""
        signs = [_sign_of(each, self.root) for each in self._moved(low, high)]
        kept = [each for each in signs if each]
        return min(most, sum(one != other for one, other in pairwise(kept)))

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

    def _wave(self, low: Fraction, high: Fraction | None) -> Wave:
        """Return the function as a wave between two values of x, or of 1/x where exponents have that."""
        most = max(int(powers[0]) for powers, _ in self.polynomial.terms())
        terms: dict[tuple[Fraction, int], Number] = {}
        for (power, t, _, e, f), c in self.polynomial.terms():
            key = Fraction(int(e) + int(f), self.root), most - int(power) if self.inverse else int(power)
            terms[key] = terms.get(key, Fraction(0)) + int(c) * exp(Fraction(int(t), self.root))
        return Wave({key: c for key, c in terms.items() if c}, low, high, lambda: None)

    @cached_property
    def _keeps_its_sign(self) -> bool:
        """Whether the function is seen to be positive, or negative, for all positive values of the unknown.

        With y for x/root, or 1/(x·root), (D - rate) is applied once for each term, the slowest rate first. Where what
        stays each time has a value of the same sign, or 0, at y = 0, all of it has that sign for y > 0: it is
        e^(rate·y) times a function with such a slope.
        """
        most = max(int(powers[0]) for powers, _ in self.polynomial.terms())
        by_rate: dict[int, dict[int, int]] = {}
        for (power, t, _, e, f), c in self.polynomial.terms():
            if t:
                return False
            degree = most - int(power) if self.inverse else int(power)
            by_rate.setdefault(int(e) + int(f), {})[degree] = int(c) * self.root**degree
        left = [(rate, [line.get(k, 0) for k in range(max(line) + 1)]) for rate, line in sorted(by_rate.items())]
        signs = set()
        while left:
            signs.add(sign_of(sum(line[0] for _, line in left)))
            slowest = left[0][0]
            left = [(rate, _slope(line, rate - slowest)) for rate, line in left]
            left = left[not left[0][1] :]
        return len(signs - {0}) == 1

    def crossings(self, low: Fraction, high: Fraction | None) -> list[tuple[Fraction, Fraction]]:
        """Return intervals, each around one simple root, for all between two values of at least 0; exact ones alone.

        Of a function with the unknown in exponents. Raises Undecided, and ParameterError for values below 0.
        """
        if low < 0:
            raise ParameterError("the unknown stands in exponents, and is negative", "give a range of positive values")
        if self._keeps_its_sign:
            return []
        if not self.inverse:
            return self._wave(low, high).crossings()
        found = self._wave(Fraction(0) if high is None else 1 / high, 1 / low if low else None).crossings()
        return [(1 / last, 1 / first) for first, last in reversed(found)]


def line_of(polynomial: Polynomial, root: int) -> Line:
    """Return a polynomial as a function of the unknown. Raises InsideAndOutside where it has the logarithm of X too."""
    found = Line(raised(polynomial), root)
    if not found.mixed:
        _ = found.parts  # which raises it
    return found


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


def near_sample(value: Number) -> float:
    """Return a double near a number: near its value at the sample of the cell in force, where it has an unknown."""
    if not isinstance(value, ExpNumber) or not value.unknown:
        return float(value)
    above, below = (line.at(in_force().sample) for line in parts_in_x(value))
    return float(above / below)


def together(one: Line, other: Line) -> tuple[tuple[fmpz_mpoly, fmpz_mpoly], int]:
    """Return two functions as polynomials of the ring in a common root of e."""
    root = math.lcm(one.root, other.root)
    ours, theirs = (lifted(each.polynomial, root // each.root) for each in (one, other))
    return (ours, theirs), root


def quotient(above: Line, below: Line) -> Number:
    """Return the function of the unknown that the quotient of two polynomials is."""
    (ours, theirs), root = together(above, below)
    return ratio(ours, theirs, root)


def slope_of(above: Line, below: Line) -> Line:
    """Return a function with the sign that the derivative of a quotient has, for positive values of the unknown."""
    (ours, theirs), root = together(above, below)

    def derived(part: fmpz_mpoly) -> fmpz_mpoly:
        inside = part.derivative(3) * E * UNKNOWN**2 - part.derivative(4) * F
        return part.derivative(0) * UNKNOWN**2 * root + inside

    return line_of(derived(ours) * theirs - ours * derived(theirs), root)


def _slope(line: Sequence[int], rate: int) -> list[int]:
    """Return the coefficients of the derivative of a polynomial times e^(rate·x), divided by that exponential."""
    slopes = [rate * c + k * after for k, (c, after) in enumerate(zip(line, (*line[1:], 0), strict=True), 1)]
    return slopes if rate else slopes[:-1]


def _scaled(part: fmpz_poly, by: int, degree: int) -> fmpz_poly:
    """Return by^degree·p(x/by)."""
    if by == 1:
        return part
    return fmpz_poly([int(c) * by ** (degree - at) for at, c in enumerate(part.coeffs())])


def _sign_of(terms: Sequence[tuple[int, int]], root: int) -> int:
    """Return the sign of a sum of integers times powers of e^(1/root)."""
    if all(not value for _, value in terms[1:]):
        return sign_of(terms[0][1] if terms else 0)
    return sign(dense(terms), root)
