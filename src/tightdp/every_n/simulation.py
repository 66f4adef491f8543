"""Simulation: a matrix A that turns the run on x' into a bound on the run on x, found in floats and checked exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from flint import fmpq

from tightdp.every_n.chain import Chain, Matrix, Vector, column
from tightdp.exact.enclosure import as_fmpq, as_fraction
from tightdp.exact.linear_program import LinearProgram, Row, approximations, exact_primal

Cell: TypeAlias = tuple[int, int]
_MOST_CELLS = 900
_MOST_ROWS = 40_000


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
    program = _program(cells, sorted(_restricted(wanted, cells), key=repr), chain.finals)
    for near in approximations(program):
        found = exact_primal(program, near)
        matrix: Matrix = {}
        for at, (i, j) in enumerate(cells):
            if found is not None and (value := found.get(at, fmpq(0))):
                matrix.setdefault(i, {})[j] = as_fraction(value)
        simulation = Simulation(chain, matrix)
        if found is not None and simulation.holds():
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


def _program(cells: list[Cell], rows: list[Inequality], finals: Sequence[Vector]) -> LinearProgram:
    """Return the program for the least R, whose unknowns are the entries and R - 1."""
    at, last = {cell: number for number, cell in enumerate(cells)}, len(cells)
    program = LinearProgram(last + 1, {last: fmpq(-1)})
    for each in rows:
        below, above = ({at[cell]: as_fmpq(value) for cell, value in side} for side in (each.below, each.above))
        terms = {**below, **{column: -value for column, value in above.items()}}
        program.rows.append(Row(terms, as_fmpq(-each.least)))
    for final in finals:
        for i, least in final.items():
            terms = {at[i, k]: as_fmpq(value) for k, value in final.items() if (i, k) in at}
            program.rows.append(Row({**terms, last: as_fmpq(-least)}, as_fmpq(least)))
    return program


def solution(wanted: dict[Any, Any], given: dict[int, dict[Any, Any]]) -> dict[int, Fraction] | None:
    """Return factors with which the sum of the given vectors is, entry by entry, at least the wanted one, or None.

    The caller checks the inequalities.
    """
    if not given:
        return None
    units = {at: Fraction(1, max(map(abs, each.values()))) for at, each in given.items()}
    size = Fraction(max(map(abs, wanted.values()), default=0) or 1)
    program = LinearProgram(len(given), {column: fmpq(-1) for column in range(len(given))})
    for key in sorted({*wanted, *(key for each in given.values() for key in each)}, key=repr):
        shares = ((column, units[at] * each[key]) for column, (at, each) in enumerate(given.items()) if each.get(key))
        terms = {column: as_fmpq(-share) for column, share in shares}
        program.rows.append(Row(terms, as_fmpq(-wanted.get(key, 0) / size)))
    found = (exact_primal(program, near) for near in approximations(program))
    values = next((each for each in found if each is not None), None)
    if values is None:
        return None
    factors = {at: as_fraction(values.get(column, fmpq(0))) for column, at in enumerate(given)}
    return {at: factor * units[at] * size for at, factor in factors.items() if factor}
