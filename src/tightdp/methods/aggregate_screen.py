"""Which changes of a record may have the largest ratio, or the largest δ, told in doubles for many pairs at once.

All that may have it are compared exactly afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import partial
from itertools import chain
from typing import TypeAlias

from tightdp.exact.arrays import Doubles, Integers, np
from tightdp.exact.whole import Whole
from tightdp.language.neighbours import relation_of
from tightdp.limits.calibrated import DOUBLES_AT_ONCE, LISTED_MASSES, MOST_ENTRIES, TABLE_ENTRIES
from tightdp.methods.aggregated import AggregateTable
from tightdp.methods.base import Pair, Sought
from tightdp.methods.ranking import MARGIN, rounded
from tightdp.methods.states import States
from tightdp.symmetry.orbits import Change
from tightdp.symmetry.sets import Counts

_MULTIPLIER = 0x9E3779B97F4A7C15
_Rounding: TypeAlias = Callable[[Mapping[int, Whole], Whole], list[float] | None]
_Makes: TypeAlias = Callable[[Integers], Iterator[Change]]
"""Gives the changes of some rows."""


class _Unsuitable(Exception):
    """Some law does not consist of integers that can be rounded, or there are too many."""


def largest_changes(
    table: AggregateTable, watch: Callable[[], None], few: int = TABLE_ENTRIES
) -> Iterator[Change] | None:
    """Return changes of one record that include all those attaining the largest ratio (if infinite, at least one).

    None where there are at most `few` pairs of neighbours, or they cannot be screened in this way.
    """
    if number_of_pairs(table) <= few:
        return None
    try:
        return _Screen(table, watch, rounded, -math.inf).of_largest_ratio()
    except _Unsuitable:
        return None


def telling_changes(
    table: AggregateTable, sought: Sought, watch: Callable[[], None], few: int = TABLE_ENTRIES
) -> Iterator[Change] | None:
    """Return changes of one record that include all those with the largest value of a question about δ at e^ε >= 1.

    None where there are at most `few` pairs of neighbours, or they cannot be screened in this way.
    """
    place = sought.place(sought.least)
    if place is None or place[0] < 1 or not few < number_of_pairs(table) <= MOST_ENTRIES:
        return None
    try:
        return _Screen(table, watch, _probabilities, 0.0).of_largest_value(sought)
    except _Unsuitable:
        return None


def number_of_pairs(table: AggregateTable) -> int:
    """Return how many pairs of neighbours there are up to symmetry, 0 where more than one record may change."""
    orbits = table.orbits
    pairs = orbits.number**2 if isinstance(orbits, States) else orbits.number_of_pairs
    return pairs if relation_of(table.bound).one_record else 0


def _probabilities(by_code: Mapping[int, Whole], total: Whole) -> list[float] | None:
    """Return the probabilities of a law, each rounded once; None where weights are no integers."""
    if not isinstance(total, int) or total <= 0:
        return None
    found = [weight / total for weight in by_code.values() if isinstance(weight, int)]
    return found if len(found) == len(by_code) else None


class _Screen:
    def __init__(self, table: AggregateTable, watch: Callable[[], None], rounding: _Rounding, none: float) -> None:
        self.table, self.watch = table, watch
        self.law_of: dict[Counts, int] = {}
        """By state of the aggregates, a number that only equal laws share."""
        self.counts, self.numbers = self._rounded(rounding, none)

    def _rounded(self, rounding: _Rounding, none: float) -> tuple[list[Counts], Doubles]:
        """Return all counts, and what stands for all probabilities; `none` for those that are 0."""
        table = self.table
        places: dict[int, int] = {}
        laws: dict[Hashable, int] = {}
        counts: list[Counts] = []
        rows: list[tuple[list[int], list[float]]] = []
        for at_counts, by_code, total in table.every_law(self.watch):
            counts.append(at_counts)
            if isinstance(table.orbits, States):
                self.law_of[at_counts] = laws.setdefault((total, *by_code.items()), len(laws))
            if len(places) * table.orbits.number > DOUBLES_AT_ONCE:
                raise _Unsuitable
            numbers = rounding(by_code, total)
            if numbers is None:
                raise _Unsuitable
            rows.append(([places.setdefault(code, len(places)) for code in by_code], numbers))
        found = np.full((len(rows), len(places)), none)
        for row, (columns, numbers) in enumerate(rows):
            found[row, columns] = numbers
        return counts, found

    # the pairs

    def _pairs(self) -> Iterator[tuple[Integers, Integers, _Makes]]:
        """Yield rows of neighbours, class by class, and what makes changes of those that are chosen by our rows."""
        orbits = self.table.orbits
        return self._between_states(orbits) if isinstance(orbits, States) else self._between_counts()

    def _between_states(self, states: States) -> Iterator[tuple[Integers, Integers, _Makes]]:
        """Yield changes of states that lead to other laws: there may be far more pairs of states."""
        place = {state: at for at, state in enumerate(self.counts)}
        changes = list(states.changes_between(self.law_of.__getitem__))
        ours, theirs = (
            np.array([place[state] for state in side], dtype=np.int64)
            for side in ([change.counts for change in changes], [change.counts_after for change in changes])
        )
        yield ours, theirs, lambda kept: (changes[at] for at in kept.tolist())

    def _between_counts(self) -> Iterator[tuple[Integers, Integers, _Makes]]:
        letters = np.array([list(chain(*one)) for one in self.counts], dtype=np.int64)
        digits = np.array([pow(_MULTIPLIER, at + 1, 1 << 64) for at in range(letters.shape[1])], dtype=np.uint64)
        keys = (letters.astype(np.uint64) * digits).sum(axis=1, dtype=np.uint64)
        order = np.argsort(keys)
        ordered = keys[order]
        if (ordered[1:] == ordered[:-1]).any():
            raise _Unsuitable  # the keys do not distinguish all counts
        for kind, (old, new), start in self._moves():
            ours = np.flatnonzero(letters[:, start + old])
            theirs = order[np.searchsorted(ordered, keys[ours] - digits[start + old] + digits[start + new])]

            def made(
                kept: Integers, rows: Integers = ours, kind: int = kind, old: int = old, new: int = new
            ) -> Iterator[Change]:
                several = (_less(self.counts[at], kind, old) for at in rows[kept].tolist())
                return self.table.orbits.changes(kind, (old, new), several)

            yield ours, theirs, made

    def _moves(self) -> Iterator[tuple[int, tuple[int, int], int]]:
        """Yield the ways in which a client may change its letter, and the first place of its group's letters."""
        start = 0
        for kind, group in enumerate(self.table.groups):
            moves = group.moves(relation_of(self.table.bound).steps)
            yield from ((kind, move, start) for move in sorted(moves))
            start += len(group.letters)

    def _of_rows(self, ours: Integers, theirs: Integers, value: Callable[[Doubles, Doubles], Doubles]) -> Doubles:
        """Return a value of pairs of laws, of some at a time."""
        result = np.empty(len(ours))
        size = max(LISTED_MASSES // self.numbers.shape[1], 1)
        for start in range(0, len(ours), size):
            self.watch()
            part = slice(start, start + size)
            result[part] = value(self.numbers[ours[part]], self.numbers[theirs[part]])
        return result

    # the questions

    def of_largest_ratio(self) -> Iterator[Change]:
        """Return the changes between laws with the largest logarithm of a ratio."""
        best = -math.inf
        found: list[tuple[_Makes, Integers, Doubles]] = []
        for ours, theirs, made in self._pairs():
            largest = self._of_rows(ours, theirs, _largest_difference)
            best = max(best, float(largest.max(initial=-math.inf)))
            kept = np.flatnonzero(largest >= best - MARGIN)
            found.append((made, kept, largest[kept]))
        return chain.from_iterable(made(kept[largest >= best - MARGIN]) for made, kept, largest in found)

    def of_largest_value(self, sought: Sought) -> Iterator[Change]:
        """Return the changes that may have the largest value; if it is infinite, at least one of them.

        Of those that may have more than the largest value known, the one that exceeds it most clearly is looked at.
        It is told apart from laws that are equal, which have nothing in excess at an e^ε of at least 1.
        """
        left = [(made, ours, theirs, np.arange(len(ours))) for ours, theirs, made in self._pairs()]
        at, excesses, best, unit = -1.0, [], sought.least, 2 * np.finfo(float).eps
        while left and (found := sought.place(best)) and (slope := float(found[0])) * unit < 1:
            if slope != at:
                at, value = slope, partial(_excess, slope=slope)
                excesses = [self._of_rows(ours[rows], theirs[rows], value) for _, ours, theirs, rows in left]
            bar, error = float(found[1]), (1 + slope) * (self.numbers.shape[1] + 16) * unit
            chosen = [np.flatnonzero(excess >= bar - error) for excess in excesses]
            excesses = [excess[some] for excess, some in zip(excesses, chosen, strict=True)]
            left = [(*each[:3], each[3][some]) for each, some in zip(left, chosen, strict=True)]
            number = max(range(len(left)), key=lambda each: excesses[each].max(initial=-1.0))
            if excesses[number].max(initial=-1.0) <= bar + error:
                break
            made, _, _, rows = left[number]
            change = next(made(rows[[int(excesses[number].argmax())]]))
            larger = sought.value(Pair(*self.table.orbits.neighbours(change), change.size, self.table))
            if isinstance(larger, float):
                return iter([change])
            if larger <= best:
                break
            best = larger
        return chain.from_iterable(made(rows) for made, _, _, rows in left)


def _largest_difference(above: Doubles, below: Doubles) -> Doubles:
    with np.errstate(invalid="ignore"):
        differences = above - below
    differences[above == -math.inf] = -math.inf
    found: Doubles = differences.max(axis=1)
    return found


def _excess(ours: Doubles, theirs: Doubles, slope: float) -> Doubles:
    """Return Σ max(0, P - t·P') for rows of rounded probabilities: wrong by at most (1 + t)·(outputs + 16)·2^-51."""
    found: Doubles = np.maximum(ours - slope * theirs, 0.0).sum(axis=1)
    return found


def _less(counts: Counts, kind: int, letter: int) -> Counts:
    """Return the counts without one client of a kind that has a letter."""
    numbers = counts[kind]
    return (*counts[:kind], (*numbers[:letter], numbers[letter] - 1, *numbers[letter + 1 :]), *counts[kind + 1 :])
