"""Numbers with e^q: the field Q(T), T = e^(1/d), with exact equality and decided comparisons.

An element is a ratio of two integer polynomials in T. T is transcendental (Hermite; Lindemann 1882), so a number is 0
exactly when its numerator is the zero polynomial, and two reduced ratios are the same number exactly when they are the
same polynomials. The sign of any other number is found by a ball that is refined until it excludes 0, which ends.

`exp(q)` makes such numbers; `ExpNumber` behaves like a `Fraction`, and every operation whose result is rational returns
a `Fraction`. The signs of polynomials are in `evaluation`. With an unknown (`generators`) numbers are rational
functions of it, under the same operations; they have no value, and comparisons are decided at the place in force.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, Union

from flint import arb, ctx, fmpz_poly

from tightdp.errors import ParameterError
from tightdp.exact.enclosure import Enclosure, enclosures
from tightdp.exact.notation import FOR_SYMPY, Style, sympy_of, written
from tightdp.exact.polynomials import (
    UNKNOWN,
    Key,
    Polynomial,
    alike,
    at_root,
    common_step,
    constant,
    deflated,
    exponent_of,
    exponent_parts,
    exponential,
    from_key,
    has_unknown,
    in_force,
    key,
    leading,
    lifted,
    lowered,
    mark,
    monomial,
    power_of_root,
    power_of_unknown,
    product_of_ratios,
    raised,
    sign,
    sum_of_ratios,
    without_common,
)  # fmt: skip
from tightdp.exact.whole import Ordered, Whole, whole
from tightdp.limits.calibrated import MAX_DEGREE, MAX_EXPONENT, QUICK_BITS

if TYPE_CHECKING:
    import sympy


Number: TypeAlias = Union[Fraction, "ExpNumber"]
"""An exact finite number: rational, or with e^q."""

R = TypeVar("R")
_ONE = fmpz_poly([1])


class ExpNumber(Ordered):
    """An irrational element of Q(e^(1/d)), immutable, reduced: equal numbers have equal parts.

    It is made by `exp` and arithmetic, never by hand. It mixes with int and Fraction, and is compared with infinity;
    arithmetic with floats is refused, as their values are seldom what was meant.
    """

    __slots__ = ("_above", "_below", "_hash", "_quick", "_ratio", "root")

    _above: Polynomial
    _below: Polynomial
    root: int

    def __init__(self, above: Polynomial, below: Polynomial, root: int) -> None:
        """Take a reduced ratio of polynomials in e^(1/root); use `ratio` for one that may not be."""
        self._above, self._below, self.root = above, below, root
        self._quick: arb | None = None
        self._hash: int | None = None
        self._ratio: tuple[Whole, Whole] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (*self.parts, self.root)

    # what it is

    @property
    def numerator(self) -> Whole:
        """The numerator as a weight; the denominator is positive."""
        return self.as_integer_ratio()[0]

    @property
    def denominator(self) -> Whole:
        """The denominator as a weight: positive."""
        return self.as_integer_ratio()[1]

    def as_integer_ratio(self) -> tuple[Whole, Whole]:
        """Return numerator and denominator, which is positive, as weights."""
        if self._ratio is not None:
            return self._ratio
        above, below = self._above, self._below
        if constant(below) is None and sign(below, self.root) < 0:
            above, below = -above, -below
        found = whole(above, self.root), whole(below, self.root)
        if not self.unknown:  # there the sign is that at the place in force
            self._ratio = found
        return found

    @property
    def parts(self) -> tuple[Key, Key]:
        """Numerator and denominator as plain values: the coefficients, the constant term first (or see `Key`)."""
        return key(self._above), key(self._below)

    @property
    def polynomials(self) -> tuple[Polynomial, Polynomial]:
        """Numerator and denominator as polynomials; the denominator may be negative."""
        return self._above, self._below

    @property
    def unknown(self) -> bool:
        """Whether it is a function of the unknown."""
        return has_unknown(self._above) or has_unknown(self._below)

    @property
    def logarithm(self) -> Number | None:
        """q where the number is e^q, which may have the unknown in it; None elsewhere."""
        if self.unknown:
            powers = exponent_of(self._above, self._below)
            if powers is None:
                return None
            t, e, f = powers
            return ratio(t * UNKNOWN + e * UNKNOWN**2 + f, self.root * UNKNOWN)
        return self.exponent

    @property
    def exponent(self) -> Fraction | None:
        """q where the number is e^q, None elsewhere."""
        single = self.single
        return single[1] if single is not None and single[0] == 1 else None

    @property
    def single(self) -> tuple[Fraction, Fraction] | None:
        """(c, q) where the number is c e^q with rational c and q, None elsewhere."""
        above, below = monomial(self._above), monomial(self._below)
        if above is None or below is None:
            return None
        return Fraction(above[0], below[0]), Fraction(above[1] - below[1], self.root)

    def ball(self) -> arb:
        """Return a ball around the number, at the precision in force."""
        return at_root(self._above, self.root) / at_root(self._below, self.root)

    def enclosure(self, digits: int = 20) -> Enclosure:
        """Return rationals around the number that agree to at least so many significant digits."""
        self._refuse_unknown("enclosed")
        unit = Fraction(1, 10**digits)
        closer = enclosures(self.ball, max(QUICK_BITS, 4 * digits))
        return next(each for each in closer if each.upper - each.lower <= unit * min(map(abs, each)))

    def _rounded(self, rounding: Callable[[Fraction], R]) -> R:
        """Return what both ends of an enclosure are rounded to, once they agree."""
        self._refuse_unknown("rounded")
        return next(low for each in enclosures(self.ball) if (low := rounding(each.lower)) == rounding(each.upper))

    def __float__(self) -> float:
        """Return the nearest float."""
        return self._rounded(float)

    def __str__(self) -> str:
        """Write the number as SymPy parses it: (1 + 2*exp(1))/(2 + exp(1))."""
        return self.written(FOR_SYMPY)

    def written(self, style: Style) -> str:
        """Write the number for SymPy or for people."""
        return written(self._above, self._below, self.root, self.single, style)

    def __repr__(self) -> str:
        return f"<{self}>"

    def to_sympy(self) -> sympy.Expr:
        """Return the number as a SymPy expression."""
        return sympy_of(self._above, self._below, self.root)

    _sympy_ = to_sympy  # what SymPy asks of an object that it meets

    def __bool__(self) -> bool:
        return not self.unknown or bool(sign(self._above, self.root))

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((mark(self._above), mark(self._below), self.root))
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ExpNumber) and self.root == other.root:
            if self._above == other._above and self._below == other._below:
                return True
        elif not isinstance(other, (int, Fraction, float, ExpNumber)):
            return NotImplemented
        # Every element of the field that is rational is a Fraction; functions of the unknown may meet at a point.
        return self._compare(other) == 0 if self.unknown or getattr(other, "unknown", False) else False

    def _compare(self, other: Any) -> int | None:
        """Return the sign of the difference; None where the other is no number."""
        if isinstance(other, float):
            if math.isinf(other) or math.isnan(other):
                return None if math.isnan(other) else (-1 if other > 0 else 1)
            other = Fraction(other)
        parts = _parts(other)
        if parts is None:
            return None
        with ctx.workprec(QUICK_BITS):
            ours = self._quickly()
            theirs = other._quickly() if isinstance(other, ExpNumber) else as_ball(other)
            if ours < theirs:
                return -1
            if ours > theirs:
                return 1
        above, below, root = parts
        a, b, c, d, common = _together(self._above, self._below, self.root, above, below, root)
        return sign(a * d - c * b, common) * sign(b, common) * sign(d, common)

    def _quickly(self) -> arb:
        if self._quick is None:
            with ctx.workprec(QUICK_BITS):
                self._quick = self.ball()
        return self._quick

    def _refuse_unknown(self, how: str) -> None:
        if self.unknown:
            raise TypeError(f"{self} has an unknown in it and cannot be {how}: compare it instead, or give it a value")

    # arithmetic

    def _combined(self, other: Any, parts_of: Callable[..., tuple[Polynomial, Polynomial]]) -> Number:
        """Return the ratio of what `parts_of` makes of both numerators and denominators."""
        parts = _parts(other)
        if parts is None:
            return NotImplemented  # type: ignore[no-any-return]
        *polynomials, root = _together(self._above, self._below, self.root, *parts)
        return _normal(*parts_of(*polynomials), root)

    def __add__(self, other: Any) -> Number:
        return self._combined(other, sum_of_ratios)

    def __sub__(self, other: Any) -> Number:
        return self._combined(other, lambda a, b, c, d: sum_of_ratios(a, b, -c, d))

    def __mul__(self, other: Any) -> Number:
        if isinstance(other, (int, Fraction)) and other == 1:
            return self
        return self._combined(other, product_of_ratios)

    def __truediv__(self, other: Any) -> Number:
        return self._combined(other, lambda a, b, c, d: product_of_ratios(a, b, d, c))

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: Any) -> Number:
        return (-self).__add__(other)

    def __rtruediv__(self, other: Any) -> Number:
        return NotImplemented if _parts(other) is None else ratio(self._below, self._above, self.root) * Fraction(other)

    def __neg__(self) -> ExpNumber:
        return ExpNumber(-self._above, self._below, self.root)

    def __pos__(self) -> ExpNumber:
        return self

    def __abs__(self) -> ExpNumber:
        return -self if self < 0 else self

    def __pow__(self, power: Any) -> Number:
        if isinstance(power, Fraction) and power.denominator == 1:
            power = power.numerator
        if isinstance(power, Fraction):
            exponent = self.logarithm
            if exponent is None:
                raise ParameterError(f"{self} to the power {power} is no number with e^q", "give a whole power")
            return exp(exponent * power)
        if not isinstance(power, int):
            return NotImplemented
        above, below = (self._above, self._below) if power >= 0 else (self._below, self._above)
        if max(map(len, (above, below))) * abs(power) > MAX_DEGREE:
            raise ParameterError(f"the power {power} is out of reach", f"keep powers of e^(1/d) below {MAX_DEGREE:,}")
        return ratio(above ** abs(power), below ** abs(power), self.root)

    def __floor__(self) -> int:
        return self._rounded(math.floor)

    def __ceil__(self) -> int:
        return self.__floor__() + 1

    def __trunc__(self) -> int:
        return self.__floor__() if self > 0 else self.__ceil__()

    def __int__(self) -> int:
        return self.__trunc__()


def exp(exponent: Any) -> Number:
    """Return e^exponent for an int or a Fraction: a number of the field, and 1 for the exponent 0.

    Raises ParameterError where the exponent is not rational, or beyond MAX_EXPONENT, or its denominator is too long.
    """
    if isinstance(exponent, ExpNumber):
        if exponent.unknown and in_force().unknown.mixed:
            parts = exponent_parts(exponent._above, exponent._below)
            root = math.lcm(*(part.denominator for part in parts))
            return ratio(*exponential(*(int(part * root) for part in parts)), root)
        if exponent.unknown:
            times, rest = power_of_unknown(exponent._above, exponent._below)
            found = ExpNumber(UNKNOWN ** abs(times), raised(_ONE), 1)
            return (found if times > 0 else 1 / found) * exp(rest)
        raise ParameterError(f"exp of {exponent} is no number with e^q", "give exp a rational exponent")
    if not isinstance(exponent, (int, Fraction)):
        raise ParameterError(f"exp of {exponent!r}", "give exp an int or a Fraction")
    above, below = abs(exponent.numerator), exponent.denominator
    if above > MAX_EXPONENT * below:
        raise ParameterError(
            f"e^{float(exponent):g} is out of reach",
            f"give an exponent between -{MAX_EXPONENT} and {MAX_EXPONENT}",
        )
    if not above:
        return Fraction(1)
    power = power_of_root(above)
    return ExpNumber(power, _ONE, below) if exponent > 0 else ExpNumber(_ONE, power, below)


# numbers as ratios of polynomials in T = e^(1/root)


def ratio(above: Polynomial, below: Polynomial, root: int = 1) -> Number:
    """Return the number above / below, two integer polynomials in e^(1/root), reduced; a Fraction where it is rational.

    Raises ZeroDivisionError where `below` is the zero polynomial.
    """
    return _normal(*without_common(above, below), root)


def _normal(above: Polynomial, below: Polynomial, root: int) -> Number:
    """Return a ratio of polynomials that have nothing in common as a number."""
    if not below:
        raise ZeroDivisionError("division by 0")
    if not above:
        return Fraction(0)
    if leading(below) < 0:
        above, below = -above, -below
    if has_unknown(above) or has_unknown(below):
        above, below = alike(lowered(above), lowered(below))
    up, down = constant(above), constant(below)
    if up is not None and down is not None:
        return Fraction(up, down)
    if root > 1:
        step = common_step(below, common_step(above, root))
        if step > 1:
            above, below, root = deflated(above, step), deflated(below, step), root // step
    return ExpNumber(above, below, root)


def _restored(above: Key, below: Key, root: int) -> ExpNumber:
    return ExpNumber(from_key(above), from_key(below), root)


def _parts(value: Any) -> tuple[Polynomial, Polynomial, int] | None:
    """Return numerator, denominator and root of a number, None for anything else."""
    if isinstance(value, ExpNumber):
        return value._above, value._below, value.root
    if isinstance(value, (int, Fraction)):
        return fmpz_poly([value.numerator]), fmpz_poly([value.denominator]), 1
    return None


def _together(
    a: Polynomial, b: Polynomial, root: int, c: Polynomial, d: Polynomial, other: int
) -> tuple[Polynomial, Polynomial, Polynomial, Polynomial, int]:
    """Write two ratios in a common root of e."""
    if root != other:
        common = math.lcm(root, other)
        ours, theirs = common // root, common // other
        a, b, c, d, root = lifted(a, ours), lifted(b, ours), lifted(c, theirs), lifted(d, theirs), common
    return (*alike(a, b, c, d), root)


def as_ball(value: Number | int) -> arb:
    """Return a ball around an exact number, at the precision in force."""
    return arb(value.numerator) / arb(value.denominator) if isinstance(value, (int, Fraction)) else value.ball()
