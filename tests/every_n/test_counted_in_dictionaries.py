"""Answers for every n where what is counted has entries that records make, in dictionaries and Counters."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from tightdp import ALL, Bit, Int, flip, geometric, mechanism
from tightdp.every_n.states import explore


@mechanism(record=Int(0, 2))
def histogram(x):
    """Two bins change by one each: 2·2."""
    bins = {}
    for v in x:
        bins[v] = bins.get(v, 0) + 1
    return tuple(geometric(bins.get(k, 0), "1/2") for k in range(3))


@mechanism(record=Int(0, 2))
def counter(x):
    bins = Counter(x)
    return tuple(geometric(bins[k], "1/2") for k in range(3))


@mechanism(record=Int(0, 2))
def by_default(x):
    bins = defaultdict(int)
    for v in x:
        bins[v] += 1
    return tuple(geometric(bins[k], "1/2") for k in range(3))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("made", [histogram, counter, by_default], ids=lambda made: made.name)
def test_bins_are_made_by_the_records_that_fall_in_them(made):
    found = made.bind(n=ALL).privacy()
    assert (found.status, found.upper) == ("exact", 4)
    # an entry that is not made yet is one that is 0: beside the beginning, there is one state
    assert explore(made.bind(n=1).bound, sums=True).states == 2


@mechanism(record=Bit)
def emptied_sometimes(x):
    """What was counted before a dictionary is emptied is not counted again."""
    bins = {}
    for v in x:
        if flip("1/3"):
            bins = {}
        else:
            bins[v] = bins.get(v, 0) + 1
    return geometric(bins.get(1, 0), "1/2")


@mechanism(record=Bit)
def removed_sometimes(x):
    bins = {}
    for v in x:
        if flip("1/3"):
            bins.pop(v, None)
        else:
            bins[v] = bins.get(v, 0) + 1
    return geometric(bins.get(1, 0), "1/2")


@mechanism(record=Bit)
def how_many_bins(x):
    """Whether an entry is there is seen here: it is not the same as an entry of 0."""
    bins = {}
    for v in x:
        if flip("1/3"):
            bins[v] = bins.get(v, 0) + v
    return geometric(len(bins), "1/2"), geometric(sum(bins.values()), "1/2")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("made", [how_many_bins, emptied_sometimes, removed_sometimes], ids=lambda made: made.name)
def test_entries_that_go_and_come_again(made):
    found = made.bind(n=ALL).privacy()
    assert all(made.bind(n=n).privacy().exp_epsilon <= found.upper for n in (1, 2, 3, 4))
    assert found.lower <= found.upper
