"""Rényi divergence of any order, and zero-concentrated differential privacy, of two exact laws.

D_a(P‖Q) = ln(Σ P(y)^a Q(y)^(1-a)) / (a - 1) for a > 1, D_1 the Kullback-Leibler divergence, D_inf = max ln P(y)/Q(y)
(van Erven, Harremoës 2014). A mechanism is ρ-zCDP where D_a <= ρ a for all a > 1 and all neighbours (Bun, Steinke
2016), so the least ρ of a pair is the supremum of D_a / a.

With u = a - 1 and K(u) = ln Σ P e^(u ln P/Q) that is the supremum of K(u) / (u (1 + u)) over u > 0. K is convex: on an
interval it lies below its chord, and the largest value of a chord over u (1 + u) is known in closed form. Intervals
are halved until their bounds meet the largest value found; beyond the last one D_a <= D_inf. Balls of `arb` hold all
values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from flint import arb, ctx

from tightdp.errors import ParameterError
from tightdp.exact.enclosure import Enclosure, ball, bits_of, bounded, closely, precisions
from tightdp.exact.field import ExpNumber, Number, as_ball
from tightdp.limits.calibrated import QUICK_BITS

Masses = Iterable[tuple[Number, Number]]
"""(P(y), Q(y)) for every output y."""

_DIGITS = 15
_LAST_BITS = 1 << 14


def power_sum(masses: Masses, order: Fraction | int, digits: int = 30) -> Number | Enclosure | float:
    """Return Σ P^order Q^(1-order) for a rational order > 0 other than 1: e to the power (order - 1) D_order.

    It is exact for an integer order, else an enclosure to so many significant digits; infinite for an order above 1
    where P gives an output that Q does not give. Raises ParameterError for other orders.
    """
    order = _checked(order, least=0)
    given = _given(masses) if order > 1 else [(p, q) for p, q in masses if p and q]
    if given is None:
        return math.inf
    if order.denominator == 1:
        total: Number = Fraction(0)
        for p, q in given:
            total = total + p * (p / q) ** (order.numerator - 1)
        return total

    def moment() -> arb:
        u = ball(order - 1)
        return sum((as_ball(p) * (u * as_ball(p / q).log()).exp() for p, q in given), arb(0))

    return closely(moment, digits, spare=32)


def renyi_divergence(masses: Masses, order: Fraction | int | float, digits: int = _DIGITS) -> Enclosure | float:
    """Enclose D_order for a rational order > 1, or for the order infinity: the logarithm of the largest ratio.

    Exact where it is 0; infinite where Q gives 0 to an output that P gives.
    """
    if order == math.inf:
        given = _given(masses)
        return math.inf if given is None else _log(max(p / q for p, q in given), Fraction(1), digits)
    order = _checked(order)
    moment = power_sum(masses, order, digits + 10)
    if isinstance(moment, float):
        return moment
    if isinstance(moment, Enclosure):
        with ctx.workprec(bits_of(digits) + 32):
            found = bounded(ball(moment.lower).union(ball(moment.upper)).log() / ball(order - 1))
        return Enclosure(max(Fraction(0), found.lower), found.upper)
    return _log(moment, order - 1, digits)


@dataclass(frozen=True)
class LeastRho:
    """The least ρ such that all pairs of laws are ρ-zCDP, enclosed, or infinity.

    `pair` is the number of a pair that attains the lower end, at about the order `order` (1: in the limit); None where
    all laws are equal in pairs.
    """

    rho: Enclosure | float
    pair: int | None
    order: float | None


def least_rho(
    pairs: Iterable[Masses],
    digits: int = 12,
    reached: Callable[[int, int, Fraction], None] = lambda done, total, lower: None,
) -> LeastRho:
    """Enclose the largest D_a(P‖Q) / a over all orders a > 1 and all given pairs of laws, to so many digits.

    Both orders of two neighbours have to be given. The relative width is at most 10^-digits. `reached` is called with
    the number of pairs looked at, that of all pairs, and the lower end so far.
    """
    laws = [_given(masses) for masses in pairs]
    if None in laws:
        return LeastRho(math.inf, laws.index(None), None)
    reached(0, len(laws), Fraction(0))
    return largest_rho([_OfMasses(_by_ratio(law or [])) for law in laws], digits, reached)


def largest_rho(
    curves: Sequence[Moments],
    digits: int = 12,
    reached: Callable[[int, int, Fraction], None] = lambda done, total, lower: None,
) -> LeastRho:
    """Enclose the largest D_a / a over all orders a > 1 and all given pairs of laws."""
    for bits in precisions(max(2 * QUICK_BITS, 2 * bits_of(digits)), _LAST_BITS):
        with ctx.workprec(bits):
            search = _Search(arb(10) ** -(digits + 1))
            for number, curve in enumerate(curves):
                if not curve.equal:
                    search.add(number, curve)
                reached(number + 1, len(curves), search.enclosure().lower)
            found = search.enclosure()
        if found.upper - found.lower <= found.lower / 10**digits:
            return LeastRho(found, search.pair, search.order)
    raise ArithmeticError("the least rho cannot be enclosed: probabilities are too close to each other")


class Moments(Protocol):
    """Two laws that are not `equal`, by what is known of their Rényi divergences."""

    @property
    def equal(self) -> bool:
        """Whether the laws are equal."""

    def at_the_precision_in_force(self) -> tuple[arb, arb, Callable[[float], arb]]:
        """Return D_1, D_inf, and K as a function of u."""


@dataclass(frozen=True)
class _OfMasses:
    """The outputs of a pair by likelihood ratio, and their probabilities under P."""

    law: Sequence[tuple[Number, Number]]

    @property
    def equal(self) -> bool:
        return all(ratio == 1 for ratio, _ in self.law)

    def at_the_precision_in_force(self) -> tuple[arb, arb, Callable[[float], arb]]:
        logs = [as_ball(ratio).log() for ratio, _ in self.law]
        weights = [as_ball(p) for _, p in self.law]

        def value(u: float) -> arb:
            """Return K(u), without cancellation where u is small."""
            return sum(((log * u).expm1() * p for p, log in zip(weights, logs, strict=True)), arb(0)).log1p()

        kl = sum((p * log for p, log in zip(weights, logs, strict=True)), arb(0))
        return kl, max(logs, key=lambda log: log.mid()), value


class _Search:
    """The largest value found so far, over several pairs of laws, at the precision in force."""

    def __init__(self, tolerance: arb) -> None:
        self._tolerance = tolerance
        self._lower = arb(0)
        self._upper = arb(0)
        self.pair: int | None = None
        self.order: float | None = None

    def enclosure(self) -> Enclosure:
        low, high = bounded(self._lower), bounded(self._upper)
        return Enclosure(max(Fraction(0), low.lower), high.upper)

    def add(self, number: int, curve: Moments) -> None:
        """Look at one pair."""
        kl, largest, value = curve.at_the_precision_in_force()

        def found(u: float, at: arb) -> None:
            if at.lower() > self._lower:
                self._lower, self.pair, self.order = at.lower(), number, 1.0 + u
            self._raise(at)

        found(0.0, kl)
        known = {0.0: arb(0)}
        last = 1.0
        while True:
            known[last] = value(last)
            found(last, known[last] / (arb(last) * (1 + arb(last))))
            if largest / (1 + arb(last)) <= self._lower * (1 + self._tolerance):
                break
            last *= 2
        self._raise(largest / (1 + arb(last)))
        # A bound is final where it is below the tolerance, or where the balls are no finer than the interval.
        open_intervals = [(0.0, last)]
        while open_intervals:
            left, right = open_intervals.pop()
            bound = _largest_under_chord(left, known[left], right, known[right])
            middle = (left + right) / 2
            if bound <= self._lower * (1 + self._tolerance) or right - left <= right * 2.0**-48 or right < 2.0**-100:
                self._raise(bound)
                continue
            known[middle] = value(middle)
            found(middle, known[middle] / (arb(middle) * (1 + arb(middle))))
            open_intervals += [(left, middle), (middle, right)]

    def _raise(self, bound: arb) -> None:
        if not bound.upper() <= self._upper:
            self._upper = bound.upper()


def _largest_under_chord(left: float, below: arb, right: float, above: arb) -> arb:
    """Return an upper bound on chord(u) / (u (1 + u)) for left <= u <= right, the chord taken from the upper ends.

    With chord(u) = c + s u the value falls for c >= 0; for c < 0 it rises up to u* = (-c + sqrt(c² - c s)) / s, and
    falls from there on.
    """
    start, end = arb(left), arb(right)
    low, high = below.upper(), above.upper()
    slope = (high - low) / (end - start)
    if not left:
        return slope

    def value(u: arb) -> arb:
        return ((low + slope * (u - start)) / (u * (1 + u))).upper()

    constant = (low - slope * start).upper()
    if constant >= 0 or not slope > 0:
        return max(value(start), value(end))
    best = (-constant + (constant * constant - constant * slope).sqrt()) / slope
    if best <= start:
        return value(start)
    if best >= end:
        return value(end)
    return value(best)


def _given(masses: Masses) -> list[tuple[Number, Number]] | None:
    """Return the masses of outputs that P gives; None where Q does not give one of them."""
    listed = [(p, q) for p, q in masses if p]
    return None if any(not q for _, q in listed) else listed


def _by_ratio(law: Sequence[tuple[Number, Number]]) -> list[tuple[Number, Number]]:
    """Return the likelihood ratios with their probabilities under P."""
    found: dict[Number, Number] = {}
    for p, q in law:
        ratio = p / q
        found[ratio] = found.get(ratio, Fraction(0)) + p
    return list(found.items())


def _log(value: Number, divisor: Fraction, digits: int) -> Enclosure:
    """Enclose ln(value) / divisor; exactly where the value is a power of e."""
    exponent = value.exponent if isinstance(value, ExpNumber) else Fraction(0) if value == 1 else None
    if exponent is not None:
        return Enclosure.exactly(exponent / divisor)
    return closely(lambda: as_ball(value).log() / ball(divisor), digits, spare=16)


def _checked(order: Fraction | int | float, least: int = 1) -> Fraction:
    if isinstance(order, (bool, float)) or not isinstance(order, (int, Fraction)) or order <= least or order == 1:
        raise ParameterError(f"the Rényi order is {order!r}", "give a rational above 1, or infinity")
    return Fraction(order)
