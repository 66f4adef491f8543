"""Noise on the reals, and on all integers in ways that no finite program has, where outputs are finitely many.

The algebra of `cells` knows the probability of every output on every dataset: questions about laws are asked of these.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from tightdp.exact.field import Number
from tightdp.exact.whole import lcm
from tightdp.language.outputs import Output
from tightdp.language.program import Dataset
from tightdp.logic.count import Weights
from tightdp.methods.base import Comparison, Control, Pair, Refusal, on_table
from tightdp.methods.by_datasets import Exhaustive
from tightdp.methods.by_runs import ListedTable
from tightdp.methods.program import Program
from tightdp.methods.ranking import alike_pairs
from tightdp.symmetry.sets import Table


class CellsTable(ListedTable):
    """The output laws that the algebra finds."""

    def __init__(self, program: Program, control: Control, known: dict[Dataset, dict[Output, Number]]) -> None:
        super().__init__(program.bound, control)
        self._known, self._orbits = known, program.contents
        self._parts = cache(lambda mass: mass.as_integer_ratio())  # laws have many numbers in common
        self._over = cache(lambda mass, scale: self._parts(mass)[0] * (scale // self._parts(mass)[1]))

    def _counted(self, x: Dataset) -> Weights:
        law = self._known[x if self._orbits is None else self._orbits.standing_for(x)]
        total = lcm(*{self._parts(mass)[1] for mass in law.values()})
        by_code = {self.codes.code(output): self._over(mass, total) for output, mass in law.items() if mass}
        return Weights(dict(sorted(by_code.items())), total)


class Cells(Exhaustive):
    """All datasets and pairs of neighbours, with laws by algebra; up to the order of records where that is known."""

    name = "cells"

    def laws(self, control: Control) -> Table:
        known = finite_laws(self.program, control)
        assert known is not None
        table: Table = self.program.once("cells table", lambda: CellsTable(self.program, control, known))
        return table

    def comparison(self, control: Control) -> Comparison | Refusal:
        orbits = self.program.contents
        if orbits is None:
            return super().comparison(control)
        return on_table(self.laws(control), orbits.privacy_set(), control)

    def in_order(self, control: Control) -> Iterator[Pair] | Refusal:
        groups = [] if self.program.contents is None else [range(self.program.bound.n)]
        return alike_pairs(self.program.bound, self.laws(control), groups)


def finite_laws(program: Program, control: Control) -> dict[Dataset, dict[Output, Number]] | None:
    """Return the laws by algebra where outputs are finitely many, None where another method is to answer."""
    found = program.cells(control)
    return None if found is None else program.once("finite laws", found.laws.finite)


def look(program: Program, control: Control, budget: int) -> Cells | Refusal:
    """Return the method where the algebra has the laws, and outputs are finitely many."""
    if finite_laws(program, control) is None:
        return Refusal("cells: the program is finite, or noisy numbers are published")
    return Cells(program)
