"""The question `failure`: how often a run fails, on one dataset or on the worst one."""

from __future__ import annotations

from fractions import Fraction

from tightdp.exact.numbers import down, up
from tightdp.language.program import Dataset
from tightdp.methods.compiled import deep_recursion
from tightdp.methods.elimination_table import EliminationTable
from tightdp.methods.symmetry import Symmetry
from tightdp.results.answers import Failure
from tightdp.results.result import Status
from tightdp.session.engine import Engine, Outcome
from tightdp.symmetry.sets import every_dataset

__all__ = ["failure"]


def failure(engine: Engine, x: Dataset | None) -> Failure:
    """Return the probability of a failing run on x, or on the dataset that has the largest. Raises QueryError."""
    datasets = [x] if x is not None else every_dataset(engine.bound)
    query = engine.query()
    watch = query.control
    with query.compiling(), deep_recursion():
        core = engine.program.core(watch) if x is None else engine.program.core_of(x, watch)
        table = EliminationTable(engine.bound, core, watch=watch)
    with query.searching(), deep_recursion():
        found = table.worst_failure(datasets)
    error, probability, lower = core.inexact, found.probability, None
    if error is not None and probability:
        lower, probability = (end(mass) for end, mass in zip((down, up), error.ends(probability), strict=True))
    status: Status = "exact" if lower is None else "bounded"
    outcome = Outcome(status, "", query.stats((0, 0), "elimination", Symmetry(())))
    span = None if found.check is None else found.check.span
    return outcome.on(
        Failure(
            subject=engine.subject,
            x=found.x,
            probability=probability if lower is None else min(probability, Fraction(1)),
            lower=lower,
            error=None if found.check is None else found.check.message,
            place=None if span is None else span.place,
            worst=x is None,
        )
    )
