"""One dataset: the probability of one output without those of others, and its law without a diagram."""

from __future__ import annotations

from tightdp.core.nodes import CoreProgram, Draw, reachable
from tightdp.errors import ProgramError, QueryError
from tightdp.exact.field import Number
from tightdp.language.program import Bound, Dataset, Output
from tightdp.methods import questions
from tightdp.methods.by_aggregates import costly
from tightdp.methods.by_elimination import LITTLE_WORK, MOST_WORK
from tightdp.methods.control import Control
from tightdp.methods.elimination import TooMuchWork
from tightdp.methods.elimination_plan import TooWide
from tightdp.methods.elimination_table import EliminationTable
from tightdp.methods.listing import MOST_LISTED, least_outputs
from tightdp.methods.program import Program

__all__ = ["probability", "table_without_diagram"]

_FEW_STATES = 2_000_000
"""Up to so many values of the aggregates, the law of one dataset is computed alone where those of all are many."""
_MANY_DRAWS = 300
"""The diagram of one dataset takes time quadratic in its draws, so elimination is tried before where these are many."""


def probability(program: Program, control: Control, x: Dataset, y: Output) -> Number:
    """Return P(y | x); where there are very many outputs, by following the runs that give y alone."""
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
    """Return the law of a dataset where its core program makes many draws and elimination takes little work."""
    if sum(isinstance(expr, Draw) for expr in reachable(core.roots)) <= _MANY_DRAWS:
        return None
    try:
        table = EliminationTable(bound, core, watch=control, budget=LITTLE_WORK)
        table.weights(x)
    except (TooMuchWork, TooWide, ProgramError, QueryError):
        return None
    return table
