"""Simulation: a matrix A that turns the run on x' into a bound on the run on x, found in floats and checked exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from flint import fmpq_mat
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from tightdp.every_n.chain import Chain, Matrix, Vector, column
from tightdp.exact.enclosure import as_fmpq, as_fraction

Cell: TypeAlias = tuple[int, int]
_MOST_CELLS = 900
_MOST_ROWS = 40_000
_TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_STEPS = 20
"""The solver takes at most so many steps for each row and column."""
_TIGHT = (1e-9, 1e-7, 1e-11)


@dataclass(frozen=True)
class Inequality:
    """Σ below[c]·A_c + least <= Σ above[c]·A_c."""

    below: tuple[tuple[Cell, Fraction], ...]
    above: tuple[tuple[Cell, Fraction], ...]
    least: Fraction = Fraction(0)

    def slack(self, entries: dict[Cell, Fraction]) -> Fraction:
        """Return the slack of the inequality, negative where it is violated."""
        below = sum((value * entries[cell] for cell, value in self.below if cell in entries), self.least)
        return sum((value * entries[cell] for cell, value in self.above if cell in entries), Fraction(0)) - below


@dataclass(frozen=True)
class Simulation:
    """A matrix A >= 0 that satisfies all inequalities, with the ratio that follows: the largest (A·f)_i / f_i."""

    chain: Chain
    matrix: Matrix

    def ratio(self) -> Fraction | float:
        """Return the least R with A·f <= R·f for every final column."""
        largest: Fraction | float = Fraction(1)
        for final in self.chain.finals:
            for i, value in column(self.matrix, final).items():
                largest = max(largest, value / final[i]) if i in final else math.inf
        return largest

    def holds(self) -> bool:
        """Check every inequality with exact arithmetic."""
        entries = {(i, j): value for i, by in self.matrix.items() for j, value in by.items()}
        return all(value >= 0 for value in entries.values()) and all(
            each.slack(entries) >= 0 for each in inequalities(self.chain)
        )


def inequalities(chain: Chain) -> set[Inequality]:
    """Return what A must satisfy, entry by entry.

    One record changes: M_x(y) <= M_x'(y)·A and A·M_z(y) <= M_z(y)·A. All may change: s <= s·A and
    A·M_x(y) <= M_x'(y)·A.
    """
    found: set[Inequality] = set()
    size = range(chain.size)
    if chain.all_at_once:
        for start in chain.starts:
            for j in size:
                found.add(
                    Inequality((), tuple(((i, j), v) for i, v in sorted(start.items())), start.get(j, Fraction(0)))
                )
    moves = set(chain.moves) if chain.all_at_once else {(x, x) for by in chain.steps.values() for x in by} | set()
    for by in chain.steps.values():
        for old, new in moves:
            left, right = _columns(by.get(old, {})), by.get(new, {})
            for i in size:
                for j in size:
                    below = tuple(((i, k), value) for k, value in left.get(j, ()))
                    above = tuple(((k, j), value) for k, value in sorted(right.get(i, {}).items()))
                    if below:
                        found.add(_simplified(below, above))
        if not chain.all_at_once:
            for old, new in chain.moves:
                for i, entries in by.get(old, {}).items():
                    for j, least in entries.items():
                        others = sorted(by.get(new, {}).get(i, {}).items())
                        found.add(Inequality((), tuple(((k, j), value) for k, value in others), least))
    return {each for each in found if each.below or each.least}


def simulate(chain: Chain) -> Simulation | None:
    """Return a simulation with the least ratio; None where there is none, or it is too large to look for."""
    if chain.size**2 > _MOST_CELLS:
        return None
    wanted = inequalities(chain)
    if len(wanted) > _MOST_ROWS:
        return None
    cells = _not_forced(chain, wanted)
    if cells is None:
        return None
    rows = sorted(_restricted(wanted, cells), key=repr)
    finals = [(final, i) for final in chain.finals for i in final]
    found = _solved(cells, rows, finals)
    if found is None:
        return None
    values, ratio = found
    for tight in _TIGHT:
        entries = _vertex(cells, rows, finals, values, ratio, tight)
        if entries is None:
            continue
        matrix: Matrix = {}
        for (i, j), value in entries.items():
            if value:
                matrix.setdefault(i, {})[j] = value
        simulation = Simulation(chain, matrix)
        if simulation.holds():
            return simulation
    return None


def _columns(matrix: Matrix) -> dict[int, list[tuple[int, Fraction]]]:
    found: dict[int, list[tuple[int, Fraction]]] = {}
    for i, entries in sorted(matrix.items()):
        for j, value in entries.items():
            found.setdefault(j, []).append((i, value))
    return found


def _simplified(below: tuple[tuple[Cell, Fraction], ...], above: tuple[tuple[Cell, Fraction], ...]) -> Inequality:
    """Cancel equal terms on both sides."""
    total: dict[Cell, Fraction] = dict(above)
    for cell, value in below:
        total[cell] = total.get(cell, Fraction(0)) - value
    return Inequality(
        tuple((cell, -value) for cell, value in sorted(total.items()) if value < 0),
        tuple((cell, value) for cell, value in sorted(total.items()) if value > 0),
    )


def _not_forced(chain: Chain, wanted: set[Inequality]) -> list[Cell] | None:
    """Return the entries that the inequalities do not force to be 0; None where they contradict each other."""
    cells = {(i, j) for i in range(chain.size) for j in range(chain.size)}
    for final in chain.finals:
        cells -= {(i, j) for i in range(chain.size) if i not in final for j in final}
    while True:
        gone: set[Cell] = set()
        for each in wanted:
            if not any(cell in cells for cell, _ in each.above):
                if each.least > 0:
                    return None
                gone |= {cell for cell, _ in each.below if cell in cells}
        if not gone:
            return sorted(cells)
        cells -= gone


def _restricted(wanted: set[Inequality], cells: list[Cell]) -> set[Inequality]:
    known = set(cells)
    cut = {
        Inequality(
            tuple(pair for pair in each.below if pair[0] in known),
            tuple(pair for pair in each.above if pair[0] in known),
            each.least,
        )
        for each in wanted
    }
    return {each for each in cut if each.below or each.least}


def _solved(
    cells: list[Cell], rows: list[Inequality], finals: list[tuple[Vector, int]]
) -> tuple[list[float], float] | None:
    """Minimise R in floats."""
    at = {cell: number for number, cell in enumerate(cells)}
    entries: list[tuple[int, int, float]] = []
    bounds: list[float] = []
    for number, each in enumerate(rows):
        entries += [(number, at[cell], float(value)) for cell, value in each.below]
        entries += [(number, at[cell], -float(value)) for cell, value in each.above]
        bounds.append(-float(each.least))
    for number, (final, i) in enumerate(finals, start=len(rows)):
        entries += [(number, at[i, k], float(value)) for k, value in final.items() if (i, k) in at]
        entries.append((number, len(cells), -float(final[i])))
        bounds.append(0.0)
    data, row, place = (
        np.array(part) for part in ([e[2] for e in entries], [e[0] for e in entries], [e[1] for e in entries])
    )
    shape = (len(bounds), len(cells) + 1)
    gain = np.zeros(len(cells) + 1)
    gain[-1] = 1.0
    least = [(0, None)] * len(cells) + [(1, None)]
    system = coo_matrix((data, (row, place)), shape=shape).tocsc()
    options: Any = {**_TOLERANCES, "maxiter": _STEPS * sum(shape)}
    found = linprog(gain, A_ub=system, b_ub=bounds, bounds=least, method="highs-ds", options=options)
    return None if found.x is None else ([float(each) for each in found.x[:-1]], float(found.x[-1]))


def _vertex(
    cells: list[Cell],
    rows: list[Inequality],
    finals: list[tuple[Vector, int]],
    values: list[float],
    ratio: float,
    tight: float,
) -> dict[Cell, Fraction] | None:
    """Return an exact point at which the inequalities that are tight in floats are tight; None where there is none."""
    used = [cell for cell, value in zip(cells, values, strict=True) if value > tight]
    at = {cell: number for number, cell in enumerate(used)}
    floats = dict(zip(cells, values, strict=True))
    system: set[tuple[tuple[int, Fraction], ...]] = set()
    width = len(used) + 1
    for each in rows:
        terms = {at[cell]: value for cell, value in each.above if cell in at}
        terms |= {at[cell]: -value for cell, value in each.below if cell in at}
        slack = sum(float(v) * floats[c] for c, v in each.above) - sum(float(v) * floats[c] for c, v in each.below)
        if abs(slack - float(each.least)) <= tight:
            system.add((*sorted(terms.items()), (width, each.least)))
    for final, i in finals:
        total = sum(float(value) * floats.get((i, k), 0.0) for k, value in final.items())
        if abs(total - ratio * float(final[i])) <= tight:
            terms = {at[i, k]: value for k, value in final.items() if (i, k) in at}
            system.add((*sorted({**terms, width - 1: -final[i]}.items()), (width, Fraction(0))))
    solved = _rational_solution(
        [dict(each) for each in sorted(system, key=repr)], width, [*(floats[c] for c in used), ratio]
    )
    return None if solved is None else {cell: solved[at[cell]] for cell in used}


def _rational_solution(system: list[Vector], width: int, near: list[float]) -> list[Fraction] | None:
    """Return an exact solution of linear equations; free variables are taken from `near`."""
    matrix = fmpq_mat(len(system) or 1, width + 1)
    for i, equation in enumerate(system):
        for j, value in equation.items():
            matrix[i, j] = as_fmpq(value)
    reduced, rank = matrix.rref()
    solution = [Fraction(value).limit_denominator(1 << 20) for value in near]
    pivots = [next(j for j in range(width + 1) if reduced[i, j] != 0) for i in range(rank)]
    if width in pivots:
        return None
    for i in reversed(range(rank)):
        total = as_fraction(reduced[i, width])
        for j in range(pivots[i] + 1, width):
            if reduced[i, j] != 0:
                total -= as_fraction(reduced[i, j]) * solution[j]
        solution[pivots[i]] = total
    return solution


def solution(wanted: dict[Any, Any], given: dict[int, dict[Any, Any]]) -> dict[int, Fraction] | None:
    """Return factors with which the sum of the given vectors is, entry by entry, at least the wanted one, or None.

    Found in floats; the equations among the inequalities are solved in rationals. The caller checks the inequalities.
    """
    keys = sorted({*wanted, *(key for each in given.values() for key in each)}, key=repr)
    if not given:
        return None
    scale = [float(max(map(abs, each.values()))) for each in given.values()]
    table = np.array(
        [[float(each.get(key, 0)) / s for each, s in zip(given.values(), scale, strict=True)] for key in keys]
    )
    right = np.array([float(wanted.get(key, 0)) for key in keys])
    size = max(np.abs(right).max(), 1e-300)
    found = linprog(np.ones(len(given)), A_ub=-table, b_ub=-right / size, method="highs-ds", options=_TOLERANCES)
    if found.x is None:
        return None
    used = [(at, value) for at, value in zip(given, found.x, strict=True) if value > 1e-9]
    slack = table @ found.x - right / size
    system: list[Vector] = []
    for key, gap in zip(keys, slack, strict=True):
        if abs(gap) <= 1e-7:
            row = {column: Fraction(given[at][key]) for column, (at, _) in enumerate(used) if given[at].get(key)}
            system.append({**row, len(used): Fraction(wanted.get(key, 0))})
    exact = _rational_solution(system, len(used), [value for _, value in used])
    return None if exact is None else {at: factor for (at, _), factor in zip(used, exact, strict=True)}
