"""Neighbours given by a function, up to the symmetries that keep it: all answers are those of every pair."""

from itertools import combinations, permutations, product

import pytest

from tightdp import Bit, Int, flip, mechanism, randint
from tightdp.methods.base import Control
from tightdp.symmetry.kept import given_neighbours


def two_at_once(x):
    for one, other in combinations(range(len(x)), 2):
        yield tuple(1 - bit if at in (one, other) else bit for at, bit in enumerate(x))


def upwards(x):
    """One record grows by one, so that values may not be exchanged."""
    yield from ((*x[:at], v + 1, *x[at + 1 :]) for at, v in enumerate(x) if v < 2)


def first_alone(x):
    """Only the first record changes, so that it may not be exchanged with the others."""
    yield from ((v, *x[1:]) for v in range(3) if v != x[0])


def same_total(x):
    yield from (y for y in product(range(3), repeat=len(x)) if sum(y) == sum(x) and y != x)


def exchanged(x):
    """The same dataset is given several times where records are equal, once for each of them."""
    yield from (y for y in permutations(x) if y != x)


@mechanism(record=Bit)
def bits(x):
    """Every client answers with a bit that may be flipped."""
    return tuple(1 - b if flip("1/4") else b for b in x)


@mechanism(record=Int(0, 2))
def values(x):
    """Every client answers with one of three values."""
    return tuple(randint(0, 2) if flip("1/4") else v for v in x)


@mechanism(record=Int(0, 2))
def total(x):
    """A noisy sum of responses."""
    return sum(randint(0, 2) if flip("1/4") else v for v in x) + randint(0, 1)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("method", ["orbits", "aggregate"])
@pytest.mark.parametrize(
    ("program", "neighbours", "n"),
    [
        (bits, two_at_once, 4),
        (values, upwards, 3),
        (values, first_alone, 3),
        (values, same_total, 3),
        (total, upwards, 3),
        (total, first_alone, 3),
        (total, same_total, 3),
    ],
)
def test_answers_are_those_of_every_pair(program, neighbours, n, method):
    if (method == "aggregate") != (program is total):
        pytest.skip("the method does not apply")
    every, some = (program.bind(n=n, neighbours=neighbours, method=each) for each in ("exhaustive", method))
    assert some.delta(exp_epsilon=2).delta == every.delta(exp_epsilon=2).delta
    assert some.curve().points == every.curve().points
    assert some.privacy().exp_epsilon == every.privacy().exp_epsilon


@pytest.mark.parametrize(
    ("program", "neighbours", "n", "left"),
    [(bits, two_at_once, 5, 20), (values, upwards, 3, 20), (values, first_alone, 3, 4), (total, upwards, 3, 20)],
)
def test_few_pairs_stand_for_all(program, neighbours, n, left):
    instance = program.bind(n=n, neighbours=neighbours)
    inside, control = instance.engine.program, Control()
    found = inside.aggregate(control).orbits if program is total else inside.symmetries(control).orbits
    pairs = list(given_neighbours(found))
    every = sum(len(list(neighbours(x))) for x in product(instance.bound.record.values, repeat=n))
    assert sum(size for _, _, size in pairs) == every
    assert len(pairs) == left


def test_eight_clients_that_change_in_pairs_have_a_delta():
    assert (
        bits.bind(n=8, neighbours=two_at_once).delta(exp_epsilon=2).delta
        == bits.bind(n=3, neighbours=two_at_once).delta(exp_epsilon=2).delta
    )


@pytest.mark.parametrize("method", ["orbits", "exhaustive"])
def test_a_neighbour_that_is_given_again_is_counted_once(method):
    found, once = (
        values.bind(n=3, neighbours=each, method=method).privacy(top=3).top
        for each in (exchanged, lambda x: set(exchanged(x)))
    )
    assert [(ratio.exp_epsilon, ratio.triples) for ratio in found] == [
        (ratio.exp_epsilon, ratio.triples) for ratio in once
    ]
