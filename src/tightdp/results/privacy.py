"""Results about privacy: the tight ε, for one n or for every n, δ at an ε, the curve, the trade-off function, Rényi."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, TypedDict, overload

from tightdp.errors import QueryError
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact, exponent_of, log, log_down, log_up
from tightdp.exact.parameters import read_exact
from tightdp.methods.base import Ratio
from tightdp.queries.privacy import DeltaAt, LeastRatio, RenyiAt, TightRatio
from tightdp.results.answers import Verification
from tightdp.results.recorded import OfEveryN
from tightdp.results.result import Drawn, Enclosed, PairWitness, Result, Status, Subject, presenter


@overload
def between(question: TightRatio | LeastRatio, *about: Any) -> Privacy: ...
@overload
def between(question: DeltaAt, *about: Any) -> Delta: ...
@overload
def between(question: RenyiAt, *about: Any) -> Renyi: ...


def between(
    question: TightRatio | LeastRatio | DeltaAt | RenyiAt,
    subject: Subject,
    lower: Exact,
    upper: Exact,
    witness: PairWitness | None = None,
    top: tuple[Ratio, ...] = (),
) -> Any:
    """Return the result of a question with these ends: `Privacy`, `Delta` or `Renyi`."""
    if isinstance(question, RenyiAt):
        order = question.order.numerator if question.order.denominator == 1 else question.order
        return Renyi(subject=subject, order=order, exp_moment=upper, lower=lower, witness=witness)
    if isinstance(question, DeltaAt):
        t = question.low if question.low == question.high else (question.low, question.high)
        ends: dict[str, Any] = {"lower": lower, "delta": upper}
        return Delta(subject=subject, exp_epsilon=t, epsilon=question.epsilon, witness=witness, **ends)
    delta = question.delta if isinstance(question, LeastRatio) else Fraction(0)
    return Privacy(subject=subject, exp_epsilon=upper, lower=lower, delta=delta, witness=witness, top=top)


def interpolated(points: Sequence[tuple[Number, Number]], x: Number) -> Number:
    """Return the value at x of a function that is linear between points, and constant before and after them."""
    after = bisect_right(points, x, key=lambda point: point[0])
    if after in (0, len(points)):
        return points[min(after, len(points) - 1)][1]
    (left, low), (right, high) = points[after - 1 : after + 1]
    return low + (high - low) * (x - left) / (right - left)


class _LeastEpsilon(Result):
    """A result about the least ε that holds: `columns` has what is known of it."""

    @property
    def epsilon(self) -> float:
        """ε = ln(exp_epsilon), correctly rounded."""
        return log(self.columns["epsilon"][1])

    @property
    def epsilon_enclosure(self) -> tuple[float, float]:
        """Two floats, neighbours at most, between which ε lies (for what is known of e^ε when unresolved)."""
        lower, upper = self.columns["epsilon"]
        return log_down(lower), log_up(upper)

    def __float__(self) -> float:
        return self.epsilon


@dataclass(frozen=True, kw_only=True, repr=False)
class Privacy(_LeastEpsilon, Drawn, Enclosed):
    """The tight e^ε: the largest likelihood ratio, or for δ > 0 the least e^ε >= 1 with δ(e^ε) <= δ.

    `exp_epsilon` is exact, or math.inf. `top` lists the largest distinct ratios when more than one was asked for.
    """

    query: ClassVar[str] = "privacy"
    number = "exp_epsilon"
    json = "exp_epsilon epsilon epsilon_exact delta *_ends witness? top=_ranking?"
    table = "_listed"
    exp_epsilon: Exact
    delta: Number = Fraction(0)
    witness: PairWitness | None = None
    top: tuple[Ratio, ...] = ()
    lower: Exact = Fraction(1)

    @property
    def columns(self) -> dict[str, tuple[Exact, Exact]]:
        return dict.fromkeys(("exp_epsilon", "epsilon"), *super().columns.values())

    @property
    def attained(self) -> bool | None:
        """Whether an output has the ratio `exp_epsilon`: False where ratios only approach it, None if not known.

        Of real numbers, whether a set of outputs has it that is not null.
        """
        if self.status != "exact" or self.delta or self.witness is None:
            return None
        return getattr(self.witness, "attained", True)

    @property
    def epsilon_exact(self) -> Number | None:
        """ε where it is known to be rational."""
        return exponent_of(self.exp_epsilon) if self.status == "exact" else None

    @property
    def _ranking(self) -> tuple[dict[str, Any], ...]:
        top = self.top if len(self.top) > 1 else ()
        return tuple({"exp_epsilon": t.exp_epsilon, "epsilon": log(t.exp_epsilon), **vars(t)} for t in top)

    @property
    def _listed(self) -> tuple[dict[str, Any], ...]:
        return self._ranking or self._row


@dataclass(frozen=True, kw_only=True, repr=False)
class Delta(Enclosed):
    """δ(t): the largest Σ_y max(0, P(y|x) - t·P(y|x')) over neighbours, at t = e^ε.

    It is exact at a rational t, and at t = e^ε with a rational ε (`epsilon`) unless that is too long to write: then
    `exp_epsilon` and `lower` <= δ <= `delta` hold the two ends of each.
    """

    query: ClassVar[str] = "privacy"
    number = "delta"
    json = "delta exp_epsilon *_ends *_proved witness?"
    delta: Number
    exp_epsilon: Number | tuple[Number, Number]
    epsilon: Number | None = None
    witness: PairWitness | None = None
    lower: Number = Fraction(0)

    def __float__(self) -> float:
        return float(self.delta)


class LineEnds(OfEveryN, total=False):
    """What encloses a line."""

    lower: tuple[tuple[Number, Number], ...]
    upper: tuple[tuple[Number, Number], ...]


@dataclass(frozen=True, kw_only=True, repr=False)
class Curve(Drawn, Result):
    """The privacy curve: (e^ε, δ) at e^ε = 1 and wherever the slope changes, linear between, then constant.

    Where it is enclosed, `points` are those of an upper curve, and `lower` those of a lower one. Called with an ε it
    gives the δ there.
    """

    query: ClassVar[str] = "privacy"
    table = "_listed"
    json = "points *_line_ends"
    points: tuple[tuple[Number, Number], ...]
    lower: tuple[tuple[Number, Number], ...] = ()
    line = "privacy curve"

    @property
    def _line_ends(self) -> LineEnds:
        if self.for_every_n is None:
            return {"lower": self.lower} if self.lower else {}
        return {"lower": self.lower or self.points, "upper": self.points, **self._proved}

    def __call__(self, epsilon: Any) -> Delta:
        """Return δ at a rational ε >= 0, as `delta`; `float()` of the result is δ."""
        return self.delta(epsilon=epsilon)

    def delta(self, *, exp_epsilon: Any = None, epsilon: Any = None) -> Delta:
        """Return δ at e^ε, for an `exp_epsilon` >= 1 or a rational `epsilon` >= 0: a point of the curve.

        It has the status of the curve, but is "exact" where two ends meet, and "bounded" where e^ε is too long to
        compute with.
        """
        question = DeltaAt.read(exp_epsilon, epsilon)
        if question.low < 1:
            raise QueryError("the curve begins at e^ε = 1", "give an ε of at least 0, or ask Instance.delta")
        least, most = self._ends_at(question.high)[0], self._ends_at(question.low)[1]
        known: Status = self.status if self.status == "unresolved" else "exact" if least == most else "bounded"
        every = self.for_every_n and replace(self.for_every_n, attained=known == "exact" or None)
        found = between(question, self.subject, least, most)
        return replace(found, status=known, stats=self.stats, reason=self.reason, hint=self.hint, for_every_n=every)

    def _ends_at(self, t: Number) -> tuple[Number, Number]:
        """Return both ends of δ at an e^ε: a curve that a limit cut short is a lower end, any other one an upper."""
        found = interpolated(self.points, t)
        if self.status == "exact":
            return found, found
        if self.status == "unresolved":
            return found, Fraction(1)
        return interpolated(self.lower, t) if self.lower else Fraction(0), found

    @property
    def _listed(self) -> tuple[dict[str, Any], ...]:
        exact = self.status == "exact"
        places = sorted({t for t, _ in (*self.points, *self.lower)})
        rows = [({"exp_epsilon": t, "epsilon": log(t)}, *self._ends_at(t)) for t in places]
        return tuple(
            {**row, "delta": high} if exact else {**row, "lower": low, "upper": high} for row, low, high in rows
        )

    def plot(self, ax: Any = None, *, beside: Sequence[Any] = (), x: str = "epsilon", log_delta: bool = True) -> Any:
        """Draw δ against ε on the Matplotlib axes `ax` (new ones, unless given), with the break points.

        `beside` are curves and privacy losses that are drawn in the same picture. `x="exp_epsilon"` draws against e^ε,
        where the curve is made of straight lines, and `log_delta=False` on a linear scale of δ. Raises QueryError for
        others, TightdpError where Matplotlib is not installed.
        """
        return presenter().draw(self, ax, beside, x=x, log_delta=log_delta)


@dataclass(frozen=True, kw_only=True, repr=False)
class Tradeoff(Drawn, Result):
    """The trade-off function: vertices (false positive rate, least false negative rate) of its graph, left to right.

    Where it is enclosed, `vertices` are those of a lower function, and `upper` those of an upper one. Called with a
    false positive rate it gives the least false negative rate there.
    """

    query: ClassVar[str] = "privacy"
    table = "vertices: false_positive_rate false_negative_rate"
    json = "vertices *_line_ends"
    line = "trade-off function"
    vertices: tuple[tuple[Number, Number], ...]
    upper: tuple[tuple[Number, Number], ...] = ()

    @property
    def _line_ends(self) -> LineEnds:
        if self.for_every_n is None:
            return {"upper": self.upper} if self.upper else {}
        return {"lower": self.vertices, "upper": self.upper or self.vertices, **self._proved}

    def __call__(self, false_positive_rate: Any) -> Number:
        """Return the least false negative rate, or its lower end where it is enclosed, at a rate from 0 to 1."""
        return interpolated(self.vertices, read_exact("the false positive rate", false_positive_rate, 1))


@dataclass(frozen=True, kw_only=True, repr=False)
class Renyi(Enclosed):
    """Rényi DP at an order a: `exp_moment` = exp((a-1)·D_a), and `epsilon` = D_a, correctly rounded.

    It is exact at integer orders and enclosed at other rational ones. At the order infinity, D is the tight ε of pure
    DP, and `exp_moment` its e^ε.
    """

    query: ClassVar[str] = "privacy"
    number = "exp_moment"
    json = "order=whole_order exp_moment epsilon *_ends *_proved"
    order: Exact | int
    exp_moment: Exact
    witness: PairWitness | None = None
    lower: Exact = Fraction(1)

    @property
    def whole_order(self) -> Exact | int:
        order = self.order
        return order.numerator if isinstance(order, Fraction) and order.denominator == 1 else order

    @property
    def epsilon(self) -> float:
        """D_a = ln(exp_moment) / (a-1), correctly rounded."""
        return self.divergence(self.exp_moment)

    def divergence(self, moment: Exact) -> float:
        """Return ln(moment) / (a-1), correctly rounded."""
        return log(moment) if self.order == math.inf else log(moment, Fraction(self.order - 1))  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True, repr=False)
class Zcdp(Enclosed):
    """Zero-concentrated DP: the least ρ with D_a <= ρ·a for all orders a > 1 and all neighbours, enclosed.

    `rho` is the upper end of the enclosure; the lower end is attained by the witness at about the order `order`.
    """

    query: ClassVar[str] = "privacy"
    number = "rho"
    json = "rho *_ends *_proved order witness?"
    rho: Exact
    lower: Exact = Fraction(0)
    order: float | None = None
    witness: PairWitness | None = None

    def __float__(self) -> float:
        return float(self.rho)


class Tight(TypedDict, total=False):
    """The least ε for every n, where it is known."""

    exp_epsilon: Exact
    epsilon: float


@dataclass(frozen=True, kw_only=True, repr=False)
class EveryN(_LeastEpsilon):
    """The least e^ε that holds for all n >= 1: between `lower`, attained with n records, and `upper`, which is proved.

    For δ > 0 it is the least e^ε >= 1 with δ(e^ε) <= δ.

    `attained` is true where some n attains the upper end, false where ratios provably come arbitrarily close to it as n
    grows (without bound where it is inf), and None where that is not known. `proof` names the proof of the upper end
    (docs/every-n.md).
    """

    query: ClassVar[str] = "privacy"
    json = "*_tight lower upper n attained proof delta=_delta? witness?"
    lower: Exact
    upper: Exact
    n: int
    attained: bool | None
    proof: str
    delta: Number = Fraction(0)
    witness: PairWitness | None = None

    @property
    def columns(self) -> dict[str, tuple[Exact, Exact]]:
        return dict.fromkeys(
            ("exp_epsilon", "epsilon"), (self.upper if self.status == "exact" else self.lower, self.upper)
        )

    @property
    def _tight(self) -> Tight:
        return {"exp_epsilon": self.upper, "epsilon": self.epsilon} if self.status == "exact" else {}

    @property
    def _delta(self) -> Number | None:
        return self.delta or None

    @property
    def exp_epsilon(self) -> Exact:
        """The upper end, which is safe to report."""
        return self.upper


@dataclass(frozen=True, kw_only=True, repr=False)
class EveryNVerification(Verification):
    """The verdict on a claim for all n >= 1, with the ends that decide it."""

    json = "holds claims lower=found.lower upper=found.upper n=found.n attained=found.attained proof=found.proof"
    found: EveryN

    @property
    def not_known(self) -> frozenset[str]:
        return self.found.not_known
