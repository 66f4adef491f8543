"""The least, the greatest and the sorted, of values of any shape."""

from __future__ import annotations

from collections.abc import Sequence

from tightdp.core.lowering.comparisons import precedes
from tightdp.core.lowering.functions import call
from tightdp.core.lowering.iteration import collected, everyone, unordered, visit
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.registry import builtin
from tightdp.core.lowering.scalars import operate, over_values, truth
from tightdp.core.lowering.signatures import Arguments, Handler, Keywords, expect
from tightdp.core.lowering.values import Growing, Value, is_scalar, known, numeric
from tightdp.core.nodes import Expr
from tightdp.core.unbounded.windows import is_far

__all__ = ["arranged"]


def _extremum(name: str) -> Handler:
    def handler(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
        expect(arguments, keywords, 1, 1 << 30, "key", "default")
        if len(arguments) == 1 and m.single and everyone(arguments[0]):
            return _best_of_all(m, name, arguments[0], keywords)
        values = arguments if len(arguments) > 1 else _items(m, arguments[0], keywords)

        def pick(items: tuple[Value, ...] | Growing) -> Value:
            if isinstance(items, Growing):
                return m.of_growing(name, items)
            if not items and "default" in keywords:
                return keywords["default"]
            return _best(m, name, items, keywords.get("key"))

        return m.each(values, pick)

    return handler


builtin(min)(_extremum("min"))
builtin(max)(_extremum("max"))


def _items(m: Machine, iterable: Value, keywords: Keywords) -> Value:
    """Return the items; those of a set only where their order does not matter."""
    return collected(m, iterable if "key" in keywords else unordered(m, iterable))


def _best(m: Machine, name: str, items: Sequence[Value], key: Value) -> Value:
    """Return the first least or greatest of values."""
    if not items:
        raise Failure(f"ValueError: {name}() of nothing", "make sure that there is at least one value")
    if key is None and all(is_scalar(item) and numeric(item) for item in items):
        return known(m.builder.extremum(name, [m.expr(item) for item in items]))
    best, rank = items[0], _rank(m, key, items[0])
    for item in items[1:]:
        other = _rank(m, key, item)
        better = truth(m, _before(m, other, rank) if name == "min" else _before(m, rank, other))
        best, rank = m.merge(better, item, best), m.merge(better, other, rank)
    return best


def _best_of_all(m: Machine, name: str, iterable: Value, keywords: Keywords) -> Value:
    """Return the first least or greatest of what is made of all records."""
    best = m.new_list((False, None, None))

    def look(item: Value) -> None:
        found, _, rank = m.store[best.key]
        other = _rank(m, keywords.get("key"), item)
        better = truth(m, found if not found else _before(m, *((other, rank) if name == "min" else (rank, other))))
        if not found or m.builder.true is better:
            m.store[best.key] = (True, item, other)

    visit(m, iterable, look)
    found, item, _ = m.store.pop(best.key)
    if not found and "default" not in keywords:
        raise Failure(f"ValueError: {name}() of nothing", "make sure that there is at least one value")
    return item if found else keywords["default"]


def _rank(m: Machine, key: Value, item: Value) -> Value:
    """Return what an item is compared by."""
    return item if key is None else call(m, key, (item,), {})


def _before(m: Machine, left: Value, right: Value) -> Value:
    return m.each(left, lambda a: m.each(right, lambda b: precedes(m, "lt", a, b)))


@builtin(sorted)
def _sorted(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    expect(arguments, keywords, 1, 1, "key", "reverse")
    return m.new_list(m.each(_items(m, arguments[0], keywords), lambda items: arranged(m, items, keywords)))


def arranged(m: Machine, items: tuple[Value, ...] | Growing, keywords: Keywords) -> Value:
    """Return items in ascending (or with `reverse` descending) order of `key`, stably."""
    if isinstance(items, Growing):
        return m.of_growing("sorted" if not keywords else "sorted otherwise", items)
    key = keywords.get("key")
    return over_values(m, keywords.get("reverse", False), lambda flag: _arranged(m, items, key, bool(flag)))


def _arranged(m: Machine, items: tuple[Value, ...], key: Value, reverse: bool) -> tuple[Value, ...]:
    plain = key is None and all(is_scalar(item) and numeric(item) for item in items)
    if plain and not any(is_far(m.expr(item)) for item in items):
        ordered = _by_counting(m, [m.expr(item) for item in items])
        return ordered[::-1] if reverse else ordered
    pairs = [(_rank(m, key, item), item) for item in items]
    for end in range(len(pairs) - 1, 0, -1):
        for at in range(end):
            m.watch()
            (left, first), (right, second) = pairs[at], pairs[at + 1]
            swap = truth(m, _before(m, left, right) if reverse else _before(m, right, left))
            pairs[at] = (m.merge(swap, right, left), m.merge(swap, second, first))
            pairs[at + 1] = (m.merge(swap, left, right), m.merge(swap, first, second))
    return tuple(item for _, item in pairs)


def _by_counting(m: Machine, items: list[Expr]) -> tuple[Value, ...]:
    """Return the order statistics of numbers from the counts of items at or below every value."""
    values = sorted({value for item in items for value in item.values})
    counts = [m.builder.sum([m.expr(operate(m, "le", item, value)) for item in items]) for value in values[:-1]]
    ordered = []
    for at in range(len(items)):
        m.watch()
        result: Value = values[-1] if values else 0
        for value, count in zip(reversed(values[:-1]), reversed(counts), strict=True):
            result = m.merge(m.expr(operate(m, "gt", known(count), at)), value, result)
        ordered.append(result)
    return tuple(ordered)
