"""Limits of ratios as n grows: against long products, by hand, and what may not be told by an output."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tightdp import ALL, Bit, Int, flip, geometric, mechanism
from tightdp.every_n.chain import Matrix, Vector, approached, direction, row
from tightdp.every_n.edges import finite, total
from tightdp.every_n.states import chain_of, explore
from tightdp.every_n.upper import Triple, extended, readings

ENTRIES = st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 2), Fraction(1, 3), Fraction(1)])


@given(st.lists(ENTRIES, min_size=12, max_size=12))
def test_directions_are_limits(entries: list[Fraction]) -> None:
    """Repeated squaring gives a power so high that what remains is the limit, but for what shrinks like 1/m."""
    matrix: Matrix = {i: {j: v for j in range(3) if (v := entries[3 * i + j])} for i in range(3)}
    start = {i: v for i, v in enumerate(entries[9:]) if v}
    found = direction(start, matrix)
    states = set(start)
    for _ in range(3):
        states |= {j for i in states for j in matrix[i]}
    power: Any = [[float(matrix[i].get(j, 0)) if i in states else 0.0 for j in range(3)] for i in range(3)]
    for _ in range(40):
        power = [[sum(a[k] * power[k][j] for k in range(3)) for j in range(3)] for a in power]
        most = max(map(max, power))
        power = [[value / most if most else 0.0 for value in each] for each in power]
    last = [sum(float(v) * power[i][j] for i, v in start.items()) for j in range(3)]
    if found is not None:
        assert all(abs(value / sum(last) - float(found.get(j, 0))) < 1e-6 for j, value in enumerate(last))


def test_a_direction_that_oscillates_is_none() -> None:
    turn: Matrix = {0: {1: Fraction(1)}, 1: {0: Fraction(1)}}
    assert direction({0: Fraction(1)}, turn) is None


def test_a_root_that_comes_twice() -> None:
    """Each power adds to the second entry what the first one has, so that it is all in the limit."""
    half = Fraction(1, 2)
    found: Vector | None = direction({0: Fraction(1)}, {0: {0: half, 1: half}, 1: {1: half}})
    assert found == {1: Fraction(1)}
    assert row(found, {1: {1: half}}) == {1: half}


def reached(made: Any, **parameters: Any) -> Any:
    chain = chain_of(explore(made.program.bind(1, **parameters)))
    assert chain is not None
    return approached(chain)


@mechanism(record=Int(0, 2))
def first_above(x):
    """The index of the first record that is found above a hidden level: by hand, 3."""
    level = 1 if flip("1/2") else 2
    for i, v in enumerate(x):
        if flip(1 if v >= level else "1/3") and flip("1/2"):
            return i
    return len(x)


def test_an_index_tells_where_the_loop_was_left() -> None:
    found = first_above.bind(n=ALL).privacy()
    assert (found.status, found.upper, found.attained) == ("exact", 3, found.lower == 3)
    assert reached(first_above) == 3


@mechanism(record=Bit)
def remembered_late(x):
    """The more zeros are passed over, the likelier is the level at which a one counts for more."""
    low = flip("1/2")
    for i, v in enumerate(x):
        if flip("1/2" if v or low else "1/4"):
            return i
    return -1


@pytest.mark.slow(seconds=4)
def test_the_claim_between_what_some_n_has_and_the_limit_is_refuted() -> None:
    found = remembered_late.bind(n=ALL).privacy()
    assert found.status == "exact"
    assert found.attained is False
    assert found.lower < found.upper == reached(remembered_late)
    between = (found.lower + found.upper) / 2
    assert remembered_late.bind(n=ALL).verify(exp_epsilon=between).holds is False
    assert remembered_late.bind(n=ALL).verify(exp_epsilon=found.upper).holds is True


@mechanism(record=Bit, neighbours="unit-all")
def hidden_before(x):
    """Half of all runs say 1 whatever the records are, so that e^ε is at most 2."""
    if flip("1/2"):
        return 1
    seen = 1
    for v in x:
        if flip("1/4" if v else "1/2"):
            seen = 0
    return seen


@mechanism(record=Bit, neighbours="unit-all")
def hidden_after(x):
    """Half of all runs say 0 whatever was sent; e^ε is below 2."""
    sent = []
    for v in x:
        sent.append(v ^ flip("1/4"))
    if flip("1/2"):
        return 0
    return 1 if sum(sent) > 0 else 0


@pytest.mark.parametrize(
    "made", [pytest.param(each, marks=pytest.mark.slow(seconds=3)) for each in (hidden_before, hidden_after)]
)
def test_outputs_that_do_not_tell_how_they_came_about_prove_no_growth(made: Any) -> None:
    assert reached(made) == 1
    found = made.bind(n=ALL).privacy()
    assert found.proof != "growth"
    assert found.lower <= 3


@pytest.mark.parametrize(
    ("x", "x_prime", "output", "expected"),
    [
        ((2, 2, 1), (3, 3, 0), (0, 0, 1), [((2, 2, 2, 2, 1), (3, 3, 3, 3, 0), (0, 0, 0, 0, 1))]),
        ((2, 2, 3), (2, 2, 0), 2, [((2,) * 4 + (3,), (2,) * 4 + (0,), 2), ((2,) * 4 + (3,), (2,) * 4 + (0,), 4)]),
        ((0, 1, 0, 1), (1, 0, 1, 0), -1, [((0, 1) * 4, (1, 0) * 4, -1)]),
        ((0, 1), (1, 1), 0, []),
    ],
)
def test_what_repeats_itself_is_repeated(x: Any, x_prime: Any, output: Any, expected: Any) -> None:
    assert list(extended(Triple(x, x_prime, output))) == [Triple(*each) for each in expected]


def test_ends_beyond_the_range_of_a_float() -> None:
    far = Fraction(10) ** 400
    assert total(inf, (-1, far)) == total(far, (far, inf)) == total(Fraction(0), (-far, -inf)) == inf
    assert total(far, (-1, inf)) == total(-far, (far, -inf), (1, far)) == -inf
    assert total(far, (-2, far), (1, far)) == 0
    assert finite(far)
    assert not finite(inf)


@pytest.mark.slow(seconds=3)
def test_noise_that_nothing_depends_on() -> None:
    """Who is there draws noise that may not matter: small runs, without tails, do not contradict that."""

    @mechanism(record=Bit, neighbours="add-remove")
    def drawn(x):
        s = flip("1/2")
        for r in x:
            if r is not None:
                y = geometric(r, "1/2")
                if s == 0 and flip("1/3"):
                    s = min(y, 1)
                s = geometric(1, "1/2")
        return 0

    @mechanism(record=Bit, neighbours="add-remove")
    def unread(x):
        for r in x:
            if r is not None:
                y = geometric(r, "1/2")
                if 1 == 0:
                    return y
        return 0

    @mechanism(record=Bit)
    def read_once(x):
        s = 0
        for r in x:
            y = geometric(r, "1/2")
            if s < 1:
                s = min(s + y, 1)
        return s == 1

    assert drawn.bind(n=ALL).privacy().lower == 1
    assert readings(read_once.program.bind(1))
    assert unread.bind(n=ALL).privacy().upper == 1
