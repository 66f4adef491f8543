"""Answers for every n where positions are compared, or records are picked by them."""

from __future__ import annotations

from itertools import product

import pytest

from chain_laws import law
from tightdp import ALL, Bit, TightdpError, Tuple, flip, geometric, mechanism
from tightdp.every_n.states import chain_of, explore


@mechanism(record=Bit)
def first(x):
    return x[0] ^ flip("1/3")


@mechanism(record=Tuple(Bit, Bit))
def part_of_the_first(x):
    return x[0][1] ^ flip("1/3")


@mechanism(record=Bit)
def first_and_last(x):
    return x[len(x) - 1] ^ x[0] ^ flip("1/3")


@mechanism(record=Bit)
def last_and_count(x):
    return x[-1] ^ flip("1/3"), geometric(sum(x), "1/2")


@mechanism(record=Bit)
def changes(x):
    """One record is a part of two changes at most."""
    total = 0
    for i in range(len(x)):
        if i > 0 and x[i] != x[i - 1]:
            total += 1
    return geometric(total, "1/2")


@mechanism(record=Bit)
def first_three(x):
    total = 0
    for i, v in enumerate(x):
        if i < 3:
            total += v
    return geometric(total, "1/2")


@mechanism(record=Bit)
def less_noise_at_first(x):
    sent = []
    for i, v in enumerate(x):
        sent.append(v ^ flip("1/4" if i < 2 else "1/3"))
    return tuple(sent)


@mechanism(record=Bit)
def odd_and_late(x):
    sent = []
    for i, v in enumerate(x):
        sent.append(v ^ flip("1/5" if i % 2 and i > 2 else "1/4"))
    return tuple(sent)


@mechanism(record=Bit)
def two_places_back(x):
    odd = 0
    for i in range(len(x)):
        if i > 1:
            odd = odd ^ x[i] ^ x[i - 2]
    return odd ^ flip("1/4")


@mechanism(record=Bit)
def ends_at_the_third(x):
    for i, v in enumerate(x):
        if i == 2 or flip("1/3" if v else "1/4"):
            return i
    return -1


POSITIONS = [
    (first, 2),
    (part_of_the_first, 2),
    (first_and_last, 2),
    (last_and_count, 4),
    (changes, 4),
    (first_three, 2),
    (less_noise_at_first, 3),
    (odd_and_late, 4),
    (two_places_back, 3),
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("made", "expected"), POSITIONS, ids=lambda made: getattr(made, "name", ""))
def test_positions_decide(made, expected):
    found = made.bind(n=ALL).privacy()
    assert (found.status, found.upper) == ("exact", expected)
    assert max(made.bind(n=n).privacy().exp_epsilon for n in (1, 2, 3, 4)) == expected


@pytest.mark.one_in(2)
@pytest.mark.parametrize("made", [first, first_and_last, less_noise_at_first, odd_and_late, two_places_back])
def test_chain_has_the_laws_of_the_program(made):
    chain = chain_of(explore(made.bind(n=1).bound))
    for n in (1, 2, 3, 4):
        for x in product((0, 1), repeat=n):
            assert law(chain, x) == sorted(mass for _, mass in made.bind(n=n).distribution(x).law)


def test_last_position_may_be_left_at():
    found = ends_at_the_third.bind(n=ALL).privacy()
    assert all(ends_at_the_third.bind(n=n).privacy().exp_epsilon <= found.upper for n in (1, 2, 3, 4))


@mechanism(record=Bit)
def second(x):
    return x[1] ^ flip("1/3")


@mechanism(record=Bit)
def around(x):
    """Before the first record comes the last one."""
    return geometric(sum(x[i - 1] for i in range(len(x))), "1/2")


@pytest.mark.parametrize(("made", "what"), [(second, "index 1"), (around, "before the first record")])
def test_records_that_are_not_there(made, what):
    with pytest.raises(TightdpError, match=what):
        made.bind(n=ALL).privacy()
