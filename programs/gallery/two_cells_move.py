"""A replaced record moves two cells, and the noise is for one.

Source: the JAM mechanism of mbi (second defect), found with the harness of dp-recorder.
Affected: JAM as distributed with mbi.
State: no correction was known when this was written. `mended` has twice the variance.

Sold as: ρ = 1/4, as Gaussian noise of variance 2 has at distance 1.

Why: A histogram has one cell for each kind of record. A record that is added or removed moves one cell by 1. A record
that is replaced leaves one cell and comes to another: two cells move by 1, which is a distance of the square root of 2.
The mechanism declares a distance of 1 and is used for replacement. ρ goes with the square of the distance, so that it
is twice what was declared. Under add-remove the claim would be right.

Parameters: variance of the noise. Records are bits.
"""

from tightdp import Bit, discrete_gaussian, mechanism


def cells(x):
    """How many zeros and ones there are."""
    return x.count(0), x.count(1)


def one_cell(x):
    """How many ones there are."""
    return (x.count(1),)


@mechanism(record=Bit)
def meant(x, variance=2):
    """One noisy count."""
    return discrete_gaussian(one_cell(x)[0], variance)


@mechanism(record=Bit)
def shipped(x, variance=2):
    """Two noisy counts, of which a changed record moves both."""
    return tuple(discrete_gaussian(count, variance) for count in cells(x))


@mechanism(record=Bit)
def mended(x, variance=4):
    """The same with noise for both."""
    return tuple(discrete_gaussian(count, variance) for count in cells(x))


CLAIM = {"rho": "1/4"}
PARAMETERS = {"n": 2}
SUMS = {"meant": (one_cell, 2), "shipped": (cells, 2), "mended": (cells, 4)}
EXPECTED = {"shipped": {"rho": "1/2"}, "mended": {"rho": "1/4"}}
