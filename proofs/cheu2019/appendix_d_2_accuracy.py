"""Appendix D.2: how close Algorithm 7 stays to the randomizer that it changes (Claims D.5 and D.7, Lemma D.6)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from sympy import symbols

from tightdp.claims import grid, identity, positive, seeds

from .appendix_d_1_pure import extremal_randomizer, private_randomizer, transformed_law
from .paper import paper
from .sums import ZERO, Law, local_delta

T = Fraction(2)
"""e^ε of the randomizers."""


def drawn_randomizer(seed: int) -> dict[int, Law]:
    """A random one with three inputs and messages; for seed 0 the extremal one of C13."""
    return private_randomizer(seed, 3, 3, T, Fraction(1, 10)) if seed else extremal_randomizer()


def good(randomizer: dict[int, Law], x: int) -> set[int]:
    """Good(c, x) for c = 0: the messages whose ratio of probabilities is in [e^(-2ε), e^(2ε)]."""
    here, there = randomizer[x], randomizer[0]
    return {v for v in there if there[v] and there[v] <= T**2 * here[v] and here[v] <= T**2 * there[v]}


def outside_good(seed: int) -> Iterator[dict[str, Any]]:
    """Every input x of a random randomizer, at its exact δ."""
    randomizer = drawn_randomizer(seed)
    for x in randomizer:
        inside = good(randomizer, x)
        yield {
            "e^ε": T,
            "δ": local_delta(randomizer, T),
            "P(R(c) not in Good)": sum((p for v, p in randomizer[0].items() if v not in inside), ZERO),
        }


def few_messages_are_outside() -> None:
    """Let t = e^ε > 1. Where P(R(x) = v) > t²·P(R(c) = v) let the event have the probabilities a' under x and a
    under c: t² a < a' <= t a + δ, so a < δ/(t² - t). Where P(R(x) = v) < P(R(c) = v)/t²: b <= t b' + δ < b/t + δ,
    so b < δ/(1 - 1/t). Together less than δ(1 + 1/t²)/(1 - 1/t), as the first is δ/t²/(1 - 1/t); and
    1 + 1/t² <= 2 <= 2t.

    For the reader: splitting the complement of Good into its two sides.
    """
    t, d = symbols("t delta", positive=True)
    identity(d / (t**2 - t), d / t**2 / (1 - 1 / t), "the first part")
    identity(2 * t - (1 + 1 / t**2), (2 * t**3 - t**2 - 1) / t**2, "what the printed bound has too much, ...")
    positive((2 * t**3 - t**2 - 1) / t**2, t, 1, None, "... which is > 0 for t > 1")


paper.claim(
    "C18a",
    "Lemma D.6",
    "For an (ε,δ)-DP randomizer R, `e^ε > 1`, and every c, x: P(R(c) not in Good(c, x)) <= 2δ·e^ε/(1 - e^-ε): "
    "`P(R(c) not in Good) <= δ(1 + (e^ε)^-2)/(1 - (e^ε)^-1) <= 2δ·e^ε/(1 - (e^ε)^-1)`.",
    verdict="argued",
    instances=seeds(60),
    quick=60,
    check=outside_good,
    proof=few_messages_are_outside,
    notes="The paper cites it. It is sharper by a factor of about 2e^ε.",
)


def conditioned_law(seed: int, k: Fraction, rounds: int) -> Iterator[dict[str, Any]]:
    """Algorithm 7 for one user, given that some b_t is 1 and all v_t are in Good: all v_t and b_t are listed."""
    randomizer = drawn_randomizer(seed)
    for x in randomizer:
        inside, weight = good(randomizer, x), dict.fromkeys(randomizer[0], ZERO)
        for drawn in product(sorted(inside), repeat=rounds):
            for bits in product((0, 1), repeat=rounds):
                p = Fraction(1)
                for v, b in zip(drawn, bits, strict=True):
                    q = k * randomizer[x][v] / (2 * randomizer[0][v])
                    p *= randomizer[0][v] * (q if b else 1 - q)
                for v in (v for v, b in zip(drawn, bits, strict=True) if b):
                    weight[v] += p / sum(bits)
        total, mass = sum(weight.values()), sum(randomizer[x][v] for v in inside)
        for v in inside:
            yield {"P(y_{k,T} = g|no E)": weight[v] / total, "P(R(x) = g|Good)": randomizer[x][v] / mass}


def acceptance_gives_the_law_back() -> None:
    """Given that all v_t are in Good they are independent with the law of R(c) on Good, and b_t is 1 with
    probability k·P(R(x) = v)/(2·P(R(c) = v)). So the pair (v_t = v, b_t = 1) has probability proportional to
    P(R(x) = v): given which b_t are 1, the v_t of those are independent with the law of R(x) on Good. If there is
    one, a uniformly chosen one of them has that law.

    For the reader: that conditioning on acceptance is choosing with these weights.
    """
    k, here, there, mass = symbols("k p_x p_c mass", positive=True)
    identity(
        (there / mass) * (k * here / (2 * there)),
        k / (2 * mass) * here,
        ("P(v_t = v, b_t = 1) is a constant times P(R(x) = v)"),
    )


paper.claim(
    "C18b",
    "Claim D.7",
    "Given that some b_t is 1 and all v_t are in Good, the output of Algorithm 7 has the law of R(x) given Good: "
    "`P(y_{k,T} = g|no E) = P(R(x) = g|Good)`.",
    verdict="argued",
    instances=[{**each, **rest} for rest in grid(k=("7/16", "1/10"), rounds=(1, 2, 3)) for each in seeds(6)],
    quick=20,
    check=conditioned_law,
    proof=acceptance_gives_the_law_back,
)


def distance_of_laws(seed: int, k: Fraction, rounds: int) -> Iterator[dict[str, Any]]:
    """One user: the largest P(R_{k,T}(x) in W) - P(R(x) in W) over all W, where δ is small enough."""
    randomizer = drawn_randomizer(seed)
    exact = local_delta(randomizer, T)
    level = min(exact, Fraction(1, 17))
    if exact > level:  # mix with the public input until it is
        share = level / exact
        randomizer = {
            x: {v: share * p + (1 - share) * randomizer[0][v] for v, p in law.items()} for x, law in randomizer.items()
        }
    for x in randomizer:
        law = transformed_law(randomizer, x, T, k, rounds)
        gap = sum((max(ZERO, law[v] - randomizer[x][v]) for v in law), ZERO)
        yield {"e^ε": T, "δ": local_delta(randomizer, T), "largest difference": gap, "k": k, "T": rounds}


def laws_stay_close() -> None:
    """For n users let E1 be that some user has all b_t = 0, E2 that some v_t is not in Good. As b_t is 1 with
    probability at least k/(2t²), t = e^ε, P(E1) <= n(1 - k/(2t²))^T; by D.6 P(E2) <= nT·d, d = 2δt/(1 - 1/t).
    Without both the output has the law of Y given Good for all users (C18b), at most P(Y in W)/(1 - n·d') with
    d' = P(R(x) not in Good) <= d, which for n·d <= 1/2 is at most P(Y in W) + 2n·d.
    (The roles of c and x in D.6 may be exchanged, as Good is symmetric.) Together n(1 - k/(2t²))^T + n·d·(T + 2).
    (The printed first line writes the sum of two overlapping events as an equality; it is <=.)

    For the reader: the union bound over users and rounds, and what conditioning on no event costs.
    """
    few_messages_are_outside()
    acceptance_gives_the_law_back()
    u, p = symbols("u p", positive=True)
    identity(
        (p + 2 * u) * (1 - u) - p,
        u * (2 - 2 * u - p),
        ("P/(1-u) <= P + 2u says u(2 - 2u - P) >= 0: true for u <= 1/2, P <= 1"),
    )


paper.claim(
    "C18c",
    "Claim D.5",
    (
        "For 0 < δ < (1 - e^-ε)/(4e^ε·n) the output of Algorithm 7 for n users is in a set W with "
        "probability at most that of R plus n(1 - e^(-2ε)k/2)^T + 2nδe^ε/(1 - e^-ε)·(T + 2). For n = 1, "
        "where `δ < (1 - (e^ε)^-1)/(4e^ε)`: `largest difference < (1 - (e^ε)^-2·k/2)^T + 2δ·e^ε/(1 - "
        "(e^ε)^-1)·(T + 2)`."
    ),
    verdict="argued",
    instances=[{**each, **rest} for rest in grid(k=("7/16", "1/100"), rounds=(1, 2, 3)) for each in seeds(6)],
    quick=20,
    check=distance_of_laws,
    proof=laws_stay_close,
)

paper.row(
    "C18",
    "Claims D.5, D.7, Lemma D.6",
    "Algorithm 7 stays close to the randomizer that it changes.",
    parts=("C18a", "C18b", "C18c"),
)
