"""The tables of the note on the sharp one-run bound (proofs/one_run_bound.md)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import comb

from tightdp import audit
from tightdp.claims.figures import Cell, epsilon_text

from .paper import paper

RUNS = ((10, 10, 10), (100, 100, 90), (100, 100, 100), (1000, 1000, 900), (1000, 200, 190), (10000, 2000, 1900))
"""(m, r, v): secrets, guesses, right ones."""


@paper.figure(
    "Table 1",
    "the ε that is reported at 95 % confidence: v of r guesses are right, on m secrets; rounded down",
    ("m", "r", "v", "δ", "published", "sharp"),
)
def _() -> Iterator[tuple[Cell, ...]]:
    for m, r, v in RUNS:
        for delta in (Fraction(1, 10**5), Fraction(1, 10**3), Fraction(1, 10**2)):
            found = (
                audit(canaries=m, guesses=r, correct=v, delta=delta, method=method).exp_epsilon_lower
                for method in ("steinke", "optimal")
            )
            yield m, r, v, delta, *map(epsilon_text, found)


@paper.figure(
    "Table 2",
    "the slopes in mδ of the two bounds: the published formula is too small where its slope is less than the sharp one",
    ("r", "v", "e^ε", "T", "q", "published 2A", "sharp T(1 - T)/(v·b)"),
)
def _() -> Iterator[tuple[Cell, ...]]:
    for r, v, t in (
        (1, 1, 1),
        (2, 1, 1),
        (2, 1, 3),
        (3, 1, 1),
        (3, 2, 1),
        (4, 1, 1),
        (5, 1, 1),
        (10, 7, 3),
        (10, 10, 3),
    ):
        q = Fraction(t, 1 + t)
        law = [comb(r, i) * q**i * (1 - q) ** (r - i) for i in range(r + 1)]
        tail, slope = sum(law[v:], Fraction(0)), 2 * max(sum(law[v - i : v], Fraction(0)) / i for i in range(1, v + 1))
        yield r, v, t, tail, q, slope, tail * (1 - tail) / (v * law[v])
