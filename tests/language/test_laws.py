"""The exact laws, against closed forms and definitions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tightdp.errors import ParameterError
from tightdp.language import laws
from tightdp.language.laws import Law

probabilities = st.fractions(0, 1, max_denominator=50)
ratios = st.fractions(0, Fraction(19, 20), max_denominator=20)
small = st.integers(-6, 6)


def mean(law: Law) -> Fraction:
    return sum((z * p for z, p in law), Fraction(0))


def variance(law: Law) -> Fraction:
    return sum((z * z * p for z, p in law), Fraction(0)) - mean(law) ** 2


def check(law: Law) -> None:
    outcomes = [outcome for outcome, _ in law]
    assert outcomes == sorted(set(outcomes))
    assert all(type(p) is Fraction and p > 0 for _, p in law)
    assert sum(p for _, p in law) == 1


@given(probabilities)
def test_bernoulli(p: Fraction) -> None:
    law = laws.bernoulli(p)
    check(law)
    assert dict(law).get(True, 0) == p
    assert all(isinstance(outcome, bool) for outcome, _ in law)


def test_certain_flips_have_one_outcome() -> None:
    assert laws.bernoulli(0) == ((False, 1),)
    assert laws.bernoulli("1") == ((True, 1),)
    assert laws.bernoulli(True) == ((True, 1),)
    assert laws.bernoulli(0.2) == ((False, Fraction(4, 5)), (True, Fraction(1, 5)))


@given(small, st.integers(0, 9))
def test_uniform(lo: int, width: int) -> None:
    law = laws.uniform(lo, lo + width)
    check(law)
    assert mean(law) == Fraction(2 * lo + width, 2)
    assert variance(law) == Fraction((width + 1) ** 2 - 1, 12)


@given(st.lists(st.fractions(0, 10, max_denominator=9), min_size=1, max_size=6).filter(any))
def test_weighted(weights: list[Fraction]) -> None:
    law = laws.weighted("abcdef"[: len(weights)], weights)
    check(law)
    masses = dict(law)
    assert all(masses.get(k, 0) * sum(weights) == weight for k, weight in enumerate(weights))


def test_weighted_without_weights_is_uniform() -> None:
    assert laws.weighted(["a", "b"]) == laws.uniform(0, 1)
    assert laws.weighted(["a", "b", "c"], [2, 0, True]) == ((0, Fraction(2, 3)), (2, Fraction(1, 3)))


@given(st.integers(0, 12), probabilities)
def test_binomial(n: int, p: Fraction) -> None:
    law = laws.binomial(n, p)
    check(law)
    assert mean(law) == n * p
    assert variance(law) == n * p * (1 - p)


def test_binomial_by_hand() -> None:
    assert laws.binomial(2, "1/3") == ((0, Fraction(4, 9)), (1, Fraction(4, 9)), (2, Fraction(1, 9)))
    assert laws.binomial(3, 0) == ((0, 1),)
    assert laws.binomial(0, "1/3") == ((0, 1),)


@given(small, ratios, small, st.integers(0, 8))
def test_geometric_against_its_definition(v: int, ratio: Fraction, lo: int, width: int) -> None:
    """The infinite tails are summed as geometric series: r^a + r^(a+1) + ... = r^a / (1 - r)."""
    hi = lo + width
    law = laws.geometric(v, ratio, lo, hi)
    check(law)
    far = max(abs(lo - v), abs(hi - v)) + 1
    peak = (1 - ratio) / (1 + ratio)
    expected: dict[int, Fraction] = dict.fromkeys(range(lo, hi + 1), Fraction(0))
    for z in range(v - far, v + far + 1):
        expected[min(max(z, lo), hi)] += peak * ratio ** abs(z - v)
    beyond = peak * ratio ** (far + 1) / (1 - ratio)
    expected[lo] += beyond
    expected[hi] += beyond
    assert dict(law) == {z: p for z, p in expected.items() if p}


@given(small, ratios, st.integers(0, 8))
def test_geometric_is_symmetric_and_unbiased(v: int, ratio: Fraction, reach: int) -> None:
    law = laws.geometric(v, ratio, v - reach, v + reach)
    assert mean(law) == v
    assert dict(law) == {2 * v - z: p for z, p in law}


@given(small, ratios.filter(lambda r: r > 0), st.integers(1, 6))
def test_neighbouring_geometric_laws_have_ratio_at_most_one_over_r(v: int, ratio: Fraction, width: int) -> None:
    first, second = dict(laws.geometric(v, ratio, 0, width)), dict(laws.geometric(v + 1, ratio, 0, width))
    assert max(max(first[z] / second[z], second[z] / first[z]) for z in range(width + 1)) == 1 / ratio


def test_geometric_by_hand() -> None:
    third = Fraction(1, 3)
    assert laws.geometric(0, "1/2", -1, 1) == ((-1, third), (0, third), (1, third))
    assert dict(laws.geometric(5, "1/2", 0, 1))[1] == 1 - Fraction(1, 2) ** 5 * Fraction(2, 3)
    assert laws.geometric(5, 0, 0, 3) == ((3, 1),)
    assert laws.geometric(-5, 0, 0, 3) == ((0, 1),)
    assert laws.geometric(2, 0, 0, 3) == ((2, 1),)
    assert laws.geometric(9, "1/2", 4, 4) == ((4, 1),)


@pytest.mark.parametrize(
    ("build", "offender"),
    [
        (lambda: laws.bernoulli("3/2"), "3/2"),
        (lambda: laws.bernoulli(-1), "-1"),
        (lambda: laws.bernoulli("x"), "'x'"),
        (lambda: laws.uniform(2, 1), r"2, 1"),
        (lambda: laws.uniform(0, "1/2"), "'1/2'"),
        (lambda: laws.weighted([]), "no values"),
        (lambda: laws.weighted([1, 2], [0, 0]), "all 0"),
        (lambda: laws.weighted([1, 2], [1]), "2 values and 1 weights"),
        (lambda: laws.weighted([1, 2], [1, -1]), "-1"),
        (lambda: laws.binomial(-1, 0.5), "-1"),
        (lambda: laws.binomial(1, 2), "2"),
        (lambda: laws.geometric(0, 1, 0, 1), "ratio of geometric is 1"),
        (lambda: laws.geometric(0, "-1/2", 0, 1), "-1/2"),
        (lambda: laws.geometric(0, 0.5, 1, 0), r"1\.\.0"),
        (lambda: laws.geometric(Fraction(1, 2), 0.5, 0, 1), "1/2"),
    ],
)
def test_bad_arguments_are_named(build: Any, offender: str) -> None:
    with pytest.raises(ParameterError, match=offender):
        build()


def test_total_mass_of_a_wide_law() -> None:
    assert math.isclose(float(variance(laws.geometric(0, "1/2", -60, 60))), 4.0)
