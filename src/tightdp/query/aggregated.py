"""Output laws of programs that see their clients only through aggregates, and the sets that go with them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from tightdp.errors import LanguageError, ProgramError
from tightdp.lang.ir import CoreProgram, Shape, TupleOf
from tightdp.lang.lower import lower_target
from tightdp.lang.passes import Arrangement, arrangements_to_counts, expand_shuffles
from tightdp.lang.program import Bound, Dataset, Output
from tightdp.logic.aggregate import Aggregate, find_aggregate
from tightdp.logic.count import Weights, raw_weights
from tightdp.logic.encode import encode, prober
from tightdp.logic.formula import WeightedFormula
from tightdp.logic.mixture import StateLaw, every_law, law_of, one_state
from tightdp.query.orbits import Group, Orbits
from tightdp.query.sets import AccuracySet, PrivacySet, Table

__all__ = ["AggregateTable", "find_aggregate_table"]

MAX_LAW_ENTRIES = 30_000_000
"""How many probabilities the laws of all classes of datasets may have together."""


class AggregateTable(Table):
    """The output laws of a program cut at its aggregates, one per class of datasets."""

    def __init__(
        self,
        bound: Bound,
        aggregate: Aggregate,
        rest: WeightedFormula,
        arrangements: Sequence[Arrangement],
    ) -> None:
        super().__init__(bound, rest)
        self.aggregate = aggregate
        self.arrangements = tuple(arrangements)
        self.orbits = _orbits(bound, aggregate, [(kind,) for kind in aggregate.kinds], [])
        self._kind = [aggregate.kinds[group.clients[0]] for group in self.orbits.groups]
        position = {record: at for at, record in enumerate(bound.record.values)}
        self._letters = [
            [aggregate.tables[kind][position[letter[0]]] for letter in group.letters]
            for kind, group in zip(self._kind, self.orbits.groups, strict=True)
        ]
        self._start = one_state(aggregate.operators, aggregate.tables)
        self._given: dict[tuple[Any, ...], tuple[dict[int, int], int]] = {}
        self._by_counts: dict[Any, Weights] = {}

    @property
    def queries(self) -> int:
        return len(self._by_counts)

    @property
    def affordable(self) -> bool:
        """Whether the laws of all classes fit in memory and time."""
        states = math.prod(len(leaf.values) for leaf in self.formula.inputs)
        return self.orbits.number * states <= MAX_LAW_ENTRIES

    def fill(self, watch: Callable[[], None] = lambda: None) -> None:
        """Compute the laws of all classes of datasets at once."""
        if len(self._by_counts) == self.orbits.number:
            return
        clients = [len(group.clients) for group in self.orbits.groups]
        for counts, state in every_law(self._start, self._letters, clients):
            watch()
            self._by_counts[counts] = self._output_law(state)

    def weights(self, x: Dataset) -> Weights:
        counts = self.orbits.counts(x)
        found = self._by_counts.get(counts)
        if found is None:
            found = self._by_counts[counts] = self._output_law(law_of(self._start, self._letters, counts))
        if not found.total:
            raise self.bound.contradiction(x, "is false in every run")
        return found

    def multiplicity(self, code: int) -> int:
        if not self.arrangements:
            return 1
        values = self.formula.component_values(code)
        return math.prod(arrangement.arrangements(values) for arrangement in self.arrangements)

    def outputs(self, code: int) -> Iterator[Output]:
        values = self.formula.component_values(code)
        orders = [arrangement.every(values) for arrangement in self.arrangements]
        for chosen in product(*orders):
            given = dict(zip(self.arrangements, chosen, strict=True))
            yield _put_together(self.formula.shape, values, given)

    def _output_law(self, state: StateLaw) -> Weights:
        entries = [(self._outputs_given(values), weight) for values, weight in state.items()]
        common = math.lcm(*(below for (_, below), _ in entries))
        total: dict[int, int] = {}
        for (outputs, below), weight in entries:
            factor = weight * (common // below)
            for code, share in outputs.items():
                total[code] = total.get(code, 0) + factor * share
        whole = sum(total.values()) if self.formula.conditioned else state.denominator * common
        return Weights(dict(sorted(total.items())), whole)

    def _outputs_given(self, values: tuple[Any, ...]) -> tuple[dict[int, int], int]:
        found = self._given.get(values)
        if found is None:
            weights, below = raw_weights(self.formula, self.formula.evidence_of(values))
            found = self._given[values] = (dict(weights), below)
        return found

    # the sets

    def privacy_set(self) -> PrivacySet:
        """Return one pair of neighbours per class, for a relation that changes one record."""
        return PrivacySet(lambda: self.orbits.pairs(self.bound), self.orbits.number_of_pairs(self.bound))

    def codes(self) -> set[int]:
        """Return the codes of all outputs that are ever given."""
        return set().union(*(law.by_code for law in self._by_counts.values()))

    def accuracy_classes(self) -> int | None:
        """Return how many datasets accuracy would be measured on; None without a target of that form."""
        found = None if self.bound.program.target is None else self.accuracy_set()
        return None if found is None else found.size

    def accuracy_set(self) -> AccuracySet | None:
        """Return one dataset per class of equal law and equal target, or None where the target has no such form."""
        target = _target_aggregate(self.bound)
        if target is None:
            return None
        marks = list(zip(self.aggregate.kinds, target.kinds, strict=True))
        orbits = _orbits(self.bound, self.aggregate, marks, [target])
        if orbits.number > MAX_LAW_ENTRIES:
            return None
        return AccuracySet(
            lambda: ((orbits.representative(counts), orbits.size(counts)) for counts in orbits.every_counts()),
            orbits.number,
        )


def _put_together(shape: Shape, values: Sequence[Any], given: dict[Arrangement, tuple[Any, ...]]) -> Output:
    """Return the output with these components and these orders of shuffled parts."""
    if isinstance(shape, Arrangement):
        return given[shape]
    if isinstance(shape, TupleOf):
        return tuple(_put_together(item, values, given) for item in shape.items)
    return shape.decode(values)


def _orbits(
    bound: Bound, aggregate: Aggregate, marks: Sequence[tuple[int, ...]], further: Sequence[Aggregate]
) -> Orbits:
    """Return the classes of datasets that neither the aggregate nor any further one tells apart."""
    groups = []
    for mark in dict.fromkeys(marks):
        clients = tuple(client for client, other in enumerate(marks) if other == mark)
        tables = [which.tables[kind] for which, kind in zip([aggregate, *further], mark, strict=True)]
        letters: dict[Any, list[Any]] = {}
        for at, record in enumerate(bound.record.values):
            letters.setdefault(tuple(table[at] for table in tables), []).append(record)
        groups.append(Group(clients, tuple(tuple(letter) for letter in letters.values())))
    return Orbits(tuple(groups), bound.n)


def _target_aggregate(bound: Bound) -> Aggregate | None:
    try:
        target = lower_target(bound, prober())
        return find_aggregate(target, bound.record, bound.n, "cudd")
    except (LanguageError, ProgramError):
        return None


def find_aggregate_table(
    bound: Bound, program: CoreProgram, backend: str, watch: Callable[[int], None] = lambda size: None
) -> AggregateTable | None:
    """Return the table of a program that can be cut at its aggregates, or None."""
    counted = arrangements_to_counts(program)
    aggregate = find_aggregate(expand_shuffles(counted.program), bound.record, bound.n, backend)
    if aggregate is None:
        return None
    return AggregateTable(bound, aggregate, encode(aggregate.rest, backend, watch), counted.arrangements)

