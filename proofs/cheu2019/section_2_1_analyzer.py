"""Section 2.1: the analyzer of the introduction."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

from tightdp.claims import Correction, Exactly, Places, brute, columns, every, grid

from .paper import paper
from .protocol import shuffled
from .sums import ZERO


def unbiased_as_printed(n: int, p: Fraction) -> list[dict[str, Any]]:
    """All datasets, with the laws of the engine."""
    instance, found = shuffled.bind(n=n, lam=n * p), []
    for x in product((0, 1), repeat=n):
        mean = sum((q * sum(y) for y, q in instance.distribution(x).law), ZERO)
        found.append({"p": p, "E[Σ y_i]": mean, "Σ x_i": sum(x)})
    return found


def unbiased_as_printed_again(n: int, p: Fraction) -> list[dict[str, Any]]:
    """All datasets, with the laws of the interpreter."""
    found = []
    for x in product((0, 1), repeat=n):
        mean = sum(Fraction(q) * sum(y) for y, q in brute.law(shuffled, x, lam=n * p).items())
        found.append({"p": p, "E[Σ y_i]": mean, "Σ x_i": sum(x)})
    return found


PROBABILITIES = ("1/2", "1/3", "1/5")


paper.claim(
    "C1",
    "Sec. 2.1",
    "The analyzer (1/(1-p))·(Σ y_i - p/2) is an unbiased estimate of Σ x_i: on every dataset "
    "`(E[Σ y_i] - p/2)/(1 - p) = Σ x_i`.",
    brief=(
        "Every client adds p/2, so that np/2 has to be subtracted: for two zeros and p = 1/2 the estimate "
        "has the mean 1/2. Algorithm 1 has it right."
    ),
    verdict="corrected",
    instances=grid(n=(1, 2, 3), p=PROBABILITIES),
    check=unbiased_as_printed,
    brute=unbiased_as_printed_again,
    at={"n": 2, "p": "1/2"},
    minimal="smallest n, then the p of smallest denominator; for n = 1 the formula is right",
    breaks="Every client adds p/2 to the mean of the sum, so np/2 has to be subtracted. The bias is "
    "(n-1)p/(2(1-p)) on every dataset; with p ~ ln(1/δ)/(ε²n) it tends to ln(1/δ)/(2ε²), the square, up to "
    "a constant, of the error that Theorem 2.2 promises.",
    corrected=Correction(
        Exactly(
            every("p < 1"),
            columns({"x": (0, 1)}),
            says=["(E[Σ y_i] - n·p/2)/(1 - p) = Σ x_i"],
            where={
                "E[Σ y_i]": (
                    "the mean of the sum of messages, x_i with probability 1 - p and otherwise a fair bit",
                    Places(lambda x: f"{x}·(1 - p) + p/2"),
                ),
                "Σ x_i": ("the sum of the n bits", Places(lambda x: x)),
            },
        ),
        verdict="decided",
    ),
    stands="Algorithm 1 and all that is argued of it: with p = λ/n it subtracts λ/2 = np/2.",
    readings="With averages in place of sums, (1/(1-p))·((1/n)Σ y_i - p/2), the printed p/2 is right: that "
    "is an unbiased estimate of the mean of the bits (so is the mean). For n = 1 it is right as "
    "printed.",
)
