"""The idealised experiments of mahloujifar2024: Algorithm 4 enclosed, and what its 1,429 right guesses say."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction

from tightdp.auditing import Gaussian, audit
from tightdp.auditing.families import rejected_exp_epsilon
from tightdp.claims import log
from tightdp.claims.figures import Cell
from tightdp.exact.numbers import decimal_text

from .paper import paper
from .section_4_experiments import expected_correct


@paper.figure(
    "Algorithm 4",
    "the mean number of right guesses out of 1,500 on 10^5 canaries, k = 2, between two bounds",
    ("standard deviation", "printed", "at least", "at most"),
)
def _() -> Iterator[tuple[Cell, ...]]:
    for sigma, printed in ((Fraction(1, 2), None), (Fraction(1), 1429), (Fraction(2), None), (Fraction(4), None)):
        found = expected_correct(sigma, 1500, 10**5)
        low, high = decimal_text(found.lower, 7, ROUND_FLOOR), decimal_text(found.upper, 7, ROUND_CEILING)
        yield sigma, printed, low, high


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
            alone = audit(**numbers, delta=delta, method="steinke", significance=1 - confidence)
            curve = audit(**numbers, delta=delta, method="fdp", tradeoff="gaussian", significance=1 - confidence)
            true = rejected_exp_epsilon(Gaussian(Fraction(1)), delta)
            yield confidence, delta, *(_epsilon(t) for t in (alone.exp_epsilon_lower, curve.exp_epsilon_lower, true))


def _epsilon(t: Fraction | None) -> str | None:
    return None if t is None else decimal_text(log(t).enclosure().lower, 4, ROUND_FLOOR)
