"""Larger datasets like a given pair: each repeating part is repeated twice as often."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

__all__ = ["Triple", "extended"]

_LONGEST_PERIOD = 3


class Triple(NamedTuple):
    """Two neighbouring datasets, and an output."""

    x: tuple[Any, ...]
    x_prime: tuple[Any, ...]
    output: Any


def extended(found: Triple) -> Iterator[Triple]:
    """Yield larger triples; none where nothing is repeated.

    An output with an entry for every record is extended with the datasets, and the index of a record is moved.
    """
    output, size = found.output, len(found.x)
    told = isinstance(output, tuple) and len(output) == size
    columns = list(zip(found.x, found.x_prime, output if told else found.x, strict=True))
    longer: list[tuple[Any, ...]] = []
    places: list[int] = []
    at = 0
    while at < size:
        length = _repeated(columns, at)
        places += range(len(longer) + length, len(longer) + 2 * length) if length else [len(longer)]
        longer += 2 * columns[at : at + length] or [columns[at]]
        at += length or 1
    if len(longer) == size:
        return
    x, x_prime, last = (tuple(part) for part in zip(*longer, strict=True))
    yield Triple(x, x_prime, last if told else output)
    if isinstance(output, int) and 0 <= output <= size:
        yield Triple(x, x_prime, [*places, len(longer)][output])


def _repeated(columns: list[tuple[Any, ...]], start: int) -> int:
    """Return how many columns from here on consist of a short block repeated at least twice; 0 for none."""
    best = 0
    for period in range(1, _LONGEST_PERIOD + 1):
        end = start + period
        while end < len(columns) and columns[end] == columns[end - period]:
            end += 1
        times = (end - start) // period
        best = max(best, times * period if times > 1 else 0)
    return best
