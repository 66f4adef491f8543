"""Densities of real noise beside each other: δ by quadrature, largest ratios inside of a stretch, many terms."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from scipy import integrate

from tightdp import Bit, Int, Mechanism, exponential, flip, laplace, mechanism, uniform
from tightdp.cells import moving
from tightdp.exact.field import exp


def laplace_density(z: float, centre: float, scale: float) -> float:
    return math.exp(-abs(z - centre) / scale) / (2 * scale)


def below(z: float, centre: float, scale: float) -> float:
    tail = math.exp(-abs(z - centre) / scale) / 2
    return tail if z < centre else 1 - tail


@mechanism(record=Bit)
def sum_of_two(x):
    return laplace(x[0], 2) + laplace(0, 2)


def excess(of: Callable[[float], float], other: Callable[[float], float], t: float) -> float:
    """Integrate max(0, of - t·other)."""
    parts = [(a / 4, (a + 1) / 4) for a in range(-320, 320)]
    return sum(integrate.quad(lambda z: max(0.0, of(z) - t * other(z)), *part)[0] for part in parts)


def two_laplaces(z: float) -> float:
    """The density of the sum of two Laplace draws of scale 2."""
    return (1 + abs(z) / 2) * math.exp(-abs(z) / 2) / 8


def larger_of_two(z: float, centre: float) -> float:
    """The density of the larger one of Laplace draws of scales 2 and 3."""
    first, second = (z, centre, 2.0), (z, 1 - centre, 3.0)
    return laplace_density(*first) * below(*second) + below(*first) * laplace_density(*second)


@mechanism(record=Bit)
def larger(x):
    return max(laplace(x[0], 2), laplace(1 - x[0], 3))


@pytest.mark.parametrize("epsilon", ["1/10", "3/10"])
def test_where_densities_cross_at_irrational_points_a_delta_is_enclosed(epsilon: str) -> None:
    t = math.exp(Fraction(epsilon))
    expected = {
        sum_of_two: excess(two_laplaces, lambda z: two_laplaces(z - 1), t),
        larger: max(excess(partial(larger_of_two, centre=c), partial(larger_of_two, centre=1 - c), t) for c in (0, 1)),
    }
    for made, value in expected.items():
        instance = made.bind(n=1)
        found = instance.delta(epsilon=epsilon)
        assert found.status == "bounded"
        assert 0 < found.delta - found.lower < 1e-15
        assert float(found.delta) == pytest.approx(value, abs=1e-7)
        least = instance.privacy(delta=found.delta)
        assert least.status == "bounded"
        assert float(least.exp_epsilon) == pytest.approx(t, rel=1e-9)
        assert 0 < least.exp_epsilon - least.lower < 1e-9


@mechanism(record=Int(-1, 1), neighbours="unit-all")
def adaptive_sparse_vector(x):
    t = laplace(0, 2)
    for at, query in enumerate(x):
        z = laplace(query, 8)
        if z - t >= 16:
            return at, 2, z - t
        z = laplace(query, 4)
        if z >= t:
            return at, 1, z - t
    return None


@pytest.mark.slow(seconds=2)
def test_densities_of_many_terms_are_compared_part_by_part() -> None:
    found = adaptive_sparse_vector.bind(n=2).privacy()
    assert found.status == "exact"
    assert found.epsilon == pytest.approx(0.46425010211444284)


def test_draws_are_not_moved_where_densities_of_one_number_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Moving draws is for what is hard to compare: for thousands of pairs of datasets it took most of the time."""

    def fail(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(moving, "upper_end", fail)
    found = larger.bind(n=1).privacy()
    assert (found.status, found.exp_epsilon) == ("exact", exp(Fraction(1, 3)))


def test_a_ratio_that_is_largest_inside_is_enclosed() -> None:
    @mechanism(record=Bit)
    def mixed(x):
        return laplace(x[0], 2) + laplace(0, 2) if flip("1/2") else laplace(0, 3)

    def at(z: float, centre: int) -> float:
        return two_laplaces(z - centre) + laplace_density(z, 0, 3)

    found = mixed.bind(n=1).privacy()
    largest = max(at(z / 256, c) / at(z / 256, 1 - c) for z in range(-5000, 5000) for c in (0, 1))
    assert found.status == "bounded"
    assert largest * (1 - 1e-12) <= float(found.lower) <= largest * (1 + 1e-4)
    assert 0 < float(found.exp_epsilon) - float(found.lower) < 1e-9


@pytest.mark.one_in(2)
@pytest.mark.parametrize("made", [sum_of_two, larger])
def test_a_curve_encloses_what_is_asked_one_by_one(made: Mechanism) -> None:
    instance = made.bind(n=1)
    curve = instance.curve()
    assert curve.status == "bounded"
    for epsilon in ("0", "1/20", "1/7", "3/10", "49/100", "2"):
        enclosed, single = curve.delta(epsilon=epsilon), instance.delta(epsilon=epsilon)
        assert enclosed.lower <= single.delta
        assert single.lower <= enclosed.delta
        assert enclosed.delta - enclosed.lower < 1e-4


@mechanism(record=Bit)
def of_two_uniforms(x):
    return sum(x) + uniform(0, 4) + uniform(0, 4)


@mechanism(record=Bit)
def two_uniforms_apart(x):
    return sum(x) + uniform(0, 4), x[0] + uniform(0, 8)


@pytest.mark.parametrize(
    ("made", "unmatched"),
    [(of_two_uniforms, Fraction(1, 32)), (two_uniforms_apart, 1 - Fraction(3, 4) * Fraction(7, 8))],
)
def test_no_epsilon_is_enough_where_outputs_that_a_neighbour_never_has_are_more_than_delta(
    made: Mechanism, unmatched: Fraction
) -> None:
    found = made.bind(n=1).privacy(delta=unmatched - Fraction(1, 100))
    assert (found.status, found.exp_epsilon) == ("exact", math.inf)
    assert made.bind(n=1).privacy(delta=unmatched).lower > 10**6 or made is two_uniforms_apart
    assert made.bind(n=1).privacy(delta=unmatched + Fraction(1, 100)).exp_epsilon < math.inf


@mechanism(record=Int(0, 1), neighbours="unit-all")
def spread(x):
    noisy = [laplace(query, 1) for query in x]
    return max(noisy) - min(noisy)


@mechanism(record=Bit)
def waiting(x):
    return exponential(0, 1 + x[0]) + exponential(0, 1) + exponential(0, 2)


@pytest.mark.parametrize(
    ("made", "n", "expected"),
    [(spread, 3, exp(2) / (2 * exp(1) - 1)), (spread, 4, exp(2) / 3), (waiting, 1, math.inf)],
)
def test_where_both_densities_are_0_at_an_end_their_derivatives_decide(made: Mechanism, n: int, expected: Any) -> None:
    """Of n draws the density of the spread r is about n(n-1)·r^(n-2)·∫ f_1 ... f_n near 0."""
    found = made.bind(n=n).privacy()
    assert (found.status, found.exp_epsilon, found.attained) == ("exact", expected, False)


def test_a_ratio_at_an_end_where_both_are_0_is_a_likelihood_ratio() -> None:
    """Gamma densities d·e^(-d) and (e^(-d/2) - e^(-d))/1 have the ratio 2 at d = 0, where it is largest."""

    @mechanism(record=Bit, neighbours=lambda x: [(1,)] if x == (0,) else [])
    def gamma(x):
        return exponential(0, 1 + x[0]) + exponential(0, 1)

    found = gamma.bind(n=1).privacy()
    assert (found.status, found.exp_epsilon, found.attained) == ("exact", 2, False)
