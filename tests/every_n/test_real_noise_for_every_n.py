"""Real and one-sided noise for every n: proved upper ends against tight answers for a few n, and known values."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from small_mechanisms import above_threshold
from tightdp import (
    ALL,
    Bit,
    Int,
    exponential,
    laplace,
    mechanism,
    one_sided_geometric,
    uniform,
)
from tightdp.every_n import shifts
from tightdp.every_n.upper import least_upper, readings
from tightdp.exact.field import exp
from tightdp.language import laws


@mechanism(record=Bit)
def noisy_sum(x):
    return laplace(sum(x), 1)


@mechanism(record=Bit)
def halves(x):
    return tuple(laplace(bit / 2, 1) for bit in x)


@mechanism(record=Bit)
def rounded(x):
    return round(laplace(sum(x), 1))


@mechanism(record=Bit)
def clamped(x):
    return max(0, min(5, laplace(sum(x), 1)))


@mechanism(record=Bit)
def walk(x):
    """A walk that takes real steps, and is seen as a side."""
    at, told = 0, []
    for bit in x:
        at += laplace(bit, 1)
        told.append(at > 2)
    return tuple(told)


@mechanism(record=Bit)
def beside_its_noise(x):
    """The noise is published, so that only the other draw protects."""
    t = laplace(0, 1)
    return laplace(sum(x), 2) + t, t


sparse_vector = mechanism(record=Int(0, 1), neighbours="unit-all")(above_threshold)


@mechanism(record=Int(0, 1), neighbours="unit-all")
def gap(x):
    """The gap is published."""
    t, told = laplace(0, 2), []
    for query in x:
        z = laplace(query, 4)
        if z >= t:
            told.append(z - t)
            break
        told.append(False)
    return tuple(told)


@mechanism(record=Int(0, 1), neighbours="unit-all")
def one_sided_answers(x):
    """Exponential noise on threshold and answers."""
    t, told = exponential(0, 2), []
    for query in x:
        if exponential(query, 4) >= t:
            told.append(True)
            break
        told.append(False)
    return tuple(told)


@mechanism(record=Bit)
def failures(x):
    return one_sided_geometric(sum(x), "1/2")


@mechanism(record=Int(0, 1), neighbours="unit-all")
def within_a_range(x):
    """Noise that ends: what one threshold excludes for one query it need not exclude for another one."""
    t, told = laplace(0, 2), []
    for query in x:
        if uniform(query, query + 3) >= t:
            told.append(True)
            break
        told.append(False)
    return tuple(told)


@mechanism(record=Bit)
def held_twice(x):
    """Two names for the same real number, which may be equal."""
    best = last = laplace(0, 1)
    for bit in x:
        z = laplace(bit, 1)
        if z > best:
            best = z
        else:
            last = best
    return best > last


@mechanism(record=Bit)
def held_anew(x):
    """What was drawn before the records is kept a second time while they are gone through."""
    t = best = laplace(0, 1)
    other = 5
    for bit in x:
        z = laplace(bit, 1)
        if z > best:
            best = z
        elif z < 0:
            other = t
    return best > other


ENDS = [
    (noisy_sum, exp(1), "exact"),
    (halves, exp(Fraction(1, 2)), "exact"),
    (rounded, exp(1), "exact"),
    (clamped, exp(1), "exact"),
    (walk, exp(1), "exact"),
    (beside_its_noise, exp(Fraction(1, 2)), "exact"),
    (failures, math.inf, "exact"),
]
LONGER = [
    (held_twice, exp(1), "bounded"),
    (held_anew, math.inf, "bounded"),
    (sparse_vector, exp(1), "bounded"),
    (gap, exp(1), "bounded"),
    (one_sided_answers, exp(1), "bounded"),
    (within_a_range, math.inf, "exact"),
]


def compared(program: Any, upper: Any, status: str) -> Any:
    found = program.bind(n=ALL).privacy()
    assert (found.status, found.upper) == (status, upper)
    assert found.lower <= upper
    for n in (1, 2):
        assert program.bind(n=n).privacy().exp_epsilon <= upper
    return found


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("program", "upper", "status"), ENDS, ids=lambda each: getattr(each, "__name__", ""))
def test_upper_ends_are_known_and_hold(program, upper, status):
    compared(program, upper, status)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("program", "upper", "status"), LONGER, ids=lambda each: getattr(each, "__name__", ""))
def test_upper_ends_are_known(program, upper, status):
    assert least_upper(readings(program.bind(n=1).bound), Fraction(1)).value == upper


@pytest.mark.slow(seconds=90)
@pytest.mark.parametrize(("program", "upper", "status"), LONGER, ids=lambda each: getattr(each, "__name__", ""))
def test_upper_ends_hold_beside_lower_ends(program, upper, status):
    found = compared(program, upper, status)
    if program is sparse_vector:
        assert found.n > 20
        assert math.log(found.lower) == pytest.approx(1, abs=2e-5)


@mechanism(record=Int(0, 1), neighbours="unit-all")
def with_its_answer(x):
    """The answer above the threshold, with fresh noise."""
    t, told = laplace(0, 3), []
    for query in x:
        if laplace(query, 6) >= t:
            told.append(laplace(query, 3))
            break
        told.append(False)
    return tuple(told)


@pytest.mark.slow(seconds=4)
def test_lower_ends_of_densities_are_those_of_long_datasets():
    found = with_its_answer.bind(n=ALL).privacy()
    x, x_prime = found.witness.x, found.witness.x_prime
    assert (found.upper, found.n > 20) == (exp(1), True)
    assert x == (*(0,) * (found.n - 1), 1)
    assert x_prime == (*(1,) * (found.n - 1), 0)
    t = np.linspace(-200, 200, 400_001)
    density = np.exp(-abs(t) / 3)
    below = {
        query: np.where(t < query, np.exp((t - query) / 6) / 2, 1 - np.exp((query - t) / 6) / 2) for query in (0, 1)
    }
    ours, theirs = (np.trapezoid(density * below[a] ** (found.n - 1) * (1 - below[b])) for a, b in ((0, 1), (1, 0)))
    assert math.log(found.lower) == pytest.approx(math.log(ours / theirs) + 1 / 3, abs=1e-8)
    assert math.log(found.lower) > 0.999


LAWS = [laws.laplace(0, 2), laws.exponential(0, 3), laws.continuous_uniform(-1, 2), laws.one_sided_geometric(0, "1/3")]


@pytest.mark.parametrize("law", LAWS)
def test_the_price_of_a_shift_bounds_ratios_of_densities_and_is_met(law):
    def density(z: float) -> float:
        for low, high, base in law.pieces:
            if (low is None or z >= low) and (high is None or z <= high):
                return float(law.weight) * float(base) ** z
        return 0.0

    for d in (-2, -1, 1, 2):
        places = [k if not law.real else k / 16 for k in range(-160, 161)]
        ratios = [density(z + d) / density(z) for z in places if density(z) and density(z + d)]
        assert max(ratios) == pytest.approx(float(shifts._price(law, d)))
