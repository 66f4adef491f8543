"""Two noisy answers are taken from the data, and one of them is accounted.

Source: arXiv 2602.17454, on the engine of MOSTLY AI.
Affected: the engine as described there.
State: see the paper; no correction was known when this was written. `mended` divides the budget by two.

Sold as: e^ε = 4, as noise of ratio 1/4 has at a change of 1.

Why: The engine asks two questions about the same values, each with all of the budget that was set aside, and the
accountant is told of one. Both see the same record, so their losses add up, and e^ε is squared. Each answer alone is as
private as it was said to be, so that a test that looks at one of them finds nothing. What is accounted has to be
counted where noise is drawn, not where a budget is written down.

Parameters: ratio of the noise. Records are bits.
"""

from tightdp import Bit, geometric, mechanism


def answers(x, ratios):
    """Noisy numbers of zeros and of ones, as many as there are ratios."""
    return tuple(geometric(x.count(value), ratio, -1, len(x) + 1) for value, ratio in enumerate(ratios))


@mechanism(record=Bit)
def meant(x, ratio="1/4"):
    """One noisy answer."""
    return answers(x, [ratio])


@mechanism(record=Bit)
def shipped(x, ratio="1/4"):
    """Two noisy answers, each with the budget of one."""
    return answers(x, [ratio, ratio])


@mechanism(record=Bit)
def mended(x, ratio="1/2"):
    """Two noisy answers that share the budget."""
    return answers(x, [ratio, ratio])


CLAIM = {"exp_epsilon": "4"}
PARAMETERS = {"n": 2}
EXPECTED = {"shipped": {"exp_epsilon": "16"}, "mended": {"exp_epsilon": "4"}}
