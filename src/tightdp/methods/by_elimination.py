"""Going through all datasets with laws found by elimination along the core program, without a diagram."""

from __future__ import annotations

from tightdp.core.nodes import CoreProgram
from tightdp.errors import ProgramError, QueryError
from tightdp.methods.base import Comparison, Refusal, on_table
from tightdp.methods.by_datasets import Exhaustive
from tightdp.methods.control import Control
from tightdp.methods.elimination import TooMuchWork
from tightdp.methods.elimination_plan import TooWide
from tightdp.methods.elimination_table import EliminationTable
from tightdp.methods.program import Program
from tightdp.symmetry.sets import Table, every_dataset, every_neighbouring_pair

__all__ = ["Eliminated", "look", "look_thoroughly"]

LITTLE_WORK = 400_000
"""So many rows elimination may make for all datasets together before a diagram is tried."""
MOST_WORK = 8_000_000
"""So many rows it may make where the diagram is large."""


class Eliminated(Exhaustive):
    """All pairs of neighbours, with all laws there beforehand."""

    name = "elimination"

    def __init__(self, program: Program, table: EliminationTable) -> None:
        super().__init__(program)
        self.table = table

    def laws(self, control: Control) -> Table:
        """Return the laws; those of a part of a program are taken from its diagram where it is small."""
        if self.program.given is not None and self.program.forced is None and self.program.small(control):
            return super().laws(control)
        return self.table

    def comparison(self, control: Control) -> Comparison | Refusal:
        return on_table(self.table, every_neighbouring_pair(self.program.bound), control)


def look(program: Program, control: Control) -> Eliminated | Refusal:
    """Return the method where the laws of all datasets take little work."""
    if program.forced is not None:
        return look_thoroughly(program, control)
    return _look(program, control, LITTLE_WORK)


def look_thoroughly(program: Program, control: Control) -> Eliminated | Refusal:
    """Return the method where the laws of all datasets do not take very much work."""
    return _look(program, control, MOST_WORK)


def _look(program: Program, control: Control, budget: int) -> Eliminated | Refusal:
    if program.datasets > budget:
        return Refusal(f"elimination: the laws of all datasets take more than {budget:,} rows")
    if program.forced is None and (program.given is None or program.bound.n > 1) and program.small(control):
        return Refusal("elimination: the diagram is small")
    core = program.core(control)
    return program.once(f"elimination {budget}", lambda: _made(program, core, budget, control))


def _made(program: Program, core: CoreProgram, budget: int, control: Control) -> Eliminated | Refusal:
    table = EliminationTable(program.bound, core, watch=control, budget=budget)
    try:
        for x in every_dataset(program.bound):
            table.weights(x)
    except (TooMuchWork, TooWide):
        return Refusal(f"elimination: the laws of all datasets take more than {budget:,} rows")
    except (ProgramError, QueryError):
        return Refusal("elimination: a run can fail, which the whole program tells better")
    return Eliminated(program, table)
