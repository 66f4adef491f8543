"""Numbers with e^q: the field Q(T), T = e^(1/d), with exact equality and decided comparisons.

An element is a ratio of two integer polynomials in T. T is transcendental (Hermite; Lindemann 1882), so a number is 0
exactly when its numerator is the zero polynomial, and two reduced ratios are the same number exactly when they are the
same polynomials. The sign of any other number is found by a ball that is refined until it excludes 0, which ends.

`exp(q)` makes such numbers; `ExpNumber` behaves like a `Fraction`, and every operation whose result is rational returns
a `Fraction`. For sums and products of many numbers there are `scaled`, which writes them as integer polynomials over
one denominator, and `ratio`, which comes back from there; nothing is reduced in between. The signs of such polynomials
are in `evaluation`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from flint import arb, ctx, fmpz_poly

from tightdp.errors import ParameterError
from tightdp.exact.enclosure import MAX_EXPONENT, Enclosure, ends, precisions
from tightdp.exact.evaluation import MAX_DEGREE, at_root, common_step, lifted, monomial, power_of_root, sign
from tightdp.exact.whole import ExpInteger, Whole

if TYPE_CHECKING:
    import sympy

__all__ = ["ExpNumber", "Number", "Scaled", "as_ball", "exp", "ratio", "scaled"]

Number: TypeAlias = Union[Fraction, "ExpNumber"]
"""An exact finite number: rational, or with e^q."""

_QUICK_BITS = 64
_ONE = fmpz_poly([1])


class ExpNumber:
    """An irrational element of Q(e^(1/d)), immutable, reduced: equal numbers have equal parts.

    It is made by `exp` and arithmetic, never by hand. It mixes with int and Fraction, and is compared with infinity;
    arithmetic with floats is refused, as their values are seldom what was meant.
    """

    __slots__ = ("_above", "_below", "_hash", "_quick", "root")

    _above: fmpz_poly
    _below: fmpz_poly
    root: int

    def __init__(self, above: fmpz_poly, below: fmpz_poly, root: int) -> None:
        """Take a reduced ratio of polynomials in e^(1/root); use `ratio` for one that may not be."""
        self._above, self._below, self.root = above, below, root
        self._quick: arb | None = None
        self._hash: int | None = None

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
        above, below = self._above, self._below
        if below.degree() and sign(below, self.root) < 0:
            above, below = -above, -below
        return (
            ExpInteger(above, self.root) if above.degree() else int(above[0]),
            ExpInteger(below, self.root) if below.degree() else int(below[0]),
        )

    @property
    def parts(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The coefficients of numerator and denominator as polynomials in e^(1/root), constant term first."""
        return tuple(map(int, self._above.coeffs())), tuple(map(int, self._below.coeffs()))

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
        unit = Fraction(1, 10**digits)
        for bits in precisions(max(_QUICK_BITS, 4 * digits)):
            with ctx.workprec(bits):
                found = ends(self.ball())
            if found is not None and found.upper - found.lower <= unit * min(abs(found.lower), abs(found.upper)):
                return found
        raise AssertionError("unreachable")

    def __float__(self) -> float:
        """Return the nearest float."""
        for bits in precisions():
            with ctx.workprec(bits):
                found = ends(self.ball())
            if found is not None and float(found.lower) == float(found.upper):
                return float(found.lower)
        raise AssertionError("unreachable")

    def __str__(self) -> str:
        """Write the number as SymPy parses it: (1 + 2*exp(1))/(2 + exp(1))."""
        from tightdp.exact.expressions import text

        return text(self)

    def __repr__(self) -> str:
        return f"<{self}>"

    def to_sympy(self) -> sympy.Expr:
        """Return the number as a SymPy expression."""
        from tightdp.exact.expressions import to_sympy

        return to_sympy(self)

    _sympy_ = to_sympy  # what SymPy asks of an object that it meets

    def __bool__(self) -> bool:
        return True

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self.parts, self.root))
        return self._hash

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ExpNumber):
            return self.root == other.root and self._above == other._above and self._below == other._below
        # Every element of the field that is rational is a Fraction.
        return False if isinstance(other, (int, Fraction, float)) else NotImplemented

    def __lt__(self, other: Any) -> bool:
        found = self._compare(other)
        return NotImplemented if found is None else found < 0

    def __le__(self, other: Any) -> bool:
        found = self._compare(other)
        return NotImplemented if found is None else found <= 0

    def __gt__(self, other: Any) -> bool:
        found = self._compare(other)
        return NotImplemented if found is None else found > 0

    def __ge__(self, other: Any) -> bool:
        found = self._compare(other)
        return NotImplemented if found is None else found >= 0

    def _compare(self, other: Any) -> int | None:
        """Return the sign of the difference; None where the other is no number."""
        if isinstance(other, float):
            if math.isinf(other) or math.isnan(other):
                return None if math.isnan(other) else (-1 if other > 0 else 1)
            other = Fraction(other)
        parts = _parts(other)
        if parts is None:
            return None
        with ctx.workprec(_QUICK_BITS):
            ours = self._quickly()
            theirs = other._quickly() if isinstance(other, ExpNumber) else _as_ball(parts)
            if ours < theirs:
                return -1
            if ours > theirs:
                return 1
        above, below, root = parts
        a, b, c, d, common = _together(self._above, self._below, self.root, above, below, root)
        return sign(a * d - c * b, common) * sign(b, common) * sign(d, common)

    def _quickly(self) -> arb:
        if self._quick is None:
            with ctx.workprec(_QUICK_BITS):
                self._quick = self.ball()
        return self._quick

    # arithmetic

    def __add__(self, other: Any) -> Number:
        parts = _parts(other)
        if parts is None:
            return NotImplemented
        a, b, c, d, root = _together(self._above, self._below, self.root, *parts)
        return ratio(a + c, b, root) if b == d else ratio(a * d + c * b, b * d, root)

    def __sub__(self, other: Any) -> Number:
        parts = _parts(other)
        if parts is None:
            return NotImplemented
        a, b, c, d, root = _together(self._above, self._below, self.root, *parts)
        return ratio(a - c, b, root) if b == d else ratio(a * d - c * b, b * d, root)

    def __mul__(self, other: Any) -> Number:
        parts = _parts(other)
        if parts is None:
            return NotImplemented
        a, b, c, d, root = _together(self._above, self._below, self.root, *parts)
        return ratio(a * c, b * d, root)

    def __truediv__(self, other: Any) -> Number:
        parts = _parts(other)
        if parts is None:
            return NotImplemented
        a, b, c, d, root = _together(self._above, self._below, self.root, *parts)
        return ratio(a * d, b * c, root)

    def __radd__(self, other: Any) -> Number:
        return self.__add__(other)

    def __rmul__(self, other: Any) -> Number:
        return self.__mul__(other)

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
            exponent = self.exponent
            if exponent is None:
                raise ParameterError(f"{self} to the power {power} is no number with e^q", "give a whole power")
            return exp(exponent * power)
        if not isinstance(power, int):
            return NotImplemented
        above, below = (self._above, self._below) if power >= 0 else (self._below, self._above)
        degree = max(above.degree(), below.degree()) * abs(power)
        if degree > MAX_DEGREE:
            raise ParameterError(f"the power {power} is out of reach", f"keep powers of e^(1/d) below {MAX_DEGREE:,}")
        return ratio(above ** abs(power), below ** abs(power), self.root)

    def __floor__(self) -> int:
        for bits in precisions():
            with ctx.workprec(bits):
                found = ends(self.ball())
            if found is not None and math.floor(found.lower) == math.floor(found.upper):
                return math.floor(found.lower)
        raise AssertionError("unreachable")

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


def ratio(above: fmpz_poly, below: fmpz_poly, root: int = 1) -> Number:
    """Return the number above / below, two integer polynomials in e^(1/root), reduced; a Fraction where it is rational.

    Raises ZeroDivisionError where `below` is the zero polynomial.
    """
    if not below:
        raise ZeroDivisionError("division by 0")
    if not above:
        return Fraction(0)
    shared = above.gcd(below)
    if not shared.is_one():
        above, below = above // shared, below // shared
    if below[below.degree()] < 0:
        above, below = -above, -below
    if not above.degree() and not below.degree():
        return Fraction(int(above[0]), int(below[0]))
    if root > 1:
        step = common_step(below, common_step(above, root))
        if step > 1:
            above, below, root = above.deflate(step), below.deflate(step), root // step
    return ExpNumber(above, below, root)


@dataclass(frozen=True)
class Scaled:
    """Numbers as integer polynomials in e^(1/root), over one denominator that is positive."""

    weights: tuple[fmpz_poly, ...]
    denominator: fmpz_poly
    root: int

    def numbers(self) -> tuple[Number, ...]:
        """Return the numbers again."""
        return tuple(ratio(weight, self.denominator, self.root) for weight in self.weights)


def scaled(values: Iterable[int | Number]) -> Scaled:
    """Write numbers as integer polynomials over the least common denominator, in the least common root of e.

    With them sums and products of many numbers cost as much as those of polynomials: nothing is reduced on the way.
    """
    listed = [_parts_of(value) for value in values]
    root = math.lcm(*(each for _, _, each in listed))
    raised = [(lifted(above, root // each), lifted(below, root // each)) for above, below, each in listed]
    denominator = _ONE
    for _, below in raised:
        if below != denominator:
            denominator = denominator * (below // denominator.gcd(below))
    if sign(denominator, root) < 0:
        denominator = -denominator
    weights = tuple(above * (denominator // below) for above, below in raised)
    return Scaled(weights, denominator, root)


def _restored(above: tuple[int, ...], below: tuple[int, ...], root: int) -> ExpNumber:
    return ExpNumber(fmpz_poly(list(above)), fmpz_poly(list(below)), root)


def _parts(value: Any) -> tuple[fmpz_poly, fmpz_poly, int] | None:
    """Return numerator, denominator and root of a number, None for anything else."""
    if isinstance(value, ExpNumber):
        return value._above, value._below, value.root
    if isinstance(value, (int, Fraction)):
        return fmpz_poly([value.numerator]), fmpz_poly([value.denominator]), 1
    return None


def _parts_of(value: Any) -> tuple[fmpz_poly, fmpz_poly, int]:
    parts = _parts(value)
    if parts is None:
        raise TypeError(f"{value!r} is not an exact number")
    return parts


def _together(
    a: fmpz_poly, b: fmpz_poly, root: int, c: fmpz_poly, d: fmpz_poly, other: int
) -> tuple[fmpz_poly, fmpz_poly, fmpz_poly, fmpz_poly, int]:
    """Write two ratios in a common root of e."""
    if root == other:
        return a, b, c, d, root
    common = math.lcm(root, other)
    ours, theirs = common // root, common // other
    return lifted(a, ours), lifted(b, ours), lifted(c, theirs), lifted(d, theirs), common


def as_ball(value: Number | int) -> arb:
    """Return a ball around an exact number, at the precision in force."""
    return value.ball() if isinstance(value, ExpNumber) else arb(value.numerator) / arb(value.denominator)


def _as_ball(parts: Sequence[Any]) -> arb:
    """Return a ball around a rational."""
    return arb(parts[0][0]) / arb(parts[1][0])
