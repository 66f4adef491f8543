"""The setting of Fig. 10 of xiang2025, exactly: what its bound says and what a mechanism attains."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from tightdp.claims.figures import Cell

from .audits import sharp_bound
from .bounds import order_means
from .games import independent_chance, sum_at_most
from .paper import paper


@paper.figure(
    "Fig. 10",
    "all n guesses released, no error, δ = 1/10, ε = 0: the bound of Theorem 3, what independent channels and "
    "all-or-nothing attain, and the sharp bound",
    ("n", "Theorem 3", "independent channels", "all-or-nothing", "sharp bound"),
    drawn=("Theorem 3", "independent channels", "all-or-nothing", "sharp bound"),
)
def _() -> Iterator[tuple[Cell, ...]]:
    delta = Fraction(1, 10)
    for n in range(1, 11):
        bound = sum_at_most(order_means(n, n, delta), 0)
        channels = independent_chance(n, n, 0, delta)
        together = delta + (1 - delta) / 2**n
        yield n, bound, channels, together, sharp_bound(n, n, 0, delta, Fraction(1))
