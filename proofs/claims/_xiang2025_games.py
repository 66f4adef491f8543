"""Exact finite games for the claims of xiang2025: channels, mechanisms, release by score, the best decoder.

Everything here is Fractions and listing; nothing is taken from the engine, so that brute force may use it.
The secrets are n uniform bits; a mechanism is a table of its laws on all datasets of n bits. t is e^ε.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb
from typing import Any

Bits = tuple[int, ...]
Law = dict[Any, Fraction]
Table = dict[Bits, Law]
Vertices = list[tuple[Fraction, Fraction]]

ZERO, ONE, HALF = Fraction(0), Fraction(1), Fraction(1, 2)


def all_bits(n: int) -> list[Bits]:
    """All tuples of n bits."""
    return list(product((0, 1), repeat=n))


def changed(x: Bits, at: int) -> Bits:
    """The dataset x with bit `at` flipped."""
    return (*x[:at], 1 - x[at], *x[at + 1 :])


def merged(parts: Iterable[tuple[Hashable, Fraction]]) -> Law:
    """The law with these (outcome, probability) parts, equal outcomes added up."""
    law: Law = {}
    for outcome, p in parts:
        if p:
            law[outcome] = law.get(outcome, ZERO) + p
    return law


# Mechanisms


def four_outputs(bit: int, delta: Fraction, t: Fraction) -> Law:
    """One bit through the mechanism of Sec. 6.2: sent right, sent wrong, or revealed (2 + bit)."""
    t, delta = Fraction(t), Fraction(delta)
    return merged([(bit, (1 - delta) * t / (1 + t)), (1 - bit, (1 - delta) / (1 + t)), (2 + bit, delta)])


def independent_bits(n: int, delta: Fraction, t: Fraction = ONE) -> Table:
    """Every bit by itself through the four-output mechanism."""
    return {x: joined([four_outputs(bit, delta, t) for bit in x]) for x in all_bits(n)}


def joined(laws: Sequence[Law]) -> Law:
    """The law of independent outputs, as a tuple."""
    law: Law = {(): ONE}
    for each in laws:
        law = {(*done, y): p * q for done, p in law.items() for y, q in each.items()}
    return law


def all_or_nothing(n: int, delta: Fraction, t: Fraction = ONE) -> Table:
    """All bits are revealed together with probability δ, otherwise each goes through randomized response."""
    hidden = {x: joined([four_outputs(bit, ZERO, t) for bit in x]) for x in all_bits(n)}
    return {
        x: merged([(("all", x), delta), *((("none", y), (1 - delta) * p) for y, p in hidden[x].items())])
        for x in all_bits(n)
    }


def one_secret(n: int, delta: Fraction) -> Table:
    """Each bit is revealed, with its index, with probability δ, and never two together; δ <= 1/n."""
    return {x: merged([*(((at, bit), delta) for at, bit in enumerate(x)), (None, 1 - n * delta)]) for x in all_bits(n)}


def revealed_group(n: int, r: int, delta: Fraction) -> Table:
    """With probability nδ/r a uniformly chosen set of r bits is revealed, otherwise nothing; δ <= r/n."""
    groups = list(combinations(range(n), r))
    share = n * delta / r / len(groups)
    return {
        x: merged([*(((group, tuple(x[i] for i in group)), share) for group in groups), (None, 1 - n * delta / r)])
        for x in all_bits(n)
    }


def product_table(pairs: Sequence[tuple[Law, Law]]) -> Table:
    """Bit i through the i-th pair of laws, independently."""
    return {x: joined([pair[bit] for pair, bit in zip(pairs, x, strict=True)]) for x in all_bits(len(pairs))}


def delta_of(table: Table, t: Fraction) -> Fraction:
    """The exact δ of a mechanism at t, over all pairs of datasets that differ in one bit."""
    return max(excess(table[x], table[changed(x, at)], t) for x in table for at in range(len(x)))


def excess(p: Law, q: Law, t: Fraction) -> Fraction:
    """Σ_y max(0, p(y) - t q(y))."""
    return sum((max(ZERO, mass - t * q.get(y, ZERO)) for y, mass in p.items()), ZERO)


def private(table: Table, delta: Fraction, t: Fraction = ONE) -> Table:
    """The table, once its guarantee is checked on all neighbours."""
    if delta_of(table, t) > delta:
        raise ValueError(f"the table is not (ln {t}, {delta})-DP")
    return table


# Trade-off functions


def tradeoff(p: Law, q: Law) -> Vertices:
    """The vertices of T_{P,Q}, by the likelihood-ratio tests in order (randomized tests fill the sides)."""
    ratios = sorted(p.keys() | q.keys(), key=lambda y: _slope(p.get(y, ZERO), q.get(y, ZERO)))
    alpha, beta = ZERO, ONE
    found = [(alpha, beta)]
    for y in ratios:
        alpha, beta = alpha + p.get(y, ZERO), beta - q.get(y, ZERO)
        found.append((alpha, beta))
    return found


def _slope(p: Fraction, q: Fraction) -> tuple[bool, Fraction]:
    return (not q, p / q if q else ZERO)


def value_at(vertices: Vertices, x: Fraction) -> Fraction:
    """A trade-off function at x, by linear interpolation; the least value where it jumps (at x = 0)."""
    left = max((v for v in vertices if v[0] <= x), key=lambda v: (v[0], -v[1]))
    right = min((v for v in vertices if v[0] >= x), key=lambda v: (v[0], v[1]))
    if right[0] == left[0]:
        return min(left[1], right[1])
    return left[1] + (right[1] - left[1]) * (x - left[0]) / (right[0] - left[0])


def of_pair(t: Fraction, delta: Fraction) -> Callable[[Fraction], Fraction]:
    """The function f of (ε, δ), as printed in Sec. 2.1."""
    t, delta = Fraction(t), Fraction(delta)
    return lambda y: max(ZERO, 1 - delta - t * y, (1 - delta - y) / t)


# Guessing


def best_chance(table: Table, r: int, u: int) -> Fraction:
    """The largest P(at most u errors) when the decoder picks, for every output, r guesses and their values.

    Every such choice is a decoder with scores: the picked ones get score 1, the others 0.
    """
    n = len(next(iter(table)))
    posterior: dict[Any, list[tuple[Bits, Fraction]]] = {}
    for x, law in table.items():
        for y, p in law.items():
            posterior.setdefault(y, []).append((x, p / 2**n))
    total = ZERO
    for weights in posterior.values():
        total += max(
            sum(
                (p for x, p in weights if sum(x[i] != g for i, g in zip(chosen, guess, strict=True)) <= u),
                ZERO,
            )
            for chosen in combinations(range(n), r)
            for guess in all_bits(r)
        )
    return total


def independent_chance(n: int, r: int, u: int, delta: Fraction, t: Fraction = ONE) -> Fraction:
    """P(at most u errors) of n independent (ε, δ) channels with the optimal decoder and score: k of them
    reveal their bit, and are released first; the other released guesses are wrong with probability 1/(1 + t).
    """
    e = 1 / (1 + Fraction(t))
    total = ZERO
    for k in range(n + 1):
        here = comb(n, k) * delta**k * (1 - delta) ** (n - k)
        total += here * binomial_at_most(max(r - k, 0), e, u)
    return total


def binomial_at_most(n: int, p: Fraction, u: int) -> Fraction:
    """P(Bin(n, p) <= u)."""
    return sum((comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(min(u, n) + 1)), ZERO)


def sum_at_most(means: Sequence[Fraction], u: int) -> Fraction:
    """P(Σ V <= u) for independent Bernoulli V with these means, by listing."""
    total = ZERO
    for values in all_bits(len(means)):
        if sum(values) <= u:
            p = ONE
            for mean, value in zip(means, values, strict=True):
                p *= mean if value else 1 - mean
            total += p
    return total


Released = Callable[[Sequence[tuple[int, int]]], Any]
"""The tie-breaking key of a list of channels (truth, output): a function to (index -> priority)."""

RULES = ("larger output", "smaller output", "lower index", "higher index")
_PLACE = {2: 0, 0: 1, 1: 2, 3: 3}
"""The order of the four outputs on [0, 1] in Definition 9: P only, P/Q = t, P/Q = 1/t, Q only (y = 1)."""


def channels_chance(n: int, r: int, u: int, delta: Fraction, t: Fraction, rule: str) -> Fraction:
    """P(at most u errors) of n independent channels by listing truths and outputs; ties as `rule` says."""
    total = ZERO
    single = [(bit, y, p / 2) for bit in (0, 1) for y, p in four_outputs(bit, delta, t).items()]
    for outcome in product(single, repeat=n):
        p = ONE
        for _, _, mass in outcome:
            p *= mass
        order = sorted(range(n), key=lambda i: _priority(i, *outcome[i][:2], t, rule))
        wrong = sum(outcome[i][0] != guess_of(outcome[i][1], t) for i in order[:r])
        total += p if wrong <= u else ZERO
    return total


def guess_of(y: int, t: Fraction) -> int:
    """The likelihood-ratio rule (13): 0 where P/Q >= 1, so also at a tie, else 1."""
    return y - 2 if y >= 2 else (y if t > 1 else 0)


def _priority(index: int, bit: int, y: int, t: Fraction, rule: str) -> tuple[Any, ...]:
    """Smaller is released earlier: first by score, then by the rule."""
    score = 0 if y >= 2 else 1
    ties = {
        "larger output": -_PLACE[y],
        "smaller output": _PLACE[y],
        "lower index": index,
        "higher index": -index,
        "wrong first": int(bit == guess_of(y, t)),
    }
    return (score, ties[rule], index)


# The sharp bound


def sharp_bound(n: int, r: int, u: int, delta: Fraction, t: Fraction) -> Fraction:
    """The largest P(at most u errors among r released) over all (ε, δ)-DP mechanisms and decoders, u < r."""
    v, q = r - u, Fraction(t) / (1 + t)
    tail = 1 - binomial_at_most(r, q, v - 1)
    here = comb(r, v) * q**v * (1 - q) ** u
    return min(ONE, tail + n * delta * tail * (1 - tail) / (v * here))


def extremal(n: int, r: int, u: int, delta: Fraction, t: Fraction) -> Table:
    """The mechanism that attains the sharp bound: it names r positions and a guess for each."""
    v, q = r - u, Fraction(t) / (1 + t)
    weight = [comb(r, i) * q**i * (1 - q) ** (r - i) for i in range(r + 1)]
    tail = sum(weight[v:], ZERO)
    share = min(ONE, n * delta * tail / (v * weight[v]))
    law = [w * (1 - share) + (w * share / tail if i >= v else ZERO) for i, w in enumerate(weight)]
    outputs = [(at, guess) for at in combinations(range(n), r) for guess in all_bits(r)]
    table: Table = {}
    for x in all_bits(n):
        right = {y: sum(x[i] == g for i, g in zip(*y, strict=True)) for y in outputs}
        table[x] = {y: law[k] / (comb(n, r) * comb(r, k)) for y, k in right.items()}
    return table


def all_pairs(table: Table) -> list[tuple[Law, Law]]:
    """All ordered pairs of laws of neighbours."""
    return [
        (table[x], table[y]) for x, y in permutations(table, 2) if sum(a != b for a, b in zip(x, y, strict=True)) == 1
    ]
