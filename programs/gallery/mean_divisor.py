"""The noise of a mean is scaled to 1/n, where n is what is to be hidden.

Source: github.com/opendp/smartnoise-core, issues 355 and 356 (April 2021).
Affected: the derivation of the mean's sensitivity under add-remove in SmartNoise Core.
State: closed: the derivation now says that it is for a known n (pull request 357). `mended` releases the noisy sum and
the noisy number, from which anyone computes a mean.

Sold as: e^ε = 64 under add-remove.

Why: With n records one more or one less moves a mean of values in 0..1 by at most 1/n, and that was taken for the
sensitivity. It bounds the change around the dataset at hand; a neighbour has another n, hence noise of another width.
Far from the mean the two widths differ by any factor, so no ε holds: the further the output may lie, the larger e^ε.
The noise may depend on what is public only. An empty dataset has no mean at all, which the derivation left out as well.

Parameters: span, how far outputs reach on either side, in sixths. Records are bits or absent.
"""

from fractions import Fraction

from tightdp import Bit, geometric, mechanism


@mechanism(record=Bit, neighbours="add-remove")
def meant(x, span=18):
    """The mean in sixths of a known number of records, with noise of e^ε = 64 at a change of 6."""
    total = sum(record for record in x if record is not None)
    return geometric(6 * total // len(x), Fraction(1, 8), -span, 6 + span)


@mechanism(record=Bit, neighbours="add-remove")
def shipped(x, span=18):
    """The mean in sixths, with noise of e^ε = 64 at a change of 6/n."""
    present = [record for record in x if record is not None]
    number = max(1, len(present))
    return geometric(6 * sum(present) // number, Fraction(1, 2) ** number, -span, 6 + span)


@mechanism(record=Bit, neighbours="add-remove")
def mended(x, ratio="1/8"):
    """The sum and the number of the records, each with noise of e^ε = 8."""
    present = [record for record in x if record is not None]
    most = len(x) + 2
    return (geometric(sum(present), ratio, -2, most), geometric(len(present), ratio, -2, most))


CLAIM = {"exp_epsilon": "64"}
PARAMETERS = {"n": 3}
EXPECTED = {"shipped": {"exp_epsilon": "75497472/5"}, "mended": {"exp_epsilon": "64"}}
