"""A budget is cut into slices, and two steps help themselves from one slice.

Source: github.com/IBM/differential-privacy-library, issue 104, second item.
Affected: a model of diffprivlib that centres its data twice, as of that issue.
State: see the issue; no correction was known when this was written. `mended` gives each step a slice of half the size.

Sold as: e^ε = 4 for the slice of the budget that centring has.

Why: Features and target are centred at noisy means before the model is fitted. The budget has one slice for centring,
and both means are computed with it, each with all of it: a budget is cut in one place and spent in another. The means
are of different columns, but of the same persons, so that one person is in both. Composition counts how often a person
is looked at, not whether the columns differ.

Parameters: ratio of the noise. Records are pairs of a feature and a target, both bits.
"""

from tightdp import Bits, geometric, mechanism


def means(x, ratio):
    return tuple(geometric(sum(person[column] for person in x), ratio, -1, len(x) + 1) for column in (0, 1))


@mechanism(record=Bits(2))
def meant(x, ratio="1/2"):
    """Two noisy sums, each with half of the slice."""
    return means(x, ratio)


@mechanism(record=Bits(2))
def shipped(x, ratio="1/4"):
    """Two noisy sums, each with all of the slice."""
    return means(x, ratio)


mended = meant

CLAIM = {"exp_epsilon": "4"}
PARAMETERS = {"n": 1}
EXPECTED = {"shipped": {"exp_epsilon": "16"}, "mended": {"exp_epsilon": "4"}}
