"""Representatives of datasets and neighbouring pairs when clients are interchangeable.

Clients fall into groups, the records of a group's clients into letters; datasets with the same counts of letters in
every group are alike. Representatives are enumerated directly, one per count, and class sizes are exact integers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import factorial, prod
from typing import Any

from tightdp.language.domains import Record
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound, Dataset
from tightdp.symmetry.counts import Counts, compositions, count_compositions

__all__ = ["Change", "Group", "Orbits", "arrangements", "every_counts"]


@dataclass(frozen=True)
class Group:
    """Interchangeable clients, and the classes of records that make no difference among each other."""

    clients: tuple[int, ...]
    letters: tuple[tuple[Record, ...], ...]
    letter_of: dict[Record, int] = field(init=False, hash=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        index = {record: at for at, letter in enumerate(self.letters) for record in letter}
        object.__setattr__(self, "letter_of", index)


@dataclass(frozen=True)
class Change:
    """A class of pairs of neighbours: the counts before and after a client of a group changes its record.

    `letter` is that of the record before, `records` are the record before and after, `size` is how many pairs it has.
    """

    counts: Counts
    counts_after: Counts
    group: Group
    letter: int
    records: tuple[Record, Record]
    size: int


@dataclass(frozen=True)
class Orbits:
    """Datasets up to exchanging clients within a group and records within a letter."""

    groups: tuple[Group, ...]
    n: int

    def counts(self, x: Sequence[Any]) -> Counts:
        """Return how often every letter occurs in every group."""
        result = []
        for group in self.groups:
            numbers = Counter(map(group.letter_of.__getitem__, map(x.__getitem__, group.clients)))
            result.append(tuple(numbers[letter] for letter in range(len(group.letters))))
        return tuple(result)

    @property
    def number(self) -> int:
        """How many classes of datasets there are."""
        return count_compositions([(len(group.clients), len(group.letters)) for group in self.groups])

    def every_counts(self) -> Iterator[Counts]:
        """Yield the counts of every class of datasets."""
        return every_counts([(len(group.clients), len(group.letters)) for group in self.groups])

    def representative(self, counts: Counts) -> Dataset:
        """Return the first dataset of a class: letters ascending along the clients of a group."""
        x: list[Record] = [None] * self.n
        for group, numbers in zip(self.groups, counts, strict=True):
            records: list[Record] = []
            for letter, number in zip(group.letters, numbers, strict=True):
                records += [letter[0]] * number
            for client, record in zip(group.clients, records, strict=True):
                x[client] = record
        return tuple(x)

    def size(self, counts: Counts) -> int:
        """Return how many datasets a class has."""
        return prod(
            arrangements(numbers)
            * prod(len(letter) ** number for letter, number in zip(group.letters, numbers, strict=True))
            for group, numbers in zip(self.groups, counts, strict=True)
        )

    def pairs(self, bound: Bound) -> Iterator[tuple[Dataset, Dataset, int]]:
        """Yield one pair of neighbours per class, with the class's size, for a relation that has a name."""
        return self._pairs_of_all(bound) if relation_of(bound).every_record else self._pairs_of_one(bound)

    def _pairs_of_one(self, bound: Bound) -> Iterator[tuple[Dataset, Dataset, int]]:
        for change in self.changes_of_one(bound):
            yield *self.neighbours(change), change.size

    def changes_of_one(
        self, bound: Bound, allowed: Callable[[int, Record, Record], bool] = lambda group, old, new: True
    ) -> Iterator[Change]:
        """Yield one change of one record per class of pairs of neighbours.

        With `allowed`, only changes of which it says so, of a client of a group (by number) from one record to another.
        """
        steps = relation_of(bound).steps
        for at, group in enumerate(self.groups):
            kept = {old: tuple(new for new in after if allowed(at, old, new)) for old, after in steps.items()}
            moves = self._moves(group, kept)
            for others in every_counts([(len(g.clients) - (g is group), len(g.letters)) for g in self.groups]):
                pairs_of_others = len(group.clients) * self.size(others)
                for (before, after), ways in moves.items():
                    counts, counts_after = (
                        (*others[:at], _plus(others[at], letter), *others[at + 1 :]) for letter in (before, after)
                    )
                    yield Change(counts, counts_after, group, before, ways[0], pairs_of_others * len(ways))

    def neighbours(self, change: Change) -> tuple[Dataset, Dataset]:
        """Return neighbours that differ by a change."""
        x, group, (old, new) = self.representative(change.counts), change.group, change.records
        where = next(client for client in group.clients if group.letter_of[x[client]] == change.letter)
        return (*x[:where], old, *x[where + 1 :]), (*x[:where], new, *x[where + 1 :])

    def _pairs_of_all(self, bound: Bound) -> Iterator[tuple[Dataset, Dataset, int]]:
        steps = relation_of(bound).steps
        moves = [list(self._moves(group, steps, still=True).values()) for group in self.groups]
        for numbers in every_counts(
            [(len(group.clients), len(ways)) for group, ways in zip(self.groups, moves, strict=True)]
        ):
            x: list[Record] = [None] * self.n
            x_prime = list(x)
            size = still = 1
            for group, counts, ways in zip(self.groups, numbers, moves, strict=True):
                clients = iter(group.clients)
                size *= arrangements(counts)
                still *= arrangements(counts)
                for number, pairs in zip(counts, ways, strict=True):
                    size *= len(pairs) ** number
                    still *= sum(old == new for old, new in pairs) ** number
                    moved = next((pair for pair in pairs if pair[0] != pair[1]), pairs[0])
                    for _ in range(number):
                        client = next(clients)
                        x[client], x_prime[client] = moved
            if size > still:
                yield tuple(x), tuple(x_prime), size - still

    def number_of_pairs(self, bound: Bound) -> int:
        """Return how many pairs `pairs` yields (at most, where every record may change)."""
        steps = relation_of(bound).steps
        if relation_of(bound).every_record:
            moves = [self._moves(group, steps, still=True) for group in self.groups]
            return count_compositions(
                [(len(group.clients), len(ways)) for group, ways in zip(self.groups, moves, strict=True)]
            )
        total = 0
        for group in self.groups:
            sizes = [(len(g.clients) - (g is group), len(g.letters)) for g in self.groups]
            total += len(self._moves(group, steps)) * count_compositions(sizes)
        return total

    @staticmethod
    def _moves(
        group: Group, steps: dict[Record, tuple[Record, ...]], still: bool = False
    ) -> dict[tuple[int, int], list[tuple[Record, Record]]]:
        """Return, by the letters before and after, the ways to change one record (or, with `still`, to leave it)."""
        moves: dict[tuple[int, int], list[tuple[Record, Record]]] = {}
        for old, others in steps.items():
            for new in others:
                if new != old or still:
                    moves.setdefault((group.letter_of[old], group.letter_of[new]), []).append((old, new))
        return moves


def every_counts(sizes: Sequence[tuple[int, int]]) -> Iterator[Counts]:
    """Yield all ways to write, for every (total, parts), the total as a sum of so many parts, without listing any."""
    if not sizes:
        yield ()
        return
    for first in compositions(*sizes[0]):
        for rest in every_counts(sizes[1:]):
            yield (first, *rest)


def _plus(numbers: tuple[int, ...], at: int) -> tuple[int, ...]:
    return (*numbers[:at], numbers[at] + 1, *numbers[at + 1 :])


def arrangements(numbers: Sequence[int]) -> int:
    """Return in how many orders so many things of every sort can stand."""
    return factorial(sum(numbers)) // prod(factorial(number) for number in numbers)
