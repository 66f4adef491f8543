"""Exact finite games: channels, mechanisms, release by score, the best decoder. Nothing is taken from the engine."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import Any

from tightdp.claims import random_law


def random_pair(seed: int, outputs: int = 3) -> tuple[Law, Law]:
    """Two laws drawn at random; multiples of 1/6, so that both verdicts occur."""
    laws = random_law(seed, (0, 1), outputs, denominator=6)
    return laws[0], laws[1]


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
            for guess in product((0, 1), repeat=r)
        )
    return total


def independent_chance(n: int, r: int, u: int, delta: Fraction, t: Fraction = ONE) -> Fraction:
    """P(at most u errors) of n independent (ε, δ) channels with the optimal decoder and score: k of them reveal
    their bit, and are released first; the other released guesses are wrong with probability 1/(1 + t).
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
