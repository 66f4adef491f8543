"""A value that is not a number passes the clamp, and stays what it is whatever noise is added.

Source: github.com/opendp/opendp, issue 2935; github.com/google/differential-privacy, pull request 405.
Affected: clamped sums of floats, in both libraries, as of these threads; elsewhere such a value becomes 0.
State: corrected by the pull request in the second one; see the issue for the first. `mended` reads it as the lower end.

Sold as: e^ε = 2 for values that are clamped to 0..1.

Why: Clamping is written with two comparisons: below the lower end, above the upper end. A value that is not a number is
neither, so it comes through. Then the sum is not a number, nor is the noisy sum, and the output says with certainty
that one record was such. A comparison that is false is not a comparison the other way round. Whoever may write a record
may write this one, so what it does has to be decided before anything is computed with it.

Parameters: ratio of the noise. Records are 0, 1, 5 or "nan".
"""

from tightdp import Values, geometric, mechanism

VALUES = Values(0, 1, 5, "nan")


def clamped(value):
    """A value in 0..1; what is no number counts as 0."""
    return 0 if value == "nan" else max(0, min(value, 1))


@mechanism(record=VALUES)
def meant(x, ratio="1/2"):
    """The sum of clamped values with noise."""
    return geometric(sum(clamped(value) for value in x), ratio, -1, len(x) + 1)


@mechanism(record=VALUES)
def shipped(x, ratio="1/2"):
    """What is no number passes the clamp, the sum, and the noise."""
    if "nan" in x:
        return "nan"
    return geometric(sum(clamped(value) for value in x), ratio, -1, len(x) + 1)


mended = meant

CLAIM = {"exp_epsilon": "2"}
PARAMETERS = {"n": 2}
EXPECTED = {"shipped": {"exp_epsilon": "inf"}, "mended": {"exp_epsilon": "2"}}
