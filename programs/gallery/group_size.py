"""A group of k rows is taken to change by k rows at most; it can change by 2k.

Source: github.com/opendp/opendp, issue 2945 (September 2026).
Affected: grouped queries of OpenDP with `max_length` in a margin, as of commit 4198f76.
State: open when this was written. `mended` scales its noise to 2k.

Sold as: e^ε = 16 for any change of a group of two rows.

Why: Datasets are compared by the rows that have to be added and removed. Exchanging all k rows of a group removes k and
adds k, which is 2k, so the sum of the group can change by twice what the noise is made for. ε doubles, and ρ of zCDP
is four times as large. A group that is emptied changes by k only: tests that remove rows never see it.

Parameters: ratio of the noise. Records are values from -1 to 1; any dataset is a neighbour of any other.
"""

from itertools import product

from tightdp import Int, geometric, mechanism


def any_change(x):
    """Every other dataset: the one user who may change owns the whole group."""
    return [other for other in product((-1, 0, 1), repeat=len(x)) if other != x]


@mechanism(record=Int(-1, 1), neighbours=any_change)
def meant(x, ratio="1/2"):
    """The sum with noise of e^ε = 16 at a change of 4."""
    return geometric(sum(x), ratio, -2 * len(x), 2 * len(x))


@mechanism(record=Int(-1, 1), neighbours=any_change)
def shipped(x, ratio="1/4"):
    """The sum with noise of e^ε = 16 at a change of 2."""
    return geometric(sum(x), ratio, -2 * len(x), 2 * len(x))


mended = meant

CLAIM = {"exp_epsilon": "16"}
PARAMETERS = {"n": 2}
EXPECTED = {"shipped": {"exp_epsilon": "256"}, "mended": {"exp_epsilon": "16"}}
