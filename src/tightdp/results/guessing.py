"""One-run auditing: efficacies and their gaps, laws of guesses, what audit rules report, how many canaries it takes.

A rule is a function from (canaries, guesses, right guesses) to a reported ε.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, TypeAlias

from tightdp.errors import ParameterError, QueryError
from tightdp.exact.enclosure import exp as exp_enclosure
from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.numbers import DIGITS, Exact, compare_log
from tightdp.exact.rationals import as_fraction
from tightdp.exact.weights import as_exact
from tightdp.one_run.gaps import Leak
from tightdp.one_run.guessers import JointLaw
from tightdp.results.recorded import Recorded
from tightdp.results.result import Drawn, Enclosed, Result
from tightdp.results.table import beside

Rule: TypeAlias = "str | Callable[[int, int, int], Any]"
"""An audit method: its name, as `tightdp.audit` knows it, or a function that gives the lower bound on ε that it reports
for (canaries, guesses, right guesses).

That bound may be a float, a rational, infinity, or an answer of `tightdp.audit`. No guess is reported as 0.
"""

_LARGEST = Fraction(10_000)


@dataclass(frozen=True)
class Method:
    """A method of `tightdp.audit` with its δ and significance level, as a rule."""

    name: str
    delta: Number = Fraction(0)
    significance: Fraction = Fraction(1, 20)

    def __call__(self, canaries: int, guesses: int, right: int) -> Any:
        """Return the answer of `tightdp.audit`."""
        from tightdp.auditing import audit, checked

        asked = partial(checked, delta=self.delta, method=self.name, significance=self.significance)
        return audit(asked(canaries=canaries, guesses=guesses, correct=right))


def as_rule(rule: Rule, delta: Number, significance: Fraction) -> Callable[[int, int, int], Any]:
    """Return a rule as a function; δ and the significance level belong to methods given by name."""
    if not isinstance(rule, str):
        return rule
    from tightdp.auditing.question import METHODS

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
        low, high = exp_enclosure(max(_rational(self.epsilon), Fraction(0)), DIGITS)
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
    assert not isinstance(value, ExpNumber)
    return Fraction(value)


_COLUMNS = "guesses efficacy ac ddp dp element_gap output_gap interference_gap adaptive"


@dataclass(frozen=True)
class Row(Recorded):
    """The efficacy with a number of guesses, and what keeps it from e^ε/(1 + e^ε): E_k <= AC <= DDP <= DP.

    AC is the expected largest posterior, DDP the largest posterior over outputs, DP the largest one when all other
    bits are known. `adaptive` is the best share of right guesses when every bit is revealed once it is decided on.
    """

    json = f"{_COLUMNS}?"
    guesses: int
    efficacy: Number
    ac: Number
    ddp: Number
    dp: Number
    adaptive: Number | None = None
    other: Row | None = field(default=None, compare=False, repr=False)
    """The row with the other ends of the same numbers, where they are enclosed: gaps are differences of both."""

    @property
    def element_gap(self) -> Number:
        """What is lost because not all elements are the worst one: AC - E_k."""
        return self._gap(self.ac, lambda row: row.efficacy)

    @property
    def output_gap(self) -> Number:
        """What is lost because not all outputs are the worst one: DDP - AC."""
        return self._gap(self.ddp, lambda row: row.ac)

    @property
    def interference_gap(self) -> Number:
        """What is lost because the other bits are not known: DP - DDP."""
        return self._gap(self.dp, lambda row: row.ddp)

    def _gap(self, more: Number, less: Callable[[Row], Number]) -> Number:
        return more - less(self) if self.other is None else max(more - less(self.other), Fraction(0))


@dataclass(frozen=True, kw_only=True, repr=False)
class Efficacy(Drawn, Enclosed):
    """The efficacy of one-run auditing for a pair vector, by number of guesses, with its gaps (keinan2025, Sec. 5).

    `exp_epsilon` is e^ε of the mechanism on the datasets that the pairs can pick; where its search was cut short it is
    an upper bound, `lower` the ratio that is attained, and DP in the rows is the upper bound too. Where the laws of a
    program are enclosed, `rows` has the upper ends of all numbers, and `least` the lower ends. Where a limit came first
    and no efficacy is known, there are no rows and no `leak`, which says where DDP is attained.
    """

    query: ClassVar[str] = "efficacy"
    number = "exp_epsilon"
    json = "rows lower_rows=least? pairs *_ends"
    table = "_listed"
    rows: tuple[Row, ...]
    pairs: tuple[tuple[Any, Any], ...]
    exp_epsilon: Exact
    lower: Exact
    leak: Leak | None = None
    least: tuple[Row, ...] = ()

    @property
    def columns(self) -> dict[str, tuple[Exact, Exact]]:
        if not self.rows:
            return {}
        last = self.rows[-1]
        same = {name: (getattr(last, name),) * 2 for name in ("efficacy", "ac", "ddp")}
        return {**same, "dp": (last.dp if self.status == "exact" else last.ddp, last.dp)}

    @property
    def _listed(self) -> tuple[dict[str, Any], ...]:
        return beside(self.rows, self.least, _COLUMNS, "lower")

    def row(self, guesses: int) -> Row:
        """Return the row for a number of guesses. Raises QueryError where it is not in the table."""
        for row in self.rows:
            if row.guesses == guesses:
                return row
        raise QueryError(f"there is no row for {guesses!r} guesses", "ask for one of `rows`")


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
    table = "joint.entries: guesses right probability"
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
    table = "law: epsilon probability"
    json = "canaries exp_epsilon law expectation=_expectation power_half=power wrong *_error"
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
    table = "points"
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
