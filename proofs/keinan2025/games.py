"""Finite audits by listing: posteriors, efficacies, laws of right guesses. Nothing is taken from the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any, TypeAlias

from tightdp.claims import brute


def extremal(shape: str, n: int, t: Fraction) -> Table:
    """Symmetric mechanisms with ratio exactly t: noisy parity, noisy majority step, one noisy bit with its index."""
    keep = t / (1 + t)

    def law(s: Bits) -> Law:
        if shape == "noisy parity":
            return {sum(s) % 2: keep, 1 - sum(s) % 2: 1 - keep}
        if shape == "all but one value":
            weight = {o: (ONE if o == s else t) for o in all_bits(n)}  # one output is less likely
            return {o: w / sum(weight.values()) for o, w in weight.items()}
        return {(i, b): (keep if b == s[i] else 1 - keep) / n for i in range(n) for b in (0, 1)}  # "one noisy bit"

    return {s: law(s) for s in all_bits(n)}


Bits: TypeAlias = tuple[int, ...]


Law: TypeAlias = dict[Any, Fraction]


Table: TypeAlias = dict[Bits, Law]


Guesses: TypeAlias = Sequence[int | None]


Joint: TypeAlias = dict[tuple[int, int], Fraction]
"""The probability of (guesses, right guesses)."""


ZERO, HALF, ONE = Fraction(0), Fraction(1, 2), Fraction(1)


def all_bits(n: int) -> list[Bits]:
    """Every vector of n bits."""
    return list(product((0, 1), repeat=n))


def table_of(mechanism: Any, pairs: Sequence[tuple[Any, Any]], **parameters: Any) -> Table:
    """The audit of a program with a pair vector, by its interpreter."""
    return {
        s: brute.law(mechanism, tuple(pair[bit] for pair, bit in zip(pairs, s, strict=True)), **parameters)
        for s in all_bits(len(pairs))
    }


def bit_pairs(n: int) -> list[tuple[int, int]]:
    """The pair vector (0, 1, ..., 0, 1)."""
    return [(0, 1)] * n


def outputs(table: Table) -> list[Any]:
    """Every output of positive probability."""
    return list(dict.fromkeys(o for law in table.values() for o, p in law.items() if p))


def given(table: Table, o: Any) -> dict[Bits, Fraction]:
    """The probability of every vector of secret bits together with the output o."""
    return {s: law.get(o, ZERO) / len(table) for s, law in table.items()}


def posteriors(table: Table, o: Any) -> tuple[Fraction, list[Fraction]]:
    """P(o), and for every bit the posterior probability of 1."""
    joint = given(table, o)
    total = sum(joint.values(), ZERO)
    n = len(next(iter(table)))
    return total, [sum((p for s, p in joint.items() if s[i]), ZERO) / total for i in range(n)]


def confidences(table: Table) -> list[tuple[Fraction, list[Fraction]]]:
    """For every output: its probability, and the larger posteriors of the bits, falling."""
    found = []
    for o in outputs(table):
        total, ones = posteriors(table, o)
        found.append((total, sorted((max(q, 1 - q) for q in ones), reverse=True)))
    return found


def efficacies(table: Table) -> list[Fraction]:
    """E_1, ..., E_n: the mean over outputs of the mean of the k largest posteriors."""
    known = confidences(table)
    n = len(known[0][1])
    return [sum((total * sum(each[:k], ZERO) / k for total, each in known), ZERO) for k in range(1, n + 1)]


def ratio_as_posterior(table: Table) -> Fraction:
    """p(ε(M_Z)): the largest P(o|s)/(P(o|s) + P(o|s')) over vectors s, s' that differ in one bit."""
    best = HALF
    for s, law in table.items():
        for i in range(len(s)):
            other = table[(*s[:i], 1 - s[i], *s[i + 1 :])]
            for o, p in law.items():
                if p:
                    best = max(best, p / (p + other.get(o, ZERO)))
    return best


def result_law(table: Table, guesser: Callable[[Any], Guesses]) -> dict[tuple[int, int], Fraction]:
    """The joint law of (guesses, right guesses) of a guesser that sees the output."""
    law: dict[tuple[int, int], Fraction] = {}
    for o in outputs(table):
        guesses = guesser(o)
        made = sum(guess is not None for guess in guesses)
        for s, p in given(table, o).items():
            right = sum(guess == bit for guess, bit in zip(guesses, s, strict=True) if guess is not None)
            if p:
                law[made, right] = law.get((made, right), ZERO) + p
    return law


def share(law: dict[tuple[int, int], Fraction]) -> Fraction:
    """The efficacy E[V/R] of a guesser that always makes a guess."""
    return sum((Fraction(v, r) * p for (r, v), p in law.items()), ZERO)


def every_guesser(table: Table, choices: Sequence[int | None]) -> Iterator[Callable[[Any], Guesses]]:
    """Every deterministic guesser that makes at least one guess on every output."""
    n = len(next(iter(table)))
    seen = outputs(table)
    rows = [row for row in product(choices, repeat=n) if any(guess is not None for guess in row)]
    for chosen in product(rows, repeat=len(seen)):
        yield dict(zip(seen, chosen, strict=True)).__getitem__


def tail(r: int, q: Fraction, v: int) -> Fraction:
    """P(Bin(r, q) >= v)."""
    return sum((comb(r, k) * q**k * (1 - q) ** (r - k) for k in range(max(v, 0), r + 1)), ZERO)


def is_dominated(law: dict[tuple[int, int], Fraction], q: Fraction) -> bool:
    """Whether V, given the number R of guesses, is stochastically dominated by Bin(R, q)."""
    for made in {r for r, _ in law}:
        total = sum((p for (r, _), p in law.items() if r == made), ZERO)
        for least in range(1, made + 1):
            above = sum((p for (r, v), p in law.items() if r == made and v >= least), ZERO)
            if above > total * tail(made, q, least):
                return False
    return True
