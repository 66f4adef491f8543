"""What Python does with objects whose classes say what is next, written in the language; and `contextlib.suppress`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def items_by_index(sequence: Any) -> Iterator[Any]:
    """Return the items of what has no iterator and is indexed from 0 on, until it has no more."""

    def found(at: int) -> tuple[Any, ...]:
        try:
            return (sequence[at],)
        except IndexError:
            return ()

    at = 0
    while item := found(at):
        yield item[0]
        at += 1


def items_one_by_one(iterator: Any) -> Iterator[Any]:
    """Return the items of an iterator whose class says what the next one is."""

    while item := another(iterator):
        yield item[0]


class Items:
    """An iterator over a sequence: where it is, and that it stays at the end."""

    def __init__(self, items: Any) -> None:
        self.items, self.at = items, 0

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self.at >= len(self.items):
            self.items = ()
            raise StopIteration
        self.at += 1
        return self.items[self.at - 1]


def another(iterator: Any) -> tuple[Any, ...]:
    """Return the next item of such an iterator alone, or nothing."""
    try:
        return (iterator.__next__(),)
    except StopIteration:
        return ()


def following(iterator: Any, *default: Any) -> Any:
    """Return the next item of such an iterator, or the default where there is none."""
    try:
        return iterator.__next__()
    except StopIteration:
        if default:
            return default[0]
        raise


class Suppressing:
    """What stops exceptions of some classes at the end of a `with`."""

    def __init__(self, *kinds: type[BaseException]) -> None:
        self.kinds = kinds

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, value: Any, trace: Any) -> bool:
        return kind is not None and issubclass(kind, self.kinds)


def wraps(wrapped: Any) -> Any:
    """Return what leaves a function as it is: names and documentation are not read."""
    return lambda function: function


def attrgetter(name: str, *more: str) -> Any:
    """Return what takes the attributes of some names, in which dots may be."""

    def of(value: Any, dotted: str) -> Any:
        for part in dotted.split("."):
            value = getattr(value, part)
        return value

    return (
        (lambda value: (of(value, name), *[of(value, each) for each in more]))
        if more
        else (lambda value: of(value, name))
    )
