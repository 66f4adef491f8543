"""Growth: two runs whose messages repeat, one of them with a larger factor each time: their ratio is unbounded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product as all_of

import numpy as np

from tightdp.every_n.chain import Chain, Matrix, Vector, column, reached, row, transposed

__all__ = ["Repetition", "growth"]

_MOST = 20_000
_EXTRA = Fraction(1, 10**6)


@dataclass(frozen=True)
class Repetition:
    """first·ours^m·last over second·theirs^m·end, for m = 1, 2, ...: the probabilities of one output on neighbours."""

    first: Vector
    ours: Matrix
    last: Vector
    second: Vector
    theirs: Matrix
    end: Vector

    def grows(self) -> bool:
        """Whether the ratio is proved to be unbounded.

        Some state that is reached, and from which the end is reached, returns to itself in one step with probability a;
        a vector h > 0 with theirs·h <= b·h, b < a, on the states that matter bounds the other run by a multiple of b^m.
        """
        ahead = reached(self.first, self.ours) & reached(self.last, transposed(self.ours))
        a = max((self.ours[i][i] for i in ahead if i in self.ours.get(i, {})), default=Fraction(0))
        if not a:
            return False
        others = sorted(reached(self.second, self.theirs) & reached(self.end, transposed(self.theirs)))
        return not others or self._rate(others) < a

    def _rate(self, states: list[int]) -> Fraction:
        """Return some b with theirs·h <= b·h for a positive vector h on these states."""
        matrix = np.array([[float(self.theirs.get(i, {}).get(j, 0)) for j in states] for i in states])
        vector = np.ones(len(states))
        for _ in range(200):
            vector = matrix @ vector + 1e-4 * vector
            vector = np.maximum(vector / vector.max(), 1e-9)
        h = {
            i: Fraction(float(value)).limit_denominator(10**9) + _EXTRA / 10**6
            for i, value in zip(states, vector, strict=True)
        }
        rows = {i: {j: v for j, v in self.theirs.get(i, {}).items() if j in h} for i in states}
        return max(sum((v * h[j] for j, v in rows[i].items()), Fraction(0)) / h[i] for i in states)


def growth(chain: Chain) -> Repetition | None:
    """Return a repetition that proves that the ratios are unbounded; None where none is found.

    Messages of one or two records are repeated. Only where the output of the program determines all messages.
    """
    if not chain.faithful:
        return None
    tried = _all_at_once(chain) if chain.all_at_once else _one_record(chain)
    for number, each in enumerate(tried):
        if each.grows():
            return each
        if number > _MOST:
            return None
    return None


def _all_at_once(chain: Chain) -> Iterator[Repetition]:
    """All records differ, each time in the same way."""
    for start, final in all_of(chain.starts, chain.finals):
        for by in chain.steps.values():
            for old, new in chain.moves:
                yield Repetition(start, by.get(old, {}), final, start, by.get(new, {}), final)


def _one_record(chain: Chain) -> Iterator[Repetition]:
    """One record differs, before or after all those that repeat, which are of one kind or of two in turn."""
    words = chain.matrices()
    words += [_times(a, b) for a, b in all_of(words, words)] if len(words) <= 8 else []
    for start, final in all_of(chain.starts, chain.finals):
        for by in chain.steps.values():
            for old, new in chain.moves:
                ours, theirs = by.get(old, {}), by.get(new, {})
                for word in words:
                    yield Repetition(row(start, ours), word, final, row(start, theirs), word, final)
                    yield Repetition(start, word, column(ours, final), start, word, column(theirs, final))


def _times(left: Matrix, right: Matrix) -> Matrix:
    return {i: entries for i in left if (entries := row(left[i], right))}
