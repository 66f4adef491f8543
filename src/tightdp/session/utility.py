"""The question `utility`: expected errors and the probability of the right answer, dataset by dataset."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tightdp.core.operators import is_number
from tightdp.errors import ProgramError, QueryError
from tightdp.exact.writing import brief
from tightdp.language.exactness import exact
from tightdp.language.interp import named_parameters
from tightdp.language.program import Bound, Dataset, Output, as_output
from tightdp.methods import questions
from tightdp.results.utility import Utility, Worst
from tightdp.session.engine import Engine
from tightdp.symmetry.sets import every_dataset

__all__ = ["utility"]

RIGHT = "right answer"


def utility(engine: Engine) -> Utility:
    """Return every measure that fits all outputs and targets. Raises QueryError without a target."""
    bound = engine.bound
    if bound.program.target is None:
        raise QueryError(f"{bound.program.name} has no target", "name what it estimates: @mechanism(..., target=sum)")
    query = engine.query()
    method, table = questions.laws(engine.program, query.control)
    worst: dict[str, Worst] = {}
    counted: dict[str, int] = {}
    datasets, size = 0, bound.record.size**bound.n
    with query.searching():
        for x in every_dataset(bound):
            query.control()
            datasets += 1
            query.control.look_at(table, x)
            law = list(table.law(x).items())
            query.control.tell("going through datasets", datasets, size)
            for measure, value in _measures(law, _target(bound, x)):
                counted[measure] = counted.get(measure, 0) + 1
                known = worst.get(measure)
                if known is None or (value < known.value if measure == RIGHT else value > known.value):
                    worst[measure] = Worst(measure, value, x)
            if datasets == 1:
                first = next(iter(worst))
                side = f"{first.removeprefix('expected ')} {'≤' if first == RIGHT else '≥'}"
                query.control.bounded(side)(lambda first=first: worst[first].value)  # type: ignore[misc]
    fitting = tuple(found for measure, found in worst.items() if counted[measure] == datasets)
    return engine.outcome(query, method).on(Utility(subject=engine.subject, measures=fitting))


def _measures(law: list[tuple[Output, Any]], target: Output) -> Iterator[tuple[str, Any]]:
    """Yield the measures of one output law, with their values."""
    none = Fraction(0)
    if is_number(target) and all(is_number(output) for output, _ in law):
        yield "expected absolute error", sum((mass * abs(output - target) for output, mass in law), none)
        yield "expected squared error", sum((mass * (output - target) ** 2 for output, mass in law), none)
    elif _vector(target) and all(_vector(output) and len(output) == len(target) for output, _ in law):
        errors = [([abs(a - b) for a, b in zip(output, target, strict=True)], mass) for output, mass in law]
        for place in range(len(target)):
            value = sum((mass * error[place] for error, mass in errors), none)
            yield f"expected absolute error, coordinate {place + 1}", value
        yield "expected largest error", sum((mass * max(error) for error, mass in errors), none)
    yield RIGHT, sum((mass for output, mass in law if output == target), none)


def _vector(value: Output) -> bool:
    return isinstance(value, tuple) and len(value) > 0 and all(is_number(item) for item in value)


def _target(bound: Bound, x: Dataset) -> Output:
    target = bound.program.target
    assert target is not None
    try:
        return as_output(exact(target)(x, **named_parameters(target, bound)))
    except Exception as error:
        what = f"on the dataset {brief(x)} the target fails with {type(error).__name__}: {error}"
        raise ProgramError(what, "make the target a function of every dataset", x=x) from error
