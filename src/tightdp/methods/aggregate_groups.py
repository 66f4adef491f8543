"""Which clients and records no aggregate distinguishes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tightdp.core.lowering import lower_target
from tightdp.errors import LanguageError, ProgramError
from tightdp.language.program import Bound
from tightdp.logic.encode import prober
from tightdp.methods.aggregate import Aggregate, find_aggregate
from tightdp.symmetry.orbits import Group, Orbits
from tightdp.symmetry.sets import AccuracySet

__all__ = ["accuracy_set_of", "groups_of"]


def groups_of(
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


def accuracy_set_of(bound: Bound, aggregate: Aggregate, most: int) -> AccuracySet | None:
    """Return one dataset per class of equal law and equal target.

    None where the target has no such form, or the classes are more than `most`.
    """
    target = _target_aggregate(bound)
    if target is None:
        return None
    marks = list(zip(aggregate.kinds, target.kinds, strict=True))
    orbits = Orbits(bound, tuple(group.kind for group in groups_of(bound, aggregate, marks, [target])))
    return orbits.accuracy_set() if orbits.number <= most else None


def _target_aggregate(bound: Bound) -> Aggregate | None:
    try:
        target = lower_target(bound, prober())
        return find_aggregate(target, bound.record, bound.n, "cudd")
    except (LanguageError, ProgramError):
        return None
