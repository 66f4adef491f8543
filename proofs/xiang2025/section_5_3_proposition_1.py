"""Section 5.3: the exponential bound, also as a test (Proposition 1)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import product
from math import comb
from random import Random
from typing import Any

from sympy import Symbol, diff, oo, symbols
from sympy import exp as symbolic_exp

from tightdp.claims import Correction, grid, identity, limit, seeds

from .audits import MECHANISMS, MINIMAL, cells, engine_table, natural_chance, sharp_bound
from .bounds import checked_means, integrated_means
from .games import ZERO, all_bits, best_chance, sum_at_most
from .lemmas import delta, flips_cost_at_most, x
from .paper import paper

u = Symbol("u", integer=True)


def exponential_moment() -> None:
    """For 0 < x = e^λ < 1 the indicator of s <= u is at most x^(s-u): that is at least 1 for s <= u and positive
    otherwise. Taking expectations, E[x^(ΣV)] is the product of the E[x^V] because the V are independent.

    For the reader: that an indicator below a function gives a probability below a mean.
    """
    v, lam = symbols("v lambda")
    identity((1 - v) * x**0 + v * x**1, 1 - v + v * x, "E[x^V] = 1 - v + v x for a Bernoulli(v) variable V")
    s = Symbol("s", integer=True, nonnegative=True)
    identity(x**s * x ** (-u), x ** (s - u), "x^s/x^u = x^(s-u), which is >= 1 for s <= u as 0 < x < 1")
    inside = 1 - v + v * symbolic_exp(lam)
    second = (diff(inside, lam, 2) * inside - diff(inside, lam) ** 2) / inside**2
    identity(
        second, v * (1 - v) * symbolic_exp(lam) / inside**2, "each ln(1-v+v e^λ) has the printed curvature (35), >= 0"
    )


def moment(means: Iterable[Fraction], u: int, x: Fraction) -> Fraction:
    """exp(-λu + Σ ln(1 - v + v e^λ)) for x = e^λ."""
    result = 1 / x**u
    for v in means:
        result *= 1 - v + v * x
    return result


def moment_bounds(n: int, r: int, u: int, delta: Fraction, mechanism: str, x: Fraction) -> dict[str, Fraction]:
    """Proposition 1 on the engine's laws."""
    chance = best_chance(engine_table(mechanism, n, delta), r, u)
    return {"e^λ": x, "P(at most u errors)": chance, "Π(1 - v_k + v_k·e^λ)": moment(checked_means(n, r, delta), 0, x)}


def moment_bounds_again(n: int, r: int, u: int, delta: Fraction, mechanism: str, x: Fraction) -> dict[str, Fraction]:
    """Proposition 1 by what is revealed, and by integrals."""
    factors = math.prod(1 - v + v * x for v in integrated_means(n, r, delta))
    chance = natural_chance(mechanism, n, r, u, delta)
    return {"e^λ": x, "P(at most u errors)": chance, "Π(1 - v_k + v_k·e^λ)": factors}


def moment_bounds_sum(seed: int, n: int, x: Fraction) -> Iterator[dict[str, Any]]:
    """Random means (0 for seed 0), all u, x = e^λ."""
    random = Random(seed)
    means = [Fraction(random.randint(0, 12) if seed else 0, 24) for _ in range(n)]
    for u in range(n + 1):
        yield {"u": u, "P(Σ V_k <= u)": sum_at_most(means, u), "Π(1 - v_k + v_k·e^λ)": moment(means, 0, x), "e^λ": x}


paper.claim(
    "X8a",
    "Prop. 1, (26)",
    "For every λ < 0, that is for `e^λ < 1`: `P(at most u errors) <= (e^λ)^-u·Π(1 - v_k + v_k·e^λ)`, the exponential "
    "of "
    "-λu + Σ ln(1 - v_k + v_k e^λ).",
    brief=(
        "It inherits that: 1 against 15/16 at e^λ = 1/2. The inequality bounds the independent sum, as its proof shows."
    ),
    verdict="corrected",
    instances=[
        {**each, "x": x}
        for n in (1, 2)
        for every in (False, True)
        for each in cells(n, MECHANISMS, every=every)
        if each["n"] == n
        for x in ("1/2", "1/10")
    ],
    check=moment_bounds,
    brute=moment_bounds_again,
    at={"n": 2, "r": 1, "u": 0, "delta": "1/2", "mechanism": "one secret", "x": "1/2"},
    minimal=f"{MINIMAL}; then the x = e^λ of smallest denominator",
    breaks="It inherits Theorem 3. Here P(no error) = 1, so that the bound fails for **every** λ < 0: it is "
    "1 - (1-e^λ)/8. All-or-nothing with n = r = 2, δ = 1/2 exceeds it too, for instance at e^λ = 1/6 (5/8 "
    "against 1419/2304).",
    corrected=Correction(
        "The right side bounds P(sum of independent Bernoulli(v_k) <= u): `P(Σ V_k <= u) <= (e^λ)^-u·Π(1 - v_k + "
        "v_k·e^λ)`. (With X7a: it is a valid bound for ε-DP mechanisms and f = f_{ε,0}.)",
        verdict="argued",
        instances=[{**each, **rest} for rest in grid(n=(1, 2, 4), x=("1/2", "1/10")) for each in seeds(5)],
        quick=15,
        check=moment_bounds_sum,
        proof=exponential_moment,
    ),
    stands="The exponential moment method itself and the convexity (35) of its exponent.",
)


def sharp_p_value_is_valid() -> None:
    """Let p(u) be the sharp bound of X4a. It does not fall in u, being the largest probability of a larger and larger
    event. So {p(U) <= level} is {U <= u*} for the largest u* with p(u*) <= level, or empty, and its probability is at
    most p(u*) <= level.

    For the reader: that the bound does not fall in u.
    """
    flips_cost_at_most()
    here, more = symbols("here more", nonnegative=True)
    identity((here + more) - here, more, "P(U <= u + 1) - P(U <= u) = P(U = u + 1) >= 0, for every mechanism")


def level_is_kept(n: int, delta: Fraction, x: Fraction, level: Fraction) -> dict[str, Any]:
    """All-or-nothing audited with r = n: how often the true guarantee (0, δ) is rejected, where no error rejects."""
    p_value = moment(checked_means(n, n, delta), 0, x)
    table = engine_table("all-or-nothing", n, delta)
    blind = sum((law.get(None, ZERO) for law in table.values()), ZERO) / 2**n
    return {"p-value without errors": p_value, "P(no error)": 1 - blind + blind / 2**n}


def level_is_kept_again(n: int, delta: Fraction, x: Fraction, level: Fraction) -> dict[str, Any]:
    """The same by hand: guesses 0 where nothing is revealed, all bits listed."""
    right = sum((delta + (1 - delta) * (not any(bits)) for bits in product((0, 1), repeat=n)), Fraction(0)) / 2**n
    return {
        "p-value without errors": math.prod(1 - v + v * x for v in integrated_means(n, n, delta)),
        "P(no error)": right,
    }


def sharp_test_keeps_its_level(n: int, r: int, u: int, t: Fraction, delta: Fraction) -> dict[str, Any]:
    """The extremal mechanism for u errors, tested at the level at which u errors are just enough to reject."""
    t, v = Fraction(t), r - u
    q, level = t / (1 + t), sharp_bound(n, r, u, delta, t)
    weight = [comb(r, i) * q**i * (1 - q) ** (r - i) for i in range(r + 1)]
    tail = sum(weight[v:], ZERO)
    share = min(Fraction(1), n * delta * tail / (v * weight[v]))
    law = [w * (1 - share) + (w * share / tail if i >= v else ZERO) for i, w in enumerate(weight)]
    bounds = [sharp_bound(n, r, r - i, delta, t) if i else Fraction(1) for i in range(r + 1)]
    return {
        "level": level,
        "P(the sharp bound at the observed errors <= level)": sum(
            (p for p, bound in zip(law, bounds, strict=True) if bound <= level), ZERO
        ),
    }


paper.claim(
    "X8b",
    "Prop. 1, as a test",
    "Rejecting a guarantee when the p-value (26) is at most a level, here 5 %, rejects a true one with probability "
    "at most "
    "that level: if `p-value without errors <= level` then `P(no error) <= level`.",
    verdict="corrected",
    extra=True,
    instances=grid(n=(5, 6), delta=("1/20",), x=("1/1000",), level=("1/20",)),
    check=level_is_kept,
    brute=level_is_kept_again,
    at={"n": 5, "delta": "1/20", "x": "1/1000", "level": "1/20"},
    minimal="smallest n for δ = 1/20 and r = n; below, the p-value is above the level",
    breaks="All-or-nothing with δ = 1/20 is (0, 1/20)-DP. It reveals five secrets at once with probability "
    "1/20, and blind guesses are right with probability 1/32 otherwise: 51/640, nearly 8 %, of the audits "
    "reject.",
    corrected=Correction(
        "Rejecting (ε,δ)-DP when the sharp bound of X4a is at most the significance level rejects a true "
        "guarantee with at most that probability: `P(the sharp bound at the observed errors <= level) <= level`.",
        check=sharp_test_keeps_its_level,
        quick=12,
        instances=[
            {"n": n, "r": r, "u": u, **rest}
            for n in (2, 3, 5)
            for r in range(1, n + 1)
            for u in range(r)
            for rest in grid(t=(1, 2), delta=("1/50", "1/10"))
        ],
        verdict="argued",
        proof=sharp_p_value_is_valid,
    ),
)


def false_alarms_stay() -> None:
    """All-or-nothing is (0, δ)-DP, and blind guesses of all n secrets are right with probability δ + (1-δ)2^-n > δ.
    The p-value at x = e^λ is Π(1 - v_k (1-x)), at most (1 - e(1-x))^n by the inequality of the means, where
    e = (1-δ)/2 is the mean of the v_k. That tends to 0 as n grows, for every fixed x < 1. So at every significance
    level a large enough n lets the method reject the true guarantee with probability above δ.

    For the reader: the inequality of the means, and the limit for fixed x.
    """
    size = Symbol("n", positive=True)
    base = Symbol("b", positive=True)
    e = (1 - delta) / 2
    identity(1 - e * (1 - x), (1 + delta) / 2 + (1 - delta) * x / 2, "the base is a mean of 1 and x")
    gap = symbols("gap", positive=True)
    identity(1 - (1 - e * (1 - x)).subs(x, 1 - gap), e * gap, "1 - base = e(1-x) > 0 for every δ < 1")
    limit((base / (1 + base)) ** size, size, oo, 0, "powers of a number below 1, b/(1+b), tend to 0")
    limit(delta + (1 - delta) * (Fraction(1, 2)) ** size, size, oo, delta, "the true probability tends to δ")


def p_value_and_truth(n: int, delta: Fraction, x: Fraction) -> dict[str, Any]:
    """The p-value of no errors from the integrated means, and the probability of no errors by listing all bits."""
    right = sum((delta + (1 - delta) * (sum(bits) == 0) for bits in all_bits(n)), ZERO) / 2**n
    return {"p-value": moment(integrated_means(n, n, delta), 0, x), "P(no error)": right}


paper.claim(
    "X8c",
    "Prop. 1, as a test, for large n",
    "For every δ in (0, 1) and every x = e^λ < 1: on all-or-nothing (r = n, blind guesses) the p-value of no "
    "errors tends to 0 as n grows, `p-value <= ((1 + x + δ(1 - x))/2)^n`, and its true probability stays "
    "above δ: `P(no error) = δ + (1 - δ)/2^n`, `P(no error) > δ`.",
    check=p_value_and_truth,
    quick=12,
    instances=grid(n=(1, 2, 3, 5, 8), delta=("1/10", "1/20"), x=("1/2", "1/1000")),
    verdict="argued",
    extra=True,
    proof=false_alarms_stay,
    notes="For the δ = 1/10 of Fig. 10 this is a false rejection in more than 10 % of the runs, at every "
    "significance level.",
)
