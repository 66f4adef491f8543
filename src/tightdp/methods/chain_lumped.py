"""A chain with fewer nodes: nodes that are always reached in the same proportion are merged.

This is the case for a coin that a client tosses before its record is read: whatever came before, the nodes for its
outcomes have the weights of the coin. One node takes their place, and the weights stand on the ways down from it.
"""

from __future__ import annotations

from math import gcd

from tightdp.exact.whole import Whole
from tightdp.methods.chain import Block, Chain, Letter, Vector

__all__ = ["lumped"]

_Source = tuple[Letter, int]
"""A letter, and a node above."""
_Inflow = dict[int, dict[_Source, int]]
"""By node, the weight that it gets from each source."""
_Lumps = dict[int, tuple[int, int]]
"""By node, the node that represents it, and the ratio of its weight to that one's."""
_MOST_WEIGHTS = 500_000
"""Chains of more weights are not looked through."""


def lumped(chain: Chain) -> Chain:
    """Return a chain with the same probabilities; the same chain where weights are not integers, or very many."""
    vectors = [*chain.heads.values(), *chain.tails.values()]
    entries = [entry for block in chain.blocks for arrows in block.into.values() for entry in arrows.values()]
    weights = [weight for vector in vectors for weight in vector.values()]
    if sum(map(len, entries)) > _MOST_WEIGHTS:
        return chain
    if not all(isinstance(weight, int) for weight in (*weights, *(weight for entry in entries for _, weight in entry))):
        return chain
    inflow: _Inflow = {}
    for bits, vector in chain.heads.items():
        for node, weight in vector.items():
            inflow.setdefault(node, {})[(None, bits), 0] = _integer(weight)
    lumps = _lumps(inflow)
    heads: dict[int, Vector] = {bits: {} for bits in chain.heads}
    for node, sources in inflow.items():
        for ((_, bits), _), weight in sources.items():
            heads[bits][lumps[node][0]] = weight // lumps[node][1]
    blocks = []
    for block in chain.blocks:
        made, lumps = _block(block, lumps)
        blocks.append(made)
    tails: dict[int, Vector] = {}
    for bits, vector in chain.tails.items():
        below = tails.setdefault(bits, {})
        for node, weight in vector.items():
            if node in lumps:
                place, share = lumps[node]
                below[place] = below.get(place, 0) + weight * share
    return Chain(heads, tuple(blocks), tails, chain.tail_bits)


def _block(block: Block, lumps: _Lumps) -> tuple[Block, _Lumps]:
    """Return a block between lumps, and the lumps below it."""
    inflow: _Inflow = {}
    for letter, arrows in block.into.items():
        for below, entries in arrows.items():
            for above, weight in entries:
                if above in lumps:
                    place, share = lumps[above]
                    sources = inflow.setdefault(below, {})
                    sources[letter, place] = sources.get((letter, place), 0) + _integer(weight) * share
    after = _lumps(inflow)
    into: dict[Letter, dict[int, list[tuple[int, Whole]]]] = {letter: {} for letter in block.into}
    for below, sources in inflow.items():
        place, share = after[below]
        if place == below:
            for (letter, above), weight in sources.items():
                into[letter].setdefault(below, []).append((above, weight // share))
    return Block(block.client, block.bits, block.components, into), after


def _lumps(inflow: _Inflow) -> _Lumps:
    """Return the first of all nodes whose inflows are multiples of each other, and the multiple, for every node."""
    first: dict[frozenset[tuple[_Source, int]], int] = {}
    found: _Lumps = {}
    for node, sources in inflow.items():
        share = gcd(*sources.values())
        base = frozenset((source, weight // share) for source, weight in sources.items())
        found[node] = first.setdefault(base, node), share
    return found


def _integer(weight: Whole) -> int:
    assert isinstance(weight, int)
    return weight
