"""Integer polynomials in T = e^(1/root), in an unknown X, and in the logarithm of X: their signs, decided by balls.

Numbers of a program are polynomials in T alone until an unknown comes in; then they are polynomials of the ring
`RING` of flint, and plain ones again as soon as the unknown has gone. X is the unknown itself, or e^(unknown/d) where
it stands in exponents only: then `LOG` is the unknown. Where it stands inside and outside of exponents X is the
unknown, and `E` is e^(unknown/root), `F` is e^(1/(unknown·root)), with the root of T.

An unknown has no value, but comparisons need one: they are decided at the place in force (`at_place`), which takes
note of every polynomial whose sign was asked for. So what was computed holds as far as these signs do.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Protocol, TypeAlias

from flint import arb, ctx, fmpz_mpoly, fmpz_mpoly_ctx, fmpz_poly

from tightdp.errors import ParameterError
from tightdp.exact.enclosure import balls, sign_of
from tightdp.limits.calibrated import MAX_DEGREE

RING = fmpz_mpoly_ctx.get(("x", "T", "L", "E", "F"), "lex")
UNKNOWN, _T, LOG, E, F = RING.gens()

Polynomial: TypeAlias = Any
"""One of flint: fmpz_poly, or fmpz_mpoly of RING. They do not mix with each other, see `alike`."""
Key: TypeAlias = "tuple[int, ...] | tuple[tuple[tuple[int, ...], int], ...]"
"""A polynomial as a plain value: coefficients from the constant term on, or terms with their exponents."""


@dataclass(frozen=True)
class Unknown:
    """The unknown by name; `denominator` is d where X stands for e^(unknown/d), and 0 where X is the unknown.

    Where that is `mixed` it may stand in exponents besides.
    """

    name: str = "x"
    denominator: int = 0
    mixed: bool = False

    def power(self, power: int, sign: str) -> str:
        """Write a power of X."""
        if not self.denominator:
            return self.name if power == 1 else f"{self.name}{sign}{power}"
        return self.exponential(Fraction(power, self.denominator), sign)

    def exponential(self, q: Fraction, sign: str, inverse: bool = False) -> str:
        """Write e^(q·unknown), or e^(q/unknown)."""
        if inverse:
            below = self.name if q.denominator == 1 else f"({q.denominator}*{self.name})"
            exponent = f"{q.numerator}/{below}"
        else:
            above = self.name if q.numerator == 1 else f"{q.numerator}*{self.name}"
            exponent = above if q.denominator == 1 else f"{above}/{q.denominator}"
        if sign == "**":
            return f"exp({exponent})"
        return f"e^{exponent}" if exponent == self.name else f"e^({exponent})"


class InsideAndOutside(BaseException):
    """The unknown stands inside and outside of exponents, or in the denominator of one."""


class Place(Protocol):
    """Where polynomials in the unknown have a sign."""

    unknown: Unknown

    @property
    def sample(self) -> Fraction:
        """A value of X there, or near."""

    def sign(self, polynomial: fmpz_mpoly, root: int) -> int:
        """Return the sign there, and take note that it was asked for."""

    def power(self, denominator: int) -> int:
        """Return d, of which X is e^(unknown/d), where a denominator of an exponent is met."""


_place: ContextVar[Place | None] = ContextVar("place", default=None)
_UNNAMED = Unknown()
_named: ContextVar[Unknown] = ContextVar("named", default=_UNNAMED)


@contextmanager
def at_place(place: Place) -> Iterator[None]:
    """Decide signs at a place."""
    token = _place.set(place)
    try:
        yield
    finally:
        _place.reset(token)


def in_force() -> Place:
    """Return the place in force. Raises ParameterError where there is none."""
    place = _place.get()
    if place is None:
        raise ParameterError("numbers with an unknown are compared", "give the unknown a value, as in lam=1/5")
    return place


def inside_and_outside() -> None:
    """Raise InsideAndOutside where X cannot stand inside and outside of exponents."""
    if not in_force().unknown.mixed:
        raise InsideAndOutside


def in_words() -> Unknown:
    """Return how the unknown is written here."""
    place = _place.get()
    return _named.get() if place is None else place.unknown


@contextmanager
def naming(unknown: Unknown) -> Iterator[None]:
    """Write the unknown like this."""
    token = _named.set(unknown)
    try:
        yield
    finally:
        _named.reset(token)


def has_unknown(polynomial: Polynomial) -> bool:
    """Whether it is a polynomial of the ring with the unknown."""
    return isinstance(polynomial, fmpz_mpoly)


def constant(polynomial: Polynomial) -> int | None:
    """Return the integer that a polynomial is, None where it is none."""
    if isinstance(polynomial, fmpz_mpoly):
        return int(polynomial.coeffs()[0]) if polynomial and polynomial.is_constant() else None
    return int(polynomial[0]) if polynomial.degree() <= 0 else None


def leading(polynomial: Polynomial) -> int:
    """Return the coefficient that is positive in a normal form: of the highest power, or the lowest of the unknown."""
    if isinstance(polynomial, fmpz_mpoly):
        return int(polynomial.coeffs()[-1])
    return int(polynomial[polynomial.degree()])


def raised(polynomial: Polynomial) -> fmpz_mpoly:
    """Return a polynomial in T as one of the ring."""
    if isinstance(polynomial, fmpz_mpoly):
        return polynomial
    return RING.from_dict({(0, power, 0, 0, 0): c for power, c in enumerate(polynomial.coeffs()) if c})


def lowered(polynomial: Polynomial) -> Polynomial:
    """Return a polynomial without the unknown as one in T."""
    if not isinstance(polynomial, fmpz_mpoly):
        return polynomial
    in_x, _, in_log, in_e, in_f = polynomial.degrees()
    if max(in_x, in_log, in_e, in_f) > 0:
        return polynomial
    return dense([(powers[1], int(coefficient)) for powers, coefficient in polynomial.terms()])


def exponentials(polynomial: fmpz_mpoly) -> tuple[int, int]:
    """Return the degrees in e^(unknown/root) and in e^(1/(unknown·root))."""
    *_, in_e, in_f = polynomial.degrees()
    return int(in_e), int(in_f)


def alike(*polynomials: Polynomial) -> tuple[Polynomial, ...]:
    """Return polynomials as ones of the same ring."""
    if any(map(has_unknown, polynomials)) and not all(map(has_unknown, polynomials)):
        return tuple(map(raised, polynomials))
    return polynomials


def in_powers_of_e(polynomial: fmpz_mpoly) -> dict[int, fmpz_poly]:
    """Return a polynomial in X and T as polynomials in X by the power of T.

    Raises InsideAndOutside where it has the logarithm of X too.
    """
    found: dict[int, list[tuple[int, int]]] = {}
    for (power, at, logarithm, *_), coefficient in polynomial.terms():
        if logarithm:
            raise InsideAndOutside
        found.setdefault(int(at), []).append((int(power), int(coefficient)))
    return {at: dense(terms) for at, terms in found.items()}


def dense(terms: Collection[tuple[int, int]]) -> fmpz_poly:
    """Return a sum of coefficients times powers, given as (power, coefficient)."""
    coefficients = [0] * (max((power for power, _ in terms), default=0) + 1)
    for power, coefficient in terms:
        coefficients[power] += coefficient
    return fmpz_poly(coefficients)


def terms_of(polynomial: Polynomial) -> list[tuple[tuple[int, ...], int]]:
    """Return the powers of all generators, and the coefficient, of every term, lowest powers first."""
    if isinstance(polynomial, fmpz_mpoly):
        return sorted((tuple(map(int, powers)), int(c)) for powers, c in polynomial.terms())
    return [((0, power, 0, 0, 0), int(c)) for power, c in enumerate(polynomial.coeffs()) if c]


def key(polynomial: Polynomial) -> Key:
    """Return a polynomial as a plain value, the same one for equal polynomials."""
    if isinstance(polynomial, fmpz_mpoly):
        return tuple((tuple(map(int, powers)), int(coefficient)) for powers, coefficient in polynomial.terms())
    return tuple(map(int, polynomial.coeffs()))


def mark(polynomial: Polynomial) -> int:
    """Return an integer for a table of hashes, the same one for equal polynomials; found faster than a `key`."""
    return hash(key(polynomial)) if isinstance(polynomial, fmpz_mpoly) else int(polynomial(3))


def from_key(value: Key) -> Polynomial:
    """Return the polynomial that `key` was made of."""
    if value and isinstance(value[0], tuple):
        return RING.from_dict(dict(value))
    return fmpz_poly([int(c) for c in value if not isinstance(c, tuple)])


def power_of_unknown(above: Polynomial, below: Polynomial) -> tuple[int, Fraction]:
    """Return (p, r) with e^(above/below) = X^p·e^r, where above/below is q·unknown + r and X is e^(unknown/d).

    Raises InsideAndOutside where the unknown stands in the denominator, ParameterError where it is something else.
    """
    place, divisor = in_force(), constant(lowered(below))
    if divisor is None:
        raise InsideAndOutside
    place.power(1)
    terms = {tuple(powers): Fraction(int(coefficient), divisor) for powers, coefficient in raised(above).terms()}
    factor, rest = terms.pop((0, 0, 1, 0, 0), Fraction(0)), terms.pop((0, 0, 0, 0, 0), Fraction(0))
    if terms:
        raise ParameterError("exp is taken of an expression with the unknown", _IN_EXPONENTS)
    return int(factor * place.power(factor.denominator)), rest


_IN_EXPONENTS = "let it be a multiple of the unknown, or of its inverse, and a number; or make e^unknown the unknown"


def exponent_parts(above: Polynomial, below: Polynomial) -> tuple[Fraction, Fraction, Fraction]:
    """Return (p, q, r) where above/below is p + q·unknown + r/unknown.

    Raises ParameterError where it is no such sum.
    """
    ours, theirs = ({tuple(map(int, powers)): int(c) for powers, c in raised(part).terms()} for part in (above, below))
    ((powers, divisor),) = theirs.items() if len(theirs) == 1 else (((9,), 1),)
    if len(theirs) > 1 or powers[0] > 1 or any(powers[1:]):
        raise ParameterError("exp is taken of an expression with the unknown", _IN_EXPONENTS)
    found = {power: Fraction(0) for power in (0, 1, -1)}
    for (power, *others), c in ours.items():
        power -= powers[0]
        if any(others) or power not in found:
            raise ParameterError("exp is taken of an expression with the unknown", _IN_EXPONENTS)
        found[power] = Fraction(c, divisor)
    return found[0], found[1], found[-1]


def exponential(constant: int, times: int, inverse: int) -> tuple[fmpz_mpoly, fmpz_mpoly]:
    """Return T^constant·E^times·F^inverse as a quotient."""
    parts = [(_T, constant), (E, times), (F, inverse)]
    above, below = (
        math.prod((base ** max(0, sign * power) for base, power in parts), start=RING.constant(1)) for sign in (1, -1)
    )
    return above, below


def exponent_of(above: Polynomial, below: Polynomial) -> tuple[int, int, int] | None:
    """Return (p, q, r) where above/below is T^p·E^q·F^r, None where it is no such product."""
    total = [0, 0, 0]
    for part, sign in ((above, 1), (below, -1)):
        terms = terms_of(part)
        if len(terms) != 1 or terms[0][1] != 1 or terms[0][0][0] or terms[0][0][2]:
            return None
        (_, t, _, e, f), _ = terms[0]
        total = [before + sign * power for before, power in zip(total, (t, e, f), strict=True)]
    return total[0], total[1], total[2]


def sign(polynomial: Polynomial, root: int = 1) -> int:
    """Return the sign (-1, 0, 1) of an integer polynomial at e^(1/root). Always decided."""
    if isinstance(polynomial, fmpz_mpoly):
        return in_force().sign(polynomial, root) if polynomial else 0
    degree = polynomial.degree()
    if degree <= 0:
        return sign_of(int(polynomial[0]))
    return next(found for near in balls(lambda: at_root(polynomial, root)) if (found := sign_of(near)))


def lifted(polynomial: Polynomial, by: int) -> Polynomial:
    """Substitute T^by for T."""
    unknown = isinstance(polynomial, fmpz_mpoly)
    degree = max(_rooted(polynomial.degrees())) if unknown else polynomial.degree()
    if by == 1 or degree <= 0:
        return polynomial
    if degree * by > MAX_DEGREE:
        raise ParameterError(
            f"a power above {MAX_DEGREE:,} of e^(1/d) is out of reach, d the common denominator of all exponents",
            "use smaller exponents, or exponents with fewer different denominators",
        )
    return polynomial.inflate([1, by, 1, by, by]) if unknown else polynomial.inflate(by)


def _rooted(powers: Sequence[int]) -> tuple[int, int, int]:
    """Return the powers of what is e to a multiple of 1/root."""
    _, t, _, e, f = powers
    return int(t), int(e), int(f)


def deflated(polynomial: Polynomial, by: int) -> Polynomial:
    """Substitute T for T^by, where only such powers occur."""
    if isinstance(polynomial, fmpz_mpoly):
        terms = polynomial.terms()
        return RING.from_dict({(x, t // by, log, e // by, f // by): c for (x, t, log, e, f), c in terms})
    return polynomial.deflate(by)


def power_of_root(power: int) -> fmpz_poly:
    if power > MAX_DEGREE:
        raise ParameterError(
            f"an exponent with the numerator {power:,} is out of reach",
            f"round it: powers of e^(1/d) up to {MAX_DEGREE:,} are written",
        )
    return fmpz_poly([1]).left_shift(power)


def common_step(polynomial: Polynomial, step: int) -> int:
    """Return the greatest common divisor of `step` and all powers of T that occur."""
    if isinstance(polynomial, fmpz_mpoly):
        return math.gcd(step, *(power for powers in polynomial.monoms() for power in _rooted(powers)))
    return math.gcd(step, polynomial.deflation()[1]) if polynomial.degree() > 0 else step


def without_common(one: Polynomial, other: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Return two polynomials divided by what they have in common."""
    shared = one.gcd(other)
    return (one, other) if not shared or shared.is_one() else (one / shared, other / shared)


def product_of_ratios(a: Polynomial, b: Polynomial, c: Polynomial, d: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Return a/b · c/d, reduced, of ratios that are."""
    a, d = without_common(a, d)
    c, b = without_common(c, b)
    return a * c, b * d


def sum_of_ratios(a: Polynomial, b: Polynomial, c: Polynomial, d: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Return a/b + c/d, reduced, of ratios that are: with that it has in common what b and d have (Henrici 1956)."""
    shared = b.gcd(d)
    if shared.is_one():
        return a * d + c * b, b * d
    ours, theirs = b / shared, d / shared
    above, rest = without_common(a * theirs + c * ours, shared)
    return above, ours * theirs * rest


def monomial(polynomial: Polynomial) -> tuple[int, int] | None:
    """Return (coefficient, power) of a polynomial in T with one term, None for others."""
    if isinstance(polynomial, fmpz_mpoly):
        return None
    degree = polynomial.degree()
    if any(polynomial[power] for power in range(degree)):
        return None
    return int(polynomial[degree]), degree


@lru_cache(maxsize=256)
def _root_of_e(root: int, bits: int) -> arb:
    """Return a ball around e^(1/root)."""
    with ctx.workprec(bits):
        return (arb(1) / root).exp()


def at_root(polynomial: Polynomial, root: int) -> arb:
    """Evaluate a polynomial at e^(1/root), at the precision in force."""
    if isinstance(polynomial, fmpz_mpoly):
        return arb(0, "inf")
    found: arb = polynomial(_root_of_e(root, ctx.prec))
    return found
