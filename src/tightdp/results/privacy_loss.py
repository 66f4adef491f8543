"""The privacy loss of a mechanism: evaluated for δ and ε, composed, subsampled, exported to other accountants."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from typing import Any, ClassVar

from tightdp.errors import MissingExtra, ParameterError, QueryError
from tightdp.exact.field import Number
from tightdp.exact.numbers import SHORT, Exact, log_down, log_up, outward, rounded, up
from tightdp.exact.parameters import read_count, read_exact, read_number
from tightdp.exact.weights import quotient
from tightdp.queries.composition.lattice import Composition
from tightdp.queries.composition.loss import Direction, Losses
from tightdp.queries.laws import Around
from tightdp.queries.privacy import DeltaAt, LeastRatio
from tightdp.results.privacy import Curve, Delta, Privacy, between
from tightdp.results.result import Drawn, Result, Status, Subject, kept, presenter

_MOST_POINTS = 512
"""A curve that is an upper end has at most about so many points."""


@dataclass(frozen=True, kw_only=True, repr=False)
class PrivacyLoss(Drawn, Result):
    """Dominating pairs of a mechanism that is run once or many times, one for each direction of change.

    Answers are those of `Instance`: δ exactly at a rational e^ε where a real pair of neighbours dominates all others
    and the likelihood ratios span a small lattice, otherwise an enclosure (status "bounded"). The composition is
    adaptive: every mechanism may depend on the outputs so far. With Gaussian noise the probabilities of an event in
    all runs, on both sides together, may differ by `error` from those of the `losses`: answers are widened by that.
    """

    query: ClassVar[str] = "privacy"
    json = "directions=_directions *_proved"
    line = "privacy curve"
    losses: Losses
    error: Fraction = Fraction(0)
    precision: Fraction | None = None
    """How close, relatively, the ends of its answers have to be; they are refused where they are not."""

    @property
    def _directions(self) -> list[dict[str, Any]]:
        return [
            {
                "name": each.name,
                "dominating": [{"runs": times, "outcomes": pair.outcomes} for pair, times in each.dominating],
                "attained": is_attained(each),
            }
            for each in self.losses.directions
        ]

    def within(self, precision: Fraction | None) -> bool:
        """Whether it is as close as that: its answers see to it themselves."""
        return precision == self.precision

    def plot(self, ax: Any = None, *, beside: Sequence[Any] = (), x: str = "epsilon", log_delta: bool = True) -> Any:
        """Draw the privacy curve; see `Curve.plot`."""
        return presenter().draw(self, ax, beside, x=x, log_delta=log_delta)

    def delta(self, *, exp_epsilon: Any = None, epsilon: Any = None) -> Delta:
        """Return δ at e^ε, for an `exp_epsilon` >= 0 or a rational `epsilon` >= 0."""
        found: Delta = self._answer(DeltaAt.read(exp_epsilon, epsilon))
        return found

    def epsilon(self, *, delta: Any = 0) -> Privacy:
        """Return the least e^ε >= 1 with which (ε, δ)-DP holds; `float()` of the result is ε."""
        found: Privacy = self._answer(LeastRatio(read_exact("delta", delta, 1)))
        return found

    def _answer(self, question: DeltaAt | LeastRatio) -> Any:
        losses = Around(self.losses, self.error) if self.error else self.losses
        lower, upper = question.ends(losses)
        exact = lower == upper
        answer = between(question, self.subject, *((lower, upper) if exact else outward(lower, upper, SHORT)))
        return kept(replace(answer, status="exact" if exact else "bounded", stats=self.stats), self.precision)

    def curve(self) -> Curve:
        """Return the privacy curve for e^ε >= 1 as break points; where it is not exact, a curve nowhere below it."""
        exact = self.losses.exact and not self.error
        points = self.losses.curve() if exact else _above(self.losses, self.error)
        curve = Curve(subject=self.subject, status="exact" if exact else "bounded", stats=self.stats, points=points)
        return kept(curve, self.precision)

    def compose(self, *further: Any) -> PrivacyLoss:
        """Return the loss of k runs (`compose(k)`), or of this mechanism and then the others (`compose(other, ...)`).

        Raises ParameterError unless k >= 1, QueryError where the neighbour relations differ.
        """
        if not further:
            raise ParameterError("compose was given nothing", "give a number of runs, or other privacy losses")
        total = self
        for other in further:
            total = total._followed_by(other) if isinstance(other, PrivacyLoss) else total._repeated(other)
        return total

    def subsample(self, rate: Any) -> PrivacyLoss:
        """Return the loss after Poisson subsampling: every record takes part with probability `rate`, independently.

        For add-remove neighbours, whose two directions are kept apart. Raises QueryError for others, ParameterError
        unless 0 < rate <= 1.
        """
        share = read_number("the sampling rate", rate, 1)
        if not share:
            raise ParameterError("the sampling rate is 0", "give a rational above 0, at most 1")
        return self._about(self.losses.sampled(share), f"samples at rate {share}")

    def to_dp_accounting(self, interval: float = 1e-4, pessimistic: bool = True) -> Any:
        """Return a `dp_accounting` privacy loss distribution on multiples of `interval`.

        Its δ is nowhere below the true one; with `pessimistic=False`, nowhere above. Raises TightdpError where
        dp_accounting is not installed, QueryError where there is nothing to take a lower end from.
        """
        if self.error:
            raise QueryError(
                "a loss with Gaussian noise is enclosed, not known", "ask it for delta or epsilon, or dp_accounting"
            )
        return dp_accounting_of(self.losses, read_number("interval", interval), pessimistic)

    def _repeated(self, times: Any) -> PrivacyLoss:
        number = read_count("the number of runs", times)
        return self if number == 1 else self._about(self.losses.repeated(number), f"{number:,} runs", number)

    def _followed_by(self, other: PrivacyLoss) -> PrivacyLoss:
        losses = self.losses.followed_by(other.losses)
        subject = Subject(f"{self.subject}, then {other.subject}", (), self.neighbours)
        stats, error = self.stats + other.stats, self.error + other.error
        precision = min((each for each in (self.precision, other.precision) if each is not None), default=None)
        found = replace(self, subject=subject, status=status_of(losses, error), losses=losses, error=error)
        return replace(found, stats=stats, precision=precision)

    def _about(self, losses: Losses, how: str, times: int = 1) -> PrivacyLoss:
        runs = f"{how} of {self.subject.runs}" if self.subject.runs else how
        status, error = status_of(losses, self.error), self.error * times
        return replace(self, subject=replace(self.subject, runs=runs), status=status, losses=losses, error=error)


def status_of(losses: Losses, error: Fraction = Fraction(0)) -> Status:
    """Return whether answers are exact as far as that is known without composing."""
    return "bounded" if error or not all(map(is_attained, losses.directions)) else "exact"


def is_attained(direction: Direction) -> bool:
    """Whether a real pair of neighbours dominates all others."""
    return direction.attained or direction.dominating in direction.real


def _finite(value: Exact) -> Number:
    """Return a δ, which is never infinite."""
    assert not isinstance(value, float)
    return value


def _above(losses: Losses, error: Fraction) -> tuple[tuple[Fraction, Fraction], ...]:
    """Return a curve of few points with few digits that is nowhere below the upper end, which is convex and falls."""
    places = {Fraction(1)}
    for composed in losses.upper:
        beyond = composed.ratios[bisect_right(composed.ratios, 1) :]
        step = math.ceil(len(beyond) / _MOST_POINTS)
        places.update(up(t, SHORT) for t in (*beyond[: -1 : step or 1], *beyond[-1:]))
    found: list[tuple[Fraction, Fraction]] = []
    for t in sorted(places):
        delta = min(_finite(losses.delta(t)[1]) + (1 + t) * error, Fraction(1))
        found.append((t, up(min([delta, *(before for _, before in found)]), SHORT)))
    return tuple(found)


def dp_accounting_of(losses: Losses, interval: Fraction, pessimistic: bool) -> Any:
    """Return a privacy loss distribution of dp_accounting whose δ is nowhere below (or above) the true one."""
    if find_spec("dp_accounting") is None:
        raise MissingExtra("dp_accounting is not installed", "dp-accounting")
    if not interval:
        raise ParameterError("interval is 0", "give the distance of two losses, such as 1e-4")
    make = import_module("dp_accounting.pld.pld_pmf").create_pmf
    whole = import_module("dp_accounting.pld.privacy_loss_distribution").PrivacyLossDistribution
    sides = losses.upper if pessimistic else losses.lower
    if len(sides) != len(losses.directions):
        raise QueryError(
            "no single pair of neighbours gives the lower end", "leave out pessimistic, or ask delta() for both ends"
        )
    masses = [_masses(composed, interval, pessimistic) for composed in sides]
    pmfs = [make(finite, float(interval), infinite, pessimistic) for finite, infinite in masses]
    return whole(*pmfs)


def _masses(composed: Composition, interval: Fraction, pessimistic: bool) -> tuple[dict[int, float], float]:
    """Return the masses under P by multiple of the interval, and that of an infinite loss, all rounded to one side."""
    by_place: dict[int, Number] = {}
    for ratio, p in zip(composed.ratios, composed.p, strict=True):
        if pessimistic:
            place = math.ceil(Fraction(log_up(ratio)) / interval)
        else:
            place = math.floor(Fraction(log_down(ratio)) / interval)
        by_place[place] = by_place.get(place, Fraction(0)) + quotient(p, composed.scale)
    masses = {place: rounded(mass, pessimistic) for place, mass in by_place.items()}
    return masses, rounded(composed.certain, pessimistic)
