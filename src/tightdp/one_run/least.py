"""The tight e^ε at some δ of a mechanism restricted to the datasets that a pair vector can pick."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import prod

from tightdp.errors import LimitError
from tightdp.exact.field import Number
from tightdp.exact.numbers import Exact
from tightdp.language.program import Dataset
from tightdp.methods.aggregated import AggregateTable
from tightdp.methods.base import Pair
from tightdp.methods.leaf_laws import ByDiagram
from tightdp.one_run.law import AuditLaw, Group
from tightdp.queries.curves import least_ratio
from tightdp.symmetry.sets import DiagramTable, Table

__all__ = ["MAX_DATASETS", "restricted_least"]

MAX_DATASETS = 1 << 14
"""How many datasets of one group, up to exchanging interchangeable clients, are compared with their neighbours."""


def restricted_least(law: AuditLaw, delta: Number) -> Exact:
    """Return the least t >= 1 with δ(t) <= delta over datasets that differ in one secret bit; exact, or infinite.

    A bit changes the law of its own group only, and the unchanged law of the rest adds nothing to δ(t). Raises
    LimitError where a group has too many datasets.
    """
    return max((_of_group(group, delta) for group in law.distinct), default=Fraction(1))


def _of_group(group: Group, delta: Number) -> Exact:
    table: Table
    if group.aggregate is None:
        table = DiagramTable(group.bound, group.formula)
        classes: list[tuple[int, ...]] = [(client,) for client in range(group.bound.n)]
    else:
        kinds = group.aggregate.kinds
        table = AggregateTable(group.bound, group.aggregate, ByDiagram(group.formula))
        classes = [tuple(c for c, other in enumerate(kinds) if other == kind) for kind in dict.fromkeys(kinds)]
    datasets = prod(len(members) + 1 for members in classes)
    if datasets > MAX_DATASETS:
        raise LimitError(
            f"δ has to be compared on {datasets:,} datasets of {group.bound.n} clients that depend on each other",
            f"use fewer records (at most {MAX_DATASETS:,} datasets), or delta = 0",
        )
    return least_ratio((Pair(x, other, size, table) for x, other, size in _pairs(classes)), delta)[0]


def _pairs(classes: Sequence[Sequence[int]]) -> Iterator[tuple[Dataset, Dataset, int]]:
    """Yield neighbours, both ways: one pair per counts of ones in the classes, and class whose count grows by one."""
    for counts in product(*(range(len(members) + 1) for members in classes)):
        x = _dataset(classes, counts)
        for at, members in enumerate(classes):
            if counts[at] < len(members):
                other = _dataset(classes, [*counts[:at], counts[at] + 1, *counts[at + 1 :]])
                yield x, other, 1
                yield other, x, 1


def _dataset(classes: Sequence[Sequence[int]], counts: Sequence[int]) -> Dataset:
    chosen = {client for members, ones in zip(classes, counts, strict=True) for client in members[:ones]}
    return tuple(int(client in chosen) for client in range(sum(map(len, classes))))
