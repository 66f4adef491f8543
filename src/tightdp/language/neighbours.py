"""Neighbour relations: which datasets must be hard to tell apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

from tightdp.errors import ParameterError
from tightdp.language.domains import Record
from tightdp.language.program import Bound, Dataset

__all__ = ["changes_one_record", "neighbours_of", "record_steps", "relation_name"]

Relation = Callable[[Dataset], Iterator[Dataset]]


def relation_name(bound: Bound) -> str:
    """Return the name of a mechanism's neighbour relation."""
    relation = bound.neighbours
    return relation if isinstance(relation, str) else getattr(relation, "__name__", "custom")


def neighbours_of(bound: Bound) -> Relation:
    """Return the function that gives the neighbours of a dataset, in a fixed order.

    "replace-one": exactly one record differs. "unit-step": one integer record differs, by 1. "unit-all": every
    integer record differs by at most 1, and one does. "add-remove": one record becomes or stops being None.
    A relation given as a function is taken as it is, in the direction in which it is given.
    """
    relation = bound.neighbours
    if not isinstance(relation, str):
        return _custom(bound)
    steps = record_steps(bound)
    if relation == "unit-all":
        return lambda x: (other for other in product(*(steps[record] for record in x)) if other != x)
    return lambda x: (
        (*x[:at], record, *x[at + 1 :]) for at in range(len(x)) for record in steps[x[at]] if record != x[at]
    )


def changes_one_record(bound: Bound) -> bool:
    """Whether neighbours differ in one record, in the same way for every client."""
    return bound.neighbours in ("replace-one", "unit-step", "add-remove")


def record_steps(bound: Bound) -> dict[Record, tuple[Record, ...]]:
    """Return, for every record, what a named relation lets it become (itself included), in the order of the domain."""
    assert isinstance(bound.neighbours, str)
    return {record: _steps(bound, bound.neighbours, record) for record in bound.record.values}


def _steps(bound: Bound, relation: str, record: Record) -> tuple[Record, ...]:
    """Return what one record may become, in the order of the domain."""
    values = bound.record.values
    if relation == "replace-one":
        return values
    if relation == "add-remove":
        return tuple(other for other in values if (other is None) != (record is None))
    return tuple(other for other in values if abs(int(other) - int(record)) <= 1)


def _custom(bound: Bound) -> Relation:
    relation = bound.neighbours
    assert callable(relation)

    def of(x: Dataset) -> Iterator[Dataset]:
        for other in relation(x):
            try:
                yield bound.check_dataset(other)
            except ParameterError as error:
                raise ParameterError(
                    f"the neighbour {other!r} of {x!r} is not a dataset: {error.what}", "correct the neighbour relation"
                ) from None

    return of
