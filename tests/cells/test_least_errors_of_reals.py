"""The least error that real noise keeps with a probability, beside quadrature."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise

import pytest
from scipy import integrate, optimize

from tightdp import Bit, Mechanism, exponential, flip, geometric, laplace, mechanism, uniform
from tightdp.errors import QueryError


def count(x):
    return laplace(sum(x), 2)


def scaled(x):
    return sum(x) - 2 * exponential(0, 1)


def even(x):
    return sum(x) + uniform(0, 4)


def clamped(x):
    return max(0, min(2, laplace(sum(x), 1)))


def jumping(x):
    return laplace(sum(x), 1) if flip("1/2") else sum(x) + 3


def rarely(x):
    noisy = laplace(sum(x), 1)
    return sum(x) if noisy < 5 else noisy


def both(x):
    return sum(x) + laplace(0, 1) + geometric(0, "1/2")


def of(function: Callable[..., object]) -> Mechanism:
    return mechanism(record=Bit, target=sum)(function)


@pytest.mark.parametrize(
    ("function", "beta", "expected"),
    [
        (count, "1/10", 2 * math.log(10)),
        (count, "exp(-1)", Fraction(2)),
        (scaled, "1/10", 2 * math.log(10)),
        (even, "1/10", Fraction(18, 5)),
        (clamped, "1/10", math.log(5)),
        (clamped, "1/2", math.log(2)),
        (jumping, "1/10", Fraction(3)),
        (jumping, "1/2", Fraction(3)),
        (rarely, "1/10", Fraction(0)),
    ],
)
def test_least_errors_are_exact_or_enclosed(function: Callable[..., object], beta: str, expected: float) -> None:
    found = of(function).bind(n=2).accuracy(beta=beta)
    if isinstance(expected, Fraction):
        assert (found.status, found.alpha) == ("exact", expected)
    else:
        assert found.status == "bounded"
        assert found.lower < found.upper < found.lower * (1 + Fraction(1, 10**20))
        assert math.isclose(found.upper, expected, rel_tol=1e-14)


def test_noise_of_both_kinds_says_why_it_has_none() -> None:
    with pytest.raises(QueryError, match="beside noise on the integers has quantiles that are not looked for"):
        of(both).bind(n=1).accuracy(beta="1/10")


def density(parts: Sequence[tuple[float, float, float]], z: float) -> float:
    """The density of a mixture of Laplace laws: weights, centres, scales."""
    return sum(weight * math.exp(-abs(z - centre) / scale) / (2 * scale) for weight, centre, scale in parts)


@pytest.mark.parametrize("seed", range(12))
def test_drawn_mixtures_have_the_least_errors_of_quadrature(seed: int) -> None:
    draw = random.Random(seed)
    cases = [(draw.randint(-4, 4), draw.choice([Fraction(1, 2), 1, 3])) for _ in range(3)]
    low, high = draw.randint(-4, 0), draw.randint(1, 4)
    clamp, slope, beta = draw.random() < 0.5, draw.choice([1, -2, Fraction(1, 2)]), Fraction(draw.randint(1, 19), 20)

    def mixture(x):
        noisy = laplace(*cases[0]) if flip("1/2") else laplace(*cases[1]) if flip("1/2") else laplace(*cases[2])
        return slope * (max(low, min(high, noisy)) if clamp else noisy)

    parts = [(w, float(c), float(s)) for w, (c, s) in zip((0.5, 0.25, 0.25), cases, strict=True)]

    def kept(alpha: float) -> float:
        """P(|output - 1| <= α), by quadrature between the kinks."""
        ends = sorted(((1 - alpha) / slope, (1 + alpha) / slope))
        if clamp:
            ends = [-60.0 if ends[0] <= low else float(ends[0]), 60.0 if ends[1] >= high else float(ends[1])]
            if (ends[1] != 60 and ends[1] < low) or (ends[0] != -60 and ends[0] > high):
                return 0.0
        cuts = [float(ends[0]), *(k for k in range(-59, 60) if ends[0] < k < ends[1]), float(ends[1])]
        return sum(integrate.quad(lambda z: density(parts, z), a, b)[0] for a, b in pairwise(cuts))

    found = mechanism(record=Bit, target=lambda x: 1)(mixture).bind(n=1).accuracy(beta=beta)
    least, enough = float(found.lower), 1 - float(beta)
    assert found.lower <= found.upper <= found.lower + Fraction(1, 10**15)
    assert kept(least + 1e-9) >= enough - 1e-9
    assert least == 0 or kept(least - 1e-9) <= enough + 1e-9
    if found.status == "bounded":
        assert math.isclose(optimize.brentq(lambda a: kept(a) - enough, 0, 60), least, rel_tol=1e-7)
