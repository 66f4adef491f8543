"""Programs that ask how many records there are, and those of which nothing is proved."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tightdp import ALL, Bit, geometric, mechanism


@mechanism(record=Bit)
def a_pair_of_which_nothing_is_proved(x):
    """What two records of different kinds are shows; one record shows nothing."""
    return len(x) > 1 and x[0] != x[1]


@mechanism(record=Bit)
def more_noise_on_few(x, s):
    """What n is decides how much noise there is."""
    return geometric(sum(x), "1/2" if len(x) < s else "1/3")


@mechanism(record=Bit)
def rests_on_a_clamped_count(x):
    """The first count is at most n, and decides how much noise the second one has."""
    first = geometric(sum(x), "1/2", 0, len(x))
    return first, geometric(sum(x), "1/3" if first > 2 else "2/3")


def test_an_infinite_ratio_at_one_n_is_the_answer_though_nothing_is_proved() -> None:
    found = a_pair_of_which_nothing_is_proved.bind(n=ALL).privacy()
    assert (found.status, found.upper, found.n, found.proof) == ("exact", math.inf, 2, "witness")


@pytest.mark.parametrize(
    ("made", "parameters", "expected"),
    [(more_noise_on_few, {"s": 3}, 3), (more_noise_on_few, {"s": 1}, 3), (rests_on_a_clamped_count, {}, 6)],
)
def test_what_n_decides_after_the_records(made: Any, parameters: dict[str, Any], expected: Any) -> None:
    found = made.bind(n=ALL, **parameters).privacy()
    assert (found.upper, found.proof) == (expected, "alignment")
    assert all(made.bind(n=n, **parameters).privacy().exp_epsilon <= expected for n in (1, 2, 3))
