"""Noise for adding or removing a record, accounted as if it covered replacing one.

Source: github.com/google/differential-privacy, issue 378 (December 2025).
Affected: the Rényi accountant of dp_accounting on Gaussian events under `REPLACE_ONE`, as of that date.
State: open when this was written, with a proposed correction (pull request 464). `mended` has the noise that the
relation needs. The model has geometric noise: the mistake is in the sensitivity, not in the kind of noise.

Sold as: e^ε = 4 for records from -1 to 1 when one is replaced.

Why: The multiplier of the noise is defined relative to the bound C on one record. Adding or removing a record moves the
sum by at most C, so under add-remove the multiplier is the noise over the sensitivity. Replacing C by -C moves it by
2C. The accountant offers both relations and reads the multiplier as noise over sensitivity in both. Under add-remove
the same mechanism keeps its promise: `--neighbours add-remove` says so.

Parameters: ratio of the noise. Records are integers from -1 to 1.
"""

from tightdp import Int, geometric, mechanism


def total(x):
    return sum(record for record in x if record is not None)


@mechanism(record=Int(-1, 1))
def meant(x, ratio="1/2"):
    """The sum with noise of e^ε = 4 at a change of 2."""
    return geometric(total(x), ratio, -2 * len(x), 2 * len(x))


@mechanism(record=Int(-1, 1))
def shipped(x, ratio="1/4"):
    """The sum with noise of e^ε = 4 at a change of 1."""
    return geometric(total(x), ratio, -2 * len(x), 2 * len(x))


mended = meant

CLAIM = {"exp_epsilon": "4"}
PARAMETERS = {"n": 2}
EXPECTED = {"shipped": {"exp_epsilon": "16"}, "mended": {"exp_epsilon": "4"}}
