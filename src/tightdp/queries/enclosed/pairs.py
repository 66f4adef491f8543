"""The laws of a sum on two neighbours, side by side: δ from above, and the events that distinguish them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from tightdp.exact.lazily import lazily
from tightdp.exact.scaled import UNIT, Scaled, excess_above, gamma
from tightdp.queries.enclosed.counts import Letters

if TYPE_CHECKING:
    import numpy as np

    Event = np.ndarray[tuple[int], np.dtype[np.bool_ | np.intp]]
    """Places of a law: a mask, or a list."""
else:
    np = lazily("numpy")

__all__ = ["Move", "Tests", "tests_of"]

Move = tuple[int, int]
"""A change of one record: the letters before and after."""

_START, _PASSES = 50_000, 20
"""Looking at a law costs as much as this many products, and this many more for every weight."""


@dataclass(frozen=True)
class Tests:
    """The laws of the sum on two neighbours, on the same integers, with a common bound on relative errors."""

    p: np.ndarray[tuple[int], np.dtype[np.float64]]
    q: np.ndarray[tuple[int], np.dtype[np.float64]]
    error: float
    missing: float

    def delta_above(self, t: float) -> float:
        """Return a number that is at least Σ max(0, P - t·P')."""
        return excess_above(self.p, self.q, t, self.error, self.missing)

    def event(self, t: float) -> tuple[Fraction, Fraction]:
        """Return P(E) from below and P'(E) from above, for the event E that P exceeds t·P'."""
        inside = self.p > t * self.q
        return self._ends(inside)

    def best(self, delta: float) -> tuple[Fraction, Fraction]:
        """Return the bounds of `event` for the event with the largest (P(E) - delta) / P'(E)."""
        kept = self.p > 0
        p, q = self.p[kept], self.q[kept]
        with np.errstate(divide="ignore", over="ignore"):
            order = np.argsort(-(p / q), kind="stable")
            ours, theirs = np.cumsum(p[order]), np.cumsum(q[order])
            worth = np.where(ours > delta, (ours - delta) / theirs, 0.0)
        at = int(np.argmax(worth))
        return self._ends(np.flatnonzero(kept)[order[: at + 1]])

    def _ends(self, event: Event) -> tuple[Fraction, Fraction]:
        ours, theirs = (Fraction(math.fsum(side[event])) for side in (self.p, self.q))
        error = Fraction(self.error + 4 * UNIT)
        return ours * (1 - error), theirs * (1 + error) + Fraction(self.missing)


def tests_of(letters: Letters, others: Scaled, move: Move) -> Tests:
    """Return the laws of the sum on neighbours whose other records' sum has the law `others`."""
    before, after = (letters.scaled[letter] for letter in move)
    first = others.first + min(before.first, after.first)
    last = others.last + max(before.last, after.last)
    sides = []
    letters.work += (len(before.weights) + len(after.weights) + _PASSES) * len(others.weights) + _START
    for letter in (before, after):
        side = np.zeros(last - first + 1)
        start = others.first + letter.first - first
        side[start : start + len(others.weights) + len(letter.weights) - 1] = np.convolve(
            others.weights, letter.weights
        )
        sides.append(side)
    terms = min(len(others.weights), max(len(before.weights), len(after.weights)))
    own = max(before.error, after.error)
    error = (1 + others.error) * (1 + own) * (1 + gamma(terms + 4)) - 1 + 4 * UNIT
    missing = (others.missing + max(before.missing, after.missing)) * (1 + 4 * UNIT) + len(sides[0]) * 1e-290
    return Tests(sides[0], sides[1], error, missing)
