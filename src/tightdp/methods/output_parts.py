"""Programs whose output falls into parts that are independent given the dataset, such as a noisy histogram.

Each part sees the clients through aggregates of its own. Two neighbours then differ in some of the parts only, and
every divergence between their output laws is that between the laws of these parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any

from tightdp.core.nodes import CoreProgram, Draw, Input, Leaf, TupleOf, reachable
from tightdp.exact.weights import quotient
from tightdp.exact.whole import gcd
from tightdp.language.domains import Record
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound, Dataset
from tightdp.methods.aggregate import Aggregate, Contribution, marginal
from tightdp.methods.aggregated import AggregateTable
from tightdp.methods.base import Pair
from tightdp.methods.leaf_laws import leaf_laws
from tightdp.methods.pieces import Piece, PieceTable, Triples, plain
from tightdp.symmetry.orbits import Group, Orbits

__all__ = ["OutputParts", "find_output_parts"]


class OutputParts:
    """The parts of an output, each with the table of its laws."""

    def __init__(self, bound: Bound, whole: AggregateTable, parts: Sequence[Piece]) -> None:
        self.bound = bound
        self._whole = whole
        self._pieces = tuple(parts)
        self._parts = tuple(part.table for part in parts if isinstance(part.table, AggregateTable))
        self._tables: dict[tuple[int, ...], PieceTable] = {}
        self._numbers: dict[Any, int] = {}
        self._laws_seen: dict[Any, int] = {}
        self._outputs: list[set[int]] = [set() for _ in parts]
        """By part, the numbers of outputs that it has on the datasets that were looked at."""

    @property
    def affordable(self) -> bool:
        """Whether the laws of all parts fit in memory and time."""
        return all(part.affordable for part in self._parts)

    def _table(self, shown: tuple[int, ...]) -> PieceTable:
        """Return the table of some parts."""
        if shown not in self._tables:
            chosen = shown or (0,)  # where the laws of all parts are unchanged, any part will do
            pieces = [self._pieces[at] for at in chosen]
            others = [piece for at, piece in enumerate(self._pieces) if at not in chosen]
            self._tables[shown] = PieceTable(self.bound, self._whole.rest.codes.shape, pieces, others)
        return self._tables[shown]

    @property
    def number_of_changes(self) -> int:
        """A bound on how many changes of counts have to be visited for all pairs."""
        return sum(self._coarse_orbits(parts).number_of_pairs for parts in self._changed_together())

    def _changed_together(self) -> list[tuple[int, ...]]:
        """Return the parts to which some client contributes something else when it changes its record."""
        return sorted({self._changed(*move) for move in self._moves()})

    def pairs(self, watch: Callable[[], None]) -> Iterator[Pair]:
        """Yield one pair of neighbours for every change of the counts that the parts see."""
        merged: dict[Any, tuple[Dataset, Dataset, tuple[int, ...], Triples]] = {}
        for parts in self._changed_together():
            coarse = self._coarse_orbits(parts)
            for change in coarse.changes_of_one(self._changing(parts)):
                watch()
                x, other = coarse.neighbours(change)
                laws = [(self._law_number(part, x), self._law_number(part, other), part) for part in parts]
                differing = [entry for entry in laws if entry[0] != entry[1]]
                key = tuple(sorted(entry[:2] for entry in differing))
                shown = tuple(part for *_, part in differing)
                merged.setdefault(key, (x, other, shown, Triples()))[-1].add(shown, change.size)
        for part, numbers in enumerate(self._outputs):
            if not numbers and merged:  # the part never changes
                self._law_number(part, x)
        for x, other, shown, triples in merged.values():
            yield Pair(x, other, triples.count(self._outputs), self._table(shown))

    def _moves(self) -> Iterator[tuple[int, Record, Record]]:
        """Yield every way in which a client of a group may change its record."""
        for at in range(len(self._whole.groups)):
            for old, after in relation_of(self.bound).steps.items():
                yield from ((at, old, new) for new in after if new != old)

    def _changed(self, group: int, old: Record, new: Record) -> tuple[int, ...]:
        """Return the parts to which a client of a group contributes something else when it changes its record."""
        letters = [part.groups[group].letter_of for part in self._parts]
        return tuple(at for at, letter_of in enumerate(letters) if letter_of[old] != letter_of[new])

    def _changing(self, parts: tuple[int, ...]) -> Callable[[int, tuple[Record, ...], tuple[Record, ...]], bool]:
        """Return a function that says whether a move of a client of a group changes what these parts see."""
        return lambda group, old, new: self._changed(group, old[0], new[0]) == parts

    def _coarse_orbits(self, parts: tuple[int, ...]) -> Orbits:
        """Return the classes of datasets that some parts distinguish."""
        groups = []
        for at, group in enumerate(self._whole.groups):
            letters: dict[Any, list[Record]] = {}
            for record in self.bound.record.values:
                seen = tuple(self._parts[part].groups[at].letter_of[record] for part in parts)
                letters.setdefault(seen, []).append(record)
            groups.append(Group(group.clients, tuple(map(tuple, letters.values()))))
        return Orbits(self.bound, tuple(group.kind for group in groups))

    def _law_number(self, part: int, x: Dataset) -> int:
        """Return a number for the law of a part, equal only for equal laws."""
        key = part, self._parts[part].orbits.counts(x)
        if key not in self._numbers:
            law = self._parts[part].weights(x)
            self._outputs[part].add(self._pieces[part].outputs_of(law))
            shared = gcd(law.total, *law.by_code.values())
            reduced = law.total // shared, tuple((code, weight // shared) for code, weight in law.by_code.items())
            self._numbers[key] = self._laws_seen.setdefault(reduced, len(self._laws_seen))
        return self._numbers[key]


def find_output_parts(bound: Bound, whole: AggregateTable, backend: str) -> OutputParts | None:
    """Return the parts of an output that are independent on every dataset, or None where there is one part only."""
    rest = whole.aggregate.rest
    if rest.evidence or not relation_of(bound).one_record or not plain(rest.shape):
        return None
    groups = _groups(rest)
    if len(groups) < 2:
        return None
    tables = [entry for table in whole.aggregate.tables for entry in table]
    columns = [[leaf.client for leaf in leaves] for _, leaves in groups]
    if not all(_independent(entry, columns) for entry in tables):
        return None
    parts, clients = [], tuple(range(bound.n))
    for (components, leaves), chosen in zip(groups, columns, strict=True):
        shape = TupleOf(tuple(Leaf(at) for at in range(len(components))))
        program = CoreProgram(tuple(leaves), tuple(rest.components[at] for at in components), shape, (), ())
        aggregate = Aggregate(
            tuple(whole.aggregate.operators[at] for at in chosen),
            program,
            whole.aggregate.kinds,
            tuple(marginal(table, chosen) for table in whole.aggregate.tables),
        )
        parts.append(Piece(components, clients, AggregateTable(bound, aggregate, leaf_laws(program, backend)[0])))
    return OutputParts(bound, whole, parts)


def _groups(rest: CoreProgram) -> list[tuple[tuple[int, ...], list[Input]]]:
    """Return the components that share aggregates or draws, as (components, aggregates).

    Components that see no aggregate go with the first group.
    """
    found: list[tuple[list[int], dict[int, Input], set[int]]] = []
    for number, component in enumerate(rest.components):
        below = reachable([component])
        group: tuple[list[int], dict[int, Input], set[int]] = (
            [number],
            {expr.serial: expr for expr in below if isinstance(expr, Input)},
            {expr.serial for expr in below if isinstance(expr, Draw)},
        )
        for other in [entry for entry in found if entry[1].keys() & group[1].keys() or entry[2] & group[2]]:
            found.remove(other)
            group = [*other[0], *group[0]], {**other[1], **group[1]}, other[2] | group[2]
        found.append(group)
    seeing = [(numbers, leaves) for numbers, leaves, _ in found if leaves]
    if seeing:
        seeing[0][0].extend(number for numbers, leaves, _ in found if not leaves for number in numbers)
    return [
        (tuple(sorted(numbers)), sorted(leaves.values(), key=lambda leaf: leaf.client)) for numbers, leaves in seeing
    ]


def _independent(entry: Contribution, columns: Sequence[Sequence[int]]) -> bool:
    """Whether a contribution to some aggregates is independent of that to the others."""
    parts = []
    for chosen in columns:
        (own,) = marginal([entry], chosen)
        parts.append({values: quotient(weight, own.denominator) for values, weight in own.weights})
    return prod(map(len, parts)) == len(entry.weights) and all(
        quotient(weight, entry.denominator)
        == prod(part[tuple(values[at] for at in chosen)] for part, chosen in zip(parts, columns, strict=True))
        for values, weight in entry.weights
    )
