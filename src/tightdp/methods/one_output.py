"""The probability of one output on one dataset, without the laws of others where these are many."""

from __future__ import annotations

from tightdp.exact.field import Number
from tightdp.language.program import Dataset, Output
from tightdp.methods import questions
from tightdp.methods.by_aggregates import COSTLY
from tightdp.methods.by_elimination import MOST_WORK
from tightdp.methods.control import Control
from tightdp.methods.elimination import TooMuchWork
from tightdp.methods.elimination_plan import TooWide
from tightdp.methods.elimination_table import EliminationTable
from tightdp.methods.listing import MOST_LISTED, least_outputs
from tightdp.methods.program import Program

__all__ = ["probability"]


def probability(program: Program, control: Control, x: Dataset, y: Output) -> Number:
    """Return P(y | x); where there are very many outputs, by following the runs that give y alone."""
    if program.forced is None and least_outputs(core := program.core(control)) > MOST_LISTED:
        try:
            return EliminationTable(program.bound, core, watch=control, budget=MOST_WORK).probability(x, y)
        except (TooMuchWork, TooWide):
            pass
    aggregate = program.aggregate(control) if program.forced is None else None
    if aggregate is not None and aggregate.entries > COSTLY >= aggregate.states:
        return aggregate.probability(x, y)  # the laws of all counts are many, that of one is not
    return questions.laws(program, control)[1].probability(x, y)
