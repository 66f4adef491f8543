"""The sums of a tree of counts, scaled as if each level moved by itself.

Source: github.com/opendp/opendp, issue 2924 (September 2026).
Affected: the stability map of `make_b_ary_tree` of OpenDP under the L2 metric.
State: open when this was written. `mended` has noise for the distance that a user really moves the tree by.

Sold as: ρ = 1. A user's rows move the leaves by 2, the tree has two levels, so it moves by 4: σ² = 8.

Why: Each leaf is in one node of every level, so the map multiplies a distance by the number of levels. That is more
than enough for one row. But a user with a row in each of four leaves moves their sum by 4, and the leaves themselves
by sqrt(4) = 2 only. Together that is sqrt(16 + 4), more than 2 * 2 = 4: the squares are 20 against 16, and the true ρ
is 5/4. On trees with two children to each node the factor errs on the safe side up to four levels, which is why
examples do not show it.

Parameters: variance, of the noise. Records are users, present or not; a user has a row in each of four leaves. The
published counts are clamped to a narrow window, so that their joint outputs can be listed; clamping takes nothing away
from a claim that is true.
"""

from tightdp import Values, discrete_gaussian, mechanism

LEAVES = 4


def tree(x, variance):
    """The noisy root, and the noisy leaves."""
    users = len(x) - x.count(None)
    leaves = [max(-1, min(discrete_gaussian(users, variance), 2)) for _ in range(LEAVES)]
    return (max(-1, min(discrete_gaussian(LEAVES * users, variance), 5)), *leaves)


@mechanism(record=Values(None, "rows"), neighbours="add-remove")
def meant(x, variance=10):
    """A squared distance of 20 over 2 * 10."""
    return tree(x, variance)


@mechanism(record=Values(None, "rows"), neighbours="add-remove")
def shipped(x, variance=8):
    """A squared distance of 16, as it was taken to be, over 2 * 8."""
    return tree(x, variance)


mended = meant

CLAIM = {"rho": "1"}
PARAMETERS = {"n": 1}
EXPECTED = {"shipped": {"rho": "1.08366639346"}, "mended": {"rho": "0.854775389466"}}
