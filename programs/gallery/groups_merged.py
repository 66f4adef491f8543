"""A bound on the rows of a person that outlives the column by which it counted them.

Source: github.com/opendp/opendp, issue 2949.
Affected: truncation by a grouping column that is overwritten afterwards, in OpenDP's data frames as of that issue.
State: see the issue; no correction was known when this was written. `mended` has the noise that the distance needs.

Sold as: ρ = 1/2 for counts of two groups, in each of which a person has one row at most.

Why: A person may be in each of B groups once, so the vector of counts moves by the square root of B. That bound is kept
with the name of the column. Then the column is overwritten, here by a constant, and all groups become one: now a person
has up to B rows in one count, which moves by B. The bound is still there and says square root of B, so that ρ, which
goes with the square of the distance, is B times too small. A bound belongs to the values of a column, not to its name.

Parameters: variance of the noise. Records are persons: in which of two groups they are.
"""

from tightdp import Bits, discrete_gaussian, mechanism


def in_groups(x):
    """How many are in each group."""
    return tuple(sum(person[group] for person in x) for group in (0, 1))


def in_one(x):
    """How many rows there are, as all are in one group."""
    return (sum(person[0] + person[1] for person in x),)


@mechanism(record=Bits(2))
def meant(x, variance=2):
    """Noisy counts of both groups."""
    return tuple(discrete_gaussian(count, variance) for count in in_groups(x))


@mechanism(record=Bits(2))
def shipped(x, variance=2):
    """After the column was overwritten: one count, with the noise of two."""
    return discrete_gaussian(in_one(x)[0], variance)


@mechanism(record=Bits(2))
def mended(x, variance=4):
    """One count with the noise that its distance needs."""
    return discrete_gaussian(in_one(x)[0], variance)


CLAIM = {"rho": "1/2"}
PARAMETERS = {"n": 1}
SUMS = {"meant": (in_groups, 2), "shipped": (in_one, 2), "mended": (in_one, 4)}
EXPECTED = {"shipped": {"rho": "1"}, "mended": {"rho": "1/2"}}
