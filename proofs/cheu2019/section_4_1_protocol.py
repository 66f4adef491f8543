"""Section 4.1: Algorithm 1 (Claims B.1 and B.2)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from sympy import symbols

from tightdp.claims import Correction, Exactly, brute, every, grid, identity, largest, least

from .mechanisms import bit_sum
from .paper import paper
from .sums import ZERO, ones


def variances_add() -> None:
    """With q = λ/n a message differs from x_i with probability q/2, so it is Bernoulli(q/2) or Bernoulli(1 - q/2),
    with mean q/2 + (1-q)x_i and variance (q/2)(1 - q/2) either way (Claim B.1). Means of messages add up, and
    variances too, as clients are independent. Rescaling by n/(n-λ) multiplies the variance by its square.

    For the reader: that clients are independent, so that means and variances add up over the n of them.
    """
    lam, n, total = symbols("lambda n S", positive=True)
    q = lam / n
    for bit in (0, 1):
        mean = (1 - q) * bit + q / 2
        identity(mean, q / 2 if bit == 0 else 1 - q / 2, f"the probability of message 1 for x_i = {bit}")
        identity(mean - mean**2, lam / (2 * n) * (1 - lam / (2 * n)), f"its variance for x_i = {bit}")
    mean = lam / 2 + (1 - q) * total
    identity(n / (n - lam) * (mean - lam / 2), total, "the mean of the estimate is Σ x_i")
    variance = (n / (n - lam)) ** 2 * n * (lam / (2 * n)) * (1 - lam / (2 * n))
    printed = (n / (n - lam)) ** 2 * (lam / 2) * (1 - lam / (2 * n))
    identity(variance, printed, "n variances, rescaled, are the printed one")


def mean_and_variance(n: int, lam: Fraction) -> Iterator[dict[str, Any]]:
    """Both, on every number of ones, with the laws of the engine."""
    instance = bit_sum.bind(n=n, lam=Fraction(lam))
    for c in range(n + 1):
        law = instance.distribution(ones(c, n)).law
        mean = sum((y * p for y, p in law), ZERO)
        square = sum((y * y * p for y, p in law), ZERO)
        yield {"Σ x_i": c, "E[Σ y_i]": mean, "Var[Σ y_i]": square - mean**2}


paper.claim(
    "C2a",
    "Alg. 1, Claim B.1, B.2",
    "The analyzer n/(n-λ)·(Σ y_i - λ/2) is unbiased, `n/(n - λ)·(E[Σ y_i] - λ/2) = Σ x_i`, with variance "
    "`(n/(n - λ))²·Var[Σ y_i] = (n/(n - λ))²·(λ/2)(1 - λ/(2n))`.",
    verdict="argued",
    instances=grid(n=(2, 3, 5, 8, 20), lam=("1/2", "1", "5/3")),
    quick=6,
    check=mean_and_variance,
    proof=variances_add,
    notes="Claim B.2 is stated for 0 < λ <= n, but λ = n divides by 0; Algorithm 1 has λ < n.",
)


def in_corrected_range(n: int, lam: Fraction) -> dict[str, Any]:
    """The range of values, with the law of the engine."""
    values = [n / (n - lam) * (y - lam / 2) for y, _ in bit_sum.bind(n=n, lam=lam).distribution((0,) * n).law]
    return {"least z": min(values), "largest z": max(values)}


paper.claim(
    "C2b",
    "Alg. 1, header of the analyzer",
    "The output z of the analyzer is in [0, n]: `0 <= least z`.",
    verdict="corrected",
    extra=True,
    instances=grid(n=(1, 2, 3), lam=("1/2",)),
    check=in_corrected_range,
    brute=lambda n, lam: {
        "least z": n / (n - lam) * (min(brute.law(bit_sum, (0,) * n, lam=lam)) - lam / 2),
        "largest z": n / (n - lam) * (max(brute.law(bit_sum, (0,) * n, lam=lam)) - lam / 2),
    },
    at={"n": 1, "lam": "1/2"},
    breaks="All messages are 0 with positive probability. It is the estimate that is in [0, n] on average. "
    "Truncating it to [0, n] would make it biased.",
    corrected=Correction(
        Exactly(
            every("n >= 0"),
            every("λ"),
            every("y >= 0"),
            given=["λ < n", "y <= n"],
            says=[least("z", "-n·λ/(2(n - λ))", over="y", y="0"), largest("z", "n + n·λ/(2(n - λ))", over="y", y="n")],
            where={"z": "n/(n - λ)·(y - λ/2)"},
        ),
        verdict="decided",
    ),
    stands="All results; none uses the range.",
)


paper.row(
    "C2",
    "Alg. 1, Claim B.1, B.2",
    "The analyzer n/(n-λ)·(Σ y_i - λ/2) is unbiased, with variance (n/(n-λ))²·(λ/2)(1 - λ/(2n)).",
    parts=("C2a", "C2b"),
)
