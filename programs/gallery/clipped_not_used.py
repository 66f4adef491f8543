"""The data are clipped, and the statistic is computed of the data that were not.

Source: github.com/opendp/smartnoise-sdk, issue 622 (February 2026) and pull request 624.
Affected: the covariance of SmartNoise SDK, until then.
State: mended by the pull request.

Sold as: e^ε = 2 for values that are clipped to 0..1.

Why: Values are clipped to known ends, the result is kept under a name of its own, and the next line goes on with the
old name. Sensitivity and noise are those of clipped values. On data within the ends both names hold the same numbers,
so no test with tame data sees a difference. A value far outside moves the statistic by as much as it likes: here by 9
where 1 was expected. Code is safer where the raw data have no name any more.

Parameters: ratio of the noise. Records are integers from 0 to 9.
"""

from tightdp import Int, geometric, mechanism


@mechanism(record=Int(0, 9))
def meant(x, ratio="1/2"):
    """The sum of clipped values with noise."""
    clipped = [min(value, 1) for value in x]
    return geometric(sum(clipped), ratio, -1, 10)


@mechanism(record=Int(0, 9))
def shipped(x, ratio="1/2"):
    """The values are clipped, and not used."""
    clipped = [min(value, 1) for value in x]
    return geometric(sum(x), ratio, -1, 10) if clipped else None


mended = meant

CLAIM = {"exp_epsilon": "2"}
PARAMETERS = {"n": 1}
EXPECTED = {"shipped": {"exp_epsilon": "512"}, "mended": {"exp_epsilon": "2"}}
