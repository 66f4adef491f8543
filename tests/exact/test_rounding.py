"""Ends with few digits."""

from __future__ import annotations

from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tightdp.exact.field import exp
from tightdp.exact.numbers import down, up


@given(st.fractions(min_value=0), st.integers(1, 60))
def test_ends_enclose_and_are_close(value: F, digits: int) -> None:
    low, high = down(value, digits), up(value, digits)
    assert low <= value <= high
    assert high - low <= value / 10 ** (digits - 2)


def test_numbers_with_e() -> None:
    low, high = down(exp(1), 30), up(exp(1), 30)
    assert low < exp(1) < high
    assert 0 < high - low < F(1, 10**28)


def test_integers_and_zero_stay() -> None:
    assert down(0) == up(0) == 0
    assert down(F(7, 4)) == up(F(7, 4)) == F(7, 4)


def test_infinity_has_no_digits() -> None:
    with pytest.raises(AssertionError, match="infinite"):
        up(float("inf"))
