"""Densities of a real number: the largest ratio of two of them, and where one exceeds a multiple of the other.

The line is cut where conditions change. On each stretch densities are sums of polynomials times exponentials of the
distance t from its start; signs of these are seen by derivatives, as Rolle counts zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import comb, inf
from typing import Any, NamedTuple, TypeAlias

from flint import arb, ctx, fmpq

from tightdp.cells.linear import Row
from tightdp.cells.patterns import Counted
from tightdp.cells.sums import Base, Exact, Pieces, added, antiderivative, exact_number
from tightdp.cells.suprema import Supremum, TooLong, difference, leading
from tightdp.exact.field import as_ball

_MOST_PARTS = 300
"""On how many parts of a stretch a sign is looked for."""
_ABOVE = (1 << 30, 1 << 20, 1 << 16, 1 << 13, 1 << 10, 64, 16, 1)
"""An upper end is larger than what is known by such a part of it."""
_MOST_DERIVATIVES = 8
_HALVED = 3
"""So often a stretch is cut in two before derivatives are looked at."""
_BITS = 256


Near: TypeAlias = dict[tuple[Fraction, int], arb]
"""Enclosed coefficients of e^(rate·t)·t^degree, by rate and degree."""


@dataclass(frozen=True)
class Stretch:
    """The numbers start + sign·t, for t from 0 to `length`; None where that has no end."""

    start: Fraction
    sign: int
    length: Fraction | None

    def at(self, t: Fraction) -> Fraction:
        """Return a number on it."""
        return self.start + self.sign * t

    @property
    def inside(self) -> Fraction:
        """A distance between its ends."""
        return Fraction(1) if self.length is None else self.length / 2


def stretches(rows: Iterable[Row]) -> list[Stretch]:
    """Cut the line where one of some conditions on its only variable changes."""
    cuts = sorted({Fraction(bound) / normal[0][1] for normal, bound in rows}) or [Fraction(0)]
    between = [Stretch(a, 1, b - a) for a, b in pairwise(cuts)]
    return [Stretch(cuts[0], -1, None), *between, Stretch(cuts[-1], 1, None)]


def on_stretch(pieces: Pieces, stretch: Stretch, unit: Base) -> Counted:
    """Return a function of a real variable on a stretch, by the distance from its start."""
    found: Counted = {}
    inside = stretch.at(stretch.inside)
    for rows, terms in pieces:
        if all(normal[0][1] * inside <= bound for normal, bound in rows):
            of_number: Counted = {
                ((bases[0][1] if bases else unit, degrees[0][1] if degrees else 0),): c
                for (bases, degrees), c in terms.items()
            }
            added(found, _moved(of_number, stretch.start))
    return {((base**stretch.sign, k),): c * stretch.sign**k for ((base, k),), c in found.items()}


def supremum(p: Counted, q: Counted, stretch: Stretch, least: Any, watch: Callable[[], None]) -> Supremum | None:
    """Return the supremum of p/q on a stretch, None where it is at most `least`. Raises TooLong with what is known."""
    if not p or least == inf:
        return None
    if not q:
        return Supremum(inf, (stretch.at(stretch.inside),), (0,))
    best: Supremum | None = None
    for found in _ends(p, q, stretch):
        if found.value == inf or found.value > least:
            best, least = found, found.value
    if least == inf or not difference(p, q, least):
        return best if best is None or least == inf else Supremum(least, (stretch.at(stretch.inside),), (0,))
    if not _never_above(p, q, least, stretch, watch):
        raise TooLong(_sampled(p, q, stretch, least) or best)
    return best


def upper_end(p: Counted, q: Counted, stretch: Stretch, least: Any, watch: Callable[[], None]) -> Any:
    """Return a number above `least` that p/q is proved not to exceed; infinity where none is found."""
    for part in _ABOVE:
        value = least * (part + 1) / part
        if q and _never_above(p, q, value, stretch, watch):
            return value
    return inf


def _ends(p: Counted, q: Counted, stretch: Stretch) -> Iterator[Supremum]:
    """Yield the ratios at the ends of a stretch; far out it is a limit."""
    for t in (Fraction(0), stretch.length):
        if t is None:
            (ours, above), (theirs, below) = leading(p, 0), leading(q, 0)
            if ours == theirs:
                yield Supremum(above[()] / below[()], (stretch.start,), (stretch.sign,))
            elif (ours[0].value, ours[1]) > (theirs[0].value, theirs[1]):
                yield Supremum(inf, (stretch.start,), (stretch.sign,))
        else:
            ours, theirs = _value(p, t), _value(q, t)
            if theirs:
                yield Supremum(ours / theirs, (stretch.at(t),), (0,))
            elif ours:
                yield Supremum(inf, (stretch.at(t),), (0,))


def _value(function: Counted, t: Fraction) -> Exact:
    total: Any = 0
    for ((base, degree),), c in function.items():
        total = total + c * (base**t).value * exact_number(c, Fraction(t) ** degree)
    return total


def _near(function: Counted, t: Fraction) -> arb:
    """Return an enclosure of the value of a function."""
    return _enclosed(_Derived.of(function).near, t, 0)


def _enclosed(near: Near, t: Fraction, radius: Fraction | int) -> arb:
    """Return an enclosure of Σ c·e^(rate·t)·t^degree around t."""
    with ctx.workprec(_BITS):
        at = _ball(t)
        at = arb(at.mid(), at.rad() + _ball(Fraction(radius)))
        terms = ((at * _ball(rate)).exp() * at**degree * c for (rate, degree), c in near.items())
        return sum(terms, arb(0))


def _sampled(p: Counted, q: Counted, stretch: Stretch, least: Any) -> Supremum | None:
    """Return the largest of some ratios inside of a stretch, where it is above `least`."""
    places = [(stretch.length or 16) * Fraction(k, 64) for k in range(1, 64)]
    t = max(places, key=lambda t: float((_near(p, t) / _near(q, t)).mid()))
    ours, theirs = _value(p, t), _value(q, t)
    if theirs and ours / theirs > least:
        return Supremum(ours / theirs, (stretch.at(t),), (0,))
    return None


def _never_above(p: Counted, q: Counted, value: Any, stretch: Stretch, watch: Callable[[], None]) -> bool:
    function = {key: -c for key, c in difference(p, q, value).items()}
    return _never_negative(function, stretch.length, watch, _MOST_PARTS)


def _never_negative(function: Counted, length: Fraction | None, watch: Callable[[], None], most: int) -> bool:
    """Whether a function is seen to be at least 0 from 0 to a length, on that many parts of it at most."""
    todo = [(Fraction(0), length, 0)]
    for _ in range(most):
        if not todo:
            return True
        watch()
        start, length, halved = todo.pop()
        here = _Derived.of(_moved(function, start) if start else function)
        middle = Fraction(1) if length is None else length / 2
        if any(here.negative(t) for t in (Fraction(0), middle, length) if t is not None):
            return False
        if length is not None and _enclosed(here.near, middle, middle) > 0:
            continue
        if (length is None or halved >= _HALVED or most == 1) and here.monotone(length, _MOST_DERIVATIVES):
            continue
        rest = None if length is None else length - middle
        todo += [(start + middle, rest, halved + 1), (start, middle, halved + 1)]
    return not todo


class _Derived(NamedTuple):
    """What is made of a function by slopes: enclosed, and by which steps (a rate and a sign)."""

    function: Counted
    steps: tuple[tuple[Fraction, int], ...]
    near: Near

    @staticmethod
    def of(function: Counted) -> _Derived:
        """Return a function itself."""
        with ctx.workprec(_BITS):
            near = {(_rate(base), degree): _ball(c) for ((base, degree),), c in function.items()}
        return _Derived(function, (), near)

    def slope(self, rate: Fraction, sign: int) -> _Derived:
        """Return e^(rate·t) times the derivative of e^(-rate·t) times it, which has fewer terms; sign is 1 or -1."""
        near: Near = {}
        with ctx.workprec(_BITS):
            for (r, degree), c in self.near.items():
                if r != rate:
                    near[r, degree] = near.get((r, degree), arb(0)) + c * _ball(sign * (r - rate))
                if degree:
                    near[r, degree - 1] = near.get((r, degree - 1), arb(0)) + c * (sign * degree)
        return _Derived(self.function, (*self.steps, (rate, sign)), near)

    def negative(self, t: Fraction) -> bool:
        """Whether it is negative at t: seen from enclosures where these do not meet 0."""
        near = _enclosed(self.near, t, 0)
        if near > 0 or near < 0:
            return bool(near < 0)
        exact = self.function
        for rate, sign in self.steps:
            exact = {key: c * sign for key, c in _slope(exact, rate).items()}
        return bool(_value(exact, t) < 0)

    def monotone(self, length: Fraction | None, most: int) -> bool:
        """Whether it is seen to be at least 0 up to a length, as it is at one end and monotone from there."""
        if all(c > 0 for c in self.near.values()):
            return True
        if not most or self.negative(Fraction(0)) or (length is not None and self.negative(length)):
            return False
        rates = sorted(rate for rate, _ in self.near)
        for rate in (rates[-1], rates[0]):
            if self.slope(rate, 1).monotone(length, most - 1):
                return True
            if self._ends_above_0(rate, length) and self.slope(rate, -1).monotone(length, most - 1):
                return True
        return False

    def _ends_above_0(self, rate: Fraction, length: Fraction | None) -> bool:
        """Whether e^(-rate·t) times it, not negative at a length that is given, is at least 0 in the limit."""
        fastest = max(self.near)
        return length is not None or fastest[0] < rate or bool(self.near[fastest] > 0)


def _slope(function: Counted, rate: Fraction) -> Counted:
    """Return e^(rate·t) times the derivative of e^(-rate·t) times a function."""
    found: Counted = {}
    for ((base, degree),), c in function.items():
        parts: Counted = {((base, degree),): c * exact_number(c, _rate(base) - rate)}
        if degree:
            parts[((base, degree - 1),)] = c * degree
        added(found, parts)
    return found


def _ball(c: Exact) -> arb:
    return arb(c) if isinstance(c, fmpq) else as_ball(c)


def _rate(base: Base) -> Fraction:
    return Fraction(0) if base is base.unit else base.value.exponent


def _moved(function: Counted, by: Fraction) -> Counted:
    """Return a function of t + by."""
    found: Counted = {}
    for ((base, degree),), c in function.items():
        c = c * (base**by).value
        shares = (exact_number(c, Fraction(comb(degree, k) * by ** (degree - k))) for k in range(degree + 1))
        parts: Counted = {((base, k),): c * share for k, share in enumerate(shares)}
        added(found, parts)
    return found


def larger(p: Counted, q: Counted, t: Any, stretch: Stretch, watch: Callable[[], None]) -> tuple[Exact, Exact]:
    """Return the integrals of p and of q where p > t·q. Raises TooLong where the places are not found exactly."""
    function = difference(p, q, t)
    opposite = {key: -c for key, c in function.items()}
    if _never_negative(opposite, stretch.length, watch, 1):
        return 0, 0
    if _never_negative(function, stretch.length, watch, 1):
        return _integral(p, stretch.length), _integral(q, stretch.length)
    crossing = _crossing(function)
    if crossing is None or not (crossing > 0 and (stretch.length is None or crossing < stretch.length)):
        raise TooLong
    rest = None if stretch.length is None else stretch.length - crossing
    before = larger(p, q, t, Stretch(stretch.start, stretch.sign, crossing), watch)
    after = larger(
        _moved(p, crossing), _moved(q, crossing), t, Stretch(stretch.at(crossing), stretch.sign, rest), watch
    )
    return before[0] + after[0], before[1] + after[1]


def _crossing(function: Counted) -> Fraction | None:
    """Return where a sum of two exponentials is 0, if that is rational."""
    if len(function) != 2 or any(key[0][1] for key in function):
        return None
    (((first, _),), a), (((second, _),), b) = function.items()
    share = -b / a
    if share == 1:
        exponent: Fraction | None = Fraction(0)
    else:
        exponent = getattr(share, "exponent", None)
    return None if exponent is None else exponent / (_rate(first) - _rate(second))


def _integral(function: Counted, length: Fraction | None) -> Exact:
    total: Any = 0
    for ((base, degree),), c in function.items():
        polynomial = antiderivative(c / c if base is base.unit else base.value, degree)
        if length is not None:
            at_end = sum((q * exact_number(c, length**k) for k, q in enumerate(polynomial)), 0 * c)
            total = total + c * at_end * (base**length).value
        total = total - c * polynomial[0]
    return total
