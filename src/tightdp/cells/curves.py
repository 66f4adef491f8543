"""Integrals over the places of two real numbers where a sum of exponentials is positive, which a curve bounds.

Along a line the sum is a polynomial of an exponential. It crosses 0 no more often than its coefficients change their
sign (Descartes' rule), and once at most where it is monotone. So between the places at which a coefficient, or the
sum at an end of the line, changes its sign, there is one crossing or none: an analytic function of the place. What is
on one side of it is integrated in closed form along the line, and then by a quadrature that is proved (`acb.integral`
of Arb, after Petras), which asks for values on complex balls: there the crossing is enclosed by a Newton step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise, permutations
from math import gcd, lcm
from typing import Any, TypeAlias

from flint import acb, arb, ctx, fmpq

from tightdp.cells.signs import enclosed, sign_of, tangent_of
from tightdp.cells.simplices import Function, Simplex, Vector, grown, on_simplex, scaled, standard
from tightdp.cells.sums import added
from tightdp.exact.enclosure import as_fraction, ball
from tightdp.exact.field import as_ball
from tightdp.exact.waves import Undecided, Wave

_BITS = 96
_TOLERANCE = arb(2) ** -48
"""How closely a quadrature is asked for."""
_CLOSE = arb(2) ** -40
"""How close it has to be."""
_MOST_VALUES = 1_000
"""For how many values a quadrature may ask."""
_POINT = arb(2) ** -70
"""A crossing at one place is enclosed as closely as this."""

_Sum: TypeAlias = Mapping[fmpq, Any]
"""A sum of exponentials of the place of a line: coefficients by rate."""
_Lines: TypeAlias = dict[fmpq, dict[fmpq, Any]]
"""A function as sums of exponentials along lines, by their rates there; coefficients are sums."""
_Powers: TypeAlias = list[tuple[int, Any]]
"""Exponents and coefficients."""


def integrals(
    p: Function, q: Function, function: Function, bounded: int, watch: Callable[[], None]
) -> tuple[arb, arb] | None:
    """Return the integrals over all lengths of p and of q where the function is positive; None where it is not seen."""
    keys = [key for each in (p, q, function) for key in each]
    if not bounded or any(len(key) != 2 or any(degree for _, degree in key) for key in keys):
        return None
    vertices, rays = standard(bounded, 2)
    turned: tuple[Vector, ...]
    for turned in permutations(vertices) if bounded == 2 else [vertices]:
        ours, *others = (on_simplex(each, Simplex(turned, rays)) for each in (function, p, q))
        lines = _without_edge(_by_rate(ours)), *map(_by_rate, others)
        found = _Curve(lines, bool(rays), _monotone(ours, bounded), watch).integrals()
        if found is not None:
            return found
    return None


def _by_rate(function: Function) -> _Lines:
    found: _Lines = {}
    for ((rate, _), (along, _)), c in function.items():
        found.setdefault(along, {})[rate] = c
    return found


def _without_edge(lines: _Lines) -> _Lines:
    """Return a function of the same sign that does not vanish at the beginning of all lines.

    It is divided by a power of 1 - v, where v falls like an exponential.
    """
    unit, most = _unit_of([lines]), max(lines)
    while not any(_total(lines).values()):
        found: _Lines = {}
        total: dict[fmpq, Any] = {}
        for step in range(int((most - min(lines)) / unit)):
            added(total, lines.get(most - step * unit, {}))
            found |= {most - step * unit: dict(total)} if total else {}
        lines = found
    return lines


def _unit_of(lines: Sequence[_Lines]) -> fmpq:
    """Return a rate of which all are multiples."""
    rates = [rate for each in lines for rate in each if rate]
    return fmpq(gcd(*(int(rate.p) for rate in rates)) or 1, lcm(*(int(rate.q) for rate in rates)))


def _total(lines: _Lines) -> dict[fmpq, Any]:
    """Return the function at the beginning of all lines."""
    found: dict[fmpq, Any] = {}
    for sum_ in lines.values():
        added(found, sum_)
    return {rate: c for rate, c in found.items() if c}


def _monotone(function: Function, bounded: int) -> bool:
    """Whether a function is seen to grow, or to fall, along all lines."""
    with ctx.workprec(_BITS):
        slope = enclosed({key: scaled(c, key[1][0]) for key, c in function.items() if key[1][0]})
        return bool(slope) and bool(sign_of(slope, bounded, tangent_of(slope, bounded)))


@dataclass
class _Curve:
    """A function on the lines at places from 0 to 1: these end at 1 minus the place, or are rays."""

    lines: tuple[_Lines, ...]
    """The function, and two others to integrate where it is positive."""
    rays: bool
    monotone: bool
    watch: Callable[[], None]

    def integrals(self) -> tuple[arb, arb] | None:
        """Return the integrals of p and of q where the function is positive, None where that is not seen."""
        function, *others = self.lines
        rates = sorted(function)
        first, last = _total(function), dict[fmpq, Any]()
        for along, sum_ in function.items():
            added(last, {rate - along: grown(c, along) for rate, c in sum_.items()})
        sums = [*(function[rate] for rate in rates), first, function[rates[-1]] if self.rays else last]
        if not all(sums):
            return None
        try:
            cuts = self._cuts(sums[-2:] if self.monotone else sums)
        except Undecided:
            return None
        with ctx.workprec(_BITS):
            total = [sum((self._most(f) * ball(high - low) for low, high in cuts), arb(0)) for f in others]
            total = [each.union(arb(0)) for each in total]
            for (_, low), (high, _) in pairwise(cuts):
                *signs, below, above = [_sign(each, (low + high) / 2) for each in sums]
                changes = 1 if self.monotone else sum(a != b for a, b in pairwise(signs))
                if not below or not above or changes > (1 if below == above else 2):
                    return None
                if max(below, above) > 0:
                    side = _Side(self, low, high, below, above)
                    found = [side.integral(lines) for lines in others]
                    if not all(each.rad() < _CLOSE for each in found):
                        return None
                    total = [a + b for a, b in zip(total, found, strict=True)]
        return total[0], total[1]

    def _cuts(self, sums: Sequence[_Sum]) -> list[tuple[Fraction, Fraction]]:
        """Return close intervals, in order, between which no sum changes its sign; the first and last are 0 and 1."""
        found = [(Fraction(0), Fraction(0)), (Fraction(1), Fraction(1))]
        for each in sums:
            terms = {(as_fraction(rate), 0): c for rate, c in each.items()}
            found += Wave(terms, Fraction(0), Fraction(1), self.watch).crossings()
        joined: list[tuple[Fraction, Fraction]] = []
        for low, high in sorted(found):
            if joined and low <= joined[-1][1]:
                before = joined.pop()
                low, high = before[0], max(high, before[1])
            joined.append((low, high))
        return joined

    def _most(self, lines: _Lines) -> arb:
        """Return an upper end of the integral along a line."""
        total = arb(0)
        for along, sum_ in lines.items():
            wide = arb(-1 / along) if self.rays else grown(arb(1), max(along, fmpq(0)))
            total += sum((abs(as_ball(c)) * grown(wide, max(rate, fmpq(0))) for rate, c in sum_.items()), arb(0))
        return total


def _sign(sum_: _Sum, place: Fraction) -> int:
    value = sum((as_ball(c) * ball(as_fraction(rate) * place).exp() for rate, c in sum_.items()), arb(0))
    return 1 if value > 0 else -1 if value < 0 else 0


@dataclass
class _Side:
    """The lines between two places, on which a function has a sign at first and at last, and crosses 0 if they differ.

    It is a polynomial of v = e^(-unit·length), which is 1 at first and `_end` at last.
    """

    curve: _Curve
    low: Fraction
    high: Fraction
    first: int
    last: int
    unit: fmpq = field(init=False)

    def __post_init__(self) -> None:
        self.unit = _unit_of(self.curve.lines)
        function = self.curve.lines[0]
        most = max(function)
        self._function = [(int((most - along) / self.unit), _balls(sum_)) for along, sum_ in function.items()]

    def integral(self, lines: _Lines) -> arb:
        """Return the integral of another function where the first one is positive; a wide ball where it is not seen."""
        ours = [(int(-along / self.unit), _balls(sum_)) for along, sum_ in lines.items()]

        def along_line(place: acb, _: bool) -> acb:
            start, end = acb(1), self._end(place)
            if self.first != self.last:
                crossing = self._crossing(place)
                if not crossing.is_finite():
                    return crossing
                start, end = (start, crossing) if self.first > 0 else (crossing, end)
            total = acb(0)
            for power, sum_ in ours:
                wide = (start**power - end**power) / power if power else start.log() - end.log()
                total += _at(sum_, place) * wide
            return total / arb(self.unit)

        ends, most = (ball(self.low), ball(self.high)), _MOST_VALUES
        return acb.integral(along_line, *ends, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE, eval_limit=most).real

    def _end(self, place: Any) -> Any:
        return 0 * place if self.curve.rays else (arb(self.unit) * (place - 1)).exp()

    def _crossing(self, place: acb) -> acb:
        """Return an enclosure of v at the crossings of a ball of places, or no number."""
        self.curve.watch()
        middle = acb(place.real.mid())
        here = [(power, _at(sum_, middle).real) for power, sum_ in self._function]
        end = self._end(middle.real)
        root = _crossing_at(here, self.first, float(end.mid()))
        point = root + arb(0, _POINT)
        sides = [_value(here, each) for each in (point.lower(), point.upper())]
        crossed = (sides[0] > 0 and sides[1] < 0) or (sides[0] < 0 and sides[1] > 0)
        if not (place.imag.contains(0) and end < point < 1 and crossed):
            return acb("nan")
        there = [(power, _at(sum_, place)) for power, sum_ in self._function]
        turned = [(power, _at([(rate, rate * c) for rate, c in sum_], place)) for power, sum_ in self._function]
        v, away = acb(root), place - middle
        value, steep = acb(_value(here, root)) + away * _value(turned, v), acb(_value(_slope(here), root))
        wide = abs(value / steep).upper()
        for times in (2, 8):
            around = acb(root + arb(0, wide * times + _POINT), arb(0, wide * times + _POINT))
            bent = _value(_slope(turned), around) * away + _value(_slope(_slope(there)), around) * (around - v)
            found: acb = v - value / (steep + bent)
            if found.is_finite() and around.contains(found):
                return found
        return acb("nan")


def _balls(sum_: _Sum) -> list[tuple[arb, arb]]:
    return [(arb(rate), as_ball(c)) for rate, c in sum_.items()]


def _at(sum_: list[tuple[arb, arb]], place: acb) -> acb:
    return sum((c * (rate * place).exp() for rate, c in sum_), acb(0))


def _value(terms: _Powers, v: Any) -> Any:
    return sum((c * v**power for power, c in terms), 0 * v)


def _slope(terms: _Powers) -> _Powers:
    return [(power - 1, c * power) for power, c in terms if power]


def _crossing_at(terms: _Powers, first: int, end: float) -> arb:
    """Return about where between an end and 1 a polynomial crosses 0 that has a sign at 1."""
    near = [(power, float(c.mid())) for power, c in terms]
    low, high = end, 1.0
    for _ in range(48):
        middle = (low + high) / 2
        above = sum(c * middle**power for power, c in near) > 0
        low, high = (low, middle) if above == (first > 0) else (middle, high)
    root = arb((low + high) / 2)
    for _ in range(2):
        root = (root - _value(terms, root) / _value(_slope(terms), root)).mid()
    return root
