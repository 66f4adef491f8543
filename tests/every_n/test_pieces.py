"""Upper ends where the run on x is cut into pieces by the sums that it has: sums that are cut, folded or compared."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

from tightdp import ALL, Bit, Int, geometric, laplace, mechanism
from tightdp.every_n.paths import Affine, Path, with_known
from tightdp.every_n.shifts import exclusive, fixed, pieces
from tightdp.exact import field
from tightdp.language.laws import TwoSided


@mechanism(record=Int(0, 3))
def cut(x):
    return geometric(min(sum(x), 5), "1/2")


@mechanism(record=Int(0, 2))
def cut_on_both_sides(x):
    return laplace(max(2, min(sum(x), 5)), 2)


@mechanism(record=Bit)
def folded(x):
    return geometric(abs(sum(x) - 3), "1/2")


@mechanism(record=Bit)
def steeper_from_two_on(x):
    total = sum(x)
    return geometric(total if total <= 2 else 2 * total - 2, "1/2")


@mechanism(record=Bit)
def least_of_two_counts(x):
    return geometric(min(sum(x), x.count(0)), "1/2")


@mechanism(record=Bit)
def cut_and_not_cut(x):
    total = sum(x)
    return geometric(min(total, 3), "1/2"), geometric(total, "1/3")


@mechanism(record=Bit)
def difference_of_cuts(x):
    total = sum(x)
    return geometric(min(total, 3) - min(total, 2), "1/2")


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (cut, 8),
        (cut_on_both_sides, field.exp(Fraction(1))),
        (folded, 2),
        (steeper_from_two_on, 4),
        (least_of_two_counts, 2),
        (cut_and_not_cut, 6),
        (difference_of_cuts, 2),
    ],
    ids=lambda made: getattr(made, "name", ""),
)
def test_noise_on_a_function_of_sums(made, expected):
    """Worked by hand: the noise bears by how much the function may change, at the dearest place."""
    found = made.bind(n=ALL).privacy()
    assert (found.status, found.upper, found.proof) == ("exact", expected, "alignment")
    assert max(made.bind(n=n).privacy().exp_epsilon for n in (1, 2, 3, 4)) == expected


S, NOISE = ((("held", 0), Fraction(1)),), ((("fresh", 0), Fraction(1)),)


def path(low, high, published):
    return Path(Fraction(1), (TwoSided(0, Fraction(1, 2)),), {S: (low, high)}, "", (published,), 0, ())


def test_pieces_are_all_of_a_path_once():
    below = path(-float("inf"), 4, Affine((*NOISE, *S), Fraction(0)))
    above = path(5, float("inf"), Affine(NOISE, Fraction(5)))
    for gap in (-3, -1, 0, 1, 2):
        found = pieces(above, (below, above), ((gap, gap),), (False,))
        ends = sorted(each.bounds[S] for each in found)
        assert ends[0][0] == 5
        assert ends[-1][1] == float("inf")
        assert all(high + 1 == low for (_, high), (low, _) in pairwise(ends))
        assert all(exclusive(one, other) for one in found for other in found if one is not other)


def test_values_that_are_fixed_are_put_in_on_both_sides():
    ours = path(5, 5, Affine(NOISE, Fraction(5)))
    theirs = path(-float("inf"), 4, Affine((*NOISE, *S), Fraction(0)))
    one, other = fixed(ours, theirs, ((2, 2),))
    assert (one.published, other.published) == ((Affine(NOISE, Fraction(5)),), (Affine(NOISE, Fraction(3)),))
    assert fixed(ours, theirs, ((0, 0),)) is None
    assert with_known(theirs, {("held", 0): Affine((), Fraction(5))}) is None
