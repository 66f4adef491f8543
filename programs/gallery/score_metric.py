"""A score in the L1 metric, with the sensitivity of the L2 metric.

Source: github.com/opendp/opendp, issue 2951 (September 2026).
Affected: `_make_mst_scores` in the MBI extra of OpenDP, as of commit 4198f76.
State: open when this was written. `mended` takes the sensitivity in the metric of the score.

Sold as: e^ε = 16, the exponential mechanism at sensitivity 2.

Why: A user owns four rows, each in another cell. In the L2 metric the counts move by sqrt(4) = 2 when the user comes or
goes, and that is right for Gaussian noise on the counts. But the score of a marginal is the L1 distance between its
counts and those of a model, and in the L1 metric the same four rows are a distance of 4. Whoever hands a sensitivity
from one step to the next has to hand its metric, too. With one row for each user both are 1, and nothing shows.

Parameters: base, the weight of one point of score. Records are users, present or not; a user has a row in each of four
cells. The candidates are two marginals, of which the model has too few rows and too many.
"""

from tightdp import Values, choice, mechanism

CELLS = 4


def scores(x):
    """The L1 distances between the counts of x and two models: no rows at all, and all that there can be."""
    counts = [len(x) - x.count(None)] * CELLS
    return sum(counts), sum(len(x) - count for count in counts)


@mechanism(record=Values(None, "rows"), neighbours="add-remove")
def meant(x, base="2"):
    """Weights base^(score/2): e^ε = base^4 = 16 at sensitivity 4."""
    return choice((0, 1), weights=[base ** (score // 2) for score in scores(x)])


@mechanism(record=Values(None, "rows"), neighbours="add-remove")
def shipped(x, base="2"):
    """Weights base^score: e^ε = base^4 = 16 at sensitivity 2."""
    return choice((0, 1), weights=[base**score for score in scores(x)])


mended = meant

CLAIM = {"exp_epsilon": "16"}
PARAMETERS = {"n": 2}
EXPECTED = {"shipped": {"exp_epsilon": "257/2"}, "mended": {"exp_epsilon": "17/2"}}
