"""The checks of the claims of xiang2025 about the audit (X4 to X9), and the brute force that confirms what
they refute.

Checks take laws and guarantees from the engine; a function whose name ends in `_again` or that is used for
both does without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

from _xiang2025_games import (
    ONE,
    ZERO,
    Bits,
    Law,
    Table,
    all_bits,
    all_or_nothing,
    best_chance,
    binomial_at_most,
    changed,
    channels_chance,
    delta_of,
    extremal,
    independent_bits,
    independent_chance,
    joined,
    one_secret,
    private,
    product_table,
    sharp_bound,
)
from _xiang2025_mechanisms import one_secret as one_secret_program

from tightdp.claims import Fails, program, random_dp_law, random_law
from tightdp.session.instance import Instance

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
    return {x: dict(found.distribution(x).law) for x in all_bits(n)}


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


def compare_with_channels(chance: Fraction, channels: Fraction, u: int, mechanism: str) -> bool | Fails:
    """P(at most u errors) of a mechanism against that of independent channels."""
    why = (
        f"P(at most {u} errors) is {chance} for the mechanism ({WORDS[mechanism]}) and {channels} for "
        "independent channels."
    )
    return chance <= channels or Fails(why, mechanism_attains=chance, channels_attain=channels)


WORDS = {
    "independent": "every bit by itself",
    "all-or-nothing": "all bits are revealed together with probability δ, otherwise none",
    "one secret": "bit i and no other is revealed, with probability δ for each i",
}


def channels_are_best(n: int, r: int, u: int, delta: Fraction, mechanism: str) -> bool | Fails:
    """Theorem 1 with the best decoder, on the engine's laws."""
    chance = best_chance(engine_table(mechanism, n, delta), r, u)
    return compare_with_channels(chance, independent_chance(n, r, u, delta), u, mechanism)


def channels_are_best_again(n: int, r: int, u: int, delta: Fraction, mechanism: str) -> bool | Fails:
    """The same with laws by hand, and the channels by listing all truths and outputs."""
    chance = best_chance(listed_table(mechanism, n, delta), r, u)
    return compare_with_channels(chance, channels_chance(n, r, u, delta, ONE, "larger output"), u, mechanism)


def extremal_attains(n: int, r: int, u: int, t: Fraction, delta: Fraction) -> bool:
    """The symmetric extremal mechanism, as a table: it is (ε, δ)-DP, the bound is its chance, for its best
    decoder too; and the engine's optimum is the same number.
    """
    from tightdp.auditing import audit

    t = Fraction(t)
    table = private(extremal(n, r, u, delta, t), delta, t)
    bound = sharp_bound(n, r, u, delta, t)
    answer = audit(canaries=n, guesses=r, correct=r - u, delta=delta, exp_epsilon=t, method="optimal")
    return (
        best_chance(table, r, u) == bound
        and answer.p_value is not None
        and answer.p_value.lower <= bound <= answer.p_value.upper
    )


def random_stays_below(seed: int, n: int, t: Fraction, delta: Fraction) -> bool:
    """A random (ε, δ)-DP mechanism, for all r and u, with the best decoder."""
    table = private(random_dp_law(seed, n, 4, t, delta), delta, t)
    return all(
        best_chance(table, r, u) <= sharp_bound(n, r, u, delta, Fraction(t)) for r in range(1, n + 1) for u in range(r)
    )


def random_tradeoff_stays_below(seed: int, n: int) -> bool:
    """A random mechanism against the optimum of the linear program for its own exact trade-off function."""
    from tightdp.auditing import audit

    table = random_law(seed, all_bits(n), 4)
    pairs = curve_pairs(table)
    for r in range(1, n + 1):
        for u in range(r):
            answer = audit(canaries=n, guesses=r, correct=r - u, method="optimal", tradeoff=pairs)
            if answer.p_value is None or best_chance(table, r, u) > answer.p_value.upper:
                return False
    return True


def curve_pairs(table: Table) -> list[tuple[Fraction, Fraction]]:
    """(t, δ(t)) at 1, at all likelihood ratios above 1, and at a t beyond them: the whole curve."""
    ratios = {ONE}
    for x, law in table.items():
        for at in range(len(x)):
            other = table[changed(x, at)]
            ratios |= {p / other[y] for y, p in law.items() if other.get(y) and p > other[y]}
    return [(t, delta_of(table, t)) for t in sorted(ratios | {max(ratios) + 1})]


def pure_stays_below(seed: int, n: int, t: int) -> bool:
    """A random ε-DP mechanism against Bin(r, 1/(1+t)), the value of independent channels."""
    table = private(random_dp_law(seed, n, 4, t, 0), ZERO, Fraction(t))
    e = Fraction(1, 1 + t)
    return all(
        best_chance(table, r, u) <= binomial_at_most(r, e, u) == independent_chance(n, r, u, ZERO, Fraction(t))
        for r in range(1, n + 1)
        for u in range(r)
    )


def atoms(seed: int) -> list[tuple[Fraction, Fraction]]:
    """A random symmetric f with two or three scores: (probability, chance to be right)."""
    random = Random(seed)
    count = random.choice((2, 3))
    weights = [random.randint(1, 5) for _ in range(count)]
    chances = random.sample([Fraction(k, 10) for k in range(5, 11)], count)
    return [(Fraction(w, sum(weights)), c) for w, c in zip(weights, chances, strict=True)]


def shared_score_wins(seed: int) -> bool:
    """One score for both bits: the same δ(t) as a channel at every kink, and a larger chance of no error."""
    parts = atoms(seed)

    def law(x: Bits) -> Law:
        shares = ((c, joined([{b: c, 1 - b: 1 - c} for b in x])) for _, c in parts)
        return {(c, y): m * p for (m, _), (c, each) in zip(parts, shares, strict=True) for y, p in each.items()}

    channel, table = ({x: law(x) for x in all_bits(n)} for n in (1, 2))
    kinks = [t for t, _ in curve_pairs(channel)]
    equal = all(delta_of(table, t) == delta_of(channel, t) for t in kinks)
    mean = sum((m * c for m, c in parts), ZERO)
    return equal and best_chance(table, 2, 0) >= sum((m * c**2 for m, c in parts), ZERO) > mean**2


def products_stay_below(seed: int, n: int, t: int, delta: Fraction) -> bool:
    """Bits through random (ε, δ)-DP pairs, independently, for all r and u."""
    drawn = [random_dp_law(n * seed + i, 1, 4, t, delta) for i in range(n)]
    table = private(product_table([(law[0,], law[1,]) for law in drawn]), delta, Fraction(t))
    return all(
        best_chance(table, r, u) <= independent_chance(n, r, u, delta, Fraction(t))
        for r in range(1, n + 1)
        for u in range(r)
    )


def some_mechanism_is_above(n: int, t: int, delta: Fraction) -> bool:
    """In every cell the sharp bound, which is attained, exceeds the value of independent channels."""
    return all(
        independent_chance(n, r, u, delta, Fraction(t)) < sharp_bound(n, r, u, delta, Fraction(t))
        for r in range(1, n + 1)
        for u in range(r)
    )
