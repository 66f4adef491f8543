"""Section 4: the number of right guesses that Algorithm 4 estimates, as an enclosed mean."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tightdp.auditing import Gaussian, expected_correct

from .paper import paper


@paper.claim(
    "M9",
    "Sec. 4, δ and confidence levels",
    """
    The idealised setting suggests 1,429 right guesses of 1,500 on 10^5 canaries, at standard deviation 1. Algorithm 4
    returns them in the mean, rounded: its mean is in `1429 - 1/2 < lower end <= upper end < 1429 - 1/4`.
    """,
    verdict="holds-on",
    instances=[{"sigma": Fraction(1), "guesses": 1500, "canaries": 10**5}],
    near=("1429 - 1/4", "1429 - 1/2"),
    notes="""
    The mean is between 1428.64 and 1428.71; the average of the hundred runs of Algorithm 4 has a standard deviation
    of about 1.2. `expected_correct` encloses it for any numbers: the h = guesses/2 highest scores are right as often as
    their certainties add up to, which is the integral over c of the mean of min(h, N), N the binomial number of secrets
    whose certainty reaches c; between the points of a grid both bounds are sums.
    """,
)
def suggested(sigma: Fraction, guesses: int, canaries: int) -> Iterator[dict[str, Any]]:
    found = expected_correct(canaries=canaries, guesses=guesses, tradeoff=Gaussian(1 / sigma), balanced=True)
    yield {"lower end": found.lower, "upper end": found.upper}
