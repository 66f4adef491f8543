"""Section 6.2: what Theorem 6.1 makes of lower bounds for local protocols (Corollaries 6.6, 6.8)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sympy import symbols

from tightdp.claims import certain, exp, identity, positive

from .appendix_d_2_parameters import parameters_exist
from .paper import paper
from .sums import listed


def lower_bounds_carry_over() -> None:
    """The shuffled protocol fails with probability 1/100, so the local protocol of Theorem 6.1 (C22b) fails with at
    most 4/100, less than 1/10, and is (8(1 + ln n), 0)-DP, that is e^ε = (e·n)^8. The lower bound for local protocols
    says κ·D <= n·(e^ε - 1)², and that is below n·(e·n)^16.

    For the reader: the lower bounds of other papers, and Theorem 6.1 (C22b).
    """
    parameters_exist()
    certain(4 * Fraction(1, 100) < Fraction(1, 10), "4/100 < 1/10")
    n, e, t = symbols("n e t", positive=True)
    identity(t**2 - (t - 1) ** 2, 2 * t - 1, "(t - 1)² is less than t² by 2t - 1 ...")
    positive(2 * t - 1, t, 1, None, "... which is positive for t >= 1")
    identity(n * ((e * n) ** 8) ** 2, e**16 * n**17, "t² at t = (e·n)^8")


def largest_problem(n: int) -> dict[str, Any]:
    """The largest κ·D that the local lower bound allows n users at ε = 8(1 + ln n)."""
    e = exp(1)
    return {"largest κD": n * ((e * n) ** 8 - 1) ** 2, "e": e, "n": n}


paper.claim(
    "C26",
    "Cor. 6.6, 6.8",
    "Where a local (ε,0)-DP protocol that succeeds with probability 9/10 has n >= κ·D/(e^ε - 1)² (Theorems 6.5 and "
    "6.7, of other papers: D = d·log d for selection, the logarithm of the domain's size for histograms), a "
    "one-message shuffled protocol that is (1,δ)-DP with δ < n^-8 and succeeds with probability 99/100 has n = "
    "Ω(D^(1/17)): `largest κD < e^16·n^17`, for n larger than the constant of Theorem 6.1.",
    verdict="argued",
    instances=listed("n", (10,), (10**3,), (10**7,), (10**12,)),
    check=largest_problem,
    proof=lower_bounds_carry_over,
    notes="The corollaries do not repeat that n has to be large. One user may have any δ < 1, and a protocol that "
    "reveals its record with probability 199/200 solves both problems for every D.",
)
