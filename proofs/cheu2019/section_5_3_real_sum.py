"""Section 5.3, Appendix C: the protocol for real numbers (Theorems 5.4 and 5.5, Claims C.1 and C.2)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from sympy import Rational, exp, symbols
from sympy import sqrt as symbolic_sqrt

from tightdp.claims import certain, grid, identity, log, positive, real, sqrt
from tightdp.claims import exp as certified_exp

from .paper import paper
from .section_3_1_composition import advanced_composition
from .section_4_4_accuracy import bernstein_for_the_sum
from .sums import ZERO, listed, rational_below


def level_of_a_bit(epsilon: Fraction, delta: Fraction, r: int) -> dict[str, Any]:
    """ε0 of the theorem as a certified real."""
    return {"ε0": epsilon / sqrt(8 * r * log(2 / delta))}


def composed_bits_are_private() -> None:
    """Given the encodings, which a user draws by itself, the protocol is r bit-sum protocols on columns of bits, and
    neighbours differ in at most one bit of each. By Lemma 3.3 (C11) with δ' = δ/2 the r protocols together are
    (ε', δ)-DP with ε' = r ε0(e^ε0 - 1) + ε0·sqrt(2r·ln(2/δ)), as δ/2 + r δ0 = δ. The second term is ε/2. As δ < 1,
    ln(2/δ) > ln 2, so that ε0 < 1/sqrt(8 ln 2) < 3/7, where e^x - 1 <= (5/4)x; the first term is below
    (5/4) r ε0² = (5/4) ε²/(8 ln(2/δ)) < (5/(32 ln 2)) ε² < ε/4. Encoding first is pre-processing of single records:
    the guarantee holds for every pair of encodings, and so for their mixtures. A larger λ is more noise (C8).

    For the reader: Lemma 3.3 (C11), that neighbours differ in one bit of each column, and that mixtures of private
    laws are private.
    """
    advanced_composition()
    eps, r, small, x = symbols("epsilon r l x", positive=True)
    level = eps / symbolic_sqrt(8 * r * small)
    identity(level * symbolic_sqrt(2 * r * small), eps / 2, "the second term, l = ln(2/δ)")
    identity(r * level**2, eps**2 / (8 * small), "r ε0²")
    certain(1 / sqrt(8 * log(2)) < Fraction(3, 7), "ε0 < 3/7")
    certain(certified_exp(Fraction(3, 7)) - 1 < Fraction(5, 4) * Fraction(3, 7), "e^x - 1 <= (5/4)x at x = 3/7, ...")
    identity((exp(x) - 1).diff(x, 2), exp(x), "... and so below it, as e^x - 1 is convex and 0 at 0")
    certain(real(5) / (32 * log(2)) < Fraction(1, 4), "5/(32 ln 2) < 1/4")
    positive(Rational(3, 4) * x - x / 4 - x / 2 + x / 4, x, 0, None, "ε/2 + ε/4 is below ε")


paper.claim(
    "C14",
    "Thm 5.4",
    (
        "With ε0 = ε/sqrt(8r·ln(2/δ)) and δ0 = δ/(2r), for `0 < ε < 1` and 0 < δ < 1, the real-sum protocol "
        "is (ε,δ)-DP for every λ with which the bit-sum protocol is (ε0,δ0)-DP. What carries it: "
        "`r·ε0·(e^ε0 - 1) + ε0·sqrt(2r·ln(2/δ)) <= ε`, where `0 < ε0·sqrt(8r·ln(2/δ)) + 10^-30 - ε < "
        "10^-29`."
    ),
    verdict="argued",
    instances=grid(epsilon=("99/100", "1/2", "1/10"), delta=("9/10", "1/10", "1/1000000"), r=(1, 4, 100)),
    quick=9,
    check=level_of_a_bit,
    proof=composed_bits_are_private,
    notes="It is even (3ε/4, δ)-DP.",
)


def message_chances(values: Sequence[Fraction], r: int, flip: Fraction) -> list[Fraction]:
    """The probabilities of a 1 of all n·r messages: bits before u are 1, bit u is rounded, the others are 0."""
    found = []
    for x in values:
        up = -((-x * r) // 1)
        bits = [Fraction(1) if j < up else x * r - up + 1 if j == up else ZERO for j in range(1, r + 1)]
        found += [bit * (1 - flip) + (1 - bit) * flip for bit in bits]
    return found


def sum_law(chances: Sequence[Fraction]) -> list[Fraction]:
    """The law of a sum of independent bits."""
    law = [Fraction(1)]
    for p in chances:
        law = [a * (1 - p) + b * p for a, b in zip([*law, ZERO], [ZERO, *law], strict=True)]
    return law


def chance_beyond(
    law: Sequence[Fraction], scale: Fraction, shift: Fraction, target: Fraction, bound: Fraction
) -> Fraction:
    """P(|scale·(sum - shift) - target| > bound)."""
    return sum((p for y, p in enumerate(law) if abs(scale * (y - shift) - target) > bound), ZERO)


def encoded_sum(n: int, r: int, x: Fraction, beta: Fraction) -> dict[str, Any]:
    """n users with the number x: the sum of their encodings."""
    bound = rational_below(sqrt(2) / r * sqrt(n * log(2 / beta)))
    law = sum_law(message_chances([x] * n, r, ZERO))
    return {"a": bound, "P(|f(X) - Σ b/r| > a)": chance_beyond(law, Fraction(1, r), ZERO, n * x, bound)}


def hoeffding_for_the_encoding() -> None:
    """A user's average of bits is its mean x_i plus (b - p)/r for one Bernoulli(p) bit b, of range 1/r. By Hoeffding's
    lemma E exp(θ(b - p)/r) <= exp(θ²/(8r²)), so P(the sum of n of them exceeds a) <= exp(-θa + nθ²/(8r²)), which at
    θ = 4ar²/n is exp(-2a²r²/n). With a = (√2/r)·sqrt(n·ln(2/β)) that is (β/2)^4 < β/2; the other side is alike. (The
    paper takes the range to be 2/r.)

    For the reader: Hoeffding's lemma from its second derivative, Markov's inequality, and that users are
    independent.
    """
    theta, a, n, r, small = symbols("theta a n r l", positive=True)
    rate = -theta * a + n * theta**2 / (8 * r**2)
    identity(rate.subs(theta, 4 * a * r**2 / n), -2 * a**2 * r**2 / n, "the exponent at θ = 4ar²/n")
    at = symbolic_sqrt(2) / r * symbolic_sqrt(n * small)
    identity(2 * at**2 * r**2 / n, 4 * small, "at the bound it is 4l, l = ln(2/β)")
    p, z = symbols("p z", positive=True)
    tilted = p * exp(z) / (1 - p + p * exp(z))
    identity(
        ((1 - p + p * exp(z)).diff(z) / (1 - p + p * exp(z))).diff(z) - tilted * (1 - tilted),
        0,
        "Hoeffding's lemma: the second derivative of ln E exp(zb) is q(1-q) <= 1/4, q the tilted probability",
    )


paper.claim(
    "C15a",
    "Claim C.1",
    "The encodings have |f(X) - (1/r)Σ b_{i,j}| > (√2/r)·sqrt(n·ln(2/β)) with probability at most β: "
    "`P(|f(X) - Σ b/r| > a) <= β`, where `0 < sqrt(2)/r·sqrt(n·ln(2/β)) - a < 10^-20`.",
    verdict="argued",
    instances=listed(
        ("n r x beta"),
        (40, 1, ("1/2"), ("9/10")),
        (20, 4, ("3/8"), ("9/10")),
        (10, 2, ("2/5"), ("1/2")),
        (9, 1, ("1/3"), ("99/100")),
    ),
    quick=2,
    check=encoded_sum,
    proof=hoeffding_for_the_encoding,
)


def noisy_sum(n: int, r: int, lam: Fraction, ones: int, beta: Fraction) -> dict[str, Any]:
    """n·r fixed bits, so many of them ones, through the bit-sum protocol."""
    flip = Fraction(lam) / (2 * n)
    law = sum_law([1 - flip] * ones + [flip] * (n * r - ones))
    bound = rational_below(sqrt(2 * lam / r * log(2 / beta)) * Fraction(n, 1) / (n - lam))
    scale = Fraction(n, r) / (n - lam)
    return {"a": bound, "P(|error| > a)": chance_beyond(law, scale, lam * r / 2, Fraction(ones, r), bound)}


paper.claim(
    "C15b",
    "Claim C.2",
    (
        "For every encoding and `n > λ >= (16/9)·ln(2/β)` the output is farther than "
        "(n/(n-λ))·sqrt(2(λ/r)·ln(2/β)) from the average of the bits with probability less than β: "
        "`P(|error| > a) < β`, where `0 < n/(n - λ)·sqrt(2λ/r·ln(2/β)) - a < 10^-20`."
    ),
    verdict="argued",
    instances=listed(
        ("n r lam ones beta"),
        (10, 1, ("3"), 0, ("1/2")),
        (6, 3, ("5/2"), 9, ("1/2")),
        (12, 2, ("11/2"), 0, ("1/10")),
        (5, 1, ("2"), 5, ("7/10")),
    ),
    quick=2,
    check=noisy_sum,
    proof=bernstein_for_the_sum,
    notes="Printed for n >= λ, but λ = n divides by 0. The proof of C9 applies to the n·r messages, with λr for λ.",
)


def real_sum_error(n: int, r: int, lam: Fraction, x: Fraction, beta: Fraction) -> dict[str, Any]:
    """n users with the number x, the whole protocol."""
    law = sum_law(message_chances([x] * n, r, Fraction(lam) / (2 * n)))
    first = sqrt(2) / r * sqrt(n * log(2 / beta))
    second = sqrt(2 * lam / r * log(2 / beta)) * Fraction(n, 1) / (n - lam)
    bound, scale = rational_below(first + second), Fraction(n, r) / (n - lam)
    return {"a": bound, "P(|error| > a)": chance_beyond(law, scale, lam * r / 2, n * x, bound)}


def union_of_two() -> None:
    """The error is at most the sum of both: that of the encoding (C15a) and, given the encoding, that of the protocol
    (C15b). If it exceeds the sum of both bounds then one of them is exceeded: with probability below β + β.

    For the reader: the union bound over the two events.
    """
    hoeffding_for_the_encoding()
    bernstein_for_the_sum()
    first, second, one, other = symbols("a_1 a_2 s_1 s_2", nonnegative=True)
    identity((first + one) + (second + other) - (first + second), one + other, "errors of at least both bounds add up")


paper.claim(
    "C15c",
    "Thm 5.5",
    (
        "For `n > λ >= (16/9)·ln(2/β)` and every X in [0,1]^n the error of the real-sum protocol exceeds "
        "(√2/r)·sqrt(n·ln(2/β)) + (n/(n-λ))·sqrt(2(λ/r)·ln(2/β)) with probability less than 2β: `P(|error| "
        "> a) < 2β`, where `0 < sqrt(2)/r·sqrt(n·ln(2/β)) + n/(n - λ)·sqrt(2λ/r·ln(2/β)) - a < 10^-20`."
    ),
    verdict="argued",
    instances=listed(
        "n r lam x beta",
        (12, 1, "5/2", "1/2", "1/2"),
        (8, 2, "5/2", "2/5", "1/2"),
        (40, 1, "15/10", "1/2", "9/10"),
        (20, 1, "3", "1/3", "2/5"),
    ),
    quick=2,
    check=real_sum_error,
    proof=union_of_two,
)

paper.row(
    "C15",
    "Thm 5.5, Claims C.1, C.2",
    "The error of the real-sum protocol is at most (√2/r)·sqrt(n·ln(2/β)) + (n/(n-λ))·sqrt(2(λ/r)·ln(2/β)), but for a "
    "probability of 2β.",
    parts=("C15a", "C15b", "C15c"),
)


def interval_for_delta(n: int) -> dict[str, Any]:
    """Both ends of the interval for δ of Corollary C.3."""
    return {"lower end": 8 * certified_exp(-Fraction(3, 100) * sqrt(sqrt(n))), "upper end": Fraction(1, n)}


paper.claim(
    "C16",
    "Cor. C.3, its hypotheses",
    (
        "The interval (8e^(-0.03·n^(1/4)), 1/n) for δ is empty for n = 10^5, 10^6, 10^9 and 10^11: `lower end > "
        "upper end`, with `10^5 <= n <= 10^11`."
    ),
    verdict="holds on",
    extra=True,
    instances=[{"n": 10**power} for power in (5, 6, 9, 11)],
    check=interval_for_delta,
    notes=("So the condition n > 10^4 of the corollary says nothing: it is about n of some 10^12 users and more."),
)
