"""Several answers from one and the same sample, each sold with the amplification of a fresh one.

Source: github.com/opendp/opendp, issue 2933 (September 2026).
Affected: `make_population_amplification` of OpenDP wherever its results are composed, as of that date.
State: open when this was written. `mended` draws a sample for every answer.

Sold as: one record of two is sampled, so randomized response with e^ε = 4 becomes 1 + (4 - 1)/2 = 5/2; two answers
together have 25/4.

Why: A sampled answer is more private because the record may not have been looked at. That luck is had once for each
sample. Two answers from one sample are either both about the record or both not, and when they agree they say which.
Amplification has to be applied once, to everything that is computed from a sample, not to each part of it: 1 +
(16 - 1)/2 = 17/2 is what the two answers have together, and it is attained.

Parameters: lam of randomized response, answers. Records are bits.
"""

from tightdp import Bit, choice, flip, mechanism


@mechanism(record=Bit)
def meant(x, lam="1/5", answers=2):
    """Every answer is about a record that is sampled for it."""
    return tuple(choice(x) ^ flip(lam) for _ in range(answers))


@mechanism(record=Bit)
def shipped(x, lam="1/5", answers=2):
    """Every answer is about one and the same sampled record."""
    sample = choice(x)
    return tuple(sample ^ flip(lam) for _ in range(answers))


mended = meant

CLAIM = {"exp_epsilon": "25/4"}
PARAMETERS = {"n": 2}
EXPECTED = {"shipped": {"exp_epsilon": "17/2"}, "mended": {"exp_epsilon": "25/4"}}
