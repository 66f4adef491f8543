"""Section 4.3, beyond: the constant of Lemma 4.8, 64L/ε² in its first case."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import comb
from typing import Any

from flint import arb, ctx, fmpq
from sympy import Rational, diff, symbols
from sympy import exp as symbolic_exp
from sympy import log as symbolic_log

from tightdp.claims import Correction, Exactly, certain, every, exp, identity, log, real
from tightdp.exact.enclosure import as_fraction

from .paper import paper
from .section_4_3_parameter import delta_of_neighbours
from .sums import listed, rational_below


def eight_suffices() -> None:
    """Let f = λ/(2n), t = e^ε, Q the law of the sum of the other messages, P and P' the laws of the sum of all where
    the record is 0 and 1 (for 1 and 0 exchange 0 and 1 everywhere). Then P(y) - tP'(y) = (1-f-tf)·Q(y) -
    (t(1-f)-f)·Q(y-1) is positive only where Q(y) > t·Q(y-1), and at most Q(y). Q is the law of a sum of independent
    bits and so log-concave: these y are 0, ..., k, and the exact δ is at most Q(Y <= k).

    The tilted law, t^-y·Q(y) divided by E t^-Y, is that of a sum of independent bits too. Its mode is k, hence below
    its mean plus 1 (Darroch). By Markov's inequality Q(Y <= k) <= t^k·E t^-Y, so that with K(s) = ln E e^(sY) the
    logarithm of δ is at most ε + K(-ε) + ε·K'(-ε). The derivative of K(-s) + s·K'(-s) is -s·K''(-s), and K''(-s) the
    sum of the variances of the tilted bits: f(1-f)e^-s/(1-f+fe^-s)², at least f(1-f)e^-s, for a client with record 0,
    and no less for one with record 1. So ln δ <= ε - (n-1)f(1-f)·I, where I, the integral of s·e^-s from 0 to ε, is 1
    - (1+ε)e^-ε, that is ε² times the integral of u·e^(-εu) from 0 to 1: at least ε²(1-2/e), its value at ε = 1.

    With nf = 4L/ε², f <= 1/48 and n > 192L > 266 the product is at least L, and the exact δ at most e^(ε-L) =
    e^ε·δ/4, which is less than δ.

    For the reader: Darroch's theorem on the mode, log-concavity of a sum of independent bits, and the bound on the
    tilted variances.
    """
    f, t, s, big, n = symbols("f t s L n", positive=True)
    identity((t * (1 - f) - f) - t * (1 - f - t * f), f * (t**2 - 1), "Q(y) > t·Q(y-1) where the term is positive")
    zero, one = symbolic_log(1 - f + f * symbolic_exp(-s)), symbolic_log(f + (1 - f) * symbolic_exp(-s))
    spread = (1 - f) * f * symbolic_exp(-s)
    identity(diff(zero, s, 2), spread / (1 - f + f * symbolic_exp(-s)) ** 2, "the variance for a record 0")
    identity(diff(one, s, 2), spread / (f + (1 - f) * symbolic_exp(-s)) ** 2, "the variance for a record 1")
    identity(
        (1 - f + f * symbolic_exp(-s)) - (f + (1 - f) * symbolic_exp(-s)),
        (1 - 2 * f) * (1 - symbolic_exp(-s)),
        "whose denominator is no larger, as f <= 1/2",
    )
    area = 1 - (1 + s) * symbolic_exp(-s)
    identity(diff(area, s), s * symbolic_exp(-s), "I is the integral of s·e^-s")
    identity(area.subs(s, 1), 1 - 2 * symbolic_exp(-1), "it is 1 - 2/e at 1")
    identity((4 * big / (192 * big / n)) / n, Rational(1, 48), "f is 1/48 at the least ε")
    certain(192 * log(4) > 266, "n > 266, as L > ln 4")
    product = 4 * Fraction(265, 266) * Fraction(47, 48) * (1 - 2 / exp(1))
    certain(product > 1, "4(1 - 1/266)(47/48)(1 - 2/e) > 1")
    certain(exp(1) < 4, "e^ε < 4")


def lambda_of(constant: int, delta: Fraction, epsilon: Fraction) -> Fraction:
    """So many times L/ε², rounded down to thousandths."""
    return Fraction(int(rational_below(constant * log(4 / delta) / epsilon**2) * 1000), 1000)


def four_suffices(delta: Fraction, epsilon: Fraction, n: int) -> dict[str, Any]:
    """The exact δ, of the neighbours of the dataset of zeros."""
    lam = lambda_of(4, delta, epsilon)
    return {"λ": lam, "exact δ": delta_of_neighbours(n, lam, above(epsilon))}


def four_suffices_again(delta: Fraction, epsilon: Fraction, n: int) -> dict[str, Any]:
    """A lower bound by one event, few ones among the messages of n zeros, against those of n - 1 zeros and a one."""
    with ctx.workprec(200):
        ends = [arb(fmpq(each.numerator, each.denominator)) for each in (4 / delta, 4000 / epsilon**2, epsilon)]
        lam, t = (
            Fraction(int((ends[0].log() * ends[1]).floor().unique_fmpz()), 1000),
            as_fraction(ends[2].exp().upper().fmpq()),
        )
    f = lam / (2 * n)
    wrong, right, scale = f.numerator, f.denominator - f.numerator, f.denominator**n
    others = [comb(n - 1, j) * wrong**j * right ** (n - 1 - j) for j in range(n // 20)]
    gain = 0
    for j, mass in enumerate(others):
        before = others[j - 1] if j else 0
        gain += max(0, t.denominator * (right * mass + wrong * before) - t.numerator * (wrong * mass + right * before))
    found = Fraction(gain, t.denominator * scale)
    return {"λ": lam, "exact δ": real(found)}


def above(epsilon: Fraction) -> Fraction:
    """A rational just above e^ε, where δ is smaller: the safe side for a counterexample."""
    return exp(epsilon).enclosure(10).upper


def with_eight(delta: Fraction, epsilon: Fraction, n: int) -> dict[str, Any]:
    """The exact δ with 8L/ε², at a rational just below e^ε."""
    lam = lambda_of(8, delta, epsilon)
    return {"λ": lam, "exact δ": delta_of_neighbours(n, lam, rational_below(exp(epsilon), 10))}


paper.claim(
    "C27",
    "Lemma 4.8, the constant",
    "In the first case, for `1 > ε >= sqrt(192·ln(4/δ)/n)`, P_{n,λ} is (ε,δ)-DP already for λ = 4L/ε², L = ln(4/δ): "
    "`exact δ <= δ`, for `4·ln(4/δ)/ε² - 1/1000 <= λ <= 4·ln(4/δ)/ε²`.",
    verdict="corrected",
    extra=True,
    instances=listed(
        "delta epsilon n", ("1/100", "99/100", 1200), ("1/10000", "99/100", 2100), ("1/10000000", "99/100", 3500)
    ),
    check=four_suffices,
    brute=four_suffices_again,
    at={"delta": "1/10000000", "epsilon": "99/100", "n": 3500},
    minimal="the first δ of 1/100, 1/10000, 1/10000000",
    breaks="""
    For n large and δ small the sum is close to a Poisson law of mean λ/2, and its lower tail decides: the mean has to
    be about L/(1 - (1+ε)e^-ε), which is 2L/ε² for small ε and L/(1 - 2/e) near ε = 1. So no constant below
    2/(1 - 2/e) = 7.57 would do for all ε < 1.
    """,
    corrected=Correction(
        "λ = 8L/ε² suffices there, for `1 > ε >= sqrt(192·ln(4/δ)/n)`, an eighth of the printed one: `exact δ <= δ`, "
        "where "
        "`λ <= 8·ln(4/δ)/ε²`.",
        verdict="argued",
        instances=listed(
            "delta epsilon n", ("1/2", "99/100", 600), ("1/10000", "9/10", 2600), ("1/10000000", "99/100", 3500)
        ),
        check=with_eight,
        proof=eight_suffices,
    ),
)


@cache
def with_five(delta: Fraction, epsilon: Fraction, n: int) -> Fraction:
    """The exact δ at a rational just above e^ε, where it is smaller, with λ just above 5L/ε²."""
    lam = lambda_of(5, delta, epsilon) + Fraction(1, 1000)
    return delta_of_neighbours(int(n), lam, above(epsilon))


paper.claim(
    "C28",
    "Lemma 4.8, the constant",
    Exactly(
        every("δ, ε, n", among=[(Fraction(1, 10**13), Fraction(99, 100), 6136)]),
        says=["exact δ > δ", "⌊1000·λ·ε²/ln(4/δ)⌋ = 5000", "1 > ε >= sqrt(192·ln(4/δ)/n)"],
        where={
            "λ": (
                "a rational just above five times L/ε²",
                lambda delta, epsilon: lambda_of(5, delta, epsilon) + Fraction(1, 1000),
            ),
            "exact δ": ("the least δ of P_{n,λ} at a rational just above e^ε", with_five),
        },
    ),
    verdict="decided",
    extra=True,
    notes="The last says that it is in the first case. So a λ of 5L/ε² is not enough either, in the first case of "
    "the lemma.",
)
