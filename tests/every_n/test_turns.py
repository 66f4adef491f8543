"""Programs for every n in which records take turns: whose turn it is, is a part of the state."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tightdp import ALL, flip, geometric, mechanism


@mechanism
def by_turns(x):
    """Every third record, and then every second one of these, has less noise."""
    sent = []
    for i, v in enumerate(x, start=1):
        sent.append(v ^ flip("1/5" if i % 6 == 0 else "1/4" if i % 3 == 0 else "1/3"))
    return tuple(sent)


@mechanism
def by_turns_of_pairs(x):
    """Two passes, each with turns of its own."""
    return tuple(v ^ flip("1/4" if i % 2 else "1/3") for i, v in enumerate(x)), sum(
        v if i % 3 else 0 for i, v in enumerate(x)
    ) + geometric(0, "1/2")


@mechanism
def every_third_bare(x):
    return tuple(v if i % 3 == 2 else v ^ flip("1/3") for i, v in enumerate(x))


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("made", "ratio", "n"), [(by_turns, 4, 6), (by_turns_of_pairs, 6, 2), (every_third_bare, math.inf, 3)]
)
def test_turns_are_a_part_of_the_state(made: Any, ratio: int, n: int) -> None:
    found = made.bind(n=ALL).privacy()
    assert (found.status, found.upper, found.attained, found.n) == ("exact", ratio, True, n)
    assert all(made.bind(n=size).privacy().exp_epsilon <= ratio for size in (1, 2, 3))
