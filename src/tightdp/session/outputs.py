"""What a mechanism gives on given datasets: output laws, the probability of one output, likelihood ratios."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tightdp.core.lowering import inexact
from tightdp.exact.field import Number
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Dataset, Output
from tightdp.methods import one_output, questions
from tightdp.methods.elimination_table import EliminationTable
from tightdp.methods.symmetry import Symmetry
from tightdp.queries.likelihood import likelihood_table
from tightdp.results.answers import Distribution, in_order
from tightdp.results.likelihood import Likelihood
from tightdp.session.engine import Engine, Outcome, Query
from tightdp.session.widened import refuse_inexact, widened
from tightdp.symmetry.sets import Table

if TYPE_CHECKING:
    from tightdp.session.instance import Instance

__all__ = ["likelihood", "output_law", "output_probability"]


@widened
def output_law(engine: Engine, x: Dataset) -> Distribution:
    """Return the output law on one dataset."""
    query = engine.query()
    table, name, size = _table(engine, x, query)
    query.control.look_at(table, x)
    law = in_order(table.law(x))
    outcome = Outcome("exact", "", query.stats(size, name, Symmetry(())))
    return outcome.on(Distribution(subject=engine.subject, x=x, law=law))


def _table(engine: Engine, x: Dataset, query: Query) -> tuple[Table, str, tuple[int, int]]:
    """Return a table with the law of a dataset, the name of the method, and the size of its diagram."""
    if engine.program.forced is None:
        table = engine.table_of(x, query)
        if isinstance(table, EliminationTable):
            return table, "elimination", (0, 0)
        if not inexact(engine.bound):  # whose many digits are not counted on a diagram
            return table, "exhaustive", (len(table.formula.variables), table.formula.nodes)
    method, laws = questions.laws(engine.program, query.control)
    return laws, method.name, method.size()


def output_probability(engine: Engine, x: Dataset, y: Output) -> Number:
    """Return the probability of one output on one dataset."""
    found = one_output.probability(engine.program, engine.control(), x, y)
    refuse_inexact(engine.bound, "one exact probability")
    return found


def likelihood(instance: Instance, x: Sequence[Any], x_prime: Sequence[Any]) -> Likelihood:
    """Return the likelihood ratios of all outputs on x and x'."""
    first, second = instance.distribution(x), instance.distribution(x_prime)
    refuse_inexact(instance.bound, "the ratio of probabilities")
    return Likelihood(
        subject=first.subject,
        stats=first.stats + second.stats,
        x=first.x,
        x_prime=second.x,
        rows=likelihood_table(first.law, second.law),
        are_neighbours=relation_of(instance.bound).relates(first.x, second.x),
    )
