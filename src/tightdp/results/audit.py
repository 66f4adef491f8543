"""What an observation of one run rules out, and how often an audit rule is wrong on what it was tried on."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from tightdp._version import __version__
from tightdp.auditing import AuditAnswer, Enclosure, WorstMechanism
from tightdp.auditing.question import Validity as Valid
from tightdp.auditing.worst_case import Parts
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.results.recorded import Recorded, plain, record
from tightdp.results.result import Drawn, Result, Subject
from tightdp.results.table import Row, Table, as_row

Observation = tuple[int, int]


@dataclass(frozen=True)
class Trial(Recorded):
    """One mechanism and guesser: the exact probability that the rule reports more than the true ε.

    `exp_epsilon` is the tight e^ε, at the δ of the rule, of the mechanism on the datasets that the secret bits pick.
    `observations` are the (guesses, right guesses) on which more is reported; `varies` says that the number of guesses
    depends on the output.
    """

    json = (
        "mechanism=subject.mechanism parameters=_parameters guesser exp_epsilon probability observations "
        "guesses_vary=varies"
    )
    subject: Subject
    guesser: str
    exp_epsilon: Exact
    probability: Number
    observations: tuple[Observation, ...]
    varies: bool

    @property
    def _parameters(self) -> dict[str, Any]:
        return dict(self.subject.parameters)

    @property
    def upper(self) -> Number:
        """The probability, which is exact."""
        return self.probability


@dataclass(frozen=True)
class WorstGame(Recorded):
    """The worst of all mechanisms and guessers for numbers of canaries and guesses that are fixed before the run.

    `guesses` is None where their number may depend on the output. The guessers see the output only. No (ε, δ)-DP
    mechanism makes the rule report more than ε more often than `upper`, whatever ε (or for the ε that was asked about).
    At `exp_epsilon`, a mechanism does so with probability `probability`, on `observations`: the mixture of `parts`,
    empty where it is too long to write.
    """

    json = "canaries guesses exp_epsilon probability upper observations mechanism=_mixture"
    canaries: int
    guesses: int | None
    exp_epsilon: Fraction
    probability: Fraction
    upper: Fraction
    observations: tuple[Observation, ...]
    parts: Parts

    @property
    def _mixture(self) -> list[dict[str, Any]]:
        return [{"share": p, "guesses": part.guesses, "right_guesses_law": part.law} for p, part in self.parts]

    @property
    def mechanism(self) -> WorstMechanism | None:
        """The worst mechanism where it is not a mixture."""
        return self.parts[0][1] if len(self.parts) == 1 else None


@dataclass(frozen=True, repr=False)
class Validity(Table, Drawn):
    """How often a rule reports more than the true ε: on programs, and in the worst case of whole games.

    A rule with a significance level promises to do so with at most that probability.
    """

    json = "valid probability witness trials games"
    table = "tried"
    rule: str
    delta: Fraction
    significance: Fraction
    trials: tuple[Trial, ...]
    games: tuple[WorstGame, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        asked = {"rule": self.rule, "delta": self.delta, "significance": self.significance}
        return {"tightdp": __version__, "query": "validity", **plain(asked), "result": record(self)}

    @property
    def tried(self) -> tuple[Trial | WorstGame, ...]:
        """Everything tried, worst first."""
        return tuple(sorted((*self.trials, *self.games), key=lambda found: found.probability, reverse=True))

    @property
    def witness(self) -> Trial | WorstGame | None:
        """The first of the worst; None where nothing was tried."""
        return next(iter(self.tried), None)

    @property
    def probability(self) -> Number:
        """The largest probability of reporting more than ε that was found; attained by `witness`."""
        return max((found.probability for found in self.tried), default=Fraction(0))

    @property
    def valid(self) -> bool | None:
        """False where a witness exceeds the significance level, True where nothing that was tried can; else None.

        True is no proof: other programs, and other numbers of canaries and guesses, were not tried.
        """
        if self.probability > self.significance:
            return False
        return True if all(found.upper <= self.significance for found in self.tried) else None


@dataclass(frozen=True, kw_only=True, repr=False)
class Audit(Drawn, Result):
    """The lower bound on ε and the p-value from v right guesses out of r, on m canaries in one run.

    `epsilon_lower` is a float at most the true bound, None where a single trade-off function was asked about: with
    confidence 1 - significance the mechanism is not (ε, δ)-DP for any smaller ε. `p_value` encloses the p-value of the
    guarantee that was asked about, None where none was. `valid` is true where a proof confirms the method, false where
    a counterexample is known, "unknown" otherwise; `why` says which.
    """

    query: ClassVar[str] = "audit"
    json = "*answer.to_dict expected_correct=_expected?"
    table = "_listed"
    answer: AuditAnswer
    program: bool = False
    """Whether the guarantee is the trade-off function of the subject."""

    expected: Enclosure | None = None
    """The mean number of right guesses of the ideal auditor, where that is the observation (rounded down)."""

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as `--json` prints it; no mechanism is named unless one gave the trade-off function."""
        return {**super().to_dict(), "mechanism": self.mechanism if self.program else None}

    @property
    def columns(self) -> dict[str, tuple[Exact, Exact]]:
        return {} if self.p_value is None else {"p_value": (self.p_value.lower, self.p_value.upper)}

    @property
    def _listed(self) -> tuple[Row, ...]:
        names = "method canaries guesses correct delta significance guarantee epsilon_lower p_value valid"
        return (as_row(self.answer, names.split()),)

    @property
    def _expected(self) -> dict[str, Fraction] | None:
        return None if self.expected is None else dict(zip(("low", "high"), self.expected, strict=True))

    @property
    def method(self) -> str:
        """The name of the method."""
        return self.answer.method

    @property
    def epsilon_lower(self) -> float | None:
        """The lower bound on ε, rounded down."""
        return self.answer.epsilon_lower

    @property
    def exp_epsilon_lower(self) -> Fraction | None:
        """A rejected e^ε, exact."""
        return self.answer.exp_epsilon_lower

    @property
    def p_value(self) -> Enclosure | None:
        """The p-value of the guarantee; `float()` of it is rounded up."""
        return self.answer.p_value

    @property
    def valid(self) -> Valid:
        """True, False or "unknown"."""
        return self.answer.valid

    @property
    def why(self) -> str:
        """The reason for `valid`, and what is assumed."""
        return self.answer.why

    @property
    def worst(self) -> WorstMechanism | None:
        """The mechanism and guesser that reach the optimum, or come close; None for the other methods."""
        return self.answer.mechanism
