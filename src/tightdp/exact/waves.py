"""Sums of polynomials times exponentials of one real number: where they are negative, where they cross 0, integrals.

An interval is cut in two until a Taylor expansion in its middle, with its remainder, encloses the values, or slopes, on
one side of 0; far out the fastest growing term decides. Zeros at the ends of the interval are exact: there the first
derivative that is not 0 decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from flint import arb, arb_mat, arb_poly, ctx

from tightdp.exact.enclosure import BITS, ball
from tightdp.exact.field import Number, as_ball, exp

Terms: TypeAlias = Mapping["tuple[Fraction, int]", Number]
"""Coefficients of e^(rate·t)·t^degree, none of them 0, by rate and degree."""

PARTS = 400
"""Parts of an interval that are looked at for the signs of a function."""
_FARTHEST = 1 << 20
_ORDER = 32
"""The order of Taylor expansions; at an end some derivative before it is not to be 0."""
_CROSSING_BITS = 80
"""A crossing is enclosed as closely as this part of its distance from 0, or of 1."""
_SHORT = 1 << 20
"""A crossing of a smaller denominator is found exactly."""


class Undecided(Exception):
    """A sign was not found within the work that is done for one."""


def value_at(terms: Terms, t: Fraction) -> Number:
    """Return the exact value."""
    found: Number = Fraction(0)
    for (rate, degree), c in terms.items():
        found = found + c * exp(rate * t) * t**degree
    return found


def derivative(terms: Terms) -> dict[tuple[Fraction, int], Number]:
    found: dict[tuple[Fraction, int], Number] = {}
    for (rate, degree), c in terms.items():
        parts = [((rate, degree), c * rate)] if rate else []
        parts += [((rate, degree - 1), c * degree)] if degree else []
        for key, value in parts:
            found[key] = found.get(key, Fraction(0)) + value
    return {key: c for key, c in found.items() if c}


def antiderivative(rate: Fraction, degree: int) -> list[Fraction]:
    """Return coefficients q such that q(t)·e^(rate·t) has the derivative t^degree·e^(rate·t)."""
    if not rate:
        return [*[Fraction(0)] * (degree + 1), Fraction(1, degree + 1)]
    line = [1 / rate]
    for k in range(degree - 1, -1, -1):
        line.append(-line[-1] * (k + 1) / rate)
    return line[::-1]


def integral(terms: Terms, low: Fraction, high: Fraction | None) -> arb:
    """Return an enclosure of the integral between two numbers (None: no end, where it falls to 0)."""
    total = arb(0)
    for (rate, degree), c in terms.items():
        line = antiderivative(rate, degree)
        for t, sign in ((high, 1), (low, -1)):
            if t is not None:
                value = sum((ball(q) * ball(t) ** k for k, q in enumerate(line)), arb(0))
                total += sign * as_ball(c) * value * ball(rate * t).exp()
    return total


@dataclass(frozen=True)
class _Part:
    """The terms of one degree: rates and coefficients."""

    degree: int
    rates: tuple[Fraction, ...]
    coefficients: tuple[arb, ...]

    @cached_property
    def powers(self) -> tuple[arb_mat, list[arb]]:
        """What Taylor expansions take, rate^k/k! by k, and the sizes that remainders take."""
        rates = [ball(rate) for rate in self.rates]
        lines = [[arb(1)] * len(rates)]
        for k in range(1, _ORDER + 1):
            lines.append([before * rate / k for before, rate in zip(lines[-1], rates, strict=True)])
        sizes = [abs(c * last) for c, last in zip(self.coefficients, lines.pop(), strict=True)]
        return arb_mat(_ORDER, len(rates), [entry for line in lines for entry in line]), sizes


class Expansion:
    """A function times e^(-rate·t), by its fastest rate, as Taylor series."""

    def __init__(self, terms: Terms) -> None:
        fastest = max(rate for rate, _ in terms)
        by_degree: dict[int, list[tuple[Fraction, arb]]] = {}
        for (rate, degree), c in terms.items():
            by_degree.setdefault(degree, []).append((rate - fastest, as_ball(c)))
        self._parts = [_Part(degree, *zip(*line, strict=True)) for degree, line in by_degree.items()]

    def at(self, t: Fraction) -> arb:
        """Return an enclosure of the value."""
        place, total = ball(t), arb(0)
        for part in self._parts:
            values = (c * (ball(r) * place).exp() for r, c in zip(part.rates, part.coefficients, strict=True))
            total += sum(values, arb(0)) * place**part.degree
        return total

    def around(self, t: Fraction, low: Fraction, high: Fraction) -> tuple[list[arb], arb, arb]:
        """Return the Taylor series at t, and how far value and slope are from it between two numbers around t."""
        place, first = ball(t), ball(low)
        radius, most = ball(max(high - t, t - low)), ball(max(abs(low), abs(high)))
        series, rest, slope = arb_poly([0]), arb(0), arb(0)
        for part in self._parts:
            scaled = zip(part.rates, part.coefficients, strict=True)
            column = arb_mat(len(part.rates), 1, [c * (ball(r) * place).exp() for r, c in scaled])
            matrix, sizes = part.powers
            line = matrix * column
            found = arb_poly([line[k, 0] for k in range(_ORDER)])
            size = sum((s * (ball(r) * first).exp() for r, s in zip(part.rates, sizes, strict=True)), arb(0))
            rest += size * radius**_ORDER * most**part.degree
            slope += size * _ORDER * radius ** (_ORDER - 1) * most**part.degree
            if part.degree:
                found *= arb_poly([place, 1]) ** part.degree
                slope += size * radius**_ORDER * part.degree * most ** (part.degree - 1)
            series += found
        known = series.coeffs()
        return [*known, *[arb(0)] * (_ORDER - len(known))], rest, slope


@dataclass(frozen=True)
class _End:
    """The order of the first derivative that is not 0 at an end, and the sign of the function further inside."""

    order: int
    sign: int


@dataclass
class Wave:
    """A function that is not 0, from a number of at least 0 to another one (None: without end).

    `most` bounds the parts that are looked at. Where no sign is seen, as where it touches 0, parts are cut further that
    are longer than `least`.
    """

    terms: Terms
    low: Fraction
    high: Fraction | None
    watch: Callable[[], None]
    most: int = PARTS
    least: Fraction = Fraction(0)

    @cached_property
    def _expansion(self) -> Expansion:
        with ctx.workprec(BITS):
            return Expansion(self.terms)

    @cached_property
    def beyond(self) -> tuple[Fraction, int]:
        """A number from which on the function has a sign, where the interval has no end. Raises Undecided."""
        fastest = max(self.terms)
        sign = 1 if self.terms[fastest] > 0 else -1
        t = max(Fraction(1), self.low)
        with ctx.workprec(BITS):
            others = [
                (rate - fastest[0], k - fastest[1], abs(as_ball(c)))
                for (rate, k), c in self.terms.items()
                if (rate, k) != fastest
            ]
            lead = abs(as_ball(self.terms[fastest]))
            while t <= _FARTHEST:
                self.watch()
                falling = all(k <= 0 or (rate and t >= k / -rate) for rate, k, _ in others)
                if falling and lead > sum((c * ball(rate * t).exp() * ball(t) ** k for rate, k, c in others), arb(0)):
                    return t, sign
                t *= 2
        raise Undecided

    @cached_property
    def top(self) -> Fraction:
        """The end of what is looked at part by part."""
        return self.beyond[0] if self.high is None else self.high

    @cached_property
    def ends(self) -> tuple[_End, _End]:
        """What is known of both ends; nothing of one that is missing. Raises Undecided."""
        return self._end(self.low, 1), _End(0, 0) if self.high is None else self._end(self.high, -1)

    def _end(self, t: Fraction, inward: int) -> _End:
        """Return what is known of an end. Raises Undecided."""
        terms = self.terms
        for order in range(_ORDER):
            with ctx.workprec(BITS):
                near = Expansion(terms).at(t) if order else self._expansion.at(t)
            if near > 0 or near < 0:
                return _End(order, (1 if near > 0 else -1) * inward**order)
            value = value_at(terms, t)
            if value:
                return _End(order, (1 if value > 0 else -1) * inward**order)
            terms = derivative(terms)
        raise Undecided

    def parts(self) -> Iterator[tuple[Fraction, Fraction, int]]:
        """Yield intervals that cover everything up to `top`, in order, with the sign of the function inside.

        The sign is 0 where it crosses 0 once there, and is monotone, or where it is not seen. Raises Undecided.
        """
        first, last = self.ends
        todo = [(self.low, self.top)] if self.low < self.top else []
        degree = max((k for _, k in self.terms), default=0)
        for _ in range(max(1, self.most // (1 + degree // 100))):  # with the degree each takes longer
            if not todo:
                return
            self.watch()
            low, high = todo.pop()
            with ctx.workprec(BITS):
                sign = self._inside(low, high)
                if sign is None and low == self.low and first.order:
                    sign = self._beside(first, low, low, high)
                if sign is None and high == self.high and last.order:
                    sign = self._beside(last, high, low, high)
                if sign == 0 and ((low == self.low and first.order) or (high == self.high and last.order)):
                    sign = None
            if sign is None and high - low <= self.least:
                yield low, high, 0
            elif sign is None:
                middle = self._between(low, high)
                todo += [(middle, high), (low, middle)]
            else:
                yield low, high, sign
        if todo:
            raise Undecided

    def _between(self, low: Fraction, high: Fraction) -> Fraction:
        """Return a number in the middle, or beside it where the function may be 0 there."""
        with ctx.workprec(BITS):
            places = (low + (high - low) * Fraction(k, 8) for k in (4, 3))
            return next((t for t in places if not self._expansion.at(t).contains(0)), low + (high - low) * 5 / 8)

    def _inside(self, low: Fraction, high: Fraction) -> int | None:
        """Return the sign between two numbers, 0 where it crosses 0 once, None where that is not seen."""
        middle = (low + high) / 2
        series, rest, more = self._expansion.around(middle, low, high)
        radius = ball((high - low) / 2)
        rest += sum((abs(a) * radius**k for k, a in enumerate(series) if k), arb(0))
        if abs(series[0]) > rest:
            return 1 if series[0] > 0 else -1
        more += sum((k * abs(a) * radius ** (k - 1) for k, a in enumerate(series) if k > 1), arb(0))
        if not abs(series[1]) > more:
            return None
        ours, theirs = self._expansion.at(low), self._expansion.at(high)
        return 0 if (ours > 0 and theirs < 0) or (ours < 0 and theirs > 0) else None

    def _beside(self, end: _End, at: Fraction, low: Fraction, high: Fraction) -> int | None:
        """Return the sign of a function that is 0 at an end of an interval."""
        series, rest, _ = self._expansion.around(at, low, high)
        radius = ball(high - low)
        rest = rest / radius**end.order
        rest += sum((abs(a) * radius ** (k - end.order) for k, a in enumerate(series) if k > end.order), arb(0))
        return end.sign if abs(series[end.order]) > rest else None

    def never_negative(self) -> bool:
        """Whether the function is seen to be at least 0 everywhere."""
        try:
            if self.high is None and self.beyond[1] < 0:
                return False
            return all(sign > 0 for _, _, sign in self.parts())
        except Undecided:
            return False

    def changes(self) -> list[tuple[Fraction, Fraction, int]]:
        """Return intervals on which the function has a sign, and close ones in between in which it crosses 0 (sign 0).

        They cover everything up to `top`; two of them meet where a crossing is a short rational. Raises Undecided.
        """
        found: list[tuple[Fraction, Fraction, int]] = []
        for low, high, sign in self.parts():
            for piece in [(low, high, sign)] if sign or high - low <= self.least else self._closer(low, high):
                if found and found[-1][2] == piece[2] != 0:
                    piece = found.pop()[0], piece[1], piece[2]
                found.append(piece)
        return found

    def crossings(self) -> list[tuple[Fraction, Fraction]]:
        """Return close intervals around all numbers inside at which it crosses 0; short rationals alone.

        Raises Undecided: where it touches 0 it does not cross it.
        """
        found, last = [], None
        for low, high, sign in self.changes():
            if not sign:
                found.append((low, high))
            elif last is not None and last[2] == -sign:
                found.append((low, low))
            last = low, high, sign
        return found

    def _closer(self, low: Fraction, high: Fraction) -> list[tuple[Fraction, Fraction, int]]:
        """Enclose a crossing closely, or find it where it is a short rational."""
        first, last = low, high
        with ctx.workprec(BITS):
            before = 1 if self._expansion.at(low) > 0 else -1
            while (high - low) * (1 << _CROSSING_BITS) > max(Fraction(1), low):
                middle = self._between(low, high)
                near = self._expansion.at(middle)
                low, high = (middle, high) if (near > 0) == (before > 0) else (low, middle)
        short = shortest(low, high)
        if short.denominator <= _SHORT and not value_at(self.terms, short):
            return [(first, short, before), (short, last, -before)]
        return [(first, low, before), (low, high, 0), (high, last, -before)]


def shortest(low: Fraction, high: Fraction) -> Fraction:
    """Return the rational of the smallest denominator between two numbers of at least 0, ends included."""
    whole = Fraction(-(-low.numerator // low.denominator))
    if whole <= high:
        return whole
    return whole - 1 + 1 / shortest(1 / (high - whole + 1), 1 / (low - whole + 1))
