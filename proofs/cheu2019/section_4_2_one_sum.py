"""Section 4.2: messages and their sum (Claims 4.2 and 4.3)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import Any

from sympy import binomial, factorial, symbols

from tightdp.claims import grid, identity

from .mechanisms import bit_sum
from .paper import paper
from .protocol import shuffled
from .sums import ZERO, Law, agreed, bit_sum_delta


def same_law() -> None:
    """Let q = λ/n. C_λ takes a set H of size s with probability C(n,s) q^s (1-q)^(n-s) / C(n,s) = q^s (1-q)^(n-s):
    that is the probability that H is the set of clients that answer at random in Algorithm 1, where each does so
    independently with probability q. Given this set, both outputs are Σ_{i not in H} x_i plus a sum of |H| fair
    bits; Bin(s, 1/2) has the generating function of s fair bits. So the laws agree, for every n and x.

    For the reader: that drawing the size and then the set is drawing the clients independently.
    """
    n, s, q, z, j = symbols("n s q z j", positive=True)
    size = binomial(n, s) * q**s * (1 - q) ** (n - s)
    identity(size / binomial(n, s), q**s * (1 - q) ** (n - s), "the probability of a set of size s in C_λ")
    identity(
        binomial(s + 1, j),
        binomial(s, j) + binomial(s, j - 1),
        "coefficients of (1 + z)^(s+1) by induction: one more fair bit",
    )
    one = (1 - q) + q * (1 + z) / 2
    identity(one, 1 - q / 2 + q / 2 * z, "one client with x_i = 0 as a generating function")


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
    "C_λ (a Bin(n,λ/n)-sized uniform subset answers at random) has the law of Σ R(x_i): `P(C_λ = r) = P(Σ "
    "R(x_i) = r)` for every dataset and r.",
    verdict="argued",
    instances=grid(n=range(1, 6), lam=("1", "2/3", "1/5")),
    quick=9,
    proof=same_law,
)
def _(n: int, lam: Fraction) -> Iterator[dict[str, Any]]:
    instance = bit_sum.bind(n=n, lam=lam)
    for x in product((0, 1), repeat=n):
        listed, found = random_set_law(x, lam), dict(instance.distribution(x).law)
        yield from ({"P(C_λ = r)": p, "P(Σ R(x_i) = r)": found.get(r, ZERO)} for r, p in listed.items())


def shuffling_adds_nothing() -> None:
    """The shuffler maps a tuple Y with r ones to each of the C(n,r) tuples with r ones with the same probability:
    r!(n-r)! of the n! permutations do. So P(messages = Z) = P(sum = r)/C(n,r) on every dataset, and the C(n,r)
    terms max(0, P(Z|x) - t P(Z|x')) add up to max(0, P(r|x) - t P(r|x')). Summed over r, the least δ at t = e^ε is
    the same for the messages and for their sum, for every t and every pair of datasets: the claim and its converse.
    Nothing but one-bit messages is used.

    For the reader: that the terms of one sum have the same sign, so that maxima add up with them.
    """
    n, r, p, other, t = symbols("n r p q t", positive=True)
    identity(
        factorial(r) * factorial(n - r) / factorial(n),
        1 / binomial(n, r),
        "the share of permutations that take Y to Z",
    )
    identity(
        binomial(n, r) * (p / binomial(n, r) - t * other / binomial(n, r)),
        p - t * other,
        "the terms of one sum r together",
    )


@paper.claim(
    "C4",
    "Claim 4.3",
    "The shuffled messages are (ε,δ)-DP if their sum is: `least δ of the messages = least δ of the sum`, at every ε.",
    verdict="argued",
    instances=grid(n=(1, 2, 3, 4, 10, 40), lam=("1", "1/2"), t=("1", "3/2", "3")),
    quick=12,
    proof=shuffling_adds_nothing,
    notes="The converse holds too (post-processing): the two have the same δ at every ε. Nothing of the "
    "randomizer is used but that a message is one bit.",
)
def _(n: int, lam: Fraction, t: Fraction) -> dict[str, Any]:
    return {
        "least δ of the messages": shuffled.bind(n=n, lam=lam).delta(exp_epsilon=t).delta,
        "least δ of the sum": agreed(bit_sum.bind(n=n, lam=lam).delta(exp_epsilon=t).delta, bit_sum_delta(n, lam, t)),
    }
