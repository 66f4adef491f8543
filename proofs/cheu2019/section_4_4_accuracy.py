"""Section 4.4: accuracy (Theorem 4.11)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import comb
from typing import Any

from sympy import Expr, Symbol, factorial, symbols

from tightdp.claims import grid, identity, log, sqrt

from .mechanisms import bit_sum
from .paper import paper
from .sums import ZERO, Law, agreed, ones, rational_below


def bernstein_for_the_sum() -> None:
    """Let d_i be message i minus its mean: independent, mean 0, |d_i| <= 1, variances adding up to
    V = (λ/2)(1 - λ/(2n)) <= λ/2 (C2); the error of the estimate is n/(n-λ)·Σ d_i. Bernstein: from k! >= 2·3^(k-2) E
    exp(θ d_i) <= 1 + Var(d_i)·(θ²/2)/(1 - θ/3), so P(Σ d_i >= a) <= exp(-θa + V(θ²/2)/(1 - θ/3)), which for
    θ = a/(V + a/3) is exp(-a²/(2V + 2a/3)); the same for the other tail. With l = ln(2/β) and a = sqrt(2λl) this is
    at most e^-l if 2λl >= l(2V + 2a/3), for which 2λ >= λ + (2/3)a suffices, that is a <= 3λ/2: 2λl <= 9λ²/4,
    λ >= (8/9)l. The theorem has λ >= 2l. Two tails give 2e^-l = β. (β >= 2 says nothing.)

    For the reader: Bernstein's series argument and Markov's inequality, and that the two tails are alike.
    """
    k, theta, v, a, lam, small = symbols("k theta V a lambda l", positive=True)
    term = factorial(k) / (2 * Symbol("c", positive=True) ** (k - 2))
    ratio = (term.subs(k, k + 1) / term).subs(Symbol("c", positive=True), 3)
    identity(ratio, (k + 1) / 3, "k! >= 2·3^(k-2) for k >= 2: equal at k = 2, then the ratio is >= 1")
    rate: Expr = -theta * a + v * (theta**2 / 2) / (1 - theta / 3)
    identity(rate.subs(theta, a / (v + a / 3)), -(a**2) / (2 * v + 2 * a / 3), "the exponent at θ = a/(V + a/3)")
    identity(3 - a / (v + a / 3), 3 * v / (v + a / 3), "θ < 3, as the series needs")
    n = Symbol("n", positive=True)
    identity(lam / 2 - lam / 2 * (1 - lam / (2 * n)), lam**2 / (4 * n), "V <= λ/2")
    identity(
        (3 * lam / 2) ** 2 - 2 * lam * small,
        9 * lam / 4 * (lam - 8 * small / 9),
        "a <= 3λ/2 just if λ >= (8/9)l, so the hypothesis λ >= 2l is more than enough",
    )


def bit_sum_law(n: int, lam: Fraction, c: int) -> Law:
    """The law of Σ R(x_i) on c ones, one client after the other."""
    flip = Fraction(lam) / (2 * n)
    law = {0: Fraction(1)}
    for one in [1 - flip] * c + [flip] * (n - c):
        moved = dict.fromkeys(range(len(law) + 1), ZERO)
        for y, p in law.items():
            moved[y] += p * (1 - one)
            moved[y + 1] += p * one
        law = moved
    return law


def tail(law: Iterable[tuple[int, Fraction]], n: int, lam: Fraction, c: int, bound: Fraction) -> Fraction:
    """P(|n/(n-λ)·(Σ y_i - λ/2) - c| > bound)."""
    return sum((p for y, p in law if abs(n / (n - lam) * (y - lam / 2) - c) > bound), ZERO)


def tails(n: int, lam: Fraction, beta: Fraction) -> Iterator[dict[str, Any]]:
    """P(error > the bound) for few, half and all ones, from the engine and directly."""
    instance, lam = bit_sum.bind(n=n, lam=lam), Fraction(lam)
    bound = rational_below(sqrt(2 * lam * log(2 / beta)) * Fraction(n, 1) / (n - lam))
    for c in sorted({0, n // 2, n}):
        found = agreed(
            tail(instance.distribution(ones(c, n)).law, n, lam, c, bound),
            tail(bit_sum_law(n, lam, c).items(), n, lam, c, bound),
        )
        yield {"a": bound, "P(|error| > a)": found}


def accurate(beta: Fraction, lam: Fraction, n: int) -> Iterator[dict[str, Any]]:
    """Theorem 4.11 for n clients."""
    return tails(n, lam, beta)


def for_a_ninth(beta: Fraction, lam: Fraction, n: int) -> bool:
    """β = 157/10^6, λ = 1.051, just above (1/9)·ln(2/β), n = 1000 zeros: five ones among the messages are too many."""
    beta, lam, n = Fraction(157, 10**6), Fraction(1051, 1000), 1000
    flip = lam / (2 * n)
    bound = rational_below(sqrt(2 * lam * log(2 / beta)) * Fraction(n, 1) / (n - lam))
    law = [comb(n, y) * flip**y * (1 - flip) ** (n - y) for y in range(12)]
    return lam < log(2 / beta) / 9 or tail(enumerate(law), n, lam, 0, bound) <= beta


paper.claim(
    "C9a",
    "Thm 4.11",
    "For `n > λ >= 2·ln(2/β)`: |P_{n,λ}(x) - Σx| > sqrt(2λ·ln(2/β))·n/(n-λ) has probability at most β: "
    "`P(|error| > a) <= β`, where `0 < sqrt(2λ·ln(2/β))·n/(n - λ) - a < 10^-20`.",
    verdict="argued",
    instances=grid(beta=("1/2",), lam=("3", "7/2"), n=(4, 10, 40))
    + grid(beta=("1/10",), lam=("6", "10"), n=(11, 20, 40))
    + grid(beta=("1/100",), lam=("11",), n=(12, 20, 60)),
    quick=4,
    check=accurate,
    proof=bernstein_for_the_sum,
    notes="In the proof the deviations are exactly those of Σ y_i from its mean, rescaled; sharper is "
    "Corollary B.3's last line, with λ(1 - λ/(2n)) for λ.",
)


def accurate_for_less(beta: Fraction, lam: Fraction, n: int) -> Iterator[dict[str, Any]]:
    """The bound for λ between (8/9)·ln(2/β) and 2·ln(2/β)."""
    return tails(n, lam, beta)


paper.claim(
    "C9b",
    "Thm 4.11, how loose",
    "The bound holds already for `2·ln(2/β) > λ >= (8/9)·ln(2/β)`: `P(|error| > a) <= β`, where `0 < "
    "sqrt(2λ·ln(2/β))·n/(n - λ) - a < 10^-20`.",
    verdict="argued",
    extra=True,
    instances=grid(beta=("1/2",), lam=("5/4", "2"), n=(4, 20)) + grid(beta=("1/10",), lam=("8/3",), n=(5, 40)),
    quick=2,
    check=accurate_for_less,
    proof=bernstein_for_the_sum,
)


paper.row(
    "C9",
    "Thm 4.11",
    "For n > λ >= 2 ln(2/β): |P_{n,λ}(x) - Σx| > sqrt(2λ ln(2/β))·n/(n-λ) has probability at most β.",
    parts=("C9a", "C9b"),
)
