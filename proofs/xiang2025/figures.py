"""The experiments of xiang2025 without sampling: the mean of the right guesses enclosed, what is reported from it.

The column "Prop. 1" is the rule of the paper. Its answers are not valid for δ > 0 (X8c, X8d); "f-DP" is the recursion
of mahloujifar2024, which is valid, and "mechanism" the ε of what is audited.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from math import floor

from tightdp import audit
from tightdp.auditing import Gaussian, Laplace, Polygon, expected_correct
from tightdp.auditing.curves import rejected_exp_epsilon
from tightdp.auditing.tradeoff import Curve
from tightdp.claims.figures import Cell, epsilon_text
from tightdp.exact.numbers import decimal_text

from .audits import sharp_bound
from .bounds import order_means
from .games import independent_chance, sum_at_most
from .paper import paper

DELTA = Fraction(1, 10**5)
REPORTED = ("Steinke et al.", "Prop. 1", "f-DP", "mechanism")
SIZES = ((100, 20), (1000, 200), (10**4, 2000))
"""(n, r) with r = n/5."""


@paper.figure(
    "Fig. 3, 5",
    "Gaussian mechanism, r = n/5, δ = 10^-5, 95 % confidence: right guesses in the mean, reported ε",
    ("1/σ", "n", "right at least", *REPORTED),
)
def _() -> Iterator[tuple[Cell, ...]]:
    for mu in (Fraction(1, 2), Fraction(1), Fraction(2)):
        for n, r in SIZES:
            yield mu, n, *_row(n, r, Gaussian(mu), "gaussian")


@paper.figure(
    "Fig. 4",
    "Laplace mechanism, r = n/5, δ = 0, 95 % confidence: right guesses in the mean, reported ε",
    ("1/c", "n", "right at least", *REPORTED),
)
def _() -> Iterator[tuple[Cell, ...]]:
    for mu in (Fraction(1, 2), Fraction(1), Fraction(2)):
        for n, r in SIZES:
            yield mu, n, *_row(n, r, Laplace(mu), "laplace", Fraction(0))


@paper.figure(
    "Fig. 7",
    "randomized response with e^ε = 49/2 (ε = 3.198), r = n/5, 95 % confidence: right guesses in the mean, reported ε",
    ("δ", "n", "right at least", "Steinke et al.", "Prop. 1", "optimal", "mechanism"),
)
def _() -> Iterator[tuple[Cell, ...]]:
    t = Fraction(49, 2)
    for delta in (Fraction(1, 100), Fraction(1, 10**4)):
        for n, r in SIZES:
            right = expected_correct(canaries=n, guesses=r, tradeoff=Polygon(((t, delta),))).lower
            numbers = {"canaries": n, "guesses": r, "correct": floor(right), "delta": delta}
            found = (
                audit(**numbers, method=method).exp_epsilon_lower
                for method in ("steinke", "order-statistics", "optimal")
            )
            yield delta, n, decimal_text(right, 7, ROUND_FLOOR), *map(epsilon_text, found), epsilon_text(t)


@paper.figure(
    "Fig. 9",
    "Gaussian mechanism that sees a bit with probability 1/2, r = n/5, δ = 10^-7, 95 % confidence: right guesses in "
    "the mean, reported ε",
    ("1/σ", "n", "right at least", *REPORTED),
)
def _() -> Iterator[tuple[Cell, ...]]:
    half = Fraction(1, 2)
    for mu in (Fraction(1), Fraction(2)):
        for n, r in SIZES:
            yield mu, n, *_row(n, r, Gaussian(mu, half), "gaussian@1/2", Fraction(1, 10**7))


@paper.figure(
    "Fig. 10",
    "p-values of (1, δ)-DP from u errors in n = r = 100 guesses",
    ("δ", "u", "Steinke et al.", "Prop. 1", "optimal"),
)
def _() -> Iterator[tuple[Cell, ...]]:
    for delta in (Fraction(1, 100), Fraction(1, 10)):
        for u in range(0, 31, 5):
            numbers = {"canaries": 100, "guesses": 100, "correct": 100 - u, "delta": delta, "epsilon": 1}
            values = [audit(**numbers, method=name).p_value for name in ("steinke", "order-statistics", "optimal")]
            yield delta, u, *(value and decimal_text(value.upper, 4, ROUND_CEILING) for value in values)


@paper.figure(
    "Fig. 10, no error",
    "all n guesses released, no error, δ = 1/10, ε = 0: the bound of Theorem 3, what independent channels and "
    "all-or-nothing attain, and the sharp bound",
    ("n", "Theorem 3", "independent channels", "all-or-nothing", "sharp bound"),
    drawn=("Theorem 3", "independent channels", "all-or-nothing", "sharp bound"),
)
def _() -> Iterator[tuple[Cell, ...]]:
    delta = Fraction(1, 10)
    for n in range(1, 11):
        bound = sum_at_most(order_means(n, n, delta), 0)
        channels = independent_chance(n, n, 0, delta)
        together = delta + (1 - delta) / 2**n
        yield n, bound, channels, together, sharp_bound(n, n, 0, delta, Fraction(1))


@paper.figure(
    "Fig. 11",
    "Gaussian mechanism, σ = 1, r = 1,000 guesses, δ = 10^-5, 95 % confidence: right guesses in the mean, reported ε",
    ("n", "right at least", *REPORTED),
)
def _() -> Iterator[tuple[Cell, ...]]:
    for n in (1000, 3000, 10**4, 3 * 10**4, 10**5):
        yield n, *_row(n, 1000, Gaussian(Fraction(1)), "gaussian")


@paper.figure(
    "Fig. 12",
    "0.8-GDP Gaussian mechanism, n = 10^5, δ = 10^-5, 95 % confidence: right guesses in the mean, reported ε",
    ("r", "right at least", *REPORTED),
)
def _() -> Iterator[tuple[Cell, ...]]:
    for r in (100, 300, 1000, 3000, 10**4):
        yield r, *_row(10**5, r, Gaussian(Fraction(4, 5)), "gaussian")


def _row(n: int, r: int, curve: Curve, family: str, delta: Fraction = DELTA) -> tuple[Cell, ...]:
    """The mean, what is reported from it, rounded down, and the truth."""
    right = expected_correct(canaries=n, guesses=r, tradeoff=curve).lower
    numbers = {"canaries": n, "guesses": r, "correct": floor(right), "delta": delta}
    found = (
        audit(**numbers, method=method, tradeoff=None if method == "steinke" else family).exp_epsilon_lower
        for method in ("steinke", "order-statistics", "fdp")
    )
    true = rejected_exp_epsilon(curve, delta)
    return decimal_text(right, 7, ROUND_FLOOR), *map(epsilon_text, (*found, true))
