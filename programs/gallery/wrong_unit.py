"""Noise for probabilities is added to counts.

Source: github.com/DataResponsibly/DataSynthesizer, issue 34.
Affected: the noisy tables of DataSynthesizer, as of that issue.
State: see the issue; no correction was known when this was written. `mended` has the noise of counts.

Sold as: e^ε = 4 for a histogram of two cells, of which a changed record moves both by 1.

Why: A table of probabilities moves by 2/n where one record of n is replaced, a table of counts by 2. The scale of the
noise is written for the first, with the n in it; what it is added to is the second. So the noise is n times too small,
and ε is n times what was promised: at four records e^ε is 4 to the fourth. The more data, the worse. Both quantities
are tables with the same labels, and after the division by their sum the results look alike. A unit in the name of a
variable would have shown it.

Parameters: ratio of the noise at a change of 1. Records are bits.
"""

from tightdp import Bit, geometric, mechanism


def table(x, ratio):
    return tuple(geometric(x.count(value), ratio, 0, len(x)) for value in (0, 1))


@mechanism(record=Bit)
def meant(x, ratio="1/2"):
    """Counts with the noise of counts."""
    return table(x, ratio)


@mechanism(record=Bit)
def shipped(x, ratio="1/2"):
    """Counts with noise that is as many times smaller as there are records."""
    return table(x, ratio ** len(x))


mended = meant

CLAIM = {"exp_epsilon": "4"}
PARAMETERS = {"n": 4}
EXPECTED = {"shipped": {"exp_epsilon": "256"}, "mended": {"exp_epsilon": "4"}}
