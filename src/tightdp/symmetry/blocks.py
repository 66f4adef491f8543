"""Representatives of datasets and neighbouring pairs under verified symmetries, enumerated directly.

Clients fall into blocks, blocks of one kind are interchangeable, and what a block holds may be renamed on its own.
So a dataset is, up to symmetry, a multiset of classes of contents per kind. A mirror maps all blocks at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import prod

from tightdp.language.domains import Record
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound, Dataset
from tightdp.symmetry.counts import Counts, count_compositions
from tightdp.symmetry.orbits import arrangements, every_counts
from tightdp.symmetry.sets import AccuracySet, PrivacySet

__all__ = ["BlockOrbits", "Kind", "every_content"]

Content = tuple[Record, ...]
"""The records of the clients of a block."""
Change = tuple[Content, Content]
"""What a block holds in a dataset and in its neighbour."""
Map = dict[Content, Content]


def every_content(records: Sequence[Record], clients: int) -> list[Content]:
    """Return all contents of a block."""
    return list(product(records, repeat=clients))


@dataclass(frozen=True)
class Kind:
    """Interchangeable blocks of clients, and the maps of a block's contents that change nothing.

    `mirror` is a map of contents that changes nothing where all blocks of all kinds are mapped by theirs at once; it is
    its own inverse.
    """

    blocks: tuple[tuple[int, ...], ...]
    maps: tuple[Map, ...] = ()
    mirror: Map | None = None


@dataclass(frozen=True)
class _Classes:
    """Classes of changes, the first of each as its representative, and the mirror as a map of classes."""

    members: tuple[tuple[Change, ...], ...]
    mirror: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.members)


def _classes(things: Sequence[Change], kind: Kind) -> _Classes:
    """Return the classes of changes under the maps of a kind; unchanged contents are changes too."""
    class_of = _joined(things, kind.maps)
    order = {root: at for at, root in enumerate(dict.fromkeys(class_of[thing] for thing in things))}
    members: list[list[Change]] = [[] for _ in order]
    for thing in things:
        members[order[class_of[thing]]].append(thing)
    mirror = {} if kind.mirror is None else kind.mirror
    images = [group[0] if kind.mirror is None else _image(mirror, group[0]) for group in members]
    return _Classes(tuple(map(tuple, members)), tuple(order[class_of[image]] for image in images))


def _joined(things: Sequence[Change], maps: Sequence[Map]) -> dict[Change, Change]:
    """Return a representative for everything; things that maps take to each other share it."""
    root: dict[Change, Change] = {}
    for thing in things:
        if thing in root:
            continue
        root[thing] = thing
        waiting = [thing]
        while waiting:
            one = waiting.pop()
            for rename in maps:
                other = _image(rename, one)
                if other not in root:
                    root[other] = thing
                    waiting.append(other)
    return root


def _image(rename: Map, change: Change) -> Change:
    return rename[change[0]], rename[change[1]]


@dataclass(frozen=True)
class BlockOrbits:
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
        """Whether every dataset stands for itself only."""
        return all(len(kind.blocks) == 1 and not kind.maps and kind.mirror is None for kind in self.kinds)

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
        """How many classes of datasets there are, not counting the mirrors."""
        return count_compositions(self._sizes(self._contents))

    def accuracy_set(self) -> AccuracySet:
        """Return one dataset per class, with the size of the class."""
        return AccuracySet(lambda: ((x, size) for x, _, size in self._multisets(self._contents)), self.number)

    # pairs of neighbours

    @cached_property
    def _changes(self) -> tuple[_Classes, ...]:
        steps = relation_of(self.bound).steps
        one = relation_of(self.bound).one_record
        return tuple(_classes(list(_every_change(self.bound, steps, len(k.blocks[0]), one)), k) for k in self.kinds)

    @cached_property
    def number_of_pairs(self) -> int:
        """How many classes of pairs of neighbours there are, not counting the mirrors; for a relation with a name."""
        if not relation_of(self.bound).one_record:
            return count_compositions(self._sizes(self._changes)) - self.number
        return sum(
            len(changes) * count_compositions(self._sizes(self._contents, at))
            for at, changes in enumerate(self._changes)
        )

    def privacy_set(self) -> PrivacySet:
        """Return one pair of neighbours per class, for a relation that has a name."""
        one = relation_of(self.bound).one_record
        return PrivacySet(self._pairs_of_one if one else self._pairs_of_all, self.number_of_pairs)

    def _pairs_of_all(self) -> Iterator[tuple[Dataset, Dataset, int]]:
        return ((x, other, size) for x, other, size in self._multisets(self._changes) if x != other)

    def _pairs_of_one(self) -> Iterator[tuple[Dataset, Dataset, int]]:
        for at, changes in enumerate(self._changes):
            for number, (members, image) in enumerate(zip(changes.members, changes.mirror, strict=True)):
                if image >= number:
                    ways = len(members) * len(self.kinds[at].blocks) * (1 if image == number else 2)
                    for x, other, size in self._multisets(self._contents, at, members[0], image == number):
                        yield x, other, size * ways

    # multisets

    def _sizes(self, classes: Sequence[_Classes], without: int | None = None) -> list[tuple[int, int]]:
        return [
            (len(kind.blocks) - (at == without), len(letters))
            for at, (kind, letters) in enumerate(zip(self.kinds, classes, strict=True))
        ]

    def _multisets(
        self, classes: Sequence[_Classes], at: int | None = None, given: Change | None = None, mirrored: bool = True
    ) -> Iterator[tuple[Dataset, Dataset, int]]:
        """Yield representatives of multisets of classes with their sizes; a block of kind `at` holds what is given."""
        for counts in every_counts(self._sizes(classes, at)):
            self.watch()
            image = _mirrored(classes, counts) if mirrored else counts
            if image >= counts:
                size = self._size(classes, counts) * (1 if image == counts else 2)
                yield *self._representative(classes, counts, at, given), size

    @staticmethod
    def _size(classes: Sequence[_Classes], counts: Counts) -> int:
        return prod(
            arrangements(numbers)
            * prod(len(members) ** number for members, number in zip(letters.members, numbers, strict=True))
            for letters, numbers in zip(classes, counts, strict=True)
        )

    def _representative(
        self, classes: Sequence[_Classes], counts: Counts, at: int | None, given: Change | None
    ) -> tuple[Dataset, Dataset]:
        x: list[Record] = [None] * self.bound.n
        other = list(x)
        for number, (kind, letters, numbers) in enumerate(zip(self.kinds, classes, counts, strict=True)):
            held = [given] if number == at and given is not None else []
            for members, repeated in zip(letters.members, numbers, strict=True):
                held += [members[0]] * repeated
            for clients, (content, after) in zip(kind.blocks, held, strict=True):
                for client, record, new in zip(clients, content, after, strict=True):
                    x[client], other[client] = record, new
        return tuple(x), tuple(other)


def _mirrored(classes: Sequence[_Classes], counts: Counts) -> Counts:
    """Return the counts of the mirrored classes."""
    result = []
    for letters, numbers in zip(classes, counts, strict=True):
        moved = [0] * len(numbers)
        for number, image in zip(numbers, letters.mirror, strict=True):
            moved[image] += number
        result.append(tuple(moved))
    return tuple(result)


def _every_change(bound: Bound, steps: dict[Record, tuple[Record, ...]], clients: int, one: bool) -> Iterator[Change]:
    """Yield every change of a block's content between neighbours, with nothing changed too unless `one` record is."""
    for content in every_content(bound.record.values, clients):
        if not one:
            yield from ((content, other) for other in product(*(steps[record] for record in content)))
            continue
        for place, record in enumerate(content):
            for new in steps[record]:
                if new != record:
                    yield content, (*content[:place], new, *content[place + 1 :])
