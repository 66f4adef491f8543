"""Programs whose clients act independently, alone or in groups: what one group does is all that privacy depends on.

Where the chain of a program has a single node between two blocks, P(y|x) is a product of what stands above and below.
Two neighbours that differ in one record then differ in one factor, and every divergence between their output laws is
that between the laws of this group's part of the output.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from tightdp.core.nodes import Choice, Shape
from tightdp.language.domains import Record
from tightdp.language.neighbours import changes_one_record, record_steps
from tightdp.language.program import Bound, Dataset
from tightdp.logic.count import Weights
from tightdp.logic.formula import WeightedFormula, code_length
from tightdp.methods.chain import Block, Chain, Vector
from tightdp.symmetry.sets import PrivacySet, Table

__all__ = ["LocalTable", "find_local_table"]

ELSEWHERE = "*"
"""Stands, in an output, for what the other clients contribute."""

_MAX_CHANGES = 100_000
"""In how many ways the records of a group of several clients may change."""
_GROUP_BITS = 32
"""How many bits of a code say which group it belongs to; the output bits of the group stand before them."""


@dataclass(frozen=True)
class _Group:
    """Consecutive blocks with a single node above and below; with `tails` where the end of the chain belongs to it.

    `components` are the output components that the group decides, from the top of the diagram down.
    """

    blocks: tuple[Block, ...]
    entry: int
    tails: dict[int, Vector]
    tail_bits: int
    components: tuple[int, ...]

    @property
    def clients(self) -> tuple[int, ...]:
        """The clients of the group."""
        return tuple(block.client for block in self.blocks)

    def law(self, records: Sequence[Record]) -> dict[int, int]:
        """Return integer weights of the output bits of the group, given the records of its clients."""
        flows: dict[int, dict[int, int]] = {self.entry: {0: 1}}
        for block, record in zip(self.blocks, records, strict=True):
            flows = _pushed(block, record, flows)
        result: dict[int, int] = {}
        for tail, vector in self.tails.items():
            for node, value in vector.items():
                for bits, weight in flows.get(node, {}).items():
                    code = bits << self.tail_bits | tail
                    result[code] = result.get(code, 0) + weight * value
        return result

    @property
    def kernel(self) -> Any:
        """What makes two groups the same: every arrow, with nodes numbered in the order of their first use."""
        names: dict[int, int] = {self.entry: 0}

        def name(node: int) -> int:
            return names.setdefault(node, len(names))

        arrows = tuple(
            (letter, frozenset((name(above), name(node), weight) for above, weight in sorted(entries)))
            for block in self.blocks
            for letter, into in block.into.items()
            for node, entries in sorted(into.items())
        )
        ends = tuple(
            (tail, frozenset((name(node), value) for node, value in vector.items()))
            for tail, vector in self.tails.items()
        )
        return arrows, ends, self.tail_bits


def _pushed(block: Block, record: Record, flows: dict[int, dict[int, int]]) -> dict[int, dict[int, int]]:
    """Return the weights below a block, by node and output bits, from those above it."""
    below: dict[int, dict[int, int]] = {}
    for (old, decided), arrows in block.into.items():
        if old != record:
            continue
        for node, entries in arrows.items():
            for above, weight in entries:
                for bits, flow in flows.get(above, {}).items():
                    code = bits << block.bits | decided
                    there = below.setdefault(node, {})
                    there[code] = there.get(code, 0) + weight * flow
    return below


class _Seen(tuple[Any, ...]):
    """A dataset, looked at for one group's part of the output."""

    group: int


class LocalTable(Table):
    """The laws of one group's part of the output, for one group of every kind.

    Clients that the diagram does not see are groups without blocks.
    """

    def __init__(self, bound: Bound, formula: WeightedFormula, groups: Sequence[_Group]) -> None:
        super().__init__(bound, formula)
        self._groups = tuple(groups)
        kinds: dict[Any, list[int]] = {}
        for at, group in enumerate(groups):
            kinds.setdefault(group.kernel, []).append(at)
        self.kinds = tuple(map(tuple, kinds.values()))
        seen = {client for group in groups for client in group.clients}
        self._unseen = [client for client in range(bound.n) if client not in seen]
        self._local: dict[tuple[int, Any], Weights] = {}

    @property
    def alone(self) -> bool:
        """Whether every group is a single client."""
        return all(len(group.blocks) == 1 for group in self._groups)

    def weights(self, x: Dataset) -> Weights:
        if not isinstance(x, _Seen):
            return super().weights(x)
        if x.group >= len(self._groups):
            return Weights({x.group: 1}, 1)
        group = self._groups[x.group]
        records = tuple(x[client] for client in group.clients)
        key = (x.group, records)
        if key not in self._local:
            law = {bits << _GROUP_BITS | x.group: weight for bits, weight in group.law(records).items()}
            self._local[key] = Weights(dict(sorted(law.items())), sum(law.values()))
        return self._local[key]

    def output(self, code: int) -> Any:
        number, bits = code & (1 << _GROUP_BITS) - 1, code >> _GROUP_BITS
        values: list[Any] = [ELSEWHERE] * len(self.formula.values)
        for component in reversed(self._groups[number].components if number < len(self._groups) else ()):
            length = code_length(len(self.formula.values[component]))
            values[component] = self.formula.values[component][bits & (1 << length) - 1]
            bits >>= length
        return self.formula.shape.decode(values)

    def privacy_set(self) -> PrivacySet:
        """Return one pair of neighbours per kind of group and change of a record in it."""
        return PrivacySet(self._pairs)

    def _pairs(self) -> Iterator[tuple[Dataset, Dataset, int]]:
        records, steps = self.bound.record.values, record_steps(self.bound)
        for kind in self.kinds:
            clients = self._groups[kind[0]].clients
            alike = len(kind) * len(records) ** (self.bound.n - len(clients))
            for content in product(records, repeat=len(clients)):
                for place, old in enumerate(content):
                    for new in steps[old]:
                        if new != old:
                            after = (*content[:place], new, *content[place + 1 :])
                            yield self._seen(kind[0], clients, content), self._seen(kind[0], clients, after), alike
        for client in self._unseen[:1]:
            alike = len(self._unseen) * len(records) ** (self.bound.n - 1)
            for old, after in steps.items():
                for new in after:
                    if new != old:
                        nowhere = len(self._groups)
                        yield self._seen(nowhere, (client,), (old,)), self._seen(nowhere, (client,), (new,)), alike

    def _seen(self, group: int, clients: Sequence[int], content: Sequence[Record]) -> _Seen:
        x: list[Any] = [self.bound.record.values[0]] * self.bound.n
        for client, record in zip(clients, content, strict=True):
            x[client] = record
        seen = _Seen(x)
        seen.group = group
        return seen


def find_local_table(bound: Bound, formula: WeightedFormula, chain: Chain) -> LocalTable | None:
    """Return the table of a program whose clients act independently, alone or in small groups, or None."""
    entries = {node for head in chain.heads.values() for node in head}
    if not (len(entries) == 1 and chain.blocks and changes_one_record(bound) and _plain(formula.shape)):
        return None
    groups = _groups(formula, chain, entries.pop())
    steps = sum(len(after) - 1 for after in record_steps(bound).values())
    changes = [
        len(group.blocks) * steps * bound.record.size ** (len(group.blocks) - 1)
        for group in groups
        if len(group.blocks) > 1
    ]
    if (len(groups) == 1 and changes) or max(changes, default=0) > _MAX_CHANGES:
        return None
    return LocalTable(bound, formula, groups)


def _groups(formula: WeightedFormula, chain: Chain, entry: int) -> list[_Group]:
    """Cut a chain wherever a single node leads from block to block."""
    components = [component for component, bit in formula.output_bits if bit == 0]
    sizes = {component: code_length(len(formula.values[component])) for component in components}
    decided = sum(block.bits for block in chain.blocks) + chain.tail_bits
    first = _skip(components, sizes, len(formula.output_bits) - decided)
    groups: list[_Group] = []
    held: list[Block] = []
    for block in chain.blocks:
        held.append(block)
        exits = {node for arrows in block.into.values() for node in arrows}
        last = block is chain.blocks[-1]
        if len(exits) > 1 and not last:
            continue
        tailed = last and len(exits) > 1
        (exit_,) = exits if not tailed else (0,)
        bits = sum(one.bits for one in held) + (chain.tail_bits if tailed else 0)
        after = first + _skip(components[first:], sizes, bits)
        tails = chain.tails if tailed else {0: {exit_: 1}}
        groups.append(
            _Group(tuple(held), entry, tails, chain.tail_bits if tailed else 0, tuple(components[first:after]))
        )
        first, entry, held = after, exit_, []
    return groups


def _skip(components: Sequence[int], sizes: dict[int, int], bits: int) -> int:
    """Return how many components have so many bits together."""
    count = 0
    while bits > 0:
        bits -= sizes[components[count]]
        count += 1
    return count


def _plain(shape: Shape) -> bool:
    return not isinstance(shape, Choice) and all(_plain(item) for item in getattr(shape, "items", ()))
