"""The checks of X7-X9 of xiang2025: the bounds from order statistics, as probabilities and as tests; ties."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from math import comb
from random import Random

from _xiang2025_audit import WORDS, compare_with_channels, engine_table, listed_table, pure_stays_below
from _xiang2025_games import (
    ONE,
    RULES,
    ZERO,
    all_bits,
    best_chance,
    binomial_at_most,
    channels_chance,
    delta_of,
    independent_chance,
    private,
    revealed_group,
    sum_at_most,
)

from tightdp.claims import Fails


def order_means(n: int, r: int, delta: Fraction, t: Fraction = ONE) -> list[Fraction]:
    """v_n, ..., v_{n-r+1} for (ε, δ): the k-th largest score is not infinite if fewer than k bits are
    revealed.
    """
    return [binomial_at_most(n, delta, k - 1) / (1 + t) for k in range(1, r + 1)]


def checked_means(n: int, r: int, delta: Fraction) -> list[Fraction]:
    """The same, which the engine's enclosures have to contain."""
    from tightdp.auditing.order_statistics import error_means

    means = order_means(n, r, delta)
    if not all(e.lower <= v <= e.upper for v, e in zip(means, error_means(n, r, ((ONE, delta),)), strict=True)):
        raise ValueError("the engine has other means")
    return means


def integrated_means(n: int, r: int, delta: Fraction, t: Fraction = ONE) -> list[Fraction]:
    """Formula (25) integrated as it stands: F_Y runs from 0 to 1-δ over the scores ln t, where the error is
    1/(1+t), and from there over the infinite ones (with the atom at y = 1), where it is 0.
    """
    found = []
    for k in range(n, n - r, -1):
        scale = Fraction(math.factorial(n), math.factorial(n - k) * math.factorial(k - 1))
        area = sum((comb(n - k, j) * (-1) ** j * (1 - delta) ** (k + j) / (k + j) for j in range(n - k + 1)), ZERO)
        found.append(scale * area / (1 + t))
    return found


def compare_with_sum(chance: Fraction, bound: Fraction, u: int, mechanism: str) -> bool | Fails:
    """P(at most u errors) against the right side of (24) or (26)."""
    why = f"Mechanism: {WORDS[mechanism]}. P(at most {u} errors) is {chance}, the bound is {bound}."
    return chance <= bound or Fails(why, mechanism_attains=chance, bound=bound)


def sum_bounds(n: int, r: int, u: int, delta: Fraction, mechanism: str) -> bool | Fails:
    """Theorem 3 on the engine's laws and means."""
    chance = best_chance(engine_table(mechanism, n, delta), r, u)
    return compare_with_sum(chance, sum_at_most(checked_means(n, r, delta), u), u, mechanism)


def sum_bounds_again(n: int, r: int, u: int, delta: Fraction, mechanism: str) -> bool | Fails:
    """Theorem 3 by hand: laws, best decoder and integrals."""
    chance = best_chance(listed_table(mechanism, n, delta), r, u)
    return compare_with_sum(chance, sum_at_most(integrated_means(n, r, delta), u), u, mechanism)


def sum_bounds_channels(n: int, r: int, u: int, delta: Fraction) -> bool | Fails:
    """Only the passage from (19) to (24): independent channels."""
    chance = independent_chance(n, r, u, delta)
    return compare_with_sum(chance, sum_at_most(checked_means(n, r, delta), u), u, "independent")


def sum_bounds_channels_again(n: int, r: int, u: int, delta: Fraction) -> bool | Fails:
    """The same by listing and integrating."""
    chance = channels_chance(n, r, u, delta, ONE, "larger output")
    return compare_with_sum(chance, sum_at_most(integrated_means(n, r, delta), u), u, "independent")


def pure_sum_bounds(seed: int, n: int, t: int) -> bool:
    """δ = 0: all means are 1/(1+t), and the sum bounds a random ε-DP mechanism."""
    means = integrated_means(n, n, ZERO, Fraction(t))
    return means == [Fraction(1, 1 + t)] * n == order_means(n, n, ZERO, Fraction(t)) and pure_stays_below(seed, n, t)


def moment(means: Iterable[Fraction], u: int, x: Fraction) -> Fraction:
    """exp(-λu + Σ ln(1 - v + v e^λ)) for x = e^λ."""
    result = 1 / x**u
    for v in means:
        result *= 1 - v + v * x
    return result


def moment_bounds(n: int, r: int, u: int, delta: Fraction, mechanism: str, x: Fraction) -> bool | Fails:
    """Proposition 1 on the engine's laws."""
    chance = best_chance(engine_table(mechanism, n, delta), r, u)
    return compare_with_sum(chance, moment(checked_means(n, r, delta), u, x), u, mechanism)


def moment_bounds_again(n: int, r: int, u: int, delta: Fraction, mechanism: str, x: Fraction) -> bool | Fails:
    """Proposition 1 by hand."""
    chance = best_chance(listed_table(mechanism, n, delta), r, u)
    return compare_with_sum(chance, moment(integrated_means(n, r, delta), u, x), u, mechanism)


def moment_bounds_sum(seed: int, n: int, x: Fraction) -> bool:
    """The second half: random means, all u."""
    random = Random(seed)
    means = [Fraction(random.randint(0, 12), 24) for _ in range(n)]
    return all(sum_at_most(means, u) <= moment(means, u, x) for u in range(n + 1))


def level_is_kept(n: int, delta: Fraction, x: Fraction, level: Fraction) -> bool | Fails:
    """All-or-nothing audited with r = n: is the true guarantee (0, δ) rejected with probability at most
    `level`?
    """
    p_value = moment(checked_means(n, n, delta), 0, x)
    table = engine_table("all-or-nothing", n, delta)
    blind = sum((law.get(None, ZERO) for law in table.values()), ZERO) / 2**n
    return rejected(p_value, 1 - blind + blind / 2**n, level)


def level_is_kept_again(n: int, delta: Fraction, x: Fraction, level: Fraction) -> bool | Fails:
    """The same by hand: guesses 0 where nothing is revealed, all bits listed."""
    p_value = moment(integrated_means(n, n, delta), 0, x)
    right = sum((delta + (1 - delta) * (sum(bits) == 0) for bits in all_bits(n)), ZERO) / 2**n
    return rejected(p_value, right, level)


def rejected(p_value: Fraction, chance: Fraction, level: Fraction) -> bool | Fails:
    """Whether a p-value at or below the level comes up too often."""
    why = (
        "Without errors the method reports a p-value of at most "
        f"{Fraction(math.ceil(p_value * 10**4), 10**4)} < {level}, and rejects; that happens with "
        f"probability {chance}."
    )
    return p_value > level or chance <= level or Fails(why, p_value=p_value, probability=chance)


def channels_by_revelations(n: int, r: int, u: int, t: int, delta: Fraction) -> bool:
    """The exact value of independent channels, by listing all truths and outputs."""
    found = channels_chance(n, r, u, delta, Fraction(t), "larger output")
    return found == independent_chance(n, r, u, delta, Fraction(t))


def group_is_revealed(n: int, r: int, delta: Fraction) -> bool:
    """Revealing r uniformly chosen bits with probability nδ/r is (0, δ)-DP; for every u exactly u errors can
    be made, and no errors, with at least that probability.
    """
    table = private(revealed_group(n, r, delta), delta)
    return delta_of(table, ONE) == delta and best_chance(table, r, 0) > n * delta / r


def rule_is_valid(n: int, r: int, u: int, delta: Fraction, mechanism: str, rule: str) -> bool | Fails:
    """(19) with a tie-breaking rule, on the engine's laws."""
    chance = best_chance(engine_table(mechanism, n, delta), r, u)
    return compare_with_channels(chance, channels_chance(n, r, u, delta, ONE, rule), u, mechanism)


def rule_is_valid_again(n: int, r: int, u: int, delta: Fraction, mechanism: str, rule: str) -> bool | Fails:
    """The same on laws by hand."""
    chance = best_chance(listed_table(mechanism, n, delta), r, u)
    return compare_with_channels(chance, channels_chance(n, r, u, delta, ONE, rule), u, mechanism)


def rules_agree(n: int, r: int, u: int, t: int, delta: Fraction) -> bool:
    """All rules that look at outputs and indices give the same value."""
    values = {channels_chance(n, r, u, delta, Fraction(t), rule) for rule in RULES}
    return values == {independent_chance(n, r, u, delta, Fraction(t))}


def telltale_rule_is_valid(n: int, r: int, u: int, t: int) -> bool | Fails:
    """Pure DP, a rule that looks at the errors and releases wrong guesses first; M is the channels."""
    chance = independent_chance(n, r, u, ZERO, Fraction(t))
    claimed = channels_chance(n, r, u, ZERO, Fraction(t), "wrong first")
    why = (
        f"Randomized response with e^ε = {t} has P(at most {u} errors) = {chance}; releasing wrong guesses "
        f"first among equal scores makes the right side {claimed}."
    )
    return chance <= claimed or Fails(why, mechanism_attains=chance, right_side=claimed)
