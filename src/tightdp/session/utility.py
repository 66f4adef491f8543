"""The question `utility`: expected errors and the probability of the right answer, dataset by dataset."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tightdp.core.nodes import Inexact
from tightdp.core.operators import is_number
from tightdp.errors import ProgramError, QueryError
from tightdp.exact.field import Number
from tightdp.exact.numbers import brief, down, up
from tightdp.language.exactness import exact
from tightdp.language.interp import named_parameters
from tightdp.language.program import Bound, Dataset, Output, as_output
from tightdp.language.tails import share_of
from tightdp.methods import questions
from tightdp.queries.accuracy import Moment, is_real, moment
from tightdp.results.answers import Utility, Worst
from tightdp.session import numeric, numeric_errors
from tightdp.session.engine import Engine
from tightdp.symmetry.sets import every_dataset

__all__ = ["utility"]

RIGHT = "right answer"


def utility(engine: Engine) -> Utility:
    """Return every measure that fits all outputs and targets. Raises QueryError without a target."""
    bound = engine.bound
    if bound.program.target is None:
        raise QueryError(f"{bound.program.name} has no target", "name what it estimates: @mechanism(..., target=sum)")
    if (published := _of_published_noise(engine)) is not None:
        return published
    query = engine.query()
    method, table = questions.laws(engine.program, query.control)
    error = None
    worst: dict[str, Worst] = {}
    counted: dict[str, int] = {}
    datasets, size = 0, bound.record.size**bound.n
    with query.searching():
        for x in every_dataset(bound):
            query.control()
            datasets += 1
            query.control.look_at(table, x)
            law = list(table.law(x).items())
            error = engine.program.inexact
            query.control.tell("going through datasets", datasets, size)
            for measure, low, high in _measures(law, _target(bound, x), error):
                counted[measure] = counted.get(measure, 0) + 1
                found = Worst(measure, high, x, low) if measure != RIGHT else Worst(measure, low, x, high)
                known = worst.get(measure)
                worst[measure] = found if known is None else _worse(found, known)
            if datasets == 1:
                first = next(iter(worst))
                side = f"{first.removeprefix('expected ')} {'≤' if first == RIGHT else '≥'}"
                query.control.bounded(side)(lambda first=first: worst[first].value)  # type: ignore[misc]
    fitting = tuple(found for measure, found in worst.items() if counted[measure] == datasets)
    outcome = engine.outcome(query, method)
    if error is None:
        fitting = tuple(replace(found, better=None) for found in fitting)
    elif outcome.status == "exact":
        outcome = outcome.bounded
    return outcome.on(Utility(subject=engine.subject, measures=fitting))


def _of_published_noise(engine: Engine) -> Utility | None:
    """Return the same where noise on all integers is published in a way that the algebra of cells knows."""
    query = engine.query()
    worst: dict[str, Worst] = {}
    with query.searching():
        for x in every_dataset(engine.bound):
            query.control()
            found = numeric_errors.expected_errors(engine, query, x, _target(engine.bound, x))
            if found is None:
                return None
            right = Worst(RIGHT, 1 - found[0], x)
            worst[RIGHT] = min(worst.get(RIGHT, right), right, key=lambda each: each.value)
            for power, name in ((1, "absolute"), (2, "squared")):
                error = Worst(f"expected {name} error", found[power], x)
                worst[error.measure] = max(worst.get(error.measure, error), error, key=lambda each: each.value)
    measures = tuple(worst[measure] for measure in sorted(worst))
    return numeric.outcome_of(query).on(Utility(subject=engine.subject, measures=measures))


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


def _target(bound: Bound, x: Dataset) -> Output:
    target = bound.program.target
    assert target is not None
    try:
        return as_output(exact(target)(x, **named_parameters(target, bound)))
    except Exception as error:
        what = f"on the dataset {brief(x)} the target fails with {type(error).__name__}: {error}"
        raise ProgramError(what, "make the target a function of every dataset", x=x) from error
