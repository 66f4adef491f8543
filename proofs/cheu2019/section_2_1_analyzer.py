"""Section 2.1: the analyzer of the introduction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from sympy import symbols

from tightdp.claims import Correction, Fails, brute, grid, identity

from .paper import paper
from .protocol import shuffled
from .sums import ZERO


def rescaled_mean() -> None:
    """A client sends its bit x_i with probability 1 - p, else a fair bit, so its message has the mean
    (1-p)x_i + p/2. Expectations add up over the n clients: with S = Σ x_i the sum of the messages has the mean
    (1-p)S + np/2. So np/2 has to be subtracted, and not p/2; then division by 1 - p gives S.
    """
    p, x, n, total = symbols("p x n S", real=True)
    for bit in (0, 1):
        identity(
            (1 - p) * bit + p / 2,
            ((1 - p) * x + p / 2).subs(x, bit),
            f"the mean of a message for x_i = {bit}",
        )
    mean = (1 - p) * total + n * p / 2
    identity((mean - n * p / 2) / (1 - p), total, "with np/2 the estimate is unbiased, for all n")
    identity((mean - p / 2) / (1 - p) - total, (n - 1) * p / (2 * (1 - p)), "with p/2 the bias is this")
    identity((mean / n - p / 2) / (1 - p), total / n, "p/2 is right for the average of messages and bits")


def estimate_of_sum(law: Iterable[tuple[Any, Fraction]], p: Fraction, subtracted: Fraction) -> Fraction:
    """The mean of (1/(1-p))·(Σ y_i - subtracted), y the tuple of messages."""
    mean = sum((q * sum(y) for y, q in law), ZERO)
    return (mean - subtracted) / (1 - p)


def biased(n: int, p: Fraction, means: Iterator[tuple[tuple[int, ...], Fraction]]) -> bool | Fails:
    """The first dataset on which the estimate has another mean than Σ x_i."""
    for x, mean in means:
        if mean != sum(x):
            why = (
                f"For x = {x} each of the {n} messages is a 1 with probability {p / 2} if the bit is 0, so Σ "
                f"y_i has the mean {n * p / 2}, and the estimate has the mean {mean} where Σ x_i = {sum(x)}."
            )
            return Fails(why, x=x, mean_of_estimate=mean, sum_of_bits=sum(x))
    return True


def unbiased_as_printed(n: int, p: Fraction) -> bool | Fails:
    """All datasets, with the laws of the engine."""
    instance = shuffled.bind(n=n, lam=n * p)
    laws = ((x, instance.distribution(x).law) for x in product((0, 1), repeat=n))
    return biased(n, p, ((x, estimate_of_sum(law, p, p / 2)) for x, law in laws))


def unbiased_as_printed_again(n: int, p: Fraction) -> bool | Fails:
    """All datasets, with the laws of the interpreter."""
    laws = ((x, brute.law(shuffled, x, lam=n * p).items()) for x in product((0, 1), repeat=n))
    return biased(n, p, ((x, estimate_of_sum(law, p, p / 2)) for x, law in laws))


def unbiased_corrected(n: int, p: Fraction) -> list[dict[str, Any]]:
    """All datasets, with the laws of the engine."""
    instance = shuffled.bind(n=n, lam=n * p)
    return [
        {"E[Σ y_i]": sum((q * sum(y) for y, q in instance.distribution(x).law), ZERO), "Σ x_i": sum(x)}
        for x in product((0, 1), repeat=n)
    ]


PROBABILITIES = ("1/2", "1/3", "1/5")


paper.claim(
    "C1",
    "Sec. 2.1",
    "The analyzer (1/(1-p))·(Σ y_i - p/2) is an unbiased estimate of Σ x_i.",
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
        "The analyzer (1/(1-p))·(Σ y_i - np/2) is an unbiased estimate of Σ x_i: on every dataset `(E[Σ y_i] - "
        "n·p/2)/(1 - p) = Σ x_i`.",
        near=("n·p/2", "p/2"),
        verdict="proved",
        instances=grid(n=(1, 2, 3), p=PROBABILITIES),
        check=unbiased_corrected,
        proof=rescaled_mean,
    ),
    stands="Algorithm 1 and all that is proved of it: with p = λ/n it subtracts λ/2 = np/2.",
    readings="With averages in place of sums, (1/(1-p))·((1/n)Σ y_i - p/2), the printed p/2 is right: that "
    "is an unbiased estimate of the mean of the bits (last step of the proof). For n = 1 it is right as "
    "printed.",
)
