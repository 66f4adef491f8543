"""Appendix A.3: the Clopper-Pearson lower bound (Lemma A.10)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sympy import Symbol, diff, integrate, solve, symbols
from sympy import log as symbolic_log

from tightdp.claims import Correction, certain, exp, grid, identity, log, positive, sqrt

from .games import ONE, ZERO, tail
from .paper import paper
from .validity_lemmas import x, y


def lower_bound_is_close_on_both_sides(r: int, v: int, beta: Fraction) -> list[dict[str, Any]]:
    """Both ends of an enclosure of CPL, by bisection of P(Bin(r, q) >= v) = β."""
    low, high = ZERO, ONE
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(r, middle, v) <= beta else (low, middle)
    return [{"CPL": low}, {"CPL": high}]


BETAS = tuple(f"{k}/{m}" for m in range(2, 13) for k in range(1, m))


def hoeffding(upper: str) -> None:
    """Steps of P(Bin(r, q) >= xr) <= exp(-2r(x-q)²) for x >= q; q and 1-x exchanged give the lower tail.

    For the reader: Markov's inequality and Taylor's theorem with remainder.
    """
    q, z = symbols("q z", positive=True)
    bound = symbolic_log(1 - q + q * z) - x * symbolic_log(z)
    best = x * (1 - q) / (q * (1 - x))
    certain(
        (solve(diff(bound, z), z)[0] - best).equals(0),
        f"{upper}: the Chernoff bound (1-q+qz)/z^x is stationary at z = x(1-q)/(q(1-x))",
    )
    divergence = x * symbolic_log(x / q) + (1 - x) * symbolic_log((1 - x) / (1 - q))
    identity(diff(divergence, x, 2), 1 / (x * (1 - x)), "the second derivative of the divergence in x")
    identity(1 / (x * (1 - x)) - 4, (1 - 2 * x) ** 2 / (x * (1 - x)), "... is at least 4")
    certain(divergence.subs(x, q).equals(0), "the divergence is 0 at x = q")
    certain(diff(divergence, x).subs(x, q).equals(0), "... and so is its first derivative")
    identity(1 - q + q * best, (1 - q) / (1 - x), "1 - q + qz at that z")
    ln_x, ln_q, ln_not_x, ln_not_q = symbols("ln_x ln_q ln_not_x ln_not_q")
    identity(
        (ln_not_q - ln_not_x) - x * (ln_x + ln_not_q - ln_q - ln_not_x),
        -(x * (ln_x - ln_q) + (1 - x) * (ln_not_x - ln_not_q)),
        "... so the logarithm of the bound is minus the divergence",
    )
    identity(integrate(4 * (x - y), (y, q, x)), 2 * (x - q) ** 2, "so it is at least 2(x-q)² (Taylor's remainder)")


def lower_bound_on_both_sides() -> None:
    """Let c = CPL(r, v, β), v >= 1. P(Bin(r, q) >= v) is continuous in q and rises from 0 to 1, so it is β at
    q = c. Markov's inequality for z^Bin gives P(Bin(r, q) >= xr) <= ((1-q+qz)/z^x)^r for z >= 1, that is
    exp(-r·D(x|q)) at the best z, D the divergence, which is at least 2(x-q)² (at x = 1 by continuity).

    If c <= v/r, that with x = v/r, q = c gives β <= exp(-2r(v/r - c)²): v/r - c <= sqrt(-ln β/(2r)), and this side
    holds trivially if c > v/r. If c > v/r, then 1 - β = P(Bin(r, c) <= v - 1) <= P(Bin(r, c) <= v) <= exp(-2r(c -
    v/r)²), the same for failures: c - v/r <= sqrt(-ln(1-β)/(2r)). For β <= 1/2 the second is at most the first,
    since -ln(1-β) <= -ln β.

    For the reader: Markov's inequality for z^Bin, Taylor's theorem, and the cases c <= v/r and c > v/r.
    """
    hoeffding("one tail")
    beta = Symbol("beta", positive=True)
    positive((1 - beta) - beta, beta, 0, "1/2", "1 - β > β for β < 1/2")


def lower_bound_by_hand(r: int, v: int, beta: Fraction) -> dict[str, Any]:
    """For r = 2, v = 1 the tail 1 - (1-q)² is β at q = 1 - sqrt(1 - β); for v = r it is q^r."""
    if (r, v) == (2, 1):
        return {"CPL": 1 - sqrt(1 - beta)}
    if r == v:
        return {"CPL": exp(log(beta) / r)}
    raise ValueError("by hand only for r = 2, v = 1 and for v = r")


paper.claim(
    "K20",
    "Lemma A.10",
    "For `1 <= v <= r` and every `0 < β < 1`, CPL = CPL(r,v,β) the Clopper-Pearson lower bound: "
    "`|v/r - CPL| <= sqrt(-ln(β)/(2r))`.",
    brief=(
        "For β near 1 the bound is exceeded: r = 2, v = 1, β = 9/10 has CPL >= 2/3, so that the gap squared "
        "is at least 1/36, and ln(10/9)/4 is less. True for β <= 1/2; on the other side with 1 - β for β."
    ),
    verdict="corrected",
    instances=[{"r": r, "v": v, **each} for r in (1, 2) for v in range(1, r + 1) for each in grid(beta=BETAS)],
    check=lower_bound_is_close_on_both_sides,
    brute=lower_bound_by_hand,
    at={"r": 2, "v": 1, "beta": "9/10"},
    minimal="smallest r, then v, then the β of smallest denominator (up to 12)",
    breaks="Hoeffding's inequality P(Bin >= v) <= exp(-2(v - r·CPL)²/r) is used also where v is below "
    "the mean r·CPL, which happens for β near 1. There it bounds nothing.",
    corrected=Correction(
        "`v/r - CPL <= sqrt(-ln(β)/(2r))` and `CPL - v/r <= sqrt(-ln(1 - β)/(2r))` for all β, CPL = CPL(r,v,β); "
        "so the printed inequality holds for β <= 1/2.",
        verdict="argued",
        instances=[
            {"r": r, "v": v, **each}
            for r, v in ((1, 1), (2, 1), (2, 2), (3, 1), (3, 2), (5, 3), (9, 4), (60, 30))
            for each in grid(beta=("1/100", "1/20", "1/2", "9/10", "99/100"))
        ],
        quick=15,
        check=lower_bound_is_close_on_both_sides,
        proof=lower_bound_on_both_sides,
    ),
    stands="Every use with a confidence level of at least 1/2, and Lemma A.11 (convergence) for every "
    "β, by the corrected bound.",
    notes="By hand: P(Bin(2, 2/3) >= 1) = 8/9 <= 9/10, so that CPL >= 2/3 and the left side is at least "
    "1/6; the right side squared is ln(10/9)/4 < (1/9)/4 = 1/36. For v = 0 the set in Definition A.5 "
    "is empty.",
)
