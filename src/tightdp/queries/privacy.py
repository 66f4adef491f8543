"""What is asked about privacy: values of two output laws that are larger where these are easier to tell apart.

A question knows nothing of the numbers that laws have: it asks `TwoLaws`, of which there is one for every kind of them.
Reading a question loads nothing that computes with laws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Generic, Protocol, TypeVar

from tightdp.errors import ParameterError, QueryError
from tightdp.exact.enclosure import exp as exp_enclosure
from tightdp.exact.field import Number, exp
from tightdp.exact.numbers import DIGITS, Exact
from tightdp.exact.parameters import read_count, read_exact, read_exponential, read_number
from tightdp.limits.calibrated import MAX_EXPONENT

L = TypeVar("L", contravariant=True)
Ends = tuple[Exact, Exact]
"""Both ends of a value, equal where it is exact."""


class Deltas(Protocol):
    """Two output laws P and Q, of any numbers, of which δ is known."""

    def delta(self, t: Number) -> Ends:
        """Return both ends of δ(t) = Σ_y max(0, P(y) - t·Q(y)), for a t >= 0."""

    def least_ratio(self, delta: Number) -> Ends:
        """Return both ends of the least t >= 1 with δ(t) <= delta."""


class Compared(Protocol):
    """Two output laws that are compared with many others."""

    def surely_below(self, t: Number, delta: Number) -> bool:
        """Whether δ(t) <= delta, where that is seen with less work than the values take."""


class TwoLaws(Deltas, Compared, Protocol):
    """Two output laws P and Q, of any numbers."""

    def power_sum(self, order: Fraction) -> Ends:
        """Return both ends of Σ_y P(y)^a Q(y)^(1-a), for a rational a > 0 other than 1."""


class Question(Generic[L]):
    """A value of two laws that is larger where they are easier to tell apart."""

    side: ClassVar[str]
    """What a search reports of it, as in "δ ≥"."""
    least: ClassVar[Fraction]
    """Its value for equal laws, below which it never is."""
    most: ClassVar[Exact] = math.inf
    """The end that is known of it without looking at laws."""

    def ends(self, laws: L) -> Ends:
        """Return both ends of the value."""
        raise NotImplementedError

    def bound(self, ratio: Exact) -> Exact:
        """Return an upper end for laws whose likelihood ratios are at most `ratio`."""
        return self.most

    def place(self, value: Number) -> tuple[Number, Number] | None:
        """Return a t and a δ so that laws have at most this value if δ(t) <= δ; None where these do not tell."""
        return None


@dataclass(frozen=True)
class TightRatio:
    """The question for the tight e^ε at δ = 0, with the `top` largest ratios."""

    top: int = 1


@dataclass(frozen=True)
class LeastRatio(Question[Deltas]):
    """The question for the least e^ε >= 1 with δ(e^ε) <= delta."""

    delta: Number
    side = "e^ε ≥"
    least = Fraction(1)

    def ends(self, laws: Deltas) -> Ends:
        return laws.least_ratio(self.delta)

    def bound(self, ratio: Exact) -> Exact:
        return ratio

    def place(self, value: Number) -> tuple[Number, Number]:
        return value, self.delta


def read_privacy(delta: object, top: object) -> TightRatio | LeastRatio:
    """Return the question for the tight e^ε at `delta`, with the `top` largest ratios where that is 0."""
    bar, ranks = read_exact("delta", delta, 1), read_count("top", top)
    if bar and ranks > 1:
        raise QueryError("the largest ratios are ranked for delta = 0 only", "leave out top, or delta")
    return LeastRatio(bar) if bar else TightRatio(ranks)


@dataclass(frozen=True)
class DeltaAt(Question[Deltas]):
    """The question for δ at an e^ε from `low` to `high`, which are often equal; `epsilon` is ε where that is given."""

    low: Number
    high: Number
    epsilon: Fraction | None = None
    side = "δ ≥"
    least = Fraction(0)
    most = Fraction(1)

    @classmethod
    def read(cls, exp_epsilon: object, epsilon: object) -> DeltaAt:
        """Return the question at an `exp_epsilon` >= 0, or at a rational `epsilon` >= 0; long ones are enclosed."""
        t, exponent = read_exponential(exp_epsilon, epsilon, least=0)
        if exponent is not None and max(exponent.numerator, exponent.denominator) <= MAX_EXPONENT:
            t = exp(exponent)
        if t is not None:
            return cls(t, t, exponent)
        assert exponent is not None
        low, high = exp_enclosure(exponent, DIGITS)
        return cls(low, high, exponent)

    @property
    def exactly(self) -> DeltaAt:
        """The same question at an e^ε that is computed with, however long ε is."""
        return self if self.epsilon is None else DeltaAt(exp(self.epsilon), exp(self.epsilon), self.epsilon)

    def ends(self, laws: Deltas) -> Ends:
        found = laws.delta(self.high)
        return found if self.low == self.high else (found[0], laws.delta(self.low)[1])

    def bound(self, ratio: Exact) -> Exact:
        """Return 1 - t/R at most: where no ratio exceeds R, P(E) - t·Q(E) <= P(E)·(1 - t/R)."""
        return self.most if isinstance(ratio, float) else max(1 - self.low / ratio, self.least)

    def place(self, value: Number) -> tuple[Number, Number]:
        return self.low, value


@dataclass(frozen=True)
class RenyiAt(Question[TwoLaws]):
    """The question for exp((a - 1)·D_a), for a rational order a > 1."""

    order: Fraction
    side = "exp((a-1)·D_a) ≥"
    least = Fraction(1)

    def ends(self, laws: TwoLaws) -> Ends:
        return laws.power_sum(self.order)

    def bound(self, ratio: Exact) -> Exact:
        """Return the ratio to the power of a - 1, at least: Σ P (P/Q)^(a-1) is at most that."""
        return ratio ** (math.ceil(self.order) - 1)


def read_order(order: object) -> Fraction | float:
    """Return an order of a Rényi divergence: a rational above 1, or infinity. Raises ParameterError for others."""
    if order in (math.inf, "inf"):
        return math.inf
    number = read_number("the Rényi order", order)
    if number <= 1:
        raise ParameterError(f"the Rényi order is {number}", "give a rational above 1, or inf")
    return number
