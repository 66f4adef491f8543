"""The events of which laws consist, and by which a witness is shown: what the parts of a program publish."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice, product
from typing import Any

from tightdp.core.nodes import Const, CoreProgram
from tightdp.core.outputs import Choice, Leaf, Shape, TupleOf
from tightdp.core.sections import Part, written_value
from tightdp.core.syntax import plain_value
from tightdp.core.text import ProgramText
from tightdp.exact.field import exp
from tightdp.exact.rationals import as_value
from tightdp.session.forms import Explored, written

MOST_EVENTS = 4
"""How many events are tried that show a witness."""
_OPEN = object()


def events_of(
    checker: Any, content: Mapping[str, Any], x: Any, parts: Sequence[Part], given: Iterator[dict[str, Any]], work: int
) -> list[list[Any]]:
    """Return what each part publishes in some events that are given by name, and happen on a dataset."""
    named = [*islice(given, MOST_EVENTS)]
    if all(name in each for each in named for part in parts for name in part.publishes):
        return [[_known(part, each) for part in parts] for each in named]
    checker.LEFT[0] = work
    try:
        program = checker.Program(content)
        told, at = Explored(checker, program).told, program.dataset(x)
        return [event for each in named for event in ways(program, told, at, parts, each, MOST_EVENTS)]
    except checker.Refused:
        return []


def ways(
    program: Any, told: Sequence[Any], x: Any, parts: Sequence[Part], named: dict[str, Any], most: int | None = None
) -> list[list[Any]]:
    """Return all, or some, that parts publish on a dataset with some values by name, where others are left open."""
    found: list[list[Any]] = [[]]
    for at, (part, shown) in enumerate(zip(parts, told, strict=True)):
        fitting = [each for each in map(written, shown) if _fits(_known(part, named), each)]
        rest = [None] * (len(parts) - at - 1)
        tried = [[*some, each] for some in found for each in fitting]
        found = [some for some in tried if program.weight(x, program.event([*some, *rest]))][:most]
    return found


def _fits(known: Sequence[Any], shown: Sequence[Any]) -> bool:
    return all(one is _OPEN or one == other for one, other in zip(known, shown, strict=True))


def _known(part: Part, named: Mapping[str, Any]) -> list[Any]:
    return [plain_value(written_value(named[name])) if name in named else _OPEN for name in part.publishes]


def number_of(checker: Any, weight: Any, root: int) -> Any:
    """Return a weight of the checker as a number: rational, or with T = e^(1/root)."""
    power = exp(Fraction(1, root)) if root else 1
    return sum((Fraction(c) * power**at if at else Fraction(c) for at, c in enumerate(checker.coefficients(weight))))


def named_events(core: CoreProgram, text: ProgramText, output: Any) -> Iterator[dict[str, Any]]:
    """Yield the values, by name, of what is published, with which an output is given."""
    for event in _events(core, core.shape, output):
        yield {str(text.components[at]): value for at, value in event.items()}


def _events(core: CoreProgram, shape: Shape, output: Any) -> Iterator[dict[int, Any]]:
    """Yield the values of components with which a shape gives an output."""
    match shape:
        case Leaf():
            expr = core.components[shape.component]
            if not isinstance(expr, Const):
                yield {shape.component: as_value(output)}
            elif expr.values[0] == output:
                yield {}
        case TupleOf():
            if isinstance(output, tuple) and len(output) == len(shape.items):
                parts = [list(_events(core, item, y)) for item, y in zip(shape.items, output, strict=True)]
                for chosen in product(*parts):
                    yield {at: value for part in chosen for at, value in part.items()}
        case Choice():
            for tag, item in enumerate(shape.alternatives):
                for event in _events(core, item, output):
                    for first in _events(core, Leaf(shape.component), tag):
                        yield {**first, **event}
