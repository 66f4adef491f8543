"""The checks of the claims of xiang2025 about the audit (X4 to X9), and the brute force that confirms what
they refute.

Checks take laws and guarantees from the engine; a function whose name ends in `_again` or that is used for
both does without it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb
from random import Random
from typing import Any

from _xiang2025_games import (
    HALF,
    ONE,
    RULES,
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
    four_outputs,
    guess_of,
    independent_bits,
    independent_chance,
    joined,
    one_secret,
    private,
    product_table,
    revealed_group,
    sharp_bound,
    sum_at_most,
)
from _xiang2025_mechanisms import one_secret as one_secret_program

from tightdp.claims import Fails, program, random_dp_law, random_law
from tightdp.instance import Instance

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


# X4


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
    from tightdp.query.audit import audit

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
    from tightdp.query.audit import audit

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


# X5, X6


def decisions(mechanism: str, n: int, y: Any) -> tuple[Bits, Bits]:
    """(guesses, scores) of the natural decoder of the tables by hand: revealed bits score 1, others 0."""
    if mechanism == "all-or-nothing":
        return (y[1], (1,) * n) if y[0] == "all" else ((0,) * n, (0,) * n)
    return tuple(guess_of(each, ONE) for each in y), tuple(int(each >= 2) for each in y)


def step_keeps_chance(n: int, r: int, u: int, delta: Fraction, mechanism: str) -> bool | Fails:
    """The guess of the first bit replaced by that of an erasure channel, by listing bits and outputs."""
    before = after = ZERO
    for x, law in listed_table(mechanism, n, delta).items():
        for y, p in law.items():
            guesses, scores = decisions(mechanism, n, y)
            released = sorted(range(n), key=lambda i, s=scores: (-s[i], i))[:r]  # type: ignore[misc]
            wrong = {i: int(guesses[i] != x[i]) for i in released}
            before += p / 2**n if sum(wrong.values()) <= u else ZERO
            for sent, chance in four_outputs(x[0], delta, ONE).items():
                if 0 in wrong:
                    wrong[0] = int(guess_of(sent, ONE) != x[0])
                after += p * chance / 2**n if sum(wrong.values()) <= u else ZERO
    why = f"Mechanism: {WORDS[mechanism]}. Before the replacement P(at most {u} errors) is {before}, after it {after}."
    return before <= after or Fails(why, before=before, after=after)


def pure_step_keeps_chance(seed: int, n: int, t: int) -> bool:
    """A random ε-DP mechanism with a random decoder: one guess replaced by a channel with error 1/(1+t)."""
    table = private(random_dp_law(seed, n, 4, t, 0), ZERO, Fraction(t))
    random, e = Random(seed), Fraction(1, 1 + t)
    guess = {y: random.choice(all_bits(n)) for y in range(4)}
    order = {y: random.sample(range(n), n) for y in range(4)}
    for r, u in released_and_allowed(n):
        before = after = ZERO
        for x, law in table.items():
            for y, p in law.items():
                wrong = {i: int(guess[y][i] != x[i]) for i in order[y][:r]}
                rest = sum(error for i, error in wrong.items() if i)
                before += p if sum(wrong.values()) <= u else ZERO
                after += p * sum_at_most([e] if 0 in wrong else [], u - rest)
        if before > after:
            return False
    return True


def sums_are_ordered(seed: int, n: int) -> bool:
    """Random v_i <= w_i: all u, by listing."""
    random = Random(seed)
    pairs = [sorted(Fraction(random.randint(0, 12), 12) for _ in "vw") for _ in range(n)]
    low, high = [v for v, _ in pairs], [w for _, w in pairs]
    return all(sum_at_most(high, u) <= sum_at_most(low, u) for u in range(n + 1))


def filtered_chance(n: int, r: int, u: int, delta: Fraction, coin: bool) -> Fraction:
    """Erasure channels whose guesses are released by the scores of all-or-nothing: when it reveals the bits,
    zeros first. An erased bit is guessed 0, as (13) says, or by a fair coin. All bits and erasures are
    listed.
    """
    chance = cache(lambda means: sum_at_most(means, u))
    total = ZERO
    for x, kept in product(all_bits(n), all_bits(n)):
        p = delta ** sum(kept) * (1 - delta) ** (n - sum(kept)) / 2**n
        errors = [ZERO if here else (HALF if coin else Fraction(bit)) for bit, here in zip(x, kept, strict=True)]
        by_zeros = sorted(range(n), key=lambda i, x=x: (x[i], i))[:r]  # type: ignore[misc]
        for share, released in ((delta, by_zeros), (1 - delta, list(range(r)))):
            total += p * share * chance(tuple(sorted(errors[i] for i in released)))
    return total


def own_scores_are_best(n: int, r: int, u: int, delta: Fraction) -> bool | Fails:
    """The last step of App. B.2: releasing by the scores of the channels instead."""
    after = independent_chance(n, r, u, delta)
    return compare_scores(filtered_chance(n, r, u, delta, coin=False), after, u, delta)


def own_scores_are_best_again(n: int, r: int, u: int, delta: Fraction) -> bool | Fails:
    """The same with the channels by listing all truths and outputs."""
    after = channels_chance(n, r, u, delta, ONE, "larger output")
    return compare_scores(filtered_chance(n, r, u, delta, coin=False), after, u, delta)


def compare_scores(before: Fraction, after: Fraction, u: int, delta: Fraction) -> bool | Fails:
    """The scores of all-or-nothing against those of the channels."""
    why = (
        "All guesses come from erasure channels, but all-or-nothing, whose scores are kept, reveals the "
        f"bits with probability {delta} and then has zeros released, which are guessed right even when "
        f"erased: P(at most {u} errors) = {before}. Released by the scores of the channels it is {after}."
    )
    return before <= after or Fails(why, kept_scores=before, own_scores=after)


def coins_make_it_right(n: int, r: int, u: int, delta: Fraction) -> bool:
    """With coins for erased bits the scores of M do not help."""
    before = filtered_chance(n, r, u, delta, coin=True)
    return before == binomial_at_most(r, (1 - delta) / 2, u) <= independent_chance(n, r, u, delta)


# X7, X8


def order_means(n: int, r: int, delta: Fraction, t: Fraction = ONE) -> list[Fraction]:
    """v_n, ..., v_{n-r+1} for (ε, δ): the k-th largest score is not infinite if fewer than k bits are
    revealed.
    """
    return [binomial_at_most(n, delta, k - 1) / (1 + t) for k in range(1, r + 1)]


def checked_means(n: int, r: int, delta: Fraction) -> list[Fraction]:
    """The same, which the engine's enclosures have to contain."""
    from tightdp.query.audit.order_statistics import error_means

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


# X9


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
