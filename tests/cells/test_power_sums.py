"""Rényi divergences and ρ of published real numbers: against quadrature by SciPy, and formulas from papers."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate

from tightdp import Bit, Int, exponential, flip, geometric, laplace, mechanism, one_sided_geometric, uniform
from tightdp.errors import QueryError


@mechanism(record=Bit)
def count(x, scale):
    return laplace(sum(x), scale)


@mechanism(record=Bit)
def clamped(x):
    return max(0, min(len(x), laplace(sum(x), 2)))


@mechanism(record=Bit)
def sum_of_draws(x):
    return laplace(sum(x), 1) + laplace(0, 2)


@mechanism(record=Bit)
def mixture(x):
    return laplace(2 * x[0] if flip("1/3") else x[0], 1)


@mechanism(record=Bit)
def two_numbers(x):
    return laplace(x[0], 1), max(0, laplace(x[0], 2))


@mechanism(record=Bit)
def with_a_bit(x):
    return flip("1/3") if x[0] else flip("1/2"), laplace(x[0], 2)


@mechanism(record=Bit)
def other_scale(x):
    return laplace(0, 2 if x[0] else 1)


@mechanism(record=Bit)
def one_sided(x):
    return exponential(x[0], 1)


def bits(k, at, scale):
    return np.exp(-abs(at - k) / scale) / (2 * scale)


def law_of_sum(k):
    return lambda at: 4 / 3 * bits(k, at, 2) - 1 / 3 * bits(k, at, 1)


def law_of_mixture(k):
    return lambda at: bits(2 * k, at, 1) / 3 + 2 * bits(k, at, 1) / 3


def moment(p, q, order, cuts):
    ends = [-60.0, *cuts, 60.0]
    return sum(
        integrate.quad(lambda t: p(t) ** order * q(t) ** (1 - order), a, b, epsabs=1e-13, epsrel=1e-12, limit=300)[0]
        for a, b in pairwise(ends)
    )


@pytest.mark.parametrize("order", [Fraction(2), Fraction(3), Fraction(5, 2), Fraction(9)])
@pytest.mark.parametrize(("made", "law"), [(sum_of_draws, law_of_sum), (mixture, law_of_mixture)])
def test_power_sums_are_those_of_quadrature(made, law, order) -> None:
    found = made.bind(n=1).renyi(order)
    wanted = max(moment(law(k), law(1 - k), float(order), [0.0, 1.0, 2.0]) for k in (0, 1))
    assert found.lower <= found.exp_moment
    assert float(found.exp_moment) == pytest.approx(wanted, rel=1e-8)
    assert float(found.lower) == pytest.approx(wanted, rel=1e-8)


@pytest.mark.parametrize("order", [Fraction(2), Fraction(3), Fraction(7, 4), Fraction(11)])
@pytest.mark.parametrize("scale", [1, 2, Fraction(1, 2)])
def test_laplace_noise_has_the_divergence_of_mironov(order, scale) -> None:
    a, e = float(order), 1 / float(scale)
    wanted = a / (2 * a - 1) * math.exp((a - 1) * e) + (a - 1) / (2 * a - 1) * math.exp(-a * e)
    for instance in (count.bind(n=1, scale=scale), *([clamped.bind(n=2)] if scale == 2 else [])):
        found = instance.renyi(order)
        assert found.status == ("exact" if order.denominator == 1 else "bounded")
        assert float(found.exp_moment) == pytest.approx(wanted, rel=1e-12)


def test_independent_numbers_multiply_and_bits_count_too() -> None:
    (one, two), order = ((count.bind(n=1, scale=s).renyi(3).exp_moment for s in (1, 2)), 3)
    assert two_numbers.bind(n=1).renyi(order).exp_moment == one * two  # below 0 all has one ratio
    halves = max(
        sum(p**order * q ** (1 - order) for p, q in each)
        for each in ([(1 / 3, 1 / 2), (2 / 3, 1 / 2)], [(1 / 2, 1 / 3), (1 / 2, 2 / 3)])
    )
    assert float(with_a_bit.bind(n=1).renyi(order).exp_moment) == pytest.approx(halves * float(two))


def test_infinite_divergences() -> None:
    assert one_sided.bind(n=1).renyi(2).exp_moment == math.inf
    assert one_sided.bind(n=1).zcdp().rho == math.inf
    narrow = other_scale.bind(n=1)
    assert float(narrow.renyi(Fraction(3, 2)).exp_moment) > 1
    assert narrow.renyi(2).exp_moment == math.inf  # e^(2·(-t/2) + t) does not fall
    assert narrow.zcdp().rho == math.inf


@mechanism(record=Bit)
def largest_of(x):
    return uniform(0, 1) if x[0] else max(uniform(0, 1), uniform(0, 1))


@mechanism(record=Bit)
def two_waits(x):
    return exponential(0, 1) if x[0] else exponential(0, 1) + exponential(0, 1)


@pytest.mark.parametrize("order", [Fraction(3, 2), Fraction(7, 4), Fraction(19, 10)])
def test_ratios_without_an_upper_end_have_finite_divergences_of_some_orders(order) -> None:
    """One density over t, for t close to 0: beta and gamma integrals, finite for orders below 2."""
    for made, wanted in (
        (largest_of, 2 ** (1 - float(order)) / (2 - float(order))),
        (two_waits, math.gamma(2 - float(order))),
    ):
        found = made.bind(n=1).renyi(order)
        assert found.lower <= found.exp_moment <= found.lower * (1 + Fraction(1, 10**12))
        assert float(found.exp_moment) == pytest.approx(wanted, rel=1e-12)
        assert made.bind(n=1).renyi(2).exp_moment == math.inf
        assert made.bind(n=1).zcdp().rho == math.inf


def test_a_density_that_falls_faster_by_a_power_of_t_has_finite_divergences() -> None:
    @mechanism(record=Bit)
    def twice(x):
        return laplace(0, 1) + laplace(0, 1) if x[0] else laplace(0, 1)

    found = twice.bind(n=1)  # the ratio is (1 + t)/2 at the distance t
    assert found.privacy().exp_epsilon == math.inf
    assert found.renyi(3).exp_moment == Fraction(1 + 3 + 6 + 6, 8)
    assert float(found.renyi(Fraction(5, 2)).exp_moment) == pytest.approx(
        integrate.quad(lambda t: ((1 + t) / 2) ** 2.5 * math.exp(-t), 0, 80, epsabs=0, epsrel=1e-12)[0], rel=1e-10
    )
    with pytest.raises(QueryError, match="likelihood ratios without an upper end"):
        found.zcdp()


def test_concentrated_divergence_of_another_scale_between_bounds() -> None:
    @mechanism(record=Bit)
    def narrow(x):
        return max(-1, min(1, laplace(0, 2 if x[0] else 1)))

    found, high, low = narrow.bind(n=1).zcdp(), math.exp(-0.5), math.exp(-1)
    halves = [(high, low), (low, high)]
    wide, tight = 2, 1
    shown = []
    for (atom, other), (p, q) in zip(halves, [(wide, tight), (tight, wide)], strict=True):
        for order in (1.001, 1.5, 2.0, 4.0):
            rate = order / p + (1 - order) / q
            inside = (
                p**-order * q ** (order - 1) * (1 - math.exp(-rate)) / rate if rate else p**-order * q ** (order - 1)
            )
            shown.append(math.log(inside + atom**order * other ** (1 - order)) / (order - 1) / order)
    assert max(shown) <= float(found.rho) <= max(shown) * 1.01


def test_concentrated_divergences() -> None:
    found = count.bind(n=1, scale=2).zcdp()
    wanted = 0.5 + math.exp(-0.5) - 1  # the Kullback-Leibler divergence
    assert float(found.lower) <= wanted <= float(found.rho) <= float(found.lower) * (1 + 1e-8)
    same = count.bind(n=2, scale=2, neighbours="unit-all").zcdp()
    assert same.rho > found.rho


@pytest.mark.slow(seconds=20)
def test_concentrated_divergence_by_quadrature() -> None:
    found = mixture.bind(n=1).zcdp()
    orders = [1 + 10.0**k for k in np.arange(-3, 1, 0.25)]
    cuts = [0.0, 1.0, 2.0]
    laws = [(law_of_mixture(k), law_of_mixture(1 - k)) for k in (0, 1)]
    shown = max(math.log(moment(p, q, a, cuts)) / (a - 1) / a for p, q in laws for a in orders)
    assert shown <= float(found.rho) * (1 + 1e-6)
    assert float(found.lower) <= shown * (1 + 1e-2)


def test_what_has_no_such_sums_says_so() -> None:
    @mechanism(record=Bit)
    def gaps(x):
        t = laplace(0, 1)
        return laplace(x[0], 1) - t, laplace(0, 1) - t

    with pytest.raises(QueryError, match="published in several numbers"):
        gaps.bind(n=1).renyi(2)


@mechanism(record=Int(0, 2))
def beside_integers(x):
    return uniform(0, 1), geometric(x[0], "1/2"), laplace(x[0], 1)


def test_noise_on_the_integers_beside_it() -> None:
    assert float(beside_integers.bind(n=1).renyi(2).exp_moment) == pytest.approx(
        float(count.bind(n=1, scale=Fraction(1, 2)).renyi(2).exp_moment)
        * sum((2.0 ** -abs(z)) ** 2 / 2.0 ** -abs(z - 2) / 3 for z in range(-200, 200))
    )


def test_staircase_noise() -> None:
    @mechanism(record=Bit)
    def staircase(x):
        step = one_sided_geometric(0, "1/2") + (uniform(0, 1) / 2 if flip("1/3") else (1 + uniform(0, 1)) / 2)
        return x[0] + step if flip("1/2") else x[0] - step

    found = staircase.bind(n=1)  # likelihood ratios are 2 and 1/2
    assert found.renyi(2).exp_moment == Fraction(2, 3) * 2 + Fraction(1, 3) / 2
    at = found.delta(epsilon="1/4")
    wanted = 2 / 3 * (1 - math.exp(0.25) / 2)
    assert float(at.lower) <= wanted * (1 + 1e-14)
    assert float(at.delta) >= wanted * (1 - 1e-14)
    assert at.delta - at.lower < Fraction(1, 10**50)


@mechanism(record=Bit)
def loudest(x):
    noisy = [bit + uniform(-1, 1) for bit in x]
    return noisy.index(max(noisy))


@mechanism(record=Bit)
def shifted(x):
    return Fraction(x[0], 2) + uniform(0, 1) + uniform(0, 1)


def test_delta_at_an_epsilon_of_laws_of_rational_numbers() -> None:
    """e^ε is irrational, and they are not: finite laws are answered exactly, densities are enclosed."""
    instance = loudest.bind(n=2)
    t, (one, none) = math.exp(0.25), (dict(instance.distribution(x).law) for x in ((1, 0), (0, 0)))
    wanted = max(max(0.0, float(p[i]) - t * float(q[i])) for p, q in ((one, none), (none, one)) for i in (0, 1))
    found = instance.delta(epsilon="1/4")
    assert found.status == "exact"
    assert float(found.delta) == pytest.approx(wanted)
    places = np.arange(0, 3, 1e-5)
    here, there = (np.maximum(0, 1 - abs(places - middle)) for middle in (1, 1.5))
    at = shifted.bind(n=1).delta(epsilon="1/4")
    assert float(at.lower) == pytest.approx(np.maximum(0, here - t * there).sum() * 1e-5, abs=1e-7)
    assert at.delta - at.lower < Fraction(1, 10**15)
