"""A diagram as a chain of client blocks, and the linear maps between them.

Where every client's variables are adjacent, the diagram is a head (what is drawn before any client), one block per
client, and a tail. A client's *letter* is its record together with the output bits decided in its block; given its
letter, a block moves weight linearly from the nodes above it to those below. P(output | dataset) is a product of such
maps, whatever the program does inside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from tightdp.core.facts import NO_CLIENT
from tightdp.exact.whole import Whole, gcd, lcm
from tightdp.language.domains import Domain, Record
from tightdp.limits.calibrated import MOST_ENTRIES
from tightdp.logic.count import Scaled, flow
from tightdp.logic.formula import InputBit, OutputBit, WeightedFormula

Letter = tuple[Record, int]
"""A record, and the output bits decided in the client's block as a number."""

Change = tuple[Record, Record, int]
"""What one client does: its record under x, its record under x', and the output bits decided in its block."""

Vector = dict[int, Whole]
"""Integer weights by node of the diagram; zero weights are left out."""


_BETWEEN_LOOKS = 1_000


@dataclass(frozen=True)
class Block:
    """The block of one client: for every letter, where the weight below each node comes from.

    `into[letter][node]` lists (node above, weight); all weights of a block share one denominator. `components` are the
    output components that are decided in the block, from its top to its bottom; `bits` counts their bits.
    """

    client: int
    bits: int
    components: tuple[int, ...]
    into: dict[Letter, dict[int, list[tuple[int, Whole]]]]

    @cached_property
    def kinds(self) -> dict[int, dict[Record, int]]:
        """By possible output bits, a number for every record that can give them; equal numbers act alike."""
        numbers: dict[object, int] = {}
        found: dict[int, dict[Record, int]] = {}
        for (record, bits), arrows in self.into.items():
            written = frozenset((node, *entry) for node, entries in arrows.items() for entry in entries)
            found.setdefault(bits, {})[record] = numbers.setdefault((bits, written), len(numbers))
        return found

    @cached_property
    def first(self) -> dict[int, Letter]:
        """The first letter of each number."""
        found: dict[int, Letter] = {}
        for record, bits in self.into:
            found.setdefault(self.kinds[bits][record], (record, bits))
        return found

    @cached_property
    def size(self) -> int:
        """How many arrows there are."""
        return sum(len(entries) for arrows in self.into.values() for entries in arrows.values())

    def arrows(self) -> Iterator[tuple[Letter, int, int, Whole]]:
        """Yield every (letter, node below, node above, weight)."""
        for letter, into in self.into.items():
            for below, entries in into.items():
                for above, weight in entries:
                    yield letter, below, above, weight

    def pull(self, letter: Letter, vector: Vector) -> Vector:
        """Return, for nodes above the block, the value that the letter gives them from those below it."""
        arrows = self.into.get(letter, {})
        result: Vector = {}
        for node, value in vector.items():
            for above, weight in arrows.get(node, ()):
                result[above] = result.get(above, 0) + weight * value
        return {node: value for node, value in result.items() if value}


@dataclass(frozen=True)
class Chain:
    """A compiled program as head, blocks and tail.

    `heads[bits]` are weights of the nodes below the head, by the output bits decided there; `tails[bits]` values of
    the nodes above the tail, by the output bits decided there; `places` how many output bits each part decides.
    """

    heads: dict[int, Vector]
    blocks: tuple[Block, ...]
    tails: dict[int, Vector]
    tail_bits: int

    def code(self, head: int, letters: Sequence[Letter], tail: int) -> int:
        """Return the output code of the bits decided along the chain."""
        code = head
        for block, (_, bits) in zip(self.blocks, letters, strict=True):
            code = code << block.bits | bits
        return code << self.tail_bits | tail

    @cached_property
    def by_output(self) -> Chain:
        """The same chain where no block decides an output bit, or several do; else with these bits in the tail."""
        *others, last = self.blocks or (None,)
        if last is None or not last.bits or any(block.bits for block in others):
            return self
        numbers: dict[tuple[int, int], int] = {}
        into: dict[Letter, dict[int, list[tuple[int, Whole]]]] = {}
        for (record, bits), arrows in last.into.items():
            below = into.setdefault((record, 0), {})
            below.update((numbers.setdefault((node, bits), len(numbers)), entries) for node, entries in arrows.items())
        tails: dict[int, Vector] = {}
        for tail, vector in self.tails.items():
            for (node, bits), number in numbers.items():
                if node in vector:
                    tails.setdefault(bits << self.tail_bits | tail, {})[number] = vector[node]
        blocks = (*others, Block(last.client, 0, (), into))
        return Chain(self.heads, blocks, tails, self.tail_bits + last.bits)


class Runs:
    """Runs of consecutive clients that are interchangeable given an output."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self._commutes: dict[tuple[int, frozenset[int]], bool] = {}

    def of(self, below: frozenset[int]) -> list[list[int]]:
        """Return the runs, as lists of places in the chain, on what leads to the given nodes above the tail."""
        supports = self.supports(below)
        runs: list[list[int]] = []
        for at in range(len(self.chain.blocks)):
            if at and self._commute(at - 1, supports[at + 1]):
                runs[-1].append(at)
            else:
                runs.append([at])
        return runs

    def supports(self, below: frozenset[int]) -> list[frozenset[int]]:
        """Return, for the place above every block (and below the last), the nodes that lead to the given ones."""
        supports = [below]
        for block in reversed(self.chain.blocks):
            here = supports[-1]
            supports.append(frozenset(above for _, below, above, _ in block.arrows() if below in here))
        return supports[::-1]

    def _commute(self, at: int, support: frozenset[int]) -> bool:
        key = (at, support)
        if key not in self._commutes:
            self._commutes[key] = _interchangeable(self.chain.blocks[at], self.chain.blocks[at + 1], support)
        return self._commutes[key]


def _interchangeable(first: Block, second: Block, support: frozenset[int]) -> bool:
    """Whether two neighbouring blocks give the same, in either order of any two letters, to the nodes below them."""
    if first.into.keys() != second.into.keys() or first.bits != second.bits:
        return False
    kinds = {(first.kinds[bits][record], second.kinds[bits][record]): (record, bits) for record, bits in first.into}
    letters = list(kinds.values())
    for node in support:
        unit: Vector = {node: 1}
        halves = {letter: second.pull(letter, unit) for letter in letters}
        for at, one in enumerate(letters):
            for other in letters[:at]:
                if first.pull(one, halves[other]) != first.pull(other, halves[one]):
                    return False
    return True


def make_chain(
    formula: WeightedFormula, record: Domain, watch: Callable[[], None] = lambda: None, most: int = MOST_ENTRIES
) -> Chain | None:
    """Return a diagram as a chain.

    None where the variables of some client are not adjacent. Raises TooManyEntries where the maps between blocks would
    take more than `most` entries to compute.
    """
    if formula.conditioned:
        return None
    bounds = _segments(formula)
    return None if bounds is None else _chain(_Walk(formula, watch, most), record, bounds)


def _chain(walk: _Walk, record: Domain, bounds: Sequence[tuple[int, int, int]]) -> Chain:
    formula = walk.formula
    head_end = bounds[0][0] if bounds else 0
    heads = _head(walk, head_end)
    blocks = []
    entries = {node for vector in heads.values() for node in vector}
    inputs = {
        item: formula.evidence_of([leaves[leaf.leaf] for leaf in formula.inputs])
        for item, leaves in zip(record.values, map(record.split, record.values), strict=True)
    }
    for start, end, client in bounds:
        block, entries = _block(walk, inputs, client, start, end, entries)
        blocks.append(block)
    tail_start = bounds[-1][1] if bounds else head_end
    tails = _tail(walk, tail_start, entries)
    bits = sum(isinstance(variable, OutputBit) for variable in formula.variables[tail_start:])
    return Chain(heads, tuple(blocks), tails, bits)


def _segments(formula: WeightedFormula) -> list[tuple[int, int, int]] | None:
    """Return (first level, level after the last, client) of every block, in order.

    Coins stand beside their client's record; where they do not, a block extends from one record to the next.
    """
    inputs = [
        formula.inputs[variable.leaf].client if isinstance(variable, InputBit) else NO_CLIENT
        for variable in formula.variables
    ]
    found = _contiguous(formula.owners)
    return _contiguous(inputs) if found is None else found


def _contiguous(owners: Sequence[int]) -> list[tuple[int, int, int]] | None:
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    for level, owner in enumerate(owners):
        if owner != NO_CLIENT:
            first.setdefault(owner, level)
            last[owner] = level
    clients = sorted(first, key=first.__getitem__)
    for before, after in pairwise(clients):
        if last[before] > first[after]:
            return None
    starts = [first[client] for client in clients]
    ends = [*starts[1:], last[clients[-1]] + 1] if clients else []
    return list(zip(starts, ends, clients, strict=True))


class TooManyEntries(Exception):
    """Following the weight through the blocks of a diagram takes more steps than allowed."""


Flowed = dict[tuple[int, int], Whole]
"""Weight by (output bits decided, node reached)."""


class _Walk:
    """Weight followed through ranges of levels, within counted work."""

    def __init__(self, formula: WeightedFormula, watch: Callable[[], None], most: int) -> None:
        self.formula = formula
        self._watch = watch
        self._most = most
        self._spent = 0
        self._looked = 0

    def _look(self, count: Scaled) -> None:
        self._spent += 1 + len(count[0])
        if self._spent - self._looked > _BETWEEN_LOOKS:
            self._looked = self._spent
            self._watch()
            if self._spent > self._most:
                raise TooManyEntries

    def run(self, node: int, end: int, inputs: dict[int, bool]) -> tuple[Flowed, Whole]:
        """Return where weight 1 at a node arrives at or below level `end`, and the common denominator."""
        done = flow(self.formula, node, end, inputs, None, self._look)
        common = lcm(*(below for _, below in done.values()))
        return {
            (bits, exit_): weight * (common // below)
            for exit_, (weights, below) in done.items()
            for bits, weight in weights.items()
        }, common


def _head(walk: _Walk, end: int) -> dict[int, Vector]:
    heads: dict[int, Vector] = {}
    flowed, _ = walk.run(walk.formula.diagram.root, end, {})
    for (bits, node), weight in flowed.items():
        heads.setdefault(bits, {})[node] = weight
    return heads


def _tail(walk: _Walk, start: int, entries: set[int]) -> dict[int, Vector]:
    end = len(walk.formula.variables)
    flows = {node: walk.run(node, end, {}) for node in sorted(entries) if node}
    common = lcm(*(below for _, below in flows.values()))
    tails: dict[int, Vector] = {}
    for node, (flowed, below) in flows.items():
        for (bits, _), weight in flowed.items():
            tails.setdefault(bits, {})[node] = weight * (common // below)
    return tails


def _block(
    walk: _Walk, inputs: dict[Record, dict[int, bool]], client: int, start: int, end: int, entries: set[int]
) -> tuple[Block, set[int]]:
    """Return the block of a client, and the nodes below it; `inputs` are the bits of every record, in order."""
    formula = walk.formula
    decided = [variable for variable in formula.variables[start:end] if isinstance(variable, OutputBit)]
    components = tuple(variable.component for variable in decided if variable.bit == 0)
    flows: list[tuple[Record, int, Flowed, Whole]] = []
    for item, bits in inputs.items():
        for node in entries:
            if node > 1 and formula.diagram.level[node] < end:
                flows.append((item, node, *walk.run(node, end, bits)))
            else:
                flows.append((item, node, {(0, node): 1}, 1))
    common = lcm(*(below for *_, below in flows))
    shared = gcd(*(weight * (common // below) for *_, flowed, below in flows for weight in flowed.values()))
    into: dict[Letter, dict[int, list[tuple[int, Whole]]]] = {}
    exits: set[int] = set()
    for item, node, flowed, below in flows:
        for (own, exit_), weight in flowed.items():
            scaled = weight * (common // below) // shared
            into.setdefault((item, own), {}).setdefault(exit_, []).append((node, scaled))
            exits.add(exit_)
    position = {item: at for at, item in enumerate(inputs)}
    letters = sorted(into, key=lambda letter: (position[letter[0]], letter[1]))
    return Block(client, len(decided), components, {letter: into[letter] for letter in letters}), exits
