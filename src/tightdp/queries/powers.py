"""Values of two laws that are made of power sums Σ_y P(y)^a Q(y)^(1-a), and the largest over pairs of neighbours.

Rényi divergence of the order a > 1, zero-concentrated DP and the Hellinger distance (a = 1/2) are such values. A
question says which, and knows nothing of the numbers that laws have; `TwoLaws` gives both ends of a power sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from flint import arb, ctx

from tightdp.core.nodes import Inexact
from tightdp.exact.divergence import least_rho, power_sum
from tightdp.exact.enclosure import Enclosure, ball, ends
from tightdp.exact.field import Number, as_ball
from tightdp.exact.numbers import SHORT, Exact, down, log_up, up
from tightdp.exact.weights import quotient
from tightdp.language.tails import is_beyond
from tightdp.logic.count import Weights
from tightdp.methods.base import Known, Pair
from tightdp.queries import gaussian

_OTHERS = -1
"""The code of all outputs of which the probabilities are not known one by one."""
_BITS = 512
_ORDERS = tuple(map(Fraction, (2, 3, 4, 8, 16, 32)))
"""At these orders ρ is bounded from below where its supremum over all orders is not known."""
Ends = tuple[Exact, Exact]
Range = tuple[Number, Number]


class TwoLaws(Protocol):
    """Two output laws P and Q."""

    def power_sum(self, order: Fraction) -> Ends:
        """Return both ends of Σ_y P(y)^a Q(y)^(1-a), for a rational a > 0 other than 1."""


class ExactLaws:
    """Two exact output laws. Where not all outputs are known of them, the others are one output."""

    def __init__(self, ours: Weights, theirs: Weights) -> None:
        self._ours, self._theirs = map(_completed, (ours, theirs))

    def masses(self) -> list[tuple[Number, Number]]:
        """Return P(y) and Q(y) of every output that P gives."""
        ours, theirs = self._ours, self._theirs
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
        ours, theirs = self._ours, self._theirs
        total: Number = Fraction(0)
        for code, weight in ours.by_code.items():
            other = theirs.by_code.get(code, 0)
            if not other:
                return math.inf
            total += quotient(weight**order, other ** (order - 1))
        return total * quotient(theirs.total ** (order - 1), ours.total**order)


class InexactLaws:
    """Two output laws that are those of a core program up to an error."""

    def __init__(self, pair: Pair, error: Inexact) -> None:
        self._laws, self._error = gaussian.laws_of(pair), error

    def ranges(self) -> Iterator[tuple[Range, Range]]:
        """Yield both ends of P(y) and of Q(y), for every output that is known."""
        (ours, theirs), none = self._laws, Fraction(0)
        for output in {**ours, **theirs}:
            if not is_beyond(output):
                yield self._error.ends(ours.get(output, none)), self._error.ends(theirs.get(output, none))

    def power_sum(self, order: Fraction) -> Ends:
        if not self._error.cut:
            found = gaussian.power_sum(*self._laws, order, self._error.relative)
            return (found, found) if isinstance(found, float) else (down(found.lower), up(found.upper))
        # A term grows with P(y); with Q(y) it falls for an order above 1, and grows for one below.
        with ctx.workprec(_BITS):
            a, low_sum, high_sum = ball(order), arb(0), arb("inf") if self._error.published else arb(0)
            for (low, high), (low_prime, high_prime) in self.ranges():
                first, last = (high_prime, low_prime) if order > 1 else (low_prime, high_prime)
                low_sum += as_ball(low) ** a * as_ball(first) ** (1 - a) if low and first else 0
                high_sum += as_ball(high) ** a * as_ball(last) ** (1 - a) if last else arb("inf")
            below, above = ends(low_sum), ends(high_sum)
            assert below is not None
            return down(below.lower), math.inf if above is None else up(above.upper)


def _completed(law: Weights) -> Weights:
    """Return a law with an output that stands for all that are missing."""
    missing = law.total - sum(law.by_code.values())
    return Weights({**law.by_code, _OTHERS: missing}, law.total) if missing else law


def _exact(pair: Pair) -> ExactLaws:
    """Return the laws of a pair of neighbours."""
    return ExactLaws(pair.table.weights(pair.x), pair.table.weights(pair.x_prime))


class Question(Protocol):
    """A value of two laws that is larger where they are easier to tell apart."""

    @property
    def side(self) -> str:
        """What a search reports of it, as in "δ ≥"."""

    @property
    def least(self) -> Fraction:
        """Its value for equal laws, below which it never is."""

    def ends(self, laws: TwoLaws) -> Ends:
        """Return both ends of the value."""

    def bound(self, ratio: Exact) -> Exact:
        """Return an upper end for laws whose likelihood ratios are at most `ratio`."""


@dataclass(frozen=True)
class Renyi:
    """exp((a - 1)·D_a) for a rational order a > 1."""

    order: Fraction
    side: str = "exp((a-1)·D_a) ≥"
    least: Fraction = Fraction(1)

    def ends(self, laws: TwoLaws) -> Ends:
        """Return both ends of the power sum."""
        return laws.power_sum(self.order)

    def bound(self, ratio: Exact) -> Exact:
        """Return the ratio to the power of a - 1, at least: Σ P (P/Q)^(a-1) is at most that."""
        return ratio ** (math.ceil(self.order) - 1)


@dataclass(frozen=True)
class Found:
    """A largest value over pairs of neighbours between two ends, a pair that has the lower one, and its order."""

    lower: Exact
    upper: Exact
    pair: Pair | None
    order: float | None = None


def largest(
    pairs: Iterable[Pair], question: Question, error: Inexact | None, knows: Callable[[Known], None] = lambda _: None
) -> Found:
    """Return the largest value over some pairs; `knows` is passed a function that returns its lower end so far."""
    best = Found(question.least, question.least, None)
    knows(lambda: best.lower)
    for pair in pairs:
        best = _larger(best, pair, *question.ends(_exact(pair) if error is None else InexactLaws(pair, error)))
        if best.lower == math.inf:
            break
    return best


def _larger(best: Found, pair: Pair, lower: Exact, upper: Exact) -> Found:
    first = best.pair is None or lower > best.lower
    return Found(max(lower, best.lower), max(upper, best.upper), pair if first else best.pair)


def ratios(pairs: Iterable[Pair], error: Inexact) -> Found:
    """Enclose the largest likelihood ratio of laws whose noise is cut off: no upper end where that is published."""
    best = Found(Fraction(1), Fraction(1), None)
    for pair in pairs:
        lower: Exact = Fraction(1)
        upper: Exact = math.inf if error.published else Fraction(1)
        for (low, high), (low_prime, high_prime) in InexactLaws(pair, error).ranges():
            lower = max(lower, low / high_prime)
            upper = max(upper, high / low_prime if low_prime else math.inf)
        best = _larger(best, pair, lower, upper)
    return best


def concentrated(
    pairs: Iterable[Pair],
    error: Inexact | None,
    exp_epsilon: Callable[[], Exact],
    reached: Callable[[int, int, Fraction], None] = lambda done, total, lower: None,
) -> Found:
    """Enclose the least ρ such that all pairs are ρ-zCDP; the order is the one at which its lower end is attained.

    `reached` is told the number of pairs done, their total, and the lower end so far; `exp_epsilon` gives the upper end
    of the pure e^ε.
    """
    listed = list(pairs)
    if error is None:
        return _exactly_concentrated(listed, reached)
    known = gaussian.concentrated(listed, error.relative) if error.published else None
    if known is not None:
        return Found(*known)
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
) -> Found:
    laws = (_exact(pair).masses() for pair in pairs)
    found = least_rho(laws, reached=reached)
    pair = None if found.pair is None else pairs[found.pair]
    if isinstance(found.rho, float):
        return Found(math.inf, math.inf, pair)
    return Found(down(found.rho.lower, SHORT), up(found.rho.upper, SHORT), pair, found.order)


def _least_rho(pairs: Sequence[Pair], orders: Iterable[Fraction], error: Inexact) -> Found:
    """Return a lower end of the least ρ: the largest D_a / a over some orders."""
    best = Found(Fraction(0), math.inf, None)
    for order in orders:
        moment = largest(pairs, Renyi(order), error)
        if moment.lower > 1 and not isinstance(moment.lower, float):
            with ctx.workprec(_BITS):
                found = ends(as_ball(moment.lower).log() / ball(order * (order - 1)))
            assert found is not None
            best = max(best, Found(down(found.lower), math.inf, moment.pair), key=lambda each: each.lower)
    return best
