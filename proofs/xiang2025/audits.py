"""What several sections check: mechanisms by name, cells of (n, r, u, δ), comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import comb
from random import Random
from typing import Any

from tightdp.claims import brute, program, random_dp_law
from tightdp.session.instance import Instance

from .games import (
    ONE,
    ZERO,
    Table,
    all_or_nothing,
    best_chance,
    binomial_at_most,
    changed,
    delta_of,
    independent_bits,
    independent_chance,
    one_secret,
    private,
)
from .mechanisms import one_secret as one_secret_program

MINIMAL = (
    "smallest n, then r, u, the δ of smallest denominator; mechanisms, all with ε = 0: independent, "
    "all-or-nothing, one secret"
)


MECHANISMS = ("independent", "all-or-nothing", "one secret")


four_output_program = program("randomized_response_delta")


all_or_nothing_program = program("all_or_nothing")


def bound_program(mechanism: str, n: int, delta: Fraction) -> Instance:
    """The (0, δ)-DP mechanism of a name, for the engine."""
    if mechanism == "independent":
        return four_output_program.bind(n=n, delta=delta, exp_epsilon=1)
    if mechanism == "all-or-nothing":
        return all_or_nothing_program.bind(n=n, p=delta)
    return one_secret_program.bind(n=n, delta=delta)


def engine_table(mechanism: str, n: int, delta: Fraction) -> Table:
    """Its laws, by the engine, which also confirms that it is (0, δ)-DP."""
    found = bound_program(mechanism, n, delta)
    if found.delta(exp_epsilon=1).delta > delta:
        raise ValueError(f"{mechanism} is not (0, {delta})-DP")
    return {x: dict(found.distribution(x).law) for x in product((0, 1), repeat=n)}


def listed_table(mechanism: str, n: int, delta: Fraction) -> Table:
    """The same by hand."""
    if mechanism == "one secret":
        return private(one_secret(n, delta), delta)
    return private((independent_bits if mechanism == "independent" else all_or_nothing)(n, delta), delta)


def cells(most: int, mechanisms: Sequence[str], *, every: bool) -> Iterator[dict[str, Any]]:
    """(n, r, u, δ, mechanism), small to large, with r = n (`every` guess is released) or r < n."""
    for n in range(1, most + 1):
        for r in (n,) if every else range(1, n):
            for u, delta, mechanism in product(range(r), ("1/2", "1/3", "1/10"), mechanisms):
                if mechanism != "one secret" or n * Fraction(delta) <= 1:
                    yield {"n": n, "r": r, "u": u, "delta": delta, "mechanism": mechanism}


def released_and_allowed(n: int) -> list[tuple[int, int]]:
    """All (r, u) with u < r <= n."""
    return [(r, u) for r in range(1, n + 1) for u in range(r)]


def natural_chance(mechanism: str, n: int, r: int, u: int, delta: Fraction) -> Fraction:
    """P(at most u errors) by what is revealed, which is released first; other guesses are blind (ε = 0)."""
    if mechanism == "independent":
        shares = [brute.tail(n, delta, k) - brute.tail(n, delta, k + 1) for k in range(n + 1)]
    else:
        least, share = (n, delta) if mechanism == "all-or-nothing" else (1, n * delta)
        shares = [1 - share, *[Fraction(0)] * (n if least == n else 1)]
        shares[least] += share
    return sum((p * (1 - brute.tail(max(r - k, 0), Fraction(1, 2), u + 1)) for k, p in enumerate(shares)), Fraction(0))


def curve_pairs(table: Table) -> list[tuple[Fraction, Fraction]]:
    """(t, δ(t)) at 1, at all likelihood ratios above 1, and at a t beyond them: the whole curve."""
    ratios = {ONE}
    for x, law in table.items():
        for at in range(len(x)):
            other = table[changed(x, at)]
            ratios |= {p / other[y] for y, p in law.items() if other.get(y) and p > other[y]}
    return [(t, delta_of(table, t)) for t in sorted(ratios | {max(ratios) + 1})]


def pure_stays_below(seed: int, n: int, t: int) -> Iterator[dict[str, Any]]:
    """A random ε-DP mechanism with its best decoder; seed 0 is randomized response."""
    if seed:
        table = private(random_dp_law(seed, n, 4, t, 0), ZERO, Fraction(t))
    else:
        table = private(independent_bits(n, ZERO, Fraction(t)), ZERO, Fraction(t))
    e = Fraction(1, 1 + t)
    for r, u in released_and_allowed(n):
        yield {
            "e": e,
            "P(at most u errors)": best_chance(table, r, u),
            "P(Bin(r, e) <= u)": binomial_at_most(r, e, u),
            "independent channels": independent_chance(n, r, u, ZERO, Fraction(t)),
        }


DELTAS = ("1/2", "1/4", "1/10")


def sharp_bound(n: int, r: int, u: int, delta: Fraction, t: Fraction) -> Fraction:
    """The largest P(at most u errors among r released) over all (ε, δ)-DP mechanisms and decoders, u < r."""
    v, q = r - u, Fraction(t) / (1 + t)
    tail = 1 - binomial_at_most(r, q, v - 1)
    here = comb(r, v) * q**v * (1 - q) ** u
    return min(ONE, tail + n * delta * tail * (1 - tail) / (v * here))


def atoms(seed: int) -> list[tuple[Fraction, Fraction]]:
    """A random symmetric f with two or three scores: (probability, chance to be right)."""
    random = Random(seed)
    count = random.choice((2, 3))
    weights = [random.randint(1, 5) for _ in range(count)]
    chances = random.sample([Fraction(k, 10) for k in range(5, 11)], count)
    return [(Fraction(w, sum(weights)), c) for w, c in zip(weights, chances, strict=True)]
