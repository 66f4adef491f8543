"""The structure of a program's symmetries: interchangeable blocks of clients, and renamings of what they hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from tightdp.core.nodes import CoreProgram
from tightdp.language.program import Bound
from tightdp.symmetry.detect import Action, Detector
from tightdp.symmetry.orbits import Kind, Map, Orbits, every_content

__all__ = ["Symmetries", "find_symmetries"]

_MAX_CONTENTS = 4096
"""Blocks that can hold more are not exchanged as a whole."""
_ATTEMPTS_PER_CLIENT = 8
"""At most this many exchanges are tried per client."""


@dataclass
class _Block:
    """A kind under construction: interchangeable blocks, and confirmed symmetries inside the first of them."""

    blocks: list[tuple[int, ...]]
    inside: list[Action] = field(default_factory=list)
    outputs: bool = False

    @property
    def first(self) -> tuple[int, ...]:
        return self.blocks[0]

    @property
    def clients(self) -> frozenset[int]:
        return frozenset(number for held in self.blocks for number in held)


@dataclass(frozen=True)
class Symmetries:
    """Datasets up to confirmed symmetries, and the symmetries as they were found.

    `exchanged` has the interchangeable blocks of every kind and whether their outputs move along, `inside` the
    symmetries of the first of some interchangeable blocks, `mirror` one of all clients at once.
    """

    orbits: Orbits
    exchanged: tuple[tuple[tuple[tuple[int, ...], ...], bool], ...]
    inside: tuple[tuple[tuple[tuple[int, ...], ...], Action], ...]
    mirror: Action | None


def find_symmetries(
    bound: Bound,
    program: CoreProgram,
    measured: CoreProgram | None,
    backend: str,
    watch: Callable[[int], None] = lambda size: None,
) -> Symmetries | None:
    """Return the symmetries of a program without `Shuffled` nodes, or None where there are none.

    `measured` is the core program of the accuracy target, where outputs are to stay as they are.
    """
    detector = Detector(bound, program, measured, backend, watch)
    if not detector.found:
        return None
    blocks = _Partition(detector).blocks()
    for block in blocks:
        block.inside += _renamings(detector, block)
    if len(blocks) > 1:
        blocks = [_renamed_together(detector, block) for block in blocks]
    mirror = _mirror(detector, blocks)
    kinds = tuple(_kind(bound, block, mirror) for block in blocks)
    orbits = Orbits(bound, kinds, lambda: watch(0))
    if orbits.trivial:
        return None
    return Symmetries(
        orbits,
        tuple((tuple(block.blocks), block.outputs) for block in blocks),
        tuple((tuple(block.blocks), action) for block in blocks for action in block.inside),
        mirror,
    )


class _Partition:
    """Divides the clients into kinds of blocks."""

    def __init__(self, detector: Detector) -> None:
        self._detector = detector
        self._n = detector.bound.n
        self._attempts = _ATTEMPTS_PER_CLIENT * self._n

    def blocks(self) -> list[_Block]:
        """Return kinds of blocks that together contain every client."""
        result: list[_Block] = []
        for cell in self._detector.classes([]):
            left = [number for number in cell if not any(number in block.clients for block in result)]
            while left:
                block = self._block(left, result)
                result = [*(other for other in result if not other.clients <= block.clients), block]
                left = [number for number in left if number not in block.clients]
        return result

    def _block(self, cell: Sequence[int], found: Sequence[_Block]) -> _Block:
        """Return the kind of block that the first client of a cell is in; it may absorb kinds found before."""
        first, *others = cell
        if not others:
            return _Block([(first,)])
        parts = [part for part in self._detector.classes([first]) if set(part) <= set(others)]
        alike, moving = self._alike(first, parts)
        group = _Block([(number,) for number in alike], outputs=moving)
        apart = [part for part in parts if not set(part) & set(alike)]
        larger = self._larger(group, apart)
        if larger is None:
            return group
        taken = frozenset[int]().union(*(kind.clients for kind in found if not kind.clients <= larger.clients))
        return group if taken & larger.clients else larger

    def _alike(self, first: int, parts: Sequence[Sequence[int]]) -> tuple[list[int], bool]:
        """Return the clients that can be exchanged with the first while all others stay."""
        alike, outputs = [first], False
        for part in parts:
            swap = self._exchange(first, part[0])
            if swap is None:
                continue
            outputs |= swap.outputs
            everyone = [first, *part]
            turn = dict(zip(everyone, [*part, first], strict=True))
            if len(part) == 1 or self._moving(turn) is not None:
                alike += part
            else:
                alike += [number for number in part if self._exchange(first, number) is not None]
        return sorted(alike), outputs

    def _exchange(self, one: int, other: int) -> Action | None:
        return self._moving({one: other, other: one})

    def _moving(self, images: dict[int, int]) -> Action | None:
        """Return a symmetry that moves the given clients and no others."""
        return self._tried({number: images.get(number, number) for number in range(self._n)})

    def _larger(self, group: _Block, apart: Sequence[Sequence[int]]) -> _Block | None:
        """Return blocks of several clients of which the first holds the group, where exchanging them is a symmetry."""
        first = group.first[0]
        inner = [block[0] for block in group.blocks]
        swaps: list[Action] = []
        reached: set[int] = set()
        for number in (number for part in apart for number in part):
            swap = None if number in reached else self._swap(first, number)
            if swap is not None and swap.keeps_records and _own_inverse(swap.clients):
                swaps.append(swap)
                reached.update(swap.clients[member] for member in inner)
        if not swaps:
            return None
        held = _first_block(inner, swaps)
        records = self._detector.bound.record.size
        if first not in held or records ** len(held) > _MAX_CONTENTS:
            return None
        found = _Block([held], outputs=any(swap.outputs for swap in swaps))
        for swap in swaps:
            image = tuple(swap.clients[number] for number in held)
            taken = {number for block in found.blocks for number in block}
            if swap.moved == {*held, *image} and not taken & set(image):
                found.blocks.append(image)
        if len(found.blocks) == 1:
            return None
        found.inside = self._inside(held)
        return found

    def _swap(self, first: int, number: int) -> Action | None:
        return self._tried({first: number, number: first})

    def _tried(self, images: dict[int, int]) -> Action | None:
        """Return a symmetry with these images of clients, if there is one and attempts are left."""
        self._attempts -= 1
        return self._detector.symmetry(images) if self._attempts >= 0 else None

    def _inside(self, held: Sequence[int]) -> list[Action]:
        """Return exchanges of two clients of a block."""
        found: list[Action] = []
        left = list(held)
        while len(left) > 1:
            first, *others = left
            swaps = {number: self._exchange(first, number) for number in others}
            found += [swap for swap in swaps.values() if swap is not None]
            left = [number for number in others if swaps[number] is None]
        return found


def _first_block(inner: Sequence[int], swaps: Sequence[Action]) -> tuple[int, ...]:
    """Return the clients that every swap moves; with a single swap, one of each pair that it exchanges."""
    if len(swaps) > 1:
        return tuple(sorted(frozenset.intersection(*(swap.moved for swap in swaps))))
    (swap,) = swaps
    held: list[int] = list(inner)
    for number in sorted(swap.moved):
        if number not in held and swap.clients[number] not in held:
            held.append(number)
    return tuple(sorted(held))


def _renamings(detector: Detector, block: _Block, targets: Sequence[tuple[int, ...]] | None = None) -> list[Action]:
    """Return renamings of records inside a block: of one client, or of all clients of the block in the same way."""
    bound = detector.bound
    everyone = {number: number for number in range(bound.n)}
    found: list[Action] = []
    if targets is None:
        targets = [*((number,) for number in block.first), *([block.first] if len(block.first) > 1 else [])]
    for clients in targets:
        for renamed in detector.renamings(clients):
            action = detector.symmetry(everyone, renamed)
            if action is not None:
                found.append(action)
    return found


def _renamed_together(detector: Detector, block: _Block) -> _Block:
    """Return interchangeable clients as one block, where their records can be renamed only together."""
    clients = tuple(number for held in block.blocks for number in held)
    few = detector.bound.record.size ** len(clients) <= _MAX_CONTENTS
    if len(block.first) > 1 or len(clients) == 1 or not few or block.inside:
        return block
    whole = _Block([clients])
    whole.inside = _renamings(detector, whole, [clients])
    if not whole.inside:
        return block
    kept = {record: record for record in detector.bound.record.values}
    for one, other in pairwise(clients):
        images = list(range(detector.bound.n))
        images[one], images[other] = other, one
        whole.inside.append(Action(tuple(images), (kept,) * len(images), block.outputs))
    return whole


def _mirror(detector: Detector, blocks: Sequence[_Block]) -> Action | None:
    """Return a renaming of all records at once that is its own inverse, where no block has renamings of its own."""
    bound = detector.bound
    if not all(action.keeps_records for block in blocks for action in block.inside):
        return None
    everyone = {number: number for number in range(bound.n)}
    for renamed in detector.renamings(range(bound.n)):
        if all(map(_own_inverse, renamed.values())):
            action = detector.symmetry(everyone, renamed)
            if action is not None:
                return action
    return None


def _own_inverse(images: Sequence[int]) -> bool:
    return all(images[image] == at for at, image in enumerate(images))


def _kind(bound: Bound, block: _Block, mirror: Action | None) -> Kind:
    contents = every_content(bound.record.values, len(block.first))
    maps = tuple(_map_of(action, block.first, contents) for action in block.inside)
    return Kind(tuple(block.blocks), maps, None if mirror is None else _map_of(mirror, block.first, contents))


def _map_of(action: Action, held: Sequence[int], contents: Sequence[tuple[object, ...]]) -> Map:
    """Return what an action does to the contents of a block that it keeps."""
    place = {number: at for at, number in enumerate(held)}
    result: Map = {}
    for content in contents:
        image = list(content)
        for number, record in zip(held, content, strict=True):
            image[place[action.clients[number]]] = action.records[number][record]
        result[content] = tuple(image)
    return result
