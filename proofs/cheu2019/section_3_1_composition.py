"""Section 3.1: composition (Lemma 3.3)."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

from sympy import Symbol, symbols
from sympy import sqrt as symbolic_sqrt

from tightdp.claims import Real, exp, grid, identity, log, positive, sqrt

from .mechanisms import composed
from .paper import paper
from .sums import ZERO, agreed, listed, rational_below


def advanced_composition() -> None:
    """Fix neighbours, let P_i, Q_i be the laws of M_i(X), M_i(X'), t = e^ε. (1) Replace P, Q by P' = min(P, tQ),
    Q' = min(Q, tP): their masses m1, m2 are at least 1 - δ, and Q'/t <= P' <= tQ'. If m1 > m2, take the share
    (m1 - m2)/(m1 - m2/t), which is at most 1, of P' - Q'/t away from P'; both inequalities stay and the masses
    become equal (if m2 > m1: the same for Q'). So there are P'' <= P and Q'' <= Q of equal mass m_i >= 1 - δ with
    the ratio in [1/t, t]. (2) The products: P(W) <= P''(W) + 1 - Π m_i, and 1 - Π m_i <= Tδ. (3) Under P''/m the
    losses ℓ_i = ln(P''/Q'') are independent and in [-ε, ε]. Since -ln is convex and Q''/P'' has the mean 1 in
    [1/t, t], the mean loss is at most ε(t-1)/(t+1) <= ε(t-1). Hoeffding: the second derivative of ln E exp(θℓ) is a
    variance under a tilted law, at most ε², so P(Σ ℓ_i > mean + a) <= exp(-a²/(2Tε²)), which is δ' for
    a = ε·sqrt(2T ln(1/δ')). Where the loss is at most ε' the ratio is at most e^ε', so P''(W) <= e^ε' Q''(W) + δ'.
    Together: P(W) <= e^ε' Q(W) + δ' + Tδ. (δ' >= 1 says nothing; for ε = 0, P'' = Q''.)

    For the reader: the decomposition into P'' and Q'', that losses under P''/m are independent, and Hoeffding's
    step from a second derivative to the tail.
    """
    t, m1, m2, eps, a, rounds, theta, d, k = symbols("t m1 m2 epsilon a T theta delta k", positive=True)
    share = (m1 - m2) / (m1 - m2 / t)
    identity(m1 - share * (m1 - m2 / t), m2, "taking this share of P' - Q'/t away makes the masses equal")
    identity((m1 - m2 / t) - (m1 - m2), m2 * (t - 1) / t, "the share is at most 1, as t >= 1")
    identity(
        (k + 1) * d - (1 - (1 - d) * (1 - k * d)),
        k * d**2,
        "1 - (1-δ)^T <= Tδ by induction",
    )
    chord = eps - 2 * eps * (1 - 1 / t) / (t - 1 / t)
    identity(chord, eps * (t - 1) / (t + 1), "the chord of -ln from (1/t, ε) to (t, -ε), at 1")
    positive((t - 1) - (t - 1) / (t + 1), t, 1, None, "(t-1)/(t+1) < t - 1, so the printed mean is generous")
    identity(
        (-theta * a + rounds * theta**2 * eps**2 / 2).subs(theta, a / (rounds * eps**2)),
        -(a**2) / (2 * rounds * eps**2),
        "Markov: exp(-θa + Tθ²ε²/2) at θ = a/(Tε²)",
    )
    small = Symbol("l", positive=True)
    identity(
        (eps * symbolic_sqrt(2 * rounds * small)) ** 2 / (2 * rounds * eps**2), small, "the exponent is l = ln(1/δ')"
    )


def composed_delta(rounds: int, exp_epsilon: Fraction, delta: Fraction, t: Fraction) -> Fraction:
    """δ at t of `rounds` independent copies of the worst (ε, δ)-DP mechanism.

    A copy reveals the bit with probability δ, else it answers rightly with probability e^ε/(1 + e^ε).
    """
    right = Fraction(exp_epsilon) / (1 + exp_epsilon)
    total = ZERO
    for j in range(rounds + 1):
        here = right**j * (1 - right) ** (rounds - j)
        there = right ** (rounds - j) * (1 - right) ** j
        total += comb(rounds, j) * max(ZERO, here - t * there)
    return 1 - (1 - delta) ** rounds * (1 - total)


def composed_bound(t: Fraction, rounds: int, slack: Fraction) -> Real:
    """e^ε' of Lemma 3.3 for e^ε = t and δ' = slack."""
    return exp(log(t) * ((t - 1) * rounds + sqrt(2 * rounds * log(1 / slack))))


@paper.claim(
    "C11a",
    "Lemma 3.3",
    "T-fold composition of (ε,δ)-DP mechanisms is (ε', δ' + Tδ)-DP for every δ' > 0 with ε' = ε(e^ε-1)T + "
    "ε·sqrt(2T·ln(1/δ')): `exact δ <= δ' + T·δ`, where `0 < e^(ε(e^ε - 1)T + ε·sqrt(2T·ln(1/δ'))) - e^ε' < "
    "10^-20`.",
    verdict="argued",
    instances=grid(t=("2", "11/10"), rounds=(1, 3, 8), slack=("1/2", "1/10"), delta=("0", "1/100"))
    + grid(t=("11/10", "101/100"), rounds=(50, 200), slack=("1/10", "1/1000"), delta=("0", "1/1000")),
    quick=16,
    proof=advanced_composition,
    notes="The worst mechanism is the four-output randomized response, whose composition is computed "
    "exactly; for δ = 0 it is randomized response, also run by the engine. The proof gives the sharper "
    "first term ε(e^ε-1)T/(e^ε+1).",
)
def _(t: Fraction, rounds: int, slack: Fraction, delta: Fraction) -> dict[str, Any]:
    at = rational_below(composed_bound(t, rounds, slack))
    found = composed_delta(rounds, t, delta, at)
    if rounds <= 8 and delta == 0:
        composition = composed.bind(n=1, lam=Fraction(1) / (1 + t), rounds=rounds)
        agreed(composition.delta(exp_epsilon=at).delta, found)
    return {"ε": log(t), "e^ε": t, "T": rounds, "δ'": slack, "e^ε'": at, "exact δ": found}


@paper.claim(
    "C11b",
    "Lemma 3.3, how loose",
    "T = 50 copies of randomized response with e^ε = 11/10: at the ε' for δ' = 1/10 (1.92) the exact δ is "
    "0.00089, for δ' = 1/1000 (ε' = 2.98) it is 0.0000014: `0.98·printed < least exact δ <= largest exact δ < "
    "printed` at the ends of an enclosure of e^ε'.",
    verdict="holds on",
    extra=True,
    instances=listed("slack exact", ("1/10", "0.00089"), ("1/1000", "0.0000014")),
)
def _(slack: Fraction, exact: Fraction) -> dict[str, Any]:
    t = Fraction(11, 10)
    low, high = composed_bound(t, 50, slack).enclosure(20)
    return {
        "printed": exact,
        "least exact δ": composed_delta(50, t, ZERO, high),
        "largest exact δ": composed_delta(50, t, ZERO, low),
    }


paper.row(
    "C11",
    "Lemma 3.3",
    "T-fold composition is (ε(e^ε-1)T + ε sqrt(2T ln(1/δ')), δ' + Tδ)-DP (check against the exact curve "
    "of composed randomized response).",
    parts=("C11a", "C11b"),
)
