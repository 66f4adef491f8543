"""Rényi divergence and zCDP of exact laws: closed forms, another library's quadrature of orders, symmetries."""

from __future__ import annotations

import math
from fractions import Fraction as F
from typing import Any

import mpmath
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tightdp.errors import ParameterError
from tightdp.exact.divergence import least_rho, power_sum, renyi_divergence
from tightdp.exact.enclosure import Enclosure
from tightdp.exact.field import exp

weights = st.lists(st.integers(1, 40), min_size=2, max_size=5)


def masses(left: list[int], right: list[int]) -> list[tuple[F, F]]:
    return [(F(a, sum(left)), F(b, sum(right))) for a, b in zip(left, right, strict=True)]


def reference(law: list[tuple[Any, Any]], order: Any) -> Any:
    """D_order with 50 digits."""
    parts = [(mpmath.mpf(p.numerator) / p.denominator, mpmath.mpf(q.numerator) / q.denominator) for p, q in law]
    if order == 1:
        return sum(p * mpmath.log(p / q) for p, q in parts)
    return mpmath.log(sum(p * (p / q) ** (order - 1) for p, q in parts)) / (order - 1)


def response(flip: Any) -> list[tuple[Any, Any]]:
    return [(1 - flip, flip), (flip, 1 - flip)]


def as_mpf(value: F) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


@st.composite
def laws(draw: Any) -> list[tuple[F, F]]:
    left = draw(weights)
    right = draw(st.lists(st.integers(1, 40), min_size=len(left), max_size=len(left)))
    return masses(left, right)


@given(laws(), st.builds(F, st.integers(1, 60), st.integers(1, 9)))
def test_any_order(law: list[tuple[F, F]], above: F) -> None:
    order = 1 + above
    found = renyi_divergence(law, order)
    assert isinstance(found, Enclosure)
    with mpmath.workdps(50):
        expected = reference(law, as_mpf(order))
        slack = mpmath.mpf(10) ** -40
        assert as_mpf(found.lower) - slack <= expected <= as_mpf(found.upper) + slack
    assert found.upper - found.lower <= max(found.upper, F(1, 10**9)) / 10**14
    moment = power_sum(law, order)
    if order.denominator == 1:
        assert moment == sum(p**order.numerator * q ** (1 - order.numerator) for p, q in law)
    else:
        assert isinstance(moment, Enclosure)


@settings(max_examples=40, deadline=None)
@given(laws())
def test_least_rho_is_the_largest_over_all_orders(law: list[tuple[F, F]]) -> None:
    assume(any(p != q for p, q in law))
    found = least_rho([law])
    assert isinstance(found.rho, Enclosure)
    assert found.pair == 0
    assert 0 < found.rho.lower <= found.rho.upper <= found.rho.lower * (1 + F(1, 10**12))
    with mpmath.workdps(50):
        orders = [mpmath.mpf(1)] + [1 + mpmath.mpf(2) ** (F(k, 8)) for k in range(-80, 80)]
        values = [reference(law, order) / order for order in orders]
        assert max(values) <= as_mpf(found.rho.upper)
        attained = reference(law, mpmath.mpf(found.order)) / mpmath.mpf(found.order)
        assert abs(attained - as_mpf(found.rho.lower)) <= attained * mpmath.mpf(10) ** -11


def test_randomized_response() -> None:
    """For two symmetric laws D_a / a falls with a: ρ is the Kullback-Leibler divergence ε tanh(ε/2)."""
    for epsilon in (F(1, 10), F(1), F(3)):
        flip = 1 / (1 + exp(epsilon))
        found = least_rho([response(flip), [(q, p) for p, q in response(flip)]])
        assert isinstance(found.rho, Enclosure)
        with mpmath.workdps(40):
            expected = as_mpf(epsilon) * mpmath.tanh(as_mpf(epsilon) / 2)
            assert as_mpf(found.rho.lower) <= expected <= as_mpf(found.rho.upper)
        assert found.order == 1.0
        assert renyi_divergence(response(flip), math.inf) == Enclosure.exactly(epsilon)


def test_the_order_is_between() -> None:
    """A rare output with a large ratio: the worst order is neither 1 nor large."""
    law = [(F(1, 100), F(1, 100_000)), (F(99, 100), 1 - F(1, 100_000))]
    found = least_rho([law])
    assert isinstance(found.rho, Enclosure)
    assert found.order is not None
    assert 1.05 < found.order < 10
    for order in (F(101, 100), F(3, 2), 2, 3, 20):
        divergence = renyi_divergence(law, order)
        assert isinstance(divergence, Enclosure)
        assert divergence.upper <= found.rho.upper * order
    with mpmath.workdps(40):
        best = max(reference(law, mpmath.mpf(k) / 1000) / (mpmath.mpf(k) / 1000) for k in range(1001, 6000))
        assert best <= as_mpf(found.rho.upper)
        assert best >= as_mpf(found.rho.lower) * (1 - mpmath.mpf(10) ** -5)


def test_several_pairs_and_the_worst_of_them() -> None:
    mild, strong = response(F(2, 5)), response(F(1, 5))
    assert least_rho([mild, strong, mild]).pair == 1
    assert least_rho([mild, strong]).rho == least_rho([strong]).rho
    same = [(F(1, 2), F(1, 2)), (F(1, 2), F(1, 2))]
    assert least_rho([same]).rho == least_rho([]).rho == Enclosure.exactly(0)
    assert least_rho([same]).pair is None


def test_an_output_that_the_other_never_gives() -> None:
    law = [(F(1, 2), F(0)), (F(1, 2), F(1))]
    assert power_sum(law, 2) == renyi_divergence(law, F(3, 2)) == renyi_divergence(law, math.inf) == math.inf
    assert least_rho([response(F(1, 3)), law]).rho == math.inf
    assert least_rho([response(F(1, 3)), law]).pair == 1
    reverse = [(q, p) for p, q in law]
    assert power_sum(reverse, 2) == 2
    found = least_rho([reverse]).rho
    with mpmath.workdps(40):
        assert as_mpf(found.lower) <= mpmath.log(2) <= as_mpf(found.upper)


def test_an_order_below_1_leaves_out_what_one_law_does_not_give() -> None:
    found = power_sum([(F(1, 2), F(1, 8)), (F(1, 4), F(1, 4)), (F(1, 4), F(0)), (F(0), F(5, 8))], F(1, 2))
    assert found.lower <= F(1, 2) <= found.upper  # type: ignore[union-attr]  # 1/4 + 1/4
    assert found.upper - found.lower < F(1, 10**30)  # type: ignore[union-attr]


def test_whole_orders_stay_exact_with_powers_of_e() -> None:
    flip = 1 / (1 + exp(F(1, 2)))
    assert power_sum(response(flip), 2) == (1 - flip) ** 2 / flip + flip**2 / (1 - flip)


@pytest.mark.parametrize("order", [1, 0, -1, 1.5, True, "2"])
def test_orders_out_of_range(order: Any) -> None:
    with pytest.raises(ParameterError, match="order"):
        power_sum(response(F(1, 3)), order)
