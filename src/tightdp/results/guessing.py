"""Laws of guesses, the law of the ε that an audit method reports, and how many canaries it takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.exact.weights import as_exact
from tightdp.one_run.guessers import JointLaw
from tightdp.results.result import Result
from tightdp.results.rules import Level, Reports, Rule, as_rule
from tightdp.results.shown import Drawn

__all__ = ["Canaries", "Guessing", "Point", "Reported", "Rule", "points_in_order"]


@dataclass(frozen=True, kw_only=True, repr=False)
class _Law(Drawn, Result):
    error: Number = Fraction(0)

    @property
    def _error(self) -> dict[str, Number]:
        return {"error": self.error} if self.error else {}


@dataclass(frozen=True, kw_only=True, repr=False)
class Guessing(_Law):
    """The exact joint law of the number of guesses and of right guesses of one guesser in one kind of audit.

    `audit` is "one-run", "adaptive" or "classic"; `canaries` is the number of secret bits; `exp_epsilon` is the largest
    e^ε that the audit can rightly report: the tight one, at `delta`, of the mechanism on the datasets that occur. The
    probability of no event is further than `error` from the true one.
    """

    query: ClassVar[str] = "guessing"
    json = "audit guesser canaries law=joint.entries expected_guesses=joint.guesses expected_right=joint.right *_error"
    audit: str
    guesser: str
    joint: JointLaw
    exp_epsilon: Exact
    delta: Number = Fraction(0)

    @property
    def canaries(self) -> int:
        """The number of secret bits."""
        return self.joint.n

    def reported(self, rule: Rule) -> Reported:
        """Return the exact law of the ε that an audit method reports; see `Rule`. A method by name has 95 % confidence.

        The δ of such a method is that of this result.
        """
        reports = Reports(as_rule(rule, self.delta, Fraction(1, 20)))
        masses: dict[Exact, Number] = {}
        for r, v, p in self.joint.entries:
            value = reports.level(self.canaries, r, v).epsilon
            masses[value] = masses.get(value, Fraction(0)) + p
        return Reported(
            subject=self.subject,
            status=self.status,
            reason=self.reason,
            canaries=self.canaries,
            exp_epsilon=self.exp_epsilon,
            law=tuple(sorted(masses.items())),
            error=self.error,
        )


@dataclass(frozen=True, kw_only=True, repr=False)
class Reported(_Law):
    """The exact law of the ε that an audit reports: (ε, probability), ascending; ε is as exact as the audit gave it.

    The probability of no event is further than `error` from the true one.
    """

    query: ClassVar[str] = "reported"
    json = "canaries exp_epsilon law expectation=_expectation power_half=_power wrong *_error"
    canaries: int
    exp_epsilon: Exact
    law: tuple[tuple[Exact, Number], ...]

    @property
    def expectation(self) -> Exact:
        """The expected reported ε."""
        if any(value == math.inf for value, _ in self.law):
            return math.inf
        return sum((as_exact(value) * p for value, p in self.law), Fraction(0))

    @property
    def _expectation(self) -> float:
        return float(self.expectation)

    @property
    def _power(self) -> Number:
        return self.power()

    def reached_with(self, probability: Fraction) -> Exact:
        """Return the largest ε that is reported, or exceeded, with at least the given probability."""
        below: Number = Fraction(0)
        for value, p in self.law:
            below += p
            if below > 1 - probability:
                return value
        return self.law[-1][0]

    def at_least(self, epsilon: Exact) -> Number:
        """Return the probability of reporting at least `epsilon`."""
        return sum((p for value, p in self.law if value >= epsilon), Fraction(0))

    def power(self, share: Fraction = Fraction(1, 2)) -> Number:
        """Return the probability of reporting at least a share of the true ε; compared exactly with ln(exp_epsilon)."""
        return sum((p for value, p in self.law if Level(value).reaches(self.exp_epsilon, Fraction(share))), Fraction(0))

    @property
    def wrong(self) -> Number:
        """The probability of a false alarm: of reporting more than the true ε."""
        return sum((p for value, p in self.law if Level(value).exceeds(self.exp_epsilon)), Fraction(0))


@dataclass(frozen=True)
class Point:
    """What an audit with `canaries` secret bits reports, next to the true ε.

    `power` is the probability of reporting what is wanted, `reported` the largest ε that is reported, or exceeded, with
    the wanted probability.
    """

    canaries: int
    power: Number
    reported: Exact
    exp_epsilon: Exact


@dataclass(frozen=True, kw_only=True, repr=False)
class Canaries(Drawn, Result):
    """How many secret bits it takes to report at least `share` of ε, or at least `epsilon`, with probability `power`.

    `canaries` is None where `at_most` are not enough. Otherwise that number reaches the power and one fewer does not;
    the power need not grow with every single bit. `points` are the sizes that were looked at.
    """

    query: ClassVar[str] = "canaries"
    json = "canaries rule share? epsilon? power at_most points=_points"
    canaries: int | None
    rule: str
    share: Fraction | None
    epsilon: Fraction | None
    power: Fraction
    at_most: int
    points: tuple[Point, ...]

    @property
    def _points(self) -> list[tuple[int, Number, float]]:
        return [(point.canaries, point.power, float(point.reported)) for point in self.points]


def points_in_order(points: Sequence[Point]) -> tuple[Point, ...]:
    """Return points by number of secret bits."""
    return tuple(sorted(points, key=lambda point: point.canaries))
