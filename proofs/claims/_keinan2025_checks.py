"""Checks for the claims of keinan2025 by the engine, compared with the listing of _keinan2025_games."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import comb, prod
from random import Random
from typing import Any

import _keinan2025_games as games
from _keinan2025_games import HALF, ONE, ZERO, Table

from tightdp.claims import Fails, program, random_dp_law, random_law

randomized_response = program("randomized_response")
name_and_shame = program("name_and_shame")
all_or_nothing = program("all_or_nothing")
xor = program("xor")
xor_randomized_response = program("xor_randomized_response")
xor_in_pairs = program("xor_in_pairs")
count = program("count")
count_in_sets = program("count_in_sets")
randomized_response_count = program("randomized_response_count")
geometric_count = program("geometric_count")
shuffled_randomized_response = program("shuffled_randomized_response")
k_ary_randomized_response = program("k_ary_randomized_response")
randomized_response_delta = program("randomized_response_delta")
exponential_mechanism = program("exponential_mechanism")

QUARTER = Fraction(1, 4)
THIRD = Fraction(1, 3)

ON_BITS: dict[str, tuple[Any, dict[str, Any]]] = {
    "randomized response": (randomized_response, {"lam": QUARTER}),
    "randomized response count": (randomized_response_count, {"lam": THIRD}),
    "XOR": (xor, {}),
    "noisy XOR": (xor_randomized_response, {"lam": QUARTER}),
    "count": (count, {}),
    "count in sets": (count_in_sets, {"s": 2}),
    "name and shame": (name_and_shame, {}),
    "all or nothing": (all_or_nothing, {"p": QUARTER}),
    "geometric count": (geometric_count, {"ratio": HALF}),
    "shuffled": (shuffled_randomized_response, {"lam": HALF}),
    "four outputs": (randomized_response_delta, {"delta": QUARTER, "exp_epsilon": Fraction(2)}),
}
"""Programs on bits, by name, with parameters."""

PURE = ("randomized response", "randomized response count", "noisy XOR", "geometric count", "shuffled")
"""Those that are ε-DP with a finite ε, for n >= 1 (shuffled: not at n = 1)."""

SYMMETRIC = (
    "randomized response count",
    "XOR",
    "noisy XOR",
    "name and shame",
    "geometric count",
    "shuffled",
)
"""Those that do not look at the order of the records."""


def pairs_of(vector: str, n: int) -> tuple[list[tuple[int, int]], int]:
    """A pair vector and the size of its domain: all pairs alike, all records apart, or overlapping."""
    if vector == "alike":
        return [(0, 1)] * n, 2
    if vector == "apart":
        return [(2 * i, 2 * i + 1) for i in range(n)], 2 * n
    return [(i % 3, (i + 1) % 3) for i in range(n)], 3


# K1-K5


def response_efficacy(n: int, lam: Fraction) -> bool:
    """Local randomized response: E_n is 1 - λ."""
    return randomized_response.bind(n=n, lam=lam).efficacy(n).rows[0].efficacy == 1 - lam


def shame_efficacy(n: int, vector: str) -> bool:
    """Name and shame: the formula for E_k, every k."""
    pairs, size = pairs_of(vector, n)
    rows = name_and_shame.bind(n=n, k=max(size, 2)).efficacy(pairs=pairs).rows
    held = [sum(o in pair for pair in pairs) for o in range(size)]
    return all(
        row.efficacy == HALF + sum(Fraction(m, 2 * n) / (2 * max(row.guesses, m)) for m in held if m) for row in rows
    )


def shame_special_values(n: int) -> bool:
    """Name and shame: 1/2 + 1/(2n) when all pairs are alike, 1/2 + 1/(2k) when they tell the records apart."""
    alike, apart = pairs_of("alike", n)[0], pairs_of("apart", n)[0]
    same = name_and_shame.bind(n=n, k=2).efficacy(pairs=alike).rows
    told = name_and_shame.bind(n=n, k=2 * n).efficacy(pairs=apart).rows
    return all(row.efficacy == HALF + Fraction(1, 2 * n) for row in same) and all(
        row.efficacy == HALF + Fraction(1, 2 * row.guesses) for row in told
    )


def nothing_efficacy(n: int, p: Fraction) -> bool:
    """All or nothing: E_k is 1/2 + p/2 for every k."""
    return all(row.efficacy == HALF + p / 2 for row in all_or_nothing.bind(n=n, p=p).efficacy().rows)


def parity_efficacy(n: int) -> bool:
    """XOR: every E_k is 1/2; for n = 2 every guesser is tried."""
    if any(row.efficacy != HALF for row in xor.bind(n=n).efficacy().rows):
        return False
    if n > 2:
        return True
    table = games.table_of(xor, games.bit_pairs(n))
    return all(
        games.share(games.result_law(table, guesser)) == HALF for guesser in games.every_guesser(table, (None, 0, 1))
    )


def printed_sign(n: int, lam: Fraction) -> bool | Fails:
    """The guesser sign(ℓ): 1 where -1 (record 0) is the likelier value."""
    bound = randomized_response.bind(n=n, lam=lam)
    one = randomized_response.bind(n=1, lam=lam)
    ratio = {o: one.probability((0,), (o,)) / one.probability((1,), (o,)) for o in (0, 1)}
    joint = bound.guessing(lambda o: tuple(1 if ratio[each] > 1 else 0 for each in o)).joint
    return _sign_verdict(joint.right / n, bound.efficacy(n).rows[0].efficacy)


def printed_sign_again(n: int, lam: Fraction) -> bool | Fails:
    """The same by listing."""
    table = games.table_of(randomized_response, games.bit_pairs(n), lam=lam)

    def guesser(o: Any) -> list[int]:
        ones = games.posteriors(table, o)[1]
        return [1 if 1 - one > one else 0 for one in ones]  # ℓ > 0 says that -1 is likelier

    return _sign_verdict(games.share(games.result_law(table, guesser)), games.efficacies(table)[-1])


def _sign_verdict(printed: Fraction, best: Fraction) -> bool | Fails:
    if printed == best:
        return True
    why = (
        f"An output that is likelier under S_i = -1 has ℓ_i > 0, and sign(ℓ_i) guesses 1. Its share of right "
        f"guesses is {printed}, that of the opposite guess {best}."
    )
    return Fails(why, printed_guesser=printed, best=best)


def likelier_sign(seed: int, n: int) -> bool:
    """-sign(ℓ), ties to 0, attains E_n for a random mechanism, and every guesser stays at or below; 1 - E_n
    is least.
    """
    table = random_law(seed, games.all_bits(n), outputs=2)
    best = games.efficacies(table)[-1]
    shares = [games.share(games.result_law(table, each)) for each in games.every_guesser(table, (0, 1))]
    return max(shares) == best and min(shares) == 1 - best


# K6-K9


def is_ordered(mechanism: str, n: int) -> bool:
    """E_n <= E_k <= AC <= p(ε_D) <= p(ε(M_Z)), and each equals its value by listing."""
    chosen, parameters = ON_BITS[mechanism]
    rows = chosen.bind(n=n, **parameters).efficacy().rows
    table = games.table_of(chosen, games.bit_pairs(n), **parameters)
    listed = games.efficacies(table), games.average_case(table), games.distributional(table)
    dp = games.ratio_as_posterior(table)
    return all(
        row.efficacy == listed[0][row.guesses - 1]
        and (row.ac, row.ddp, row.dp) == (listed[1], listed[2], dp)
        and listed[0][-1] <= row.efficacy <= row.ac <= row.ddp <= row.dp
        for row in rows
    )


def is_ordered_at_random(seed: int, n: int) -> bool:
    """The same chain, by listing, for a mechanism drawn at random; no guesser with k guesses exceeds E_k."""
    table = random_law(seed, games.all_bits(n), outputs=2)
    shares = games.efficacies(table)
    chain = [*reversed(shares), games.average_case(table), games.distributional(table)]
    chain.append(games.ratio_as_posterior(table))
    if any(low > high for low, high in pairwise(chain)):
        return False
    laws = [games.result_law(table, each) for each in games.every_guesser(table, (None, 0, 1))]
    return all(
        max(games.share(law) for law in laws if all(made >= k for made, _ in law)) == shares[k - 1]
        for k in range(1, n + 1)
    )


def printed_threshold(n: int, k: int) -> bool | Fails:
    """Name and shame on records that tell the pairs apart: guess all |ℓ_i| >= τ, the k-th largest."""
    bound = name_and_shame.bind(n=n, k=2 * n)
    pairs = pairs_of("apart", n)[0]
    best = bound.efficacy(k, pairs=pairs).rows[0].efficacy

    def guesser(o: int) -> list[int | None]:
        losses = [2 if o in pair else 1 for pair in pairs]  # infinite, or 0
        least = sorted(losses, reverse=True)[k - 1]
        return [int(o == pair[1]) if loss >= least else None for pair, loss in zip(pairs, losses, strict=True)]

    share = bound.guessing(guesser, pairs=pairs).joint.share
    return _threshold_verdict(share if share is not None else ZERO, best, k)


def printed_threshold_again(n: int, k: int) -> bool | Fails:
    """The same by listing."""
    table = games.table_of(name_and_shame, pairs_of("apart", n)[0], k=2 * n)

    def guesser(o: Any) -> list[int | None]:
        ones = games.posteriors(table, o)[1]
        least = sorted((max(one, 1 - one) for one in ones), reverse=True)[k - 1]
        return [int(one > HALF) if max(one, 1 - one) >= least else None for one in ones]

    return _threshold_verdict(games.share(games.result_law(table, guesser)), games.efficacies(table)[k - 1], k)


def _threshold_verdict(printed: Fraction, best: Fraction, k: int) -> bool | Fails:
    if printed == best:
        return True
    why = f"Ties at τ make it guess more than {k} bits: its share of right guesses is {printed}, E_{k} = {best}."
    return Fails(why, printed_guesser=printed, best=best)


def efficacy_is_distance(mechanism: str, n: int) -> bool:
    """E_n from the engine is 1/2 plus half the mean distance, by listing."""
    chosen, parameters = ON_BITS[mechanism]
    table = games.table_of(chosen, games.bit_pairs(n), **parameters)
    efficacy = chosen.bind(n=n, **parameters).efficacy(n).rows[0].efficacy
    return bool(efficacy == HALF + games.mean_distance(table) / 2)


def share_and_distance(seed: int, outputs: int) -> bool:
    """Both identities of Lemma C.3 for two random laws, outputs of probability 0 included."""
    laws = random_law(seed, (0, 1), outputs, denominator=12)
    one, other = laws[0], laws[1]
    mean = ZERO
    for o in range(outputs):
        low, high = sorted((one[o], other[o]))
        if not high:
            continue
        share = ONE if not low else (high / low) / (1 + high / low)  # p(|ℓ|)
        if share != high / (high + low):
            return False
        mean += (one[o] + other[o]) * share
    return mean == 1 + sum((abs(one[o] - other[o]) for o in range(outputs)), ZERO) / 2


# K24, K25


def equality_is_response(mechanism: str, n: int) -> bool:
    """E_n = p(ε(M)) exactly if the most likely bits, ties by fair coins, are local randomized response."""
    chosen, parameters = ON_BITS[mechanism]
    table = games.table_of(chosen, games.bit_pairs(n), **parameters)
    top = games.ratio_as_posterior(table)
    return (games.efficacies(table)[-1] == top) == _is_response(table, top)


def equality_at_random(seed: int, n: int, exp_epsilon: Fraction) -> bool:
    """The same for a random ε-DP mechanism."""
    table = random_dp_law(seed, n, outputs=2 if n > 1 else 3, exp_epsilon=exp_epsilon)
    top = games.ratio_as_posterior(table)
    return (games.efficacies(table)[-1] == top) == _is_response(table, top)


def _is_response(table: Table, keep: Fraction) -> bool:
    """Whether the likelier bits have the law of randomized response that keeps a bit with this probability."""
    likely: dict[Any, list[Fraction]] = {}
    for o in games.outputs(table):
        ones = games.posteriors(table, o)[1]
        likely[o] = [ONE if one > HALF else HALF if one == HALF else ZERO for one in ones]
    for s, law in table.items():
        for guess in games.all_bits(len(s)):
            mass = ZERO
            for o, p in law.items():
                if p:
                    mass += p * prod(one if bit else 1 - one for bit, one in zip(guess, likely[o], strict=True))
            wrong = sum(bit != other for bit, other in zip(s, guess, strict=True))
            if mass != keep ** (len(s) - wrong) * (1 - keep) ** wrong:
                return False
    return True


def symmetric_stays_below(n: int) -> bool:
    """Every deterministic symmetric mechanism on n bits (every partition of the counts) stays below Count."""
    top = games.efficacies(_by_count(n, {c: {c: ONE} for c in range(n + 1)}))
    return all(
        _below(games.efficacies(_by_count(n, {c: {o: ONE} for c, o in enumerate(named)})), top)
        for named in _partitions(n + 1)
    )


def random_symmetric_stays_below(seed: int, n: int) -> bool:
    """A symmetric mechanism drawn at random stays below Count, with pairs in random orders too."""
    top = count.bind(n=n).efficacy().rows
    kernel = random_law(seed, range(n + 1), outputs=3)
    table = _by_count(n, kernel)
    flips = [Random(seed).randint(0, 1) for _ in range(n)]
    turned = {tuple(bit ^ flip for bit, flip in zip(s, flips, strict=True)): law for s, law in table.items()}
    limits = [row.efficacy for row in top]
    return _below(games.efficacies(table), limits) and _below(games.efficacies(turned), limits)


def symmetric_program_stays_below(mechanism: str, n: int) -> bool:
    """A symmetric program of this repository stays below Count."""
    chosen, parameters = ON_BITS[mechanism]
    found = [row.efficacy for row in chosen.bind(n=n, **parameters).efficacy().rows]
    return _below(found, [row.efficacy for row in count.bind(n=n).efficacy().rows])


def _by_count(n: int, kernel: dict[int, dict[int, Fraction]]) -> Table:
    return {s: kernel[sum(s)] for s in games.all_bits(n)}


def _below(found: list[Fraction], limits: list[Fraction]) -> bool:
    return all(one <= limit for one, limit in zip(found, limits, strict=True))


def _partitions(size: int) -> list[tuple[int, ...]]:
    """Every partition of `size` things: the class of each, classes numbered as they appear."""
    found: list[tuple[int, ...]] = [()]
    for _ in range(size):
        found = [(*each, new) for each in found for new in range(max(each, default=-1) + 2)]
    return found


# K11, K12


def count_efficacies(n: int) -> bool:
    """Every E_k of Count is 1/2 + E|O - n/2|/n = 1/2 + C(n-1,⌊n/2⌋)/2^n, and within 1/2 + 1/(2·sqrt(n))."""
    mean = sum((abs(o - Fraction(n, 2)) * comb(n, o) for o in range(n + 1)), ZERO) / 2**n
    value = HALF + mean / n
    closed = HALF + Fraction(comb(n - 1, n // 2), 2**n)
    rows = count.bind(n=n).efficacy().rows
    return all(row.efficacy == value for row in rows) and value == closed and (value - HALF) ** 2 * 4 * n <= 1


def count_losses(n: int, t: Fraction) -> bool:
    """P(|ℓ| >= a), from the engine's guesser with that threshold, is P(|O - n/2| >= n(t-1)/(2(t+1))), t =
    e^a.
    """
    least = max(t, 1 / t) / (1 + max(t, 1 / t)) if t > 1 else HALF
    joint = count.bind(n=n).guessing(least).joint
    found = sum((p for r, _, p in joint.entries if r), ZERO)
    bound = n * (t - 1) / (2 * (t + 1))
    far = sum(comb(n, o) for o in range(n + 1) if abs(o - Fraction(n, 2)) >= bound)
    return found == Fraction(far, 2**n)
