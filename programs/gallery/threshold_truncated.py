"""A threshold of 5/2 becomes 2 when it is converted to an integer.

Source: github.com/google/differential-privacy, issue 101, and the description of its correction in pull request 283.
Affected: `ThresholdedResult` of counts in the Go library, before the correction.
State: mended: the threshold is rounded up before it is converted.

Sold as: (ln 2, 1/6)-DP, as noise of ratio 1/2 and a threshold of 5/2 would have it.

Why: The threshold is computed from δ as a real number; counts are integers. In Go, as in C and Java, converting to an
integer drops the fraction, so a threshold of 5/2 keeps counts of 2, which it was made to drop. The loss is the mass
of one integer of the noise, as in `threshold_tail`: here δ doubles. Rounding up is exact, since no integer lies
between the threshold and its ceiling.

Parameters: ratio of the noise, threshold. Records are bits: whether a client holds the key.
"""

from math import ceil, floor

from tightdp import Bit, geometric, mechanism


@mechanism(record=Bit)
def meant(x, ratio="1/2", threshold="5/2"):
    """The noisy count of a key where it is at least the threshold, else nothing."""
    if sum(x) == 0:
        return None
    noisy = geometric(sum(x), ratio, 0, len(x) + 3)
    return noisy if noisy >= threshold else None


@mechanism(record=Bit)
def shipped(x, ratio="1/2", threshold="5/2"):
    """The same with the fraction of the threshold dropped."""
    if sum(x) == 0:
        return None
    noisy = geometric(sum(x), ratio, 0, len(x) + 3)
    return noisy if noisy >= floor(threshold) else None


@mechanism(record=Bit)
def mended(x, ratio="1/2", threshold="5/2"):
    """The same with the threshold rounded up."""
    if sum(x) == 0:
        return None
    noisy = geometric(sum(x), ratio, 0, len(x) + 3)
    return noisy if noisy >= ceil(threshold) else None


CLAIM = {"exp_epsilon": "2", "delta": "1/6"}
PARAMETERS = {"n": 2}
EXPECTED = {"shipped": {"delta": "1/3"}, "mended": {"delta": "1/6"}}
