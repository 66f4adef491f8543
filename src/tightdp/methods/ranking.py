"""The largest likelihood ratios over pairs of neighbours: the tight ε (oakley2024, Algorithm 2)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from flint import arb

from tightdp.exact.whole import Whole, gcd, quick
from tightdp.methods.base import Pair
from tightdp.methods.ratios import Ratio

__all__ = ["tight_ratio"]


def tight_ratio(pairs: Iterable[Pair], top: int = 1) -> tuple[Ratio, ...]:
    """Return the `top` largest distinct likelihood ratios over some pairs of neighbours, largest first.

    The first is the tight e^ε. Singleton outputs suffice (oakley2024, Thm 1-3); outputs that both datasets never
    give do not count. The result is empty where the relation has no neighbours.
    """
    best = _Best(top)
    for pair in pairs:
        ours, theirs = pair.table.weights(pair.x), pair.table.weights(pair.x_prime)
        get = theirs.by_code.get
        # P/P' = (a / total) / (b / total'): compare a·total' with b·total.
        left, right = theirs.total, ours.total
        common = gcd(left, right)
        left, right = left // common, right // common
        scale = None if isinstance(left, int) and isinstance(right, int) else quick(left) / quick(right)
        for code, weight in ours.by_code.items():
            other = get(code, 0)
            if scale is None or not best.surely_less(weight, other, scale):
                best.offer(weight * left, other * right, (pair, code), pair.size)
    return tuple(_ratio(pair, code, triples) for (pair, code), triples in best.ranking())


def _ratio(pair: Pair, code: int, triples: int) -> Ratio:
    output, p, q = pair.table.named(code, pair.x, pair.x_prime)
    return Ratio(p / q if q else math.inf, pair.x, pair.x_prime, output, p, q, triples or None)


class _Best:
    """The largest distinct ratios met so far, each with the first triple that attained it and a tally."""

    def __init__(self, top: int) -> None:
        self._top = top
        self._found: list[list[Any]] = []
        self._least_up: Whole = 0
        self._least_down: Whole = 1
        self._least: arb | None = None

    def surely_less(self, weight: Whole, other: Whole, scale: arb) -> bool:
        """Whether a ratio is certainly too small to be taken note of, decided on balls; weights have e^q."""
        if not self._least_up:
            return False
        if self._least is None:
            self._least = quick(self._least_up) / quick(self._least_down)
        return bool(quick(weight) * scale < self._least * quick(other))

    def offer(self, up: Whole, down: Whole, triple: tuple[Pair, int], pairs: int) -> None:
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
            self._least = None

    def ranking(self) -> list[tuple[tuple[Pair, int], int]]:
        """Return the triples, largest ratio first, with how many attain it."""
        return [(triple, tally) for _, _, triple, tally in self._found]
