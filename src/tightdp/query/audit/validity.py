"""Which method may be believed, and why."""

from __future__ import annotations

from typing import Literal

from tightdp.query.audit.tradeoff import Curve, Polygon

__all__ = ["Validity", "verdict"]

Validity = Literal["unknown"] | bool

_COUNTEREXAMPLE = (
    "xiang2025, Theorems 1 and 3 are false for δ > 0: an all-or-nothing mechanism that is (0, 1/20)-DP is rejected at "
    "5 % in 51/640 of its runs"
)


def verdict(method: str, pure: bool, guarantee: Polygon | Curve | str | None) -> tuple[Validity, str]:
    """Return whether a method's answers are true, and the reason: a proof, or a counterexample.

    `guarantee` is a trade-off function, the name of a family, or None for a single (ε, δ).
    """
    if method == "optimal":
        return True, _optimal(guarantee)
    if method == "fdp":
        return True, "the recursion is a relaxation of the exact optimum, proved for every trade-off function"
    if method == "steinke":
        return True, "a theorem of Steinke, Nasr, Jagielski 2023; never below the exact optimum where compared"
    if pure:
        return True, "for pure DP the bound is the binomial tail or above, and that is the exact optimum"
    return False, _COUNTEREXAMPLE


def _optimal(guarantee: Polygon | Curve | str | None) -> str:
    if guarantee is None or (isinstance(guarantee, Polygon) and len(guarantee.pairs) == 1):
        return "the exact supremum over all mechanisms and guessers, with a proof, a dual certificate and a mechanism"
    if isinstance(guarantee, Polygon):
        return "a dual certificate bounds all mechanisms under these pairs and all guessers, a mechanism comes close"
    return "a dual certificate bounds all mechanisms under tangents of the curve, a weaker guarantee than the curve"
