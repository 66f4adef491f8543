"""Exact numbers for the claims of cheu2019, from binomial coefficients alone (nothing of the engine).

Rationals may come as int or Fraction; no float is ever made.
Notation of the paper: n clients, λ (lam) of which answer at random on average, c ones in the dataset, L =
ln(4/δ). The curve of a mechanism at t = e^ε is the least δ with which it is (ε, δ)-DP.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import permutations, product
from math import comb
from random import Random
from typing import TypeVar

from tightdp.claims import Real, log, real, sqrt

__all__ = [
    "ZERO",
    "Instances",
    "Law",
    "agreed",
    "assumed",
    "binomial_noise_delta",
    "bit_sum_delta",
    "bit_sum_law",
    "claimed_epsilon",
    "composed_delta",
    "hockey_stick",
    "l_of",
    "lemma_lambda",
    "listed",
    "local_delta",
    "message_counts",
    "ones",
    "private_randomizer",
    "random_subset_delta",
    "random_subset_law",
    "rational_below",
    "shuffled_delta",
    "size_epsilon",
    "subset_epsilon",
    "transformed_law",
]

Y = TypeVar("Y", bound=Hashable)
Law = dict[int, Fraction]
ZERO = Fraction(0)


def hockey_stick(law: dict[Y, Fraction], other: dict[Y, Fraction], t: Fraction) -> Fraction:
    """Σ max(0, P(y) - t·Q(y))."""
    return sum((max(ZERO, p - t * other.get(y, ZERO)) for y, p in law.items()), ZERO)


def rational_below(value: Real, digits: int = 30) -> Fraction:
    """A rational just below a real: δ at it is an upper bound of δ at the real, as curves fall."""
    return value.enclosure(digits)[0]


# What the claims promise


def l_of(delta: Fraction) -> Real:
    """L = ln(4/δ)."""
    return log(4 / delta)


def size_epsilon(size: int | Real, delta: Fraction) -> Real:
    """sqrt(32 ln(4/δ) / |H|), of Claim 4.4 and 4.5."""
    return sqrt(32 * l_of(delta) / size)


def subset_epsilon(n: int, s: int, delta: Fraction) -> Real:
    """The ε of Claim 4.5."""
    return size_epsilon(s, delta) * Fraction(n - s, n)


def claimed_epsilon(n: int, lam: Fraction, delta: Fraction) -> Real:
    """The ε of Claim 4.6 and Corollary 4.7."""
    size = real(lam) - sqrt(2 * real(lam) * log(2 / delta))
    return size_epsilon(size, delta) * (1 - size / n)


def lemma_lambda(n: int, epsilon: Fraction, delta: Fraction) -> tuple[int, Real]:
    """The case of Lemma 4.8 and its λ."""
    big = l_of(delta)
    if real(epsilon) ** 2 >= 192 * big / n:
        return 1, 64 * big / epsilon**2
    return 2, n - epsilon * n * sqrt(n / (432 * big))


# Curves


def binomial_noise_delta(h: int, t: Fraction) -> Fraction:
    """δ of C_H at t, |H| = h: Bin(h, 1/2) against Bin(h, 1/2) + 1."""
    steps = range(h + 2)
    row = {j: Fraction(comb(h, j)) for j in steps}
    moved = {j: Fraction(comb(h, j - 1)) if j else ZERO for j in steps}
    return max(hockey_stick(row, moved, t), hockey_stick(moved, row, t)) * Fraction(1, 2**h)


def random_subset_law(n: int, s: int, c: int) -> Law:
    """The law of C_s on a dataset with c ones: ones outside H are hypergeometric, plus Bin(s, 1/2)."""
    law = dict.fromkeys(range(n + 1), ZERO)
    for outside in range(max(0, c - s), min(c, n - s) + 1):
        chosen = Fraction(comb(c, outside) * comb(n - c, n - s - outside), comb(n, s))
        for noise in range(s + 1):
            law[outside + noise] += chosen * Fraction(comb(s, noise), 2**s)
    return law


def random_subset_delta(n: int, s: int, t: Fraction) -> Fraction:
    """δ of C_s at t, over all neighbours."""
    laws = [random_subset_law(n, s, c) for c in range(n + 1)]
    pairs = [(c, c + 1) for c in range(n)] + [(c + 1, c) for c in range(n)]
    return max(hockey_stick(laws[a], laws[b], t) for a, b in pairs)


def bit_sum_law(n: int, lam: Fraction, c: int) -> Law:
    """The law of Σ R(x_i) on c ones, one client after the other."""
    flip = Fraction(lam) / (2 * n)
    law = {0: Fraction(1)}
    for one in [1 - flip] * c + [flip] * (n - c):
        moved = dict.fromkeys(range(len(law) + 1), ZERO)
        for y, p in law.items():
            moved[y] += p * (1 - one)
            moved[y + 1] += p * one
        law = moved
    return law


def bit_sum_delta(n: int, lam: Fraction, t: Fraction) -> Fraction:
    """δ of Σ R(x_i) at t, over all neighbours: c and c + 1 ones among n, in both directions."""
    flip = Fraction(lam) / (2 * n)
    wrong, whole = flip.numerator, flip.denominator
    right = whole - wrong
    worst = 0
    for others in _other_clients(n - 1, wrong, right):
        zero, one = _times(others, right, wrong), _times(others, wrong, right)
        for p, q in ((zero, one), (one, zero)):
            here = sum(max(0, t.denominator * a - t.numerator * b) for a, b in zip(p, q, strict=True))
            worst = max(worst, here)
    return Fraction(worst, t.denominator * whole**n)


def _other_clients(n: int, wrong: int, right: int) -> Iterator[list[int]]:
    """The (scaled) laws of the sum of n clients with 0, 1, ..., n ones among them."""
    law = [comb(n, j) * right ** (n - j) * wrong**j for j in range(n + 1)]
    for ones in range(n + 1):
        yield law
        if ones < n:
            law = _times(_divided(law, right, wrong), wrong, right)


def _times(law: Sequence[int], constant: int, linear: int) -> list[int]:
    """The product with constant + linear·z."""
    return [constant * a + linear * b for a, b in zip((*law, 0), (0, *law), strict=True)]


def _divided(law: Sequence[int], constant: int, linear: int) -> list[int]:
    """The quotient by constant + linear·z, which divides it."""
    quotient: list[int] = []
    before = 0
    for a in law[:-1]:
        before = (a - linear * before) // constant
        quotient.append(before)
    return quotient


def composed_delta(rounds: int, exp_epsilon: Fraction, delta: Fraction, t: Fraction) -> Fraction:
    """δ at t of `rounds` independent copies of the worst (ε, δ)-DP mechanism.

    A copy reveals the bit with probability δ, else it answers rightly with probability e^ε/(1 + e^ε).
    """
    right = Fraction(exp_epsilon) / (1 + exp_epsilon)
    total = ZERO
    for j in range(rounds + 1):
        here = right**j * (1 - right) ** (rounds - j)
        there = right ** (rounds - j) * (1 - right) ** j
        total += comb(rounds, j) * max(ZERO, here - t * there)
    return 1 - (1 - delta) ** rounds * (1 - total)


# One-message randomizers: {input: law of the message}


def local_delta(randomizer: dict[int, Law], t: Fraction) -> Fraction:
    """δ of the randomizer itself at t."""
    return max(hockey_stick(p, q, t) for p, q in permutations(randomizer.values(), 2))


def message_counts(randomizer: dict[int, Law], x: tuple[int, ...]) -> dict[tuple[int, ...], Fraction]:
    """The law of the multiset of messages, which is all that the shuffler reveals."""
    law: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
    for record in x:
        moved: dict[tuple[int, ...], Fraction] = {}
        for (seen, p), (y, q) in product(law.items(), randomizer[record].items()):
            key = tuple(sorted((*seen, y)))
            moved[key] = moved.get(key, ZERO) + p * q
        law = moved
    return law


def shuffled_delta(randomizer: dict[int, Law], n: int, t: Fraction) -> Fraction:
    """δ of the shuffled messages of n clients at t."""
    laws = {x: message_counts(randomizer, x) for x in product(randomizer, repeat=n)}
    pairs = ((x, (*x[:i], a, *x[i + 1 :])) for x in laws for i in range(n) for a in randomizer)
    return max(hockey_stick(laws[x], laws[other], t) for x, other in pairs)


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


# Instances and their checks


Instances = list[dict[str, object]]
"""What a claim is checked on."""


def listed(names: str, *rows: tuple[object, ...]) -> Instances:
    """Instances from rows of values."""
    return [dict(zip(names.split(), row, strict=True)) for row in rows]


def ones(c: int, n: int) -> tuple[int, ...]:
    """A dataset with c ones."""
    return (1,) * c + (0,) * (n - c)


def agreed(engine: object, direct: Fraction) -> Fraction:
    """What the engine and the direct computation both find."""
    if not isinstance(direct, Fraction) or engine != direct:
        raise AssertionError(f"the engine finds {engine}, the binomial sum {direct}")
    return direct


def assumed(condition: bool) -> None:
    """An instance is one of the claim: its hypotheses hold."""
    if not condition:
        raise AssertionError("the instance is outside the claim")
