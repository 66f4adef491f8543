"""Programs that see their clients only through aggregates: a law, and a pair of neighbours, per count of records."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from tightdp.errors import LimitError, QueryError
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Dataset
from tightdp.methods.aggregated import AggregateTable
from tightdp.methods.base import Comparison, Exact, Pair, Refusal, Tight, on_table, ratios_of_pairs
from tightdp.methods.by_datasets import up_to_symmetry
from tightdp.methods.control import Control
from tightdp.methods.first import alike_pairs, neighbours_in_order
from tightdp.methods.program import Method, Program
from tightdp.methods.ranking import tight_ratio
from tightdp.methods.ratios import Named
from tightdp.methods.screening import largest_changes
from tightdp.methods.states import States
from tightdp.methods.symmetry import Symmetry, of_groups
from tightdp.symmetry.sets import AccuracySet, Table, every_neighbouring_pair

__all__ = ["Aggregates", "costly", "look"]

_COSTLY = 2_000_000
"""Beyond this many probabilities in the laws of all counts, the tight ratio is first looked for in another way."""
_MANY_PAIRS = 500_000
"""Beyond about this many pairs of counts too."""
_SHARE = 8
"""Before the laws of all counts are computed, this many pairs are looked at, or an eighth of the number of counts."""
_FEW = 64
"""But at most this many."""
_FEW_ENTRIES = 20_000
"""Up to this many probabilities in the laws of all counts, all pairs are compared."""
_FEW_STEPS = 4
"""At most this many changes with the largest ratio are tried in search of a pair that attains the bound."""

T = TypeVar("T")


class Aggregates(Method):
    """A program cut at its aggregates."""

    name = "aggregate"

    def __init__(self, program: Program, table: AggregateTable) -> None:
        self.program = program
        self.table = table

    def laws(self, control: Control) -> Table:
        return self.table

    def tight(self, control: Control) -> Tight | Refusal:
        """Return an infinite ratio among the first pairs, or a bound that some pair attains; else compare all."""
        try:
            endless = self._endless_at_first(control)
            attained = self.bound_attained(control) if endless is None and self.table.entries > _FEW_ENTRIES else None
        except LimitError:
            endless = attained = None  # comparing the pairs meets it again, and says what is known
        return endless or attained or super().tight(control)

    def _endless_at_first(self, control: Control) -> Tight | None:
        """Return an infinite ratio among the first few pairs; None if there is none, or where a run may be rejected."""
        if self.table.rest.conditioned or not relation_of(self.program.bound).one_record:
            return None
        some = min(_FEW, max(_SHARE, self.table.orbits.number // _SHARE))
        for x, other in islice(self._first_neighbours(), some):
            control()
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


def costly(table: AggregateTable) -> bool:
    """Whether there are so many laws of counts, or pairs of them, that another way may well be faster."""
    each = sum(min(len(group.clients), len(group.letters)) * (len(group.letters) - 1) for group in table.groups)
    many_pairs = not isinstance(table.orbits, States) and table.orbits.number * each > _MANY_PAIRS
    return table.entries > _COSTLY or many_pairs


def look(program: Program, control: Control) -> Aggregates | Refusal:
    """Return the method where the laws of all counts fit in memory and time."""
    table = program.aggregate(control)
    if table is None:
        return Refusal("aggregate: clients are seen not only through sums and other operations that ignore order")
    if not table.affordable:
        return Refusal(f"aggregate: the laws of all counts have about {table.entries:,} probabilities, too many")
    return Aggregates(program, table)
