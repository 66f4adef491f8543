"""Chains in which every output determines the nodes passed through: the tight ratio is a product over arrows.

This is the case where everything that later clients' draws depend on is published, as in a protocol whose clients
answer one after the other and read the answers so far. P(output | dataset) is then a product of one weight for each
block, and a client that changes its record changes one factor. However many outputs there are, each block is visited
once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

from tightdp.exact.numbers import Exact
from tightdp.exact.weights import quotient
from tightdp.exact.whole import Whole
from tightdp.language.domains import Record
from tightdp.language.neighbours import NeighbouringRelation
from tightdp.methods.chain import Chain, Change

__all__ = ["Level", "PublishedPath", "largest_along_paths", "published_levels"]

Steps = dict[Record, tuple[Record, ...]]


@dataclass
class _Arrow:
    """Where output bits lead from a node, and with what weight for each record."""

    below: int
    weights: dict[Record, Whole] = field(default_factory=dict)


Level = dict[int, dict[int, _Arrow]]
"""By node above a block and output bits."""


_Choice = tuple[Exact, Record, Record]
"""A ratio, a record and what it becomes."""
_Choices = Callable[[_Arrow], Iterator[_Choice]]


@dataclass(frozen=True)
class PublishedPath:
    """The output bits of head and tail, and what clients do in between: a path with the largest ratio."""

    head: int
    tail: int
    taken: list[Change]


@dataclass(frozen=True)
class _Rest:
    """The largest ratio from a node on, and how it is reached: by a change, and the rest below it; or the tail."""

    ratio: Exact
    tail: int
    change: Change | None = None
    rest: _Rest | None = None

    def changes(self) -> Iterator[Change]:
        """Yield what clients do from here on."""
        at: _Rest | None = self
        while at is not None and at.change is not None:
            yield at.change
            at = at.rest


def largest_along_paths(chain: Chain, levels: Sequence[Level], relation: NeighbouringRelation) -> PublishedPath | None:
    """Return a path with the largest ratio between neighbours; None where no record can change."""
    steps, every_record = relation.steps, relation.every_record
    same: dict[int, _Rest] = {}
    for tail, vector in chain.tails.items():
        for node in vector:
            same.setdefault(node, _Rest(Fraction(1), tail))
    changed = same if every_record else {}
    changing, staying = partial(_changes, steps=steps), partial(_stays, steps=steps)
    for level in reversed(levels):
        if every_record:
            changed = _above(level, [(changed, changing), (changed, staying)])
        else:
            changed, same = _above(level, [(changed, _kept), (same, changing)]), _above(level, [(same, _kept)])
    found: tuple[int, _Rest] | None = None
    for head, (node,) in ((head, tuple(vector)) for head, vector in chain.heads.items()):
        if node in changed and (found is None or changed[node].ratio > found[1].ratio):
            found = head, changed[node]
    return None if found is None else PublishedPath(found[0], found[1].tail, list(found[1].changes()))


def published_levels(chain: Chain) -> list[Level] | None:
    """Return the arrows of every block; None where some output leads through several nodes between two blocks."""
    if any(len(vector) != 1 for vector in chain.heads.values()):
        return None
    reached = {node for vector in chain.heads.values() for node in vector}
    levels: list[Level] = []
    for block in chain.blocks:
        level: Level = {}
        for (record, bits), arrows in block.into.items():
            for below, entries in arrows.items():
                for above, weight in entries:
                    if above in reached:
                        arrow = level.setdefault(above, {}).setdefault(bits, _Arrow(below))
                        if arrow.below != below:
                            return None
                        arrow.weights[record] = arrow.weights.get(record, 0) + weight
        levels.append(level)
        reached = {arrow.below for arrows in level.values() for arrow in arrows.values()}
    return levels


def _above(level: Level, rests: Sequence[tuple[dict[int, _Rest], _Choices]]) -> dict[int, _Rest]:
    """Return the largest ratios from the nodes above a block on, by what the client does and the rest below it."""
    found: dict[int, _Rest] = {}
    for above, arrows in level.items():
        for bits, arrow in arrows.items():
            for below, choices in rests:
                rest = below.get(arrow.below)
                if rest is None:
                    continue
                for ratio, old, new in choices(arrow):
                    whole = math.inf if math.inf in (ratio, rest.ratio) else ratio * rest.ratio
                    if above not in found or whole > found[above].ratio:
                        found[above] = _Rest(whole, rest.tail, (old, new, bits), rest)
    return found


def _kept(arrow: _Arrow) -> Iterator[_Choice]:
    record = next(iter(arrow.weights))
    yield Fraction(1), record, record


def _stays(arrow: _Arrow, steps: Steps) -> Iterator[_Choice]:
    """Yield the choices in which a record stays the same, where all records may change at once."""
    yield from ((Fraction(1), record, record) for record in arrow.weights if record in steps[record])


def _changes(arrow: _Arrow, steps: Steps) -> Iterator[_Choice]:
    """Yield for every record the change with the largest ratio."""
    weights: dict[Record, Whole] = arrow.weights
    least: dict[int, tuple[Record, ...]] = {}
    for old, weight in weights.items():
        others: Sequence[Record] = steps[old]
        # Where every record may become every other one, they share one tuple.
        if id(others) not in least:
            least[id(others)] = _least(others, weights)
        new = least[id(others)]
        if new == (old,):
            new = _least([other for other in others if other != old], weights)
        for one in new:
            theirs = weights.get(one, 0)
            yield quotient(weight, theirs) if theirs else math.inf, old, one


def _least(records: Sequence[Record], weights: dict[Record, Whole]) -> tuple[Record, ...]:
    return (min(records, key=lambda record: weights.get(record, 0)),) if records else ()
