"""Counts of clients by the records that they hold: enumerating compositions, and their number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from math import comb, prod

from tightdp.language.domains import Record

_FEW = 16
"""Up to this many records are counted one by one."""

Counts = tuple[tuple[int, ...], ...]
"""For every class of clients, how many of them have each letter."""


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield all compositions of `total` into `parts` numbers (0 allowed), first part descending."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total, -1, -1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def count_compositions(sizes: Sequence[tuple[int, int]]) -> int:
    """Return how many counts there are for classes of (clients, letters); every client needs a letter."""
    return prod(comb(clients + letters - 1, clients) if letters else int(not clients) for clients, letters in sizes)


def every_counts(sizes: Sequence[tuple[int, int]]) -> Iterator[Counts]:
    """Yield all choices of one composition for every (total, parts), lazily."""
    if not sizes:
        yield ()
        return
    for first in compositions(*sizes[0]):
        for rest in every_counts(sizes[1:]):
            yield (first, *rest)


def arrangements(numbers: Sequence[int]) -> int:
    """Return the multinomial coefficient: the orders of things of which `numbers[i]` are of sort i."""
    return prod(map(comb, accumulate(numbers), numbers))


def contents_of(
    x: Sequence[Record], columns: Sequence[Sequence[int]], records: Sequence[Record]
) -> Iterable[tuple[tuple[Record, ...], int]]:
    """Return the contents of blocks of clients in a dataset, each with its number of blocks, which may be 0.

    `columns` are the first clients of all blocks, the second ones, and so on.
    """
    parts = [
        x[clients.start : clients.stop] if isinstance(clients, range) else tuple(map(x.__getitem__, clients))
        for clients in columns
    ]
    if len(parts) == 1 and len(records) <= _FEW:
        return [((record,), parts[0].count(record)) for record in records]
    return Counter(zip(*parts, strict=True)).items()
