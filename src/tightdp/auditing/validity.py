"""Which method is valid, and why."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal

from tightdp.auditing.steinke import proved_up_to
from tightdp.auditing.tradeoff import Curve, Polygon

__all__ = ["Validity", "assumption", "steinke_verdict", "verdict"]

Validity = Literal["unknown"] | bool

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
    if method == "optimal":
        return True, _optimal(guarantee)
    if method == "fdp":
        return True, "the recursion is a relaxation of the exact optimum, proved for every trade-off function"
    if pure:
        return True, "for pure DP the bound is the binomial tail or above, and that is the exact optimum"
    return False, _COUNTEREXAMPLE


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


def _optimal(guarantee: Polygon | Curve | str | None) -> str:
    if guarantee is None or (isinstance(guarantee, Polygon) and len(guarantee.pairs) == 1):
        return "the exact supremum over all mechanisms and guessers, with a proof, a dual certificate and a mechanism"
    if isinstance(guarantee, Polygon):
        return "a dual certificate bounds all mechanisms under these pairs and all guessers, a mechanism comes close"
    return "a dual certificate bounds all mechanisms under tangents of the curve, a weaker guarantee than the curve"
