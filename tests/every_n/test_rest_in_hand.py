"""What a function has drawn by its arguments when the rest of a run is published in place of what it returns."""

from __future__ import annotations

from typing import Any

import pytest

from tightdp import ALL, Bit, Mechanism, geometric, mechanism
from tightdp.errors import LanguageError


@mechanism(record=Bit)
def median(x):
    return sorted(geometric(sum(x), "1/2") for _ in range(3))[1]


@mechanism(record=Bit)
def median_of_list(x):
    return sorted([geometric(sum(x), "1/2") for _ in range(3)])[1]


@mechanism(record=Bit)
def least_of_two(x):
    total = sum(x)
    return sorted(geometric(total, "1/2") for _ in range(2))[0]


@mechanism(record=Bit)
def taken_apart(x):
    total = sum(x)
    _, middle, *_ = sorted(geometric(total, "1/2") for _ in range(3))
    return middle


def drawn(total: int) -> Any:
    return geometric(total, "1/2")


@mechanism(record=Bit)
def by_function(x):
    total = sum(x)
    return sorted(drawn(total) for _ in range(2))[0]


@mechanism(record=Bit)
def by_map(x):
    total = sum(x)

    def noisy(_: int) -> Any:
        return geometric(total, "1/2")

    return sorted(map(noisy, range(3)))[1]


@pytest.mark.parametrize("made", [median, least_of_two, taken_apart, by_function, by_map], ids=lambda made: made.name)
def test_what_is_in_the_hands_of_a_function_is_not_read_off(made: Mechanism) -> None:
    with pytest.raises(LanguageError, match="not followed"):
        made.bind(n=ALL).privacy()
    assert made.bind(n=1).privacy().exp_epsilon == 4


def test_what_a_list_holds_is_read_off() -> None:
    assert median_of_list.bind(n=ALL).privacy().upper == 8
