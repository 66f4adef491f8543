"""Appendix E: Chernoff's inequality as printed (Theorem E.1)."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

from sympy import Symbol
from sympy import log as symbolic_log

from tightdp.claims import Correction, brute, certain, grid, identity, log, positive, sqrt

from .paper import paper


def upper_tail(n: int, mu: Fraction, beta: Fraction) -> dict[str, Any]:
    """P(Σ x_i - μn < sqrt(3μn·ln(1/β))), by binomial coefficients."""
    bound = sqrt(3 * mu * n * log(1 / beta))
    law = [comb(n, k) * mu**k * (1 - mu) ** (n - k) for k in range(n + 1)]
    return {"μ": mu, "P": sum((p for k, p in enumerate(law) if k - mu * n < bound), Fraction(0))}


def upper_tail_again(n: int, mu: Fraction, beta: Fraction) -> dict[str, Any]:
    """For one variable: x = 1 is 1 - μ above the mean, which is beyond the bound if (1-μ)² >= 3μ·(1/β - 1) >
    3μ·ln(1/β)."""
    if n != 1 or (1 - mu) ** 2 < 3 * mu * 5:  # ln(1/β) < 5 as β > 1/128 > e^-5
        raise ValueError("by hand only for one variable and small μ")
    return {"μ": mu, "P": 1 - brute.tail(1, mu, 1)}


def relative_entropy() -> None:
    """Markov's inequality for (1 + d)^Σx gives P(Σ x_i >= (1 + d)μn) <= exp(-μn·g(d)), g(d) = (1 + d)·ln(1 + d) -
    d. With
    d = sqrt(3·ln(1/β)/(μn)) that is at most β if g(d) >= d²/3. The derivative of g(d) - d²/3 is ln(1 + d) - 2d/3,
    which is
    0 at 0, rises up to d = 1/2 and falls from there, and is positive at 1: so it is not negative up to d = 1, that
    is for
    ln(1/β) <= μn/3.

    For the reader: Markov's inequality, 1 + x <= e^x, and that a function that rises and then falls is least at an end.
    """
    d = Symbol("d", positive=True)
    g = (1 + d) * symbolic_log(1 + d) - d
    identity((g - d**2 / 3).diff(d), symbolic_log(1 + d) - 2 * d / 3, "the derivative of g(d) - d²/3")
    identity(
        (symbolic_log(1 + d) - 2 * d / 3).diff(d), (1 - 2 * d) / (3 * (1 + d)), "its slope: it rises up to d = 1/2"
    )
    positive(1 - 2 * d, d, 0, "1/2", "positive before 1/2")
    positive(2 * d - 1, d, "1/2", 1, "and negative after")
    certain(log(2) > Fraction(2, 3), "at d = 1 it is ln 2 - 2/3 > 0")


paper.claim(
    "C29",
    "Thm E.1, second half",
    "For n independent bits of mean μ and every β > 0, Σ x_i - μn is less than sqrt(3μn·ln(1/β)) with probability at "
    "least "
    "1 - β: `P >= 1 - β`, P that probability.",
    brief="For one bit with μ = 1/100 and β = 9/1000 the bit is 1, and beyond the bound, with probability 1/100 > β.",
    verdict="corrected",
    instances=grid(n=(1,), mu=("1/100",), beta=("1/10", "9/1000")),
    check=upper_tail,
    brute=upper_tail_again,
    at={"n": 1, "mu": "1/100", "beta": "9/1000"},
    minimal="one variable",
    breaks="The inequality exp(-d²μn/3) for a deviation dμn needs d <= 1, that is ln(1/β) <= μn/3.",
    corrected=Correction(
        "It holds for `ln(1/β) <= μ·n/3`: `P >= 1 - β`.",
        verdict="argued",
        instances=grid(n=(20, 60), mu=("1/5", "1/2"), beta=("4/5", "1/2", "3/10")),
        check=upper_tail,
        proof=relative_entropy,
    ),
    stands="The first half for μ > 0 (at μ = 0 neither half holds, as 0 < 0 is false), and everything that uses it "
    "(C7a uses the lower tail only).",
)
