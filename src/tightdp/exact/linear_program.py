"""Linear programs with rational coefficients: HiGHS finds in floats which rows and columns matter, rationals decide.

The floats are refined: what is left of the sides, bounds and gains, computed exactly, is a program of its own with the
same matrix, which is scaled up and solved in floats again (Gleixner, Steffy and Wolter, Iterative refinement for linear
programming, INFORMS Journal on Computing 2016). A vertex is fixed by the rows that are tight in it and the columns that
are positive in it; the dual one by the rows with a multiplier and the columns without reduced gain. Approximations only
say which these are: both systems of equations are solved exactly. Where the solver ends within a face the equations
leave some unknowns open, which are taken as the approximation has them. Whether what comes out is feasible and optimal
is for the caller to check, exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import TypeAlias

import numpy as np
from flint import fmpq, fmpq_mat
from scipy.optimize import linprog
from scipy.sparse import coo_matrix, csr_matrix

from tightdp.exact.enclosure import as_fmpq
from tightdp.limits.calibrated import DENSE_SYSTEM, REFINEMENTS

Control: TypeAlias = "Callable[[], None]"
"""Raises LimitError where a limit is met."""
Values: TypeAlias = "dict[int, fmpq]"
"""What unknowns are, by number; 0 for those that are left out."""
Terms: TypeAlias = "Mapping[int, fmpq]"
"""Coefficients by column; those that are 0 are left out."""

_TOLERANCES = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
_STEP_BITS = 30
"""By so many bits at most each refinement scales up what is left."""
_WAYS = (("highs-ds", True), ("highs-ds", False), ("highs-ipm", True))
"""Methods of HiGHS, one after the other where it gives up, and whether its presolve is used first of all, not later."""
_STEPS = 10
"""Steps of a method for every row and column, after which it gives up."""
_LESS = (0, 6, 12, 18)
"""By so many bits less, where the solver gives up."""
_MARGIN = 1 << 10
"""How many times the error of an approximation its numbers may be off."""
_ENDLESS = fmpq(10**19)
"""Sides and bounds beyond this do not bind: HiGHS takes 1e20 for infinite."""


_INFEASIBLE = 2
"""The status of a program without a point."""


class _NoPoint(Exception):
    """The rows contradict each other, as far as floats see."""


def no_limit() -> None:
    """Set no limit."""


@dataclass(frozen=True)
class Row:
    """The row Σ coefficient·column <= bound, or = bound where it is `tight` by nature."""

    terms: Terms
    bound: fmpq
    tight: bool = False


@dataclass
class LinearProgram:
    """Maximise gain·z over columns z >= 0 within rows."""

    columns: int
    gain: Terms
    rows: list[Row] = field(default_factory=list)


@dataclass
class Approximation:
    """A point and multipliers of the rows, and what is left of the rows and the gains: exact numbers, all of them.

    The columns of the program are followed by one for the slack of each row that is not tight by nature.
    """

    point: list[fmpq]
    multipliers: list[fmpq]
    left: list[fmpq]
    """What is missing in each row."""
    gain: list[fmpq]
    """The gain of every column, less what the multipliers take."""

    @cached_property
    def primal_error(self) -> fmpq:
        """By how much the point breaks rows and bounds."""
        return max(max(map(abs, self.left)), -min(self.point))

    @cached_property
    def dual_error(self) -> fmpq:
        """By how much gains are left."""
        return max(*self.gain, fmpq(0))


def approximations(program: LinearProgram, control: Control = no_limit) -> Iterator[Approximation]:
    """Yield better and better approximations of an optimal point and its multipliers, until the solver gives up."""
    matrix = _matrix(program)
    found = _measured(program, [fmpq(0)] * matrix.shape[1], [fmpq(0)] * len(program.rows))
    up = down = 1
    for _ in range(REFINEMENTS):
        control()
        scales = dict.fromkeys((max(up >> less, 1), max(down >> less, 1)) for less in _LESS)
        tries = (_refined(program, matrix, found, scale, way) for scale, way in product(scales, _WAYS))
        try:
            better = next((each for each in tries if each is not None), None)
        except _NoPoint:
            return
        if better is None:
            return
        found = better
        yield found
        up, down = _scale(up, found.primal_error), _scale(down, found.dual_error)


def _refined(
    program: LinearProgram, matrix: csr_matrix, known: Approximation, scales: tuple[int, int], way: tuple[str, bool]
) -> Approximation | None:
    """Return the next approximation, by what is left of one, scaled up; None where the solver gives up."""
    up, down = scales
    solved = _solved(matrix, known, up, down, way)
    if solved is None:
        return None
    point = [_moved(value, step, up) for value, step in zip(known.point, solved[0], strict=True)]
    multipliers = [value + as_fmpq(step) / down for value, step in zip(known.multipliers, solved[1], strict=True)]
    return _measured(program, point, multipliers)


def _slack_columns(program: LinearProgram) -> dict[int, int]:
    """Return the column of the slack of every row that has one: they come after those of the program."""
    loose = (at for at, row in enumerate(program.rows) if not row.tight)
    return {at: column for column, at in enumerate(loose, start=program.columns)}


def _matrix(program: LinearProgram) -> csr_matrix:
    entries = [
        (at, column, _float(value)) for at, row in enumerate(program.rows) for column, value in row.terms.items()
    ]
    slacks = _slack_columns(program)
    at, columns, values = zip(*entries, *((row, column, 1.0) for row, column in slacks.items()), strict=True)
    return coo_matrix((values, (at, columns)), shape=(len(program.rows), program.columns + len(slacks))).tocsr()


def _solved(
    matrix: csr_matrix, known: Approximation, up: int, down: int, way: tuple[str, bool]
) -> tuple[list[float], list[float]] | None:
    """Solve in floats for what is left of an approximation, scaled up: columns and multipliers."""
    least = np.array([-_float(value * up) for value in known.point])
    found = linprog(
        np.array([-_float(value * down) for value in known.gain]),
        A_eq=matrix,
        b_eq=np.array([_float(value * up) for value in known.left]),
        bounds=np.column_stack([least, np.full(len(least), np.inf)]),
        method=way[0],
        options={**_TOLERANCES, "presolve": way[1] == (up == 1), "maxiter": _STEPS * sum(matrix.shape)},
    )
    if found.status == _INFEASIBLE and up == 1:
        raise _NoPoint
    if found.x is None or found.status:
        return None
    return np.where(found.x == least, -np.inf, found.x).tolist(), (-found.eqlin.marginals).tolist()


def _moved(value: fmpq, step: float, up: int) -> fmpq:
    """Return a column that moved by a scaled step; to 0 where it moved to its end."""
    return fmpq(0) if step == -np.inf else value + as_fmpq(step) / up


def _measured(program: LinearProgram, point: list[fmpq], multipliers: list[fmpq]) -> Approximation:
    gain = [fmpq(0)] * len(point)
    for column, value in program.gain.items():
        gain[column] = value
    left = [row.bound for row in program.rows]
    for at, (row, multiplier) in enumerate(zip(program.rows, multipliers, strict=True)):
        for column, value in row.terms.items():
            left[at] -= value * point[column]
            gain[column] -= value * multiplier
    for at, column in _slack_columns(program).items():
        left[at] -= point[column]
        gain[column] -= multipliers[at]
    return Approximation(point, multipliers, left, gain)


def _scale(before: int, error: fmpq) -> int:
    """Return by what is multiplied next: the inverse of the error, a power of two, but not much more than before."""
    most = before << _STEP_BITS
    return most if error * most <= 1 else max(before, 1 << max(0, int(1 / error).bit_length() - 1))


def _float(value: fmpq) -> float:
    """Round to a float; what is too large to bind stays so."""
    if abs(value) > _ENDLESS:
        return 1e21 if value > 0 else -1e21
    return int(value.p) / int(value.q)


def exact_primal(program: LinearProgram, near: Approximation, control: Control = no_limit) -> dict[int, fmpq] | None:
    """Return the point at which the rows without slack are tight and the columns at zero are zero; None for none."""
    least, slacks = near.primal_error * _MARGIN, _slack_columns(program)
    equations = (
        ({column: value for column, value in row.terms.items() if near.point[column] > least}, row.bound)
        for at, row in enumerate(program.rows)
        if row.tight or near.point[slacks[at]] <= least
    )
    return solve_equations(equations, near.point, control)


def exact_dual(program: LinearProgram, near: Approximation, control: Control = no_limit) -> Values | None:
    """Return the multipliers by row with which the columns without reduced gain balance exactly; None for none."""
    least = near.dual_error * _MARGIN
    terms: dict[int, dict[int, fmpq]] = {column: {} for column in range(program.columns) if near.gain[column] >= -least}
    for at, (row, multiplier) in enumerate(zip(program.rows, near.multipliers, strict=True)):
        if abs(multiplier) > least:
            for column, value in row.terms.items():
                if column in terms:
                    terms[column][at] = value
    equations = ((each, program.gain.get(column, fmpq(0))) for column, each in terms.items())
    return solve_equations(equations, near.multipliers, control)


def solve_equations(
    equations: Iterable[tuple[Terms, fmpq]], near: Sequence[fmpq], control: Control = no_limit
) -> Values | None:
    """Return the solution of sparse linear equations in which unknowns that are open are as in `near`; None for none.

    Unknowns are eliminated in the shortest equation there is, until what is left is dense. With at most DENSE_SYSTEM
    unknowns, numbers may be of any field.
    """
    system = _System(equations)
    if not system.eliminate(control):
        return None
    return system.solution(near)


class _System:
    """Sparse equations under elimination: rows by number, and the rows in which every unknown stands."""

    def __init__(self, equations: Iterable[tuple[Terms, fmpq]]) -> None:
        self.rows: dict[int, dict[int, fmpq]] = {}
        self.right: dict[int, fmpq] = {}
        self.where: dict[int, set[int]] = {}
        self.done: list[tuple[int, dict[int, fmpq], fmpq]] = []
        for at, (terms, bound) in enumerate(equations):
            self.rows[at] = {unknown: value for unknown, value in terms.items() if value}
            self.right[at] = bound
            for unknown in self.rows[at]:
                self.where.setdefault(unknown, set()).add(at)
        self.unknowns = set(self.where)
        self._by_length: dict[int, set[int]] = {}
        for at, row in self.rows.items():
            self._by_length.setdefault(len(row), set()).add(at)

    def eliminate(self, control: Control) -> bool:
        """Eliminate while equations are short; false where they contradict each other."""
        while self.rows:
            control()
            shortest = min(length for length, rows in self._by_length.items() if rows)
            if shortest > DENSE_SYSTEM:
                break
            at = next(iter(self._by_length[shortest]))
            if not shortest:
                if self.right[at]:
                    return False
                self._drop(at)
                continue
            self._pivot(at, min(self.rows[at], key=lambda unknown: len(self.where[unknown])))
        return True

    def _pivot(self, at: int, unknown: int) -> None:
        row, right = self.rows[at], self.right[at]
        inverse = 1 / row[unknown]
        row = {each: value * inverse for each, value in row.items() if each != unknown}
        right = right * inverse
        self._drop(at)
        self.done.append((unknown, row, right))
        for other in self.where.pop(unknown):
            changed = self.rows[other]
            self._by_length[len(changed)].discard(other)
            factor = changed.pop(unknown)
            for each, value in row.items():
                new = changed.get(each, 0) - factor * value
                if new:
                    changed[each] = new
                    self.where[each].add(other)
                elif each in changed:
                    del changed[each]
                    self.where[each].discard(other)
            self.right[other] -= factor * right
            self._by_length.setdefault(len(changed), set()).add(other)

    def _drop(self, at: int) -> None:
        self._by_length[len(self.rows[at])].discard(at)
        for unknown in self.rows.pop(at):
            self.where[unknown].discard(at)

    def solution(self, near: Sequence[fmpq]) -> Values | None:
        """Solve what is left, and put it into what was eliminated."""
        found = self._dense(near)
        if found is None:
            return None
        for unknown, row, right in reversed(self.done):
            known = (value * found.setdefault(each, near[each]) for each, value in row.items())
            found[unknown] = right - sum(known)
        return found

    def _dense(self, near: Sequence[fmpq]) -> Values | None:
        unknowns = sorted({unknown for row in self.rows.values() for unknown in row})
        if not unknowns:
            return {}
        table = [[*(row.get(each, fmpq(0)) for each in unknowns), self.right[at]] for at, row in self.rows.items()]
        reduced, rank = fmpq_mat(table).rref()
        size = len(unknowns)
        pivots = [next(column for column in range(size + 1) if reduced[at, column]) for at in range(rank)]
        if size in pivots:
            return None
        open_ = [column for column in range(size) if column not in set(pivots)]
        found = {unknowns[column]: near[unknowns[column]] for column in open_}
        for at, column in enumerate(pivots):
            known = (reduced[at, each] * found[unknowns[each]] for each in open_)
            found[unknowns[column]] = reduced[at, size] - sum(known, fmpq(0))
        return found
