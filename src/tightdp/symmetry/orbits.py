"""Representatives of datasets and neighbouring pairs under verified symmetries, enumerated directly.

Clients fall into blocks, blocks of one kind are interchangeable, and the contents of a block fall into classes. So a
dataset is, up to symmetry, a number of blocks for every class: its *counts*. One dataset per counts is enumerated,
never the datasets themselves, and how many datasets share them is an exact integer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod
from typing import TypeVar

from tightdp.language.domains import Record
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound, Dataset
from tightdp.symmetry.sets import (
    AccuracySet,
    Counts,
    PrivacySet,
    arrangements,
    contents_of,
    count_compositions,
    every_counts,
    in_a_row,
)

T = TypeVar("T")

Content = tuple[Record, ...]
"""The records of the clients of a block."""
Move = tuple[Content, Content]
"""What a block holds in a dataset and in its neighbour."""
Moved = tuple[Move, int, tuple[int, int]]
"""A move of a class, with the size of the class and the letters before and after."""
Map = dict[Content, Content]


def every_content(records: Sequence[Record], clients: int) -> list[Content]:
    """Return all contents of a block."""
    return list(product(records, repeat=clients))


@dataclass(frozen=True)
class Kind:
    """Interchangeable blocks of clients, and the maps of a block's contents that leave the output law unchanged.

    With `apart`, contents may be mapped in a dataset and not in its neighbour: equivalent contents make no difference
    at all. Other maps act on both.
    """

    blocks: tuple[tuple[int, ...], ...]
    maps: tuple[Map, ...] = ()
    apart: bool = False


@dataclass(frozen=True)
class Group:
    """Interchangeable clients, and the classes (*letters*) of records that make no difference."""

    clients: tuple[int, ...]
    letters: tuple[tuple[Record, ...], ...]
    letter_of: dict[Record, int] = field(init=False, hash=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        index = {record: at for at, letter in enumerate(self.letters) for record in letter}
        object.__setattr__(self, "letter_of", index)

    def moves(self, steps: Mapping[Record, Iterable[Record]]) -> Iterator[tuple[int, int]]:
        """Yield the letters before and after any step of a record, each pair once, as soon as it is found."""
        seen: set[tuple[int, int]] = set()
        for old, reached in steps.items():
            for new in reached:
                move = self.letter_of[old], self.letter_of[new]
                if move not in seen:
                    seen.add(move)
                    yield move

    @property
    def kind(self) -> Kind:
        """The group as a kind of blocks of one client each."""
        turn = {(old,): (new,) for same in self.letters for old, new in zip(same, (*same[1:], same[0]), strict=True)}
        return Kind(tuple((client,) for client in self.clients), (turn,), apart=True)


@dataclass(frozen=True)
class Change:
    """A class of pairs of neighbours: the counts before and after a block of kind number `kind` changes.

    `move` is what it holds before and after, `letter` the number of the class before, `size` how many pairs there are.
    """

    counts: Counts
    counts_after: Counts
    kind: int
    letter: int
    move: Move
    size: int


@dataclass(frozen=True)
class _Classes:
    """Classes of moves, the first of each as its representative."""

    members: tuple[tuple[Move, ...], ...]

    def __len__(self) -> int:
        return len(self.members)

    @cached_property
    def number_of(self) -> dict[Move, int]:
        """The number of the class of every move."""
        return {move: number for number, moves in enumerate(self.members) for move in moves}

    @cached_property
    def still(self) -> tuple[int, ...]:
        """How many moves of every class change nothing."""
        return tuple(sum(old == new for old, new in moves) for moves in self.members)

    @cached_property
    def shown(self) -> tuple[Move, ...]:
        """One move of every class, one that changes something if there is one."""
        return tuple(next((move for move in moves if move[0] != move[1]), moves[0]) for moves in self.members)


def _classes(moves: Sequence[Move], kind: Kind) -> _Classes:
    """Return the classes of moves under the maps of a kind."""
    if kind.apart:
        same = _joined((content for move in moves for content in move), kind.maps, lambda rename, one: rename[one])
        members = _grouped(moves, lambda move: (same[move[0]], same[move[1]]))
    else:
        root = _joined(moves, kind.maps, _image)
        members = _grouped(moves, root.__getitem__)
    return _Classes(members)


def _grouped(moves: Iterable[Move], key: Callable[[Move], Move]) -> tuple[tuple[Move, ...], ...]:
    found: dict[Move, list[Move]] = {}
    for move in moves:
        found.setdefault(key(move), []).append(move)
    return tuple(map(tuple, found.values()))


def _joined(things: Iterable[T], maps: Sequence[Map], image: Callable[[Map, T], T]) -> dict[T, T]:
    """Return a representative for everything, shared by things that the maps take to each other."""
    root: dict[T, T] = {}
    for thing in things:
        if thing in root:
            continue
        root[thing] = thing
        waiting = [thing]
        while waiting:
            one = waiting.pop()
            for rename in maps:
                other = image(rename, one)
                if other not in root:
                    root[other] = thing
                    waiting.append(other)
    return root


def _image(rename: Map, move: Move) -> Move:
    return rename[move[0]], rename[move[1]]


@dataclass(frozen=True)
class Orbits:
    """Datasets of a bound mechanism up to verified symmetries."""

    bound: Bound
    kinds: tuple[Kind, ...]
    watch: Callable[[], None] = field(default=lambda: None, compare=False)

    def __post_init__(self) -> None:
        """Check that every client is in one block."""
        clients = sorted(number for kind in self.kinds for block in kind.blocks for number in block)
        if clients != list(range(self.bound.n)):
            raise AssertionError("the blocks do not divide the clients: a defect of the search for symmetries")

    @property
    def trivial(self) -> bool:
        """Whether every dataset represents itself only."""
        return all(len(kind.blocks) == 1 and not kind.maps for kind in self.kinds)

    @cached_property
    def _columns(self) -> list[list[Sequence[int]]]:
        """For every kind, the first clients of all blocks, the second ones, and so on; a range where they follow."""
        return [[in_a_row(clients) for clients in zip(*kind.blocks, strict=True)] for kind in self.kinds]

    # datasets

    @cached_property
    def _contents(self) -> tuple[_Classes, ...]:
        records = self.bound.record.values
        return tuple(
            _classes([(content, content) for content in every_content(records, len(kind.blocks[0]))], kind)
            for kind in self.kinds
        )

    @cached_property
    def number(self) -> int:
        """How many classes of datasets there are."""
        return count_compositions(self._sizes(self._contents))

    def counts(self, x: Sequence[Record]) -> Counts:
        """Return how many blocks of every kind hold what is in each class."""
        result = []
        for columns, classes in zip(self._columns, self._contents, strict=True):
            numbers = [0] * len(classes)
            for content, times in contents_of(x, columns, self.bound.record.values):
                numbers[classes.number_of[content, content]] += times
            result.append(tuple(numbers))
        return tuple(result)

    def every_counts(self) -> Iterator[Counts]:
        """Yield the counts of every class of datasets."""
        return every_counts(self._sizes(self._contents))

    def representative(self, counts: Counts) -> Dataset:
        return self._dataset([self._held(classes, c) for classes, c in zip(self._contents, counts, strict=True)], 0)

    def standing_for(self, x: Sequence[Record]) -> Dataset:
        """Return the dataset that represents this one."""
        return self.representative(self.counts(x))

    def size(self, counts: Counts) -> int:
        """Return how many datasets have these counts."""
        return self._size(self._contents, counts)

    def accuracy_set(self) -> AccuracySet:
        """Return one dataset per class, with the size of the class."""
        return AccuracySet(self._datasets, self.number)

    def _datasets(self) -> Iterator[tuple[Dataset, int]]:
        for counts in self.every_counts():
            self.watch()
            yield self.representative(counts), self.size(counts)

    # pairs of neighbours, for relations that have a name

    @cached_property
    def _moves(self) -> tuple[_Classes, ...]:
        return tuple(_classes(list(_every_move(self.bound, len(kind.blocks[0]))), kind) for kind in self.kinds)

    @cached_property
    def number_of_pairs(self) -> int:
        """How many classes of pairs of neighbours there are."""
        if relation_of(self.bound).every_record:
            unchanged = [
                (
                    len(kind.blocks),
                    sum(still == len(same) for still, same in zip(moves.still, moves.members, strict=True)),
                )
                for kind, moves in zip(self.kinds, self._moves, strict=True)
            ]
            return count_compositions(self._sizes(self._moves)) - count_compositions(unchanged)
        return sum(
            len(moves) * count_compositions(self._sizes(self._contents, at)) for at, moves in enumerate(self._moves)
        )

    def privacy_set(self) -> PrivacySet:
        """Return one pair of neighbours per class."""
        every = relation_of(self.bound).every_record
        return PrivacySet(self._pairs_of_all if every else self._pairs_of_one, self.number_of_pairs)

    def _pairs_of_one(self) -> Iterator[tuple[Dataset, Dataset, int]]:
        for change in self.changes_of_one():
            yield *self.neighbours(change), change.size

    def changes_of_one(self, allowed: Callable[[int, Content, Content], bool] | None = None) -> Iterator[Change]:
        """Yield one change of one block per class of pairs of neighbours, for relations that change one record.

        `allowed(kind, old, new)` restricts the changes, of a block of a kind (by number) from one content to another.
        """
        for at in range(len(self.kinds)):
            moves = list(self._moves_of(at, allowed))
            for others in every_counts(self._sizes(self._contents, at)):
                self.watch()
                yield from self._changes(at, others, moves)

    def changes(self, at: int, letters: tuple[int, int], several: Iterable[Counts]) -> Iterator[Change]:
        """Yield the changes of a block of kind `at` from one letter to another, for some counts of all other blocks."""
        moves = self.moves_between[at].get(letters, ())
        for others in several:
            self.watch()
            yield from self._changes(at, others, moves)

    @cached_property
    def moves_between(self) -> tuple[dict[tuple[int, int], list[Moved]], ...]:
        """For every kind, the moves from one letter to another by these letters: most are asked for one by one."""
        found: tuple[dict[tuple[int, int], list[Moved]], ...] = tuple({} for _ in self.kinds)
        for at, between in enumerate(found):
            for moved in self._moves_of(at, None):
                between.setdefault(moved[2], []).append(moved)
        return found

    def _moves_of(self, at: int, allowed: Callable[[int, Content, Content], bool] | None) -> Iterator[Moved]:
        """Yield one move of every class of a kind, with class size and letters."""
        number_of = self._contents[at].number_of
        for members in self._moves[at].members:
            ways = members if allowed is None else [move for move in members if allowed(at, *move)]
            if ways:
                old, new = (number_of[content, content] for content in ways[0])
                yield ways[0], len(ways), (old, new)

    def _changes(self, at: int, others: Counts, moves: Sequence[Moved]) -> Iterator[Change]:
        pairs = len(self.kinds[at].blocks) * self._size(self._contents, others)
        for move, ways, letters in moves:
            before, after = ((*others[:at], _plus(others[at], one), *others[at + 1 :]) for one in letters)
            yield Change(before, after, at, letters[0], move, pairs * ways)

    def neighbours(self, change: Change) -> tuple[Dataset, Dataset]:
        """Return neighbours that differ by a change."""
        held = [self._held(classes, c) for classes, c in zip(self._contents, change.counts, strict=True)]
        move, number = held[change.kind][change.letter]
        held[change.kind][change.letter : change.letter + 1] = [(change.move, 1), (move, number - 1)]
        return self._dataset(held, 0), self._dataset(held, 1)

    def _pairs_of_all(self) -> Iterator[tuple[Dataset, Dataset, int]]:
        for counts in every_counts(self._sizes(self._moves)):
            self.watch()
            size = self._size(self._moves, counts) - self._size(self._moves, counts, still=True)
            if size:
                held = [self._held(classes, c) for classes, c in zip(self._moves, counts, strict=True)]
                yield self._dataset(held, 0), self._dataset(held, 1), size

    # counts of classes

    def _sizes(self, classes: Sequence[_Classes], without: int | None = None) -> list[tuple[int, int]]:
        """Return (blocks, classes) of every kind, with one block of a kind left out."""
        return [
            (len(kind.blocks) - (at == without), len(same))
            for at, (kind, same) in enumerate(zip(self.kinds, classes, strict=True))
        ]

    @staticmethod
    def _size(classes: Sequence[_Classes], counts: Counts, still: bool = False) -> int:
        """Return how many ways there are to have these counts, or (`still`) to have them and change nothing."""
        return prod(
            arrangements(numbers)
            * prod(
                ways**number
                for ways, number in zip(same.still if still else map(len, same.members), numbers, strict=True)
            )
            for same, numbers in zip(classes, counts, strict=True)
        )

    @staticmethod
    def _held(classes: _Classes, numbers: Sequence[int]) -> list[tuple[Move, int]]:
        """Return the moves of the blocks of a kind, class by class, each with its number of blocks."""
        return list(zip(classes.shown, numbers, strict=True))

    def _dataset(self, held: Sequence[Sequence[tuple[Move, int]]], side: int) -> Dataset:
        """Return the dataset with these contents of blocks, before (side 0) or after (side 1) their moves."""
        x: list[Record] = [None] * self.bound.n
        for columns, moves in zip(self._columns, held, strict=True):
            for place, clients in enumerate(columns):
                records: list[Record] = []
                for move, number in moves:
                    records += [move[side][place]] * number
                if isinstance(clients, range):
                    x[clients.start : clients.stop] = records
                else:
                    for client, record in zip(clients, records, strict=True):
                        x[client] = record
        return tuple(x)


def _every_move(bound: Bound, clients: int) -> Iterator[Move]:
    """Yield all contents of a block in a dataset and its neighbour; where one record changes, only differing ones."""
    steps = relation_of(bound).steps
    for content in every_content(bound.record.values, clients):
        if relation_of(bound).every_record:
            yield from ((content, other) for other in product(*(steps[record] for record in content)))
            continue
        for place, record in enumerate(content):
            for new in steps[record]:
                if new != record:
                    yield content, (*content[:place], new, *content[place + 1 :])


def _plus(numbers: tuple[int, ...], at: int) -> tuple[int, ...]:
    return (*numbers[:at], numbers[at] + 1, *numbers[at + 1 :])
