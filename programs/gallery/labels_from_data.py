"""The labels of a histogram are those that occur in the data.

Source: dpmm, issue 18; class labels in IBM/differential-privacy-library.
Affected: models that are fitted without a declared domain, in both libraries, as of that issue.
State: see the issue; no correction was known when this was written. `mended` has its labels from outside.

Sold as: e^ε = 4 for a histogram with noise of ratio 1/2 in each cell.

Why: Each count has its noise, and that the counts are private nobody doubts. But which counts there are was read from
the data: a label that one person alone has is a cell that is there or not, with certainty. The list of labels is output
as much as the numbers are. It has to come from outside, or cells have to be released by a threshold, which costs δ.
Libraries that can guess a domain from the data do so silently, or with a warning that is easily missed.

Parameters: ratio of the noise. Records are one of three labels.
"""

from tightdp import Values, geometric, mechanism

LABELS = ("a", "b", "c")


def histogram(x, labels, ratio):
    return tuple((label, geometric(x.count(label), ratio, -1, len(x) + 1)) for label in labels)


@mechanism(record=Values(*LABELS))
def meant(x, ratio="1/2"):
    """A noisy count of each label that there may be."""
    return histogram(x, LABELS, ratio)


@mechanism(record=Values(*LABELS))
def shipped(x, ratio="1/2"):
    """A noisy count of each label that occurs."""
    return histogram(x, sorted(set(x)), ratio)


mended = meant

CLAIM = {"exp_epsilon": "4"}
PARAMETERS = {"n": 2}
EXPECTED = {"shipped": {"exp_epsilon": "inf"}, "mended": {"exp_epsilon": "4"}}
