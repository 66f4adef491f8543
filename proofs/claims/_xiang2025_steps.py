"""The checks of X5 and X6 of xiang2025: replacing one guess, release by other scores."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from random import Random
from typing import Any

from _xiang2025_audit import WORDS, listed_table, released_and_allowed
from _xiang2025_games import (
    HALF,
    ONE,
    ZERO,
    Bits,
    all_bits,
    binomial_at_most,
    channels_chance,
    four_outputs,
    guess_of,
    independent_chance,
    private,
    sum_at_most,
)

from tightdp.claims import Fails, random_dp_law


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
