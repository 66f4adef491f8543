"""Output laws of programs that see their clients only through aggregates, and the sets that go with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

from tightdp.core.lowering import lower_target
from tightdp.core.nodes import CoreProgram
from tightdp.core.passes import arrangements_to_counts, expand_shuffles
from tightdp.errors import LanguageError, ProgramError
from tightdp.exact.numbers import Exact
from tightdp.exact.whole import Whole, lcm
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound, Dataset
from tightdp.limits.calibrated import DOUBLES_AT_ONCE, LISTED_MASSES, LISTED_ROWS
from tightdp.logic.count import Weights
from tightdp.logic.encode import prober
from tightdp.methods.aggregate import Aggregate, Contribution, find_aggregate, largest_of, largest_ratio
from tightdp.methods.leaf_laws import LeafLaws, leaf_laws
from tightdp.methods.mixture import State, StateLaw, SumLaw, certain, every_law, law_of, one_state
from tightdp.methods.states import States, find_states
from tightdp.methods.sums import SumLaws
from tightdp.symmetry.orbits import Change, Group, Orbits
from tightdp.symmetry.sets import SHORT_BITS, AccuracySet, Counts, PrivacySet, Table

_Listed = tuple[list[tuple[State, Whole]], Whole]
"""The weights of values of the aggregates, and what they are shares of."""


class AggregateTable(Table):
    """The output laws of a program cut at its aggregates, one per class of datasets."""

    def __init__(
        self,
        bound: Bound,
        aggregate: Aggregate,
        rest: LeafLaws,
    ) -> None:
        super().__init__(bound, rest.codes)
        self.rest = rest
        self.aggregate = aggregate
        self.groups = _groups_of(bound, aggregate, [(kind,) for kind in aggregate.kinds], [])
        self.letters = _contributed(bound, aggregate, self.groups)
        orbits = Orbits(bound, tuple(group.kind for group in self.groups))
        self.orbits = find_states(self.groups, orbits, aggregate.operators, self.letters) or orbits
        self._start = one_state(aggregate.operators, aggregate.tables, bound.n)
        self._given: dict[tuple[Any, ...], tuple[dict[int, Whole], Whole]] = {}
        self._by_counts: dict[Counts, Weights] = {}
        self._counts_of: dict[Dataset, Counts] = {}

    @property
    def known(self) -> int:
        """Of how many classes of datasets the law was computed."""
        return len(self._by_counts)

    @property
    def affordable(self) -> bool:
        """Whether the laws of all classes fit in memory and time."""
        return self.entries <= DOUBLES_AT_ONCE

    @property
    def entries(self) -> int:
        """A bound on how many probabilities the laws of all classes have together."""
        if isinstance(self.orbits, States):
            return self.orbits.number
        return min(self.orbits.number * self.states, self._most_entries)

    @property
    def states(self) -> int:
        """A bound on how many values the aggregates have together: those of each, or ways to contribute to all."""
        ways = math.prod(
            math.comb(len(group.clients) + values - 1, values - 1)
            for group, letters in zip(self.groups, self.letters, strict=True)
            for values in [len({joint for letter in letters for joint, _ in letter.weights})]
        )
        return min(math.prod(len(leaf.values) for leaf in self.rest.inputs), ways)

    @property
    def _most_entries(self) -> int:
        """A bound on how many ways of contributing the laws of all classes distinguish together.

        With s values that a client may contribute, summed over its letters, n interchangeable clients have
        C(n + s - 1, s - 1) ways to choose a letter and a value each.
        """
        return math.prod(
            math.comb(len(group.clients) + values - 1, values - 1)
            for group, letters in zip(self.groups, self.letters, strict=True)
            for values in [sum(len(letter.weights) for letter in letters)]
        )

    def fill(self, watch: Callable[[], None] = lambda: None) -> None:
        """Compute the laws of all classes of datasets at once, where that is cheaper than one by one."""
        if len(self._by_counts) < self.orbits.number and self._sums is None:
            self.fill_all(watch)

    def fill_all(self, watch: Callable[[], None]) -> None:
        """Compute all laws, including those that `fill` leaves to be computed on demand."""
        if len(self._by_counts) == self.orbits.number:
            return
        if isinstance(self.orbits, States):
            self._take_down(((state, certain(self._start, state)) for state in self.orbits.every_counts()), watch)
        elif self._sums is not None:
            for counts in self.orbits.every_counts():
                watch()
                self._by_counts[counts] = self._law(counts)
        else:
            self._take_down(self.state_laws(), watch)

    def prepare(self, datasets: Iterable[Dataset]) -> None:
        """Compute the laws of some datasets at once, where one by one takes longer."""
        if self._sums is None:
            missing = (counts for counts in map(self._counts, datasets) if counts not in self._by_counts)
            self._take_down([(counts, self._state_law(counts)) for counts in dict.fromkeys(missing)], lambda: None)

    def state_laws(self) -> Iterator[tuple[Counts, StateLaw]]:
        """Yield the law of the aggregates of every class of datasets."""
        return every_law(self._start, self.letters, [len(group.clients) for group in self.groups])

    def forget(self) -> None:
        """Let go of the laws that were computed, where they have many probabilities."""
        if sum(len(law.by_code) for law in self._by_counts.values()) > LISTED_MASSES:
            self._by_counts.clear()

    def _take_down(self, laws: Iterable[tuple[Counts, StateLaw]], watch: Callable[[], None]) -> None:
        """Compute output laws from those of the aggregates, in batches of the aggregates' values."""
        batch: list[tuple[Counts, _Listed]] = []
        pending = 0
        for counts, law in laws:
            watch()
            batch.append((counts, (list(law.items()), law.denominator)))
            pending += len(batch[-1][1][0])
            if pending >= LISTED_ROWS:
                self._take_batch(batch, watch)
                batch, pending = [], 0
        self._take_batch(batch, watch)

    def _take_batch(self, batch: Sequence[tuple[Counts, _Listed]], watch: Callable[[], None]) -> None:
        self._give(values for _, (law, _) in batch for values, _ in law)
        for counts, law in batch:
            watch()
            self._by_counts[counts] = self._output_law(*law)

    def _give(self, states: Iterable[State]) -> None:
        """Compute the outputs given some values of the aggregates, all at once, that are not known yet."""
        missing = [values for values in dict.fromkeys(states) if values not in self._given]
        for values, (weights, below) in zip(missing, self.rest.every(missing) if missing else (), strict=True):
            self._given[values] = dict(weights), below

    def every_law(self, watch: Callable[[], None]) -> Iterator[tuple[Counts, Mapping[int, Whole], Whole]]:
        """Yield the weights by code of the output law of every class of datasets, and their total."""
        if self._sums is None:
            self.fill_all(watch)
            yield from ((counts, law.by_code, law.total) for counts, law in self._by_counts.items())
            return
        for counts, law in self.state_laws():
            watch()
            assert isinstance(law, SumLaw)
            yield counts, self._sums.by_code(law), law.denominator

    def weights(self, x: Dataset) -> Weights:
        counts = self._counts(x)
        found = self._by_counts.get(counts)
        if found is None:
            found = self._by_counts[counts] = self._law(counts)
        if not found.total:
            raise self.bound.contradiction(x, "is false in every run")
        return found

    def _counts(self, x: Dataset) -> Counts:
        counts = self._counts_of.get(x)
        if counts is None:
            if len(self._counts_of) >= LISTED_ROWS:
                self._counts_of.clear()
            counts = self._counts_of[x] = self.orbits.counts(x)
        return counts

    def _state_law(self, counts: Counts) -> StateLaw:
        """Return the law of the aggregates."""
        if isinstance(self.orbits, States):
            return certain(self._start, counts)
        return law_of(self._start, self.letters, counts)

    def knows(self, x: Dataset) -> bool:
        """True: the law of any dataset is available without a diagram of all datasets."""
        return True

    def reaches(self, x: Dataset, most: int) -> bool:
        return self.codes.bits <= SHORT_BITS or self._counts(x) in self._by_counts

    def _law(self, counts: Counts) -> Weights:
        if self._sums is not None:
            return self._sums.weights(counts)
        self._take_down([(counts, self._state_law(counts))], lambda: None)
        return self._by_counts[counts]

    @cached_property
    def _sums(self) -> SumLaws | None:
        """The laws, where the output is one sum and nothing else: one output for each value; None elsewhere."""
        one = isinstance(self._start, SumLaw) and len(self.rest.inputs) == 1
        if self.rest.conditioned or not one or isinstance(self.orbits, States):
            return None
        code_of: dict[int, int] = {}
        for value in self.rest.inputs[0].values:
            self._give([(value,)])  # one by one: most have several outputs, which is seen at once
            outputs, below = self._given[value,]
            if list(outputs.values()) != [below]:
                return None
            (code_of[value],) = outputs
        if len(set(code_of.values())) < len(code_of):
            return None
        return SumLaws(code_of, self.letters, self._sum_law)

    def _output_law(self, law: list[tuple[State, Whole]], denominator: Whole) -> Weights:
        entries = [(self._given[values], weight) for values, weight in law]
        common = lcm(*(below for (_, below), _ in entries))
        total: dict[int, Whole] = {}
        for (outputs, below), weight in entries:
            factor = weight * (common // below)
            for code, share in outputs.items():
                total[code] = total.get(code, 0) + factor * share
        whole = sum(total.values()) if self.rest.conditioned else denominator * common
        return Weights(dict(sorted(total.items())), whole)

    def _sum_law(self, counts: Counts) -> SumLaw:
        law = self._state_law(counts)
        assert isinstance(law, SumLaw)
        return law

    # the sets

    def privacy_set(self, watch: Callable[[], None] = lambda: None) -> PrivacySet:
        """Return one pair per class of neighbours, or per two laws where classes are many; no custom relations."""
        found = self.orbits.privacy_set()
        if relation_of(self.bound).one_record and (found.size is None or found.size > LISTED_ROWS):
            return PrivacySet(lambda: self._merged_pairs(watch), found.size)
        return found

    def _merged_pairs(self, watch: Callable[[], None]) -> Iterator[tuple[Dataset, Dataset, int]]:
        self.fill_all(watch)
        laws: dict[Any, int] = {}
        law_of_counts = {}
        alike = len({weights.total for weights in self._by_counts.values()}) == 1
        for counts, weights in self._by_counts.items():
            watch()
            law_of_counts[counts] = laws.setdefault((weights if alike else weights.lowest).written, len(laws))
        merged: dict[tuple[int, int], tuple[Change, int]] = {}
        orbits = self.orbits
        changes = orbits.changes_between(law_of_counts.get) if isinstance(orbits, States) else orbits.changes_of_one()
        for change in changes:
            watch()
            key = law_of_counts[change.counts], law_of_counts[change.counts_after]
            first, size = merged.get(key, (change, 0))
            merged[key] = first, size + change.size
        for change, size in merged.values():
            yield *self.orbits.neighbours(change), size

    @cached_property
    def ratio_bound(self) -> Exact:
        """An upper bound on every likelihood ratio, for a built-in relation.

        The output depends on a record only through what its client contributes, and a ratio of sums is at most the
        largest ratio of its terms. `observe` divides by probabilities that change by at most the same factor.
        """
        bounds = [
            largest_of((letters[old], letters[new]) for old, new in group.moves(relation_of(self.bound).steps))
            for letters, group in zip(self.letters, self.groups, strict=True)
        ]
        if relation_of(self.bound).every_record:
            powers = [limit ** len(group.clients) for limit, group in zip(bounds, self.groups, strict=True)]
            whole = math.inf if math.inf in powers else math.prod(powers, start=Fraction(1))
        else:
            whole = max(bounds, default=Fraction(1))
        return whole * whole if self.rest.conditioned else whole

    def steepest_pairs(self, bound: Exact) -> Iterator[tuple[Dataset, Dataset]]:
        """Yield neighbours that differ in one record whose contributions have this ratio, the other records alike."""
        relation = relation_of(self.bound)
        for letters, group in zip(self.letters, self.groups, strict=True) if relation.one_record else ():
            for old, new in sorted(group.moves(relation.steps)):
                if largest_ratio(letters[old], letters[new]) == bound:
                    records = group.letters[old][0], group.letters[new][0]
                    x, other = ([records[0]] * self.bound.n for _ in range(2))
                    other[group.clients[0]] = records[1]
                    yield tuple(x), tuple(other)

    def codes_given(self) -> set[int] | None:
        """Return the codes of all outputs that are ever given; None where some laws are not computed yet."""
        some = len(self._by_counts) < self.orbits.number
        return None if some else set().union(*(law.by_code for law in self._by_counts.values()))

    def accuracy_classes(self) -> int | None:
        """Return how many datasets accuracy would be measured on; None without a target of that form."""
        found = None if self.bound.program.target is None else self.accuracy_set()
        return None if found is None else found.size

    def accuracy_set(self) -> AccuracySet | None:
        """Return one dataset per class of equal law and equal target.

        None where the target has no such form, or the classes are too many.
        """
        bound = self.bound
        try:
            target = find_aggregate(lower_target(bound, prober()), bound.record, bound.n, "cudd")
        except (LanguageError, ProgramError):
            return None
        if target is None:
            return None
        marks = list(zip(self.aggregate.kinds, target.kinds, strict=True))
        groups = _groups_of(bound, self.aggregate, marks, [target])
        orbits = Orbits(bound, tuple(group.kind for group in groups))
        if isinstance(self.orbits, States):
            orbits = self._states_with(target, groups, orbits) or orbits
        return orbits.accuracy_set() if orbits.number <= DOUBLES_AT_ONCE else None

    def _states_with(self, target: Aggregate, groups: Sequence[Group], orbits: Orbits) -> States | None:
        """Return the states of the aggregates and those of the target together; what both see alike counts once."""
        columns: dict[tuple[str, tuple[tuple[Any, ...], ...]], None] = {}
        for which in (self.aggregate, target):
            given = [[one.weights[0][0] for one in each] for each in _contributed(self.bound, which, groups)]
            for at, operator in enumerate(which.operators):
                columns[operator, tuple(tuple(values[at] for values in each) for each in given)] = None
        operators, by_column = zip(*columns, strict=True)
        by_group = (zip(*tables, strict=True) for tables in zip(*by_column, strict=True))
        letters = [[Contribution(((values, 1),), 1) for values in table] for table in by_group]
        return find_states(groups, orbits, operators, letters)


def _contributed(bound: Bound, aggregate: Aggregate, groups: Sequence[Group]) -> list[list[Contribution]]:
    """Return by group what its letters contribute to an aggregate."""
    position = {record: at for at, record in enumerate(bound.record.values)}
    tables = (aggregate.tables[aggregate.kinds[group.clients[0]]] for group in groups)
    return [
        [table[position[letter[0]]] for letter in group.letters] for table, group in zip(tables, groups, strict=True)
    ]


def _groups_of(
    bound: Bound, aggregate: Aggregate, marks: Sequence[tuple[int, ...]], further: Sequence[Aggregate]
) -> list[Group]:
    """Return the groups of clients and records that neither the aggregate nor any further one distinguishes."""
    groups = []
    for mark in dict.fromkeys(marks):
        clients = tuple(client for client, other in enumerate(marks) if other == mark)
        tables = [which.tables[kind] for which, kind in zip([aggregate, *further], mark, strict=True)]
        letters: dict[Any, list[Any]] = {}
        for at, record in enumerate(bound.record.values):
            letters.setdefault(tuple(table[at] for table in tables), []).append(record)
        groups.append(Group(clients, tuple(tuple(letter) for letter in letters.values())))
    return groups


def find_aggregate_table(
    bound: Bound, program: CoreProgram, backend: str, watch: Callable[[int], None] = lambda size: None
) -> AggregateTable | None:
    """Return the table of a program that can be cut at its aggregates, or None.

    Raises ProgramError where a run can fail: where no small diagram tells, the laws of all counts are computed.
    """
    counted = expand_shuffles(arrangements_to_counts(program))
    aggregate = find_aggregate(counted, bound.record, bound.n, backend)
    if aggregate is None:
        return None
    laws, safe = leaf_laws(aggregate.rest, backend, watch)
    table = AggregateTable(bound, aggregate, laws)
    if not safe:
        if not table.affordable:
            return None
        table.fill_all(lambda: watch(0))
    return table
