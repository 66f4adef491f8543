"""Optima that staircase noise has, against noise on a long window and programs in floats."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from tightdp import Int, mechanism
from tightdp.queries.geometric_noise import staircase_kernel

FAR = 60


def mass(away: int, upper: int, width: int, ratio: float) -> float:
    """The mass at a distance, up to a constant."""
    return float(ratio ** (abs(away) // width + (abs(away) % width >= upper)))


def window(last: int, upper: int, width: int, ratio: float) -> Any:
    """Staircase noise around 0..last on a long window."""
    rows = [[mass(z - i, upper, width, ratio) for z in range(-FAR, last + FAR + 1)] for i in range(last + 1)]
    return np.array(rows) / np.sum(rows, axis=1, keepdims=True)


def least_error(noise: Any, last: int, power: int) -> float:
    """The least worst expected error by any post-processing, in floats."""
    places, outputs = noise.shape[1], last + 1
    columns = places * outputs + 1
    above, equal = np.zeros((last + 1, columns)), np.zeros((places, columns))
    for i in range(last + 1):
        errors = [abs(y - i) ** power for y in range(outputs)]
        above[i] = [*np.outer(noise[i], errors).ravel(), -1]
    for z in range(places):
        equal[z, z * outputs : (z + 1) * outputs] = 1
    found = linprog([0.0] * (columns - 1) + [1.0], A_ub=above, b_ub=[0.0] * (last + 1), A_eq=equal, b_eq=[1.0] * places)
    return float(found.fun)


@pytest.mark.parametrize(("last", "widths"), [(1, (1, 1)), (3, (2, 1)), (6, (1, 2)), (2, (3, 0))])
def test_the_noise(last: int, widths: tuple[int, int]) -> None:
    """The outputs taken together have the masses of all that are a whole number of steps further out."""
    found, width = staircase_kernel(last, widths, Fraction(1, 3)), sum(widths)
    assert all(sum(row) == 1 for row in found)
    long = window(last, widths[0], width, 1 / 3)
    for row, masses in zip(found, long, strict=True):
        below = [sum(masses[z + FAR :: -width]) for z in range(1 - width, 1)]
        beyond = [sum(masses[z + FAR :: width]) for z in range(last, last + width)]
        assert [*below, *beyond, *masses[FAR + 1 : FAR + last]] == pytest.approx([float(p) for p in row], abs=1e-9)


@mechanism(record=Int(0, 3), target=lambda x: x[0])
def value(x):
    """One value of 0 to 3."""
    return x[0]


@mechanism(record=Int(0, 2), target=sum)
def total(x):
    return sum(x)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("made", "n", "measure", "power"),
    [(value, 1, "squared error", 2), (value, 1, "absolute error", 1), (total, 2, "absolute error", 1)],
)
def test_where_a_staircase_is_best(made: Any, n: int, measure: str, power: int) -> None:
    found = made.bind(n=n).optimum(exp_epsilon=4, measure=measure)
    last, width = (3, 3) if made is value else (4, 2)
    reached = {
        upper: least_error(window(last, upper, width, 1 / 4), last, power) < found.optimum + Fraction(1, 10**6)
        for upper in range(1, width + 1)
    }
    best = [upper for upper, as_good in reached.items() if as_good]
    assert best == ([] if found.staircase is None else [found.staircase[0]])
    assert ("staircase noise with steps of" in str(found)) == (found.staircase is not None)
