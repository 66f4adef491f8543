"""Functions with an unknown x inside and outside of exponents: polynomials in x and e^(x/root), or e^(1/(x·root)).

They are what laws of noise are whose scale is unknown. Their signs are found as those of waves (`waves`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from flint import arb, ctx, fmpz_mpoly, fmpz_poly

from tightdp.errors import ParameterError
from tightdp.exact.enclosure import ball, precisions
from tightdp.exact.field import ExpNumber, Number, exp, ratio
from tightdp.exact.lines import Line, plain_line
from tightdp.exact.polynomials import UNKNOWN, E, F, Polynomial, exponentials, in_force, lifted, raised
from tightdp.exact.waves import Wave
from tightdp.exact.whole import Whole, polynomials
from tightdp.limits.calibrated import QUICK_BITS

_MOST_BITS = 4_096


@dataclass(frozen=True)
class MixedLine(Line):
    """A polynomial in the unknown x, T = e^(1/root), and e^(x/root) or e^(1/(x·root))."""

    whole: fmpz_mpoly = field(default_factory=lambda: raised(fmpz_poly([0])))
    mixed: ClassVar[bool] = True

    @cached_property
    def degree(self) -> int:
        """1: it is not constant."""
        return 1

    @cached_property
    def key(self) -> Any:
        """The function as a plain value."""
        return tuple((int(c), (*map(int, powers), self.root)) for powers, c in self.whole.terms())

    @property
    def polynomial(self) -> fmpz_mpoly:
        """The polynomial in the ring."""
        return self.whole

    @cached_property
    def without_multiples(self) -> Line:
        """The function itself."""
        return self

    @cached_property
    def inverse(self) -> bool:
        """Whether exponents have 1/x."""
        in_e, in_f = exponentials(self.whole)
        if in_e and in_f:
            raise ParameterError("the unknown and its inverse stand in exponents", "let one of them stand there")
        return in_f > 0

    def _joined(self, other: Line, operation: Callable[[Any, Any], Any]) -> Line:
        (ours, theirs), root = together(self, other)
        return line_of(operation(ours, theirs), root)

    def shared(self, other: Line) -> Line:
        """Return the greatest common divisor."""
        return self._joined(other, lambda ours, theirs: ours.gcd(theirs))

    def __add__(self, other: Line) -> Line:
        return self._joined(other, lambda ours, theirs: ours + theirs)

    def __neg__(self) -> Line:
        return MixedLine((), self.root, -self.whole)

    def __sub__(self, other: Line) -> Line:
        return self._joined(other, lambda ours, theirs: ours - theirs)

    def __mul__(self, other: Line) -> Line:
        return self._joined(other, lambda ours, theirs: ours * theirs)

    def at(self, point: Number | int) -> Number:
        """Return the value at a rational. Raises ParameterError elsewhere."""
        if not isinstance(point, (int, Fraction)):
            raise ParameterError(f"the unknown is {point}, in an exponent", "give a range with rational ends")
        x = Fraction(point)
        if self.inverse and not x:
            raise ParameterError("the unknown is 0, and stands in a denominator", "give a range of positive values")
        by_exponent: dict[Fraction, Fraction] = {}
        for (power, t, _, e, f), c in self.whole.terms():
            q = (Fraction(int(t)) + int(e) * x + (Fraction(int(f)) / x if f else 0)) / self.root
            by_exponent[q] = by_exponent.get(q, Fraction(0)) + int(c) * x ** int(power)
        found: Number = Fraction(0)
        for q, value in by_exponent.items():
            found = found + value * exp(q)
        return found

    def sign(self, at: Fraction) -> int:
        """Return the sign at a rational. Always decided."""
        for bits in precisions(QUICK_BITS, _MOST_BITS):
            with ctx.workprec(bits):
                near = self.ball(ball(at))
            if near > 0 or near < 0:
                return 1 if near > 0 else -1
        found = self.at(at)
        return (found > 0) - (found < 0)

    def sign_after(self, at: Fraction) -> int:
        """Return the sign just to the right of a rational. Raises Undecided."""
        if found := self.sign(at):
            return found
        wave = self._wave(*((Fraction(0), 1 / at) if self.inverse else (at, None)))
        return wave.ends[1].sign if self.inverse else wave.ends[0].sign

    @cached_property
    def _by_powers(self) -> list[tuple[int, int, fmpz_poly]]:
        """Polynomials in the exponential by the powers of x and of T."""
        lines: dict[tuple[int, int], dict[int, int]] = {}
        for (power, t, _, e, f), c in self.whole.terms():
            lines.setdefault((int(power), int(t)), {})[int(e) + int(f)] = int(c)
        found = []
        for (power, t), line in lines.items():
            coefficients = [line.get(k, 0) for k in range(max(line) + 1)]
            found.append((power, t, fmpz_poly(coefficients)))
        return found

    def ball(self, point: arb) -> arb:
        """Return a ball around the values on a ball, at the precision in force."""
        exponential = ((1 / point if self.inverse else point) / self.root).exp()
        total = arb(0)
        for power, t, line in self._by_powers:
            value = line(exponential) * point**power
            total += value * (arb(t) / self.root).exp() if t else value
        return total

    def _wave(self, low: Fraction, high: Fraction | None) -> Wave:
        """Return the function as a wave between two values of x, or of 1/x where exponents have that."""
        most = max(int(powers[0]) for powers, _ in self.whole.terms())
        terms: dict[tuple[Fraction, int], Number] = {}
        for (power, t, _, e, f), c in self.whole.terms():
            key = Fraction(int(e) + int(f), self.root), most - int(power) if self.inverse else int(power)
            terms[key] = terms.get(key, Fraction(0)) + int(c) * exp(Fraction(int(t), self.root))
        return Wave({key: c for key, c in terms.items() if c}, low, high, lambda: None)

    def crossings(self, low: Fraction, high: Fraction | None) -> list[tuple[Fraction, Fraction]]:
        """Return intervals, each around one simple root, for all between two values of at least 0; exact ones alone.

        Raises Undecided, and ParameterError for values below 0.
        """
        if low < 0:
            raise ParameterError("the unknown stands in exponents, and is negative", "give a range of positive values")
        if not self.inverse:
            return self._wave(low, high).crossings()
        found = self._wave(Fraction(0) if high is None else 1 / high, 1 / low if low else None).crossings()
        return [(1 / last, 1 / first) for first, last in reversed(found)]


def line_of(polynomial: Polynomial, root: int) -> Line:
    """Return a polynomial of the ring, without logarithms, as a function of the unknown."""
    whole = raised(polynomial)
    if not whole or not any(exponentials(whole)):
        return plain_line(whole, root)
    return MixedLine((), root, whole)


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
