"""Integers and real numbers in one output: δ beside sums over the integers and a fine grid."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from tightdp import (
    Bit,
    Mechanism,
    discrete_laplace,
    exponential,
    flip,
    geometric,
    laplace,
    mechanism,
    one_sided_geometric,
    uniform,
)
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


@pytest.mark.one_in(4)
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


near_zero = mechanism(record=Bit, target=lambda x: 0)


@near_zero
def staircase(x):
    """Geng and Viswanath 2014: steps of 1, each cut at 1/3."""
    sign = 1 if flip("1/2") else -1
    step = one_sided_geometric(0, "1/2")
    return x[0] + sign * (step + (uniform(0, "1/3") if flip("1/2") else uniform("1/3", 1)))


@near_zero
def one_side_after_the_other(x):
    step = one_sided_geometric(0, "1/2") + uniform(0, 1)
    if flip("1/2"):
        return x[0] + step
    return x[0] - step


@near_zero
def whole_and_rest(x):
    return geometric(x[0], "1/2") + uniform(0, 1)


@near_zero
def in_steps_of_two(x):
    return x[0] - 2 * geometric(0, "1/3") + uniform("1/3", 2) / 2


@near_zero
def continuous_at_times(x):
    return laplace(x[0] + Fraction(1, 2), 1) if flip("1/3") else -geometric(x[0], "1/2") - uniform(0, "3/2")


@near_zero
def of_two_real_ones(x):
    return geometric(0, "1/2") + (uniform(0, 1) + exponential(x[0], "1/2"))


@near_zero
def by_its_sign(x):
    z = laplace(x[0], 1)
    return z + geometric(0, "1/2") if z > Fraction(1, 3) else z - one_sided_geometric(0, "1/2")


def uniformly(low: float, high: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda z: ((z >= low) & (z < high)) / (high - low)


def late(x: float) -> Callable[[np.ndarray], np.ndarray]:
    """Return the density of a uniform number and an exponential one of scale 1/2 after x."""

    def since(z: np.ndarray) -> np.ndarray:
        return 1 - np.exp(-2 * np.maximum(0, z))

    return lambda z: since(z - x) - since(z - x - 1)


ONE, TWO = ({k: mass(k, 0, ratio) for k in range(-40, 41)} for ratio in (1 / 2, 1 / 3))
UP = {k: 2.0 ** (-k - 1) for k in range(60)}
DOWN = {-k: p for k, p in UP.items()}
SUMS = {
    staircase: lambda x: [
        (1 / 4, steps, 1, uniformly(x + min(s * a, s * b), x + max(s * a, s * b)))
        for s, steps in ((1, UP), (-1, DOWN))
        for a, b in ((0, 1 / 3), (1 / 3, 1))
    ],
    one_side_after_the_other: lambda x: [(1 / 2, UP, 1, uniformly(x, x + 1)), (1 / 2, DOWN, 1, uniformly(x - 1, x))],
    whole_and_rest: lambda x: [(1, ONE, 1, uniformly(x, x + 1))],
    in_steps_of_two: lambda x: [(1, TWO, 2, uniformly(x + 1 / 6, x + 1))],
    continuous_at_times: lambda x: [
        (1 / 3, {0: 1.0}, 1, line(x + 1 / 2, 1)),
        (2 / 3, ONE, 1, uniformly(-x - 3 / 2, -x)),
    ],
    of_two_real_ones: lambda x: [(1, ONE, 1, late(x))],
    by_its_sign: lambda x: [
        (1, ONE, 1, lambda z: line(x, 1)(z) * (z > 1 / 3)),
        (1, DOWN, 1, lambda z: line(x, 1)(z) * (z <= 1 / 3)),
    ],
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("made", SUMS)
def test_sums_of_integers_and_reals_have_the_densities_of_a_fine_grid(made: Mechanism) -> None:
    z = (np.arange(-50 * 240, 50 * 240) + 0.5) / 240
    p, q = (sum(w * m * f(z - unit * k) for w, law, unit, f in SUMS[made](x) for k, m in law.items()) for x in (0, 1))
    seen = abs(z) < 18
    with np.errstate(divide="ignore", invalid="ignore"):
        largest = max(float(np.nanmax((a / b)[seen])) for a, b in ((p, q), (q, p)))
    found = made.bind(n=1).privacy()
    assert (found.status, float(found.exp_epsilon)) == ("exact", pytest.approx(largest, rel=1e-3))
    most = max(float(np.maximum(0, a - 1.25 * b).sum()) / 240 for a, b in ((p, q), (q, p)))
    delta = made.bind(n=1).delta(exp_epsilon="5/4")
    assert float(delta.delta) == pytest.approx(most, abs=2e-5)
    assert delta.delta - delta.lower < 1e-9
    near = min(float(each[abs(z) <= 2].sum()) / 240 for each in (p, q))
    assert float(made.bind(n=1).accuracy(2).one_minus_beta) == pytest.approx(near, abs=1e-5)
