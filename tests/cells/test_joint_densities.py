"""Several published real numbers: known values, and δ beside sums over a fine grid of densities by numpy."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from tightdp import Bit, Mechanism, exponential, flip, laplace, mechanism, uniform
from tightdp.cells import deltas, joint, kinds, moving
from tightdp.cells.comparing import Comparing
from tightdp.cells.laws import cell_laws
from tightdp.cells.linear import Row
from tightdp.cells.simplices import divided, integral, on_simplex
from tightdp.cells.sums import Bases
from tightdp.exact.enclosure import as_fmpq, as_fraction
from tightdp.exact.field import exp

Array = Any


@mechanism(record=Bit)
def pair(x):
    return laplace(x[0], 1), laplace(-x[0], 2)


@mechanism(record=Bit)
def with_difference(x):
    a, b = laplace(x[0], 1), laplace(-x[0], 2)
    return a, b, a - b


@mechanism(record=Bit)
def totals(x):
    first = laplace(x[0], 2)
    return first, first + laplace(x[0], 1)


@mechanism(record=Bit)
def gaps(x):
    t = laplace(0, 1)
    return laplace(x[0], 1) - t, laplace(0, 1) - t


@mechanism(record=Bit)
def one_sided_gaps(x):
    t = exponential(0, 2)
    return exponential(x[0], 1) - t, exponential(2, 1) - t


@mechanism(record=Bit)
def gaps_to_uniform(x):
    t = uniform(0, 1)
    return laplace(x[0], 1) - t, laplace(0, 2) - t


def of(kind: str, centre: float, scale: float) -> Callable[[Array], Array]:
    if kind == "laplace":
        return lambda z: np.exp(-np.abs(z - centre) / scale) / (2 * scale)
    if kind == "exponential":
        return lambda z: np.where(z > centre, np.exp(-np.abs(z - centre) / scale) / scale, 0.0)
    return lambda z: np.where((z > centre) & (z < centre + scale), 1 / scale, 0.0)


def shared(laws: Any, kinks: Any) -> Callable[[Array, Array], Array]:
    """The density of (z1 - t, z2 - t): between two kinks it integrates one exponential, known by two values."""

    def density(a: Array, b: Array) -> Array:
        ends = [np.full_like(a, k) for k in (-60.0, 60.0, *kinks[2])]
        ends += [k - a for k in kinks[0]] + [k - b for k in kinks[1]]
        cuts, total = np.sort(np.stack(ends), axis=0), np.zeros_like(a)
        for low, high in pairwise(cuts):
            wide = high - low
            first, last = (laws[0](a + t) * laws[1](b + t) * laws[2](t) for t in (low + wide / 3, high - wide / 3))
            here = (wide > 1e-9) & (first > 0) & (last > 0)
            slope = np.where(here, np.log(np.where(here, last / np.where(here, first, 1), 1)), 0) * 3
            grown = np.where(np.abs(slope) > 1e-9, np.expm1(slope) / np.where(slope == 0, 1, slope), 1)
            total += np.where(here, first * np.exp(-slope / 3) * grown * wide, 0)
        return total

    return density


def apart(first: Any, second: Any) -> Callable[[Array, Array], Array]:
    return lambda a, b: first(a) * second(b)


PAIRS = {
    pair: lambda x: apart(of("laplace", x, 1), of("laplace", -x, 2)),
    with_difference: lambda x: apart(of("laplace", x, 1), of("laplace", -x, 2)),
    totals: lambda x: lambda a, b: of("laplace", x, 2)(a) * of("laplace", x, 1)(b - a),
    gaps: lambda x: shared([of("laplace", x, 1), of("laplace", 0, 1), of("laplace", 0, 1)], [[x], [0], [0]]),
    one_sided_gaps: lambda x: shared(
        [of("exponential", x, 1), of("exponential", 2, 1), of("exponential", 0, 2)], [[x], [2], [0]]
    ),
    gaps_to_uniform: lambda x: shared(
        [of("laplace", x, 1), of("laplace", 0, 2), of("uniform", 0, 1)], [[x], [0], [0, 1]]
    ),
}


def excess(made: Mechanism, t: float, fine: int = 16, wide: int = 24) -> float:
    """Sum max(0, P - t·Q) over a grid, for the worse one of both pairs of neighbours."""
    line = (np.arange(-wide * fine, wide * fine) + 0.5) / fine
    a, b = np.meshgrid(line, line)
    of_0, of_1 = (PAIRS[made](x)(a, b) for x in (0, 1))
    return float(max(np.maximum(0, p - t * q).sum() for p, q in ((of_0, of_1), (of_1, of_0)))) / fine**2


@pytest.mark.one_in(4)
@pytest.mark.parametrize("made", [pair, with_difference, totals, one_sided_gaps])
def test_a_delta_is_exact_where_densities_cross_on_a_line(made: Mechanism) -> None:
    instance = made.bind(n=1)
    assert instance.privacy().exp_epsilon == exp(Fraction(3, 2))
    exact, enclosed = instance.delta(epsilon="1/2"), instance.delta(exp_epsilon="3/2")
    assert (exact.status, enclosed.status) == ("exact", "bounded")
    assert 0 < enclosed.delta - enclosed.lower < 1e-20
    assert float(exact.delta) == pytest.approx(excess(made, math.exp(0.5)), abs=5e-4)
    assert float(enclosed.delta) == pytest.approx(excess(made, 1.5), abs=5e-4)
    least = instance.privacy(delta=enclosed.delta)
    assert float(least.exp_epsilon) == pytest.approx(1.5, rel=1e-9)
    assert 0 < least.exp_epsilon - least.lower < 1e-9


def test_a_delta_of_two_numbers_is_that_of_a_formula() -> None:
    assert pair.bind(n=1).delta(epsilon="1/2").delta == 1 - Fraction(5, 4) * exp(Fraction(-1, 2))


def test_gaps_to_a_noisy_threshold_approach_their_largest_ratio() -> None:
    found = gaps.bind(n=1).privacy()
    assert (found.status, found.exp_epsilon, found.attained) == ("exact", exp(1), False)


@pytest.mark.slow(seconds=4)
@pytest.mark.parametrize("made", [gaps, pytest.param(gaps_to_uniform, marks=pytest.mark.slow(seconds=4))])
def test_where_densities_cross_on_a_curve_a_delta_is_enclosed(made: Mechanism) -> None:
    instance = made.bind(n=1)
    for t in ("3/2", "9/5"):
        found = instance.delta(exp_epsilon=t)
        assert found.status == "bounded"
        assert 0 < found.delta - found.lower < 1e-9
        assert float(found.delta) == pytest.approx(excess(made, float(Fraction(t))), abs=5e-4)


@pytest.mark.slow(seconds=8)
def test_an_epsilon_at_a_delta_of_gaps_is_enclosed() -> None:
    instance = gaps.bind(n=1)
    least = instance.privacy(delta="1/10")
    assert 0 < least.exp_epsilon - least.lower < 1e-9
    assert instance.delta(exp_epsilon=least.lower).delta >= Fraction(1, 10)
    assert instance.delta(exp_epsilon=least.exp_epsilon).delta <= Fraction(1, 10)


@mechanism(record=Bit)
def gaps_of_all(x):
    t = laplace(0, 1)
    return tuple(laplace(each, 1) - t for each in x)


@mechanism(record=Bit, neighbours="unit-all")
def mixed_gaps(x):
    t = laplace(0, 3)
    return tuple(laplace(each if flip("1/2") else 0, 2) - t for each in x)


@mechanism(record=Bit, neighbours="unit-all")
def top_and_gap(x, eps):
    noisy = [laplace(each, 2 / eps) for each in x]
    index = noisy.index(max(noisy))
    return index, noisy[index] - max(noisy[at] for at in range(len(x)) if at != index)


@pytest.mark.parametrize("n", [2, 3, pytest.param(5, marks=pytest.mark.slow(seconds=5))])
def test_moved_draws_and_limits_far_out_meet(n: int) -> None:
    found = gaps_of_all.bind(n=n).privacy()
    assert (found.status, found.exp_epsilon, found.attained) == ("exact", exp(1), False if n < 5 else None)


def test_a_largest_gap_beside_its_index_is_a_function_of_an_unknown_scale() -> None:
    """Free gap (Ding and others 2019): the gap costs nothing. Its witness moves the gap, not the index."""
    found = top_and_gap.bind(n=2, eps="?").privacy()
    assert [str(part.value) for part in found.pieces] == ["exp(x)"]
    single = top_and_gap.bind(n=3, eps=1).privacy()
    assert (single.status, single.exp_epsilon, single.witness.direction[0]) == ("exact", exp(1), 0)


@pytest.mark.slow(seconds=4)
def test_ratios_on_a_grid_are_between_both_ends() -> None:
    """(1 + e^(1/2))/(1 + e^(-1/2)): coins in front of draws keep moved draws from meeting limits far out."""
    found = mixed_gaps.bind(n=2).privacy()
    assert (found.status, found.exp_epsilon) == ("exact", exp(Fraction(1, 2)))
    line = (np.arange(-60, 60) + 0.5) / 2
    a, b = np.meshgrid(line, line)

    def density(x: tuple[int, int]) -> Array:
        centres = [(first, second) for first in (0, x[0]) for second in (0, x[1])]
        laws = [[of("laplace", c, 2) for c in each] + [of("laplace", 0, 3)] for each in centres]
        return sum(shared(law, [[c], [d], [0]])(a, b) for law, (c, d) in zip(laws, centres, strict=True))

    densities = {x: density(x) for x in itertools.product((0, 1), repeat=2)}
    largest = max((densities[x] / densities[y]).max() for x, y in itertools.permutations(densities, 2))
    assert math.exp(0.5) * 0.97 < largest < math.exp(0.5) * (1 + 1e-6)


@pytest.mark.slow  # a hundred seconds: conditions cut space into many simplices
def test_what_takes_too_many_steps_is_enclosed() -> None:
    found = mixed_gaps.bind(n=3).privacy()
    assert found.status == "bounded"
    assert 1.95 < float(found.lower) < float(found.upper) < 2.06


def test_simplices_cover_space_once() -> None:
    """The integral of a density over all of them is 1, wherever space is cut."""
    rows = [(((0, 1), (1, -1)), 2), (((0, 1),), 1), (((0, 2), (1, 1), (2, 1)), Fraction(1, 3)), (((2, -1), (1, 3)), 0)]
    for dimension, used in ((2, rows[:2]), (3, rows)):
        every = [*used, *((((v, 1),), 0) for v in range(dimension))]
        parts = [part for part, _ in divided([[frozenset()], [frozenset([row]) for row in every]], dimension)]
        over = [part for part in parts if min(part.inside) > 0]
        function = {((fmpq(-1), 1), *((fmpq(-1, 2), 0),) * (dimension - 1)): Fraction(1, 2 ** (dimension - 1))}
        found = [integral(on_simplex(function, part), part.bounded) * as_fraction(part.volume) for part in over]
        assert sum(found) == 1


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(24))
def test_a_place_is_in_one_simplex_where_the_same_conditions_hold(seed: int) -> None:
    draw = random.Random(seed)
    dimension = draw.choice((2, 3, 4))
    rows: list[Row] = []
    for _ in range(draw.randrange(1, 9 - dimension)):
        names = sorted(draw.sample(range(dimension), draw.choice((1, 2, 2))))
        rows.append((tuple((v, draw.choice((1, -1, 2))) for v in names), Fraction(draw.randrange(-6, 7), 2)))
    both = [[frozenset(draw.sample(rows, draw.randrange(min(3, len(rows)) + 1))) for _ in range(3)] for _ in "pq"]
    parts = divided(both, dimension)
    steps = [
        fmpq_mat(dimension, dimension, [c for line in zip(*s.columns, strict=True) for c in line]).inv()
        for s, _ in parts
    ]
    for _ in range(20):
        place = [Fraction(draw.randrange(-40_000, 40_000), 4001) for _ in range(dimension)]
        found = []
        for (simplex, held), inverse in zip(parts, steps, strict=True):
            away = [as_fmpq(p) - r for p, r in zip(place, simplex.vertices[0], strict=True)]
            lengths = (inverse * fmpq_mat(dimension, 1, away)).entries()
            if min(lengths) > 0 and sum(lengths[: simplex.bounded], fmpq(0)) < 1:
                found.append([set(each) for each in held])
        expected = [
            {at for at, system in enumerate(each) if all(sum(c * place[v] for v, c in n) <= b for n, b in system)}
            for each in both
        ]
        assert found == ([expected] if expected[0] else [])


@pytest.mark.slow(seconds=4)
def test_corners_of_gaps_that_are_compared_with_a_margin_are_integers() -> None:
    """The adaptive sparse vector with free gaps (Ding and others 2019), of queries that are -1 or 1."""

    def told(x):
        t, found = laplace(0, 2), []
        for each in x:
            top, middle = laplace(2 * each - 1, 4), laplace(2 * each - 1, 4)
            gap = top - t if top - t > 16 else middle - t
            found.append(gap if gap > 0 else None)
        return tuple(found)

    found = mechanism(told, record=Bit).bind(n=2).privacy()
    assert (found.status, found.exp_epsilon, found.attained) == ("exact", exp(Fraction(1, 2)), False)


def test_draws_may_be_moved_further_than_doubles_reach() -> None:
    one = Bases(Fraction(1))
    everywhere = ((None, Fraction(0), one.of(exp(1))), (Fraction(0), None, one.of(exp(-1))))
    above = ((Fraction(0), None, one.of(exp(-1))),)
    assert moving._most(everywhere, above, Fraction(10**400), True) == math.inf


@pytest.mark.slow(seconds=4)
def test_many_regions_are_enclosed_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deltas, "MOST_WORK", 400_000)
    asked = [gaps.bind(n=1).delta(exp_epsilon="6/5")]
    monkeypatch.setattr(kinds, "_FEW_REGIONS", 0)
    asked.append(gaps.bind(n=1).delta(exp_epsilon="6/5"))
    assert max(each.lower for each in asked) <= min(each.delta for each in asked)
    assert all(each.delta - each.lower < 1e-4 for each in asked)


def test_without_work_the_ratio_of_moved_draws_is_an_upper_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deltas, "MOST_WORK", 0)
    found = gaps.bind(n=1).privacy(delta="1/50")
    assert found.status == "bounded"
    assert 1 < found.lower < found.upper == exp(1)


def test_a_function_that_is_negative_on_an_edge_alone_is_not_shown_to_be_positive() -> None:
    # (e^v - 8/5)^2 - 1/10 on the edge u = 0, less on it than at its ends; terms differ by the rate of u alone
    on_edge, rising = (Fraction(123, 50), Fraction(-16, 5), Fraction(1)), Fraction(1, 100)
    keys = [[((fmpq(u), 0), (fmpq(v), 0)) for v in range(3)] for u in range(2)]
    first = {key: c - rising for key, c in zip(keys[0], on_edge, strict=True)}
    second = dict.fromkeys(keys[1], rising)
    for function in (first | second, second | first):
        assert not joint._Proof(lambda: None).never_negative(function, 2)
    above = {key: c + Fraction(1, 5) for key, c in zip(keys[0], on_edge, strict=True)}
    assert joint._Proof(lambda: None).never_negative(above | second, 2)


@pytest.mark.slow(seconds=2)
def test_gaps_of_the_two_largest_have_a_tight_ratio_where_nobody_sees_whose_they_are() -> None:
    def two_gaps(x):
        low, middle, high = sorted(laplace(each, 4) for each in x)
        return high - middle, middle - low

    bound = mechanism(two_gaps, record=Bit).bind(n=3).engine.program.bound
    pair = (0, 0, 0), (1, 0, 0)
    comparing = Comparing(cell_laws(bound, lambda: None, pair), lambda: None)
    found = comparing.largest([pair, pair[::-1]])
    assert found is not None
    assert found.attained is False  # at one place only
    assert comparing.upper == 0
    assert float(found.value) == pytest.approx(1.05144631513698, rel=1e-12)  # the largest on a grid, at (0, 0)


@pytest.mark.parametrize("width", [1, 3, Fraction(5, 2), 49])
def test_uniform_noise_around_noise_has_a_rational_density(width: Fraction | int) -> None:
    def around(x, width):
        place = uniform(x[0], x[0] + 1)
        return uniform(place, place + width) > 1

    asked = mechanism(around, record=Bit).bind(n=1, width=width)
    for x, none in (((0,), Fraction(1, 2)), ((1,), Fraction(0))):
        law = dict(asked.distribution(x).law)
        assert law.get(False, 0) == none / width  # ∫ (1 - u)/width du over the places below 1
        assert all(isinstance(mass, Fraction) for mass in law.values())
