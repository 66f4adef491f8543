"""Upper ends of ε where loops are cut off, and how soon it is known that they have no end."""

from __future__ import annotations

import ast
from fractions import Fraction

import pytest

from tightdp import Bit, Mechanism, flip, mechanism, one_sided_geometric
from tightdp.core.lowering.loop_names import read_in

HALF = Fraction(1, 2)


def down(at):
    """The steps of a walk down to 0."""
    steps = 0
    while at > 0:
        at += 1 if flip("1/16") else -1
        steps += 1
    return steps


def told(x):
    """A bit by randomized response."""
    return flip(Fraction(1 + 2 * x[0], 4))


@mechanism(record=Bit)
def started(x):
    return down(2 if told(x) else 1)


@mechanism(record=Bit)
def one_after_the_other(x):
    b, z = told(x), down(1)
    return z + down(1 + z % 2) if b else z


@mechanism(record=Bit)
def after_two_bits(x):
    b, c = told(x), told(x)
    return c, down(1 + b + 2 * c)


@mechanism(record=Bit)
def of_two_records(x):
    """Only the second is told, and the walk depends on bits of both."""
    b, c = told(x), flip(Fraction(1 + x[1], 4))
    at = down(1 + b)
    return c if at + down(1 + b) else b


@mechanism(record=Bit)
def times_noise(x):
    z = one_sided_geometric(0, HALF)
    return z * z if told(x) else z


@mechanism(record=Bit)
def beside_a_bit(x):
    """The walk that decides is another one, and the longer the walk the more it says."""
    return down(1), told(x) and told((1 - x[0],))


@mechanism(record=Bit)
def beside_a_record(x):
    return down(1) + x[0]


@mechanism(record=Bit)
def faster(x):
    at, steps = 1, 0
    while at > 0:
        at += 1 if flip(Fraction(1 + x[0], 16)) else -1
        steps += 1
    return steps


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("made", "most"), [(started, 3), (one_after_the_other, 3), (times_noise, 3), (beside_a_bit, 1)]
)
def test_what_only_looks_at_private_bits_tells_no_more_than_these(made: Mechanism, most: int) -> None:
    """These are as private as randomized response: each publishes something from which its bit can be told often."""
    found = made.bind(n=1).privacy()
    assert found.upper == most
    assert most - Fraction(1, 10**12) < found.lower <= most


def test_renyi_divergence_has_both_ends() -> None:
    def law(p: Fraction) -> dict[int, Fraction]:
        found = {z: (1 - p) / 2 ** (z + 1) for z in range(60)}
        for z in range(60):
            found[z * z] = found.get(z * z, Fraction(0)) + p / 2 ** (z + 1)
        return found

    ours, theirs = law(Fraction(1, 4)), law(Fraction(3, 4))
    moment = max(sum(p[z] ** 2 / q[z] for z in p) for p, q in ((ours, theirs), (theirs, ours)))
    found = times_noise.bind(n=1).renyi(2)
    assert found.lower - Fraction(1, 10**15) <= moment <= found.upper
    assert found.upper - found.lower < Fraction(1, 10**12)


@pytest.mark.slow(seconds=3)
@pytest.mark.parametrize("made", [beside_a_record, faster])
def test_what_looks_at_records_has_no_upper_end(made: Mechanism) -> None:
    """An output is missing on one dataset, or its ratio grows with the number of steps."""
    assert made.bind(n=1).privacy().upper == float("inf")


def test_counters_are_known_by_what_rounds_do_to_them() -> None:
    source = """
def f():
    while flip():
        alive, total = alive - 1, total + 1
        one = both = both + 1
        doubled = doubled + doubled
        asked += 1
        again = 2 + again
        if asked > 3:
            less -= 1
"""
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    loop = function.body[0]
    assert isinstance(loop, ast.While)
    assert read_in(tuple(loop.body), function) == {"one", "both", "doubled", "asked"}


@pytest.mark.slow(seconds=3)
def test_what_was_asked_before_changes_nothing() -> None:
    asked = one_after_the_other.bind(n=1)
    asked.distribution((0,))
    fresh = one_after_the_other.bind(n=1)
    both = asked.privacy(), fresh.privacy()
    assert both[0].lower == both[1].lower
    assert both[0].upper == both[1].upper
    assert asked.distribution((1,)).law == fresh.distribution((1,)).law


@pytest.mark.slow(seconds=2)
def test_what_loops_depend_on_may_be_several_values() -> None:
    found = after_two_bits.bind(n=1).privacy()
    assert 9 - Fraction(1, 10**9) < found.lower <= found.upper == 9
    other = of_two_records.bind(n=2).privacy()
    assert 2 - Fraction(1, 10**9) < other.lower <= other.upper <= 3
