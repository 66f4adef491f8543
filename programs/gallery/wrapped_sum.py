"""A sum that wraps around at the width of its integers.

Source: github.com/opendp/opendp, issues 2925 and 2837.
Affected: sums of OpenDP in integer types that overflow, as of these issues.
State: see the issues; no correction was known when this was written. `mended` stays at the largest integer.

Sold as: e^ε = 2, as noise of ratio 1/2 has where a sum moves by 1.

Why: Sums are computed in integers of fixed width. One above the largest one is the smallest one. On most data nothing
happens; where the true sum is at the edge, one record decides between both ends of the range, and the noise, made for a
change of 1, hides a jump over all of it no more than a change of that size. Arithmetic that saturates, or that is
checked, has no such edge. The model has integers of two bits, from -2 to 1; with 64 the jump is longer.

Parameters: ratio of the noise. Records are bits.
"""

from tightdp import Bit, geometric, mechanism


@mechanism(record=Bit)
def meant(x, ratio="1/2"):
    """The sum with noise."""
    return geometric(sum(x), ratio, -3, 3)


@mechanism(record=Bit)
def shipped(x, ratio="1/2"):
    """The sum in integers of two bits, with noise."""
    return geometric((sum(x) + 2) % 4 - 2, ratio, -3, 3)


@mechanism(record=Bit)
def mended(x, ratio="1/2"):
    """The sum, or the largest integer, with noise."""
    return geometric(min(sum(x), 1), ratio, -3, 3)


CLAIM = {"exp_epsilon": "2"}
PARAMETERS = {"n": 2}
EXPECTED = {"shipped": {"exp_epsilon": "8"}, "mended": {"exp_epsilon": "2"}}
