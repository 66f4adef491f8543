"""Pure differential privacy: the tight ε as an exact likelihood ratio (oakley2024, Algorithm 2)."""

from __future__ import annotations

import math
from typing import Any

from tightdp.language.program import Dataset
from tightdp.methods.ratios import Ratio
from tightdp.symmetry.sets import PrivacySet, Table

__all__ = ["tight_ratio"]


def tight_ratio(table: Table, privacy_set: PrivacySet, top: int = 1) -> tuple[Ratio, ...]:
    """Return the `top` largest distinct likelihood ratios over a privacy set, largest first.

    The first is the tight e^ε. Singleton outputs suffice (oakley2024, Thm 1-3); outputs that both datasets never
    give do not count. The result is empty where the relation has no neighbours.
    """
    best = _Best(top)
    for x, x_prime, pairs in privacy_set:
        ours, theirs = table.weights(x), table.weights(x_prime)
        get = theirs.by_code.get
        # P/P' = (a / total) / (b / total'): compare a·total' with b·total.
        left, right = theirs.total, ours.total
        common = math.gcd(left, right)
        left, right = left // common, right // common
        for code, weight in ours.by_code.items():
            best.offer(weight * left, get(code, 0) * right, (x, x_prime, code), pairs)
    return tuple(_ratio(table, found, triples) for found, triples in best.ranking())


def _ratio(table: Table, triple: tuple[Dataset, Dataset, int], triples: int) -> Ratio:
    x, x_prime, code = triple
    copies = table.multiplicity(code)
    p, q = (table.weights(dataset).probability(code) / copies for dataset in (x, x_prime))
    return Ratio(p / q if q else math.inf, x, x_prime, table.output(code), p, q, triples)


class _Best:
    """The largest distinct ratios met so far, each with the first triple that attained it and a tally."""

    def __init__(self, top: int) -> None:
        self._top = top
        self._found: list[list[Any]] = []
        self._least_up, self._least_down = 0, 1

    def offer(self, up: int, down: int, triple: tuple[Dataset, Dataset, int], pairs: int) -> None:
        """Take note of the ratio up/down of so many pairs; up is positive."""
        if up * self._least_down < self._least_up * down:
            return
        for at, entry in enumerate(self._found):
            above, below = entry[0], entry[1]
            order = up * below - above * down
            if order == 0 and (down == 0) == (below == 0):
                entry[3] += pairs
                return
            if order > 0 or (down == 0 and below):
                self._found.insert(at, [up, down, triple, pairs])
                break
        else:
            if len(self._found) == self._top:
                return
            self._found.append([up, down, triple, pairs])
        del self._found[self._top :]
        if len(self._found) == self._top:
            self._least_up, self._least_down = self._found[-1][:2]

    def ranking(self) -> list[tuple[tuple[Dataset, Dataset, int], int]]:
        """Return the triples, largest ratio first, with how many attain it."""
        return [(triple, tally) for _, _, triple, tally in self._found]
