"""What handlers of functions take, and checks of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.values import Value

__all__ = ["Arguments", "Handler", "Keywords", "expect", "named", "shape_by_shape"]

Arguments = tuple[Value, ...]
Keywords = dict[str, Value]
Handler = Callable[[Machine, Arguments, Keywords], Value]


def expect(arguments: Arguments, keywords: Keywords, low: int, high: int, *names: str) -> None:
    """Check the number of arguments, and that keywords are among `names`. Raises Failure."""
    if not low <= len(arguments) <= high:
        raise Failure(f"TypeError: {len(arguments)} arguments where {low} to {high} are taken", "see its documentation")
    for name in keywords:
        if name not in names:
            raise Failure(f"TypeError: no argument is called {name!r}", "see its documentation")


def named(names: tuple[str, ...], arguments: Arguments, keywords: Keywords, optional: int = 0) -> list[Value]:
    """Return arguments by position; the last `optional` ones may be missing (None). Raises Failure."""
    if len(arguments) > len(names) or any(name not in names[len(arguments) :] for name in keywords):
        raise Failure(f"TypeError: the arguments are {', '.join(names)}", "give these, in this order or by name")
    values = [*arguments, *(keywords.get(name, ...) for name in names[len(arguments) :])]
    for at, value in enumerate(values):
        if value is ...:
            if at < len(names) - optional:
                raise Failure(
                    f"TypeError: the argument {names[at]!r} is missing", f"the arguments are {', '.join(names)}"
                )
            values[at] = None
    return values


def shape_by_shape(m: Machine, arguments: Arguments, action: Callable[..., Any]) -> Value:
    """Apply an action to every combination of the shapes that arguments may have, and merge the results."""

    def over(done: Arguments, rest: Arguments) -> Value:
        if not rest:
            return action(*done)
        return m.each(rest[0], lambda value: over((*done, value), rest[1:]))

    return over((), tuple(arguments))
