"""The noisy sum is divided by the size of the batch that happened to be drawn.

Source: arXiv 2605.15648.
Affected: implementations of private training that average over the actual batch, as described there.
State: see the paper. `mended` divides by a number that is known beforehand.

Sold as: e^ε = 3/2 under add-remove, as noise of ratio 1/2 has on a Poisson sample of rate 1/2.

Why: A Poisson sample has a random size, and the accountant analyses the noisy sum of its records. To average, the sum
is divided by the size that was drawn, after the noise. That size depends on the data and has no noise of its own. Here
it shows in the grid of the outputs: halves come from batches of two, and a dataset of one record has none. With real
numbers the width of the noise tells the same, less plainly. Large batches vary little, so that small data show it best.

Parameters: ratio of the noise. Records are bits, or missing.
"""

from fractions import Fraction

from tightdp import Bit, flip, geometric, mechanism


def batch(x):
    """The records that are drawn, each with probability 1/2."""
    drawn = []
    for record in x:
        if record is not None and flip("1/2"):
            drawn.append(record)
    return drawn


@mechanism(record=Bit, neighbours="add-remove")
def meant(x, ratio="1/2"):
    """The noisy sum over the batch."""
    return geometric(sum(batch(x)), ratio, -1, len(x) + 1)


@mechanism(record=Bit, neighbours="add-remove")
def shipped(x, ratio="1/2"):
    """The noisy sum, divided by the size of the batch."""
    drawn = batch(x)
    return Fraction(geometric(sum(drawn), ratio, -1, len(x) + 1), max(1, len(drawn)))


@mechanism(record=Bit, neighbours="add-remove")
def mended(x, ratio="1/2"):
    """The noisy sum, divided by a constant."""
    return Fraction(geometric(sum(batch(x)), ratio, -1, len(x) + 1), 2)


CLAIM = {"exp_epsilon": "3/2"}
PARAMETERS = {"n": 2}
EXPECTED = {"shipped": {"exp_epsilon": "inf"}, "mended": {"exp_epsilon": "3/2"}}
