"""Section 4.3: how many clients answer at random (Lemma 4.8)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sympy import Rational, symbols
from sympy import sqrt as symbolic_sqrt

from tightdp.claims import Real, certain, exp, identity, log, real, sqrt

from .paper import paper
from .protocol import engine_delta
from .sums import bit_sum_delta, l_of, listed, rational_below


def lambda_suffices() -> None:
    """The range of ε is not empty only if sqrt(3456)·L/n < 1, so n > 58L (this makes the lemma's n >= 14L
    superfluous). In both cases it is shown that λ >= 14L, λ >= 8l and λ <= n, so that Corollary 4.7 applies, and
    that ε*(λ) <= ε. From λ >= 8l, sqrt(2λl) <= λ/2, so s0 = λ - sqrt(2λl) >= λ/2 and sqrt(32L/s0) <= sqrt(64L/λ).
    Case 1: λ = 64L/ε² > 64L, and ε² >= 192L/n gives λ <= n/3. ε*(λ) <= sqrt(64L/λ) = ε. Case 2: 1 - λ/n = ε
    sqrt(n/(432L)) < sqrt(192/432) = 2/3, so λ > n/3 > 19L. With λ >= n/3 in the first factor and λ <= n in the
    second, ε*(λ) <= sqrt(192L/n)·(ε sqrt(n/(432L)) + sqrt(2l/n)) < (2/3)ε + sqrt(384)L/n < ε, as
    sqrt(384) = sqrt(3456)/3.

    For the reader: that the inequalities between L, l, λ and n combine as the text says, case by case.
    """
    lam, big, small, eps, n = symbols("lambda L l epsilon n", positive=True)
    certain(sqrt(3456) > 58, "n > 58L")
    identity((lam / 2) ** 2 - 2 * lam * small, lam / 4 * (lam - 8 * small), "sqrt(2λl) <= λ/2 just if λ >= 8l")
    identity(32 * big / (lam / 2), 64 * big / lam, "32L/s0 <= 64L/λ")
    first = 64 * big / eps**2
    identity(first.subs(eps, symbolic_sqrt(192 * big / n)), n / 3, "case 1: λ falls with ε and is n/3 at its end")
    identity(64 * big / first, eps**2, "case 1: sqrt(64L/λ) = ε")
    gap = eps * symbolic_sqrt(n) / symbolic_sqrt(432 * big)
    identity(1 - (n - eps * n * symbolic_sqrt(n) / symbolic_sqrt(432 * big)) / n, gap, "case 2: 1 - λ/n")
    identity(
        gap.subs(eps, symbolic_sqrt(192 * big / n)), Rational(2, 3), "case 2: it is below 2/3, its value at the end"
    )
    certain(58 >= 3 * 19 and 19 >= 14, "case 2: λ > n/3 > 19L, which is more than 14L and 8l")
    identity(64 * big / (n / 3), 192 * big / n, "case 2: 64L/λ <= 192L/n")
    identity(symbolic_sqrt(192 * big / n) * gap, 2 * eps / 3, "case 2: the first product")
    identity(192 * big / n * (2 * big / n), 384 * big**2 / n**2, "case 2: the square of the second, with l < L")
    identity(symbolic_sqrt(384), symbolic_sqrt(3456) / 3, "case 2: the second product is below ε/3")


def lemma_lambda(n: int, epsilon: Fraction, delta: Fraction) -> tuple[int, Real]:
    """The case of Lemma 4.8 and its λ."""
    big = l_of(delta)
    if real(epsilon) ** 2 >= 192 * big / n:
        return 1, 64 * big / epsilon**2
    return 2, n - epsilon * n * sqrt(n / (432 * big))


ENGINE_UP_TO = 200
"""For more clients δ comes from the binomial sums alone, to save time."""


def chosen_lambda(n: int, epsilon: Fraction, delta: Fraction) -> Fraction:
    """The λ of Lemma 4.8, rounded down to thousandths: less privacy, so on the safe side."""
    _, lam = lemma_lambda(n, epsilon, delta)
    return Fraction(int(rational_below(lam) * 1000), 1000)


def delta_of_neighbours(n: int, lam: Fraction, t: Fraction) -> Fraction:
    """δ at t: of all neighbours for n <= 500, for more clients of the neighbours of the dataset of zeros only."""
    if n <= 500:
        return (engine_delta if n <= ENGINE_UP_TO else bit_sum_delta)(n, lam, t)
    flip = Fraction(lam) / (2 * n)
    wrong, right = flip.numerator, flip.denominator - flip.numerator
    others, term = [], right ** (n - 1)  # weights of Bin(n - 1, flip)
    for j in range(n):
        others.append(term)
        term = term * (n - 1 - j) * wrong // ((j + 1) * right)
    zero, one = (
        [stay * a + move * b for a, b in zip([*others, 0], [0, *others], strict=True)]
        for stay, move in ((right, wrong), (wrong, right))
    )
    excess = (
        sum(max(0, t.denominator * a - t.numerator * b) for a, b in zip(p, q, strict=True))
        for p, q in ((zero, one), (one, zero))
    )
    return Fraction(max(excess), t.denominator * (right + wrong) ** n)


def with_two(delta: Fraction, epsilon: Fraction, n: int) -> bool:
    """Whether λ = 2L/ε² would do."""
    lam = Fraction(int(rational_below(2 * log(4 / delta) / epsilon**2) * 1000), 1000)
    return delta_of_neighbours(n, lam, rational_below(exp(epsilon), 10)) <= delta


@paper.claim(
    "C8a",
    "Lemma 4.8, first case (Claim 4.9)",
    "P_{n,λ} is (ε,δ)-DP for λ = 64L/ε², L = ln(4/δ), if `1 > ε >= sqrt(192·ln(4/δ)/n)`: `exact δ <= δ`, where "
    "`0 <= 64·ln(4/δ)/ε² - λ < 0.001`.",
    verdict="argued",
    instances=listed("delta epsilon n", ("1/2", "99/100", 410), ("1/10000", "9/10", 2600)),
    quick=[{"delta": "1/10000", "epsilon": "9/10", "n": 2600}],
    proof=lambda_suffices,
    notes="""
    The proof of Claim 4.10 does not say why Corollary 4.7 applies (λ >= 14L): λ > n/3, and n > 58L because the
    interval for ε is empty otherwise; that also makes the hypothesis n >= 14L superfluous. The first case
    (ε >= sqrt(192L/n) and ε < 1) needs n > 192L.
    """,
)
def _(delta: Fraction, epsilon: Fraction, n: int) -> dict[str, Any]:
    lam = chosen_lambda(n, epsilon, delta)
    return {"λ": lam, "exact δ": delta_of_neighbours(n, lam, rational_below(exp(epsilon), 10))}


def with_a_hundredth(delta: Fraction, epsilon: Fraction, n: int) -> bool:
    """Whether a hundredth of the lemma's λ would do."""
    lam = chosen_lambda(n, epsilon, delta) / 100
    return delta_of_neighbours(n, lam, rational_below(exp(epsilon), 10)) <= delta


@paper.claim(
    "C8b",
    "Lemma 4.8, second case (Claim 4.10)",
    "P_{n,λ} is (ε,δ)-DP for λ = n - ε·n^(3/2)/sqrt(432L), L = ln(4/δ), if "
    "`sqrt(192·ln(4/δ)/n) > ε > sqrt(3456)·ln(4/δ)/n`: `exact δ <= δ`, where "
    "`0 <= n - ε·n·sqrt(n/(432·ln(4/δ))) - λ < 0.001`.",
    verdict="argued",
    instances=listed("delta epsilon n", ("1/2", "9/10", 400), ("1/2", "19/20", 130), ("9/10", "49/50", 100)),
    quick=1,
    proof=lambda_suffices,
)
def _(delta: Fraction, epsilon: Fraction, n: int) -> dict[str, Any]:
    lam = chosen_lambda(n, epsilon, delta)
    return {"λ": lam, "exact δ": delta_of_neighbours(n, lam, rational_below(exp(epsilon), 10))}


@paper.claim(
    "C8c",
    "Lemma 4.8, how loose",
    "The exact least integer λ against that of the lemma: n=130, ε=19/20, δ=1/2: 2 against 83; n=180, ε=7/10, "
    "δ=1/2: 2 against 123; n=360, ε=99/100, δ=1/100: 14 against 227; n=410, ε=99/100, δ=1/2: 2 against 135 "
    "(first case of the lemma): `δ with least <= δ < δ with least - 1`, `lemma <= lemma's λ < lemma + 1`.",
    verdict="holds on",
    extra=True,
    instances=listed(
        "delta epsilon n least lemma",
        ("1/2", "19/20", 130, 2, 83),
        ("1/2", "7/10", 180, 2, 123),
        ("1/100", "99/100", 360, 14, 227),
        ("1/2", "99/100", 410, 2, 135),
    ),
    quick=1,
    notes="""
    λ >= k suffices if λ = k does: a client can add noise to its message, which turns the protocol with λ into one
    with a larger λ (post-processing). The lemma's λ are rounded down.
    """,
)
def _(delta: Fraction, epsilon: Fraction, n: int, least: int, lemma: int) -> dict[str, Any]:
    low, high = exp(epsilon).enclosure(10)
    return {
        "δ with least": bit_sum_delta(n, Fraction(least), low),
        "δ with least - 1": bit_sum_delta(n, Fraction(least - 1), high),
        "lemma's λ": chosen_lambda(n, epsilon, delta),
    }


paper.row(
    "C8",
    "Lemma 4.8",
    "The λ given there suffices; compare with the exact least λ.",
    parts=("C8a", "C8b", "C8c", "C27", "C28"),
)
