"""Rényi divergences of any order and zero-concentrated DP of mechanisms, against plain sums."""

from __future__ import annotations

import math
from fractions import Fraction as F
from typing import Any

import pytest

from tightdp import Bit, Instance, exp, flip, geometric, mechanism
from tightdp.language import interp
from tightdp.language.neighbours import relation_of


@mechanism(record=Bit)
def response(x: Any, lam: Any) -> Any:
    """Randomized response."""
    return tuple(1 - b if flip(lam) else b for b in x)


@mechanism(record=Bit)
def noisy(x: Any, eps: Any) -> Any:
    """A sum with geometric noise."""
    return geometric(sum(x), exp(-eps), 0, len(x))


@mechanism(record=Bit)
def leak(x: Any) -> Any:
    """A bit, sometimes."""
    return x[0] if flip("1/3") else None


CASES = [response.bind(n=2, lam="1/5"), response.bind(n=1, lam="1/(1+exp(1))"), noisy.bind(n=2, eps="1/2")]


def divergence(instance: Instance, order: float) -> float:
    """The largest D_a, in floats."""
    bound = instance.bound
    laws = {x: interp.law(bound, x) for x in ((a, b)[: bound.n] for a in (0, 1) for b in (0, 1))}
    return max(
        math.log(sum(float(p) ** order * float(laws[other][y]) ** (1 - order) for y, p in laws[x].items()))
        / (order - 1)
        for x in laws
        for other in relation_of(bound).neighbours(x)
    )


@pytest.mark.parametrize("instance", CASES)
@pytest.mark.parametrize("order", [F(3, 2), F(5, 2), F(11, 10), F(3)])
def test_rational_orders(instance: Instance, order: F) -> None:
    found = instance.renyi(order)
    assert found.epsilon == pytest.approx(divergence(instance, float(order)))
    assert found.lower <= found.upper
    assert found.upper - found.lower <= F(1, 10**25)
    assert found.status == ("exact" if found.lower == found.upper else "bounded")
    assert not found.cut_short


@pytest.mark.parametrize("instance", CASES)
def test_the_order_infinity_is_pure(instance: Instance) -> None:
    found = instance.renyi("inf")
    assert found.exp_moment == instance.privacy().exp_epsilon
    assert found.epsilon == instance.privacy().epsilon
    assert found.to_dict()["result"]["order"] == "inf"


@pytest.mark.one_in(2)
@pytest.mark.parametrize("instance", CASES)
def test_the_least_rho_bounds_every_order_and_is_attained(instance: Instance) -> None:
    found = instance.zcdp()
    assert found.upper - found.lower <= found.lower / 10**11
    assert found.order is not None
    for step in range(1, 200):
        order = 1 + step / 10
        assert divergence(instance, order) / order <= float(found.rho) + 1e-9
    near = max(found.order, 1.000001)
    assert divergence(instance, near) / near == pytest.approx(float(found.lower), rel=1e-5)
    answer = found.to_dict()["result"]
    assert list(answer) == ["rho", "lower", "upper", "order", "witness"]
    assert "ρ at most" in str(found)


def test_infinite_divergences() -> None:
    instance = leak.bind(n=1)
    assert instance.zcdp().rho == math.inf
    assert instance.renyi("3/2").exp_moment == math.inf
    assert instance.zcdp().status == "exact"


def test_equal_laws() -> None:
    instance = response.bind(n=1, lam="1/2")
    assert instance.zcdp().rho == 0
    assert instance.zcdp().status == "exact"
    assert instance.renyi("3/2").exp_moment == 1
