"""A scale in proportion to the number of features less the degree, which is 0 where both are equal.

Source: arXiv 2602.17454, on PrivBayes in synthcity.
Affected: PrivBayes of synthcity, as described there.
State: see the paper; no correction was known when this was written. `mended` has the scale of one feature at least.

Sold as: e^ε = 16 for the counts of two features, each with noise of ratio 1/4 or more.

Why: A network over d features of degree k publishes d - k noisy tables, each with its share of the budget, so the scale
of the noise is taken in proportion to d - k. Where k is d, nothing is left to divide: the factor is 0, and so is the
noise. The one table that is published then is exact. A formula that is right inside its range was used at the end of
it, where no noise looks like a good result: the output fits the data perfectly.

Parameters: degree of the network. Records are tuples of two bits.
"""

from tightdp import Bits, geometric, mechanism

SHARES = ("0", "1/16", "1/4")
"""The ratio of the noise by how many tables share the budget: the square of the next one."""


def counts(x, ratio):
    return tuple(geometric(sum(person[feature] for person in x), ratio, 0, len(x)) for feature in (0, 1))


@mechanism(record=Bits(2))
def meant(x, degree=0):
    """Noisy counts as the share of one of two tables has them."""
    return counts(x, "1/4")


@mechanism(record=Bits(2))
def shipped(x, degree=2):
    """The scale is in proportion to the number of features less the degree."""
    return counts(x, SHARES[2 - degree])


@mechanism(record=Bits(2))
def mended(x, degree=2):
    """The same, but never less noise than for all of the budget."""
    return counts(x, "1/4" if degree == 2 else SHARES[2 - degree])


CLAIM = {"exp_epsilon": "16"}
PARAMETERS = {"n": 1}
EXPECTED = {"shipped": {"exp_epsilon": "inf"}, "mended": {"exp_epsilon": "16"}}
