"""Whole numbers of the field with e^q: integer polynomials in T = e^(1/root), which behave like an int.

The engine counts with ints over a common denominator. Where a law has e^q in it, its weights are polynomials instead:
they add, multiply, divide without remainder and compare like ints, and mix with them. A polynomial is 0 exactly where
all of its coefficients are, also one in an unknown; every other sign is decided by a ball that is refined. `gcd`, `lcm`
take both.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, TypeAlias, Union

from flint import arb, ctx, fmpz_poly

from tightdp.exact.enclosure import balls
from tightdp.exact.polynomials import (
    Key,
    Polynomial,
    alike,
    at_root,
    common_step,
    constant,
    deflated,
    from_key,
    has_unknown,
    key,
    leading,
    lifted,
    lowered,
    mark,
    sign,
)
from tightdp.limits.calibrated import QUICK_BITS

Whole: TypeAlias = Union[int, "ExpInteger"]
"""A weight: an int, or an integer polynomial in e^(1/d)."""


class Ordered:
    """Numbers that are compared by the sign of the difference, None where the other is no number."""

    __slots__ = ()

    def _compare(self, other: Any) -> int | None:
        raise NotImplementedError

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


class ExpInteger(Ordered):
    """An integer polynomial in e^(1/root), immutable. Two are equal where they are the same number, or function."""

    __slots__ = ("_hash", "_quick", "polynomial", "root")

    polynomial: Polynomial
    root: int

    def __init__(self, polynomial: Polynomial, root: int = 1) -> None:
        self.polynomial = polynomial
        self.root = root
        self._quick: arb | None = None
        self._hash: int | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (key(self.polynomial), self.root)

    def __repr__(self) -> str:
        return f"ExpInteger({self.polynomial}, {self.root})"

    @property
    def unknown(self) -> bool:
        """Whether it is a polynomial in the unknown."""
        return has_unknown(self.polynomial)

    # arithmetic

    def __add__(self, other: Any) -> ExpInteger:
        if other.__class__ is not ExpInteger:
            return ExpInteger(self.polynomial + other, self.root) if isinstance(other, int) else NotImplemented
        if self.root == other.root and type(self.polynomial) is type(other.polynomial):
            return ExpInteger(self.polynomial + other.polynomial, self.root)
        (ours, theirs), root = polynomials(self, other)
        return ExpInteger(ours + theirs, root)

    __radd__ = __add__

    def __sub__(self, other: Any) -> ExpInteger:
        if other.__class__ is not ExpInteger:
            return ExpInteger(self.polynomial - other, self.root) if isinstance(other, int) else NotImplemented
        (ours, theirs), root = polynomials(self, other)
        return ExpInteger(ours - theirs, root)

    def __rsub__(self, other: Any) -> ExpInteger:
        return ExpInteger(other - self.polynomial, self.root) if isinstance(other, int) else NotImplemented

    def __mul__(self, other: Any) -> ExpInteger:
        if other.__class__ is not ExpInteger:
            if not isinstance(other, int):
                return NotImplemented
            return self if other == 1 else ExpInteger(self.polynomial * other, self.root)
        if self.root == other.root and type(self.polynomial) is type(other.polynomial):
            return ExpInteger(self.polynomial * other.polynomial, self.root)
        (ours, theirs), root = polynomials(self, other)
        return ExpInteger(ours * theirs, root)

    __rmul__ = __mul__

    def __pow__(self, power: int) -> ExpInteger:
        return ExpInteger(self.polynomial**power, self.root)

    def __lshift__(self, bits: int) -> ExpInteger:
        return ExpInteger(self.polynomial * (1 << bits), self.root)

    def __rshift__(self, bits: int) -> ExpInteger:
        """Divide by a power of two that is a divisor. Raises ArithmeticError where there is a remainder."""
        (ours, theirs), root = polynomials(self, 1 << bits)
        return ExpInteger(ours / theirs, root) if bits else self

    def __neg__(self) -> ExpInteger:
        return ExpInteger(-self.polynomial, self.root)

    def __floordiv__(self, other: Any) -> Whole:
        """Divide by a divisor. Raises ArithmeticError where there is a remainder."""
        if self == other:
            return 1
        if other == 1:
            return self
        (ours, theirs), root = polynomials(self, other)
        return ExpInteger(ours / theirs, root)

    def __rfloordiv__(self, other: int) -> ExpInteger:
        (theirs, ours), root = polynomials(other, self)
        return ExpInteger(theirs / ours, root)

    def bit_length(self) -> int:
        """Return about how long the number is to write."""
        return size_of(self.polynomial)

    # order

    def __bool__(self) -> bool:
        return bool(self.polynomial)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ExpInteger):
            if self.root == other.root and type(self.polynomial) is type(other.polynomial):
                return bool(self.polynomial == other.polynomial)
            (ours, theirs), _ = polynomials(self, other)
            return bool(ours == theirs)
        if isinstance(other, int):
            return not self.polynomial if not other else constant(self.polynomial) == other
        return NotImplemented

    def __hash__(self) -> int:
        if self._hash is None:
            polynomial = lowered(self.polynomial)
            value = constant(polynomial)
            step = common_step(polynomial, self.root)
            reduced = deflated(polynomial, step) if step > 1 else polynomial
            self._hash = hash((mark(reduced), self.root // step) if value is None else value)
        return self._hash

    def _compare(self, other: Whole | Fraction | float) -> int:
        """Return the sign of the difference."""
        if isinstance(other, float):
            if math.isinf(other):
                return -1 if other > 0 else 1
            other = Fraction(other)
        if isinstance(other, Fraction):
            return (self * other.denominator)._compare(other.numerator)
        ours = self.quick()
        with ctx.workprec(2 * QUICK_BITS):
            theirs = other.quick() if isinstance(other, ExpInteger) else arb(other)
            if ours < theirs:
                return -1
            if ours > theirs:
                return 1
        (left, right), root = polynomials(self, other)
        return sign(left - right, root)

    def ball(self) -> arb:
        """Return a ball around the number, at the precision in force."""
        return at_root(self.polynomial, self.root)

    def quick(self) -> arb:
        """Return a ball around the number, with at least 64 bits that are right; of no width for 0."""
        if self._quick is None:
            closer = balls(self.ball, 2 * QUICK_BITS)
            known = not self or has_unknown(self.polynomial)
            self._quick = next(each for each in closer if known or each.rel_accuracy_bits() >= QUICK_BITS)
        return self._quick


def _restored(coefficients: Key, root: int) -> ExpInteger:
    return ExpInteger(from_key(coefficients), root)


def whole(polynomial: Polynomial, root: int) -> Whole:
    """Return a polynomial as a weight, an int where it is one."""
    value = constant(polynomial) if polynomial else 0
    return ExpInteger(lowered(polynomial), root) if value is None else value


def size_of(polynomial: Polynomial) -> int:
    """Return the bits of all coefficients together, about."""
    if has_unknown(polynomial):
        return max(1, len(polynomial) * max((int(c).bit_length() for c in polynomial.coeffs()), default=0))
    return max(1, len(polynomial) * int(polynomial.height_bits()))


def polynomials(*values: Whole) -> tuple[list[Polynomial], int]:
    """Return whole numbers as polynomials in a common root of e, and that root."""
    root = 1
    for value in values:
        if isinstance(value, ExpInteger) and value.root != root:
            root = math.lcm(root, value.root)
    listed = [
        lifted(value.polynomial, root // value.root) if isinstance(value, ExpInteger) else fmpz_poly([value])
        for value in values
    ]
    return list(alike(*listed)), root


def ball_of(value: Whole) -> arb:
    """Return a ball around a weight, at the precision in force."""
    return arb(value) if isinstance(value, int) else value.ball()


def compare_quotients(a: Whole, b: Whole, c: Whole, d: Whole) -> int:
    """Return the sign of a/b - c/d, for positive b and d."""
    if not (isinstance(a, int) and isinstance(b, int) and isinstance(c, int) and isinstance(d, int)):
        with ctx.workprec(2 * QUICK_BITS):
            left, right = quick(a) / quick(b), quick(c) / quick(d)
            if left < right:
                return -1
            if left > right:
                return 1
    one, other = (a, c) if b == d else (a * d, c * b)
    return 0 if one == other else 1 if one > other else -1


def quick(value: Whole) -> arb:
    """Return a ball around a weight; it is cached."""
    return arb(value) if isinstance(value, int) else value.quick()


def divides(divisor: Whole, value: Whole) -> bool:
    """Whether a positive weight is a divisor of another one."""
    return gcd(divisor, value) == divisor


def gcd(*values: Whole) -> Whole:
    """Return the greatest common divisor, positive unless all are 0; of other kinds of numbers, 1."""
    try:
        return math.gcd(*values)  # type: ignore[arg-type]
    except TypeError:
        found: Whole = 0
    if not all(isinstance(value, (int, ExpInteger)) for value in values):
        return 1
    for value in values:
        if isinstance(found, int) and isinstance(value, int):
            found = math.gcd(found, value)
        elif not found:
            found = value
        else:
            (ours, theirs), root = polynomials(found, value)
            shared = ours.gcd(theirs)
            found = whole(-shared if leading(shared) < 0 else shared, root)
        if isinstance(found, int) and found == 1:
            return 1
    return -found if found < 0 else found


def lcm(*values: Whole) -> Whole:
    """Return the least common multiple of positive numbers."""
    try:
        return math.lcm(*values)  # type: ignore[arg-type]
    except TypeError:
        found: Whole = 1
    # From the longest one on, as most of the others divide it.
    for value in sorted(values, key=_degree, reverse=True):
        if isinstance(found, int) and isinstance(value, int):
            found = math.lcm(found, value)
        elif found != value:
            found = value if isinstance(found, int) and found == 1 else found * (value // gcd(found, value))
    return found


def _degree(value: Whole) -> int:
    return len(value.polynomial) if isinstance(value, ExpInteger) else 0
