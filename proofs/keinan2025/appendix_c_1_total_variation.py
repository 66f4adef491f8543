"""Appendix C.1.1: efficacy and total variation (Lemma C.3, Proposition C.4)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from sympy import symbols

from tightdp.claims import grid, identity, random_law, seeds

from .games import ONE, ZERO, Table, bit_pairs, outputs, table_of
from .grids import NAMES
from .paper import paper
from .posterior_lemmas import ONE_HALF, x
from .programs import ON_BITS


def efficacy_is_distance(mechanism: str, n: int) -> dict[str, Any]:
    """E_n by the engine, the mean distance by listing."""
    chosen, parameters = ON_BITS[mechanism]
    table = table_of(chosen, bit_pairs(n), **parameters)
    return {"E_n": chosen.bind(n=n, **parameters).efficacy(n).rows[0].efficacy, "D": mean_distance(table)}


def mean_distance(table: Table) -> Fraction:
    """The mean over i of the total variation distance between the outputs given S_i = -1 and S_i = 1."""
    n = len(next(iter(table)))
    half = Fraction(2, len(table))
    total = ZERO
    for i in range(n):
        for o in outputs(table):
            sides = [sum((law.get(o, ZERO) for s, law in table.items() if s[i] == b), ZERO) for b in (0, 1)]
            total += abs(sides[0] - sides[1]) * half / 2
    return total / n


def larger_share_and_distance() -> None:
    """At an o with P >= Q > 0, e^|ℓ| = P/Q and p(|ℓ|) = P/(P+Q); with Q = 0 both are 1; P < Q mirrors it. So
    (P+Q)·p(|ℓ|) = max(P, Q) wherever P + Q > 0, and both sides are 0 elsewhere, where ℓ is not defined and which no
    expectation sees. Summed (or integrated) over o, with max(a,b) = (a + b + |a-b|)/2, that is (1 + 1 + 2·TV)/2.

    For the reader: the cases P = 0 and Q = 0, and summing over the outputs.
    """
    small, tv = symbols("small tv", positive=True)
    ratio = (small + x) / small
    identity(ratio / (1 + ratio), (small + x) / (2 * small + x), "p(|ℓ|) with the smaller value and x more")
    identity(small + x, ((small + x) + small + x) / 2, "max(a,b) = (a + b + |a-b|)/2, for b = a + x or a = b + x")
    identity((1 + 1 + 2 * tv) / 2, 1 + tv, "the sum over o of the larger value")


def efficacy_is_mean_distance() -> None:
    """Given o the best guess of bit i is right with max(P, Q)/(P+Q), P and Q the laws of the output given S_i = -1
    and 1, and P(o) = (P+Q)/2. So P(right on bit i) = Σ_o max(P,Q)/2 = (1 + TV_i)/2 by Lemma C.3; the mean over i is
    the statement.

    For the reader: that means over outputs and over i may be exchanged.
    """
    larger_share_and_distance()
    a, b, tv = symbols("a b tv", positive=True)
    identity((a + b) / 2 * a / (a + b), a / 2, "P(o) times the larger posterior, here a/(a+b)")
    identity((1 + tv) / 2, ONE_HALF + tv / 2, "half of 1 + TV")


paper.claim(
    "K8",
    "Prop. C.4",
    "`E_n = 1/2 + D/2`, D the mean over i of the total variation distance between the outputs given S_i = -1 "
    "and S_i = 1.",
    verdict="argued",
    instances=grid(mechanism=NAMES, n=(1, 2, 3, 4)),
    quick=grid(mechanism=NAMES, n=(1, 2)),
    check=efficacy_is_distance,
    proof=efficacy_is_mean_distance,
)


def share_and_distance(seed: int, outputs: int) -> list[dict[str, Any]]:
    """Both identities for two random laws, at every output that is not of probability 0 under both."""
    laws = random_law(seed, (0, 1), outputs, denominator=12)
    one, other = laws[0], laws[1]
    shares = {}
    for o in range(outputs):
        low, high = sorted((one[o], other[o]))
        if high:
            shares[o] = ONE if not low else (high / low) / (1 + high / low)  # p(|ℓ|) from the ratio
    means = {
        "E_P[p(|ℓ|)]": sum((one[o] * each for o, each in shares.items()), ZERO),
        "E_Q[p(|ℓ|)]": sum((other[o] * each for o, each in shares.items()), ZERO),
        "TV": sum((abs(one[o] - other[o]) for o in range(outputs)), ZERO) / 2,
    }
    return [{**means, "p(|ℓ(o)|)": each, "P": one[o], "Q": other[o]} for o, each in shares.items()]


paper.claim(
    "K9",
    "Lemma C.3",
    "`p(|ℓ(o)|) = max(P, Q)/(P + Q)`, and `E_P[p(|ℓ|)] + E_Q[p(|ℓ|)] = 1 + TV`, TV the total variation "
    "distance of P and Q.",
    verdict="argued",
    instances=seeds(40, outputs=2) + seeds(40, outputs=5),
    quick=20,
    check=share_and_distance,
    proof=larger_share_and_distance,
    notes="The first identity is for outputs with P + Q > 0; elsewhere ℓ is 0/0 and neither side is defined.",
)
