"""A chain with fewer nodes: nodes that are always reached in the same proportion are merged.

This is the case for a coin that a client tosses before its record is read: whatever came before, the nodes for its
outcomes have the weights of the coin. One node takes their place, and the weights stand on the ways down from it.
"""

from __future__ import annotations

from tightdp.exact.whole import Whole, gcd
from tightdp.methods.chain import Block, Chain, Letter, Vector

__all__ = ["lumped"]

_Source = tuple[Letter, int]
"""A letter, and a node above."""
_Inflow = dict[int, dict[_Source, Whole]]
"""By node, the weight that it gets from each source."""
_Lumps = dict[int, tuple[int, Whole]]
"""By node, the node that represents it, and the ratio of its weight to that one's."""
_MOST_WEIGHTS = 500_000
"""Chains of more weights are not looked through."""


def lumped(chain: Chain) -> Chain:
    """Return a chain with the same probabilities; the same chain where weights are very many."""
    if sum(len(one) for block in chain.blocks for into in block.into.values() for one in into.values()) > _MOST_WEIGHTS:
        return chain
    inflow: _Inflow = {}
    for bits, vector in chain.heads.items():
        for node, weight in vector.items():
            inflow.setdefault(node, {})[(None, bits), 0] = weight
    arrows, lumps = _merged(inflow)
    heads: dict[int, Vector] = {bits: {} for bits in chain.heads}
    for ((_, bits), _), node, weight in arrows:
        heads[bits][node] = weight
    blocks = []
    for block in chain.blocks:
        inflow = {}
        for letter, below, above, weight in block.arrows():
            if above in lumps:
                place, share = lumps[above]
                sources = inflow.setdefault(below, {})
                sources[letter, place] = sources.get((letter, place), 0) + weight * share
        arrows, lumps = _merged(inflow)
        into: dict[Letter, dict[int, list[tuple[int, Whole]]]] = {letter: {} for letter in block.into}
        for (letter, above), node, weight in arrows:
            into[letter].setdefault(node, []).append((above, weight))
        blocks.append(Block(block.client, block.bits, block.components, into))
    tails: dict[int, Vector] = {bits: {} for bits in chain.tails}
    for bits, vector in chain.tails.items():
        for node, weight in vector.items():
            if node in lumps:
                place, share = lumps[node]
                tails[bits][place] = tails[bits].get(place, 0) + weight * share
    return Chain(heads, tuple(blocks), tails, chain.tail_bits)


def _merged(inflow: _Inflow) -> tuple[list[tuple[_Source, int, Whole]], _Lumps]:
    """Return the first of all nodes whose inflows are multiples of each other, with the multiple, for every node.

    With these, the inflows of the nodes that represent others: source, node and weight.
    """
    first: dict[frozenset[tuple[_Source, Whole]], int] = {}
    arrows: list[tuple[_Source, int, Whole]] = []
    lumps: _Lumps = {}
    for node, sources in inflow.items():
        share = gcd(*sources.values())
        base = frozenset((source, weight // share) for source, weight in sources.items())
        place = first.setdefault(base, node)
        lumps[node] = place, share
        if place == node:
            arrows += ((source, node, weight // share) for source, weight in sources.items())
    return arrows, lumps
