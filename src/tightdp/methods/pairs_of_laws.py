"""Pairs of neighbours where the laws of all datasets are known: one pair for all that have the same two laws.

Datasets are many, and laws are few where a program keeps little of its records: the counters of a sketch, say. A law
has a number; which two numbers neighbours have is found in arrays, for all datasets at once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING

from tightdp.exact.lazily import lazily
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound, Dataset
from tightdp.symmetry.sets import PrivacySet, Table, every_dataset, every_neighbouring_pair

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazily("numpy")

__all__ = ["every_two_laws"]

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
