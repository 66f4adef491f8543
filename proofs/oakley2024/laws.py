"""Programs, inputs, and the laws of randomized response by listing."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from tightdp.claims import Places, program

FIFTH = Fraction(1, 5)


def sent(x: int, y: int) -> str:
    """The probability that a client with bit x sends y (Algorithm 4)."""
    return "1 - λ" if x == y else "λ"


RR = ("the probability that randomized response sends y on x, clients independent", Places(sent, product=True))
RR_PRIME = (
    "the same on x'",
    Places(lambda x_prime, y: sent(x_prime, y), product=True),
)
BITS = (0, 1)


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


def count_law(x: Bits, lam: Fraction) -> dict[int, Fraction]:
    """The law of the RR count on x, by listing all outputs of RR."""
    law = dict.fromkeys(range(len(x) + 1), Fraction(0))
    for y in all_bits(len(x)):
        law[sum(y)] += rr_probability(x, y, lam)
    return law


def within(x: Bits, lam: Fraction, alpha: int) -> Fraction:
    """P(|count - c| <= α) on x, by listing."""
    return sum((p for y, p in count_law(x, lam).items() if abs(y - sum(x)) <= alpha), Fraction(0))


def rr_probability(x: Bits, y: Bits, lam: Fraction) -> Fraction:
    """P(RR(x) = y), straight from Algorithm 4: every client by itself."""
    result = Fraction(1)
    for a, b in zip(x, y, strict=True):
        result *= 1 - lam if a == b else lam
    return result


def inference_set(n: int, alpha: int) -> set[tuple[Bits, int]]:
    """I_RRcount of (11), with the outputs that exist."""
    return {(ones_first(i, n), j) for i in range(n + 1) for j in range(n + 1) if abs(i - j) <= alpha}
