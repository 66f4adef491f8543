"""Section 5.1: the weighted Boolean formula of randomized response (Theorem 4)."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

from sympy import Symbol

from tightdp.claims import Correction, Fails, brute, exhaustive, grid, identity

from .laws import SMALL, Bits, all_bits, listed, rr
from .paper import paper


def weighted_count(x: Bits, y: Bits, theta: Any, not_theta: Any) -> Any:
    """The weighted count of AND_i y_i <-> (x_i xor θ_i), given x and y, by listing all assignments of θ."""
    total = theta * 0
    for chosen in all_bits(len(x)):
        if all(b == a ^ t for a, b, t in zip(x, y, chosen, strict=True)):
            weight = theta**0
            for t in chosen:
                weight *= theta if t else not_theta
            total += weight
    return total


def compare_counts(n: int, lam: Fraction, theta: Fraction, law: Any) -> bool | Fails:
    """Whether the weighted count is the law of RR, for all x and y."""
    for x, y in product(all_bits(n), all_bits(n)):
        counted, exact = weighted_count(x, y, theta, 1 - theta), law(x, y)
        if counted != exact:
            why = f"With x = {listed(x)} and y = {listed(y)} the weighted count is {counted}; P(RR(x) = y) = {exact}."
            return Fails(why, x=x, y=y, weighted_count=counted, probability=exact)
    return True


def formula_as_printed(n: int, lam: Fraction) -> bool | Fails:
    """θ_i has the weight 1 - λ."""
    instance = rr.bind(n=n, lam=lam)
    return compare_counts(n, lam, 1 - lam, instance.probability)


def formula_as_printed_again(n: int, lam: Fraction) -> bool | Fails:
    """The same with the probabilities of the interpreter."""
    return compare_counts(n, lam, 1 - lam, lambda x, y: brute.probability(rr, x, y, lam=lam))


def formula_corrected(n: int, lam: Fraction) -> list[dict[str, Any]]:
    """θ_i has the weight λ; all x and y."""
    law = rr.bind(n=n, lam=lam).probability
    weights = {"w(θ_i)": lam, "w(not θ_i)": 1 - lam}
    return [
        {**weights, "weighted count": weighted_count(x, y, *weights.values()), "P(RR(x) = y)": law(x, y)}
        for x, y in product(all_bits(n), all_bits(n))
    ]


def formula_counts_the_law() -> None:
    """Given x and y the formula is a conjunction of n parts that share no variable, so its count is the product of
    theirs. In each of the four cases of (x_i, y_i) exactly one value of θ_i satisfies part i, namely x_i xor y_i,
    and its weight is the probability that client i sends y_i: λ where y_i differs from x_i, 1 - λ where it does
    not. The clients are independent, so the product is P(RR(x) = y), for every n.
    """
    lam = Symbol("lambda")
    exhaustive(
        product((0, 1), repeat=2),
        lambda a, b: [t for t in (0, 1) if b == a ^ t] == [a ^ b],
        "part i has exactly one satisfying θ_i, which is x_i xor y_i",
    )
    exhaustive(
        product((0, 1), repeat=2),
        lambda a, b: [t for t in (0, 1) if b == 1 - (a ^ t)] == [1 - (a ^ b)],
        "with xnor it is the other value, so exchanging the weights instead has the same effect",
    )
    for a, b in product((0, 1), repeat=2):
        sent = lam if a != b else 1 - lam
        identity(weighted_count((a,), (b,), lam, 1 - lam), sent, f"the count of part i for x_i={a}, y_i={b}")
    one = weighted_count((0, 1), (0, 0), lam, 1 - lam)
    two = weighted_count((0,), (0,), lam, 1 - lam) * weighted_count((1,), (0,), lam, 1 - lam)
    identity(one, two, "counts of parts without common variables multiply (shown for two clients)")


paper.claim(
    "O1",
    "Sec. 5.1, Thm 4",
    "The formula AND_i y_i <-> (x_i xor θ_i) with weights w(θ_i) = 1 - λ, w(not θ_i) = λ is a weighted "
    "Boolean formula of RR: its conditioned weighted count is P(RR(x) = y) for every x, y and n.",
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
        "The same where `w(θ_i) = λ, w(not θ_i) = 1 - λ` (the weights that the proof uses; or the printed weights "
        "with y_i <-> (x_i xnor θ_i)): `weighted count = P(RR(x) = y)` for every x and y.",
        near=("= P(RR(x) = y)", "= 2 P(RR(x) = y)"),
        verdict="proved",
        instances=grid(n=(1, 2, 3), lam=("1/2", *SMALL)),
        quick=8,
        check=formula_corrected,
        proof=formula_counts_the_law,
    ),
    stands="Theorem 4 and everything that uses it, once the two weights are exchanged; its proof needs no change.",
    readings="""
    As printed the count is the law of randomized response that flips with probability 1 - λ, which is the same only
    for λ = 1/2. Definition 3 asks for exactly one assignment whose count is P(A(x) = y); that has to mean the
    assignment that x and y name, because different ones may have equal counts (n = 1: the pairs (0, 0) and (1, 1)).
    """,
)
