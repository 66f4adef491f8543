"""Accuracy over all datasets or declared ones, expected errors, and the probability of the right answer."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tightdp.core.nodes import Inexact
from tightdp.core.operators import is_number
from tightdp.errors import QueryError
from tightdp.exact.field import Number
from tightdp.exact.numbers import down, up
from tightdp.language.interp import target_output, target_value
from tightdp.language.outputs import Output
from tightdp.language.program import Dataset
from tightdp.language.tails import share_of
from tightdp.methods import questions
from tightdp.queries import declared
from tightdp.queries.accuracy import AccuracyClass, Listed, classes_of, least_alpha
from tightdp.queries.measures import RIGHT, AccuracyAt, LeastError, Moment, is_real, moment
from tightdp.results.answers import Accuracy, Utility, Worst
from tightdp.session import numeric
from tightdp.session.engine import Engine, Outcome, Query
from tightdp.session.widened import refuse_merged
from tightdp.symmetry.sets import every_dataset


def listed_accuracy(engine: Engine, question: AccuracyAt | LeastError) -> Accuracy:
    """Return the tight 1 - β at an error bound, with the worst datasets, or the least error bound for a β."""
    query = engine.query()
    method, table, datasets = questions.accuracy_set(engine.program, query.control)
    inputs = query.control.inputs(table, datasets)
    if isinstance(question, AccuracyAt):
        with query.searching():
            classes = classes_of(Listed(table), inputs, question, query.control.bounded("1 - β ≤"))
        return _accuracy(engine, engine.outcome(query, method), question, classes)
    refuse_merged(engine, "accuracy")
    with query.searching():
        laws = Listed(table, engine.program.inexact)
        lower, least, x = least_alpha(laws, inputs, question, query.control.bounded("α ≥"))
    outcome = engine.outcome(query, method)
    upper = least if outcome.status == "exact" else math.inf
    outcome = outcome.bounded if lower < upper < math.inf else outcome
    return outcome.on(Accuracy.least(engine.subject, question, lower, upper, x))


def declared_accuracy(
    engine: Engine, question: AccuracyAt, accuracy_set: Iterable[Any], inference_set: Iterable[Any] | None
) -> Accuracy:
    """Return the tight 1 - β over an accuracy set that the user declares. Raises QueryError where it is not sound."""
    check_target(engine)
    datasets = declared.read_datasets(engine.bound, accuracy_set)
    query = engine.query()
    control = query.control
    method, table, every_dataset = questions.accuracy_set(engine.program, control)
    with query.searching():
        ours, all_classes = declared.as_accuracy_set(datasets).watched(control), replace(question, top=0)
        laws = Listed(table)
        classes = classes_of(laws, control.inputs(table, ours), all_classes)
        every = () if control.stopped else classes_of(laws, control.inputs(table, every_dataset), all_classes)
        if control.stopped is None:
            classes = declared.check_accuracy_set(classes, every, question)
            if inference_set is not None:
                points = declared.read_points(engine.bound, inference_set)
                declared.check_inference_set(points, declared.points_of(table, datasets, question))
    outcome = engine.outcome(query, method)
    outcome = replace(outcome, stats=replace(outcome.stats, accuracy_set=len(datasets)))
    return _accuracy(engine, outcome, question, classes)


def _accuracy(engine: Engine, outcome: Outcome, question: AccuracyAt, classes: Sequence[AccuracyClass]) -> Accuracy:
    """Return the tight 1 - β that classes of datasets show, worst first."""
    refuse_merged(engine, "accuracy")
    x, upper = (classes[0].x, classes[0].one_minus_beta) if classes else (None, Fraction(1))
    lower = upper if outcome.status == "exact" else Fraction(0)
    top = tuple(classes[: question.top])
    if (error := engine.program.inexact) is not None:
        lower, upper = down(max(lower - error.total, Fraction(0))), up(min(upper + error.total, Fraction(1)))
        top = tuple(replace(row, one_minus_beta=down(row.one_minus_beta)) for row in top)
        outcome = outcome.bounded if outcome.status == "exact" else outcome
    return outcome.on(Accuracy.between(engine.subject, question, lower, upper, x, top))


def check_target(engine: Engine) -> None:
    """Raise QueryError where there is no target, before anything is compiled."""
    target_value(engine.bound, (engine.bound.record.values[0],) * engine.bound.n)


def utility(engine: Engine) -> Utility:
    """Return every measure that fits all outputs and targets. Raises QueryError without a target."""
    bound = engine.bound
    if bound.program.target is None:
        raise QueryError(f"{bound.program.name} has no target", "name what it estimates: @mechanism(..., target=sum)")
    query = engine.query()
    exact = numeric.with_measures(engine, query, lambda measures: _worst(engine, query, measures))
    if exact is not None:
        return query.outcome(numeric.METHOD).on(Utility(subject=engine.subject, measures=exact))
    method, table = questions.laws(engine.program, query.control)

    def listed(x: Dataset, target: Output) -> Iterator[tuple[str, Any, Any]]:
        query.control.look_at(table, x)
        law = list(table.law(x).items())
        return _measures(law, target, engine.program.inexact)

    fitting, outcome = _worst(engine, query, listed), engine.outcome(query, method)
    if engine.program.inexact is not None and outcome.status == "exact":
        outcome = outcome.bounded
    return outcome.on(Utility(subject=engine.subject, measures=fitting))


def _worst(engine: Engine, query: Query, measures: numeric.Measures) -> tuple[Worst, ...]:
    """Return the measures that fit all datasets, each on the one where it is worst."""
    worst: dict[str, Worst] = {}
    counted: Counter[str] = Counter()
    size = engine.bound.record.size**engine.bound.n
    with query.searching():
        for done, x in enumerate(every_dataset(engine.bound), start=1):
            query.control()
            query.control.tell("going through datasets", done, size)
            for measure, low, high in measures(x, target_output(engine.bound, x)):
                counted[measure] += 1
                found = Worst(measure, high, x, low) if measure != RIGHT else Worst(measure, low, x, high)
                known = worst.get(measure)
                worst[measure] = found if known is None else _worse(found, known)
            if done == 1:
                first = next(iter(worst))
                side = f"{first.removeprefix('expected ')} {'≤' if first == RIGHT else '≥'}"
                query.control.bounded(side)(lambda first=first: worst[first].value)  # type: ignore[misc]
    fitting = (found for measure, found in worst.items() if counted[measure] == size)
    return tuple(found if engine.program.inexact else replace(found, better=None) for found in fitting)


def _worse(found: Worst, known: Worst) -> Worst:
    """Combine two enclosed measures: the worse of each of their ends, on the dataset of the worse value."""
    assert found.better is not None
    assert known.better is not None
    if found.measure == RIGHT:
        first = found if found.value < known.value else known
        return replace(first, better=min(found.better, known.better))
    first = found if found.value > known.value else known
    return replace(first, better=max(found.better, known.better))


def _measures(law: list[tuple[Output, Any]], target: Output, error: Inexact | None) -> Iterator[tuple[str, Any, Any]]:
    """Yield the measures of one output law, with both ends of their values."""
    none = Fraction(0)
    slack = none if error is None else error.relative

    def mean(measure: str, errors: Iterable[tuple[Moment, Any]]) -> tuple[str, Any, Any]:
        low: Number = none
        high: Number = none
        largest: Number = none
        for (least, most), mass in errors:
            low, high, largest = low + mass * least, high + mass * most, max(largest, most)
        if error is not None and error.cut:  # all outputs are known, but not how likely they are
            low, high = max(low - error.lost * largest, none), high + error.lost * largest
        return (measure, low, high) if error is None else (measure, down(low * (1 - slack)), up(high * (1 + slack)))

    known = error is None or not error.cut or not error.published  # else there may be other outputs, however large
    if is_number(target) and known and all(is_real(output) for output, _ in law):
        for power, name in ((1, "absolute"), (2, "squared")):
            yield mean(f"expected {name} error", ((moment(output, target, power), mass) for output, mass in law))
    elif _vector(target) and known and all(_vector(output) and len(output) == len(target) for output, _ in law):
        for place, wanted in enumerate(target):
            errors = ((moment(output[place], wanted, 1), mass) for output, mass in law)
            yield mean(f"expected absolute error, coordinate {place + 1}", errors)
        if all(is_number(value) for output, _ in law for value in output):
            farthest = [(max(abs(a - b) for a, b in zip(output, target, strict=True)), mass) for output, mass in law]
            yield mean("expected largest error", (((value, value), mass) for value, mass in farthest))
    right = sum((mass * share_of(output, target) for output, mass in law), none)
    low, high = (right, right) if error is None else error.ends(right)
    yield (RIGHT, low, high) if error is None else (RIGHT, down(low), up(min(high, Fraction(1))))


def _vector(value: Output) -> bool:
    return isinstance(value, tuple) and len(value) > 0 and all(is_real(item) for item in value)
