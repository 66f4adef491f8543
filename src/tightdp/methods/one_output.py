"""One dataset: the probability of one output without those of others, and its law without a diagram."""

from __future__ import annotations

from tightdp.core.nodes import CoreProgram
from tightdp.errors import ProgramError, QueryError
from tightdp.exact.field import Number
from tightdp.language.program import Bound, Dataset, Output
from tightdp.methods import questions
from tightdp.methods.base import Control
from tightdp.methods.by_aggregates import costly
from tightdp.methods.by_elimination import MOST_WORK, EliminationTable, work_of_diagram
from tightdp.methods.elimination import TooMuchWork
from tightdp.methods.elimination_plan import TooWide
from tightdp.methods.leaf_laws import SMALL_CELLS, cells
from tightdp.methods.listing import MOST_LISTED, least_outputs
from tightdp.methods.program import Program

__all__ = ["probability", "table_without_diagram"]

_FEW_STATES = 2_000_000
"""Up to this many values of the aggregates, the law of one dataset is computed alone where those of all are many."""


def probability(program: Program, control: Control, x: Dataset, y: Output) -> Number:
    """Return P(y | x); where there are very many outputs, by following only the runs that give y."""
    if program.forced is None and least_outputs(core := program.core(control)) > MOST_LISTED:
        try:
            return EliminationTable(program.bound, core, watch=control, budget=MOST_WORK).probability(x, y)
        except (TooMuchWork, TooWide):
            pass
    aggregate = program.aggregate(control) if program.forced is None else None
    if aggregate is not None and costly(aggregate) and aggregate.states <= _FEW_STATES:
        return aggregate.probability(x, y)  # the laws of all counts are many, that of one is not
    return questions.laws(program, control)[1].probability(x, y)


def table_without_diagram(bound: Bound, core: CoreProgram, x: Dataset, control: Control) -> EliminationTable | None:
    """Return the law of a dataset where its diagram would take long and elimination much less, else None."""
    if cells(core) <= SMALL_CELLS:
        return None
    try:
        table = EliminationTable(bound, core, watch=control, budget=work_of_diagram(core))
        table.fill([bound.check_dataset(x)])
    except (TooMuchWork, TooWide, ProgramError, QueryError):
        return None
    return table
