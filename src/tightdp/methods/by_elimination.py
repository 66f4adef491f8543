"""Going through all datasets with laws found by elimination along the core program, without a diagram."""

from __future__ import annotations

from tightdp.errors import ProgramError, QueryError
from tightdp.methods.base import Comparison, Refusal, on_table
from tightdp.methods.by_datasets import Exhaustive
from tightdp.methods.control import Control
from tightdp.methods.elimination import TooMuchWork
from tightdp.methods.elimination_plan import TooWide
from tightdp.methods.elimination_table import EliminationTable
from tightdp.methods.program import FEW_DATASETS, Program
from tightdp.symmetry.sets import Table, every_dataset, every_neighbouring_pair

__all__ = ["Eliminated", "look"]

MOST_WORK = 400_000
"""How many rows elimination may make for all datasets together."""


class Eliminated(Exhaustive):
    """All pairs of neighbours, with all laws there beforehand."""

    name = "elimination"

    def __init__(self, program: Program, table: EliminationTable) -> None:
        super().__init__(program)
        self.table = table

    def laws(self, control: Control) -> Table:
        """Return the laws; those of a part of a program are taken from its diagram, which a query keeps."""
        return super().laws(control) if self.program.forced is None else self.table

    def comparison(self, control: Control) -> Comparison | Refusal:
        return on_table(self.table, every_neighbouring_pair(self.program.bound), control)


def look(program: Program, control: Control) -> Eliminated | Refusal:
    """Return the method for one client that is part of a program, and where it is asked for by name.

    The laws of all datasets must take little work.
    """
    if program.forced is None and (program.given is None or program.bound.n > 1):
        return Refusal("elimination: this is not one independent client")
    if program.datasets > FEW_DATASETS:
        return Refusal(f"elimination: there are more than {FEW_DATASETS} datasets")
    core = program.core(control)
    return program.once("elimination", lambda: _made(program, EliminationTable(program.bound, core, watch=control)))


def _made(program: Program, table: EliminationTable) -> Eliminated | Refusal:
    table.budget = MOST_WORK
    try:
        for x in every_dataset(program.bound):
            table.weights(x)
    except (TooMuchWork, TooWide):
        return Refusal(f"elimination: the laws of all datasets take more than {MOST_WORK:,} rows")
    except (ProgramError, QueryError):
        return Refusal("elimination: a run can fail, which the whole program tells better")
    return Eliminated(program, table)
