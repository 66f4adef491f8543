"""What a mechanism gives on given datasets: output laws, the probability of one output, likelihood ratios, failures."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tightdp.core.nodes import Inexact
from tightdp.errors import QueryError
from tightdp.exact.field import Number
from tightdp.exact.numbers import down, up
from tightdp.exact.parameters import as_parameter
from tightdp.exact.rationals import as_int
from tightdp.language.neighbours import relation_of
from tightdp.language.outputs import Output
from tightdp.language.primitives import PseudoRandom
from tightdp.language.program import Dataset
from tightdp.language.tails import Interval, Tail, has_part, is_beyond, parts_of
from tightdp.methods import one_output, questions
from tightdp.methods.by_elimination import EliminationTable
from tightdp.methods.choose import program_of
from tightdp.methods.compiled import deep_recursion
from tightdp.queries.curves import LikelihoodRow, likelihood_table
from tightdp.queries.gaussian import clamped
from tightdp.results.answers import Distribution, Failure, Likelihood, Sample, in_order
from tightdp.results.result import Stats, Status
from tightdp.session import numeric
from tightdp.session.arguments import read_count
from tightdp.session.base import InstanceBase
from tightdp.session.engine import Engine, Outcome, Query
from tightdp.session.widened import refuse_inexact
from tightdp.symmetry.sets import Table, every_dataset


def output_law(engine: Engine, x: Dataset) -> Distribution:
    """Return the output law on one dataset."""
    known = numeric.output_laws(engine, x)
    if known is None:
        return _listed_law(engine, x)
    (law,), outcome = known
    return outcome.on(Distribution(subject=engine.subject, x=x, law=in_order(law)))


def _listed_law(engine: Engine, x: Dataset) -> Distribution:
    masses, outcome = _law(engine, x)
    law, error = in_order(masses), engine.program.inexact
    if error is None or error.merged:
        return outcome.on(Distribution(subject=engine.subject, x=x, law=law))
    ends = [(output, error.ends(mass)) for output, mass in law if not is_beyond(output)]
    lower = tuple((output, down(low)) for output, (low, _) in ends)
    upper = tuple((output, up(min(high, Fraction(1)))) for output, (_, high) in ends)
    return outcome.bounded.on(Distribution(subject=engine.subject, x=x, law=lower, upper=upper))


def _law(engine: Engine, x: Dataset) -> tuple[dict[Output, Number], Outcome]:
    query = engine.query()
    table, name, size = _table(engine, x, query)
    query.control.look_at(table, x)
    return table.law(x), query.outcome(name, size=size)


def _table(engine: Engine, x: Dataset, query: Query) -> tuple[Table, str, tuple[int, int]]:
    """Return a table with the law of a dataset, the name of the method, and the size of its diagram."""
    if engine.program.forced is None:
        table = engine.listing(x, query)
        if isinstance(table, EliminationTable):
            return table, "elimination", (0, 0)
        if table is not None:
            return table, "exhaustive", (len(table.formula.variables), table.formula.nodes)
    method, laws = questions.laws(engine.program, query.control)
    return laws, method.name, method.size()


def laws_alike(
    engine: Engine, x: Dataset, x_prime: Dataset
) -> tuple[list[dict[Output, Number]], Inexact | None, Stats]:
    """Return two laws with the same outputs, how far they are from those of the mechanism, and what they cost.

    Where tails begin depends on the dataset, unless the program is lowered for all of them; that is done apart, so that
    other answers do not depend on it.
    """
    (law, outcome), (law_prime, other) = _law(engine, x), _law(engine, x_prime)
    laws, program = [law, law_prime], engine.program
    if any(has_part(output, Tail) for law in laws for output in law):
        program = program_of(engine.bound, engine.backend, program.forced)
        _, table = questions.laws(program, engine.control())
        laws = [table.law(x), table.law(x_prime)]
    return laws, program.inexact, outcome.stats + other.stats


def output_probability(engine: Engine, x: Dataset, y: Output) -> Number:
    """Return the probability of one output on one dataset."""
    if (known := numeric.probability(engine, x, y)) is not None:
        return known
    found = one_output.probability(engine.program, engine.control(), x, y)
    refuse_inexact(engine.program, "one exact probability")
    return found


def likelihood(engine: Engine, x: Dataset, x_prime: Dataset) -> Likelihood:
    """Return the likelihood ratios of all outputs on x and x'."""
    known = numeric.output_laws(engine, x, x_prime)
    if known is not None and _by_rows(known[0]):
        first_law, second_law = map(in_order, known[0])
        rows = likelihood_table(first_law, second_law)
        return _likelihood(engine, (x, x_prime), rows, known[1].stats)
    laws, error, stats = laws_alike(engine, x, x_prime)
    rows = likelihood_table(in_order(laws[0]), in_order(laws[1]))
    if error is not None:

        def ends(mass: Number) -> tuple[Number, Number]:
            return down(mass * (1 - error.relative)), up(mass * (1 + error.relative))

        if error.cut:
            both = [[each for each in law.items() if not is_beyond(each[0])] for law in laws]
            rows = likelihood_table(both[0], both[1], error.ends)
        else:
            ours, theirs = clamped(*laws)
            rows = likelihood_table(ours.items(), theirs.items(), ends)
    return _likelihood(engine, (x, x_prime), rows, stats, "exact" if error is None else "bounded")


def _likelihood(
    engine: Engine,
    pair: tuple[Dataset, Dataset],
    rows: tuple[LikelihoodRow, ...],
    stats: Stats,
    status: Status = "exact",
) -> Likelihood:
    x, x_prime = pair
    related = relation_of(engine.bound).relates(x, x_prime)
    return Likelihood(
        subject=engine.subject, status=status, stats=stats, x=x, x_prime=x_prime, rows=rows, are_neighbours=related
    )


def _by_rows(laws: Sequence[dict[Output, Number]]) -> bool:
    """Whether all numbers of a tail have one ratio between laws. Raises QueryError where there are densities."""
    parts = [part for law in laws for output in law for part in parts_of(output)]
    if any(isinstance(part, Interval) for part in parts):
        raise QueryError(
            "real numbers are published: they have densities, and no likelihood ratios to list one by one",
            "ask for the distribution on each of the two datasets, or for privacy, which says where it is largest",
        )
    tails = {part for part in parts if isinstance(part, Tail)}
    return not any(tail.terms for tail in tails) and len(tails) == len(set(map(str, tails)))


def sample(instance: InstanceBase, x: Sequence[Any], size: Any, seed: Any) -> Sample:
    """Draw outputs on a dataset."""
    bound = instance.bound
    dataset = bound.check_dataset(x)
    number = None if seed is None else as_int(as_parameter(seed), "seed")
    source = PseudoRandom(number)
    outputs = tuple(bound.run(dataset, source) for _ in range(read_count("size", size)))
    return Sample(subject=instance.subject, x=dataset, seed=number, outputs=outputs)


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
    outcome = query.outcome("elimination", exact=lower is None)
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
