"""Chains in which records alone decide the way to the last client: the tight ratio is one of few pairs of laws.

This is the case where a program keeps a state while it reads the records, such as the largest so far and its place, and
adds noise to the result. Given the last record the output has the law of the state. States from which later records
lead to the same laws are one class, and which pairs of classes neighbours lead to is followed along the chain: a client
that changes its record leads from one class to two, all later ones from two classes to two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tightdp.exact.arrays import Flags, Integers, np
from tightdp.exact.numbers import Exact
from tightdp.exact.weights import quotient, steepest
from tightdp.exact.whole import Whole
from tightdp.language.domains import Record
from tightdp.limits.calibrated import MOST_ENTRIES, MOST_WORK
from tightdp.methods.chain import Block, Chain, Change

Steps = dict[Record, tuple[Record, ...]]
Path = tuple[int, int, list[Change]]
"""The output bits of head and tail, and what clients do in between."""

_Law = dict[tuple[int, int], Whole]
"""Weight by the output bits of the last block and of the tail."""


@dataclass(frozen=True)
class Certainly:
    """A chain by classes of nodes: `tables[i][a, r]` is where record r leads to from class a above block i.

    Below the last block stand laws. Above the first one there is one class, and all others can be reached.
    """

    head: int
    records: tuple[Record, ...]
    tables: list[Integers]
    laws: list[_Law]

    def largest(self, steps: Steps, watch: Callable[[], None]) -> tuple[bool, Path | None]:
        """Return whether the largest ratio is known, and how it is attained: None where neighbours have equal laws."""
        place = {record: at for at, record in enumerate(self.records)}
        moves = [(place[old], place[new]) for old in self.records for new in steps[old] if new != old]
        pairs = self._pairs(moves, watch)
        if pairs is None or int(pairs[-1].sum()) * max(map(len, self.laws)) > MOST_ENTRIES:
            return False, None
        np.fill_diagonal(pairs[-1], False)
        best: tuple[Exact, int, int, tuple[int, int]] | None = None
        for ours, theirs in map(tuple, np.argwhere(pairs[-1])):
            watch()
            up, down, output = steepest(self.laws[ours], self.laws[theirs])
            ratio = quotient(up, down) if down else math.inf
            if best is None or ratio > best[0]:
                best = ratio, ours, theirs, output
                if ratio == math.inf:
                    break
        if best is None:
            return True, None
        _, ours, theirs, (bits, tail) = best
        taken = [(self.records[old], self.records[new], 0) for old, new in self._way(pairs, moves, ours, theirs)]
        return True, (self.head, tail, [*taken[:-1], (*taken[-1][:2], bits)])

    def _pairs(self, moves: Sequence[tuple[int, int]], watch: Callable[[], None]) -> list[Flags] | None:
        """Return which pairs of classes neighbours lead to, above every block and at the end; None where too many.

        Two equal classes stand for neighbours that have not differed yet.
        """
        every = len(moves) == len(self.records) * (len(self.records) - 1)
        olds, news = (np.array([move[side] for move in moves], dtype=np.int64) for side in (0, 1))
        found, work = [np.ones((1, 1), dtype=np.bool_)], 0
        below = [*(len(table) for table in self.tables[1:]), len(self.laws)]
        for table, classes in zip(self.tables, below, strict=True):
            left, right = np.nonzero(found[-1])
            columns = np.unique(table, axis=1).T
            work += len(left) * len(columns) + classes * classes + len(table) * len(moves)
            if work > MOST_WORK:
                return None
            pairs = np.zeros((classes, classes), dtype=np.bool_)
            for column in columns:
                watch()
                pairs[column[left], column[right]] = True
            for row in table:
                watch()
                if every:
                    reached = np.unique(row)
                    pairs[np.ix_(reached, reached)] = True
                else:
                    pairs[row[olds], row[news]] = True
            found.append(pairs)
        return found

    def _way(
        self, pairs: Sequence[Flags], moves: Sequence[tuple[int, int]], ours: int, theirs: int
    ) -> list[tuple[int, int]]:
        """Return the records before and after, block by block, of neighbours that lead to two classes at the end."""
        way: list[tuple[int, int]] = []
        for table, before in zip(reversed(self.tables), reversed(pairs[:-1]), strict=True):
            left, right = np.nonzero(before if ours != theirs else np.eye(len(before), dtype=np.bool_))
            same = np.argwhere((table[left] == ours) & (table[right] == theirs))
            if len(same):
                number, record = same[0].tolist()
                way.append((record, record))
                ours, theirs = int(left[number]), int(right[number])
            else:  # here they differ for the first time
                ours, move = next(
                    (above, move)
                    for above, row in enumerate(table.tolist())
                    for move in (moves if ours in row else ())
                    if (row[move[0]], row[move[1]]) == (ours, theirs)
                )
                way.append(move)
                theirs = ours
        return way[::-1]


def certainly(chain: Chain, records: tuple[Record, ...], watch: Callable[[], None]) -> Certainly | None:
    """Return a chain by classes; None where what is drawn before the last client matters, or there is no other."""
    if len(chain.heads) != 1 or len(chain.blocks) < 2:
        return None
    ((head, vector),) = chain.heads.items()
    if len(vector) != 1:
        return None
    levels = [set(vector)]
    maps: list[dict[int, list[int]]] = []
    for block in chain.blocks[:-1]:
        watch()
        after = _map(block, records, levels[-1])
        if after is None:
            return None
        maps.append(after)
        levels.append({node for nodes in after.values() for node in nodes})
    laws: dict[frozenset[tuple[tuple[int, int], Whole]], int] = {}
    below = _laws(chain, records, levels[-1], laws)
    tables: list[Integers] = []
    for at in range(len(levels) - 1, -1, -1):
        watch()
        rows: dict[tuple[int, ...], int] = {}
        numbers = {node: rows.setdefault(tuple(below[node]), len(rows)) for node in sorted(levels[at])}
        tables.append(np.array(list(rows), dtype=np.int64))
        below = {node: [numbers[other] for other in nodes] for node, nodes in maps[at - 1].items()} if at else {}
    return Certainly(head, records, tables[::-1], [dict(law) for law in laws])


def _map(block: Block, records: Sequence[Record], nodes: set[int]) -> dict[int, list[int]] | None:
    """Return where every record leads from some nodes; None where that is random, or outputs are decided."""
    place = {record: at for at, record in enumerate(records)}
    found = {node: [-1] * len(records) for node in nodes}
    weights: set[Whole] = set()
    for (record, bits), below, above, weight in block.arrows():
        if above in found:
            weights.add(weight)
            if bits or found[above][place[record]] >= 0 or len(weights) > 1:
                return None
            found[above][place[record]] = below
    return None if any(-1 in after for after in found.values()) else found


def _laws(
    chain: Chain,
    records: Sequence[Record],
    nodes: set[int],
    numbers: dict[frozenset[tuple[tuple[int, int], Whole]], int],
) -> dict[int, list[int]]:
    """Return the number of the law of what comes after some nodes above the last block, for every record."""
    ends: dict[int, list[tuple[int, Whole]]] = {}
    for tail, vector in chain.tails.items():
        for node, value in vector.items():
            ends.setdefault(node, []).append((tail, value))
    place = {record: at for at, record in enumerate(records)}
    found: dict[int, list[_Law]] = {node: [{} for _ in records] for node in nodes}
    for (record, bits), below, above, weight in chain.blocks[-1].arrows():
        if above in found:
            law = found[above][place[record]]
            for tail, value in ends.get(below, ()):
                law[bits, tail] = law.get((bits, tail), 0) + weight * value
    return {
        node: [numbers.setdefault(frozenset(law.items()), len(numbers)) for law in own] for node, own in found.items()
    }
