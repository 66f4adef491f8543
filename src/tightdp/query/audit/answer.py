"""The answer of an audit."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from tightdp.query.audit.certificate import DualCertificate, WorstMechanism
from tightdp.query.audit.enclosure import Enclosure, float_below, ln
from tightdp.query.audit.order_statistics import Counterexample

__all__ = ["AuditAnswer", "Validity"]

Validity = Literal["unknown"] | bool


@dataclass(frozen=True)
class AuditAnswer:
    """What an observation says of the privacy of a mechanism that was run once.

    `exp_epsilon_lower` is a rejected e^ε (1 where nothing is rejected): with confidence 1 - significance the
    mechanism is not (ε, δ)-DP for it, hence for no smaller ε. None when no family of guarantees was asked
    about. `p_value` encloses the p-value of the guarantee that was asked about, None when none was. `valid`
    is true where a proof or the exact optimum confirms the method, false where a counterexample is known.
    `certificate` and `mechanism` show the p-value of the optimal method from above and from below.
    """

    method: str
    canaries: int
    guesses: int
    correct: int
    options: int
    delta: Fraction
    significance: Fraction
    guarantee: str
    exp_epsilon_lower: Fraction | None
    p_value: Enclosure | None
    valid: Validity
    why: str
    certificate: DualCertificate | None = field(default=None, repr=False)
    mechanism: WorstMechanism | None = field(default=None, repr=False)
    counterexample: Counterexample | None = field(default=None, repr=False)

    @property
    def epsilon_lower(self) -> float | None:
        """The lower bound on ε as a float, rounded down."""
        if self.exp_epsilon_lower is None:
            return None
        return max(0.0, float_below(ln(self.exp_epsilon_lower).lower))

    def to_dict(self) -> dict[str, object]:
        """Return the answer as JSON-ready values: rationals as strings, floats rounded to the safe side."""
        return {
            "method": self.method,
            "canaries": self.canaries,
            "guesses": self.guesses,
            "correct": self.correct,
            "options": self.options,
            "delta": str(self.delta),
            "significance": str(self.significance),
            "guarantee": self.guarantee,
            "epsilon_lower": self.epsilon_lower,
            "exp_epsilon_lower": None if self.exp_epsilon_lower is None else str(self.exp_epsilon_lower),
            "p_value": None if self.p_value is None else float(self.p_value),
            "p_value_lower": None if self.p_value is None else float_below(self.p_value.lower),
            "valid": self.valid,
            "why": self.why,
        }
