"""Σ P^a·Q^(1-a) of two laws with real numbers, and so Rényi divergences.

Where Q is one exponential a whole power of P over one of Q is a sum of exponentials again. Elsewhere, and for other
orders, the integral over a real number is enclosed by quadrature with a proved error; close to an end at which a
density is 0, and far out, both densities are powers and exponentials times numbers that are enclosed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, arb, ctx, fmpq

from tightdp.cells.comparing import Comparing
from tightdp.cells.kinds import Both, Integers, Kind, Part, Real, Reals
from tightdp.cells.lines import terms_of
from tightdp.cells.mixed import Mixed, Place, mass
from tightdp.cells.noise import Outside
from tightdp.cells.patterns import Counted
from tightdp.cells.simplices import Function, integral, scaled
from tightdp.cells.sums import Base, Exact, added, near, plus, rational_number
from tightdp.cells.suprema import sum_of
from tightdp.exact.enclosure import BITS, as_fmpq, ball
from tightdp.exact.waves import Terms, derivative, value_at
from tightdp.language.program import Dataset

_WHOLE = "is published beside noise on the integers: there are such sums of single exponentials, at whole orders"
_NOT_ENCLOSED = "has densities of which such integrals are not enclosed"
_LAST_ORDER = 1 << 20
"""Of larger orders it is only told whether integrals are infinite, where they are not in closed form."""
_ORDERS = Fraction(3, 2), _LAST_ORDER + Fraction(1, 2)
"""A divergence that is infinite for some order is so for one of these."""
_NEAR_1, _CANCELLED = 2.0**-40, 64
"""D_a of an a so close to 1 stands for that of 1; it takes so many bits more."""
_MOST_TERMS = 20_000
_SPARE = 64
"""Quadrature takes so many bits more than its result has."""
_DERIVATIVES, _DOUBLED = 32, 40
"""So many derivatives are looked at where a density is 0, and so often it is looked twice as far out."""


@dataclass(frozen=True)
class MomentsOfReals:
    """A pair of datasets, by its power sums of all orders, with what its likelihood ratios do not exceed."""

    powers: Powers
    x: Dataset
    x_prime: Dataset
    most: Exact

    @property
    def equal(self) -> bool:
        return bool(self.most == 1)

    def at_the_precision_in_force(self) -> tuple[arb, arb, Callable[[float], arb]]:
        def value(u: float) -> arb:
            """Return K(u); where u is small its logarithm cancels."""
            with ctx.workprec(ctx.prec + _CANCELLED):
                return near(self.powers.sum(self.x, self.x_prime, 1 + Fraction(u))).log()

        return value(_NEAR_1) / (arb(_NEAR_1) * (1 + arb(_NEAR_1))), near(rational_number(self.most)).log(), value


class Powers:
    """The sums Σ P^a·Q^(1-a) of pairs of datasets. Raises Outside where they are not known."""

    def __init__(self, comparing: Comparing) -> None:
        self._comparing = comparing
        self._known: dict[Any, Exact] = {}

    def sum(self, x: Dataset, x_prime: Dataset, order: Fraction) -> Exact:
        """Return the sum for an order above 1: exact, enclosed with the bits in force, or infinite."""
        x, x_prime = map(self._comparing.laws.content, (x, x_prime))
        total: Any = 0
        for kind in self._comparing.apart:
            if x in kind.weights:
                more = self._of_kind(kind, x, x_prime, order)
                if more == math.inf:
                    return more
                total = plus(total, more)
        return total

    def moments(self, x: Dataset, x_prime: Dataset) -> MomentsOfReals | None:
        """Return what is asked of two laws about all orders, None where some order has an infinite divergence."""
        ours, theirs = map(self._comparing.laws.content, (x, x_prime))
        if all(kind.like(ours) == kind.like(theirs) for kind in self._comparing.apart):
            return MomentsOfReals(self, x, x_prime, self._comparing.laws.one)
        best = self._comparing.largest([(x, x_prime)])
        known = self._comparing.laws.one if best is None else best.value
        most = math.inf if math.inf in (known, self._comparing.upper) else max(known, self._comparing.upper)
        if most == math.inf:
            for order in _ORDERS:
                with ctx.workprec(BITS), suppress(Outside):
                    if self.sum(x, x_prime, order) == math.inf:
                        return None
            raise Outside("has likelihood ratios without an upper end")
        return MomentsOfReals(self, x, x_prime, most)

    def _of_kind(self, kind: Kind, x: Dataset, x_prime: Dataset, order: Fraction) -> Exact:
        if x_prime not in kind.weights:
            return math.inf
        weight, weight_prime = (rational_number(kind.weights[each]) for each in (x, x_prime))
        total = _power(weight, weight_prime, order)
        every = [part.compared(kind.like(x), kind.like(x_prime)) for part in kind.parts]
        functions = self._comparing.numbers.functions
        if any(functions[p] and not functions[q] for each in every for p, q, _ in each):
            return math.inf
        for part, compared in zip(kind.parts, every, strict=True):
            sums: Any = 0
            for p, q, on in compared:
                key = p, q, order, ctx.prec
                if key not in self._known:
                    self._known[key] = self._integral(part, functions[p], functions[q], on, order)
                if self._known[key] == math.inf:
                    return math.inf
                sums = plus(sums, self._known[key])
            total = near(total) * near(sums) if isinstance(total, arb) or isinstance(sums, arb) else total * sums
        return total

    def _integral(self, part: Part, p: Any, q: Any, on: Any, order: Fraction) -> Exact:
        """Return the sum, or integral, of p^order·q^(1-order) over a part of all outputs."""
        self._comparing.watch()
        if not p:
            return 0
        if isinstance(part, Integers):
            return _over_integers(p, q, order)
        if isinstance(part, Real):
            wide = 1 if on.length is None else on.length
            ours, theirs = (_on_lengths(terms_of(each), wide) for each in (p, q))
            found = _over_lengths(ours, theirs, int(on.length is not None), fmpq(1), order)
            return _by_quadrature(terms_of(p), terms_of(q), on.length, order) if found is None else found
        if isinstance(part, Both):
            return _over_both(p, q, on, order)
        if isinstance(part, Reals):
            found = _over_lengths(p, q, on.simplex.bounded, on.simplex.volume, order)
            if found is not None:
                return found
        raise Outside("is published in several numbers that share draws, of which a density is no exponential")


def _over_integers(p: Counted, q: Counted, order: Fraction) -> Exact:
    if order.denominator == 1 or p == q:
        found = _whole_power(p, q, order.numerator)
    elif p.keys() == q.keys() == {()}:
        return _power(rational_number(p[()]), rational_number(q[()]), order)
    else:
        found = None
    if found is None:
        raise Outside(_WHOLE)
    if any(base.value >= 1 for key in found for base, _ in key):
        return math.inf
    return rational_number(sum((c * sum_of(key) for key, c in found.items()), 0))


def _over_both(p: Mixed, q: Mixed, place: Place, order: Fraction) -> Exact:
    if order.denominator == 1 or p == q:
        integers = len(place.pattern.steps)
        ours, theirs = ({(*counts, *term): c for (counts, term), c in each.items()} for each in (p, q))
        found = _whole_power(ours, theirs, order.numerator)
        if found is not None:
            mixed = {(key[:integers], key[integers:]): c for key, c in found.items()}
            far = integers + place.bounded
            bases = (base for key in found for base, _ in (*key[:integers], *key[far:]))
            falls = (base.value < 1 if isinstance(base, Base) else base < 0 for base in bases)
            if not all(falls):
                return math.inf
            return mass(mixed, place)
    raise Outside(_WHOLE)


def _over_lengths(p: Function, q: Function, bounded: int, volume: fmpq, order: Fraction) -> Exact | None:
    """Return the integral of a power over lengths; None where it is not in closed form."""
    if order.denominator == 1 or p == q:
        found = _whole_power(p, q, order.numerator)
    elif len(p) == len(q) == 1 and not any(degree for key in (*p, *q) for _, degree in key):
        ((key, c),), ((other, d),) = p.items(), q.items()
        a = as_fmpq(order)
        rates = (a * rate + (1 - a) * over for (rate, _), (over, _) in zip(key, other, strict=True))
        found = {tuple((rate, 0) for rate in rates): near(_power(c, d, order))}  # e to such rates may be too long
    else:
        found = None
    if found is None:
        return None
    if any(rate >= 0 for key in found for rate, _ in key[bounded:]):
        return math.inf
    return scaled(integral(found, bounded), volume)


def _whole_power(p: Any, q: Any, order: int) -> Any | None:
    """Return p^order·q^(1-order) by terms, where q is one term without a degree, or p; None elsewhere."""
    if p == q:
        return p
    if len(q) != 1 or len(p) ** min(order, 20) > _MOST_TERMS:
        return None
    ((key, c),) = q.items()
    if any(degree for _, degree in key):
        return None
    inverse = [(base**-1 if isinstance(base, Base) else -base, 0) for base, _ in key]
    ratio = {_times(own, inverse): d / c for own, d in p.items()}
    found = dict(p)
    for _ in range(order - 1):
        product: Any = {}
        for (own, d), (by, e) in ((one, other) for one in found.items() for other in ratio.items()):
            added(product, {_times(own, by): d * e})
        found = product
    return found


def _times(key: Any, other: Any) -> Any:
    """Return the product of two terms, by bases or by rates, and degrees."""
    pairs = zip(key, other, strict=True)
    return tuple((a * b if isinstance(a, Base) else a + b, k + m) for (a, k), (b, m) in pairs)


def _power(p: Exact, q: Exact, order: Fraction) -> Exact:
    """Return p^order·q^(1-order) of two positive numbers."""
    if order.denominator == 1:
        return p * (p / q) ** (order.numerator - 1)
    return near(p) * (near(p) / near(q)) ** ball(order - 1) if p != q else p


def _on_lengths(terms: Terms, wide: Fraction | int) -> Function:
    """Return a function times a length as one of shares of that length."""
    return {
        ((as_fmpq(rate * wide), degree),): scaled(c, as_fmpq(Fraction(wide) ** (degree + 1)))
        for (rate, degree), c in terms.items()
    }


def _by_quadrature(p: Terms, q: Terms, length: Fraction | None, order: Fraction) -> Exact:
    """Enclose the integral of p^order·q^(1-order) from 0 to a length, or far out, where both are positive inside."""
    bits = ctx.prec
    with ctx.workprec(bits + _SPARE):
        beyond, high = _beyond(p, q, order, bits) if length is None else (arb(0), length)
        if beyond == math.inf:
            return beyond
        tiny, ends, total = high / (1 << bits), [Fraction(0), high], beyond
        for at, inwards in ((0, 1), (1, -1)) if length is not None else ((0, 1),):
            ours, theirs = (_first(each, ends[at]) for each in (p, q))
            if ours[0] or theirs[0]:
                power = ours[0] * order + theirs[0] * (1 - order) + 1
                if power <= 0:
                    return math.inf
                beside = ends[at] + inwards * tiny
                c, d = (_times_power(*each, ends[at], beside, inwards) for each in (ours, theirs))
                total += _power_of(c, d, order) * ball(tiny) ** ball(power) / ball(power)
                ends[at] = beside
        if order > _LAST_ORDER:
            raise Outside(_NOT_ENCLOSED)
        return total + _quadrature(_Density(p), _Density(q), ends[0], ends[1], order, bits)


def _first(terms: Terms, t: Fraction) -> tuple[int, Terms]:
    """Return the number of the first derivative that is not 0 at a place, and this derivative."""
    for number in range(_DERIVATIVES):
        if value_at(terms, t):
            return number, terms
        terms = derivative(terms)
    raise Outside(_NOT_ENCLOSED)


def _times_power(number: int, terms: Terms, t: Fraction, beside: Fraction, inwards: int) -> arb:
    """Enclose what a density is by the power of the distance from t: the derivative, by Taylor."""
    place = ball(t).union(ball(beside))
    values = (near(c) * (ball(rate) * place).exp() * place**degree for (rate, degree), c in terms.items())
    total: arb = sum(values, arb(0)) * inwards**number / math.factorial(number)
    return total


def _beyond(p: Terms, q: Terms, order: Fraction, bits: int) -> tuple[Any, Fraction]:
    """Return an enclosure of the integral from a place on that is far out, and that place."""
    (rate, degree), (over, by) = max(p), max(q)
    fall, power = -(order * rate + (1 - order) * over), order * degree + (1 - order) * by
    if fall < 0 or (not fall and power >= -1):
        return math.inf, Fraction(0)
    far = Fraction(math.ceil((bits + 8 * abs(power) + 8) / fall)) if fall else Fraction(bits)
    for _ in range(_DOUBLED):
        c, d = (_times_leading(each, far) for each in (p, q))
        if c > 0 and d > 0:
            s, x = ball(power + 1), ball(far)
            rest = (ball(fall) * x).gamma_upper(s) / ball(fall) ** s if fall else x**s / -s
            return _power_of(c, d, order) * rest, far
        far *= 2
    raise Outside(_NOT_ENCLOSED)


def _times_leading(terms: Terms, far: Fraction) -> arb:
    """Enclose a density from a place on by its fastest growing term, without the factor of that."""
    (fastest, most), total = max(terms), arb(0)
    for (rate, degree), c in terms.items():
        falls, power = fastest - rate, degree - most
        if falls and far * falls < power:  # it still rises
            return arb(0)
        share = ball(far) ** power * (-ball(falls) * ball(far)).exp()
        total += near(c) * (share.union(arb(0)) if falls or power else share)
    return total


def _power_of(p: arb, q: arb, order: Fraction) -> arb:
    if not (p > 0 and q > 0):
        raise Outside(_NOT_ENCLOSED)
    return p * (p / q) ** ball(order - 1)


class _Density:
    """A density divided by its fastest exponential, at complex places."""

    def __init__(self, terms: Terms) -> None:
        fastest = max(rate for rate, _ in terms)
        self.rate = ball(fastest)
        self._terms = [(near(c), ball(rate - fastest), degree) for (rate, degree), c in terms.items()]

    def at(self, t: acb) -> acb:
        values = (c * (rate * t).exp() if rate else acb(c) for c, rate, _ in self._terms)
        powers = (t**degree if degree else 1 for *_, degree in self._terms)
        return sum((value * power for value, power in zip(values, powers, strict=True)), acb(0))


def _quadrature(p: _Density, q: _Density, low: Fraction, high: Fraction, order: Fraction, bits: int) -> arb:
    """Enclose the integral of p^order·q^(1-order) between two numbers, where both are positive."""
    u = ball(order - 1)
    rate = p.rate + u * (p.rate - q.rate)

    def function(t: acb, analytic: bool) -> acb:
        ours = p.at(t)
        return ours * (rate * t + u * (ours.log(analytic) - q.at(t).log(analytic))).exp()

    found = acb.integral(function, acb(ball(low)), acb(ball(high)), abs_tol=arb(2) ** -bits, rel_tol=arb(2) ** -bits)
    if not found.is_finite():
        raise Outside(_NOT_ENCLOSED)
    return found.real
