"""What handlers of functions take, and checks of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from inspect import Signature, signature
from typing import Any

from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.values import Value

__all__ = ["Arguments", "Handler", "Keywords", "expect", "fits", "named", "shape_by_shape"]

Arguments = tuple[Value, ...]
Keywords = dict[str, Value]
Handler = Callable[[Machine, Arguments, Keywords], Value]


def expect(arguments: Arguments, keywords: Keywords, low: int, high: int, *names: str) -> None:
    """Check the number of arguments, and that keywords are among `names`. Raises Failure."""
    if not low <= len(arguments) <= high:
        taken = str(low) if low == high else f"{low} to {high}"
        raise Failure(f"TypeError: {counted(len(arguments))} where it takes {taken}", "see its documentation")
    for name in keywords:
        if name not in names:
            raise Failure(f"TypeError: no argument is called {name!r}", "see its documentation")


def counted(arguments: int) -> str:
    """Say how many arguments are given."""
    return f"{arguments} argument{'s' * (arguments != 1)}"


def fits(name: str, handler: Callable[..., object], arguments: Arguments, keywords: Keywords) -> None:
    """Check that the handler of a method takes these arguments. Raises Failure, which speaks of the method."""
    taken = _signature(handler)
    try:
        taken.bind(None, None, *arguments, **keywords)  # the machine and the value come first
    except TypeError:
        pass
    else:
        return
    unknown = [repr(keyword) for keyword in keywords if keyword not in taken.parameters]
    what = f"has no argument {unknown[0]}" if unknown else f"does not take {counted(len(arguments) + len(keywords))}"
    raise Failure(f"TypeError: .{name}() {what}", "see its documentation")


@lru_cache
def _signature(handler: Callable[..., object]) -> Signature:
    return signature(handler)


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
