"""Appendix C: the number of messages of the real-sum protocol (Corollary C.3, Theorems 5.1 and 5.3)."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Any

from sympy import sqrt as symbolic_sqrt
from sympy import symbols

from tightdp.claims import certain, identity, log, positive, real, sqrt

from .appendix_b_accuracy import error_is_of_the_order
from .paper import paper
from .section_4_3_parameter import lemma_lambda
from .section_5_3_real_sum import hoeffding_for_the_encoding, union_of_two
from .sums import listed, rational_below


def chosen_messages(n: int, epsilon: Fraction, delta: Fraction) -> int:
    """r: one message where ε <= 65·ln(8/δ)/sqrt(n), and ε·sqrt(n) rounded up beyond."""
    if epsilon * sqrt(n) <= 65 * log(8 / delta):
        return 1
    return ceil((epsilon * sqrt(n)).enclosure(30).upper)


def error_of_the_sum(n: int, epsilon: Fraction, delta: Fraction, beta: Fraction) -> dict[str, Any]:
    """The bound of Theorem 5.5 at the r and λ that are chosen."""
    r = chosen_messages(n, epsilon, delta)
    each, share = epsilon, delta
    if r > 1:
        each, share = rational_below(epsilon / sqrt(8 * r * log(2 / delta))), delta / (2 * r)
    _, lam = lemma_lambda(n, each, share)
    error = sqrt(2) / r * sqrt(n * log(2 / beta)) + sqrt(2 * lam / r * log(2 / beta)) * n / (real(n) - lam)
    lower = sqrt(3456) * log(4 / share) / n
    return {"α": error, "ε of a message": each, "its lower end": lower, "L": log(8 / delta)}


def messages_are_private_and_close() -> None:
    """Let L = ln(8/δ), s = sqrt(ln(2/β)). From 8e^(-0.03·n^(1/4)) < δ < 1/n: 11 < ln(8n) < L < 0.03·n^(1/4).

    ε <= 65L/sqrt(n): one message, at the λ of Lemma 4.8 for (ε, δ). Its condition holds, as 122s >= 122·sqrt(ln 2) >
    101 and sqrt(3456) < 59. Theorem 5.5 has the error sqrt(2n)·s plus (30/ε)·sqrt(ln(4/δ))·s (C17); the first is at
    most 65·sqrt(2)·(L/ε)·s, the second at most (30/sqrt(11))·(L/ε)·s.

    ε > 65L/sqrt(n): r = ⌈ε·sqrt(n)⌉ > 700, so r <= (701/700)·ε·sqrt(n), and r <= n < 1/δ, so ln(8r/δ) <= 2L. With
    ε_0 = ε/sqrt(8r·ln(2/δ)) and δ_0 = δ/(2r) the protocol is (ε, δ)-DP (C14). The condition of Lemma 4.8 on ε_0: its
    square is at least ε/(8·(701/700)·sqrt(n)·L) > 8/n, and 3456·(2L)²/n² < 3456·4·0.0009/n^(3/2) < 8/n. Theorem 5.5
    has the error (sqrt(2)/r)·sqrt(n)·s <= (sqrt(2)/ε)·s plus (30/ε_0)·sqrt(ln(4/δ_0)/r)·s (C17), which is
    (30/ε)·sqrt(8·ln(2/δ)·ln(8r/δ))·s <= (120/ε)·L·s.

    The printed proof takes r = ⌈ε·sqrt(n)⌉ and ε_0 always. Where that is one message, ε_0 is below what Lemma 4.8
    allows, unless β is small: with one message nothing is composed, and ε itself serves.

    For the reader: that the numerical bounds combine as the text says, and C8, C11, C14, C15, C17, which it uses.
    """
    error_is_of_the_order()
    hoeffding_for_the_encoding()
    union_of_two()
    certain(log(8 * 10**4) > 11, "L > 11")
    certain(122 * sqrt(log(2)) > 101, "one message: 122·sqrt(ln 2) > 101")
    certain(sqrt(3456) < 59, "sqrt(3456) < 59")
    certain(65 * sqrt(2) + 30 / sqrt(11) < 122, "one message: the factors of (L/ε)·s add up to less than 122")
    certain(65 * real(11) > 700, "more messages: r > 700")
    certain(Fraction(65 * 700, 8 * 701) > 8, "more messages: the square of ε_0 is above 8/n")
    certain(3456 * 4 * Fraction(9, 10000) < 8 * sqrt(10**4), "more messages: 3456·(2L)²/n² < 8/n for n >= 10^4")
    eps, r, two, eight, big = symbols("epsilon r a b L", positive=True)
    identity(
        30 / (eps / symbolic_sqrt(8 * r * two)) * symbolic_sqrt(eight / r),
        30 / eps * symbolic_sqrt(8 * two * eight),
        "the second error, a = ln(2/δ), b = ln(4/δ_0) = ln(8r/δ)",
    )
    identity(30 / eps * symbolic_sqrt(8 * big * (2 * big)), 120 * big / eps, "at a <= L and b <= 2L")
    certain(sqrt(2) < 2 * real(11), "sqrt(2) <= 2L")
    positive(8 / big - 1, big, 0, 1, "r < 1/δ <= 8/δ: 8r/δ <= (8/δ)²")


paper.claim(
    "C23",
    "Cor. C.3, Thm 5.1",
    "For n, δ, ε and β in the ranges of the corollary there are λ and r for which the real-sum protocol is (ε,δ)-DP "
    "and its error is at most (122/ε)·ln(8/δ)·sqrt(ln(2/β)), but for a probability of 2β: the bound of Theorem 5.5 at "
    "them is `α <= 122/ε·L·sqrt(ln(2/β))`, and Lemma 4.8 applies to every message, `ε of a message > its lower end`.",
    verdict="argued",
    instances=listed(
        "n epsilon delta beta",
        (10**13, "1", f"1/{10**14}", "1/2"),
        (10**13, "1/100", f"1/{10**14}", "1/2"),
        (10**14, "1/1000", f"1/{10**15}", "1/100"),
        (10**16, "1/1000000", f"1/{10**20}", "1/1000"),
        (10**13, f"1/{10**9}", f"1/{10**14}", "9/10"),
    ),
    check=error_of_the_sum,
    proof=messages_are_private_and_close,
    notes="For ε < 1. Theorem 5.1 is the same with the constants left out. The condition n > 10^4 says nothing (C16).",
)


def error_of_one_message(n: int, epsilon: Fraction, delta: Fraction, beta: Fraction) -> dict[str, Any]:
    """The error of rounding (Claim 5.2) and of the bit-sum protocol (C17) together."""
    _, lam = lemma_lambda(n, epsilon, delta)
    rounding = sqrt(log(2 / beta) * n / 2)
    return {"α": rounding + sqrt(2 * lam * log(2 / beta)) * n / (real(n) - lam), "L": log(4 / delta)}


def rounding_is_the_smaller_part() -> None:
    """Claim 5.2 is Hoeffding's inequality for n bits (C15a with one message). With the λ of C17 the error is at most
    sqrt(n/2)·s + (30/ε)·sqrt(ln(4/δ))·s but for a probability of 2β, s = sqrt(ln(2/β)). As ε <= 1/sqrt(n), the first is
    at most (1/ε)·sqrt(1/2)·s, and ln(4/δ) > ln 4 > 1.

    For the reader: C15a and C17, and that the two errors add up.
    """
    error_is_of_the_order()
    hoeffding_for_the_encoding()
    certain(log(4) > 1, "ln(4/δ) > 1")
    certain(sqrt(Fraction(1, 2)) + 30 < 31, "sqrt(1/2) + 30 < 31")


paper.claim(
    "C24",
    "Thm 5.3, Claim 5.2",
    "For `sqrt(3456)·L/n < ε < 1/sqrt(n)`, with L = ln(4/δ), and δ < β < 1 there is a λ for which the protocol with "
    "one message is (ε,δ)-DP and its error on X in [0,1]^n is at most (31/ε)·sqrt(ln(4/δ)·ln(2/β)), but for a "
    "probability of 2β: `α <= 31/ε·sqrt(L·ln(2/β))`.",
    verdict="argued",
    instances=listed(
        "n epsilon delta beta",
        (10**6, "1/1001", "1/1000", "1/2"),
        (10**8, "1/10001", "1/1000000", "1/2"),
        (10**8, "1/50000", "1/1000000", "1/100"),
    ),
    check=error_of_one_message,
    proof=rounding_is_the_smaller_part,
    notes="**Narrower than printed.** Theorem 5.3 has every β > 0 and the closed range of ε, O( ) in place of 31, "
    "and one β "
    "where 2β stands here (Claim 5.2 and the protocol fail with probability β each, which O( ) absorbs); at the left "
    "end of "
    "the range λ is 0, and for β <= δ Theorem 4.11 does not apply at this λ: nothing is said of these. The x_i in N "
    "of the "
    "print are numbers in [0, 1].",
)
