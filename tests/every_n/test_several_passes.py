"""Answers for every n where what is found in the records decides how they are gone through again."""

from __future__ import annotations

from itertools import product

import pytest

from chain_laws import law
from tightdp import ALL, Bit, flip, geometric, mechanism
from tightdp.every_n.states import chain_of, explore


@mechanism(record=Bit)
def one_of_two_counts(x):
    """What a noisy count of ones shows decides which count is published: twice the price of one count."""
    many = geometric(sum(x), "1/2") >= 2
    total = 0
    for v in x:
        total += v if many else 1 - v
    return many, geometric(total, "1/2")


@mechanism(record=Bit)
def asked_again(x):
    """The records are gone through again if somebody said yes, with less noise."""
    if any(v ^ flip("1/3") for v in x):
        return any(v ^ flip("1/4") for v in x)
    return 2


@mechanism(record=Bit)
def parity_decides(x):
    """A first pass decides what a second one makes of every record, and coins between the two how it ends."""
    odd = False
    for v in x:
        odd ^= bool(v) ^ flip("1/3")
    last, more = flip("1/5"), flip("1/3")
    for v in x:
        last = last ^ v ^ flip("1/4") if odd else (v if more else last)
    return last ^ flip("1/6")


@mechanism(record=Bit)
def count_of_the_others(x):
    """The zeros are counted only if the noisy count of ones is low: 2 for either of both counts."""
    ones = geometric(sum(x), "1/2")
    return ones if ones >= 1 else geometric(x.count(0), "1/2")


@mechanism(record=Bit)
def another_pass_each_way(x):
    """Where a pass stands tells it from another that may come second, too."""
    if x[0] ^ flip("1/4"):
        return x[-1] ^ flip("1/3")
    return sum(v ^ flip("1/3") for i, v in enumerate(x) if i > 0)


@mechanism(record=Bit)
def coin_that_nothing_reads_later(x):
    """A coin between the passes decides how noisy the second one is, and is not read after it."""
    last = x[0] ^ flip("1/3")
    noisy = flip("1/2")
    last = last and flip("1/4")
    for v in x:
        last = last ^ v ^ flip("1/3" if noisy else "1/10")
    return last ^ flip("1/7")


@mechanism(record=Bit)
def coin_that_weighs_late_records(x):
    """Records from the seventh on count twice, or once: the two have the same states."""
    first = x[0]
    twice = flip("1/2")
    total = first - first
    for i, v in enumerate(x):
        total += 2 * v if twice and i > 5 else v
    first = twice = 0
    coin = flip("1/7")
    return geometric(total, "1/2"), coin


@pytest.mark.slow(seconds=6)
def test_runs_that_went_through_different_passes_do_not_meet():
    """Where the total is large, the records count twice: nearly 4 for one of them. Runs that meet would give 2."""
    found = coin_that_weighs_late_records.bind(n=ALL).privacy()
    assert 3 < found.lower <= found.upper == 4


@pytest.mark.parametrize(
    ("made", "upper"),
    [
        (one_of_two_counts, 4),
        (asked_again, 6),
        (count_of_the_others, 4),
        pytest.param(parity_decides, 6, marks=pytest.mark.slow(seconds=5)),
        (another_pass_each_way, 6),
    ],
)
def test_what_a_pass_found_may_decide_the_next_one(made, upper):
    found = made.bind(n=ALL).privacy()
    assert found.lower <= found.upper <= upper
    assert found.status == ("exact" if found.lower == found.upper else "bounded")
    assert all(made.bind(n=n).privacy().exp_epsilon <= found.upper for n in (1, 2, 3))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("made", [asked_again, parity_decides, coin_that_nothing_reads_later])
def test_chain_has_the_laws_of_the_program(made):
    chain = chain_of(explore(made.bind(n=1).bound))
    for n in (1, 2, 3):
        for x in product((0, 1), repeat=n):
            assert law(chain, x) == sorted(mass for _, mass in made.bind(n=n).distribution(x).law)
