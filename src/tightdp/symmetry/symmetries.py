"""The structure of a program's symmetries: interchangeable blocks of clients, and renamings of what they hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from tightdp.core.nodes import Apply, Case, Const, CoreProgram, Draw, Expr, Input, Nary, Shuffled, reachable
from tightdp.language.program import Bound
from tightdp.limits.calibrated import TABLE_ENTRIES
from tightdp.symmetry.orbits import Kind, Map, Orbits, every_content
from tightdp.symmetry.renaming import Action, Detector

_SYMMETRIC = frozenset(["eq", "ne"])
_SYMMETRIC_ON_NUMBERS = frozenset(["add", "mul", "min", "max"])


def exchangeable_clients(programs: Sequence[CoreProgram], clients: int) -> tuple[tuple[int, ...], ...]:
    """Return classes of consecutive clients, any two of a class exchangeable in all programs."""
    written = [_Written(program) for program in programs]
    return classes_of_clients(
        clients, lambda one, other: all(program.keeps({one: other, other: one}) for program in written)
    )


def unchanged_by(program: CoreProgram, exchanged: dict[int, int]) -> bool:
    """Whether exchanging clients, and some components of the output with them, leaves a program as it is."""
    return _Written(program).keeps(exchanged, outputs=True)


def classes_of_clients(clients: int, keeps: Callable[[int, int], bool]) -> tuple[tuple[int, ...], ...]:
    """Return classes of consecutive clients; `keeps` says whether two neighbours in the order may be exchanged."""
    classes = [[0]]
    for client in range(1, clients):
        if keeps(client - 1, client):
            classes[-1].append(client)
        else:
            classes.append([client])
    return tuple(map(tuple, classes))


def kinds_of(classes: Iterable[Sequence[int]]) -> tuple[Kind, ...]:
    """Return classes of interchangeable clients as kinds, each client a block of its own."""
    return tuple(Kind(tuple((client,) for client in same)) for same in classes)


class _Written:
    """The nodes of a program by their structure: nodes with equal structure share a number."""

    def __init__(self, program: CoreProgram) -> None:
        self._program = program
        self._nodes = reachable(program.roots)
        self._number_of: dict[Hashable, int] = {}
        self._own: dict[int, int] = {}
        self._draws: dict[int, list[Draw]] = {}
        clients: dict[int, frozenset[int]] = {}
        nearest: dict[int, frozenset[int]] = {}
        for expr in self._nodes:
            self._own[expr.serial] = self._number(self._key(expr, self._own, {}))
            below = frozenset([expr.client] if isinstance(expr, Input) else ())
            operands = [child.serial for child in expr.children]
            clients[expr.serial] = below.union(*map(clients.__getitem__, operands))
            # A node that combines one client's data with a running result of all is assigned to that client.
            single = [nearest[operand] for operand in operands if len(nearest[operand]) == 1]
            nearest[expr.serial] = below.union(*(single or map(nearest.__getitem__, operands)))
            if isinstance(expr, Draw):
                self._draws.setdefault(self._own[expr.selector.serial], []).append(expr)
        self._client_of = self._first_used_with(nearest) | self._first_used_with(clients)

    def _first_used_with(self, clients: Mapping[int, frozenset[int]]) -> dict[int, int]:
        """Return, for nodes without records, the client whose record alone they are first used with, if any."""
        found: dict[int, int] = {}
        for expr in reversed(self._nodes):
            own = clients[expr.serial]
            client = found.get(expr.serial) if not own else min(own) if len(own) == 1 else None
            if client is not None:
                found.update((child.serial, client) for child in expr.children if not clients[child.serial])
        return found

    def keeps(self, exchanged: dict[int, int], outputs: bool = False) -> bool:
        """Whether exchanging clients preserves the outputs, the conditions of `observe`, and the checks.

        With `outputs`, the components of the output may be exchanged, too.
        """
        image: dict[int, int] = {}
        taken: set[int] = set()
        for expr in self._nodes:
            match expr:
                case Draw():
                    found = self._counterpart(expr, image, taken, exchanged)
                    if found is None:
                        return False
                    taken.add(found.serial)
                    image[expr.serial] = self._own[found.serial]
                case Shuffled():
                    if Counter(self._own[item.serial] for item in expr.items) != Counter(
                        image[item.serial] for item in expr.items
                    ):
                        return False
                    image[expr.serial] = self._own[expr.serial]
                case _:
                    image[expr.serial] = self._number(self._key(expr, image, exchanged))
        program, own = self._program, self._own
        conditions = [check.condition for check in program.checks]
        if outputs and Counter(image[root.serial] for root in program.components) != Counter(
            own[root.serial] for root in program.components
        ):
            return False
        kept = outputs or all(image[root.serial] == own[root.serial] for root in program.components)
        return kept and all(
            {image[root.serial] for root in roots} == {own[root.serial] for root in roots}
            for roots in (program.evidence, conditions)
        )

    def _number(self, key: Hashable) -> int:
        return self._number_of.setdefault(key, len(self._number_of))

    def _counterpart(
        self, draw: Draw, image: dict[int, int], taken: set[int], exchanged: dict[int, int]
    ) -> Draw | None:
        """Return a draw, not yet taken, that may take the place of another one; None where there is none.

        Among draws with the same laws it is one that is first used with the record of the other client.
        """
        selector, client = image[draw.selector.serial], self._client_of.get(draw.serial, -1)
        same = selector == self._own[draw.selector.serial]
        if not same or client in exchanged:
            wanted = exchanged.get(client, client)
            for other in self._draws.get(selector, ()):
                alike = other.selector.values == draw.selector.values and other.laws == draw.laws
                if alike and self._client_of.get(other.serial, -1) == wanted and other.serial not in taken:
                    return other
        return draw if same and draw.serial not in taken else None

    def _key(self, expr: Expr, number: dict[int, int], exchanged: dict[int, int]) -> Hashable:
        """Return the structure of a node, in terms of the numbers of its operands."""
        match expr:
            case Const():
                value = expr.values[0]
                return "const", type(value), value
            case Input():
                return "input", exchanged.get(expr.client, expr.client), expr.leaf
            case Case():
                branches = tuple(number[branch.serial] for branch in expr.branches)
                return "case", number[expr.selector.serial], tuple(expr.selector.values), branches
            case Nary():
                return expr.operator, *sorted(number[operand.serial] for operand in expr.operands)
            case Apply():
                operands = [number[operand.serial] for operand in expr.operands]
                numbers = all(operand.numeric for operand in expr.operands)
                if expr.operator in _SYMMETRIC or (numbers and expr.operator in _SYMMETRIC_ON_NUMBERS):
                    operands.sort()
                return expr.operator, *operands
        return "leaf", expr.serial


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
    symmetries of the first of some interchangeable blocks.
    """

    orbits: Orbits
    exchanged: tuple[tuple[tuple[tuple[int, ...], ...], bool], ...]
    inside: tuple[tuple[tuple[tuple[int, ...], ...], Action], ...]


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
    kinds = tuple(_kind(bound, block) for block in blocks)
    orbits = Orbits(bound, kinds, lambda: watch(0))
    if orbits.trivial:
        return None
    return Symmetries(
        orbits,
        tuple((tuple(block.blocks), block.outputs) for block in blocks),
        tuple((tuple(block.blocks), action) for block in blocks for action in block.inside),
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
        if first not in held or records ** len(held) > TABLE_ENTRIES:
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
    few = detector.bound.record.size ** len(clients) <= TABLE_ENTRIES
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


def _own_inverse(images: Sequence[int]) -> bool:
    return all(images[image] == at for at, image in enumerate(images))


def _kind(bound: Bound, block: _Block) -> Kind:
    contents = every_content(bound.record.values, len(block.first))
    return Kind(tuple(block.blocks), tuple(_map_of(action, block.first, contents) for action in block.inside))


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
