"""In how many ways clients can be counted out by the records that they hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import comb, factorial, prod

__all__ = ["Counts", "arrangements", "compositions", "count_compositions", "every_counts"]

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
    """Return how many counts there are for classes of (clients, letters); clients need a letter."""
    return prod(comb(clients + letters - 1, clients) if letters else int(not clients) for clients, letters in sizes)


def every_counts(sizes: Sequence[tuple[int, int]]) -> Iterator[Counts]:
    """Yield all ways to write, for every (total, parts), the total as a sum of so many parts, without listing any."""
    if not sizes:
        yield ()
        return
    for first in compositions(*sizes[0]):
        for rest in every_counts(sizes[1:]):
            yield (first, *rest)


def arrangements(numbers: Sequence[int]) -> int:
    """Return in how many orders so many things of every sort can stand."""
    return factorial(sum(numbers)) // prod(factorial(number) for number in numbers)
