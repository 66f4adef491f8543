"""Appendix B: the error of the bit-sum protocol at the λ of Lemma 4.8 (Corollaries B.3 and B.4)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sympy import sqrt as symbolic_sqrt
from sympy import symbols

from tightdp.claims import certain, identity, log, real, sqrt

from .paper import paper
from .section_4_3_parameter import lambda_suffices, lemma_lambda
from .section_4_4_accuracy import bernstein_for_the_sum
from .sums import listed


def error_at_the_lemma(n: int, epsilon: Fraction, delta: Fraction, beta: Fraction) -> dict[str, Any]:
    """The bound of Theorem 4.11 at the λ of Lemma 4.8, as a certified real."""
    _, lam = lemma_lambda(n, epsilon, delta)
    return {"α": sqrt(2 * lam * log(2 / beta)) * n / (real(n) - lam), "λ": lam}


def error_is_of_the_order() -> None:
    """By Lemma 4.8 (C8) the protocol is private at this λ, and λ >= 14 ln(4/δ) > 2 ln(2/β) for β > δ, so that Theorem
    4.11 (C9) applies with α = sqrt(2λ·ln(2/β))·n/(n-λ), for λ < n. First case: λ = 64L/ε² <= n/3, so n/(n-λ) <= 3/2 and
    α <= (3/2)·sqrt(128)/ε·sqrt(L·ln(2/β)). Second case: n - λ = ε·n·sqrt(n/(432L)), so α is
    sqrt(864·λ/n)/ε·sqrt(L·ln(2/β)) with λ <= n. Both factors are below 30.

    For the reader: that C8 and C9 apply at this λ.
    """
    lambda_suffices()
    bernstein_for_the_sum()
    lam, big, small, eps, n = symbols("lambda L l epsilon n", positive=True)
    first = symbolic_sqrt(2 * (64 * big / eps**2) * small)
    identity(first, symbolic_sqrt(128) * symbolic_sqrt(big * small) / eps, "case 1: sqrt(2λl), l = ln(2/β)")
    certain(Fraction(3, 2) * sqrt(128) < 17, "case 1: (3/2)·sqrt(128) < 17")
    gap = eps * n * symbolic_sqrt(n / (432 * big))
    identity(
        (symbolic_sqrt(2 * lam * small) * n / gap) ** 2,
        864 * (lam / n) * big * small / eps**2,
        "case 2: the square of α",
    )
    certain(sqrt(864) < 30, "case 2: sqrt(864) < 30")


paper.claim(
    "C17",
    "Cor. B.3, B.4",
    (
        "For `sqrt(3456)·ln(4/δ)/n < ε < 1` and `δ < β < 1` there is a λ for which P_{n,λ} is (ε,δ)-DP and "
        "its error is at most (30/ε)·sqrt(ln(2/β)·ln(4/δ)) with probability at least 1 - β: at the λ of "
        "Lemma 4.8 the bound α of Theorem 4.11 is `α <= 30/ε·sqrt(ln(2/β)·ln(4/δ))`, and `2·ln(2/β) < λ < "
        "n`."
    ),
    verdict="argued",
    instances=listed(
        "n epsilon delta beta",
        (10000, "99/100", "1/1000", "1/2"),
        (10000, "1/2", "1/10000", "1/100"),
        (10000, "1/10", "1/100", "1/2"),
        (1000, "1/2", "1/1000", "1/10"),
        (10**8, "1/10000", "1/1000000", "1/2"),
        (130, "19/20", "1/2", "3/4"),
    ),
    check=error_at_the_lemma,
    proof=error_is_of_the_order,
    notes="Corollary B.3 is Theorem 4.11 for λ > (16/9)·ln(2/β), between the conditions of C9a and C9b.",
)
