"""Mechanisms drawn at random with a fixed seed, as exact tables of probabilities."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from itertools import product
from random import Random
from typing import TypeVar

__all__ = ["random_dp_law", "random_law"]

X = TypeVar("X", bound=Hashable)
Law = dict[int, Fraction]

_STEPS = 256
"""Into how many steps the way from a law that ignores its input to a random one is cut."""


def random_law(seed: int, inputs: Iterable[X], outputs: int, denominator: int = 20) -> dict[X, Law]:
    """Return a law on 0..outputs-1 for every input; probabilities are multiples of 1/denominator."""
    random = Random(seed)
    return {x: _draw(random, outputs, denominator) for x in inputs}


def random_dp_law(
    seed: int,
    n: int,
    outputs: int = 3,
    exp_epsilon: Fraction | int = 2,
    delta: Fraction | int = 0,
    denominator: int = 20,
) -> dict[tuple[int, ...], Law]:
    """Return laws for all datasets of n bits, exactly (ε, δ)-DP for a change of one bit; e^ε = exp_epsilon.

    A random law is mixed with one that ignores its input; the share of the random one is the largest multiple
    of 1/256 that keeps the guarantee. (δ at a given e^ε is convex in the share and 0 at share 0, so it only
    grows.)
    """
    random = Random(seed)
    base = _draw(random, outputs, denominator, least=1)
    drawn = {x: _draw(random, outputs, denominator) for x in product((0, 1), repeat=n)}
    low, high = 0, _STEPS
    while low < high:
        middle = (low + high + 1) // 2
        if _is_private(_mixed(base, drawn, middle), Fraction(exp_epsilon), Fraction(delta)):
            low = middle
        else:
            high = middle - 1
    return _mixed(base, drawn, low)


def _draw(random: Random, outputs: int, denominator: int, least: int = 0) -> Law:
    """Return a law whose probabilities are multiples of 1/denominator, each at least `least` of them."""
    cuts = sorted(random.randint(0, denominator - least * outputs) for _ in range(outputs - 1))
    ends = [0, *cuts, denominator - least * outputs]
    return {y: Fraction(ends[y + 1] - ends[y] + least, denominator) for y in range(outputs)}


def _mixed(base: Law, drawn: dict[tuple[int, ...], Law], steps: int) -> dict[tuple[int, ...], Law]:
    share = Fraction(steps, _STEPS)
    return {x: {y: (1 - share) * base[y] + share * p for y, p in law.items()} for x, law in drawn.items()}


def _is_private(laws: dict[tuple[int, ...], Law], t: Fraction, delta: Fraction) -> bool:
    for x, law in laws.items():
        for at, bit in enumerate(x):
            other = laws[(*x[:at], 1 - bit, *x[at + 1 :])]
            if sum((max(Fraction(0), p - t * other[y]) for y, p in law.items()), Fraction(0)) > delta:
                return False
    return True
