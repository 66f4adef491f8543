"""Programs that see their clients only through aggregates: a law, and a pair of neighbours, per count of records."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TypeVar

from tightdp.errors import LimitError, QueryError
from tightdp.language.neighbours import relation_of
from tightdp.limits.calibrated import (
    ENTRIES_IN_ONE,
    FEW_DATASETS,
    FEW_VALUES,
    LISTED_ROWS,
    LITTLE_WORK,
    NO_LIMIT,
    TABLE_ENTRIES,
    VALUE_STEPS,
)
from tightdp.methods.aggregate_screen import largest_changes, number_of_pairs, telling_changes
from tightdp.methods.aggregated import AggregateTable
from tightdp.methods.base import (
    Comparison,
    Control,
    Exact,
    Pair,
    Refusal,
    Sought,
    Tight,
    on_table,
    too_much,
)
from tightdp.methods.by_datasets import up_to_symmetry
from tightdp.methods.program import Method, Program
from tightdp.methods.ranking import alike_pairs, neighbours_in_order, tight_ratio
from tightdp.methods.renamed import changes_up_to_renaming
from tightdp.methods.states import States
from tightdp.methods.symmetry import Symmetry, of_groups
from tightdp.symmetry.kept import given_neighbours
from tightdp.symmetry.orbits import Change
from tightdp.symmetry.sets import AccuracySet, Table, every_neighbouring_pair

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
        self.renamed: Sequence[Change] = ()
        """The changes that are left up to renaming outputs, where looking for them spares much."""

    def work(self) -> int:
        return self.estimate * self.table.known // self.table.orbits.number

    def laws(self, control: Control) -> Table:
        return self.table

    def tight(self, control: Control, budget: int) -> Tight | Refusal:
        """Return an infinite ratio among the first pairs, or a bound that some pair attains; else compare all."""
        try:
            if self.ratio_bound() == math.inf:
                found = self._endless_at_first(control)
            else:
                found = self.bound_attained(control) if self.table.entries > LISTED_ROWS else None
        except LimitError:
            found = None  # comparing the pairs meets it again, and says what is known
        if found is None and self.comparing > budget:
            return self.too_much(self.comparing)
        return found or super().tight(control, budget)

    def too_much(self, needs: int) -> Refusal:
        """Return the refusal of what takes so many steps."""
        if needs < NO_LIMIT:
            return too_much(self.name, needs)
        entries = self.table.entries
        return Refusal(f"{self.name}: the laws of all counts have about {entries:,} probabilities, too many")

    def _endless_at_first(self, control: Control) -> Tight | None:
        """Return an infinite ratio among the first few pairs; None if there is none, or where a run may be rejected."""
        if self.table.rest.conditioned or not relation_of(self.program.bound).one_record:
            return None
        some = min(FEW_VALUES, max(_SHARE, self.table.orbits.number // _SHARE))
        groups = [group.clients for group in self.table.groups]
        first = list(islice(neighbours_in_order(self.program.bound, groups), some))
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
                orbits = self.table.orbits
                if isinstance(orbits, States):
                    return on_table(self.table, every_neighbouring_pair(self.program.bound), control)
                return on_table(self.table, given_neighbours(orbits), control)
            except QueryError as error:
                return Refusal(error.what, error.hint, decisive=True)
        if self.renamed:
            return self._up_to_renaming(control)
        pairs = on_table(self.table, self.table.privacy_set(control), control)
        return Comparison(lambda: self._filled(pairs, control), pairs.size)

    def _up_to_renaming(self, control: Control) -> Comparison:
        """Return the changes that are left up to renaming outputs; of few of all counts the law is computed."""

        def pairs() -> Iterator[Pair]:
            for change in self.renamed:
                control()
                yield Pair(*self.table.orbits.neighbours(change), change.size, self.table)
                self.table.forget()

        return Comparison(pairs, len(self.renamed))

    def largest(self, control: Control) -> Comparison | Refusal:
        plain = self.comparison(control)
        if relation_of(self.program.bound).custom or isinstance(plain, Refusal) or self.renamed:
            return plain

        return self._screened(plain, lambda: largest_changes(self.table, control))

    def telling(self, control: Control, sought: Sought | None) -> Comparison | Refusal:
        plain = self.comparison(control)
        exact = self.program.inexact is None and not relation_of(self.program.bound).custom
        if sought is None or isinstance(plain, Refusal) or not exact or self.renamed:
            return plain
        return self._screened(plain, lambda: telling_changes(self.table, sought, control))

    def _screened(self, plain: Comparison, chosen: Callable[[], Iterator[Change] | None]) -> Comparison:
        """Return the pairs of the chosen changes; of all where none are chosen."""

        def pairs() -> Iterator[Pair]:
            changes = chosen()
            if changes is None:
                yield from plain
            else:
                for change in changes:
                    yield Pair(*self.table.orbits.neighbours(change), change.size, self.table)

        return Comparison(pairs, plain.size)

    def in_order(self, control: Control) -> Iterator[Pair] | Refusal:
        groups = [group.clients for group in self.table.groups]
        return alike_pairs(self.program.bound, self.table, groups)

    def ratio_bound(self) -> Exact:
        return math.inf if relation_of(self.program.bound).custom else self.table.ratio_bound

    def accuracy_set(self, control: Control) -> AccuracySet | Refusal:
        found = self.table.accuracy_set() or up_to_symmetry(self.program, control)
        if isinstance(found, Refusal):
            return found
        datasets = found.watched(control)
        return AccuracySet(lambda: self._filled(datasets, control), found.size)

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
    return _steps(table, table.entries, pairs)


def _steps(table: AggregateTable, entries: int, pairs: int) -> int:
    """Return how many steps laws with so many probabilities take, and comparing so many pairs of them."""
    laws = entries // ENTRIES_IN_ONE + (VALUE_STEPS + table.rest.length) * min(table.states, entries)
    return laws + pairs // ENTRIES_IN_ONE  # most are told apart in doubles, many at once


def look(program: Program, control: Control, budget: int) -> Aggregates | Refusal:
    """Return the method where the laws of all counts fit in memory and time."""
    table = program.aggregate(control)
    if table is None:
        return Refusal("aggregate: clients are seen not only through sums and other operations that ignore order")
    found = Aggregates(program, table)
    found.listing = found.comparing = estimate(table) if table.affordable else NO_LIMIT
    renamable = program.bound.record.size <= FEW_DATASETS and relation_of(program.bound).one_record
    if renamable and (found.listing > LITTLE_WORK or number_of_pairs(table) > TABLE_ENTRIES):
        changes = program.once("changes up to renaming", lambda: changes_up_to_renaming(table)) or []
        laws = len({counts for change in changes for counts in (change.counts, change.counts_after)})
        if changes and 2 * (needs := _steps(table, laws * table.states, len(changes))) < found.listing:
            found.renamed, found.comparing = changes, needs
    found.estimate = found.comparing
    few = _steps(table, 2 * table.states, 1)  # the laws of one pair, which may have a ratio that none exceeds
    return found if min(found.estimate, few) <= budget else found.too_much(min(found.estimate, few))
