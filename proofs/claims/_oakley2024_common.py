"""What the claims of oakley2024 share: programs, inputs, the laws of randomized response by listing."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from tightdp.claims import (
    program,
)

Bits = tuple[int, ...]


rr = program("randomized_response")


rr_count = program("randomized_response_count")


above_threshold = program("above_threshold")


SMALL = ("1/3", "1/4", "1/5")


FLIPS = ("1/3", "1/4", "1/5", "2/5", "1/100")


def all_bits(n: int) -> list[Bits]:
    """All tuples of n bits."""
    return list(product((0, 1), repeat=n))


def ones_first(i: int, n: int) -> Bits:
    """1^i 0^(n-i)."""
    return (1,) * i + (0,) * (n - i)


def differing(x: Bits, y: Bits) -> int:
    """In how many positions x and y differ."""
    return sum(a != b for a, b in zip(x, y, strict=True))


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


def count_law(x: Bits, lam: Fraction) -> dict[int, Fraction]:
    """The law of the RR count on x, by listing all outputs of RR."""
    law = dict.fromkeys(range(len(x) + 1), Fraction(0))
    for y in all_bits(len(x)):
        law[sum(y)] += rr_probability(x, y, lam)
    return law


def within(x: Bits, lam: Fraction, alpha: int) -> Fraction:
    """P(|count - c| <= α) on x, by listing."""
    return sum((p for y, p in count_law(x, lam).items() if abs(y - sum(x)) <= alpha), Fraction(0))
