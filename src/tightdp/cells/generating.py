"""Rational generating functions: masses on the natural numbers that a linear recurrence tells, whatever its poles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flint import fmpq, fmpq_poly

Coefficients = dict[tuple[int, int], Any]
"""The coefficients of z^d in what is above, by (0, d), and in what is below, by (1, d); nothing for the function 0."""


@dataclass(frozen=True)
class Generating:
    """A quotient of two polynomials in lowest terms, with 1 as the value of the lower one at 0."""

    above: tuple[fmpq, ...]
    below: tuple[fmpq, ...]

    @classmethod
    def of(cls, above: fmpq_poly, below: fmpq_poly) -> Generating:
        common = above.gcd(below)
        above, below = above // common, below // common
        first = below[0]
        return cls(tuple((above / first).coeffs()), tuple((below / first).coeffs()))

    @classmethod
    def named(cls, coefficients: Coefficients) -> Generating:
        """Return what `coefficients` says."""
        parts: tuple[dict[int, Any], dict[int, Any]] = {}, {}
        for (part, d), c in coefficients.items():
            parts[part][d] = c
        above, below = ([each.get(d, fmpq(0)) for d in range(max(each, default=-1) + 1)] for each in parts)
        return cls(tuple(above), tuple(below or [fmpq(1)]))

    @classmethod
    def from_terms(cls, term: Callable[[int], Any], order: int) -> Generating:
        """Return the function of a sequence that has a recurrence of some order from its first terms on."""
        terms = [term(k) for k in range(2 * order + 2)]
        below = [fmpq(1), *(-c for c in shortest(terms))]
        above = fmpq_poly(terms[: len(below) - 1]) * fmpq_poly(below)
        return cls.of(fmpq_poly(above.coeffs()[: len(below) - 1]), fmpq_poly(below))

    @classmethod
    def geometric(cls, base: fmpq, width: int | None = None) -> Generating:
        """Return that of the powers of a base, so many of them."""
        if width is None:
            return cls.of(fmpq_poly([1]), fmpq_poly([1, -base]))
        return cls.of(fmpq_poly([base**k for k in range(width)]), fmpq_poly([1]))

    @property
    def coefficients(self) -> Coefficients:
        """Return a name of the function."""
        both = enumerate((self.above, self.below if self.above else ()))
        return {(part, d): c for part, each in both for d, c in enumerate(each) if c}

    @property
    def quotient(self) -> tuple[fmpq_poly, fmpq_poly]:
        """What is above, and what is below."""
        return fmpq_poly(list(self.above)), fmpq_poly(list(self.below))

    @property
    def order(self) -> int:
        """The order of the recurrence, with all terms that come before it."""
        return max(len(self.above), len(self.below) - 1)

    @property
    def total(self) -> Any:
        """The sum of all terms, which has to be finite."""
        above, below = self.quotient
        return above(1) / below(1)

    @cached_property
    def _terms(self) -> list[Any]:
        return []

    def term(self, k: int) -> Any:
        """Return the coefficient of z^k."""
        known = self._terms
        while len(known) <= k:
            at = len(known)
            now = self.above[at] if at < len(self.above) else fmpq(0)
            for d in range(1, min(at, len(self.below) - 1) + 1):
                now -= self.below[d] * known[at - d]
            known.append(now)
        return known[k]

    def first(self, many: int) -> Generating:
        """Return so many terms alone."""
        return Generating.of(fmpq_poly([self.term(k) for k in range(many)]), fmpq_poly([1]))

    def __add__(self, other: Generating) -> Generating:
        (a, b), (c, d) = self.quotient, other.quotient
        return Generating.of(a * d + c * b, b * d)

    def __mul__(self, other: Generating) -> Generating:
        (a, b), (c, d) = self.quotient, other.quotient
        return Generating.of(a * c, b * d)

    def times(self, number: Any) -> Generating:
        """Return a multiple."""
        return Generating(tuple(c * number for c in self.above), self.below) if number else ZERO

    def __sub__(self, other: Generating) -> Generating:
        return self + other.times(-1)

    def later(self, many: int) -> Generating:
        """Return the terms after so many, or, for a negative number, with so many zeros before them."""
        if many <= 0:
            return Generating.of(fmpq_poly([0] * -many + [1]) * self.quotient[0], self.quotient[1])
        above, below = (self - self.first(many)).quotient
        return Generating.of(fmpq_poly(above.coeffs()[many:]), below)

    def spread(self, times: int) -> Generating:
        """Return the function of z^times."""
        each = (fmpq_poly([c if not r else 0 for c in part for r in range(times)]) for part in (self.above, self.below))
        return Generating.of(*each)

    def section(self, residue: int, period: int) -> Generating:
        """Return every so many terms, from one on."""
        if period == 1:
            return self
        return Generating.from_terms(lambda k: self.term(residue + period * k), self.order)

    def backwards(self, last: int) -> Generating:
        """Return the terms from the last one to the first."""
        return Generating.of(fmpq_poly([self.term(last - k) for k in range(last + 1)]), fmpq_poly([1]))


ZERO = Generating((), (fmpq(1),))


@dataclass(frozen=True)
class Ray:
    """Masses at start, start + sign, start + 2·sign, ..."""

    start: int
    sign: int
    masses: Generating

    @property
    def finite(self) -> bool:
        return len(self.masses.below) == 1

    @property
    def reversed(self) -> Ray:
        """The same the other way round, where it is finite."""
        last = max(len(self.masses.above) - 1, 0)
        return Ray(self.start + self.sign * last, -self.sign, self.masses.backwards(last))

    def at(self, place: int) -> Any:
        k = (place - self.start) * self.sign
        return self.masses.term(k) if k >= 0 else fmpq(0)

    def within(self, low: int | None, high: int | None) -> Ray:
        """Return what lies between two ends, where an end may be missing."""
        first, last = (low, high) if self.sign > 0 else (high, low)
        skipped = 0 if first is None else max((first - self.start) * self.sign, 0)
        found = Ray(self.start + self.sign * skipped, self.sign, self.masses.later(skipped))
        if last is None:
            return found
        return Ray(found.start, self.sign, found.masses.first(max((last - found.start) * self.sign + 1, 0)))

    def from_(self, start: int, sign: int) -> Generating:
        """Return the masses at start, start + sign, ..."""
        if sign == self.sign:
            return self.masses.later((start - self.start) * sign)
        last = (self.start - start) * sign
        return self.masses.first(last + 1).backwards(last) if last >= 0 else ZERO

    def times(self, by: int) -> Ray:
        """Return the masses at multiples."""
        return Ray(self.start * by, self.sign if by > 0 else -self.sign, self.masses.spread(abs(by)))

    def divided(self, by: int, moved: int) -> Ray:
        """Return the masses at the integers w for which by·w + moved is a place."""
        k = (moved - self.start) * self.sign % abs(by)
        start = (self.start + self.sign * k - moved) // by
        return Ray(start, self.sign if by > 0 else -self.sign, self.masses.section(k, abs(by)))

    def plus(self, other: Ray) -> Ray | None:
        """Return the masses of the sum of two independent numbers, None where these go on in two directions."""
        if self.sign != other.sign:
            if not (self.finite or other.finite):
                return None
            return self.plus(other.reversed) if other.finite else self.reversed.plus(other)
        return Ray(self.start + other.start, self.sign, self.masses * other.masses)


def shortest(sequence: Sequence[Any]) -> list[Any]:
    """Return c with s_k = Σ c_i·s_(k - i), i from 1, for all k >= len(c): the shortest that there is (Massey)."""
    zero = 0 * sequence[0]
    now: list[Any] = [zero + 1]
    before, length, since, last = [zero + 1], 0, 1, zero + 1
    for k in range(len(sequence)):
        gap = sum((now[i] * sequence[k - i] for i in range(1, min(length, len(now) - 1) + 1)), sequence[k])
        if not gap:
            since += 1
            continue
        kept, times = list(now), gap / last
        now += [zero] * (len(before) + since - len(now))
        for i, c in enumerate(before):
            now[i + since] -= times * c
        if 2 * length <= k:
            length, before, last, since = k + 1 - length, kept, gap, 1
        else:
            since += 1
    found = [-c for c in now[1:]]
    return [*found, *[zero] * (length - len(found))][:length]
