"""Programs whose clients act independently: what one client does is all that privacy depends on.

Where the chain of a program has a single node between any two blocks, P(y|x) is a product over the clients. Two
neighbours that differ in one record then differ in one factor, and every divergence between their output laws is that
between the laws of this client's part of the output.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tightdp.lang.ir import Choice, Shape
from tightdp.lang.program import Bound, Dataset
from tightdp.logic.chain import Block, Chain
from tightdp.logic.count import Weights
from tightdp.logic.formula import WeightedFormula
from tightdp.query.neighbours import changes_one_record, record_steps
from tightdp.query.sets import PrivacySet, Table

__all__ = ["LocalTable", "find_local_table"]

ELSEWHERE = "*"
"""Stands, in an output, for what the other clients contribute."""


class _Seen(tuple[Any, ...]):
    """A dataset, looked at for one client's part of the output."""

    client: int


class LocalTable(Table):
    """The laws of one client's part of the output, for one client of every kind."""

    def __init__(self, bound: Bound, formula: WeightedFormula, chain: Chain) -> None:
        super().__init__(bound, formula)
        self._blocks = {block.client: block for block in chain.blocks}
        kinds: dict[Any, list[int]] = {}
        for block in chain.blocks:
            kinds.setdefault(_kernel(block), []).append(block.client)
        unseen = [client for client in range(bound.n) if client not in self._blocks]
        self.kinds = tuple(tuple(sorted(clients)) for clients in (*kinds.values(), unseen) if clients)
        self._local: dict[tuple[int, Any], Weights] = {}

    def weights(self, x: Dataset) -> Weights:
        if not isinstance(x, _Seen):
            return super().weights(x)
        key = (x.client, x[x.client])
        if x.client not in self._blocks:
            return Weights({x.client << 64: 1}, 1)
        if key not in self._local:
            total = {
                x.client << 64 | bits: sum(weight for entries in arrows.values() for _, weight in entries)
                for (record, bits), arrows in self._blocks[x.client].into.items()
                if record == x[x.client]
            }
            self._local[key] = Weights(dict(sorted(total.items())), sum(total.values()))
        return self._local[key]

    def output(self, code: int) -> Any:
        client, bits = code >> 64, code & (1 << 64) - 1
        values: list[Any] = [ELSEWHERE] * len(self.formula.values)
        for component in reversed(self._blocks[client].components if client in self._blocks else ()):
            size = len(self.formula.values[component])
            length = (size - 1).bit_length()
            values[component] = self.formula.values[component][bits & (1 << length) - 1]
            bits >>= length
        return self.formula.shape.decode(values)

    def privacy_set(self) -> PrivacySet:
        """Return one pair of neighbours per kind of client and change of its record."""
        return PrivacySet(self._pairs)

    def _pairs(self) -> Iterator[tuple[Dataset, Dataset, int]]:
        records = self.bound.record.values
        others = len(records) ** (self.bound.n - 1)
        for clients in self.kinds:
            for old, after in record_steps(self.bound).items():
                for new in after:
                    if new != old:
                        yield self._seen(clients[0], old), self._seen(clients[0], new), len(clients) * others

    def _seen(self, client: int, record: Any) -> _Seen:
        x: list[Any] = [self.bound.record.values[0]] * self.bound.n
        x[client] = record
        seen = _Seen(x)
        seen.client = client
        return seen


def find_local_table(bound: Bound, formula: WeightedFormula, chain: Chain) -> LocalTable | None:
    """Return the table of a program whose clients act independently, or None."""
    nodes = [len({node for arrows in block.into.values() for node in arrows}) for block in chain.blocks]
    single = all(number == 1 for number in nodes) and len({node for head in chain.heads.values() for node in head}) == 1
    if not (single and chain.blocks and changes_one_record(bound) and _plain(formula.shape)):
        return None
    return LocalTable(bound, formula, chain) if all(block.bits < 64 for block in chain.blocks) else None


def _plain(shape: Shape) -> bool:
    return not isinstance(shape, Choice) and all(_plain(item) for item in getattr(shape, "items", ()))


def _kernel(block: Block) -> Any:
    """Return what makes two clients of a product the same: the weight of every letter."""
    return frozenset(
        (letter, sum(weight for entries in arrows.values() for _, weight in entries))
        for letter, arrows in block.into.items()
    )
