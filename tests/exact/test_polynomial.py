"""Products and powers of polynomials against sums over all pairs of terms; zeros at the end are kept."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tightdp.exact.weights import joint_power, joint_times, power, times

coefficients = st.lists(st.integers(0, 10**30), max_size=6)


def product(left: Sequence[int], right: Sequence[int]) -> list[int]:
    if not left or not right:
        return []
    result = [0] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            result[i + j] += a * b
    return result


@given(coefficients, coefficients)
def test_times(left: list[int], right: list[int]) -> None:
    assert times(left, right) == product(left, right)


@given(st.lists(st.integers(0, 99), min_size=1, max_size=4), st.integers(0, 6))
def test_power(base: list[int], exponent: int) -> None:
    expected = [1]
    for _ in range(exponent):
        expected = product(expected, base)
    assert power(base, exponent) == expected


@given(st.dictionaries(st.integers(0, 2), st.lists(st.integers(1, 9), min_size=1, max_size=3), min_size=1, max_size=3))
def test_joint_power(base: dict[int, list[int]]) -> None:
    cube = joint_times(joint_times(base, base), base)
    assert {r: w for r, w in joint_power(base, 3).items() if any(w)} == {r: w for r, w in cube.items() if any(w)}
