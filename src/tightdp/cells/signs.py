"""Signs of sums of polynomials times exponentials of one real number: where they are negative, where they cross 0.

An interval is cut in two until its values, or slopes, are enclosed on one side of 0; far out the fastest growing term
decides. Zeros at the ends of the interval are exact: there the first derivative that is not 0 decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from flint import arb, ctx, fmpq

from tightdp.cells.patterns import Counted
from tightdp.cells.sums import Base, Exact, added, exact_number
from tightdp.exact.enclosure import ball
from tightdp.exact.field import as_ball

_BITS = 256
_FARTHEST = 1 << 20
_MOST_DERIVATIVES = 12
"""Of so many derivatives at an end one that is not 0 is looked for."""
_CROSSING_BITS = 80
"""A crossing is enclosed as closely as this part of its distance from 0, or of 1."""

_SHORT = 1 << 20
"""A crossing of a smaller denominator is found exactly."""

Near: TypeAlias = dict[Fraction, dict[int, arb]]
"""Enclosed coefficients of e^(rate·t)·t^degree, by rate and degree."""


class Undecided(Exception):
    """A sign was not found within the work that is done for one."""


@dataclass(frozen=True)
class Wave:
    """A function of t as enclosed coefficients."""

    near: Near

    @staticmethod
    def of(function: Counted) -> Wave:
        """Return a function with its coefficients enclosed."""
        found: Near = {}
        with ctx.workprec(_BITS):
            for ((base, degree),), c in function.items():
                found.setdefault(rate_of(base), {})[degree] = as_near(c)
        return Wave(found)

    def at(self, t: arb) -> arb:
        """Return an enclosure of the values on a ball."""
        total = arb(0)
        for rate, polynomial in self.near.items():
            value = arb(0)
            for degree in range(max(polynomial), -1, -1):
                value = value * t + polynomial.get(degree, 0)
            total += value * (ball(rate) * t).exp() if rate else value
        return total

    @cached_property
    def slope(self) -> Wave:
        """The derivative."""
        found: Near = {}
        for rate, polynomial in self.near.items():
            line: dict[int, arb] = {}
            for degree, c in polynomial.items():
                if rate:
                    line[degree] = line.get(degree, arb(0)) + c * ball(rate)
                if degree:
                    line[degree - 1] = line.get(degree - 1, arb(0)) + c * degree
            if line:
                found[rate] = line
        return Wave(found)

    def derived(self, times: int) -> Wave:
        """Return a derivative of some order."""
        return self if not times else self.slope.derived(times - 1)

    def around(self, low: Fraction, high: Fraction) -> arb:
        """Return an enclosure of the values between two numbers, by the slope there."""
        middle, radius = ball((low + high) / 2), ball((high - low) / 2)
        inside = arb(middle.mid(), radius.upper())
        return self.at(middle) + self.slope.at(inside) * arb(0, radius.upper())

    def integral(self, low: Fraction, high: Fraction | None) -> arb:
        """Return an enclosure of the integral between two numbers (None: no end, where it falls to 0)."""
        total = arb(0)
        for rate, polynomial in self.near.items():
            for degree, c in polynomial.items():
                line = antiderivative_of(rate, degree)
                for t, sign in ((high, 1), (low, -1)):
                    if t is not None:
                        value = sum((ball(q) * ball(t) ** k for k, q in enumerate(line)), arb(0))
                        total += sign * c * value * (ball(rate) * ball(t)).exp()
        return total

    def divided(self, rate: Fraction) -> Wave:
        """Return the function times e^(-rate·t)."""
        return Wave({r - rate: polynomial for r, polynomial in self.near.items()})


def as_near(c: Any) -> arb:
    """Return an enclosure of a number of the laws."""
    return arb(c) if isinstance(c, (fmpq, arb)) else as_ball(c)


def rate_of(base: Base) -> Fraction:
    """Return q of a base e^q."""
    found = Fraction(0) if base is base.unit else base.value.exponent
    assert isinstance(found, Fraction)
    return found


def value_at(function: Counted, t: Fraction) -> Exact:
    """Return the exact value of a function."""
    total: Any = 0
    for ((base, degree),), c in function.items():
        total = total + c * (base**t).value * exact_number(c, Fraction(t) ** degree)
    return total


def antiderivative_of(rate: Fraction, degree: int) -> list[Fraction]:
    """Return coefficients q such that q(t)·e^(rate·t) has the derivative t^degree·e^(rate·t)."""
    if not rate:
        return [*[Fraction(0)] * (degree + 1), Fraction(1, degree + 1)]
    line = [1 / rate]
    for k in range(degree - 1, -1, -1):
        line.append(-line[-1] * (k + 1) / rate)
    return line[::-1]


def _derivative(function: Counted) -> Counted:
    found: Counted = {}
    for ((base, degree),), c in function.items():
        rate = rate_of(base)
        parts: Counted = {((base, degree),): c * exact_number(c, rate)} if rate else {}
        if degree:
            parts[((base, degree - 1),)] = c * degree
        added(found, parts)
    return found


@dataclass
class _End:
    """An end of an interval: the order of the first derivative that is not 0 there, and its sign further inside."""

    order: int
    sign: int


@dataclass
class Signs:
    """A function that is not 0, from 0 to a length (None: without end); `most` bounds the parts that are looked at."""

    function: Counted
    length: Fraction | None
    watch: Callable[[], None]
    most: int
    wave: Wave = field(init=False)

    def __post_init__(self) -> None:
        """Bring it to a scale on which it is bounded: that changes no sign."""
        with ctx.workprec(_BITS):
            whole = Wave.of(self.function)
            self.wave = whole.divided(max(whole.near, key=Fraction))

    @cached_property
    def beyond(self) -> tuple[Fraction, int]:
        """A number from which on the function has a sign, where the interval has no end. Raises Undecided."""
        fastest, degree = max((rate_of(base), degree) for ((base, degree),) in self.function)
        lead = next(c for ((base, k),), c in self.function.items() if (rate_of(base), k) == (fastest, degree))
        sign = 1 if lead > 0 else -1
        others = [
            (rate, k - degree, c)
            for rate, polynomial in self.wave.near.items()
            for k, c in polynomial.items()
            if rate or k != degree
        ]
        t = 1
        with ctx.workprec(_BITS):
            while t <= _FARTHEST:
                self.watch()
                falling = all(k <= 0 or (rate and t >= k / -rate) for rate, k, _ in others)
                rest = sum((abs(c) * (ball(rate) * t).exp() * arb(t) ** k for rate, k, c in others), arb(0))
                if falling and abs(self.wave.near[Fraction(0)][degree]) > rest:
                    return Fraction(t), sign
                t *= 2
        raise Undecided

    @cached_property
    def top(self) -> Fraction:
        """The end of what is looked at part by part."""
        return self.beyond[0] if self.length is None else self.length

    @cached_property
    def _ends(self) -> tuple[_End, _End]:
        high = self.top
        return self._end(Fraction(0), 1), _End(0, 0) if self.length is None else self._end(high, -1)

    def _end(self, t: Fraction, inward: int) -> _End:
        """Return what is known of an end. Raises Undecided."""
        exact = self.function
        for order in range(_MOST_DERIVATIVES):
            with ctx.workprec(_BITS):
                near = Wave.of(exact).at(ball(t))
            if not (near > 0 or near < 0):
                value = value_at(exact, t)
                sign = 0 if not value else 1 if value > 0 else -1
            else:
                sign = 1 if near > 0 else -1
            if sign:
                return _End(order, sign * inward**order)
            exact = _derivative(exact)
        raise Undecided

    def parts(self) -> Iterator[tuple[Fraction, Fraction, int]]:
        """Yield intervals that cover everything up to `top`, in order, with the sign of the function inside.

        The sign is 0 where it crosses 0 once there, and is monotone. Raises Undecided.
        """
        first, last = self._ends
        whole = Wave.of(self.function)
        todo = [(Fraction(0), self.top)]
        for _ in range(self.most):
            if not todo:
                return
            self.watch()
            low, high = todo.pop()
            with ctx.workprec(_BITS):
                sign = self._sign(whole, low, high, first, last)
                if sign is None and low and high < self.top:
                    sign = self._crosses(low, high)
            if sign is None:
                middle = self._between(low, high)
                todo += [(middle, high), (low, middle)]
            else:
                yield low, high, sign
        if todo:
            raise Undecided

    def _between(self, low: Fraction, high: Fraction) -> Fraction:
        """Return a number in the middle, or beside it where the function may be 0 there."""
        with ctx.workprec(_BITS):
            places = (low + (high - low) * Fraction(k, 8) for k in (4, 3))
            return next((t for t in places if not self.wave.at(ball(t)).contains(0)), low + (high - low) * 5 / 8)

    def _sign(self, whole: Wave, low: Fraction, high: Fraction, first: _End, last: _End) -> int | None:
        near = self.wave.around(low, high)
        if near > 0 or near < 0:
            return 1 if near > 0 else -1
        for end, here in ((first, not low), (last, self.length is not None and high == self.top)):
            if here and end.order:
                slope = whole.derived(end.order).around(low, high)
                if slope > 0 or slope < 0:
                    return end.sign
        return None

    def _crosses(self, low: Fraction, high: Fraction) -> int | None:
        slope = self.wave.slope.around(low, high)
        if not (slope > 0 or slope < 0):
            return None
        ours, theirs = self.wave.at(ball(low)), self.wave.at(ball(high))
        if (ours > 0 and theirs < 0) or (ours < 0 and theirs > 0):
            return 0
        return None

    def never_negative(self) -> bool:
        """Whether the function is seen to be at least 0 everywhere."""
        try:
            if self.length is None and self.beyond[1] < 0:
                return False
            return all(sign > 0 for _, _, sign in self.parts())
        except Undecided:
            return False

    def changes(self) -> list[tuple[Fraction, Fraction, int]]:
        """Return intervals on which the function has a sign, and close ones in between in which it crosses 0 (sign 0).

        They cover everything up to `top`. Raises Undecided.
        """
        found: list[tuple[Fraction, Fraction, int]] = []
        for low, high, sign in self.parts():
            pieces = [(low, high, sign)] if sign else self._closer(low, high)
            for piece in pieces:
                if found and found[-1][2] == piece[2] != 0:
                    piece = found.pop()[0], piece[1], piece[2]
                found.append(piece)
        return found

    def _closer(self, low: Fraction, high: Fraction) -> list[tuple[Fraction, Fraction, int]]:
        """Enclose a crossing closely, or find it where it is a short rational."""
        first, last = low, high
        with ctx.workprec(_BITS):
            before = 1 if self.wave.at(ball(low)) > 0 else -1
            while (high - low) * (1 << _CROSSING_BITS) > max(Fraction(1), low):
                middle = (low + high) / 2
                near = self.wave.at(ball(middle))
                if not (near > 0 or near < 0):
                    break
                low, high = (middle, high) if (near > 0) == (before > 0) else (low, middle)
        short = shortest(low, high)
        if short.denominator <= _SHORT and not value_at(self.function, short):
            return [(first, short, before), (short, last, -before)]
        return [(first, low, before), (low, high, 0), (high, last, -before)]


def shortest(low: Fraction, high: Fraction) -> Fraction:
    """Return the rational of the smallest denominator between two numbers of at least 0, ends included."""
    whole = Fraction(-(-low.numerator // low.denominator))
    if whole <= high:
        return whole
    return whole - 1 + 1 / shortest(1 / (high - whole + 1), 1 / (low - whole + 1))
