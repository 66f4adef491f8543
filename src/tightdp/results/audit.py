"""What an observation of one run rules out."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from tightdp.auditing import AuditAnswer, Enclosure, WorstMechanism
from tightdp.auditing.validity import Validity
from tightdp.results.result import Result
from tightdp.results.shown import Drawn

__all__ = ["Audit"]


@dataclass(frozen=True, kw_only=True, repr=False)
class Audit(Drawn, Result):
    """The lower bound on ε and the p-value from v right guesses out of r, on m canaries in one run.

    `epsilon_lower` is a float at most the true bound, None where a single trade-off function was asked about: with
    confidence 1 - significance the mechanism is not (ε, δ)-DP for any smaller ε. `p_value` encloses the p-value of the
    guarantee that was asked about, None where none was. `valid` is true where a proof confirms the method, false where
    a counterexample is known, "unknown" otherwise; `why` says which.
    """

    query: ClassVar[str] = "audit"
    json = "*_found expected_correct=_expected?"
    answer: AuditAnswer
    program: bool = False
    """Whether the guarantee is the trade-off function of the subject."""

    expected: Enclosure | None = None
    """The mean number of right guesses of the ideal auditor, where that is the observation (rounded down)."""

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as `--json` prints it; no mechanism is named unless one gave the trade-off function."""
        return {**super().to_dict(), "mechanism": self.mechanism if self.program else None}

    @property
    def _found(self) -> dict[str, object]:
        return self.answer.to_dict()

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
