"""Section 5.1: the encoder of real numbers (Algorithm 5)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sympy import Rational, Symbol, symbols

from tightdp.claims import certain, grid, identity, positive

from .mechanisms import encoder
from .paper import paper
from .sums import ZERO, listed


def encoder_is_unbiased() -> None:
    """For 0 < x <= 1 let v = xr, μ = ceil(v), 1 <= μ <= r, and p = v - μ + 1, which is in (0, 1]. The bits sum to
    μ - 1 plus a Bernoulli(p). For x = 0: μ = 0, no j equals μ, all bits are 0, and the mean is 0 = x (p = 1 is not
    used).

    For the reader: that the bits of the encoder are μ - 1 ones and one Bernoulli(p) bit.
    """
    x, r, mu = symbols("x r mu", positive=True)
    identity((mu - 1 + (x * r - mu + 1)) / r, x, "the mean of the average, whatever μ is")
    v, f = symbols("v f", positive=True)
    identity(v - (v + f) + 1, 1 - f, "with μ = v + f, 0 <= f < 1, p is 1 - f")
    positive(1 - f, f, 0, 1, "so p is in (0, 1]")


def average(m: int, r: int, x: int) -> tuple[Fraction, Fraction]:
    """The mean and the variance of the average of E_r(x/m), with the law of the engine."""
    law = [(Fraction(sum(bits), r), p) for bits, p in encoder.bind(n=1, m=m, r=r).distribution((x,)).law]
    mean = sum((z * p for z, p in law), ZERO)
    return mean, sum((z * z * p for z, p in law), ZERO) - mean**2


ENCODED = grid(m=(1, 5, 12), r=(1, 2, 4, 7))


def moments(m: int, r: int) -> list[dict[str, Any]]:
    """The mean and the variance at x = 0, 1/m, ..., 1."""
    found = [(x, *average(m, r, x)) for x in range(m + 1)]
    return [{"x": Fraction(x, m), "mean": mean, "variance": variance} for x, mean, variance in found]


paper.claim(
    "C10a",
    "Alg. 5, Sec. 5.1",
    "The average of the bits of E_r(x) has the mean x: `mean = x`.",
    verdict="argued",
    instances=ENCODED,
    quick=6,
    check=moments,
    proof=encoder_is_unbiased,
    notes="Printed as x_j for x. For x = 0, μ is 0 and no bit has the number μ; that is right all the same.",
)


def example_listed() -> None:
    """x = 0.4, r = 4, step by step: xr = 1.6, μ = 2, p = 0.6.

    For the reader: nothing but reading Algorithm 5.
    """
    x, r = Fraction(2, 5), 4
    mu = -(-(x * r) // 1)
    p = x * r - mu + 1
    certain(mu == 2 and p == Fraction(3, 5), "bit 1 is 1, bit 2 is Bernoulli(0.6), bits 3 and 4 are 0")
    certain((1 + p) / r == x, "the mean is 0.4")
    certain(p * (1 - p) / r**2 == Fraction(15, 1000), "the variance is 0.24/16 = 0.015")


def printed_example(m: int, r: int) -> dict[str, Any]:
    """x = 2/5, by the engine."""
    law = dict(encoder.bind(n=1, m=m, r=r).distribution((2,)).law)
    return {
        "x": Fraction(2, m),
        "P(1,0,0,0)": law[1, 0, 0, 0],
        "P(1,1,0,0)": law[1, 1, 0, 0],
        "variance": average(m, r, 2)[1],
    }


paper.claim(
    "C10b",
    "Sec. 5.1",
    "For `x = 0.4, r = 4` it is (1, Ber(0.6), 0, 0), `P(1,1,0,0) = 0.6, P(1,0,0,0) = 0.4`, with `variance = "
    "0.015` of its average.",
    verdict="argued",
    instances=listed("m r", (5, 4)),
    check=printed_example,
    proof=example_listed,
)


def encoder_variance() -> None:
    """Only bit μ is random, so the average has the variance p(1-p)/r², and p(1-p) <= 1/4, with equality just for
    p = 1/2. For x = 0 it is 0. With r = 1 this is the paper's x(1-x) <= 1/4.

    For the reader: that only bit μ is random.
    """
    p = Symbol("p", real=True)
    identity(Rational(1, 4) - p * (1 - p), (p - Rational(1, 2)) ** 2, "1/4 - p(1-p) is a square")
    positive(Rational(1, 4) - p * (1 - p), p, 0, 1, "so the variance is at most 1/(4r²)", strict=False, closed=True)


paper.claim(
    "C10c",
    "Sec. 5.1",
    "The variance of the average is `variance <= 1/(4r²)`.",
    verdict="argued",
    instances=ENCODED,
    quick=6,
    check=moments,
    proof=encoder_variance,
)


paper.row(
    "C10",
    "Alg. 5, Sec. 5.1",
    "The encoder E_r has mean x; for x = 0.4, r = 4 it is (1, Ber(0.6), 0, 0) with variance 0.015 of its "
    "average; its variance is at most 1/(4r²).",
    parts=("C10a", "C10b", "C10c"),
)
