"""Outputs that one dataset can give and a neighbour cannot: an infinite likelihood ratio, found on supports alone.

Weights are not negative, so whether a probability is 0 depends only on which nodes of the chain can be reached. A state
is a pair of node sets above a block: those from which x can, and those from which x' can, still reach the output.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tightdp.language.domains import Record
from tightdp.language.neighbours import NeighbouringRelation
from tightdp.methods.chain import Block, Chain, Letter

__all__ = ["Difference", "find_difference"]

Nodes = frozenset[int]

Difference = tuple[int, int, list[tuple[Record, Record, int]]]
"""The output bits of head and tail, and per block the records under x and x' and the output bits."""

_State = tuple[Nodes, Nodes, bool, Any]
"""Nodes from which x, and x', can arrive; whether a record was changed; linked list of the choices below."""

MAX_STATES = 2_000


def find_difference(chain: Chain, relation: NeighbouringRelation, watch: Callable[[], None]) -> Difference | None:
    """Return an output that some x gives with positive probability and a neighbour never gives, or None.

    None, too, where more than `MAX_STATES` states would have to be kept, so it proves nothing.
    """
    above_all = _above_all if relation.every_record else _above_one
    for tail, below in chain.tails.items():
        start = frozenset(below)
        states: list[_State] = [(start, start, relation.every_record, ())]
        for block in reversed(chain.blocks):
            watch()
            states = _maximal(above_all(block, states, relation))
            if len(states) > MAX_STATES:
                break
        else:
            for head, above in chain.heads.items():
                for ours, theirs, changed, choices in states:
                    if changed and ours & above.keys() and not theirs & above.keys():
                        return head, tail, _listed(choices)
    return None


def _above_one(block: Block, states: Iterable[_State], relation: NeighbouringRelation) -> Iterator[_State]:
    """Yield the states above a block where one client in all may change its record."""
    for ours, theirs, changed, choices in states:
        # One of several equivalent letters is enough, which matters where records are many.
        left = {number: _sources(block, letter, ours) for number, letter in block.first.items()}
        right = {number: _sources(block, letter, theirs) for number, letter in block.first.items()}
        for number, (old, bits) in block.first.items():
            if left[number]:
                yield left[number], right[number], changed, ((old, old, bits), choices)
        for bits, kinds in block.kinds.items() if not changed else ():
            reach = {record: (left[number], right[number]) for record, number in kinds.items()}
            for old, new in relation.steps_of_kinds(reach):
                if reach[old][0]:
                    after = reach[new][1] if new in reach else frozenset()
                    yield reach[old][0], after, True, ((old, new, bits), choices)


def _above_all(block: Block, states: Iterable[_State], relation: NeighbouringRelation) -> Iterator[_State]:
    """Yield the states above a block where every client may change its record."""
    for ours, theirs, changed, choices in states:
        reach = {letter: _sources(block, letter, theirs) for letter in block.into}
        for old, bits in block.into:
            left = _sources(block, (old, bits), ours)
            for new in relation.steps[old] if left else ():
                yield left, reach.get((new, bits), frozenset()), changed, ((old, new, bits), choices)


def _sources(block: Block, letter: Letter, nodes: Nodes) -> Nodes:
    arrows = block.into[letter]
    return frozenset(above for node in nodes & arrows.keys() for above, _ in arrows[node])


def _maximal(states: Iterable[_State]) -> list[_State]:
    """Drop states from which x can arrive from no more, and x' from no fewer nodes, than from another state."""
    distinct = {(ours, theirs, changed): choices for ours, theirs, changed, choices in states}
    kept: list[_State] = []
    for (ours, theirs, changed), choices in sorted(
        distinct.items(), key=lambda item: len(item[0][1]) - len(item[0][0])
    ):
        if not any(ours <= a and b <= theirs and changed == flag for a, b, flag, _ in kept):
            kept.append((ours, theirs, changed, choices))
    return kept


def _listed(choices: Any) -> list[tuple[Record, Record, int]]:
    result = []
    while choices:
        step, choices = choices
        result.append(step)
    return result
