"""Integrals of positive parts over simplices, in doubles, beside fine sums over points of a simplex."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb, fmpq

from tightdp.cells import doubles, excess, suprema
from tightdp.cells.simplices import Function


def drawn(dimension: int, degree: int, seed: int) -> tuple[Function, Function]:
    """Return a function that changes its sign, and a positive one."""
    rng = random.Random(seed)

    def terms(coefficients: list[int]) -> Function:
        found: Function = {}
        for c in coefficients:
            rates = (fmpq(rng.randint(-6, 6), rng.randint(2, 3)) for _ in range(dimension))
            key = tuple((rate, rng.randint(0, degree)) for rate in rates)
            found[key] = found.get(key, arb(0)) + arb(c)
        return found

    return terms([3, -2, 2, -3, 1]), terms([1, 2])


def values(function: Function, points: np.ndarray) -> np.ndarray:
    total = np.zeros(len(points))
    for key, c in function.items():
        each = float(c.mid()) * np.ones(len(points))
        for (rate, degree), line in zip(key, points.T, strict=True):
            each *= np.exp(float(arb(rate).mid()) * line) * line**degree
        total += each
    return total


def by_points(function: Function, other: Function, dimension: int, fine: int) -> tuple[float, float]:
    """Sum over the middles of small simplices that a cube is cut into, by the order of lengths."""
    cube = np.array(list(product((np.arange(fine) + 0.5) / fine, repeat=dimension)))
    ordered = np.sort(cube, axis=1)[:, ::-1]
    lengths = np.concatenate([ordered[:, :-1] - ordered[:, 1:], ordered[:, -1:]], axis=1)
    here = values(function, lengths)
    volume = 1 / math.factorial(dimension) / len(cube)
    return float(np.maximum(here, 0).sum()) * volume, float(values(other, lengths)[here > 0].sum()) * volume


def positive(function: Function, other: Function, close: float, work: int = 12_000_000) -> tuple[arb, arb]:
    search = doubles.Search([doubles.Piece(function, other, fmpq(1))])
    while search.unsure > close and search.work < work:
        search.step()
    return search.ours(), search.theirs()


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("dimension", "degree"), [(2, 0), (2, 1), (2, 2), (3, 0), (3, 1)])
@pytest.mark.parametrize("seed", range(2))
def test_positive_parts_are_enclosed(dimension: int, degree: int, seed: int) -> None:
    function, other = drawn(dimension, degree, seed)
    close = 2.0**-14 if dimension == 2 else 2.0**-8
    ours, theirs = positive(function, other, close)
    ours_near, theirs_near = by_points(function, other, dimension, {2: 300, 3: 40}[dimension])
    assert ours.rad() < close
    assert float(ours.mid()) == pytest.approx(ours_near, rel=2e-3, abs=float(ours.rad()) + 1e-5)
    assert float(theirs.mid()) == pytest.approx(theirs_near, rel=2e-2, abs=float(theirs.rad()) + 1e-5)


def test_positive_parts_of_a_difference_of_exponentials() -> None:
    """On the half of a triangle where x > y the integral of e^x - e^y is e + 4 - 4e^(1/2)."""
    zero, one = (fmpq(0), 0), (fmpq(1), 0)
    function, other = {(one, zero): arb(1), (zero, one): arb(-1)}, {(zero, zero): arb(1)}
    ours, theirs = positive(function, other, 2.0**-34)
    assert ours.contains(arb(1).exp() + 4 - 4 * arb(0.5).exp())
    assert ours.rad() < 2.0**-34
    assert theirs.contains(arb(0.25))


def test_more_work_brings_both_ends_together() -> None:
    function, other = drawn(3, 0, 1)
    less, more = (positive(function, other, 0.0, work)[0] for work in (20_000, 200_000))
    assert less.rad() > 4 * more.rad()
    assert less.overlaps(more)


def test_regions_of_different_dimensions_are_added_up() -> None:
    """Kinds of outputs may have two and three real numbers, as answers above a threshold do."""
    cases = []
    for dimension in (2, 3):
        function, other = drawn(dimension, 0, 1)
        p, q = ({key: Fraction(round(float(c.mid()))) for key, c in each.items()} for each in (function, other))
        cases.append((suprema.difference(p, q, Fraction(-1)), q, (dimension, fmpq(1))))
    *apart, together = (excess.Excess(each, Fraction(1), lambda: None) for each in (cases[:1], cases[1:], cases))
    for each in (*apart, together):
        while each.unsure > 2.0**-6:
            each.step()
    assert together.integrals()[0].overlaps(sum((each.integrals()[0] for each in apart), arb(0)))
