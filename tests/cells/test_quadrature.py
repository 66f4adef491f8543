"""A thousand drawn programs with real noise, beside integrals of one variable by quadrature."""

from __future__ import annotations

import math
import random
from itertools import pairwise, product
from typing import Any

import pytest
from scipy import integrate

from tightdp import Int, exponential, laplace, mechanism, uniform


def noise(kind, centre, scale):
    if kind == "laplace":
        return laplace(centre, scale)
    if kind == "exponential":
        return exponential(centre, scale)
    return uniform(centre - scale, centre + scale)


@mechanism(record=Int(0, 1), neighbours="unit-all")
def above(x, threshold, laws, shifts, most):
    """Which noisy queries are above a noisy threshold, until a number of them are."""
    t, told = noise(threshold[0], 0, threshold[1]), []
    for query, law, shift in zip(x, laws, shifts, strict=True):
        told.append(noise(law[0], query, law[1]) - shift >= t)
        if sum(told) == most:
            break
    return tuple(told)


@mechanism(record=Int(0, 1), neighbours="unit-all")
def largest(x, laws, shifts):
    """The index of the largest noisy query."""
    noisy = [noise(law[0], query, law[1]) + shift for query, law, shift in zip(x, laws, shifts, strict=True)]
    return noisy.index(max(noisy))


def density(law: Any, centre: float, z: float) -> float:
    kind, scale = law
    if kind == "laplace":
        return math.exp(-abs(z - centre) / scale) / (2 * scale)
    if kind == "exponential":
        return math.exp(-(z - centre) / scale) / scale if z >= centre else 0.0
    return 1 / (2 * scale) if abs(z - centre) <= scale else 0.0


def below(law: Any, centre: float, z: float) -> float:
    kind, scale = law
    if kind == "laplace":
        tail = math.exp(-abs(z - centre) / scale) / 2
        return tail if z < centre else 1 - tail
    if kind == "exponential":
        return 1 - math.exp(-(z - centre) / scale) if z >= centre else 0.0
    return min(1.0, max(0.0, (z - centre + scale) / (2 * scale)))


def integral(function: Any, edges: set[float]) -> float:
    """Integrate over the line, cut where a factor of the function has another form."""
    cuts = sorted({*edges, -60.0, 60.0})
    return sum(float(integrate.quad(function, a, b, limit=100)[0]) for a, b in pairwise(cuts))


def edges(law: Any, centre: float) -> set[float]:
    return {centre - law[1], centre, centre + law[1]}


def law_above(x: tuple[int, ...], threshold: Any, laws: Any, shifts: Any, most: int) -> dict[Any, float]:
    found: dict[Any, float] = {}
    cuts = edges(threshold, 0).union(*(edges(law, q - s) for law, q, s in zip(laws, x, shifts, strict=True)))
    for told in product((False, True), repeat=len(x)):
        end = next((at + 1 for at in range(len(x)) if sum(told[: at + 1]) == most), len(x))
        if any(told[end:]):  # it ends there
            continue
        output = told[:end]

        def chance(t: float, output: Any = output) -> float:
            value = density(threshold, 0, t)
            for q, law, shift, up in zip(x, laws, shifts, output, strict=False):
                under = below(law, q, t + shift)
                value *= 1 - under if up else under
            return value

        found[output] = integral(chance, cuts)
    return found


def law_largest(x: tuple[int, ...], laws: Any, shifts: Any) -> dict[Any, float]:
    found: dict[Any, float] = {}
    cuts = set().union(*(edges(law, q + s) for law, q, s in zip(laws, x, shifts, strict=True)))
    for at in range(len(x)):

        def chance(z: float, at: int = at) -> float:
            value = density(laws[at], x[at] + shifts[at], z)
            for other in range(len(x)):
                if other != at:
                    value *= below(laws[other], x[other] + shifts[other], z)
            return value

        found[at] = integral(chance, cuts)
    return found


def check(seed: int) -> None:
    choose = random.Random(seed)

    def law() -> tuple[str, int]:
        return choose.choice(["laplace", "laplace", "exponential", "uniform"]), choose.choice([1, 2, 3])

    n = choose.choice([1, 2, 2, 3])
    given: dict[str, Any] = {
        "laws": tuple(law() for _ in range(n)),
        "shifts": tuple(choose.choice([0, 0, 1, -2]) for _ in range(n)),
    }
    if choose.random() < 0.5 or n == 1:
        given |= {"threshold": law(), "most": choose.choice([0, 1, 2])}
        made, of = above, law_above
    else:
        made, of = largest, law_largest
    instance = made.bind(n=n, **given)
    laws = {x: of(x, **given) for x in product((0, 1), repeat=n)}
    for x, expected in laws.items():
        assert sum(expected.values()) == pytest.approx(1, abs=1e-6)
        found = dict(instance.distribution(x).law)
        for output in found.keys() | expected.keys():
            assert float(found.get(output, 0)) == pytest.approx(expected.get(output, 0), abs=1e-7), (seed, x, output)
    seen = [(laws[x][y], laws[z].get(y, 0.0)) for x in laws for z in laws for y in laws[x] if laws[x][y] > 1e-5]
    tight = float(instance.privacy().exp_epsilon)
    assert tight == math.inf or all(p <= tight * q * (1 + 1e-4) for p, q in seen), seed
    assert tight == math.inf or max(p / q for p, q in seen) >= tight * (1 - 1e-4) or tight > 1e3, seed
    delta = max(sum(max(0.0, p - 1.5 * laws[z].get(y, 0.0)) for y, p in laws[x].items()) for x in laws for z in laws)
    assert float(instance.delta(exp_epsilon="3/2").delta) == pytest.approx(delta, abs=1e-6), seed


@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", range(6))
def test_laws_are_integrals(seed: int) -> None:
    check(seed)


@pytest.mark.slow(seconds=400)
@pytest.mark.parametrize("seed", range(6, 1000))
def test_laws_of_many_programs_are_integrals(seed: int) -> None:
    check(seed)
