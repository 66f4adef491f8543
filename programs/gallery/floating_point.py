"""A sum of floating-point numbers is as coarse as the larger one, and so tells which one that was.

Source: Mironov 2012, "On significance of the least significant bits for differential privacy"; opendp/opendp, issue
414 (December 2021); IBM/differential-privacy-library, issues 19 and 94.
Affected: continuous noise that is added in floating point, in many libraries.
State: OpenDP closed the issue with noise on a grid; in diffprivlib issue 94 was open when this was written. `mended`
rounds the exact sum to one grid.

Sold as: e^ε = 16, as exact noise of ratio 1/2 has at a change of 4.

Why: Floats are dense around 0 and sparse further out. Noise around 0 can be a small odd number. Noise that is added to
4 has to be about -5 to give -1, and there only even numbers exist: the sum can never be -1. So a single low bit tells
which of the two values was in the sum, with certainty. The model has three bits: steps of 1 below 4, of 2 below 8, of 4
beyond; 53 bits have the same gaps, only finer. Sums have to be exact, and rounded to a step that is fixed.

Parameters: ratio of the noise. Records are bits; a one counts 4.
"""

from tightdp import Bit, geometric, mechanism


def stored(value):
    """The float at or below a value, in a format with few bits."""
    step = 1 if abs(value) < 4 else 2 if abs(value) < 8 else 4
    return value // step * step


@mechanism(record=Bit)
def meant(x, ratio="1/2"):
    """The value with noise, exactly."""
    return geometric(4 * sum(x), ratio, -12, 12)


@mechanism(record=Bit)
def shipped(x, ratio="1/2"):
    """The value with noise, noise and sum stored as floats; then clamped."""
    noise = stored(geometric(0, ratio, -20, 20))
    return max(-12, min(stored(4 * sum(x) + noise), 12))


@mechanism(record=Bit)
def mended(x, ratio="1/2"):
    """The exact sum, rounded to a multiple of 4."""
    return geometric(4 * sum(x), ratio, -12, 12) // 4 * 4


CLAIM = {"exp_epsilon": "16"}
PARAMETERS = {"n": 1}
EXPECTED = {"shipped": {"exp_epsilon": "inf"}, "mended": {"exp_epsilon": "16"}}
