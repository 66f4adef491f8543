"""Appendix A.2: validity of one-run auditing (Lemma A.7, Proposition A.9)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from sympy import symbols

from tightdp.claims import Correction, grid, identity, program, random_dp_law, seeds

from .games import HALF, ZERO, Joint, Table, extremal, given, outputs, tail
from .paper import paper
from .programs import ON_BITS
from .validity_lemmas import given_their_number, one_more_guess, t, x, y

k_ary_randomized_response = program("k_ary_randomized_response")


exponential_mechanism = program("exponential_mechanism")


PURE = ("randomized response", "randomized response count", "noisy XOR", "geometric count", "shuffled")
"""Those that are ε-DP with a finite ε, for n >= 1 (shuffled: not at n = 1)."""


def program_is_dominated(mechanism: str, n: int, guesser: str) -> Iterator[dict[str, Any]]:
    """V given R for a program and a guesser of the engine, against Bin(R, p(ε(M_Z)))."""
    if mechanism in ON_BITS:
        chosen, parameters = ON_BITS[mechanism]
    elif mechanism == "k-ary":
        chosen, parameters = k_ary_randomized_response, {"k": 3, "exp_epsilon": Fraction(2)}
    else:
        chosen, parameters = exponential_mechanism, {"candidates": 2, "base": Fraction(2)}
    found = chosen.bind(n=n, **parameters).guessing(_guesser(guesser, n))
    t, law = Fraction(found.exp_epsilon), found.joint.to_dict()
    for r in {made for made, _ in law}:
        total = sum((q for (made, _), q in law.items() if made == r), ZERO)
        for v in range(r + 1):
            above = sum((q for (made, right), q in law.items() if made == r and right >= v), ZERO)
            yield {
                "e^ε": t,
                "p(ε)": t / (1 + t),
                "P(V >= v|R = r)": above / total,
                "P(Bin(r, p(ε)) >= v)": tail(r, t / (1 + t), v),
            }


def _guesser(name: str, n: int) -> Any:
    if name == "first bit by the output":
        return lambda o: [sum(map(ord, str(o))) % 2, *[None] * (n - 1)]
    if name == "as many as the output says":
        return lambda o: [1 if i <= sum(map(ord, str(o))) % n else None for i in range(n)]
    return name


GUESSERS = ("all", "3/5", "certain", "first bit by the output", "as many as the output says")


def guesses_are_dominated() -> None:
    """Fix the guesses, a function of the output, hence which r bits are guessed; go through these in any order.
    Given the output o and the bits before it, a bit has the posterior odds P(o|..,1)/P(o|..,0), at most t: both are
    means over the later bits of probabilities on datasets that differ in one record. So it is right with
    probability at most p, and W(r, v), the largest probability of v right guesses out of r, obeys W(r, v) <= p
    W(r-1, v-1) + (1-p) W(r-1, v): by induction W(r, v) <= T(r, v), for which this is an equality. This holds given
    the output, so given R = r.

    Validity: CPL(r, v) > p says T(r, v) < β, because T rises with p. Given R = r let v* be the least v with
    T(r, v) < β: the event is V >= v*, of probability at most T(r, v*) < β.

    For the reader: that the guesses are a function of the output, the order of revelation, and the induction on r.
    """
    one_more_guess()
    left, right = symbols("left right", nonnegative=True)
    identity(
        (t * left - x) + (t * right - y),
        t * (left + right) - (x + y),
        "sums over the later bits keep the factor t",
    )


paper.claim(
    "K21a",
    "Prop. A.9, Lemma A.7",
    "One-run auditing is valid: for an ε-DP mechanism, where `p(ε) = e^ε/(1 + e^ε)`, the number V of right "
    "ones among R guesses is stochastically dominated by Bin(R, p(ε)), given R = r: `P(V >= v|R = r) <= "
    "P(Bin(r, p(ε)) >= v)`; and the reported lower bound is wrong with probability at most β.",
    verdict="argued",
    instances=[
        *grid(mechanism=(*PURE, "k-ary", "exponential"), n=(2, 3), guesser=GUESSERS),
    ],
    quick=14,
    check=program_is_dominated,
    proof=guesses_are_dominated,
)


def random_is_dominated(seed: int, n: int, outputs: int, t: Fraction) -> dict[str, Fraction]:
    """Every deterministic guesser of a random ε-DP mechanism."""
    table: Table = dict(random_dp_law(seed, n, outputs=outputs, exp_epsilon=t).items())
    return largest_excess(table, t / (1 + t))


def largest_excess(table: Table, p: Fraction) -> dict[str, Fraction]:
    """The largest P(V >= v) - P(Bin(r, p) >= v), v >= 1, given an output, over all guesses of any r bits.

    The guesses are a function of the output, so this covers every deterministic guesser.
    """
    n, worst = len(next(iter(table))), []
    for o in outputs(table):
        joint = given(table, o)
        total = sum(joint.values(), ZERO)
        for code in range(1, 3**n):
            row = [(code // 3**i) % 3 for i in range(n)]  # 0: no guess, 1: guess 0, 2: guess 1
            made = sum(guess > 0 for guess in row)
            law = [ZERO] * (made + 1)
            for s, q in joint.items():
                law[sum(guess == bit + 1 for guess, bit in zip(row, s, strict=True))] += q / total
            worst += [sum(law[v:], ZERO) - tail(made, p, v) for v in range(1, made + 1)]
    return {"largest P(V >= v|R = r) - P(Bin(r, p(ε)) >= v)": max(worst)}


paper.claim(
    "K21b",
    "Prop. A.9, random mechanisms",
    "The dominance of K21a for ε-DP mechanisms drawn at random, with every deterministic guesser: `largest "
    "P(V >= v|R = r) - P(Bin(r, p(ε)) >= v) <= 0`.",
    verdict="holds on",
    extra=True,
    instances=[{**each, **rest} for rest in grid(n=(1, 2, 3), outputs=(2, 4), t=("1", "2", "5")) for each in seeds(5)],
    quick=30,
    check=random_is_dominated,
)


def extremal_is_dominated(shape: str, n: int, t: Fraction) -> dict[str, Fraction]:
    """Every deterministic guesser of a symmetric extremal mechanism."""
    return largest_excess(extremal(shape, n, t), t / (1 + t))


SHAPES = ("noisy parity", "one noisy bit", "all but one value")


paper.claim(
    "K21c",
    "Prop. A.9, extremal mechanisms",
    "The dominance of K21a for symmetric extremal mechanisms, with every deterministic guesser: `largest P(V >= v|R = "
    "r) - P(Bin(r, p(ε)) >= v) <= 0`.",
    verdict="holds on",
    extra=True,
    instances=grid(shape=SHAPES, n=(1, 2, 3), t=("2", "5")),
    quick=12,
    check=extremal_is_dominated,
)


def reported_too_much(law: Joint, p: Fraction, beta: Fraction) -> Fraction:
    """The probability that the Clopper-Pearson bound CPL(R, V, β) exceeds p: that P(Bin(R, p) >= V) < β."""
    return sum((q for (r, v), q in law.items() if r and tail(r, p, v) < beta), ZERO)


def unconditional_law(many: int) -> Joint:
    """R is 2 or `many` by a fair coin; V is 2 in the first case and 0 in the second."""
    return {(2, 2): HALF, (many, 0): HALF}


def unconditional_dominance(many: int, beta: Fraction) -> dict[str, Fraction]:
    """How far V, not given R, is above Bin(R, 1/2), and how often the bound is wrong."""
    law = unconditional_law(many)
    binomial = {v: (tail(2, HALF, v) + tail(many, HALF, v)) / 2 for v in range(many + 1)}
    above = {v: sum((q for (_, right), q in law.items() if right >= v), ZERO) for v in range(1, many + 1)}
    return {
        "largest excess": max(above[v] - binomial[v] for v in above),
        "P(CPL > p)": reported_too_much(law, HALF, beta),
    }


def unconditional_dominance_again(many: int, beta: Fraction) -> dict[str, Fraction]:
    """With fair coins listed: R = 2, both right, or R = many, none right."""
    coins = {r: [sum(s) for s in product((0, 1), repeat=r)] for r in (2, many)}
    excess = []
    for v in range(1, many + 1):
        binomial = sum(Fraction(sum(ones >= v for ones in each), len(each)) for each in coins.values()) / 2
        excess.append((Fraction(1, 2) if v <= 2 else Fraction(0)) - binomial)
    both_right = Fraction(1, 4)  # P(Bin(2, 1/2) >= 2): CPL(2, 2, β) > 1/2 just if it is below β
    return {"largest excess": max(excess), "P(CPL > p)": Fraction(1, 2) if both_right < beta else Fraction(0)}


def given_their_number_is_valid(r: int, beta: Fraction) -> dict[str, Fraction]:
    """V ~ Bin(R, 1/2) with R = 1, ..., r equally likely: how often the bound exceeds 1/2."""
    law = {
        (made, v): (tail(made, HALF, v) - tail(made, HALF, v + 1)) / r
        for made in range(1, r + 1)
        for v in range(made + 1)
    }
    return {"P(CPL > p)": reported_too_much(law, HALF, beta)}


paper.claim(
    "K21d",
    "Lemma A.7",
    "If V is stochastically dominated by Bin(R, p(ε)), R random and not conditioned on, that is if "
    "`largest excess <= 0` of P(V >= v) over P(Bin(R, p(ε)) >= v), the reported bound is wrong with probability at "
    "most "
    "β: `P(CPL > p) <= β`.",
    verdict="corrected",
    instances=grid(many=(5, 6, 7), beta=("1/3",)),
    check=unconditional_dominance,
    brute=unconditional_dominance_again,
    at={"many": 5, "beta": "1/3"},
    minimal="smallest number of guesses in the other case; with fewer V is not dominated",
    breaks="V = 2 of R = 2, or V = 0 of R = 5, by a fair coin, and p = 1/2: P(Bin(2, 1/2) >= 2) = 1/4 < β, so that "
    "CPL exceeds "
    "1/2 in the first case. The proof compares CPL(R, V) with CPL(R, V'), the same R in both; dominance of the laws of "
    "V and V' says nothing about them together with R.",
    corrected=Correction(
        "If V given R = r is dominated by Bin(r, p(ε)) for every r, the reported bound is wrong with probability "
        "at most β: `P(CPL > p) <= β`.",
        check=given_their_number_is_valid,
        instances=grid(r=(1, 2, 3, 6), beta=("501/1000", "26/100", "126/1000", "1/20")),
        verdict="argued",
        proof=given_their_number,
    ),
    stands="Its use in Propositions A.8 and A.9, where the dominance is shown given the guesses.",
)


def is_exactly_covered(lam: Fraction, beta: Fraction) -> dict[str, Fraction]:
    """One bit through randomized response."""
    p = 1 - lam
    return {"P(CPL <= p(ε))": 1 - reported_too_much({(1, 1): p, (1, 0): 1 - p}, p, beta)}


def is_exactly_covered_again(lam: Fraction, beta: Fraction) -> dict[str, Fraction]:
    """The one bit is right with p = 1 - λ and then CPL is β, otherwise it is 0."""
    return {"P(CPL <= p(ε))": (1 - lam if beta <= 1 - lam else Fraction(0)) + lam}


def is_covered(lam: Fraction, beta: Fraction) -> dict[str, Fraction]:
    """Bits through randomized response, all guessed: how often the bound does not exceed p, for r = 1..6 bits."""
    p = 1 - lam
    wrong = [
        reported_too_much({(r, v): tail(r, p, v) - tail(r, p, v + 1) for v in range(r + 1)}, p, beta)
        for r in range(1, 7)
    ]
    return {"least P(CPL <= p(ε))": 1 - max(wrong)}


paper.claim(
    "K21e",
    "Lemma A.7, last line",
    "For V ~ Bin(R, p(ε)): `P(CPL <= p(ε)) = 1 - β`.",
    verdict="corrected",
    extra=True,
    instances=grid(lam=("1/3",), beta=("1/2", "1/20")),
    check=is_exactly_covered,
    brute=is_exactly_covered_again,
    at={"lam": "1/3", "beta": "1/2"},
    minimal="one bit; the β of smallest denominator",
    breaks="For one bit CPL(1, 1, β) = β, which is never above p >= β. Bin(r, p) takes finitely many values, so that "
    "the probability cannot equal every 1 - β.",
    corrected=Correction(
        "It is at least 1 - β, which is what validity needs: `least P(CPL <= p(ε)) >= 1 - β`, over the numbers of "
        "guesses 1 to 6.",
        check=is_covered,
        instances=grid(lam=("1/3", "1/4"), beta=("1/2", "1/4", "445/1000", "1/20")),
        verdict="argued",
        proof=given_their_number,
    ),
)


paper.row(
    "K21",
    "Lemma A.7, Prop. A.9",
    "One-run auditing is valid: for an ε-DP mechanism the number right is stochastically dominated by Bin(r, p(ε)).",
    parts=("K21a", "K21b", "K21c", "K21e"),
)
