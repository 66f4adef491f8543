"""How often an audit rule is wrong, on everything that it was tried on."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightdp._version import __version__
from tightdp.auditing.certificate import WorstMechanism
from tightdp.auditing.worst_case import Parts
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.results.record import Recorded, plain, record
from tightdp.results.result import Subject
from tightdp.results.shown import Drawn

__all__ = ["Observation", "Trial", "Validity", "WorstGame"]


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
class Validity(Drawn):
    """How often a rule reports more than the true ε: on programs, and in the worst case of whole games.

    A rule with a significance level promises to do so with at most that probability.
    """

    json = "valid probability witness trials games"
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
