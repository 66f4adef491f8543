"""The programs that the claims speak of."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from tightdp.claims import program

from .games import HALF

randomized_response = program("randomized_response")


name_and_shame = program("name_and_shame")


all_or_nothing = program("all_or_nothing")


xor = program("xor")


xor_randomized_response = program("xor_randomized_response")


count = program("count")


count_in_sets = program("count_in_sets")


randomized_response_count = program("randomized_response_count")


geometric_count = program("geometric_count")


shuffled_randomized_response = program("shuffled_randomized_response")


randomized_response_delta = program("randomized_response_delta")


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


def pairs_of(vector: str, n: int) -> tuple[list[tuple[int, int]], int]:
    """A pair vector and the size of its domain: all pairs alike, all records apart, or overlapping."""
    if vector == "alike":
        return [(0, 1)] * n, 2
    if vector == "apart":
        return [(2 * i, 2 * i + 1) for i in range(n)], 2 * n
    return [(i % 3, (i + 1) % 3) for i in range(n)], 3
