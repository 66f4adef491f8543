"""Draws that meet multiples of others, and real numbers beside integers made of them: laws beside truncated sums."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import floor
from typing import Any

import numpy as np
import pytest

from tightdp import Bit, Mechanism, exponential, geometric, laplace, mechanism, observe, one_sided_geometric, uniform
from tightdp.cells.distances import _sum
from tightdp.cells.laws import CellLaws, cell_laws
from tightdp.cells.sums import UNIT
from tightdp.exact.field import exp

bits: Callable[[Any], Mechanism] = mechanism(record=Bit)
REACH = 18


def two(ratio: Fraction, centre: int) -> dict[int, Fraction]:
    share = (1 - ratio) / (1 + ratio)
    return {z: share * ratio ** abs(z - centre) for z in range(centre - REACH, centre + REACH + 1)}


def one(ratio: Fraction, centre: int) -> dict[int, Fraction]:
    return {z: (1 - ratio) * ratio ** (z - centre) for z in range(centre, centre + REACH + 1)}


@bits
def unlike_multiples(x):
    return 2 * geometric(x[0], "1/8") - 3 * geometric(0, "1/8")


@bits
def three_draws(x):
    return geometric(x[0], "1/8") + 2 * geometric(0, "1/8") - one_sided_geometric(0, "1/8")


@bits
def twice_the_threshold(x):
    z, t = geometric(x[0], "1/8"), geometric(0, "1/8")
    return z + t if z > 2 * t else None


@bits
def two_conditions(x):
    a, b = geometric(x[0], "1/8"), geometric(0, "1/8")
    return a + b if 2 * a <= 3 * b + 1 and a + 2 * b >= 0 else 0


@bits
def observed(x):
    a, b, c = geometric(x[0], "1/8"), one_sided_geometric(0, "1/8"), geometric(0, "1/8")
    observe(2 * a + b <= 3 * c)
    return b - 2 * c, a > b


@bits
def drawn_again(x):
    while True:
        t, z = geometric(0, "1/8"), geometric(x[0], "1/8")
        if z >= 2 * t:
            return z - t


EIGHTH = Fraction(1, 8)
RUNS: dict[Mechanism, tuple[Callable[[int], list[dict[int, Fraction]]], Callable[..., Any]]] = {
    unlike_multiples: (lambda x: [two(EIGHTH, x), two(EIGHTH, 0)], lambda a, b: 2 * a - 3 * b),
    three_draws: (lambda x: [two(EIGHTH, x), two(EIGHTH, 0), one(EIGHTH, 0)], lambda a, b, c: a + 2 * b - c),
    twice_the_threshold: (lambda x: [two(EIGHTH, x), two(EIGHTH, 0)], lambda z, t: z + t if z > 2 * t else None),
    two_conditions: (
        lambda x: [two(EIGHTH, x), two(EIGHTH, 0)],
        lambda a, b: a + b if 2 * a <= 3 * b + 1 and a + 2 * b >= 0 else 0,
    ),
    observed: (
        lambda x: [two(EIGHTH, x), one(EIGHTH, 0), two(EIGHTH, 0)],
        lambda a, b, c: (b - 2 * c, a > b) if 2 * a + b <= 3 * c else ...,
    ),
    drawn_again: (lambda x: [two(EIGHTH, 0), two(EIGHTH, x)], lambda t, z: z - t if z >= 2 * t else ...),
}


@pytest.mark.one_in(8)
@pytest.mark.parametrize("made", RUNS)
def test_probabilities_and_ratios_are_those_of_truncated_sums(made: Mechanism) -> None:
    draws, run = RUNS[made]
    laws: list[dict[Any, Fraction]] = []
    for x in (0, 1):
        law: dict[Any, Fraction] = {}
        for values in product(*(each.items() for each in draws(x))):
            output = run(*(z for z, _ in values))
            law[output] = law.get(output, 0) + math.prod((p for _, p in values), start=Fraction(1))
        kept = 1 - law.pop(..., Fraction(0))
        laws.append({y: p / kept for y, p in law.items()})
    instance = made.bind(n=1)
    often = [y for y in laws[0] if laws[0][y] > Fraction(1, 10**5)]
    for y in often[:: max(1, len(often) // 8)]:
        for x in (0, 1):
            assert float(instance.probability((x,), y)) == pytest.approx(float(laws[x].get(y, 0)), rel=1e-9)
    found = instance.privacy()
    assert found.status == "exact"
    largest = max(p[y] / q[y] for p, q in (laws, laws[::-1]) for y in often if q.get(y))
    assert float(largest) <= float(found.exp_epsilon) * (1 + 1e-9)
    if found.attained and found.exp_epsilon < math.inf:
        witness: Any = found.witness
        p, q = (float(laws[x[0]][witness.output]) for x in (witness.x, witness.x_prime))
        assert float(found.exp_epsilon) == pytest.approx(p / q, rel=1e-9)


@bits
def beside_its_floor(x):
    z = laplace(x[0], 1)
    return z, z // 1


@bits
def rounded_beside_a_sum(x):
    u = uniform(0, 2)
    return round(u), u + laplace(x[0], 1)


@bits
def above_an_integer(x):
    u, z = laplace(x[0], 1), geometric(0, "1/2")
    return u if u > z else None


@bits
def doubled_beside_a_sum(x):
    """What is between the two is geometric noise around 0 alone."""
    u = laplace(x[0], 2)
    return 2 * u, u + geometric(0, "1/3")


@bits
def only_the_integer_moves(x):
    u = laplace(0, 2)
    return 2 * u, u + geometric(x[0], "1/3")


@bits
def both_move(x):
    """Far out the ratio is told on the line where the integer noise is 0."""
    u, z = laplace(x[0], 2), geometric(x[0], "1/8")
    return u + z, 3 * u


@bits
def moved_beside_a_sum_of_multiples(x):
    u, a, b = laplace(x[0], 1), geometric(0, "1/8"), one_sided_geometric(0, "1/8")
    return 3 * u - a, a + 3 * b + 2


@bits
def multiples_and_a_real_number(x):
    return geometric(x[0], "1/2") + 2 * geometric(0, "1/2") + laplace(0, 1)


@pytest.mark.parametrize(
    ("made", "value"),
    [
        (beside_its_floor, exp(1)),
        (rounded_beside_a_sum, exp(1)),
        (above_an_integer, exp(1)),
        (doubled_beside_a_sum, exp(Fraction(1, 2))),
        (only_the_integer_moves, 3),
        (both_move, 8 * exp(Fraction(1, 2))),
        (moved_beside_a_sum_of_multiples, exp(1)),
    ],
)
def test_real_numbers_meet_integers_that_are_published(made: Mechanism, value: Any) -> None:
    found = made.bind(n=1).privacy()
    assert (found.status, found.exp_epsilon) == ("exact", value)


def test_multiples_of_integers_beside_a_real_number_have_the_ratio_of_a_grid() -> None:
    steps = np.arange(-40, 41)
    noise = np.exp2(-np.abs(steps)) / 3
    doubled = np.zeros(161)
    doubled[::2] = noise
    whole = np.convolve(noise, doubled)
    z = np.linspace(-30, 30, 1201)
    near = np.exp(-np.abs(z[:, None] - np.arange(-120, 121)[None, :])) / 2
    p, q = near @ whole, np.exp(-np.abs(z[:, None] - np.arange(-119, 122)[None, :])) / 2 @ whole
    found = multiples_and_a_real_number.bind(n=1).privacy()
    assert found.status == "exact"
    assert float(found.exp_epsilon) == pytest.approx(float(max((p / q).max(), (q / p).max())), rel=1e-4)


@bits
def of_two_kinds(x):
    u, z = exponential(0, 1), one_sided_geometric(x[0], "1/2")
    return (floor(u - z), u + z + Fraction(1, 2)) if u + Fraction(1, 3) > z else round(2 * u)


@bits
def floors_and_rests(x):
    u, v = uniform(x[0], 3), laplace(0, 1)
    return round(u), floor(2 * u) + v, floor(v)


@pytest.mark.parametrize("made", [of_two_kinds, floors_and_rests, beside_its_floor, rounded_beside_a_sum])
def test_densities_have_the_integral_1(made: Mechanism) -> None:
    laws: CellLaws = cell_laws(made.bind(n=1).engine.bound, lambda: None)
    for x in (0, 1):
        total = sum(_sum(laws, label, each, [(frozenset(), {UNIT: laws.one})]) for label, each in laws.of((x,)).items())
        assert laws.number(total) == 1
