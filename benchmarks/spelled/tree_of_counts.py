"""Counts of a binary tree with noise of their own (Dwork et al., 2010; Chan, Shi and Song, 2011)."""

from tightdp import Bit, geometric, mechanism

ASKED = (({"n": 8}, "privacy", {}),)


@mechanism(record=Bit)
def with_slices(x):
    nodes, width = [], len(x)
    while width >= 2:
        nodes += [geometric(sum(x[at : at + width]), "1/2", 0, width) for at in range(0, len(x), width)]
        width //= 2
    return tuple(nodes)


@mechanism(record=Bit)
def with_sums(x):
    level, nodes = list(x), ()
    while len(level) > 1:
        level = [a + b for a, b in zip(level[::2], level[1::2])]
        nodes = tuple(geometric(count, "1/2", 0, len(x) // len(level)) for count in level) + nodes
    return nodes
