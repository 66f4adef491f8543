"""The idealised experiments of mahloujifar2024: the mean of Algorithm 4 enclosed, and the ε reported from it."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from math import floor

from tightdp import audit
from tightdp.auditing import Enclosure, Gaussian, expected_correct
from tightdp.auditing.curves import rejected_exp_epsilon
from tightdp.claims.figures import Cell, epsilon_text
from tightdp.exact.numbers import decimal_text

from .paper import paper

DELTA = Fraction(1, 10**5)
NOISE = (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))
"""Standard deviations."""


@paper.figure(
    "Algorithm 4",
    "the mean number of right guesses out of 1,500 on 10^5 canaries, k = 2, between two bounds",
    ("standard deviation", "printed", "at least", "at most"),
)
def _() -> Iterator[tuple[Cell, ...]]:
    for sigma in NOISE:
        found = right(sigma, 1500, 10**5)
        low, high = decimal_text(found.lower, 7, ROUND_FLOOR), decimal_text(found.upper, 7, ROUND_CEILING)
        yield sigma, 1429 if sigma == 1 else None, low, high


@paper.figure(
    "Fig. 1",
    "the largest reported ε over 20, 100, 500 or 1,500 guesses, with the mean of Algorithm 4 rounded down, at 95 % "
    "confidence and δ = 10^-5; and the ε of the mechanism",
    ("standard deviation", "canaries", "Steinke et al.", "f-DP, Algorithm 3", "mechanism"),
)
def _() -> Iterator[tuple[Cell, ...]]:
    for sigma in NOISE:
        true = epsilon_text(rejected_exp_epsilon(Gaussian(1 / sigma), DELTA))
        for canaries in (10**k for k in range(2, 8)):
            asked = [_numbers(sigma, guesses, canaries) for guesses in (20, 100, 500, 1500) if guesses <= canaries]
            yield sigma, canaries, _best(asked, "steinke"), _best(asked, "fdp"), true


@paper.figure(
    "Fig. 3",
    "reconstruction of every secret out of k, standard deviation 3/5 (Fig. 5 of the other draft): right guesses in the "
    "mean, the ε that Algorithm 3 reports from them at 95 % confidence and δ = 10^-5, and the ε of the mechanism",
    ("canaries", "k", "right at least", "f-DP, Algorithm 3", "mechanism"),
)
def _() -> Iterator[tuple[Cell, ...]]:
    curve = Gaussian(Fraction(5, 3))
    true = epsilon_text(rejected_exp_epsilon(curve, DELTA))
    for canaries, sizes in ((100, (3, 5, 10, 20, 50)), (10**4, (50, 100, 500, 1000, 5000))):
        for k in sizes:
            found = expected_correct(canaries=canaries, guesses=canaries, tradeoff=curve, options=k)
            numbers = {"canaries": canaries, "guesses": canaries, "correct": floor(found.lower), "options": k}
            yield canaries, k, decimal_text(found.lower, 7, ROUND_FLOOR), _best([numbers], "fdp"), true


@paper.figure(
    "Fig. 4, 5",
    "the number of guesses on 10^7 canaries: right guesses in the mean, and the ε that is reported from them at 95 % "
    "confidence and δ = 10^-5",
    ("standard deviation", "guesses", "right at least", "Steinke et al.", "f-DP, Algorithm 3", "mechanism"),
)
def _() -> Iterator[tuple[Cell, ...]]:
    for sigma in (Fraction(2), Fraction(1)):
        true = epsilon_text(rejected_exp_epsilon(Gaussian(1 / sigma), DELTA))
        for guesses in (100, 300, 1000, 3000, 10000):
            numbers = _numbers(sigma, guesses, 10**7)
            yield sigma, guesses, numbers["correct"], _best([numbers], "steinke"), _best([numbers], "fdp"), true


@paper.figure(
    "Fig. 6, 7",
    "1,429 right guesses of 1,500 on 10^5 canaries: the ε that is reported, and that of the mechanism, whose standard "
    "deviation is 1; rounded down",
    ("confidence", "δ", "Steinke et al.", "f-DP, Algorithm 3", "mechanism"),
)
def _() -> Iterator[tuple[Cell, ...]]:
    numbers = {"canaries": 10**5, "guesses": 1500, "correct": 1429}
    for confidence in (Fraction(9, 10), Fraction(19, 20), Fraction(99, 100)):
        for delta in (Fraction(1, 10**k) for k in range(4, 7)):
            alone, curve = (_best([numbers], method, delta, 1 - confidence) for method in ("steinke", "fdp"))
            yield confidence, delta, alone, curve, epsilon_text(rejected_exp_epsilon(Gaussian(Fraction(1)), delta))


def right(sigma: Fraction, guesses: int, canaries: int) -> Enclosure:
    """Enclose the mean of Algorithm 4, k = 2."""
    return expected_correct(canaries=canaries, guesses=guesses, tradeoff=Gaussian(1 / sigma), balanced=True)


def _numbers(sigma: Fraction, guesses: int, canaries: int) -> dict[str, int]:
    return {"canaries": canaries, "guesses": guesses, "correct": floor(right(sigma, guesses, canaries).lower)}


def _best(
    asked: list[dict[str, int]], method: str, delta: Fraction = DELTA, significance: Fraction = Fraction(1, 20)
) -> str | None:
    """The largest ε that a method reports, rounded down."""
    tradeoff = None if method == "steinke" else "gaussian"
    found = (
        audit(**numbers, delta=delta, method=method, tradeoff=tradeoff, significance=significance) for numbers in asked
    )
    return epsilon_text(max(answer.exp_epsilon_lower or Fraction(1) for answer in found))
