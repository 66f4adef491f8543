"""The samplers of Canonne, Kamath and Steinke (2020), each written in three ways, against the laws they are to have.

As in their paper, as in the Python that Steinke published with it, and as in OpenDP's Rust.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from math import floor, isqrt
from typing import Any

import pytest
from flint import arb, ctx

from tightdp import Bit, discrete_gaussian, discrete_laplace, flip, mechanism, randint

# as in the paper


def _of_exp_up_to_1(gamma):
    k = 1
    while True:
        if not flip(gamma / k):
            break
        k += 1
    return k % 2 == 1


def of_exp(gamma):
    if gamma <= 1:
        return _of_exp_up_to_1(gamma)
    k = 1
    while k <= gamma:
        if not _of_exp_up_to_1(Fraction(1)):
            return False
        k += 1
    return _of_exp_up_to_1(gamma - (k - 1))


def laplace_of(t, s):
    while True:
        u = randint(0, t - 1)
        if not of_exp(Fraction(u, t)):
            continue
        v = 0
        while of_exp(Fraction(1)):
            v += 1
        x = u + t * v
        y = x // s
        negative = flip("1/2")
        if negative and y == 0:
            continue
        return -y if negative else y


def gauss_of(sigma_squared):
    t = isqrt(int(sigma_squared)) + 1
    while True:
        y = laplace_of(t, 1)
        if of_exp((abs(y) - sigma_squared / t) ** 2 / (2 * sigma_squared)):
            return y


def of_exp_for(gamma):
    for _ in range(floor(gamma)):
        if not _of_exp_up_to_1(Fraction(1)):
            return False
    return _of_exp_up_to_1(gamma - floor(gamma))


def gauss_for(sigma_squared):
    t = isqrt(int(sigma_squared)) + 1
    while True:
        y = laplace_of(t, 1)
        if of_exp_for((abs(y) - sigma_squared / t) ** 2 / (2 * sigma_squared)):
            return y


# as in Python


def _bernoulli_exp1(x):
    k = 1
    while True:
        if flip(x / k) == 1:
            k = k + 1
        else:
            break
    return k % 2


def bernoulli_exp(x):
    while x > 1:
        if _bernoulli_exp1(Fraction(1, 1)) == 1:
            x = x - 1
        else:
            return 0
    return _bernoulli_exp1(x)


def _geometric_exp_slow(x):
    k = 0
    while True:
        if bernoulli_exp(x) == 1:
            k = k + 1
        else:
            return k


def _geometric_exp_fast(x):
    t = x.denominator
    while True:
        u = randint(0, t - 1)
        if bernoulli_exp(Fraction(u, t)) == 1:
            break
    v = _geometric_exp_slow(Fraction(1, 1))
    return (v * t + u) // x.numerator


def dlaplace(scale):
    while True:
        sign = flip("1/2")
        magnitude = _geometric_exp_fast(1 / Fraction(scale))
        if sign == 1 and magnitude == 0:
            continue
        return magnitude * (1 - 2 * sign)


def _floorsqrt(x):
    a, b = 0, 1
    while b * b <= x:
        b = 2 * b
    while a + 1 < b:
        c = (a + b) // 2
        if c * c <= x:
            a = c
        else:
            b = c
    return a


def dgauss(sigma_squared):
    t = _floorsqrt(sigma_squared) + 1
    while True:
        candidate = dlaplace(t)
        bias = ((abs(candidate) - sigma_squared / t) ** 2) / (2 * sigma_squared)
        if bernoulli_exp(bias) == 1:
            return candidate


# as in Rust


def _sample_bernoulli_exp1(x):
    k = 1
    while True:
        if flip(x / k):
            k += 1
        else:
            return k % 2 == 1


def sample_bernoulli_exp(x):
    while x > 1:
        if _sample_bernoulli_exp1(1):
            x -= 1
        else:
            return False
    return _sample_bernoulli_exp1(x)


def _sample_geometric_exp_slow(x):
    k = 0
    while True:
        if sample_bernoulli_exp(x):
            k += 1
        else:
            return k


def _sample_geometric_exp_fast(x):
    u = randint(0, x.denominator - 1)
    while not sample_bernoulli_exp(Fraction(u, x.denominator)):
        u = randint(0, x.denominator - 1)
    v = _sample_geometric_exp_slow(1)
    return (v * x.denominator + u) // x.numerator


def sample_discrete_laplace(scale):
    while True:
        sign = flip("1/2")
        magnitude = _sample_geometric_exp_fast(1 / Fraction(scale))
        if sign or magnitude != 0:
            return magnitude if sign else -magnitude


def sample_discrete_gaussian(sigma_squared):
    scale = isqrt(int(sigma_squared))
    while True:
        candidate = sample_discrete_laplace(scale + 1)
        x = abs(candidate) - sigma_squared / (scale + 1)
        if sample_bernoulli_exp(x**2 / (2 * sigma_squared)):
            return candidate


@mechanism(record=Bit)
def paper_coin(x, gamma):
    return int(of_exp(gamma if x[0] else Fraction(1, 3)))


@mechanism(record=Bit)
def python_coin(x, gamma):
    return bernoulli_exp(gamma if x[0] else Fraction(1, 3))


@mechanism(record=Bit)
def rust_coin(x, gamma):
    return int(sample_bernoulli_exp(gamma if x[0] else Fraction(1, 3)))


@mechanism(record=Bit)
def paper_laplace(x, scale):
    return sum(x) + laplace_of(scale.numerator, scale.denominator)


@mechanism(record=Bit)
def python_laplace(x, scale):
    return sum(x) + dlaplace(scale)


@mechanism(record=Bit)
def rust_laplace(x, scale):
    return sum(x) + sample_discrete_laplace(scale)


@mechanism(record=Bit)
def primitive_laplace(x, scale):
    return discrete_laplace(sum(x), scale)


@mechanism(record=Bit)
def paper_gauss(x, sigma_squared):
    return sum(x) + gauss_of(sigma_squared)


@mechanism(record=Bit)
def paper_gauss_for(x, sigma_squared):
    return sum(x) + gauss_for(sigma_squared)


@mechanism(record=Bit)
def python_gauss(x, sigma_squared):
    return sum(x) + dgauss(sigma_squared)


@mechanism(record=Bit)
def rust_gauss(x, sigma_squared):
    return sum(x) + sample_discrete_gaussian(sigma_squared)


@mechanism(record=Bit)
def primitive_gauss(x, sigma_squared):
    return discrete_gaussian(sum(x), sigma_squared)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("sampler", [paper_coin, python_coin, rust_coin], ids=lambda made: made.name)
def test_a_coin_of_probability_exp_of_minus_gamma(sampler: Any) -> None:
    instance = sampler.bind(n=1, gamma=Fraction(7, 3))
    assert instance.distribution((1,)).status == "exact"
    assert instance.privacy().epsilon_exact == 2
    assert float(instance.probability((1,), 1)) == pytest.approx(math.exp(-7 / 3), abs=1e-15)


LAPLACE = [
    paper_laplace,
    *(pytest.param(each, marks=pytest.mark.slow(seconds=3)) for each in (python_laplace, rust_laplace)),
]


@pytest.mark.parametrize("sampler", LAPLACE, ids=lambda made: made.name)
def test_discrete_laplace_noise_is_the_primitive(sampler: Any) -> None:
    scale = Fraction(3, 2)
    ours, primitive = sampler.bind(n=1, scale=scale), primitive_laplace.bind(n=1, scale=scale)
    assert ours.privacy().exp_epsilon == primitive.privacy().exp_epsilon
    for z in (-7, -1, 0, 1, 2, 20):
        assert ours.probability((1,), z) == primitive.probability((1,), z)


def ball(value: Fraction) -> arb:
    return arb(value.numerator) / arb(value.denominator)


@pytest.fixture(autouse=True)
def _bits() -> Iterator[None]:
    before, ctx.prec = ctx.prec, 200
    yield
    ctx.prec = before


HALF = Fraction(1, 2)
VARIANCES = (paper_gauss, 4), (python_gauss, 4), (rust_gauss, 9), (rust_gauss, Fraction(7, 3)), (paper_gauss_for, HALF)
QUICK = pytest.mark.slow(seconds=13)
GAUSS = [
    pytest.param(*each, marks=QUICK if each[1] < 4 else pytest.mark.slow, id=f"{each[0].name} {each[1]}")
    for each in VARIANCES
]


@pytest.mark.parametrize(("sampler", "variance"), GAUSS)
def test_discrete_gaussian_noise_is_the_primitive_up_to_what_is_lost(sampler: Any, variance: Fraction) -> None:
    variance = Fraction(variance)
    found = sampler.bind(n=1, sigma_squared=variance).distribution((1,))
    assert found.status == "bounded"
    upper = dict(found.upper)
    masses = {z: ball(-(z**2) / (2 * variance)).exp() for z in range(-60, 61)}
    whole = sum(masses.values(), arb(0))
    assert set(range(-5, 8)) <= {z for z, _ in found.law}
    for z, low in found.law:
        if isinstance(z, int):
            mass = masses[z - 1] / whole
            assert ball(low) <= mass <= ball(upper[z])
            assert upper[z] - low < Fraction(1, 10**21)
    ours = sampler.bind(n=1, sigma_squared=variance).delta(epsilon=1)
    primitive = primitive_gauss.bind(n=1, sigma_squared=variance).delta(epsilon=1)
    assert max(ours.lower, primitive.lower) <= min(ours.delta, primitive.delta)
    assert ours.delta - ours.lower < Fraction(1, 10**18)
