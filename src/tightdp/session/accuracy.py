"""Accuracy: the tight 1 - β at an error bound, and the least bound for a β, over all datasets or declared ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tightdp.language.interp import target_value
from tightdp.methods import questions
from tightdp.queries import declared
from tightdp.queries.accuracy import AccuracyAt, AccuracyClass, LeastError, classes_of, least_alpha
from tightdp.results.answers import Accuracy
from tightdp.session import numeric_errors
from tightdp.session.engine import Engine, Outcome
from tightdp.session.later import Later
from tightdp.session.widened import widened

if TYPE_CHECKING:
    from tightdp.session import large
else:  # enclosures take numpy, which most questions do without
    large = Later("tightdp.session.large")


def accuracy(engine: Engine, question: AccuracyAt | LeastError) -> Accuracy:
    """Return the tight 1 - β at an error bound, or the least error bound for a β."""
    return accuracy_at(engine, question) if isinstance(question, AccuracyAt) else least_error(engine, question)


@widened
def accuracy_at(engine: Engine, question: AccuracyAt) -> Accuracy:
    """Return the tight 1 - β at an error bound, and the worst classes of datasets."""
    _check_target(engine)
    if (known := numeric_errors.accuracy(engine, question)) is not None:
        return known
    if engine.many and (seen := large.accuracy_at(engine, question)) is not None:
        return seen
    query = engine.query()
    method, table, datasets = questions.accuracy_set(engine.program, query.control)
    with query.searching():
        inputs = query.control.inputs(table, datasets)
        classes = classes_of(table, inputs, question, query.control.bounded("1 - β ≤"))
    return _accuracy(engine, engine.outcome(query, method), question, classes)


@widened
def least_error(engine: Engine, question: LeastError) -> Accuracy:
    """Return the least error bound that every dataset keeps with a probability."""
    _check_target(engine)
    if (known := numeric_errors.accuracy(engine, question)) is not None:
        return known
    if engine.many and (seen := large.least_error(engine, question)) is not None:
        return seen
    query = engine.query()
    method, table, datasets = questions.accuracy_set(engine.program, query.control)
    with query.searching():
        inputs = query.control.inputs(table, datasets)
        alpha, x = least_alpha(table, inputs, question, query.control.bounded("α ≥"))
    outcome = engine.outcome(query, method)
    upper = alpha if outcome.status == "exact" else math.inf
    return outcome.on(Accuracy.least(engine.subject, question, alpha, upper, x))


@widened
def declared_accuracy(
    engine: Engine, question: AccuracyAt, accuracy_set: Iterable[Any], inference_set: Iterable[Any] | None
) -> Accuracy:
    """Return the tight 1 - β over an accuracy set that the user declares. Raises QueryError where it is not sound."""
    _check_target(engine)
    datasets = declared.read_datasets(engine.bound, accuracy_set)
    query = engine.query()
    control = query.control
    method, table, every_dataset = questions.accuracy_set(engine.program, control)
    with query.searching():
        ours, all_classes = declared.as_accuracy_set(datasets).watched(control), replace(question, top=0)
        classes = classes_of(table, control.inputs(table, ours), all_classes)
        every = () if control.stopped else classes_of(table, control.inputs(table, every_dataset), all_classes)
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
    x, upper = (classes[0].x, classes[0].one_minus_beta) if classes else (None, Fraction(1))
    lower = upper if outcome.status == "exact" else Fraction(0)
    return outcome.on(Accuracy.between(engine.subject, question, lower, upper, x, tuple(classes[: question.top])))


def _check_target(engine: Engine) -> None:
    """Raise QueryError where there is no target, before anything is compiled."""
    target_value(engine.bound, (engine.bound.record.values[0],) * engine.bound.n)
