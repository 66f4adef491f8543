"""The answer of an audit, and which method is valid, and why."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from tightdp.auditing.certificate import Counterexample, DualCertificate, WorstMechanism
from tightdp.auditing.optimal import proved_up_to
from tightdp.auditing.tradeoff import Curve, Polygon
from tightdp.errors import LimitError
from tightdp.exact.enclosure import Enclosure, float_below, ln
from tightdp.exact.field import Number

Validity = Literal["unknown"] | bool

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


# which method is valid

_COUNTEREXAMPLE = (
    "xiang2025, Theorems 1 and 3 are false for δ > 0: an all-or-nothing mechanism that is (0, 1/20)-DP is rejected at "
    "5 % in 51/640 of its runs"
)
_STEINKE = (
    "above 1/2 the published p-value can be below the exact optimum for δ > 0: a (ln 3, 1/5)-DP mechanism that is sure "
    "to get 1 of 2 right has 79/80"
)
_STEINKE_FALSE_FROM = Fraction(79, 80)


def verdict(method: str, pure: bool, guarantee: Polygon | Curve | str | None) -> tuple[Validity, str]:
    """Return whether a method (other than steinke's) is valid, and the reason: a proof, or a counterexample.

    `guarantee` is a trade-off function, the name of a family, or None for a single (ε, δ).
    """
    if method == "fdp":
        return True, "the recursion is a relaxation of the exact optimum, proved for every trade-off function"
    if method != "optimal":
        pure_reason = "for pure DP the bound is the binomial tail or above, and that is the exact optimum"
        return (True, pure_reason) if pure else (False, _COUNTEREXAMPLE)
    if guarantee is None or (isinstance(guarantee, Polygon) and len(guarantee.pairs) == 1):
        why = "the exact supremum over all mechanisms and guessers, with a proof, a dual certificate and a mechanism"
    elif isinstance(guarantee, Polygon):
        why = "a dual certificate bounds all mechanisms under these pairs and all guessers, a mechanism comes close"
    else:
        why = "a dual certificate bounds all mechanisms under tangents of the curve, a weaker guarantee than the curve"
    return True, why


def steinke_verdict(pure: bool, significance: Fraction, too_small: bool, options: int = 2) -> tuple[Validity, str]:
    """Return the verdict on the method steinke; `too_small`: its p-value is below the exact optimum."""
    least = proved_up_to(options)
    if pure:
        return True, "for pure DP the bound is the binomial tail, and that is the exact optimum"
    if too_small:
        return False, f"this p-value is below the exact optimum; {_STEINKE}"
    if options == 2 and significance >= _STEINKE_FALSE_FROM:
        return False, _STEINKE
    if significance <= least:
        kind = "a published bound" if options == 2 else f"a bound published for 2 options, here for {options}"
        return True, f"{kind}; where it is at most {least} it is proved to be nowhere below the exact optimum"
    return "unknown", f"proved up to a significance of {least}; {_STEINKE}"


def assumption(valid: Validity, pure: bool) -> str:
    """Return what a valid answer assumes about the guesser."""
    if valid is False:
        return ""
    link = "or" if pure else "and"
    return f"the guesser saw only the output, {link} the number of guesses was fixed before the run"
