"""Section 5.1: the weighted Boolean formula of randomized response (Theorem 4)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

from tightdp.claims import Correction, Exactly, Places, brute, columns, every, grid

from .laws import BITS, RR, SMALL, Bits, all_bits, rr
from .paper import paper


def weighted_count(x: Bits, y: Bits, theta: Fraction) -> Fraction:
    """The weighted count of AND_i y_i <-> (x_i xor θ_i), given x and y, by listing all assignments of θ."""
    total = Fraction(0)
    for chosen in all_bits(len(x)):
        if all(b == a ^ t for a, b, t in zip(x, y, chosen, strict=True)):
            weight = Fraction(1)
            for t in chosen:
                weight *= theta if t else 1 - theta
            total += weight
    return total


def formula_as_printed(n: int, lam: Fraction) -> list[dict[str, Any]]:
    """θ_i has the weight 1 - λ; the probabilities are the engine's."""
    instance = rr.bind(n=n, lam=lam)
    return [
        {"weighted count": weighted_count(x, y, 1 - lam), "P(RR(x) = y)": instance.probability(x, y)}
        for x, y in product(all_bits(n), all_bits(n))
    ]


def formula_as_printed_again(n: int, lam: Fraction) -> list[dict[str, Any]]:
    """The same place by place, with the probabilities of the interpreter."""
    found = []
    for x, y in product(product((0, 1), repeat=n), repeat=2):
        agreeing = sum(a == b for a, b in zip(x, y, strict=True))
        count = lam**agreeing * (1 - lam) ** (n - agreeing)  # where they agree θ_i has to be false
        found.append({"weighted count": count, "P(RR(x) = y)": brute.probability(rr, x, y, lam=lam)})
    return found


def count_of_place(x: int, y: int) -> str:
    """The weights of those values of θ_i with y_i <-> (x_i xor θ_i)."""
    return " + ".join(weight for theta, weight in ((1, "λ"), (0, "(1 - λ)")) if y == x ^ theta)


paper.claim(
    "O1",
    "Sec. 5.1, Thm 4",
    "The formula y_i <-> x_i ⊕ θ_i for all i, with weights w(θ_i) = 1 - λ, w(not θ_i) = λ is a weighted "
    "Boolean formula of RR, randomized response: for every x, y and n its conditioned count is "
    "`weighted count = P(RR(x) = y)`.",
    brief=(
        "The two weights of a flip are exchanged, also in the example of Sec. 2.3.4. With n = 1, λ = 1/3 "
        "the count for x = y = (0) is 1/3, and P(RR(0) = 0) = 2/3. With the weights the other way round it "
        "is right for all n."
    ),
    notes="The paper's example for n = 2 (Sec. 2.3.4) has the same slip: its weights, too, are exchanged "
    "against the formula.",
    verdict="corrected",
    instances=grid(n=(1, 2, 3), lam=("1/2", *SMALL)),
    check=formula_as_printed,
    brute=formula_as_printed_again,
    at={"n": 1, "lam": "1/3"},
    minimal="smallest n, then the λ of smallest denominator",
    breaks="""
    In the formula θ_i true means that bit i **is** flipped, but the weights of Sec. 5.1 call w(θ_i) = 1 - λ the
    probability that it is **not**. The proof of Theorem 4 uses the weights the other way round: it multiplies
    w(not θ_i) = 1 - λ where x_i = y_i and w(θ_j) = λ where they differ.
    """,
    corrected=Correction(
        Exactly(
            every("λ"),
            columns({"x": BITS, "y": BITS}),
            says=["weighted count = P(RR(x) = y)"],
            where={
                "weighted count": (
                    "the weighted count of y_i <-> x_i ⊕ θ_i for all i, given x and y, with w(θ_i) = λ and "
                    "w(not θ_i) = 1 - λ",
                    Places(count_of_place, product=True),
                ),
                "P(RR(x) = y)": RR,
            },
        ),
        verdict="decided",
    ),
    stands="Theorem 4 and everything that uses it, once the two weights are exchanged; its proof needs no change.",
    readings="""
    As printed the count is the law of randomized response that flips with probability 1 - λ, which is the same only
    for λ = 1/2. Definition 3 asks for exactly one assignment whose count is P(A(x) = y); that has to mean the
    assignment that x and y name, because different ones may have equal counts (n = 1: the pairs (0, 0) and (1, 1)).
    """,
)
