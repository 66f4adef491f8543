"""Outputs in parts that are independent given the dataset and see aggregates of their own, such as a noisy histogram.

Two neighbours differ in some of the parts only, and every divergence between their output laws is that between the laws
of these parts: one pair for every change of the counts that the parts see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import prod

from tightdp.exact.weights import quotient
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Dataset
from tightdp.limits.calibrated import CHANGE_STEPS, ENTRIES_IN_ONE
from tightdp.methods.aggregate import Aggregate, Contribution, marginal
from tightdp.methods.aggregated import AggregateTable
from tightdp.methods.base import Comparison, Control, Refusal, Tight, too_much
from tightdp.methods.by_aggregates import Aggregates
from tightdp.methods.leaf_laws import leaf_laws
from tightdp.methods.parts import split
from tightdp.methods.pieces import Changed, Piece, Pieces, plain
from tightdp.methods.program import Method, Program
from tightdp.methods.symmetry import Symmetry, of_groups
from tightdp.symmetry.orbits import Group, Orbits


class IndependentOutputs(Aggregates):
    """A program cut at its aggregates, of which every part of the output sees its own."""

    name = "independent outputs"

    def __init__(self, program: Program, table: AggregateTable, pieces: Sequence[Piece]) -> None:
        super().__init__(program, table)
        self.pieces = Pieces(program.bound, table.rest.codes.shape, pieces)
        self.parts = [piece.table for piece in pieces if isinstance(piece.table, AggregateTable)]
        self._numbers: dict[object, int] = {}
        self._outputs: list[set[int]] = [set() for _ in pieces]
        """By part, the numbers of outputs that it has on the datasets that were looked at."""

    def work(self) -> int:
        return sum(part.entries * part.known // (part.orbits.number * ENTRIES_IN_ONE) for part in self.parts)

    def steps(self) -> int:
        """Return how many steps the laws of the parts take, and comparing them for all pairs."""
        changes = sum(self._seen_by(parts).number_of_pairs for parts in self._changed_together())
        return sum(part.entries for part in self.parts) // ENTRIES_IN_ONE + CHANGE_STEPS * changes

    def comparison(self, control: Control) -> Comparison:
        def outputs(at: int) -> set[int]:
            if not self._outputs[at]:  # the part never changes
                self._law(at, (self.program.bound.record.values[0],) * self.program.bound.n)
            return self._outputs[at]

        return Comparison(lambda: self.pieces.pairs(self._changes(control), outputs))

    def tight(self, control: Control, budget: int) -> Tight | Refusal:
        """Return a refusal: the parts are compared at once, before any law of a whole output."""
        return Method.tight(self, control, budget)

    def largest(self, control: Control) -> Comparison:
        return self.comparison(control)

    def symmetry(self) -> Symmetry:
        return of_groups(self.table.groups, self.table.orbits, None, self.table.accuracy_classes())

    def _changes(self, watch: Callable[[], None]) -> Iterator[Changed]:
        for parts in self._changed_together():
            orbits = self._seen_by(parts)
            for change in orbits.changes_of_one(partial(self._changes_exactly, parts)):
                watch()
                x, other = orbits.neighbours(change)
                yield x, other, [(part, self._law(part, x), self._law(part, other)) for part in parts], change.size

    def _changes_exactly(self, parts: tuple[int, ...], group: int, old: Dataset, new: Dataset) -> bool:
        return self._changed(group, old, new) == parts

    def _changed_together(self) -> list[tuple[int, ...]]:
        """Return the parts to which some client contributes something else when it changes its record."""
        steps = relation_of(self.program.bound).steps
        moves = [((old,), (new,)) for old, after in steps.items() for new in after if new != old]
        return sorted({self._changed(group, *move) for group in range(len(self.table.groups)) for move in moves})

    def _changed(self, group: int, old: Dataset, new: Dataset) -> tuple[int, ...]:
        """Return the parts to which a client of a group contributes something else when it changes its record."""
        letters = [part.groups[group].letter_of for part in self.parts]
        return tuple(at for at, letter_of in enumerate(letters) if letter_of[old[0]] != letter_of[new[0]])

    def _seen_by(self, parts: tuple[int, ...]) -> Orbits:
        """Return the classes of datasets that some parts distinguish."""
        bound, kinds = self.program.bound, []
        for at, group in enumerate(self.table.groups):
            letters: dict[tuple[int, ...], Dataset] = {}
            for record in bound.record.values:
                seen = tuple(self.parts[part].groups[at].letter_of[record] for part in parts)
                letters[seen] = (*letters.get(seen, ()), record)
            kinds.append(Group(group.clients, tuple(letters.values())).kind)
        return Orbits(bound, tuple(kinds))

    def _law(self, part: int, x: Dataset) -> int:
        """Return a number for the law of a part, equal only for equal laws."""
        key = part, self.parts[part].orbits.counts(x)
        if key not in self._numbers:
            law = self.parts[part].weights(x)
            self._outputs[part].add(self.pieces.every[part].outputs_of(law))
            self._numbers[key] = self._numbers.setdefault(law.lowest.written, len(self._numbers))
        return self._numbers[key]


def look(program: Program, control: Control, budget: int) -> IndependentOutputs | Refusal:
    """Return the method where there are parts."""
    table = program.aggregate(control)
    pieces = None if table is None else _pieces(program, table)
    if table is None or pieces is None:
        return Refusal("independent outputs: the output has no parts that see aggregates and share no draw")
    found = IndependentOutputs(program, table, pieces)
    if not all(part.affordable for part in found.parts):
        return Refusal("independent outputs: the laws of the parts of the output are many")
    found.estimate = found.steps()
    return found if found.estimate <= budget else too_much("independent outputs", found.estimate)


def _pieces(program: Program, whole: AggregateTable) -> list[Piece] | None:
    """Return the parts of an output that are independent on every dataset, or None where there is one part only."""
    bound, aggregate = program.bound, whole.aggregate
    rest = aggregate.rest
    if rest.evidence or not relation_of(bound).one_record or not plain(rest.shape):
        return None
    parts, _ = split(rest, least=2)
    tables = [entry for table in aggregate.tables for entry in table]
    if not parts or not all(_independent(entry, [part.clients for part in parts]) for entry in tables):
        return None
    pieces = []
    for part in parts:
        operators = tuple(aggregate.operators[at] for at in part.clients)
        marginals = tuple(marginal(table, part.clients) for table in aggregate.tables)
        own = Aggregate(operators, part.program, aggregate.kinds, marginals)
        laws, _ = leaf_laws(part.program, program.backend)
        pieces.append(Piece(part.components, tuple(range(bound.n)), AggregateTable(bound, own, laws)))
    return pieces


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
