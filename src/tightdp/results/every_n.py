"""Results that hold for every number of records at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tightdp.exact.numbers import Exact, log, log_down, log_up
from tightdp.results.answers import Verification
from tightdp.results.result import PairWitness, Result

__all__ = ["EveryN", "EveryNVerification"]


@dataclass(frozen=True, kw_only=True, repr=False)
class EveryN(Result):
    """The least e^ε that holds for all n >= 1: between `lower`, attained with n records, and `upper`, which is proved.

    `attained` is true where some n attains the upper end, false where ratios provably come arbitrarily close to it as n
    grows (without bound where it is inf), and None where that is not known. `proof` names the proof of the upper end
    (docs/every-n.md).
    """

    query: ClassVar[str] = "privacy"
    json = "*_tight lower upper n attained proof witness?"
    lower: Exact
    upper: Exact
    n: int
    attained: bool | None
    proof: str
    witness: PairWitness | None = None

    @property
    def _tight(self) -> dict[str, Any]:
        return {"exp_epsilon": self.upper, "epsilon": self.epsilon} if self.status == "exact" else {}

    @property
    def exp_epsilon(self) -> Exact:
        """The upper end, which is safe to report."""
        return self.upper

    @property
    def epsilon(self) -> float:
        """ε = ln(exp_epsilon), correctly rounded."""
        return log(self.upper)

    @property
    def epsilon_enclosure(self) -> tuple[float, float]:
        """Two floats between which ε lies."""
        return log_down(self.lower), log_up(self.upper)

    def __float__(self) -> float:
        return self.epsilon


@dataclass(frozen=True, kw_only=True, repr=False)
class EveryNVerification(Verification):
    """The verdict on a claim for all n >= 1, with the ends that decide it."""

    json = "holds claims lower=found.lower upper=found.upper n=found.n attained=found.attained proof=found.proof"
    found: EveryN
