"""Integers and real numbers in one output: δ beside sums over the integers and a fine grid."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from tightdp import Bit, Mechanism, discrete_laplace, exponential, flip, geometric, laplace, mechanism
from tightdp.exact.field import exp


@mechanism(record=Bit)
def both(x):
    return laplace(x[0], 1), geometric(x[0], "1/2")


@mechanism(record=Bit)
def same_scale(x):
    return laplace(x[0], 1), discrete_laplace(x[0], 2)


@mechanism(record=Bit)
def mixture(x):
    return (laplace(x[0], 1), geometric(0, "1/2")) if flip("1/3") else (laplace(0, 2), geometric(x[0], "1/4"))


@mechanism(record=Bit)
def beside_a_sum(x):
    return laplace(x[0], 1), geometric(x[0], "1/2") + geometric(0, "1/3")


def line(centre: float, scale: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda z: np.exp(-np.abs(z - centre) / scale) / (2 * scale)


def mass(k: int, centre: int, ratio: float) -> float:
    return (1 - ratio) / (1 + ratio) * ratio ** abs(k - centre)


def total(k: int, centre: int) -> float:
    return sum(mass(j, centre, 1 / 2) * mass(k - j, 0, 1 / 3) for j in range(-60, 60))


LAWS = {
    both: lambda x, z, k: line(x, 1)(z) * mass(k, x, 1 / 2),
    same_scale: lambda x, z, k: line(x, 1)(z) * mass(k, x, math.exp(-1 / 2)),
    mixture: lambda x, z, k: line(x, 1)(z) * mass(k, 0, 1 / 2) / 3 + line(0, 2)(z) * mass(k, x, 1 / 4) * 2 / 3,
    beside_a_sum: lambda x, z, k: line(x, 1)(z) * total(k, x),
}


def excess(made: Mechanism, t: float) -> float:
    z = (np.arange(-40 * 256, 40 * 256) + 0.5) / 256
    found = [0.0, 0.0]
    for k in range(-60, 61):
        of = [LAWS[made](x, z, k) for x in (0, 1)]
        for x in (0, 1):
            found[x] += float(np.maximum(0, of[x] - t * of[1 - x]).sum()) / 256
    return max(found)


@pytest.mark.parametrize("made", LAWS)
def test_a_delta_is_that_of_a_fine_grid(made: Mechanism) -> None:
    found = made.bind(n=1).delta(exp_epsilon=2)
    assert float(found.delta) == pytest.approx(excess(made, 2), abs=2e-5)
    assert found.delta - found.lower < 1e-9


@pytest.mark.parametrize("made", [both, *(pytest.param(m, marks=pytest.mark.slow(seconds=10)) for m in (mixture,))])
@pytest.mark.parametrize("t", [Fraction(3, 2), Fraction(2)])
def test_the_least_epsilon_has_this_delta(made: Mechanism, t: Fraction) -> None:
    found = made.bind(n=1).delta(exp_epsilon=t)
    least = made.bind(n=1).privacy(delta=found.delta)
    assert float(least.exp_epsilon) == pytest.approx(float(t), rel=1e-8)


def test_a_delta_is_exact_where_the_real_number_crosses_at_a_rational_place() -> None:
    """On integers up to 0 the real number is to fall by 1, above it is never enough: 2/3·(1 - e^(-1/2))."""
    found = both.bind(n=1).delta(exp_epsilon=2)
    assert (found.status, found.delta) == ("exact", Fraction(2, 3) * (1 - exp(Fraction(-1, 2))))
    assert both.bind(n=1).privacy().exp_epsilon == 2 * exp(1)


@mechanism(record=Bit)
def one_of_two(x, scale):
    return laplace(x[0], scale), geometric(0 if flip("1/3") else x[0], "1/2")


def test_an_epsilon_that_is_approached_is_what_moved_draws_prove() -> None:
    """Far out the wider noise decides; a real number in both is a factor of e, beside 1/3 + 2/3·2 of the integer."""
    found = mixture.bind(n=1).privacy()
    assert (found.status, found.exp_epsilon, found.attained) == ("exact", 4, False)
    found = one_of_two.bind(n=1, scale=1).privacy()
    assert (found.status, found.exp_epsilon) == ("exact", Fraction(5, 3) * exp(1))


def test_ratios_beyond_all_doubles_are_shared() -> None:
    found = one_of_two.bind(n=1, scale=Fraction(1, 2000)).privacy()
    assert (found.status, found.exp_epsilon) == ("exact", Fraction(5, 3) * exp(2000))


@mechanism(record=Bit)
def one_sided(x):
    return (exponential(x[0], 1), geometric(0, "1/2")) if flip("1/3") else (laplace(0, 2), geometric(x[0], "1/4"))


def test_an_epsilon_is_infinite_where_one_law_is_much_wider() -> None:
    """Between 0 and 1 the exponential noise around 1 is 0, and what is left falls faster in the integer."""
    assert one_sided.bind(n=1).privacy().exp_epsilon == math.inf
