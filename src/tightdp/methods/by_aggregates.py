"""Programs that see their clients only through aggregates: a law, and a pair of neighbours, per count of records.

Of many pairs, rounded logarithms of all probabilities tell which may have the largest likelihood ratio, for many pairs
at once; what is left is compared exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import chain, islice
from typing import TypeVar

from tightdp.errors import LimitError, QueryError
from tightdp.exact.arrays import Doubles, Integers, np
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Dataset
from tightdp.limits.calibrated import (
    COUNTED_PAIR_STEPS,
    DOUBLES_AT_ONCE,
    ENTRIES_IN_ONE,
    FEW_VALUES,
    LISTED_MASSES,
    LISTED_ROWS,
    TABLE_ENTRIES,
    VALUE_STEPS,
)
from tightdp.methods.aggregated import AggregateTable
from tightdp.methods.base import (
    Comparison,
    Control,
    Exact,
    Named,
    Pair,
    Refusal,
    Tight,
    on_table,
    ratios_of_pairs,
    too_much,
)
from tightdp.methods.by_datasets import up_to_symmetry
from tightdp.methods.program import Method, Program
from tightdp.methods.ranking import MARGIN, alike_pairs, neighbours_in_order, rounded, tight_ratio
from tightdp.methods.states import States
from tightdp.methods.symmetry import Symmetry, of_groups
from tightdp.symmetry.orbits import Change
from tightdp.symmetry.sets import AccuracySet, Counts, Table, every_neighbouring_pair

_MULTIPLIER = 0x9E3779B97F4A7C15


class _Unsuitable(Exception):
    """Some law does not consist of integers that can be rounded, or there are too many."""


def largest_changes(
    table: AggregateTable, watch: Callable[[], None], few: int = TABLE_ENTRIES
) -> Iterator[Change] | None:
    """Return changes of one record that include all those attaining the largest ratio (if infinite, at least one).

    None where there are at most `few` pairs of neighbours, or they cannot be screened in this way.
    """
    orbits = table.orbits
    pairs = orbits.number**2 if isinstance(orbits, States) else orbits.number_of_pairs
    if not relation_of(table.bound).one_record or pairs <= few:
        return None
    try:
        return _Screen(table, watch).changes()
    except _Unsuitable:
        return None


class _Screen:
    def __init__(self, table: AggregateTable, watch: Callable[[], None]) -> None:
        self.table, self.watch = table, watch
        self.law_of: dict[Counts, int] = {}
        """By state of the aggregates, a number that only equal laws share."""
        self.counts, self.logarithms = self._exact()
        self.best = -math.inf

    def _exact(self) -> tuple[list[Counts], Doubles]:
        """Return all counts, and the logarithms of all probabilities, rounded one by one."""
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
            logarithms = rounded(by_code, total)
            if logarithms is None:
                raise _Unsuitable
            rows.append(([places.setdefault(code, len(places)) for code in by_code], logarithms))
        found = np.full((len(rows), len(places)), -math.inf)
        for row, (columns, logarithms) in enumerate(rows):
            found[row, columns] = logarithms
        return counts, found

    def changes(self) -> Iterator[Change]:
        orbits = self.table.orbits
        return self._between_states(orbits) if isinstance(orbits, States) else self._between_counts()

    def _between_states(self, states: States) -> Iterator[Change]:
        """Yield changes of states that lead to other laws: there may be far more pairs of states."""
        place = {state: at for at, state in enumerate(self.counts)}
        changes = list(states.changes_between(self.law_of.__getitem__))
        ours, theirs = (
            np.array([place[state] for state in side], dtype=np.int64)
            for side in ([change.counts for change in changes], [change.counts_after for change in changes])
        )
        largest = self._largest(ours, theirs)
        return (changes[at] for at in np.flatnonzero(largest >= largest.max(initial=-math.inf) - MARGIN).tolist())

    def _between_counts(self) -> Iterator[Change]:
        self.letters = np.array([list(chain(*one)) for one in self.counts], dtype=np.int64)
        digits = np.array([pow(_MULTIPLIER, at + 1, 1 << 64) for at in range(self.letters.shape[1])], dtype=np.uint64)
        keys = (self.letters.astype(np.uint64) * digits).sum(axis=1, dtype=np.uint64)
        order = np.argsort(keys)
        ordered = keys[order]
        if (ordered[1:] == ordered[:-1]).any():
            raise _Unsuitable  # the keys do not distinguish all counts
        found: list[tuple[int, tuple[int, int], Integers, Doubles]] = []
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

    def _largest(self, ours: Integers, theirs: Integers) -> Doubles:
        """Return, for pairs of laws, the logarithm of the largest ratio between their probabilities."""
        result = np.empty(len(ours))
        size = max(LISTED_MASSES // self.logarithms.shape[1], 1)
        for start in range(0, len(ours), size):
            self.watch()
            above = self.logarithms[ours[start : start + size]]
            below = self.logarithms[theirs[start : start + size]]
            with np.errstate(invalid="ignore"):
                differences = above - below
            differences[above == -math.inf] = -math.inf
            result[start : start + size] = differences.max(axis=1)
        return result

    def _made(self, found: list[tuple[int, tuple[int, int], Integers, Doubles]]) -> Iterator[Change]:
        changes: list[Change] = []
        for kind, (old, new), ours, largest in found:
            kept = ours[largest >= self.best - MARGIN] if self.best < math.inf else ours[largest == math.inf]
            several = (_less(self.counts[at], kind, old) for at in kept.tolist())
            changes += self.table.orbits.changes(kind, (old, new), several)
        return iter(changes)


def _less(counts: Counts, kind: int, letter: int) -> Counts:
    """Return the counts without one client of a kind that has a letter."""
    numbers = counts[kind]
    return (*counts[:kind], (*numbers[:letter], numbers[letter] - 1, *numbers[letter + 1 :]), *counts[kind + 1 :])


_SHARE = 8
"""Before the laws of all counts are computed, this many pairs are looked at, or an eighth of the number of counts."""
_FEW_STEPS = 4
"""At most this many changes with the largest ratio are tried in search of a pair that attains the bound."""

T = TypeVar("T")


class Aggregates(Method):
    """A program cut at its aggregates."""

    name = "aggregate"

    def __init__(self, program: Program, table: AggregateTable) -> None:
        self.program = program
        self.table = table

    def work(self) -> int:
        return self.estimate * self.table.known // self.table.orbits.number

    def laws(self, control: Control) -> Table:
        return self.table

    def tight(self, control: Control, budget: int) -> Tight | Refusal:
        """Return an infinite ratio among the first pairs, or a bound that some pair attains; else compare all."""
        try:
            endless = self._endless_at_first(control)
            attained = self.bound_attained(control) if endless is None and self.table.entries > LISTED_ROWS else None
        except LimitError:
            endless = attained = None  # comparing the pairs meets it again, and says what is known
        return endless or attained or super().tight(control, budget)

    def _endless_at_first(self, control: Control) -> Tight | None:
        """Return an infinite ratio among the first few pairs; None if there is none, or where a run may be rejected."""
        if self.table.rest.conditioned or not relation_of(self.program.bound).one_record:
            return None
        some = min(FEW_VALUES, max(_SHARE, self.table.orbits.number // _SHARE))
        first = list(islice(self._first_neighbours(), some))
        for at, (x, other) in enumerate(first):
            control()
            if at % _SHARE == 0:
                self.table.prepare(chain.from_iterable(first[at : at + _SHARE]))
            found = tight_ratio([Pair(x, other, 0, self.table)])
            if found and found[0].exp_epsilon == math.inf:
                for dataset in (x, other):
                    control.look_at(self.table, dataset)
                return Tight(math.inf, math.inf, found[0])
        return None

    def bound_attained(self, control: Control) -> Tight | None:
        """Return the bound on all ratios where one of a few changes of a record attains it, else None.

        This happens where the least or greatest output arises only from the client's most telling contribution.
        """
        bound = self.ratio_bound()
        if bound == math.inf:
            return None
        for x, other in islice(self.table.steepest_pairs(bound), _FEW_STEPS):
            control()
            found = tight_ratio([Pair(x, other, 0, self.table)])
            if found and found[0].exp_epsilon == bound:
                for dataset in (x, other):
                    control.look_at(self.table, dataset)
                return Tight(bound, bound, found[0])
        return None

    def comparison(self, control: Control) -> Comparison | Refusal:
        if relation_of(self.program.bound).custom:
            try:
                return on_table(self.table, every_neighbouring_pair(self.program.bound), control)
            except QueryError as error:
                return Refusal(error.what, error.hint, decisive=True)
        pairs = on_table(self.table, self.table.privacy_set(control), control)
        return Comparison(lambda: self._filled(pairs, control), pairs.size)

    def largest(self, control: Control) -> Comparison | Refusal:
        plain = self.comparison(control)
        if relation_of(self.program.bound).custom or isinstance(plain, Refusal):
            return plain

        def pairs() -> Iterator[Pair]:
            changes = largest_changes(self.table, control)
            if changes is None:
                yield from plain
            else:
                for change in changes:
                    yield Pair(*self.table.orbits.neighbours(change), change.size, self.table)

        return Comparison(pairs, plain.size)

    def in_order(self, control: Control) -> Iterator[Pair] | Refusal:
        groups = [group.clients for group in self.table.groups]
        return alike_pairs(self.program.bound, self.table, groups)

    def _first_neighbours(self) -> Iterator[tuple[Dataset, Dataset]]:
        return neighbours_in_order(self.program.bound, [group.clients for group in self.table.groups])

    def ratio_bound(self) -> Exact:
        return math.inf if relation_of(self.program.bound).custom else self.table.ratio_bound()

    def accuracy_set(self, control: Control) -> AccuracySet | Refusal:
        found = self.table.accuracy_set() or up_to_symmetry(self.program, control)
        if isinstance(found, Refusal):
            return found
        datasets = found.watched(control)
        return AccuracySet(lambda: self._filled(datasets, control), found.size)

    def every_ratio(self, control: Control) -> Iterator[Named] | Refusal:
        found = self.comparison(control)
        return found if isinstance(found, Refusal) else ratios_of_pairs(found)

    def symmetry(self) -> Symmetry:
        table = self.table
        codes = table.codes_given()
        outputs = None if codes is None else len(codes)
        return of_groups(table.groups, table.orbits, outputs, table.accuracy_classes())

    def every_symmetry(self, control: Control) -> Symmetry:
        self.table.fill_all(control)
        return self.symmetry()

    def _filled(self, entries: Iterable[T], control: Control) -> Iterator[T]:
        """Compute the laws of all counts, then yield the entries."""
        self.table.fill(control)
        yield from entries


def estimate(table: AggregateTable) -> int:
    """Return how many steps the laws of all counts of records take, and comparing those of neighbours."""
    each = sum(min(len(group.clients), len(group.letters)) * (len(group.letters) - 1) for group in table.groups)
    pairs = 0 if isinstance(table.orbits, States) else table.orbits.number * each
    laws = table.entries // ENTRIES_IN_ONE + (VALUE_STEPS + table.rest.length) * min(table.states, table.entries)
    return laws + COUNTED_PAIR_STEPS * pairs


def look(program: Program, control: Control, budget: int) -> Aggregates | Refusal:
    """Return the method where the laws of all counts fit in memory and time."""
    table = program.aggregate(control)
    if table is None:
        return Refusal("aggregate: clients are seen not only through sums and other operations that ignore order")
    if not table.affordable:
        return Refusal(f"aggregate: the laws of all counts have about {table.entries:,} probabilities, too many")
    if (needs := estimate(table)) > budget:
        return too_much("aggregate", needs)
    found = Aggregates(program, table)
    found.estimate = needs
    return found
