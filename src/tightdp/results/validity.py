"""How often an audit rule is wrong, on everything that it was tried on."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tightdp._version import __version__
from tightdp.auditing.certificate import WorstMechanism
from tightdp.auditing.worst_case import Parts
from tightdp.exact.numbers import Exact, as_text
from tightdp.present import plot
from tightdp.present.html import as_html
from tightdp.present.text import as_text_of, terminal_width
from tightdp.present.view import Grid, View
from tightdp.present.words import plain, shown_number
from tightdp.results.result import Subject

__all__ = ["Observation", "Trial", "Validity", "WorstGame"]

_MOST_ROWS = 12

Observation = tuple[int, int]


@dataclass(frozen=True)
class Trial:
    """One mechanism and guesser: the exact probability that the rule reports more than the true ε.

    `exp_epsilon` is the tight e^ε, at the δ of the rule, of the mechanism on the datasets that the secret bits pick.
    `observations` are the (guesses, right guesses) on which more is reported; `varies` says that the number of guesses
    depends on the output.
    """

    subject: Subject
    guesser: str
    exp_epsilon: Exact
    probability: Fraction
    observations: tuple[Observation, ...]
    varies: bool

    @property
    def upper(self) -> Fraction:
        """The probability, which is exact."""
        return self.probability

    @property
    def words(self) -> tuple[str, str]:
        """What was tried: the mechanism, and the guesser."""
        return str(self.subject), self.guesser

    @property
    def sentence(self) -> str:
        """Say what happens."""
        return (
            f"On {self.subject}, whose true e^ε is {_shown(self.exp_epsilon)}, with the guesser “{self.guesser}”, "
            f"more is reported with probability {shown_number(self.probability)}: {_listed(self.observations)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the trial as JSON has it."""
        return {
            "mechanism": self.subject.mechanism,
            "parameters": {name: plain(value) for name, value in self.subject.parameters},
            "guesser": self.guesser,
            "exp_epsilon": plain(self.exp_epsilon),
            "probability": plain(self.probability),
            "observations": plain(self.observations),
            "guesses_vary": self.varies,
        }


@dataclass(frozen=True)
class WorstGame:
    """The worst of all mechanisms and guessers for so many canaries and guesses, fixed before the run.

    `guesses` is None where their number may depend on the output. The guessers see the output only. No (ε, δ)-DP
    mechanism makes the rule report more than ε more often than `upper`, whatever ε (or for the ε that was asked about).
    At `exp_epsilon`, a mechanism does so with probability `probability`, on `observations`: the mixture of `parts`,
    empty where it is too long to write.
    """

    canaries: int
    guesses: int | None
    exp_epsilon: Fraction
    probability: Fraction
    upper: Fraction
    observations: tuple[Observation, ...]
    parts: Parts

    @property
    def mechanism(self) -> WorstMechanism | None:
        """The worst mechanism where it is not a mixture."""
        return self.parts[0][1] if len(self.parts) == 1 else None

    @property
    def words(self) -> tuple[str, str]:
        """What was tried: the game, and the guesser."""
        return f"worst case, {self.canaries} canaries", self._guesses

    @property
    def _guesses(self) -> str:
        return "any number of guesses" if self.guesses is None else f"{self.guesses} guesses"

    @property
    def sentence(self) -> str:
        """Say what happens."""
        return (
            f"The worst mechanism on {self.canaries} canaries with {self._guesses}, e^ε = "
            f"{_shown(self.exp_epsilon)}, makes it report more with probability {shown_number(self.probability)}: "
            f"{_listed(self.observations)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the game as JSON has it."""
        parts = [
            {"share": plain(share), "guesses": part.guesses, "right_guesses_law": [plain(p) for p in part.law]}
            for share, part in self.parts
        ]
        return {
            "canaries": self.canaries,
            "guesses": self.guesses,
            "exp_epsilon": plain(self.exp_epsilon),
            "probability": plain(self.probability),
            "upper": plain(self.upper),
            "observations": plain(self.observations),
            "mechanism": parts,
        }


@dataclass(frozen=True, repr=False)
class Validity:
    """How often a rule reports more than the true ε: on programs, and in the worst case of whole games.

    A rule with a significance level promises to do so with at most that probability.
    """

    rule: str
    delta: Fraction
    significance: Fraction
    trials: tuple[Trial, ...]
    games: tuple[WorstGame, ...]

    @property
    def tried(self) -> tuple[Trial | WorstGame, ...]:
        """Everything tried, worst first."""
        return tuple(sorted((*self.trials, *self.games), key=lambda found: found.probability, reverse=True))

    @property
    def witness(self) -> Trial | WorstGame | None:
        """The first of the worst; None where nothing was tried."""
        return next(iter(self.tried), None)

    @property
    def probability(self) -> Fraction:
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

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON has it."""
        return {
            "tightdp": __version__,
            "query": "validity",
            "rule": self.rule,
            "delta": plain(self.delta),
            "significance": plain(self.significance),
            "result": {
                "valid": self.valid,
                "probability": plain(self.probability),
                "witness": None if self.witness is None else self.witness.to_dict(),
                "trials": [trial.to_dict() for trial in self.trials],
                "games": [game.to_dict() for game in self.games],
            },
        }

    def view(self) -> View:
        """Return what a person sees."""
        facts = (
            ("verdict", self._verdict()),
            ("P(reports more than ε), largest found", shown_number(self.probability)),
            ("tried", f"{len(self.trials)} audits of programs, {len(self.games)} worst cases"),
        )
        rows = [(*found.words, _shown(found.exp_epsilon), shown_number(found.probability)) for found in self.tried]
        header = ("mechanism", "guesser", "true e^ε", "P(reports more)")
        grid = Grid(header, tuple(rows[:_MOST_ROWS]), max(0, len(rows) - _MOST_ROWS))
        remark = self.witness.sentence if self.witness is not None and self.witness.probability else ""
        heading = f"{self.rule} at δ = {as_text(self.delta)}, significance {as_text(self.significance)}"
        return View(heading, facts, grid, (remark,) if remark else ())

    def _verdict(self) -> str:
        if self.valid is None:
            return "undecided: the bounds on the worst case do not meet at the significance level"
        if not self.valid:
            return "invalid: wrong more often than the significance level allows"
        return "no fault on what was tried, which is no proof"

    def __repr__(self) -> str:
        return as_text_of(self.view(), terminal_width())

    def _repr_html_(self) -> str:
        return as_html(self.view())

    def plot(self, ax: Any = None) -> Any:
        """Draw the largest probabilities as bars, with the significance level, on `ax` (new ones, unless given)."""
        axes = plot.new_axes() if ax is None else ax
        shown = self.tried[:_MOST_ROWS][::-1]
        names = ["\n".join(found.words) for found in shown]
        colours = ["tab:red" if found.probability > self.significance else "tab:blue" for found in shown]
        axes.barh(range(len(shown)), [float(found.probability) for found in shown], color=colours)
        axes.set_yticks(range(len(shown)), names, fontsize="x-small")
        axes.axvline(float(self.significance), linestyle="--", color="black", label="significance")
        axes.set_xlabel("P(reports more than ε)")
        axes.set_title(f"{self.rule} at δ = {as_text(self.delta)}")
        axes.legend(loc="lower right")
        if ax is None:
            axes.figure.set_layout_engine("constrained")  # leaves room for the names
        return axes


def _shown(exp_epsilon: Exact) -> str:
    return shown_number(exp_epsilon)


def _listed(observations: tuple[Observation, ...]) -> str:
    shown = [f"{right} of {guesses} right" for guesses, right in observations[:3]]
    more = len(observations) - len(shown)
    return ", ".join(shown) + (f", and {more} more" if more else "")
