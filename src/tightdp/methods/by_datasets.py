"""Enumerating datasets: one of every orbit of the symmetries that were found, or simply all of them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from math import factorial

from tightdp.errors import QueryError
from tightdp.exact.arrays import np
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound, Dataset
from tightdp.limits.calibrated import ALLOWED, FEW_DATASETS, LITTLE_WORK, MAX_DATASETS, NO_LIMIT, PAIR_STEPS
from tightdp.methods.base import (
    Comparison,
    Control,
    Pair,
    Refusal,
    exceeded,
    on_table,
    too_much,
)
from tightdp.methods.compiled import TooLarge
from tightdp.methods.program import Method, Program
from tightdp.methods.ranking import alike_pairs
from tightdp.methods.symmetry import Symmetry, of_symmetries
from tightdp.symmetry.kept import given_neighbours
from tightdp.symmetry.sets import (
    AccuracySet,
    PrivacySet,
    Table,
    every_dataset,
    every_input,
    every_neighbouring_pair,
    every_told_apart,
)
from tightdp.symmetry.symmetries import Symmetries

_Place = tuple[int, int, int]
"""A pair of neighbours: number of the dataset, client that differs, number of its other record."""


def every_two_laws(bound: Bound, table: Table, watch: Callable[[], None]) -> PrivacySet:
    """Return, of all pairs of neighbours with the same two laws, the first in order.

    Where neighbours may differ in more than one record, return all pairs. Raises QueryError where datasets are too
    many.
    """
    if not relation_of(bound).one_record:
        return every_neighbouring_pair(bound)
    datasets = every_dataset(bound)

    def pairs() -> Iterator[tuple[Dataset, Dataset, int]]:
        numbers: dict[Hashable, int] = {}
        law_of = []
        for x in datasets:
            watch()
            law_of.append(numbers.setdefault(table.weights(x).written, len(numbers)))
        records = bound.record.values
        for place, size in sorted(_places(bound, law_of, len(numbers), watch)):
            at, client, new = place
            x = tuple(records[(at // len(records) ** power) % len(records)] for power in reversed(range(bound.n)))
            yield x, (*x[:client], records[new], *x[client + 1 :]), size

    return PrivacySet(pairs)


def _places(bound: Bound, law_of: list[int], laws: int, watch: Callable[[], None]) -> Iterator[tuple[_Place, int]]:
    """Yield, for every two laws of neighbours, the first pair that has them, and the number of such pairs."""
    records = bound.record.values
    index = {record: at for at, record in enumerate(records)}
    numbers = np.array(law_of, np.int64).reshape((len(records),) * bound.n)
    places = np.arange(len(law_of)).reshape(numbers.shape)
    found: dict[int, tuple[_Place, int]] = {}
    for client in range(bound.n):
        mine = np.moveaxis(numbers, client, 0).reshape(len(records), -1)
        of_mine = np.moveaxis(places, client, 0).reshape(len(records), -1)
        for old, after in relation_of(bound).steps.items():
            watch()
            others = np.array([index[new] for new in after if new != old], np.int64)
            both = mine[index[old]][:, None] * laws + mine[others].T  # in the order of datasets
            keys, first, sizes = np.unique(both.reshape(-1), return_index=True, return_counts=True)
            for key, at, size in zip(keys.tolist(), first.tolist(), sizes.tolist(), strict=True):
                rest, step = divmod(at, len(others))
                place = int(of_mine[index[old], rest]), client, int(others[step])
                before, number = found.get(key, (place, 0))
                found[key] = min(before, place), number + size
    yield from found.values()


class Exhaustive(Method):
    """All datasets, and all pairs of neighbours, one by one. It applies to every program."""

    name = "exhaustive"

    def __init__(self, program: Program) -> None:
        self.program = program

    def laws(self, control: Control) -> Table:
        return self.program.table(control)

    def comparison(self, control: Control) -> Comparison | Refusal:
        try:
            table = self.laws(control)
            pairs = every_told_apart(self.program.bound, table.weights)
        except QueryError as error:
            return Refusal(error.what, error.hint, decisive=True)
        return on_table(table, pairs, control)

    def in_order(self, control: Control) -> Iterator[Pair] | Refusal:
        return alike_pairs(self.program.bound, self.laws(control))

    def accuracy_set(self, control: Control) -> AccuracySet | Refusal:
        try:
            return every_input(self.program.bound).watched(control)
        except QueryError as error:
            return Refusal(error.what, error.hint, decisive=True)


class Orbits(Exhaustive):
    """One dataset, and one pair of neighbours, of every orbit of the program's symmetries."""

    name = "orbits"

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._used: Symmetries | None = None

    def symmetries(self, control: Control, measured: bool = False) -> Symmetries | None:
        """Return the symmetries that are used; with `measured`, those that keep the target, too."""
        return self.program.symmetries(control, measured)

    def comparison(self, control: Control) -> Comparison | Refusal:
        found = self.symmetries(control)
        if found is None:
            return Refusal("orbits: no symmetries were found")
        if relation_of(self.program.bound).custom:
            try:
                return on_table(self.laws(control), given_neighbours(found.orbits), control)
            except QueryError as error:
                return Refusal(error.what, error.hint, decisive=True)
        self._used = found
        if found.orbits.number_of_pairs > MAX_DATASETS:
            return _too_many(found.orbits.number_of_pairs, "pairs of neighbours")
        return on_table(self.laws(control), found.orbits.privacy_set(), control)

    def in_order(self, control: Control) -> Iterator[Pair] | Refusal:
        kinds = () if self._used is None else self._used.orbits.kinds
        groups = [[block[0] for block in kind.blocks] for kind in kinds if len(kind.blocks[0]) == 1]
        return alike_pairs(self.program.bound, self.laws(control), groups)

    def accuracy_set(self, control: Control) -> AccuracySet | Refusal:
        found = self.symmetries(control, measured=True)
        if found is None:
            return Refusal("orbits: no symmetries were found that keep the output and the target")
        if found.orbits.number > MAX_DATASETS:
            return _too_many(found.orbits.number, "datasets")
        return found.orbits.accuracy_set().watched(control)

    def symmetry(self) -> Symmetry:
        return Symmetry(()) if self._used is None else of_symmetries(self._used)


def _too_many(number: int, what: str) -> Refusal:
    return Refusal(
        f"there are {number:,} {what} even up to the symmetries of the program, too many to go through one by one",
        f"use fewer records or a smaller record domain (at most {MAX_DATASETS:,} are enumerated)",
        decisive=True,
    )


def look(program: Program, control: Control, budget: int) -> Exhaustive | Refusal:
    """Return the method that enumerates everything."""
    bound, found = program.bound, Exhaustive(program)
    found.estimate = min(PAIR_STEPS * program.datasets * bound.n * bound.record.size, NO_LIMIT >> 1)
    if found.estimate <= budget:
        found.estimate += program.steps_to_compile(control, budget)
    return found if found.estimate <= budget else too_much("exhaustive", found.estimate)


def look_for_orbits(program: Program, control: Control, budget: int) -> Orbits | Refusal:
    """Return the method that enumerates orbits, where there are symmetries, for which more than a little is spent."""
    pairs = min(program.datasets // factorial(program.bound.n), NO_LIMIT // (2 * PAIR_STEPS))
    least = max(ALLOWED * LITTLE_WORK + 1, PAIR_STEPS * pairs)
    if (needs := max(least, program.steps_to_compile(control, budget) if least <= budget else 0)) > budget:
        return too_much("orbits", needs)
    found, pairs = Orbits(program), MAX_DATASETS
    try:
        symmetries = program.symmetries(control, steps=budget // ALLOWED)
    except TooLarge:
        return exceeded("orbits", budget // ALLOWED)
    if symmetries is not None:
        orbits = symmetries.orbits
        custom = relation_of(program.bound).custom
        pairs = orbits.number * program.bound.n * program.bound.record.size if custom else orbits.number_of_pairs
    found.estimate = needs + PAIR_STEPS * pairs
    return found if found.estimate <= budget else too_much("orbits", found.estimate)


def up_to_symmetry(program: Program, control: Control) -> AccuracySet | Refusal:
    """Return the datasets on which to measure accuracy, up to symmetry where there is some."""
    if program.forced is None and program.datasets <= FEW_DATASETS:
        return Exhaustive(program).accuracy_set(control)
    found = Orbits(program).accuracy_set(control)
    return Exhaustive(program).accuracy_set(control) if isinstance(found, Refusal) and not found.decisive else found
