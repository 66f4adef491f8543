"""Programs, inputs, and the laws of randomized response by listing."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from sympy import symbols

from tightdp.claims import identity, positive, program

FIFTH = Fraction(1, 5)


def ratio_of_neighbours() -> None:
    """By Lemma 1 (O6) P(RR(x) = y) = λ^d (1-λ)^(n-d), and by Lemma 2 (O7) a neighbour has d + 1 or d - 1. So every
    likelihood ratio of neighbours is (1-λ)/λ or λ/(1-λ). For 0 < λ < 1/2 the first is the larger one. It occurs for
    every n >= 1, at x = y = 0^n with x' = 10^(n-1).
    """
    lam, n, d = symbols("lambda n d", positive=True)
    here = lam**d * (1 - lam) ** (n - d)
    identity(here / here.subs(d, d + 1), (1 - lam) / lam, "the ratio to a neighbour with d + 1")
    identity(here / here.subs(d, d - 1), lam / (1 - lam), "the ratio to a neighbour with d - 1")
    positive((1 - lam) / lam - lam / (1 - lam), lam, 0, "1/2", "the first is the larger for 0 < λ < 1/2")
    identity(here.subs(d, 0) / here.subs(d, 1), (1 - lam) / lam, "it occurs with d = 0 and d = 1, for every n >= 1")


Bits = tuple[int, ...]


rr = program("randomized_response")


rr_count = program("randomized_response_count")


SMALL = ("1/3", "1/4", "1/5")


def all_bits(n: int) -> list[Bits]:
    """All tuples of n bits."""
    return list(product((0, 1), repeat=n))


def ones_first(i: int, n: int) -> Bits:
    """1^i 0^(n-i)."""
    return (1,) * i + (0,) * (n - i)


def one_changed(x: Bits) -> Iterator[Bits]:
    """The neighbours of x."""
    return ((*x[:at], 1 - bit, *x[at + 1 :]) for at, bit in enumerate(x))


def listed(bits: Any) -> str:
    """A dataset as the paper prints it."""
    return f"({', '.join(map(str, bits))})"


def rr_probability(x: Bits, y: Bits, lam: Fraction) -> Fraction:
    """P(RR(x) = y), straight from Algorithm 4: every client by itself."""
    result = Fraction(1)
    for a, b in zip(x, y, strict=True):
        result *= 1 - lam if a == b else lam
    return result


def inference_set(n: int, alpha: int) -> set[tuple[Bits, int]]:
    """I_RRcount of (11), with the outputs that exist."""
    return {(ones_first(i, n), j) for i in range(n + 1) for j in range(n + 1) if abs(i - j) <= alpha}
