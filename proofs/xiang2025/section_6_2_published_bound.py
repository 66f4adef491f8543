"""Section 6.2: the binomial bound that the paper compares with, and up to which value it holds for δ > 0."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import Any

from flint import fmpq, fmpz_poly
from sympy import symbols

from tightdp import audit
from tightdp.claims import Correction, identity
from tightdp.exact.enclosure import as_fraction

from .games import HALF, ONE, ZERO, all_bits, delta_of
from .paper import paper
from .section_5_2_theorem_1 import sharp_bound_is_proved


def correction_is_large_enough() -> None:
    """Let X ~ Bin(r, q), q = e^ε/(1+e^ε), b_i = P(X = i), T = P(X >= v), L = 1 - T. The exact optimum is
    T + mδ·TL/(v·b_v), up to 1 (X4a), the bound T + 2mδ·A. The sum of (i - rq)·b_i over i >= v is (1-q)·v·b_v, because
    its terms are differences of (1-q)·i·b_i. So D = E[X|X >= v] - E[X|X < v] is (1-q)·v·b_v·(1/T + 1/L), and the
    optimum is T + mδ(1-q)/D. It is to be shown that 1 - q <= 2A·D.

    Let G = v - X. By the choice of A, P(G <= i|X < v) <= iA/L, so that the mean of G given X < v, the sum of
    P(G > i|X < v) over i >= 0, is at least that of max(0, 1 - iA/L). With L/A = n + f, 0 <= f < 1, this is at least
    L/(2A) + 1/2. As E[X|X >= v] >= v, D is no less, and 2A·D >= L + A > L. A bound of at most 1/2 has T <= 1/2 <= q,
    and then L >= 1 - q.

    For the reader: the bound on the mean of G, and X4a.
    """
    sharp_bound_is_proved()
    i, r, q, b, tail, f, n = symbols("i r q b T f n", positive=True)
    above = b * (r - i) * q / ((i + 1) * (1 - q))
    identity((1 - q) * (i * b - (i + 1) * above), (i - r * q) * b, "(1-q)·i·b_i less the next one is (i - rq)·b_i")
    weight, rest = (1 - q) * b, 1 - tail
    identity(weight / tail + weight / rest, weight / (tail * rest), "D = (1-q)·v·b_v/(T·L)")
    x = n + f
    identity((n + 1) - n * (n + 1) / (2 * x) - (x + 1) / 2, f * (1 - f) / (2 * x), "Σ (1 - i/x) over i <= n, x = L/A")


def published_bound(m: int, r: int, v: int, t: Fraction, delta: Fraction) -> Fraction:
    """min(1, T + 2mδ·A): T = P(X >= v), A the largest P(v-i <= X < v)/i, X ~ Bin(r, e^ε/(1+e^ε))."""
    q = Fraction(t) / (1 + t)
    law = [comb(r, k) * q**k * (1 - q) ** (r - k) for k in range(r + 1)]
    average = max(sum(law[v - i : v], ZERO) / i for i in range(1, v + 1))
    return min(ONE, sum(law[v:], ZERO) + 2 * m * delta * average)


def published_bound_holds(m: int, r: int, v: int, t: Fraction, delta: Fraction) -> dict[str, Any]:
    """Against the exact optimum of the engine, which some mechanism attains."""
    answer = audit(canaries=m, guesses=r, correct=v, delta=delta, exp_epsilon=t, method="optimal")
    assert answer.p_value is not None
    return {"P(at least v right)": answer.p_value.lower, "bound": published_bound(m, r, v, t, delta)}


def published_bound_holds_again(m: int, r: int, v: int, t: Fraction, delta: Fraction) -> dict[str, Any]:
    """Two secrets: with probability 3/5 both guesses are right, otherwise one of them, either with the same chance."""
    if (m, r, v, t) != (2, 2, 1, 3):
        raise ValueError("by hand only for two secrets, one right of two, e^ε = 3")
    table = {
        x: {y: Fraction(3, 5) if x == y else Fraction(1, 5) for y in all_bits(2) if y != tuple(1 - bit for bit in x)}
        for x in all_bits(2)
    }
    if delta_of(table, Fraction(t)) > delta:
        raise ValueError("the table is not (ln 3, δ)-DP")
    right = min(sum((p for y, p in law.items() if y[0] == x[0] or y[1] == x[1]), ZERO) for x, law in table.items())
    return {"P(at least v right)": right, "bound": Fraction(15, 16) + 2 * 2 * delta * Fraction(1, 16)}  # q = 3/4


def published_bound_and_optimum(m: int, r: int, v: int, t: Fraction, delta: Fraction) -> dict[str, Any]:
    """The formula and the exact optimum, where the formula gives at most q."""
    answer = audit(canaries=m, guesses=r, correct=v, delta=delta, exp_epsilon=t, method="optimal")
    assert answer.p_value is not None
    return {"the bound": published_bound(m, r, v, t, delta), "the largest P(at least v right)": answer.p_value.upper}


BELOW_Q = [
    {"m": m, "r": r, "v": v, "t": Fraction(t), "delta": Fraction(d)}
    for m, r in ((1, 1), (2, 2), (3, 2), (4, 4), (6, 5), (9, 9))
    for v in range(1, r + 1)
    for t in ("1", "3/2", "3")
    for d in ("1/100", "1/20", "0")
    if published_bound(m, r, v, Fraction(t), Fraction(d)) <= Fraction(t) / (1 + Fraction(t))
]


paper.claim(
    "X8e",
    "Sec. 6.2, the bound that it compares with",
    "The published bound of Steinke, Nasr and Jagielski for one run and δ > 0, min(1, T + 2mδ·A) with T = P(X >= v) "
    "and A "
    "the largest P(v-i <= X < v)/i over 1 <= i <= v, X ~ Bin(r, e^ε/(1+e^ε)), holds for every v: "
    "`P(at least v right) <= bound`.",
    verdict="corrected",
    extra=True,
    instances=[{"m": 2, "r": 2, "v": 2, "t": 3, "delta": "1/5"}, {"m": 2, "r": 2, "v": 1, "t": 3, "delta": "1/5"}],
    check=published_bound_holds,
    brute=published_bound_holds_again,
    at={"m": 2, "r": 2, "v": 1, "t": 3, "delta": "1/5"},
    minimal="two secrets, at e^ε = 3 and δ = 1/5",
    breaks=(
        "Two secrets, both guessed: with probability 3/5 both guesses are right, otherwise one. An output that is "
        "right in "
        "both weighs 3/5, and 1/5 once a secret changes, in the ratio 3; one of weight 1/5 becomes impossible, which "
        "costs "
        "δ = 1/5. A bound near 1 comes from a tail T that is larger than q = e^ε/(1+e^ε); the correction for δ is "
        "then too small."
    ),
    corrected=Correction(
        "It holds where it is at most e^ε/(1 + e^ε), hence wherever it is at most 1/2: if `the bound <= "
        "e^ε/(1 + e^ε)` then `the largest P(at least v right) <= the bound`.",
        verdict="argued",
        instances=BELOW_Q,
        quick=12,
        check=published_bound_and_optimum,
        proof=correction_is_large_enough,
    ),
    stands="All its uses at confidence 1/2 and more.",
)


def no_violation_below(r: int) -> dict[str, Any]:
    """For every v the set of p = 1/(1+e^ε) where the bound exceeds T by too little, T < 7/8, and three fair coins.

    The bound is too small for some δ exactly where T·L > 2A·v·b_v, and not where L >= p, by the proof. A is at least
    b_(v-1). L - p changes its sign once on (0, 1), so p runs from where L = 1/8 to where L = p, or to 1/2; the sign of
    the polynomial on it is decided by enclosures of all its roots.
    """
    delta = Fraction(1, 100)
    answer = audit(canaries=3, guesses=3, correct=1, delta=delta, exp_epsilon=1, method="optimal")
    assert answer.p_value is not None
    return {
        "v with a bound below 7/8 that is too small": sum(too_small(r, v) for v in range(1, r + 1)),
        "bound": published_bound(3, 3, 1, ONE, delta),
        "attained": answer.p_value.lower,
        "δ": delta,
    }


def too_small(r: int, v: int) -> bool:
    """Whether 2·b_(v-1)·v·b_v < T·L for a p in (0, 1/2] with 1/8 < L < p."""
    q, p = fmpz_poly([1, -1]), fmpz_poly([0, 1])
    law = [comb(r, k) * q**k * p ** (r - k) for k in range(r + 1)]
    less, more = sum(law[:v], fmpz_poly([0])), sum(law[v:], fmpz_poly([0]))
    if value(less, HALF) <= Fraction(1, 8):
        return False
    low, _ = between(ZERO, HALF, lambda x: value(less, x) <= Fraction(1, 8))
    if value(less, low) >= low:
        return False
    _, high = between(low, HALF, lambda x: value(less, x) < x)
    room = 2 * v * law[v] * law[v - 1] - more * less
    return value(room, high) <= 0 or any(
        not (root.real < fmpq(low.numerator, low.denominator) or root.real > fmpq(high.numerator, high.denominator))
        for root, _ in room.complex_roots()
        if root.imag == 0
    )


def value(polynomial: fmpz_poly, at: Fraction) -> Fraction:
    """Its value."""
    return as_fraction(polynomial(fmpq(at.numerator, at.denominator)))


def between(low: Fraction, high: Fraction, holds: Callable[[Fraction], bool]) -> tuple[Fraction, Fraction]:
    """Two numbers 2^-30 times as far apart, between which it ceases to hold; twice the upper end if it holds there."""
    if holds(high):
        return high, high
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


paper.claim(
    "X8f",
    "Sec. 6.2, the same bound, how far",
    "That bound holds wherever it is below 7/8, for r <= 40 guesses, every v, m, δ and e^ε >= 1: "
    "`v with a bound below 7/8 that is too small = 0`. Beyond 7/8 it does not: for three secrets, v = 1 and ε = 0 "
    "`bound = 7/8 + 3δ/4`, and `attained = 7/8 + 7δ/8`.",
    verdict="holds on",
    extra=True,
    instances=[{"r": r} for r in range(1, 41)],
    quick=12,
    check=no_violation_below,
    notes="By hand: X ~ Bin(3, 1/2) has T = 7/8, L = 1/8, b_1 = 3/8 and A = 1/8, so that the bound adds 2·3·δ/8 and "
    "the optimum 3δ·(7/64)/(3/8).",
)
