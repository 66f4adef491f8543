"""A key is released at the threshold, and δ is computed above it.

Source: github.com/opendp/opendp, issue 2922 (September 2026).
Affected: `make_laplace_threshold` and `make_gaussian_threshold` of OpenDP, as of commit 4198f76.
State: open when this was written. `mended` compares strictly, as δ is computed.

Sold as: (ln 2, 1/12)-DP, as noise of ratio 1/2 and a threshold of 3 would have it.

Why: A key that nobody holds is never in the output, so the only protection of its first holder is that one noisy count
rarely reaches the threshold. δ is the probability that it does all the same. The code keeps counts that are equal to
the threshold, the formula for δ starts one above it. The mass of a single integer is missing, which for noise of ratio
r makes δ too small by the factor 1/r: small noise, large error. No test on ε can see it, since ε is right.

Parameters: ratio of the noise, threshold. Records are bits: whether a client holds the key.
"""

from tightdp import Bit, geometric, mechanism


@mechanism(record=Bit)
def meant(x, ratio="1/2", threshold=3):
    """The noisy count of a key where it lies above the threshold, else nothing."""
    if sum(x) == 0:
        return None
    noisy = geometric(sum(x), ratio, 0, len(x) + threshold)
    return noisy if noisy > threshold else None


@mechanism(record=Bit)
def shipped(x, ratio="1/2", threshold=3):
    """The same where it is at least the threshold."""
    if sum(x) == 0:
        return None
    noisy = geometric(sum(x), ratio, 0, len(x) + threshold)
    return noisy if noisy >= threshold else None


mended = meant

CLAIM = {"exp_epsilon": "2", "delta": "1/12"}
PARAMETERS = {"n": 2}
EXPECTED = {"shipped": {"delta": "1/6"}, "mended": {"delta": "1/12"}}
