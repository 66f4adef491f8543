"""The answer of an audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from tightdp.auditing.certificate import DualCertificate, WorstMechanism
from tightdp.auditing.order_statistics import Counterexample
from tightdp.auditing.validity import Validity
from tightdp.errors import LimitError
from tightdp.exact.enclosure import Enclosure, float_below, ln
from tightdp.exact.field import Number

__all__ = ["AuditAnswer"]

_LONGEST = 4000
"""Bits of a denominator up to which an exact p-value is written out."""


@dataclass(frozen=True)
class AuditAnswer:
    """What an observation implies for the privacy of a mechanism that was run once.

    `exp_epsilon_lower` is a rejected e^ε (1 where nothing is rejected): with confidence 1 - significance the mechanism
    is not (ε, δ)-DP for it, hence for no smaller ε. None when no family of guarantees was asked about. `p_value`
    encloses the p-value of the guarantee that was asked about, None when none was. `valid` is true where a proof or the
    exact optimum confirms the method, false where a counterexample is known; `reason` says which, `assumed` what it
    assumes about the guesser. `stopped` is the limit that cut the search short, None for none: then larger ε may be
    rejected as well. `certificate` and `mechanism` show the p-value of the optimal method from above and from below.
    """

    method: str
    canaries: int
    guesses: int
    correct: int
    options: int
    delta: Number
    significance: Fraction
    guarantee: str
    exp_epsilon_lower: Fraction | None
    p_value: Enclosure | None
    valid: Validity
    reason: str
    assumed: str
    variant: str = field(default="", repr=False)
    certificate: DualCertificate | None = field(default=None, repr=False)
    mechanism: WorstMechanism | None = field(default=None, repr=False)
    counterexample: Counterexample | None = field(default=None, repr=False)
    stopped: LimitError | None = field(default=None, repr=False, compare=False)

    @property
    def why(self) -> str:
        """The reason for `valid`, and what is assumed."""
        return f"{self.reason}; assumed: {self.assumed}" if self.assumed else self.reason

    @property
    def epsilon_lower(self) -> float | None:
        """The lower bound on ε as a float, rounded down."""
        if self.exp_epsilon_lower is None:
            return None
        return max(0.0, float_below(ln(self.exp_epsilon_lower).lower))

    @property
    def is_exact(self) -> bool:
        """Whether the p-value that was asked for is known exactly."""
        return self.p_value is not None and self.p_value.is_exact

    def to_dict(self) -> dict[str, object]:
        """Return the answer as JSON-ready values: rationals as strings, floats rounded to the safe side."""
        found: dict[str, object] = {
            "method": self.method,
            "canaries": self.canaries,
            "guesses": self.guesses,
            "correct": self.correct,
            "delta": str(self.delta),
            "significance": str(self.significance),
            "epsilon_lower": self.epsilon_lower,
            "p_value": None if self.p_value is None else float(self.p_value),
            "valid": self.valid,
            "why": self.why,
            "options": self.options,
            "guarantee": self.guarantee,
        }
        if self.exp_epsilon_lower is not None:
            found["exp_epsilon_lower"] = str(self.exp_epsilon_lower)
        if self.p_value is not None:
            found["p_value_lower"] = float_below(self.p_value.lower)
            if self.is_exact and self.p_value.upper.denominator.bit_length() <= _LONGEST:
                found["p_value_exact"] = str(self.p_value.upper)
        return found
