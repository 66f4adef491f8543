"""What cheu2019 asks for against what is needed: no figure of the paper, its bounds as a table."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from tightdp.claims import log
from tightdp.claims.figures import Cell

from .paper import paper
from .section_4_2_fixed_set import binomial_noise_delta


@paper.figure(
    "Claim 4.4",
    "the least number of clients that answer at random for (ln 2, δ/2)-DP, and what the claim asks for, 32·ln(4/δ)",
    ("δ", "asked for", "needed"),
)
def _() -> Iterator[tuple[Cell, ...]]:
    for power in (1, 2, 3, 4, 6):
        delta, two = Fraction(1, 10**power), Fraction(2)
        needed = next(h for h in range(1, 500) if binomial_noise_delta(h, two) <= delta / 2)
        yield delta, 32 * log(4 / delta), needed
