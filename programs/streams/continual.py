"""Counts under continual observation: after every step what is needed for the sum so far is published with noise.

Source: tree, Chan, Shi and Song 2011 and Dwork, Naor, Pitassi and Rothblum 2010 (the binary mechanism); smart_sum,
Chan, Shi and Song 2011, with blocks; banded, Denisov, McMahan, Rush, Smith and Thakurta 2022 and Choquette-Choo et al.
2023 (a banded factor of the matrix of prefix sums; what is published is the right factor times the stream).

Parameters: ratio, that of the noise; levels of the tree, which begins anew after 2^(levels - 1) steps; block, how many
steps there are between two noisy sums; first and second, the two whole numbers on the diagonals of the factor. A record
is the bit of one step, and neighbours differ in one of them.
"""

from tightdp import Bit, geometric, mechanism


@mechanism(record=Bit)
def tree(x, levels=3, ratio="1/2"):
    """Every node of a binary tree over the steps gets its noisy sum when it is complete."""
    sums = [0] * levels
    step = 0
    published = []
    for v in x:
        step = (step + 1) % 2 ** (levels - 1)
        told = []
        for level in range(levels):
            sums[level] += v
            if step % 2**level == 0:
                told.append(geometric(sums[level], ratio))
                sums[level] = 0
        published.append(tuple(told))
    return tuple(published)


@mechanism(record=Bit)
def smart_sum(x, block=2, ratio="1/2"):
    """Noisy steps within a block, and the noisy sum of the block at its end."""
    held = 0
    step = 0
    published = []
    for v in x:
        held += v
        step = (step + 1) % block
        if step == 0:
            published.append(geometric(held, ratio))
            held = 0
        else:
            published.append(geometric(v, ratio))
    return tuple(published)


@mechanism(record=Bit)
def banded(x, first=2, second=1, ratio="1/2"):
    """The stream times a matrix with two diagonals, with noise."""
    last = 0
    published = []
    for v in x:
        published.append(geometric(first * v + second * last, ratio))
        last = v
    return tuple(published)
