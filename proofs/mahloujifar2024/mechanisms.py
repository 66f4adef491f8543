"""Mechanisms drawn at random."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from tightdp.claims import program, random_law

from .games import Laws

k_ary = program("k_ary_randomized_response")


BELOW = 1 - Fraction(1, 2**40)
"""A level just below another one: relatively 2^-40 smaller."""


def random_laws(seed: int, m: int, k: int, outputs: int) -> Laws:
    """A mechanism drawn at random; its own trade-off function is the f of f-DP."""
    return random_law(seed, product(range(k), repeat=m), outputs, denominator=12)
