"""Laws of aggregates over interchangeable clients, for all ways to count out the records, by dynamic programming.

A client with one of the *letters* of its class contributes by the law of that letter. The law of the aggregate
depends only on how many clients of each class have each letter. All such laws are computed along a tree in which
common factors are applied once: for the last two letters by halving the range of counts, so that all n + 1 laws of n
bits take O(n^2 log n) operations.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tightdp.methods.aggregate import Contribution
from tightdp.symmetry.counts import Counts

__all__ = ["StateLaw", "every_law", "law_of", "one_state"]

_COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    "sum": operator.add,
    "min": min,
    "max": max,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "xor": lambda a, b: a != b,
}


class StateLaw(Protocol):
    """The law of the aggregates of some clients."""

    def add(self, contribution: Contribution) -> StateLaw:
        """Return the law with one more client."""

    def items(self) -> Iterator[tuple[tuple[Any, ...], int]]:
        """Yield every state and its weight."""

    @property
    def denominator(self) -> int:
        """What the weights have to be divided by."""


@dataclass(frozen=True)
class _Sparse:
    """A law as a dictionary; a state holds one value per aggregate, None as long as no client contributed."""

    weights: dict[tuple[Any, ...], int]
    denominator: int
    operators: tuple[str, ...]

    def add(self, contribution: Contribution) -> _Sparse:
        combine = [_COMBINE[name] for name in self.operators]
        result: dict[tuple[Any, ...], int] = {}
        for values, weight in contribution.weights:
            for state, present in self.weights.items():
                joined = tuple(
                    old if new is None else new if old is None else join(old, new)
                    for join, old, new in zip(combine, state, values, strict=True)
                )
                result[joined] = result.get(joined, 0) + present * weight
        return _Sparse(result, self.denominator * contribution.denominator, self.operators)

    def items(self) -> Iterator[tuple[tuple[Any, ...], int]]:
        return iter(self.weights.items())


class _Dense:
    """The law of one integer sum as an array of Python integers from an offset on."""

    def __init__(self, offset: int, weights: Any, denominator: int) -> None:
        self.offset, self.weights, self.denominator = offset, weights, denominator

    def add(self, contribution: Contribution) -> _Dense:
        import numpy as np

        low, high = contribution.weights[0][0][0], contribution.weights[-1][0][0]
        length = len(self.weights)
        result = np.zeros(length + high - low, dtype=object)
        for (value,), weight in contribution.weights:
            result[value - low : value - low + length] += self.weights * weight if weight != 1 else self.weights
        return _Dense(self.offset + low, result, self.denominator * contribution.denominator)

    def items(self) -> Iterator[tuple[tuple[Any, ...], int]]:
        return (((self.offset + at,), weight) for at, weight in enumerate(self.weights.tolist()) if weight)


def one_state(operators: Sequence[str], tables: Sequence[Sequence[Contribution]]) -> StateLaw:
    """Return the law of the aggregates of no clients."""
    values = [value for table in tables for entry in table for (state, _) in entry.weights for value in state]
    if tuple(operators) == ("sum",) and all(isinstance(value, int) for value in values):
        import numpy as np

        return _Dense(0, np.array([1], dtype=object), 1)
    return _Sparse({(None,) * len(operators): 1}, 1, tuple(operators))


def law_of(start: StateLaw, letters: Sequence[Sequence[Contribution]], counts: Counts) -> StateLaw:
    """Return the law of the aggregates for one way to count out the letters."""
    law = start
    for table, numbers in zip(letters, counts, strict=True):
        for contribution, number in zip(table, numbers, strict=True):
            for _ in range(number):
                law = law.add(contribution)
    return law


def every_law(
    start: StateLaw, letters: Sequence[Sequence[Contribution]], clients: Sequence[int]
) -> Iterator[tuple[Counts, StateLaw]]:
    """Yield the law of the aggregates for every way to count out the letters; `clients[k]` is the size of class k."""

    def classes(at: int, law: StateLaw, done: Counts) -> Iterator[tuple[Counts, StateLaw]]:
        if at == len(clients):
            yield done, law
            return
        for numbers, below in _one_class(law, letters[at], clients[at]):
            yield from classes(at + 1, below, (*done, numbers))

    return classes(0, start, ())


def _one_class(
    law: StateLaw, table: Sequence[Contribution], clients: int
) -> Iterator[tuple[tuple[int, ...], StateLaw]]:
    if len(table) == 1:
        yield (clients,), _repeat(law, table[0], clients)
        return
    if len(table) == 2:
        yield from _two_letters(law, table[0], table[1], clients)
        return
    for number in range(clients + 1):
        for rest, below in _one_class(law, table[1:], clients - number):
            yield (number, *rest), below
        if number < clients:
            law = law.add(table[0])


def _two_letters(
    law: StateLaw, first: Contribution, second: Contribution, clients: int
) -> Iterator[tuple[tuple[int, ...], StateLaw]]:
    """Yield the laws with low..high clients of the first letter, by halving that range."""
    stack = [(0, clients, law)]
    while stack:
        low, high, present = stack.pop()
        if low == high:
            yield (low, clients - low), present
            continue
        middle = (low + high) // 2
        stack.append((middle + 1, high, _repeat(present, first, middle + 1 - low)))
        stack.append((low, middle, _repeat(present, second, high - middle)))


def _repeat(law: StateLaw, contribution: Contribution, times: int) -> StateLaw:
    for _ in range(times):
        law = law.add(contribution)
    return law
