"""What an observation of one run rules out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from typing import Any, ClassVar

from tightdp.auditing import AuditAnswer, Enclosure, WorstMechanism
from tightdp.auditing.ask import p_value_at
from tightdp.auditing.validity import Validity
from tightdp.errors import QueryError
from tightdp.exact.numbers import decimal_text
from tightdp.present import plot
from tightdp.present.view import View
from tightdp.present.words import plain, shown_number
from tightdp.results.result import Result

__all__ = ["Audit"]

_POINTS = 60
_LONGEST = 40


@dataclass(frozen=True, kw_only=True, repr=False)
class Audit(Result):
    """The lower bound on ε and the p-value that v right guesses out of r, on m canaries in one run, give.

    `epsilon_lower` is a float at most the true bound, None where a single trade-off function was asked about: with
    confidence 1 - significance no (ε, δ) with a smaller ε is satisfied. `p_value` encloses the p-value of the guarantee
    that was asked about, None where none was. `valid` is true where a proof confirms the method, false where a
    counterexample is known, "unknown" otherwise; `why` says which.
    """

    query: ClassVar[str] = "audit"
    answer: AuditAnswer
    program: bool = False
    """Whether the guarantee is the trade-off function of the subject."""

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
    def valid(self) -> Validity:
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

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as `--json` prints it; no mechanism is named unless one gave the trade-off function."""
        return {**super().to_dict(), "mechanism": self.mechanism if self.program else None}

    def _answer(self) -> dict[str, Any]:
        return {name: plain(value) for name, value in self.answer.to_dict().items()}

    def view(self) -> View:
        """Return what a person sees."""
        answer = self.answer
        game = f"{answer.correct:,} of {answer.guesses:,} guesses right, {answer.canaries:,} canaries"
        facts = [("observation", game)]
        if answer.options > 2:
            facts.append(("options", str(answer.options)))
        facts += [("guarantee", str(self.subject) if self.program else answer.guarantee), *self._found()]
        facts.append(("valid", f"{_yes_no(answer.valid)}: {answer.reason}"))
        if answer.assumed:
            facts.append(("assumed", answer.assumed))
        return View(f"audit, method: {answer.method}, status: {self.status}", tuple(facts))

    def _found(self) -> list[tuple[str, str]]:
        answer, found = self.answer, []
        if answer.exp_epsilon_lower is not None:
            level = decimal_text(100 * (1 - answer.significance))
            found.append(("ε at least", f"{self._bound()}, with {level} % confidence"))
        if answer.p_value is not None:
            found.append((f"p-value{self._asked()}", _shown(answer.p_value)))
        return found

    def _bound(self) -> str:
        lower = self.answer.epsilon_lower
        text = decimal_text(Fraction(lower or 0), 6, ROUND_FLOOR)
        if self._is_family:
            return f"{text} at δ = {self.answer.delta}"
        return text

    @property
    def _is_family(self) -> bool:
        return self.answer.guarantee.endswith("family")

    def _asked(self) -> str:
        asked = dict(self.subject.parameters)
        for name, label in (("epsilon", "ε"), ("exp_epsilon", "e^ε")):
            if name in asked:
                return f" of {label} = {asked[name]}"
        return ""

    def plot(self, ax: Any = None) -> Any:
        """Draw the p-value against ε on the axes `ax` (new ones, unless given), and return them.

        Only for an observation that (ε, δ)-DP was asked of; raises QueryError otherwise.
        """
        answer = self.answer
        if answer.exp_epsilon_lower is None or self._is_family:
            raise QueryError("the p-value is drawn against ε for (ε, δ) only", "leave out tradeoff")
        axes = plot.new_axes() if ax is None else ax
        end = 1.5 * (answer.epsilon_lower or 0) + 0.5
        places = [end * i / (_POINTS - 1) for i in range(_POINTS)]
        heights = [float(p_value_at(answer, Fraction(math.exp(place)))) for place in places]
        axes.plot(places, heights, label=f"p-value, {answer.method}")
        axes.axhline(float(answer.significance), color="gray", linestyle=":", label="significance")
        axes.axvline(answer.epsilon_lower, color="black", linestyle="--", label="ε at least")
        axes.set_yscale("log")
        axes.set_ylim(float(answer.significance) / 1000, 1.5)
        axes.set_xlabel("ε")
        axes.set_ylabel("p-value")
        axes.set_title(f"{answer.correct} of {answer.guesses} right, {answer.canaries} canaries, δ = {answer.delta}")
        axes.legend()
        return axes


def _yes_no(valid: object) -> str:
    return ("yes" if valid else "no") if isinstance(valid, bool) else "unknown"


def _shown(value: Enclosure) -> str:
    """Write a p-value exactly where that is short, else between its ends, rounded outward."""
    if value.is_exact and len(str(value.upper)) <= _LONGEST:
        return shown_number(value.upper)
    low, high = decimal_text(value.lower, 6, ROUND_FLOOR), decimal_text(value.upper, 6, ROUND_CEILING)
    return f"at most {high}" if value.is_exact or low == high else f"between {low} and {high}"
