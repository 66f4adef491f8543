"""Appendix D.1: from approximate to pure DP (Claim D.2)."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product
from random import Random
from typing import Any

from sympy import Symbol, binomial, oo, symbols
from sympy import exp as symbolic_exp

from tightdp.claims import grid, identity, limit, random_law, seeds

from .mechanisms import HALVES, RANDOMIZER, transformed
from .paper import paper
from .sums import ZERO, Law, agreed, assumed, listed, local_delta


def transformed_is_private() -> None:
    """Given v_1, ..., v_T, whose law does not depend on x, let q_t = p_t·k: they lie in [A, U] with A = k·e^(-2ε)/2
    and U = k·e^(2ε)/2 < 1 (a p_t outside GoodInt becomes 1/2, which is inside). Index j is returned with
    probability Π(1-q_t)/T + q_j·E[1/(1 + Σ_{t≠j} b_t)]. The first term is at most (1-A)^T/T and at least (1-U)^T/T.
    The expectation falls when a q_t grows, so it lies between its values for Bin(T-1, U) and Bin(T-1, A), and
    E[1/(1 + Bin(T-1, q))] = (1 - (1-q)^T)/(Tq). So the probability of j is at most
    [(1-A)^T + (U/A)(1 - (1-A)^T)]/T <= (U/A)/T and at least [(1-U)^T + (A/U)(1 - (1-U)^T)]/T >= (A/U)/T, where
    U/A = e^(4ε). Between x and x' the ratio is at most (U/A)² = e^(8ε), for every j and v_1..v_T, and so for the
    output. That R is (ε, δ)-DP is not used.

    For the reader: that the expectation falls in every q_t, and the two cases of how an index is returned.
    """
    m, s, ratio, low, eps, k = symbols("m s rho c epsilon k", positive=True)
    identity(
        binomial(m, s) / (s + 1),
        binomial(m + 1, s + 1) / (m + 1),
        "so Σ_s C(m,s) q^s (1-q)^(m-s)/(s+1) is (1 - (1-q)^(m+1))/((m+1)q), with m = T - 1",
    )
    identity(
        ratio - (low + ratio * (1 - low)),
        (ratio - 1) * low,
        "the upper bound is at most ρ = U/A >= 1, c = (1-A)^T",
    )
    identity(
        (low + (1 - low) / ratio) - 1 / ratio,
        (1 - 1 / ratio) * low,
        "the lower bound is at least 1/ρ, c = (1-U)^T",
    )
    identity(
        k * symbolic_exp(2 * eps) / 2 / (k * symbolic_exp(-2 * eps) / 2), symbolic_exp(4 * eps), "ρ = U/A = e^(4ε)"
    )
    identity(symbolic_exp(4 * eps) / symbolic_exp(-4 * eps), symbolic_exp(8 * eps), "the ratio of the bounds")
    identity((2 * symbolic_exp(-2 * eps)) * symbolic_exp(2 * eps) / 2, 1, "U < 1 as k < 2e^(-2ε)")


def private_randomizer(seed: int, inputs: int, outputs: int, exp_epsilon: Fraction, delta: Fraction) -> dict[int, Law]:
    """A random randomizer that is (ε, δ)-DP for every pair of inputs: random laws mixed with a common one."""
    random = Random(seed)
    weights = [[random.choice((0, 1, 2, 5, 9)) for _ in range(outputs)] for _ in range(inputs)]
    drawn = [[Fraction(w + (sum(row) == 0), sum(row) or outputs) for w in row] for row in weights]
    base = [sum((row[y] for row in drawn), ZERO) / inputs for y in range(outputs)]
    for steps in range(32, -1, -1):
        share = Fraction(steps, 32)
        mixed = {x: {y: share * row[y] + (1 - share) * base[y] for y in range(outputs)} for x, row in enumerate(drawn)}
        if local_delta(mixed, exp_epsilon) <= delta:
            return mixed
    raise AssertionError("equal laws are private")


def transformed_law(randomizer: dict[int, Law], x: int, exp_epsilon: Fraction, k: Fraction, rounds: int) -> Law:
    """The law of R_{k,T} of Algorithm 7, with c = 0 and T = rounds: all v_1..v_T and b_1..b_T are listed."""
    fixed = {v: p for v, p in randomizer[0].items() if p}
    law = dict.fromkeys(randomizer[0], ZERO)
    for drawn in product(fixed, repeat=rounds):
        chances = [k * _accepted(randomizer, x, v, exp_epsilon) for v in drawn]
        for bits in product((0, 1), repeat=rounds):
            p = Fraction(1)
            for v, b, chance in zip(drawn, bits, chances, strict=True):
                p *= fixed[v] * (chance if b else 1 - chance)
            kept = [v for v, b in zip(drawn, bits, strict=True) if b] or list(drawn)
            for v in kept:
                law[v] += p / len(kept)
    return law


def _accepted(randomizer: dict[int, Law], x: int, v: int, exp_epsilon: Fraction) -> Fraction:
    """p_t of Algorithm 7."""
    half = randomizer[x][v] / (2 * randomizer[0][v])
    good = Fraction(1, 2) / exp_epsilon**2 <= half <= exp_epsilon**2 / 2
    return half if good else Fraction(1, 2)


def largest_ratio(randomizer: dict[int, Law], exp_epsilon: Fraction, k: Fraction, rounds: int) -> Fraction:
    """The exact e^ε of R_{k,T}."""
    laws = [transformed_law(randomizer, x, exp_epsilon, k, rounds) for x in randomizer]
    return max(p[y] / q[y] for p, q in permutations(laws, 2) for y in p if p[y])


def random_ratio(seed: int, rounds: int) -> dict[str, Any]:
    """A random (ln 2, 1/10)-DP R with three inputs and messages, k = 7/16; for seed -1 the extremal one, for -2
    far_apart."""
    t, k = Fraction(2), Fraction(7, 16)
    if seed == -2:  # close to e^ε = 1, where the printed constant is the least possible one (C25)
        t, k = Fraction(101, 100), Fraction(19, 10)
        return {"e^ε": t, "k": k, "ratio": ratio_of(far_apart(t, Fraction(1, 10**9)), t, k, rounds)}
    if seed < 0:
        return {"e^ε": t, "k": k, "ratio": extremal_ratio(t, k, rounds)}
    randomizer = private_randomizer(seed, 3, 3, t, Fraction(1, 10))
    return {"e^ε": t, "k": k, "ratio": largest_ratio(randomizer, t, k, rounds)}


def far_apart(t: Fraction, share: Fraction) -> dict[int, Law]:
    """Inputs c, x, x' whose acceptance differs most: a message of probability `share` under c, and three others.

    What c says with probability 1 - 1/t² is a factor t² rarer under x, and never said under x'.
    """
    often, rest = 1 - t**-2, t**-2 - share
    rows = (
        (share, often, rest, ZERO),
        (share * t**2, often / t**2, rest / t**2),
        (share / t**2, ZERO, rest * t**2),
    )
    return {x: dict(enumerate((*row[:3], 1 - sum(row[:3])))) for x, row in enumerate(rows)}


def extremal_randomizer() -> dict[int, Law]:
    """R(c) = (1/40, 1/40, 19/20), R(x) = (1/10, 1/160, 143/160), R(x') its mirror image: (ln 2, 7/80)-DP."""
    rows = ((4, 4, 152), (16, 1, 143), (1, 16, 143))
    return {x: {v: Fraction(weight, 160) for v, weight in enumerate(row)} for x, row in enumerate(rows)}


def law_by_symmetry(randomizer: dict[int, Law], x: int, exp_epsilon: Fraction, k: Fraction, rounds: int) -> Law:
    """The law of R_{k,T} for any T: given v_1 = v the other b_t are independent with the mean s."""
    chances = {v: k * _accepted(randomizer, x, v, exp_epsilon) for v, p in randomizer[0].items() if p}
    s = sum((randomizer[0][v] * q for v, q in chances.items()), ZERO)
    some, none = (1 - (1 - s) ** rounds) / s, (1 - s) ** (rounds - 1)
    return {v: randomizer[0][v] * (q * some + (1 - q) * none) for v, q in chances.items()}


def ratio_of(randomizer: dict[int, Law], t: Fraction, k: Fraction, rounds: int) -> Fraction:
    """The exact e^ε of R_{k,T}."""
    laws = [law_by_symmetry(randomizer, x, t, k, rounds) for x in randomizer]
    return max(p[v] / q[v] for p, q in permutations(laws, 2) for v in p)


def extremal_ratio(exp_epsilon: Fraction, k: Fraction, rounds: int) -> Fraction:
    """The exact e^ε of R_{k,T} for the extremal randomizer; up to T = 4 all v_t and b_t are listed as well."""
    randomizer = extremal_randomizer()
    laws = [law_by_symmetry(randomizer, x, exp_epsilon, k, rounds) for x in randomizer]
    found = max(p[v] / q[v] for p, q in permutations(laws, 2) for v in p)
    return agreed(largest_ratio(randomizer, exp_epsilon, k, rounds), found) if rounds <= 4 else found


paper.claim(
    "C13a",
    "Claim D.2",
    "R_{k,T} (Algorithm 7) is (8ε, 0)-DP for every (ε,δ)-DP randomizer R, for `k < 2(e^ε)^-2`: `ratio <= (e^ε)^8`, the "
    "ratio being the exact e^ε of R_{k,T}.",
    verdict="argued",
    instances=[
        {"seed": -2, "rounds": 400},
        *(each for rounds in (1, 2, 3) for each in seeds(12, rounds=rounds)),
        {"seed": -1, "rounds": 4},
        {"seed": -1, "rounds": 200},
    ],
    quick=[
        {"seed": -2, "rounds": 400},
        {"seed": -1, "rounds": 200},
        {"seed": -1, "rounds": 4},
        *seeds(12, rounds=1),
        *seeds(2, rounds=2),
    ],
    check=random_ratio,
    proof=transformed_is_private,
    notes="The proof never uses that R is (ε,δ)-DP: clamping to GoodInt is enough (C25). The 8 is the least "
    "constant for all ε: a family at e^ε = 1.01 with a large δ passes no 7ε (seed -2); the sharp value is 4ε + "
    "ln(2e^(2ε) - 1).",
)


def transformed_extremal(exp_epsilon: Fraction, delta: Fraction, rounds: int) -> dict[str, Any]:
    """The four-output randomized response."""
    right = (1 - Fraction(delta)) * exp_epsilon / (1 + exp_epsilon)
    wrong = right / exp_epsilon
    laws = {0: (right, wrong, delta, ZERO), 1: (wrong, right, ZERO, delta)}
    randomizer = {x: dict(enumerate(law)) for x, law in laws.items()}
    k = Fraction(15, 8) / exp_epsilon**2
    return {"k": k, "ratio": largest_ratio(randomizer, exp_epsilon, k, rounds)}


paper.claim(
    "C13b",
    "Claim D.2",
    "Algorithm 7 on the four-output randomized response: `ratio <= (e^ε)^8`, for `k < 2(e^ε)^-2`, the ratio "
    "being the exact e^ε of R_{k,T}.",
    verdict="holds on",
    extra=True,
    instances=grid(exp_epsilon=("2", "5", "11/10"), delta=("0", "1/10", "1/2"), rounds=(1, 2, 3)),
    quick=9,
    check=transformed_extremal,
)


def transformed_by_engine(k: Fraction) -> dict[str, Any]:
    """One randomizer with T = 2, run by the engine too."""
    randomizer = {x: {y: Fraction(w, 10) for y, w in enumerate(row)} for x, row in enumerate(RANDOMIZER)}
    two = Fraction(2)
    assumed(local_delta(randomizer, two) <= Fraction(1, 10))
    found = transformed.bind(n=1, k=k, halves=HALVES, weights=RANDOMIZER[0]).privacy().exp_epsilon
    return {"e^ε": two, "ratio": agreed(found, largest_ratio(randomizer, two, k, 2))}


paper.claim(
    "C13c",
    "Claim D.2",
    "Algorithm 7 on a (ln 2, 1/10)-DP randomizer with T = 2, run by the engine: `ratio <= (e^ε)^8`, for `k < "
    "2(e^ε)^-2`, the ratio being the exact e^ε of R_{k,T}.",
    verdict="holds on",
    extra=True,
    instances=grid(k=("1/4", "7/16")),
    check=transformed_by_engine,
)


@paper.claim(
    "C13d",
    "Claim D.2",
    "The claim holds for every randomizer R, private or not: `ratio <= (e^ε)^8`, for `k < 2(e^ε)^-2`, the "
    "ratio being the exact e^ε of R_{k,T}.",
    verdict="argued",
    extra=True,
    instances=[each for rounds in (1, 2) for each in seeds(10, rounds=rounds)] + [{"seed": -1, "rounds": 200}],
    quick=[{"seed": -2, "rounds": 400}, {"seed": -1, "rounds": 200}, *seeds(5, rounds=1)],
    proof=transformed_is_private,
)
def _(seed: int, rounds: int) -> dict[str, Any]:
    t, k = Fraction(2), Fraction(7, 16)
    if seed == -2:  # close to e^ε = 1, where the printed constant is the least possible one (C25)
        t, k = Fraction(101, 100), Fraction(19, 10)
        return {"e^ε": t, "k": k, "ratio": ratio_of(far_apart(t, Fraction(1, 10**9)), t, k, rounds)}
    if seed < 0:
        return {"e^ε": t, "k": k, "ratio": extremal_ratio(t, k, rounds)}
    return {"e^ε": t, "k": k, "ratio": largest_ratio(random_law(seed, range(3), 3), t, k, rounds)}


def printed_ratios(rounds: int, printed: Fraction) -> dict[str, Any]:
    """The exact e^ε of R_{k,T} at some T."""
    two = Fraction(2)
    return {
        "exact δ of R": local_delta(extremal_randomizer(), two),
        "ratio": extremal_ratio(two, Fraction(7, 16), rounds),
    }


def ratio_tends_to_the_fourth_power() -> None:
    """Index 1 is returned, given v_1 = v, with probability q_v·E[1/(1 + Bin(T-1, s))] + (1 - q_v)(1-s)^(T-1)/T, s the
    mean of b_t over a fresh draw; with T equally likely indices P(v) is r(v) times
    q_v·(1 - (1-s)^T)/s + (1 - q_v)(1-s)^(T-1). For x and its mirror image x' the mean s is the same, and between 0
    and 1. At the first message q_v is U = k·e^(2ε)/2 under x and A = k·e^(-2ε)/2 under x'. As T grows (1-s)^T tends
    to 0, so that the ratio tends to U/A = e^(4ε).

    For the reader: that the family is as described, and the two limits are taken in the order named.
    """
    u, a, s, eps, k = symbols("U A s epsilon k", positive=True)
    rounds = Symbol("T", positive=True)
    rest = Symbol("rest", positive=True)  # 1 - s = 1/(1 + rest)
    left = (1 / (1 + rest)) ** rounds
    limit(left, rounds, oo, 0, "(1-s)^T tends to 0, with 1 - s = 1/(1 + rest)")
    power = Symbol("power")  # (1-s)^T, so that (1-s)^(T-1) is power/(1-s)
    ratio = (u * (1 - power) / s + (1 - u) * power / (1 - s)) / (a * (1 - power) / s + (1 - a) * power / (1 - s))
    identity(ratio.subs(power, 0), u / a, "the ratio where (1-s)^T is 0")
    at = {u: k * symbolic_exp(2 * eps) / 2, a: k * symbolic_exp(-2 * eps) / 2}
    identity((u / a).subs(at), symbolic_exp(4 * eps), "U/A = e^(4ε)")


paper.claim(
    "C13e",
    "Claim D.2, how sharp",
    "No constant below 4 would do in place of 8: for R(c) = (q, q, 1-2q), R(x) = (q·e^(2ε), q·e^(-2ε), ·), "
    "R(x') the mirror image, the exact e^ε of R_{k,T} tends to e^(4ε) as T grows. With q = 1/40, k = 7/16 and "
    "e^ε = 2, an R that is (ln 2, 7/80)-DP, it is 4.23 at T = 4, 11.10 at T = 10 and 16.00 at T = 40: `exact "
    "δ of R = 7/80`, `printed - 0.01 < ratio <= printed`.",
    proof=ratio_tends_to_the_fourth_power,
    verdict="argued",
    extra=True,
    instances=listed("rounds printed", (4, "4.23"), (10, "11.1"), (40, "16")),
    check=printed_ratios,
)


paper.row(
    "C13",
    "Claim D.2",
    "R_{k,T} (Algorithm 7) is (8ε, 0)-DP for every (ε,δ)-DP randomizer R and k < 2e^{-2ε}.",
    parts=("C13a", "C13b", "C13c", "C13d", "C13e"),
)
