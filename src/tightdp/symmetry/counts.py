"""In how many ways clients can be counted out by the records that they hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb, prod

__all__ = ["Counts", "compositions", "count_compositions"]

Counts = tuple[tuple[int, ...], ...]
"""For every class of clients, how many of them have each letter."""


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to write a number as an ordered sum of so many numbers, first part descending."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total, -1, -1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def count_compositions(sizes: Sequence[tuple[int, int]]) -> int:
    """Return how many counts there are for classes of (clients, letters)."""
    return prod(comb(clients + letters - 1, letters - 1) for clients, letters in sizes)
