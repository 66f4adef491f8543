"""The kinds of two output laws, each asked the same questions, and the largest value over pairs of neighbours.

Exact laws have exact values. Laws that are known up to an error, as with Gaussian noise, give both ends of a value.
Those of a mechanism that asks an analyst are in `strategies`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

from flint import arb, ctx

from tightdp.core.nodes import Inexact
from tightdp.exact.divergence import least_rho, power_sum
from tightdp.exact.enclosure import BITS, Enclosure, ball, bounded, ends
from tightdp.exact.field import Number, as_ball
from tightdp.exact.numbers import SHORT, Exact, down, log_up, up
from tightdp.exact.weights import quotient
from tightdp.language.tails import is_beyond
from tightdp.logic.count import Weights
from tightdp.methods.base import Known, Pair
from tightdp.queries import gaussian
from tightdp.queries.curves import delta_of, least_of
from tightdp.queries.privacy import Compared, Deltas, Ends, Question, RenyiAt, TwoLaws
from tightdp.queries.screen import Screen

P = TypeVar("P")
L = TypeVar("L", bound=Compared)
_OTHERS = -1
"""The code of all outputs of which the probabilities are not known one by one."""
_MOST = Fraction(1 << 20)
"""Up to this e^ε, then up to its square, and so on, the least e^ε at a δ of inexact laws is looked for."""
_ORDERS = tuple(map(Fraction, (2, 3, 4, 8, 16, 32)))
"""At these orders ρ is bounded from below where its supremum over all orders is not known."""
Range = tuple[Number, Number]
Kind = Callable[[Pair], TwoLaws]
"""What gives the laws of a pair of neighbours."""


class ExactLaws:
    """Two exact output laws. Where not all outputs are known of them, the others are one output of power sums."""

    def __init__(self, ours: Weights, theirs: Weights, screen: Screen | None = None) -> None:
        self._known, self._screen = (ours, theirs), screen

    @classmethod
    def of(cls, pair: Pair, screen: Screen | None = None) -> ExactLaws:
        """Return the laws of a pair of neighbours."""
        return cls(pair.table.weights(pair.x), pair.table.weights(pair.x_prime), screen)

    def delta(self, t: Number) -> tuple[Number, Number]:
        return (delta_of(*self._known, t),) * 2

    def least_ratio(self, delta: Number) -> Ends:
        return (max(least_of(*self._known, delta), Fraction(1)),) * 2

    def surely_below(self, t: Number, delta: Number) -> bool:
        return self._screen is not None and self._screen.surely_below(*self._known, t, delta)

    def masses(self) -> list[tuple[Number, Number]]:
        """Return P(y) and Q(y) of every output that P gives."""
        ours, theirs = map(_completed, self._known)
        return [
            (quotient(weight, ours.total), quotient(theirs.by_code.get(code, 0), theirs.total))
            for code, weight in ours.by_code.items()
        ]

    def power_sum(self, order: Fraction) -> Ends:
        if order.denominator == 1:
            return (self._whole(order.numerator),) * 2
        found = power_sum(self.masses(), order)
        if isinstance(found, Enclosure):
            return down(found.lower, SHORT), up(found.upper, SHORT)
        return found, found

    def _whole(self, order: int) -> Exact:
        ours, theirs = map(_completed, self._known)
        total: Number = Fraction(0)
        for code, weight in ours.by_code.items():
            other = theirs.by_code.get(code, 0)
            if not other:
                return math.inf
            total += quotient(weight**order, other ** (order - 1))
        return total * quotient(theirs.total ** (order - 1), ours.total**order)


@dataclass(frozen=True)
class Around:
    """Two laws whose events may have other probabilities than those that are known: both together differ by `total`."""

    known: Deltas
    total: Fraction

    def delta(self, t: Number) -> tuple[Number, Number]:
        low, high = self.known.delta(t)
        assert not isinstance(low, float)
        assert not isinstance(high, float)
        slack = (1 + t) * self.total
        return max(low - slack, Fraction(0)), min(high + slack, Fraction(1))

    def least_ratio(self, delta: Number) -> Ends:
        """The least t is that of the laws that are known at a smaller and at a larger δ."""
        most = _MOST
        while (less := delta - (1 + most) * self.total) > 0:
            upper = self.known.least_ratio(less)[1]
            if isinstance(upper, float):
                break
            if upper <= most:
                more = delta + (1 + upper) * self.total
                return (upper if upper == 1 else self.known.least_ratio(more)[0]), upper
            most = most * most
        return Fraction(1), math.inf


class InexactLaws:
    """Two output laws that are those of a core program up to an error."""

    def __init__(self, pair: Pair, error: Inexact, screen: Screen | None = None) -> None:
        self._pair, self._error, self._core = pair, error, ExactLaws.of(pair, screen)
        self._around = Around(self._core, error.total)
        self.complete = not error.published or error.outputs is not None

    def delta(self, t: Number) -> tuple[Number, Number]:
        value, error = self._core.delta(t)[0], self._error
        if error.merged:  # what is lost on the way to a function of the output is not known
            return value, Fraction(1)
        low, high = self._around.delta(t)
        if not value and not error.published and not error.cut and not self._core.delta(t / error.factor)[0]:
            high = Fraction(0)  # all probabilities differ by a factor
        return down(low), up(high)

    def least_ratio(self, delta: Number) -> Ends:
        if self._error.merged:
            return self._core.least_ratio(delta)[0], math.inf
        lower, upper = self._around.least_ratio(delta)
        return max(down(lower), Fraction(1)), upper if upper == math.inf else up(upper)

    def surely_below(self, t: Number, delta: Number) -> bool:
        less = delta - (1 + t) * self._error.total
        return less >= 0 and not self._error.merged and self._core.surely_below(t, less)

    def ranges(self) -> Iterator[tuple[Range, Range]]:
        """Yield both ends of P(y) and of Q(y), for every output that is known to be possible."""
        (ours, theirs), none = gaussian.laws_of(self._pair), Fraction(0)
        for output in {**ours, **theirs, **dict.fromkeys(self._error.outputs or ())}:
            if not is_beyond(output):
                yield self._error.ends(ours.get(output, none)), self._error.ends(theirs.get(output, none))

    def power_sum(self, order: Fraction) -> Ends:
        if self._error.merged:
            return self._core.power_sum(order)[0], math.inf
        if not self._error.cut:
            found = gaussian.power_sum(*gaussian.laws_of(self._pair), order, self._error.relative)
            return (found, found) if isinstance(found, float) else (down(found.lower), up(found.upper))
        # A term grows with P(y); with Q(y) it falls for an order above 1, and grows for one below.
        with ctx.workprec(2 * BITS):
            a, low_sum, high_sum = ball(order), arb(0), arb(0) if self.complete else arb("inf")
            for (low, high), (low_prime, high_prime) in self.ranges():
                first, last = (high_prime, low_prime) if order > 1 else (low_prime, high_prime)
                low_sum += as_ball(low) ** a * as_ball(first) ** (1 - a) if low and first else 0
                high_sum += as_ball(high) ** a * as_ball(last) ** (1 - a) if last else arb("inf")
            above = ends(high_sum)
            return down(bounded(low_sum).lower), math.inf if above is None else up(above.upper)


def _completed(law: Weights) -> Weights:
    """Return a law with an output that stands for all that are missing."""
    missing = law.total - sum(law.by_code.values())
    return Weights({**law.by_code, _OTHERS: missing}, law.total) if missing else law


@dataclass(frozen=True)
class Found(Generic[P]):
    """A largest value over pairs of neighbours between two ends, a pair that has the lower one, and its order."""

    lower: Exact
    upper: Exact
    pair: P | None
    order: float | None = None


def kind_of(error: Inexact | None) -> Kind:
    """Return what gives the laws of pairs of neighbours, exact ones or such with an error."""
    screen = Screen()
    if error is None:
        return lambda pair: ExactLaws.of(pair, screen)
    return lambda pair: InexactLaws(pair, error, screen)


def largest(
    pairs: Iterable[P], question: Question[L], kind: Callable[[P], L], knows: Callable[[Known], None] = lambda _: None
) -> Found[P]:
    """Return the largest value over some pairs, and the first that has its lower end; None where that is the least.

    A pair that is seen, in doubles, to have no more is skipped. `knows` is passed a function that returns the lower end
    so far.
    """
    best: Found[P] = Found(question.least, question.least, None)
    knows(lambda: best.lower)
    for pair in pairs:
        laws, place = kind(pair), None if isinstance(best.upper, float) else question.place(best.upper)
        if place is None or not laws.surely_below(*place):
            best = _larger(best, pair, *question.ends(laws))
        if best.lower == math.inf:
            break
    return best


def _larger(best: Found[P], pair: P, lower: Exact, upper: Exact) -> Found[P]:
    return Found(max(lower, best.lower), max(upper, best.upper), pair if lower > best.lower else best.pair)


def ratios(pairs: Iterable[Pair], error: Inexact) -> Found[Pair]:
    """Enclose the largest likelihood ratio where noise is cut off: no upper end where outputs may be missing."""
    best: Found[Pair] = Found(Fraction(1), Fraction(1), None)
    for pair in pairs:
        laws = InexactLaws(pair, error)
        lower: Exact = Fraction(1)
        upper: Exact = Fraction(1) if laws.complete else math.inf
        for (low, high), (low_prime, high_prime) in laws.ranges():
            lower = max(lower, low / high_prime)
            upper = max(upper, high / low_prime if low_prime else math.inf)
        best = _larger(best, pair, lower, upper)
    return best


def concentrated(
    pairs: Iterable[Pair],
    error: Inexact | None,
    exp_epsilon: Callable[[], Exact],
    reached: Callable[[int, int, Fraction], None] = lambda done, total, lower: None,
) -> Found[Pair]:
    """Enclose the least ρ such that all pairs are ρ-zCDP; the order is the one at which its lower end is attained.

    `reached` is told the number of pairs done, their total, and the lower end so far; `exp_epsilon` gives the upper end
    of the pure e^ε.
    """
    listed = list(pairs)
    if error is None:
        return _exactly_concentrated(listed, reached)
    pure = exp_epsilon()
    if error.cut:  # ρ is at most ε²/2 (Bun and Steinke 2016, Proposition 1.4)
        found = _least_rho(listed, _ORDERS, error)
        return found if isinstance(pure, float) else Found(found.lower, up(Fraction(log_up(pure)) ** 2 / 2), found.pair)
    if error.published and isinstance(pure, float):
        return Found(_least_rho(listed, _ORDERS, error).lower, math.inf, None)
    found = _exactly_concentrated(listed)
    if isinstance(found.upper, float) or isinstance(pure, float):  # infinite, or not known to be finite
        return Found(math.inf if isinstance(found.lower, float) else Fraction(0), math.inf, found.pair)
    # The core program has at least as much, but for logarithms of ratios that are wrong by 4·relative.
    slack = 16 * error.relative * (1 + Fraction(log_up(pure))) * up(pure)
    lower: Exact = down(max(down(found.lower) - slack, Fraction(0)))
    if error.published:
        order = max(Fraction(found.order or 2).limit_denominator(10**6), 1 + Fraction(1, 1 << 30))
        lower = _least_rho(listed, [order], error).lower
    return Found(lower, up(up(found.upper) + slack), found.pair)


def _exactly_concentrated(
    pairs: Sequence[Pair], reached: Callable[[int, int, Fraction], None] = lambda done, total, lower: None
) -> Found[Pair]:
    laws = (ExactLaws.of(pair).masses() for pair in pairs)
    found = least_rho(laws, reached=reached)
    pair = None if found.pair is None else pairs[found.pair]
    if isinstance(found.rho, float):
        return Found(math.inf, math.inf, pair)
    return Found(down(found.rho.lower, SHORT), up(found.rho.upper, SHORT), pair, found.order)


def _least_rho(pairs: Sequence[Pair], orders: Iterable[Fraction], error: Inexact) -> Found[Pair]:
    """Return a lower end of the least ρ: the largest D_a / a over some orders."""
    best: Found[Pair] = Found(Fraction(0), math.inf, None)
    for order in orders:
        moment = largest(pairs, RenyiAt(order), kind_of(error))
        if moment.lower > 1 and not isinstance(moment.lower, float):
            with ctx.workprec(2 * BITS):
                found = bounded(as_ball(moment.lower).log() / ball(order * (order - 1)))
            best = max(best, Found(down(found.lower), math.inf, moment.pair), key=lambda each: each.lower)
    return best
