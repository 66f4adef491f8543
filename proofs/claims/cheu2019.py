"""The claims of cheu2019 (distributed differential privacy via shuffling), decided.

Notation: λ (lam) of n clients answer at random on average, c is the number of ones of a dataset, L = ln(4/δ).
A guarantee at an irrational e^ε is checked at a rational just below it, where δ is at least as large.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import Any

import _cheu2019_composition as composition
import _cheu2019_privacy as privacy
import _cheu2019_proofs as proofs
from _cheu2019_exact import ZERO, Law, agreed, assumed, bit_sum_delta, bit_sum_law, listed, ones

from tightdp.claims import Correction, Fails, Paper, Real, brute, certain, grid, identity, log, program

paper = Paper(
    "cheu2019",
    title="Distributed Differential Privacy via Shuffling",
    stands="""
    Everything of the main line stands: the privacy of the bit-sum protocol, its accuracy, composition, and
    the lower bound for one message (C2 to C13 are proved here, for all parameters). One printed formula is
    wrong, the analyzer of the introduction (C1); Algorithm 1 has the right one. One step of a proof is off by
    one (C5b) and is repaired without changing the claim. The constants are generous: the exact computation
    needs far fewer clients that answer at random (C5c, C7b, C8b).
    """,
)

shuffled = program("shuffled_randomized_response")
bit_sum = program("_cheu2019_programs:bit_sum")
encoder = program("_cheu2019_programs:encoder")


# C1: the analyzer of the introduction


def estimate_of_sum(law: Iterable[tuple[Any, Fraction]], p: Fraction, subtracted: Fraction) -> Fraction:
    """The mean of (1/(1-p))·(Σ y_i - subtracted), y the tuple of messages."""
    mean = sum((q * sum(y) for y, q in law), ZERO)
    return (mean - subtracted) / (1 - p)


def biased(n: int, p: Fraction, means: Iterator[tuple[tuple[int, ...], Fraction]]) -> bool | Fails:
    """The first dataset on which the estimate has another mean than Σ x_i."""
    for x, mean in means:
        if mean != sum(x):
            why = (
                f"For x = {x} each of the {n} messages is a 1 with probability {p / 2} if the bit is 0, so Σ "
                f"y_i has the mean {n * p / 2}, and the estimate has the mean {mean} where Σ x_i = {sum(x)}."
            )
            return Fails(why, x=x, mean_of_estimate=mean, sum_of_bits=sum(x))
    return True


def unbiased_as_printed(n: int, p: Fraction) -> bool | Fails:
    """All datasets, with the laws of the engine."""
    instance = shuffled.bind(n=n, lam=n * p)
    laws = ((x, instance.distribution(x).law) for x in product((0, 1), repeat=n))
    return biased(n, p, ((x, estimate_of_sum(law, p, p / 2)) for x, law in laws))


def unbiased_as_printed_again(n: int, p: Fraction) -> bool | Fails:
    """All datasets, with the laws of the interpreter."""
    laws = ((x, brute.law(shuffled, x, lam=n * p).items()) for x in product((0, 1), repeat=n))
    return biased(n, p, ((x, estimate_of_sum(law, p, p / 2)) for x, law in laws))


def unbiased_corrected(n: int, p: Fraction) -> bool:
    """With np/2, and the average with p/2."""
    instance = shuffled.bind(n=n, lam=n * p)
    return all(estimate_of_sum(instance.distribution(x).law, p, n * p / 2) == sum(x) for x in product((0, 1), repeat=n))


PROBABILITIES = ("1/2", "1/3", "1/5")

paper.claim(
    "C1",
    "Sec. 2.1",
    "The analyzer (1/(1-p))·(Σ y_i - p/2) is an unbiased estimate of Σ x_i.",
    verdict="corrected",
    instances=grid(n=(1, 2, 3), p=PROBABILITIES),
    check=unbiased_as_printed,
    brute=unbiased_as_printed_again,
    at={"n": 2, "p": "1/2"},
    minimal="smallest n, then the p of smallest denominator; for n = 1 the formula is right",
    breaks="Every client adds p/2 to the mean of the sum, so np/2 has to be subtracted. The bias is "
    "(n-1)p/(2(1-p)) on every dataset; with p ~ ln(1/δ)/(ε²n) it tends to ln(1/δ)/(2ε²), the square, up to "
    "a constant, of the error that Theorem 2.2 promises.",
    corrected=Correction(
        "The analyzer (1/(1-p))·(Σ y_i - np/2) is an unbiased estimate of Σ x_i.",
        verdict="proved",
        instances=grid(n=(1, 2, 3), p=PROBABILITIES),
        check=unbiased_corrected,
        proof=proofs.rescaled_mean,
    ),
    stands="Algorithm 1 and all that is proved of it: with p = λ/n it subtracts λ/2 = np/2.",
    readings="With averages in place of sums, (1/(1-p))·((1/n)Σ y_i - p/2), the printed p/2 is right: that "
    "is an unbiased estimate of the mean of the bits (last step of the proof). For n = 1 it is right as "
    "printed.",
)


# C2: the analyzer of Algorithm 1


def mean_and_variance(n: int, lam: Fraction) -> bool:
    """Both, on every number of ones, with the laws of the engine."""
    lam = Fraction(lam)
    instance = bit_sum.bind(n=n, lam=lam)
    for c in range(n + 1):
        law = [(n / (n - lam) * (y - lam / 2), p) for y, p in instance.distribution(ones(c, n)).law]
        mean = sum((z * p for z, p in law), ZERO)
        variance = sum((z * z * p for z, p in law), ZERO) - mean**2
        if mean != c or variance != (n / (n - lam)) ** 2 * lam / 2 * (1 - lam / (2 * n)):
            return False
    return True


paper.claim(
    "C2a",
    "Alg. 1, Claim B.1, B.2",
    "The analyzer n/(n-λ)·(Σ y_i - λ/2) is unbiased, with variance (n/(n-λ))²·(λ/2)(1 - λ/(2n)).",
    verdict="proved",
    instances=grid(n=(2, 3, 5, 8, 20), lam=("1/2", "1", "5/3")),
    quick=6,
    check=mean_and_variance,
    proof=proofs.mean_and_variance,
    notes="Claim B.2 is stated for 0 < λ <= n, but λ = n divides by 0; Algorithm 1 has λ < n.",
)


def stays_in_range(n: int, lam: Fraction, probability_of_zeros: Fraction) -> bool | Fails:
    """Whether the analyzer's value on Σ y_i = 0 is in [0, n]."""
    z = n / (n - Fraction(lam)) * (0 - lam / 2)
    if z >= 0 or not probability_of_zeros:
        return True
    why = f"All messages are 0 with probability {probability_of_zeros}; the analyzer then returns {z} < 0."
    return Fails(why, z=z, probability=probability_of_zeros)


def ends_of_range() -> None:
    """z grows with Σ y_i, which runs from 0 to n; every value has positive probability for λ > 0."""
    from sympy import symbols

    n, lam = symbols("n lambda", positive=True)
    low = n / (n - lam) * (0 - lam / 2)
    identity(low, -n * lam / (2 * (n - lam)), "the least value")
    identity(n / (n - lam) * (n - lam / 2), n - low, "the largest is as far above n")


def in_corrected_range(n: int, lam: Fraction) -> bool:
    """The range of values, with the law of the engine."""
    values = [n / (n - lam) * (y - lam / 2) for y, _ in bit_sum.bind(n=n, lam=lam).distribution((0,) * n).law]
    beyond = n * lam / (2 * (n - lam))
    return bool(min(values) == -beyond and max(values) == n + beyond)


paper.claim(
    "C2b",
    "Alg. 1, header of the analyzer",
    "The output z of the analyzer is in [0, n].",
    verdict="corrected",
    extra=True,
    instances=grid(n=(1, 2, 3), lam=("1/2",)),
    check=lambda n, lam: stays_in_range(n, lam, bit_sum.bind(n=n, lam=lam).probability((0,) * n, 0)),
    brute=lambda n, lam: stays_in_range(n, lam, brute.probability(bit_sum, (0,) * n, 0, lam=lam)),
    at={"n": 1, "lam": "1/2"},
    breaks="It is the estimate that is in [0, n] on average. Truncating it to [0, n] would make it biased.",
    corrected=Correction(
        "z ranges over [-b, n + b] with b = nλ/(2(n-λ)), and both ends occur.",
        verdict="proved",
        instances=grid(n=(1, 2, 3), lam=("1/2", "1/3")),
        check=in_corrected_range,
        proof=ends_of_range,
    ),
    stands="All results; none uses the range.",
)
paper.row(
    "C2",
    "Alg. 1, Claim B.1, B.2",
    "The analyzer n/(n-λ)·(Σ y_i - λ/2) is unbiased, with variance (n/(n-λ))²·(λ/2)(1 - λ/(2n)).",
    parts=("C2a", "C2b"),
)


# C3, C4: one sum


def random_set_law(x: tuple[int, ...], lam: Fraction) -> Law:
    """The law of C_λ, Algorithm 2 step by step: a size, a set, a binomial."""
    n, lam = len(x), Fraction(lam)
    law = dict.fromkeys(range(n + 1), ZERO)
    for s in range(n + 1):
        size = comb(n, s) * (lam / n) ** s * (1 - lam / n) ** (n - s)
        for chosen in combinations(range(n), s):
            kept = sum(bit for i, bit in enumerate(x) if i not in chosen)
            for noise in range(s + 1):
                law[kept + noise] += size / comb(n, s) * Fraction(comb(s, noise), 2**s)
    return law


@paper.claim(
    "C3",
    "Claim 4.2",
    "C_λ (a Bin(n,λ/n)-sized uniform subset answers at random) has the law of Σ R(x_i).",
    verdict="proved",
    instances=grid(n=range(1, 6), lam=("1", "2/3", "1/5")),
    quick=9,
    proof=proofs.same_law,
)
def _(n: int, lam: Fraction) -> bool:
    instance = bit_sum.bind(n=n, lam=lam)
    return all(dict(instance.distribution(x).law) == random_set_law(x, lam) for x in product((0, 1), repeat=n))


@paper.claim(
    "C4",
    "Claim 4.3",
    "The shuffled messages are (ε,δ)-DP if their sum is.",
    verdict="proved",
    instances=grid(n=(1, 2, 3, 4, 10, 40), lam=("1", "1/2"), t=("1", "3/2", "3")),
    quick=12,
    proof=proofs.shuffling_adds_nothing,
    notes="The converse holds too (post-processing): the two have the same δ at every ε. Nothing of the "
    "randomizer is used but that a message is one bit.",
)
def _(n: int, lam: Fraction, t: Fraction) -> bool:
    messages = shuffled.bind(n=n, lam=lam).delta(exp_epsilon=t).delta
    return messages == agreed(bit_sum.bind(n=n, lam=lam).delta(exp_epsilon=t).delta, bit_sum_delta(n, lam, t))


privacy.register(paper)


# C9: accuracy


def tail(law: Iterable[tuple[int, Fraction]], mean: Fraction, square: Real) -> Fraction:
    """P((Σ y_i - mean)² > square)."""
    return sum((p for y, p in law if (y - mean) ** 2 > square), ZERO)


def tails(n: int, lam: Fraction, beta: Fraction) -> Iterator[Fraction]:
    """P(error > the bound of Theorem 4.11) for few, half and all ones, from the engine and directly."""
    instance, lam = bit_sum.bind(n=n, lam=lam), Fraction(lam)
    for c in sorted({0, n // 2, n}):
        mean, square = lam / 2 + (1 - lam / n) * c, 2 * lam * log(2 / beta)
        yield agreed(
            tail(instance.distribution(ones(c, n)).law, mean, square),
            tail(bit_sum_law(n, lam, c).items(), mean, square),
        )


def accurate(beta: Fraction, lam: Fraction, n: int) -> bool:
    """Theorem 4.11 for n clients."""
    assumed(n > lam >= 2 * log(2 / beta))
    return all(found <= beta for found in tails(n, lam, beta))


def accurate_for_less(beta: Fraction, lam: Fraction, n: int) -> bool:
    """The bound for λ between (8/9)·ln(2/β) and 2·ln(2/β)."""
    assumed(2 * log(2 / beta) > lam >= Fraction(8, 9) * log(2 / beta))
    return all(found <= beta for found in tails(n, lam, beta))


paper.claim(
    "C9a",
    "Thm 4.11",
    "For n > λ >= 2 ln(2/β): |P_{n,λ}(x) - Σx| > sqrt(2λ ln(2/β))·n/(n-λ) has probability at most β.",
    verdict="proved",
    instances=grid(beta=("1/2",), lam=("3", "7/2"), n=(4, 10, 40))
    + grid(beta=("1/10",), lam=("6", "10"), n=(11, 20, 40))
    + grid(beta=("1/100",), lam=("11",), n=(12, 20, 60)),
    quick=4,
    check=accurate,
    proof=proofs.accuracy,
    notes="In the proof the deviations are exactly those of Σ y_i from its mean, rescaled; sharper is "
    "Corollary B.3's last line, with λ(1 - λ/(2n)) for λ.",
)
paper.claim(
    "C9b",
    "Thm 4.11, how loose",
    "The bound holds already for λ >= (8/9)·ln(2/β).",
    verdict="proved",
    extra=True,
    instances=grid(beta=("1/2",), lam=("5/4", "2"), n=(4, 20)) + grid(beta=("1/10",), lam=("8/3",), n=(5, 40)),
    quick=2,
    check=accurate_for_less,
    proof=proofs.accuracy,
)
paper.row(
    "C9",
    "Thm 4.11",
    "For n > λ >= 2 ln(2/β): |P_{n,λ}(x) - Σx| > sqrt(2λ ln(2/β))·n/(n-λ) has probability at most β.",
    parts=("C9a", "C9b"),
)


# C10: rounding


def average(m: int, r: int, x: int) -> tuple[Fraction, Fraction]:
    """The mean and the variance of the average of E_r(x/m), with the law of the engine."""
    law = [(Fraction(sum(bits), r), p) for bits, p in encoder.bind(n=1, m=m, r=r).distribution((x,)).law]
    mean = sum((z * p for z, p in law), ZERO)
    return mean, sum((z * z * p for z, p in law), ZERO) - mean**2


def example_listed() -> None:
    """x = 0.4, r = 4, step by step: xr = 1.6, μ = 2, p = 0.6."""
    x, r = Fraction(2, 5), 4
    mu = -(-(x * r) // 1)
    p = x * r - mu + 1
    certain(mu == 2 and p == Fraction(3, 5), "bit 1 is 1, bit 2 is Bernoulli(0.6), bits 3 and 4 are 0")
    certain((1 + p) / r == x, "the mean is 0.4")
    certain(p * (1 - p) / r**2 == Fraction(15, 1000), "the variance is 0.24/16 = 0.015")


ENCODED = grid(m=(1, 5, 12), r=(1, 2, 4, 7))

paper.claim(
    "C10a",
    "Alg. 5, Sec. 5.1",
    "The average of the bits of E_r(x) has the mean x.",
    verdict="proved",
    instances=ENCODED,
    quick=6,
    check=lambda m, r: all(average(m, r, x)[0] == Fraction(x, m) for x in range(m + 1)),
    proof=proofs.encoder_is_unbiased,
    notes="Printed as x_j for x. For x = 0, μ is 0 and no bit has the number μ; that is right all the same.",
)
paper.claim(
    "C10b",
    "Sec. 5.1",
    "For x = 0.4, r = 4 it is (1, Ber(0.6), 0, 0) with variance 0.015 of its average.",
    verdict="proved",
    instances=listed("m r", (5, 4)),
    check=lambda m, r: (
        average(m, r, 2) == (Fraction(2, 5), Fraction(3, 200))
        and encoder.bind(n=1, m=m, r=r).distribution((2,)).law
        == (((1, 0, 0, 0), Fraction(2, 5)), ((1, 1, 0, 0), Fraction(3, 5)))
    ),
    proof=example_listed,
)
paper.claim(
    "C10c",
    "Sec. 5.1",
    "The variance of the average is at most 1/(4r²).",
    verdict="proved",
    instances=ENCODED,
    quick=6,
    check=lambda m, r: all(average(m, r, x)[1] <= Fraction(1, 4 * r * r) for x in range(m + 1)),
    proof=proofs.encoder_variance,
)
paper.row(
    "C10",
    "Alg. 5, Sec. 5.1",
    "The encoder E_r has mean x; for x = 0.4, r = 4 it is (1, Ber(0.6), 0, 0) with variance 0.015 of its "
    "average; its variance is at most 1/(4r²).",
    parts=("C10a", "C10b", "C10c"),
)


composition.register(paper)

if __name__ == "__main__":
    paper.main()
