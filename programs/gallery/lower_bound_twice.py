"""The sensitivity is read from the lower bound twice, and is 0 where that bound is 0.

Source: github.com/IBM/differential-privacy-library, issues 104 (September 2025) and 105 (February 2026).
Affected: `models.LinearRegression` of diffprivlib, 0.6.6 among others.
State: open when this was written, with a proposed correction (pull request 110). `mended` reads both bounds.

Sold as: e^ε = 2 for the sum of squares of records between the bounds 0 and 1.

Why: The coefficient of x² in a regression has the sensitivity max(|lower|, |upper|)². The line that computes it has the
lower bound in both places. Where bounds are symmetric around 0 the result is right by luck. Where the lower bound is 0,
as for ages or incomes, the sensitivity is 0, the noise has scale 0, and the sum of squares is published as it is. Both
places look alike, the model fits better than it should, and no exception is raised.

Parameters: lower and upper bounds, ratio of the noise at sensitivity 1. Records are integers between the bounds.
"""

from tightdp import Int, geometric, mechanism


def noisy(total, sensitivity, ratio, most):
    """A sum with noise for a sensitivity of 0 or 1."""
    return geometric(total, ratio if sensitivity else 0, 0, most)


@mechanism(record=lambda lower, upper: Int(lower, upper))
def meant(x, lower=0, upper=1, ratio="1/2"):
    """The sum of squares, with noise for the larger bound."""
    sensitivity = max(abs(lower), abs(upper)) ** 2
    return noisy(sum(v * v for v in x), sensitivity, ratio, len(x))


@mechanism(record=lambda lower, upper: Int(lower, upper))
def shipped(x, lower=0, upper=1, ratio="1/2"):
    """The sum of squares, with noise for the lower bound."""
    sensitivity = max(abs(lower), abs(lower)) ** 2
    return noisy(sum(v * v for v in x), sensitivity, ratio, len(x))


mended = meant

CLAIM = {"exp_epsilon": "2"}
PARAMETERS = {"n": 2}
EXPECTED = {"shipped": {"exp_epsilon": "inf"}, "mended": {"exp_epsilon": "2"}}
