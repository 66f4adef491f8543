"""Neighbour relations: which datasets must be hard to tell apart."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

from tightdp.errors import ParameterError, TightdpError
from tightdp.language.domains import Record
from tightdp.language.program import Bound, Dataset

DIRECTIONS = ("remove", "add")
"""The directions of the relation "add-remove", each a relation by itself; they cannot be asked for by name."""


@dataclass(frozen=True)
class EachRecord:
    """A neighbour relation in which every record may change at once, and one does: each to what `step` gives for it.

    `EachRecord(lambda query: (query, min(query + 1, 1)))` are answers that become larger by at most 1, up to 1. What
    `step` gives must be in the record domain; every record may stay as it is.
    """

    step: Callable[[Record], Iterable[Record]]

    @property
    def __name__(self) -> str:
        """The name of the function."""
        return getattr(self.step, "__name__", "custom")

    def of(self, record: Record) -> tuple[Record, ...]:
        """Return what a record may be in a neighbour, itself first."""
        return tuple(dict.fromkeys((record, *self.step(record))))

    def __call__(self, x: Dataset) -> Iterator[Dataset]:
        """Yield the neighbours of a dataset."""
        return (other for other in product(*map(self.of, x)) if other != x)


@dataclass(frozen=True)
class NeighbouringRelation:
    """The neighbour relation of a bound mechanism: one that has a name, or a function.

    "replace-one": exactly one record differs. "unit-step": one integer record differs, by 1. "unit-all": every
    integer record differs by at most 1, and one does. "add-remove": one record becomes or stops being None; "remove"
    and "add" are its two directions, in which x has the record that x' has not, or the other way round.
    A relation given as a function is taken as it is, in the direction in which it is given.
    """

    bound: Bound

    @property
    def name(self) -> str:
        """The name, or that of the function."""
        relation = self.bound.neighbours
        return relation if isinstance(relation, str) else getattr(relation, "__name__", "custom")

    @property
    def custom(self) -> bool:
        """Whether it is a function; all other relations treat all clients alike, and are described by `steps`."""
        return callable(self.bound.neighbours)

    @property
    def one_record(self) -> bool:
        """Whether neighbours differ in one record, in the same way for every client."""
        return not self.custom and not self.every_record

    @property
    def every_record(self) -> bool:
        """Whether every record may change at once, each by a step of its own."""
        return self.bound.neighbours == "unit-all"

    def moves(self) -> tuple[tuple[Record, Record], ...] | None:
        """Return every record with what it may become at a step of one record, whatever n is; None for a function.

        Where every record may change at once, one that stays as it is is among them. Raises ParameterError where a
        record becomes something that is not in its domain.
        """
        if isinstance(self.bound.neighbours, EachRecord):
            values = self.bound.record.values
            return tuple((old, new) for old in values for (new,) in ((old,), *self._of_one(old)))
        if self.custom:
            return None
        return tuple((old, new) for old, others in self.steps.items() for new in others if self.at_once or old != new)

    def _of_one(self, record: Record) -> Iterator[Dataset]:
        one = self.bound.program.bind(1, neighbours=self.bound.neighbours, **self.bound.parameters)
        return NeighbouringRelation(one).neighbours((record,))

    @property
    def at_once(self) -> bool:
        """Whether every record may change at once, to something that depends on it alone."""
        return self.every_record or isinstance(self.bound.neighbours, EachRecord)

    @cached_property
    def steps(self) -> dict[Record, tuple[Record, ...]]:
        """For every record, what it may become (itself included where that is a step), in the order of the domain.

        For relations that have a name.
        """
        assert not self.custom
        return {record: self._steps(record) for record in self.bound.record.values}

    @property
    def most_steps(self) -> int:
        """How many records one may become, at most, itself included."""
        size = self.bound.record.size
        return min(size, 3) if self.name in ("unit-step", "unit-all") else size

    def _steps(self, record: Record) -> tuple[Record, ...]:
        values = self.bound.record.values
        if self.name == "replace-one":
            return values
        if self.name == "add-remove":
            return tuple(other for other in values if (other is None) != (record is None))
        if self.name in DIRECTIONS:
            absent = self.name == "add"
            return tuple(other for other in values if (record is None) == absent and (other is None) != absent)
        return tuple(other for other in values if abs(int(other) - int(record)) <= 1)

    def steps_of_kinds(self, kind_of: Mapping[Record, Hashable]) -> Iterator[tuple[Record, Record]]:
        """Yield a step to another record for every two kinds between which there is one.

        Records without a kind are alike; no step from them is yielded. For relations that have a name.
        """
        values, steps = self.bound.record.values, self.steps
        some: dict[Hashable, list[Record]] = {}
        for record, kind in kind_of.items():
            if len(of_kind := some.setdefault(kind, [])) < 2:
                of_kind.append(record)
        without = [next(record for record in values if record not in kind_of)] if len(kind_of) < len(values) else []
        done: set[Hashable] = set()
        for old, kind in kind_of.items():
            if steps[old] is not values:
                after = {kind_of.get(new): new for new in reversed(steps[old]) if new != old}
                found = [new for other, new in after.items() if (kind, other) not in done]
                done.update((kind, other) for other in after)
            elif kind not in done:  # it may become anything, as all others of its kind
                found = [next((new for new in of_kind if new != old), old) for of_kind in some.values()] + without
                done.add(kind)
            else:
                continue
            yield from ((old, new) for new in found if new != old)

    def neighbours(self, x: Dataset) -> Iterator[Dataset]:
        """Yield the neighbours of a dataset, in a fixed order.

        Raises ParameterError where a function gives something that is not a dataset.
        """
        if self.custom:
            return self._given(x)
        steps = self.steps
        if self.every_record:
            return (other for other in product(*(steps[record] for record in x)) if other != x)
        return ((*x[:at], new, *x[at + 1 :]) for at in range(len(x)) for new in steps[x[at]] if new != x[at])

    def _given(self, x: Dataset) -> Iterator[Dataset]:
        """Yield what the function gives, but no dataset twice, as triples are counted."""
        found: set[Dataset] = set()
        for given in self._listed(x):
            try:
                other = self.bound.check_dataset(given)
            except ParameterError as error:
                raise ParameterError(
                    f"the neighbour {given!r} of {x!r} is not a dataset: {error.what}", "correct the neighbour relation"
                ) from None
            if other not in found:
                found.add(other)
                yield other

    def _listed(self, x: Dataset) -> Iterator[Any]:
        """Yield what the function gives. Raises ParameterError where it fails, or gives nothing to go through."""
        relation = self.bound.neighbours
        assert callable(relation)
        try:
            yield from relation(x)
        except TightdpError:
            raise
        except Exception as error:
            raise ParameterError(
                f"the neighbour relation {self.name} fails on {x!r}: {type(error).__name__}: {error}",
                "let it return the datasets that are neighbours of the one it is given",
            ) from error

    def relates(self, x: Dataset, x_prime: Dataset) -> bool:
        """Whether x' is a neighbour of x."""
        if self.custom:
            return x_prime in set(self.neighbours(x))
        moved = [(old, new) for old, new in zip(x, x_prime, strict=True) if old != new]
        most = 1 if self.one_record else len(x)
        return 1 <= len(moved) <= most and all(new in self.steps[old] for old, new in moved)


def relation_of(bound: Bound) -> NeighbouringRelation:
    """Return the neighbour relation of a bound mechanism."""
    return NeighbouringRelation(bound)
