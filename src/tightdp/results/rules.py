"""Audit rules, functions from (canaries, guesses, right guesses) to a reported ε, and what they report, exactly."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from tightdp.errors import ParameterError
from tightdp.exact.enclosure import exp as exp_enclosure
from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.numbers import Exact, compare_log, log_down
from tightdp.exact.rationals import as_fraction

__all__ = ["Level", "Method", "Reports", "Rule", "as_rule", "rule_name"]

Rule: TypeAlias = "str | Callable[[int, int, int], Any]"
"""An audit method: its name, as `tightdp.audit` knows it, or a function that gives the lower bound on ε that it reports
for (canaries, guesses, right guesses).

That bound may be a float, a rational, infinity, or an answer of `tightdp.audit`. No guess is reported as 0.
"""

_DIGITS = 40
_LARGEST = Fraction(10_000)


@dataclass(frozen=True)
class Method:
    """A method of `tightdp.audit` with its δ and significance level, as a rule."""

    name: str
    delta: Number = Fraction(0)
    significance: Fraction = Fraction(1, 20)

    def __call__(self, canaries: int, guesses: int, right: int) -> Any:
        """Return the answer of `tightdp.audit`, or for the optimal method what it reports, without the evidence."""
        from tightdp.auditing.ask import audit

        if self.name == "optimal" and right:
            return self._optimal(canaries, guesses, right)
        return audit(
            canaries=canaries,
            guesses=guesses,
            correct=right,
            delta=self.delta,
            method=self.name,
            significance=self.significance,
        )

    def _optimal(self, canaries: int, guesses: int, right: int) -> Level:
        from tightdp.auditing.optimal import enclose
        from tightdp.auditing.search import least_not_rejected

        delta = self.delta if isinstance(self.delta, Fraction) else self.delta.enclosure(_DIGITS).upper

        def rejects(t: Fraction) -> bool:
            return enclose(canaries, guesses, right, t, delta).upper <= self.significance

        lower = least_not_rejected(rejects, right / (guesses - right + 0.5)).lower
        return Level(Fraction(max(0.0, log_down(lower))), lower)


def as_rule(rule: Rule, delta: Number, significance: Fraction) -> Callable[[int, int, int], Any]:
    """Return a rule as a function; δ and the significance level belong to methods given by name."""
    if not isinstance(rule, str):
        return rule
    from tightdp.auditing.ask import METHODS

    if rule not in METHODS:
        raise ParameterError(f"{rule!r} is no audit method", f"give one of {', '.join(METHODS)}, or a function")
    return Method(rule, delta, significance)


def rule_name(rule: Rule) -> str:
    """Return what to call a rule."""
    if isinstance(rule, Method):
        return rule.name
    return rule if isinstance(rule, str) else getattr(rule, "__name__", "the rule given")


@dataclass(frozen=True)
class Level:
    """A reported ε, as exact as the rule gave it: ε itself, or its exponential where the rule gives that.

    The ε of an answer of `tightdp.audit` is rounded down from its rational e^ε, which is what stands here.
    """

    epsilon: Exact
    exp_epsilon: Fraction | None = None

    @classmethod
    def of(cls, answer: Any) -> Level:
        """Return what a rule's answer reports. Raises ParameterError where that is no number."""
        if isinstance(answer, Level):
            return answer
        exponential = getattr(answer, "exp_epsilon_lower", None)
        epsilon = getattr(answer, "epsilon_lower", answer)
        if epsilon == math.inf:
            return cls(math.inf)
        try:
            return cls(Fraction(epsilon) if isinstance(epsilon, float) else as_fraction(epsilon), exponential)
        except (ParameterError, ValueError, OverflowError):
            raise ParameterError(
                f"the audit rule reports {epsilon!r}", "return an ε: a float, a rational or infinity"
            ) from None

    def exceeds(self, exp_epsilon: Exact) -> bool:
        """Whether the reported ε is more than ln(exp_epsilon); decided exactly."""
        if self.epsilon == math.inf:
            return exp_epsilon != math.inf
        if self.exp_epsilon is not None:
            return self.exp_epsilon > exp_epsilon
        return compare_log(exp_epsilon, _rational(self.epsilon)) < 0

    def reaches(self, exp_epsilon: Exact, share: Fraction) -> bool:
        """Whether the reported ε is at least a share of ln(exp_epsilon); decided exactly."""
        if self.epsilon == math.inf:
            return True
        if share == 0 or exp_epsilon == 1:
            return self.epsilon >= 0
        return compare_log(exp_epsilon, _rational(self.epsilon) / share) <= 0

    def ends(self) -> tuple[Exact, Exact]:
        """Return rational ends of e^ε, equal where it is known exactly; both are infinite where ε is, or is huge."""
        if self.exp_epsilon is not None:
            return self.exp_epsilon, self.exp_epsilon
        if self.epsilon >= _LARGEST:
            return math.inf, math.inf
        low, high = exp_enclosure(max(_rational(self.epsilon), Fraction(0)), _DIGITS)
        return low, high


class Reports:
    """What a rule reports, asked once for every observation."""

    def __init__(self, rule: Callable[[int, int, int], Any]) -> None:
        self._rule = rule
        self._known: dict[tuple[int, int, int], Level] = {}

    def level(self, canaries: int, guesses: int, right: int) -> Level:
        """Return what is reported on an observation; ε = 0 where nothing is guessed."""
        key = canaries, guesses, right
        if key not in self._known:
            self._known[key] = Level.of(self._rule(*key)) if guesses else Level(Fraction(0), Fraction(1))
        return self._known[key]


def _rational(value: Exact) -> Fraction:
    """Return a reported ε, which is rational."""
    assert not isinstance(value, ExpNumber)
    return Fraction(value)
