"""What Python does with objects whose classes say what is next, and classes of its library, written in the language."""

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


def put_all(table: Any, mapping: Any) -> None:
    """Put what an object has under its keys into a dictionary."""
    for key in mapping.keys():  # noqa: SIM118 (as Python does)
        table[key] = mapping[key]


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


class Mapped(Items):
    """An iterator that makes an item of each of a sequence."""

    made: Any
    ends: Any

    def __next__(self) -> Any:
        item = super().__next__()
        try:
            return self.made(item)
        except BaseException:
            if self.ends:  # as generators do, where map goes on
                self.items = ()
            raise


class Zipped:
    """The items of several iterators at once, until one has no more."""

    def __init__(self, *iterators: Any) -> None:
        self.iterators = iterators

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if not self.iterators:
            raise StopIteration
        return tuple([iterator.__next__() for iterator in self.iterators])


class Counting:
    """The numbers from one on, in steps."""

    def __init__(self, start: Any = 0, step: Any = 1) -> None:
        self.next, self.step = start - 0, step - 0  # what is no number raises here

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        now = self.next
        self.next = now + self.step
        return now


def unchanged(source: Any, items: Any) -> None:
    """Refuse what has been gone through ahead of time where it is not the same any more; compiled, not called."""


class Copied(Items):
    """An iterator over items that were taken ahead of time from what stays as it is."""

    def __init__(self, source: Any, items: Any) -> None:
        super().__init__(items)
        self.source = source

    def __next__(self) -> Any:
        if self.items:
            unchanged(self.source, self.items)
        return super().__next__()


class Cycling(Copied):
    """The items of an iterable, again and again."""

    def __init__(self, items: Any) -> None:
        super().__init__(items, list(items))

    def __next__(self) -> Any:
        if self.at >= len(self.items):
            unchanged(self.source, self.items)
            self.source, self.at = (), 0
        return super().__next__()


class Partial:
    """A function of which some arguments are given."""

    def __init__(self, func: Any, /, *given: Any, **named: Any) -> None:
        if not callable(func):
            raise TypeError("the first argument must be callable")
        more = isinstance(func, Partial)
        self.func = func.func if more else func
        self.args = (*func.args, *given) if more else given
        self.keywords = {**func.keywords, **named} if more else named

    def __call__(self, /, *more: Any, **others: Any) -> Any:
        return self.func(*self.args, *more, **{**self.keywords, **others})


class Compared:
    """What is sorted by a function that compares two items."""

    def __init__(self, compare: Any, obj: Any) -> None:
        self.compare, self.obj = compare, obj

    def __lt__(self, other: Any) -> Any:
        return self.with_other(other) < 0

    def __le__(self, other: Any) -> Any:
        return self.with_other(other) <= 0

    def __gt__(self, other: Any) -> Any:
        return self.with_other(other) > 0

    def __ge__(self, other: Any) -> Any:
        return self.with_other(other) >= 0

    def __eq__(self, other: Any) -> Any:
        return self.with_other(other) == 0

    def with_other(self, other: Any) -> Any:
        if not isinstance(other, Compared):
            raise TypeError("other argument must be K instance")
        return self.compare(self.obj, other.obj)


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


def wraps(wrapped: Any) -> Any:
    """Return what leaves a function as it is: names and documentation are not read."""
    return lambda function: function


def cmp_to_key(mycmp: Any) -> Any:
    """Return a key by which items are sorted as a function compares them."""
    return lambda item: Compared(mycmp, item)


def cache(user_function: Any, /) -> Any:
    """Return a function that keeps its results."""
    return lru_cache(None)(user_function)


def lru_cache(maxsize: Any = 128, typed: Any = False) -> Any:
    """Return what lets a function keep its results; of a function, that which keeps 128."""
    if callable(maxsize):
        return lru_cache(128, typed)(maxsize)
    kept: dict[Any, Any] = {}

    def decorated(function: Any) -> Any:
        def answer(*given: Any, **named: Any) -> Any:
            one = len(given) == 1 and not named and (type(given[0]) is int or type(given[0]) is str)
            key: Any = given[0] if one else (given, tuple(named.items()))
            if typed:
                key = (key, tuple([type(each) for each in [*given, *named.values()]]))
            if key in kept:
                if maxsize is not None:  # what was asked for last is forgotten last
                    kept[key] = kept.pop(key)
                return kept[key]
            result = function(*given, **named)
            if maxsize is not None and (maxsize <= 0 or key in kept):  # kept by a call inside
                return result
            if maxsize is not None and len(kept) >= maxsize:
                kept.pop(next(iter(kept)))
            kept[key] = result
            return result

        return answer

    return decorated
