"""Which pairs of neighbours may have the largest likelihood ratio, among one per change of the counts of records.

Rounded logarithms of all probabilities are compared for many pairs at once; what is left is compared exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING

from tightdp.exact.lazily import lazily
from tightdp.exact.whole import Whole
from tightdp.language.neighbours import relation_of
from tightdp.methods.aggregated import AggregateTable
from tightdp.methods.ranking import LONGEST, MARGIN
from tightdp.methods.states import States
from tightdp.symmetry.orbits import Change
from tightdp.symmetry.sets import Counts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
else:
    np = lazily("numpy")

__all__ = ["FEW_PAIRS", "largest_changes"]

FEW_PAIRS = 4_000
"""Up to this many pairs of neighbours are compared one by one."""
_MOST_LOGARITHMS = 30_000_000
_AT_ONCE = 1 << 21
"""At most this many differences of logarithms are held at a time."""
_MULTIPLIER = 0x9E3779B97F4A7C15


class _Unsuitable(Exception):
    """Some law does not consist of integers that can be rounded, or there are too many."""


def largest_changes(table: AggregateTable, watch: Callable[[], None], few: int = FEW_PAIRS) -> Iterator[Change] | None:
    """Return changes of one record that include all those attaining the largest ratio (if infinite, at least one).

    None where there are at most `few` pairs of neighbours, or they cannot be screened in this way.
    """
    orbits = table.orbits
    if not relation_of(table.bound).one_record or isinstance(orbits, States) or orbits.number_of_pairs <= few:
        return None
    try:
        return _Screen(table, watch).changes()
    except _Unsuitable:
        return None


class _Screen:
    def __init__(self, table: AggregateTable, watch: Callable[[], None]) -> None:
        self.table, self.watch = table, watch
        self.counts, self.logarithms = self._exact()
        self.letters = np.array([list(chain(*one)) for one in self.counts], dtype=np.int64)
        self.best = -math.inf

    def _exact(self) -> tuple[list[Counts], Floats]:
        """Return all counts, and the logarithms of all probabilities, rounded one by one."""
        table = self.table
        places: dict[int, int] = {}
        counts: list[Counts] = []
        rows: list[tuple[list[int], list[float]]] = []
        for at_counts, by_code, total in table.every_law(self.watch):
            counts.append(at_counts)
            if len(places) * table.orbits.number > _MOST_LOGARITHMS:
                raise _Unsuitable
            rows.append(([places.setdefault(code, len(places)) for code in by_code], _logarithms(by_code, total)))
        found = np.full((len(rows), len(places)), -math.inf)
        for row, (columns, logarithms) in enumerate(rows):
            found[row, columns] = logarithms
        return counts, found

    def changes(self) -> Iterator[Change]:
        digits = np.array([pow(_MULTIPLIER, at + 1, 1 << 64) for at in range(self.letters.shape[1])], dtype=np.uint64)
        keys = (self.letters.astype(np.uint64) * digits).sum(axis=1, dtype=np.uint64)
        order = np.argsort(keys)
        ordered = keys[order]
        if (ordered[1:] == ordered[:-1]).any():
            raise _Unsuitable  # the keys do not distinguish all counts
        found: list[tuple[int, tuple[int, int], Integers, Floats]] = []
        for kind, (old, new), start in self._moves():
            ours = np.flatnonzero(self.letters[:, start + old])
            theirs = order[np.searchsorted(ordered, keys[ours] - digits[start + old] + digits[start + new])]
            largest = self._largest(ours, theirs)
            self.best = max(self.best, float(largest.max(initial=-math.inf)))
            kept = largest >= self.best - MARGIN
            if kept.any():
                found.append((kind, (old, new), ours[kept], largest[kept]))
        return self._made(found)

    def _moves(self) -> Iterator[tuple[int, tuple[int, int], int]]:
        """Yield the ways in which a client may change its letter, and the first place of its group's letters."""
        start = 0
        for kind, group in enumerate(self.table.groups):
            moves = group.moves(relation_of(self.table.bound).steps)
            yield from ((kind, move, start) for move in sorted(moves))
            start += len(group.letters)

    def _largest(self, ours: Integers, theirs: Integers) -> Floats:
        """Return, for pairs of laws, the logarithm of the largest ratio between their probabilities."""
        result = np.empty(len(ours))
        size = max(_AT_ONCE // self.logarithms.shape[1], 1)
        for start in range(0, len(ours), size):
            self.watch()
            above = self.logarithms[ours[start : start + size]]
            below = self.logarithms[theirs[start : start + size]]
            with np.errstate(invalid="ignore"):
                differences = above - below
            differences[above == -math.inf] = -math.inf
            result[start : start + size] = differences.max(axis=1)
        return result

    def _made(self, found: list[tuple[int, tuple[int, int], Integers, Floats]]) -> Iterator[Change]:
        changes: list[Change] = []
        for kind, (old, new), ours, largest in found:
            kept = ours[largest >= self.best - MARGIN] if self.best < math.inf else ours[largest == math.inf]
            several = (_less(self.counts[at], kind, old) for at in kept.tolist())
            changes += self.table.orbits.changes(kind, (old, new), several)
        return iter(changes)


def _logarithms(by_code: Mapping[int, Whole], total: Whole) -> list[float]:
    if not isinstance(total, int) or not 0 < total.bit_length() <= LONGEST:
        raise _Unsuitable
    logarithm = math.log2(total)
    found = [math.log2(weight) - logarithm for weight in by_code.values() if isinstance(weight, int)]
    if len(found) < len(by_code):
        raise _Unsuitable
    return found


def _less(counts: Counts, kind: int, letter: int) -> Counts:
    """Return the counts without one client of a kind that has a letter."""
    numbers = counts[kind]
    return (*counts[:kind], (*numbers[:letter], numbers[letter] - 1, *numbers[letter + 1 :]), *counts[kind + 1 :])
