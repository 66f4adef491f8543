"""Accuracy: the tight 1 - β at an error bound, and the least bound for a β, over all datasets or declared ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tightdp.exact.field import Number
from tightdp.language.interp import target_value
from tightdp.methods import questions
from tightdp.queries import accuracy, declared
from tightdp.results.answers import Accuracy
from tightdp.session.engine import Engine, Outcome
from tightdp.session.later import Later
from tightdp.session.widened import widened

if TYPE_CHECKING:
    from tightdp.session import large
else:  # enclosures take numpy, which most questions do without
    large = Later("tightdp.session.large")


@widened
def accuracy_at(engine: Engine, alpha: Number, top: int) -> Accuracy:
    """Return the tight 1 - β at an error bound, and the `top` worst classes of datasets."""
    _check_target(engine)
    if engine.many and (seen := large.accuracy_at(engine, alpha)) is not None:
        return seen
    query = engine.query()
    method, table, datasets = questions.accuracy_set(engine.program, query.control)
    with query.searching():
        inputs = query.control.inputs(table, datasets)
        classes = accuracy.accuracy(table, inputs, alpha, query.control.bounded("1 - β ≤"), top)
    return _accuracy(engine, engine.outcome(query, method), alpha, classes, top)


@widened
def least_error(engine: Engine, beta: Number) -> Accuracy:
    """Return the least error bound that every dataset keeps with probability 1 - beta."""
    _check_target(engine)
    if engine.many and (seen := large.least_error(engine, beta)) is not None:
        return seen
    query = engine.query()
    method, table, datasets = questions.accuracy_set(engine.program, query.control)
    with query.searching():
        inputs = query.control.inputs(table, datasets)
        alpha, x = accuracy.least_alpha(table, inputs, beta, query.control.bounded("α ≥"))
    outcome = engine.outcome(query, method)
    upper = alpha if outcome.status == "exact" else math.inf
    return outcome.on(Accuracy(subject=engine.subject, alpha=upper, beta=beta, x=x, lower=alpha, upper=upper))


@widened
def declared_accuracy(
    engine: Engine, alpha: Number, accuracy_set: Iterable[Any], inference_set: Iterable[Any] | None, top: int
) -> Accuracy:
    """Return the tight 1 - β over an accuracy set that the user declares. Raises QueryError where it is not sound."""
    _check_target(engine)
    datasets = declared.read_datasets(engine.bound, accuracy_set)
    query = engine.query()
    control = query.control
    method, table, every_dataset = questions.accuracy_set(engine.program, control)
    with query.searching():
        ours = declared.as_accuracy_set(datasets).watched(control)
        classes = accuracy.accuracy(table, control.inputs(table, ours), alpha)
        every = () if control.stopped else accuracy.accuracy(table, control.inputs(table, every_dataset), alpha)
        if control.stopped is None:
            classes = declared.check_accuracy_set(classes, every, alpha)
            if inference_set is not None:
                points = declared.read_points(engine.bound, inference_set)
                declared.check_inference_set(points, declared.points_of(table, datasets, alpha))
    outcome = engine.outcome(query, method)
    outcome = replace(outcome, stats=replace(outcome.stats, accuracy_set=len(datasets)))
    return _accuracy(engine, outcome, alpha, classes, top)


def _accuracy(
    engine: Engine, outcome: Outcome, alpha: Number, classes: Sequence[accuracy.AccuracyClass], top: int
) -> Accuracy:
    """Return the tight 1 - β that classes of datasets show, worst first."""
    x, upper = (classes[0].x, classes[0].one_minus_beta) if classes else (None, Fraction(1))
    lower = upper if outcome.status == "exact" else Fraction(0)
    return outcome.on(Accuracy.between(engine.subject, alpha, lower, upper, x, tuple(classes[:top])))


def _check_target(engine: Engine) -> None:
    """Raise QueryError where there is no target, before anything is compiled."""
    target_value(engine.bound, (engine.bound.record.values[0],) * engine.bound.n)
