"""Functions of Python's library, written in the language: the compiler reads them as it reads any function.

What gives an iterator in Python is a generator expression here, which can be gone through once. The interpreter runs
Python's own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import Any

from tightdp.language.library_objects import Copied, unchanged


def iter(items: Any, *end: Any) -> Iterator[Any]:
    """Return an iterator over items, or over what a function gives until it gives a certain value."""

    def called() -> Iterator[Any]:
        while (item := items()) != end[0]:
            yield item

    return called() if end else (item for item in items)


def deepcopy(value: Any, begin: Callable[..., Any], renew: Callable[..., None], made: Any = None) -> Any:
    """Return a copy of a value and of all that is inside; what is there twice is copied once."""
    made = [] if made is None else made
    if isinstance(value, tuple):
        items = [deepcopy(item, begin, renew, made) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if value is None or isinstance(value, (int, float, str, Enum)):
        return value
    for before, after in made:
        if before is value:
            return after
    copied = begin(value)
    made.append((value, copied))
    renew(copied, lambda held: deepcopy(held, begin, renew, made))
    if isinstance(value, (list, dict, deque)):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            copied[key] = deepcopy(value[key], begin, renew, made)
    return copied


def filter(function: Callable[[Any], Any] | None, iterable: Iterable[Any]) -> Iterator[Any]:
    """Return the items of which a function is true."""
    return (item for item in iterable if (item if function is None else function(item)))


def enumerate(iterable: Iterable[Any], start: int = 0) -> Iterator[Any]:
    """Return the items of what is gone through once, each with its number."""
    number = start
    for item in iterable:
        yield number, item
        number += 1


def zipped(items: Iterable[Any], before: Any, after: Any) -> Iterator[Any]:
    """Return the items of what is gone through once, with those at the same places of sequences before and after it."""
    at = 0
    if any(at >= len(each) for each in before):
        return
    for item in items:
        if any(at >= len(each) for each in after):
            return
        yield (*[each[at] for each in before], item, *[each[at] for each in after])
        at += 1
        if any(at >= len(each) for each in before):
            return  # before another item is asked for


def map(function: Callable[..., Any], *iterables: Iterable[Any]) -> Iterator[Any]:
    """Return what a function gives of the items at each place."""
    if len(iterables) == 1:
        return (function(item) for item in iterables[0])
    return (function(*items) for items in zip(*iterables))  # noqa: B905


_DICTIONARIES: Any = (dict, type({}.keys()), type({}.values()), type({}.items()))


def reversed(sequence: Any) -> Iterator[Any]:
    """Return an iterator over items, from the last one to the first; it ends where they are fewer meanwhile."""
    items = list(sequence) if isinstance(sequence, _DICTIONARIES) else sequence
    if isinstance(items, (tuple, range)):
        return (item for item in items[::-1])
    if not isinstance(items, (list, deque)) and hasattr(items, "__reversed__"):
        return iter(items.__reversed__())
    if not (hasattr(items, "__len__") and hasattr(items, "__getitem__")):
        raise TypeError("this cannot be reversed")

    def from_the_end(places: Iterable[int]) -> Iterator[Any]:
        for at in places:
            if at >= len(items):
                return
            yield items[at]

    return from_the_end(range(len(items) - 1, -1, -1))


# itertools


def starmap(function: Callable[..., Any], items: Iterable[Any]) -> Iterator[Any]:
    """Return what a function gives of tuples of arguments."""
    return (function(*item) for item in items)


def compress(data: Iterable[Any], selectors: Iterable[Any]) -> Iterator[Any]:
    """Return the items whose selectors are true."""
    return (item for item, selected in zip(data, selectors) if selected)  # noqa: B905


def chain(*iterables: Iterable[Any]) -> Iterator[Any]:
    """Return the items of some iterables, one after the other."""
    return (item for items in iterables for item in items)


def from_iterable(iterables: Iterable[Iterable[Any]]) -> Iterator[Any]:
    """Return the items of some iterables, one after the other."""
    return (item for items in iterables for item in items)


def pairwise(items: Iterable[Any]) -> Iterator[Any]:
    """Return neighbouring items in pairs."""
    before: list[Any] = []

    def pairs(item: Any) -> list[Any]:
        found = [(last, item) for last in before]
        before[:] = [item]
        return found

    return (pair for item in items for pair in pairs(item))


def accumulate(iterable: Iterable[Any], func: Callable[[Any, Any], Any] | None = None, *, initial: Any = None) -> Any:
    """Return what a function of two makes of the first items, for each number of them; sums without a function."""
    done = [] if initial is None else [initial]

    def with_another(item: Any) -> Any:
        done[:] = [item if not done else done[0] + item if func is None else func(done[0], item)]
        return done[0]

    return (value for made in (list(done), (with_another(item) for item in iterable)) for value in made)


def filterfalse(predicate: Callable[[Any], Any] | None, items: Iterable[Any]) -> Iterator[Any]:
    """Return the items of which a predicate is false."""
    return (item for item in items if not (item if predicate is None else predicate(item)))


def repeat(value: Any, times: Any) -> Iterator[Any]:
    """Return a value again and again."""
    return (value for _ in range(times))


def dropwhile(predicate: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
    """Return the items from the first one on of which a predicate is false."""
    begun = [False]

    def wanted(item: Any) -> bool:
        begun[0] = begun[0] or not predicate(item)
        return begun[0]

    return (item for item in items if wanted(item))


def takewhile(predicate: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
    """Return the items before the first one of which a predicate is false."""
    for item in items:
        if not predicate(item):
            return
        yield item


def islice(items: Iterable[Any], *ends: Any) -> Iterator[Any]:
    """Return the items of a slice."""
    start, stop, step = ends if len(ends) == 3 else (*((0,) if len(ends) == 1 else ()), *ends, 1)
    if any(part is not None and not isinstance(part, int) for part in (start, stop, step)):
        raise ValueError("the ends of islice must be None or integers")
    start, step = start or 0, step or 1
    if start < 0 or step < 1 or (stop is not None and stop < 0):
        raise ValueError
    if isinstance(items, (tuple, range)):
        return (item for item in items[start:stop:step])

    def one_by_one() -> Iterator[Any]:
        at = 0
        for item in items if stop != 0 else ():
            if at >= start and (at - start) % step == 0:
                yield item
            at += 1  # noqa: SIM113 (enumerate does not go through generators)
            if at == stop:
                return

    return one_by_one()


def tee(iterable: Iterable[Any], n: Any = 2, /) -> tuple[Any, ...]:
    """Return several iterators over the same items."""
    if n < 0:
        raise ValueError("n must be >= 0")
    items = list(iterable)
    return tuple([Copied(iterable, items) for _ in range(n)])


def zip_longest(*iterables: Iterable[Any], fillvalue: Any = None) -> Iterator[Any]:
    """Return tuples of the items at every place, with another value for those that are not there."""
    lists = [list(each) for each in iterables]
    longest = max([0, *(len(each) for each in lists)])

    def there_is(place: int) -> bool:
        for iterable, items in zip(iterables, lists):  # noqa: B905
            unchanged(iterable, items)
        return place < longest

    places = (place for place in range(longest + 1) if there_is(place))
    return (tuple([each[at] if at < len(each) else fillvalue for each in lists]) for at in places)


def groupby(iterable: Iterable[Any], key: Callable[[Any], Any] | None = None) -> Iterator[Any]:
    """Return neighbours with one key, in groups; as in Python, a group is empty once the next one is asked for."""
    groups: list[Any] = []
    items = list(iterable)
    for item in items:
        at = item if key is None else key(item)
        if groups and groups[-1][0] == at:
            groups[-1][1].append(item)
        else:
            groups.append((at, [item]))
    asked_for = [0]

    def there_is(place: int) -> bool:
        unchanged(iterable, items)
        asked_for[0] = place
        return place < len(groups)

    def members(place: int) -> Iterator[Any]:
        return (item for item in groups[place][1] if asked_for[0] == place)

    return ((groups[place][0], members(place)) for place in range(len(groups) + 1) if there_is(place))


def fromkeys(keys: Iterable[Any], value: Any = None) -> dict[Any, Any]:
    """Return a dictionary that has one value for all keys."""
    return {key: value for key in keys}  # noqa: C420


def nsmallest(n: Any, iterable: Iterable[Any], key: Callable[[Any], Any] | None = None) -> list[Any]:
    """Return the smallest items in order."""
    return sorted(iterable, key=key)[: max(n, 0)]


def nlargest(n: Any, iterable: Iterable[Any], key: Callable[[Any], Any] | None = None) -> list[Any]:
    """Return the largest items in order."""
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


# methods of collections.Counter


def most_common(counter: Any, n: Any = None) -> Any:
    """Return the keys and their counts, the largest first."""
    return sorted(counter.items(), key=lambda entry: entry[1], reverse=True)[:n]


def elements(counter: Any) -> Iterator[Any]:
    """Return every key as often as it was counted."""
    return (key for key, count in counter.items() for _ in range(count))


def total(counter: Any) -> Any:
    """Return the sum of the counts."""
    return sum(counter.values())


def counted(counter: Any, more: Any, sign: int) -> None:
    """Count items, or add the counts of a dictionary, in a counter."""
    if more is None:
        return
    if isinstance(more, Mapping):
        as_they_are = sign > 0 and not counter
        for key, count in more.items():
            counter[key] = count if as_they_are else counter.get(key, 0) + sign * count
    else:
        for key in more:
            counter[key] = counter.get(key, 0) + sign


def combined(result: Any, left: Any, right: Any, operation: Callable[[Any, Any], Any]) -> None:
    """Let a counter have what an operation makes of the counts of two others, where that is above 0."""
    for key in [*left, *(key for key in right if key not in left)]:
        count = operation(left[key], right[key])
        if count > 0:
            result[key] = count
