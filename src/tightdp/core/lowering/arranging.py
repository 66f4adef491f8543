"""What comes before what: the order of items by comparisons of a class or a key, and of numbers by counting."""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from itertools import permutations
from typing import Any

from tightdp.core.lowering.arrays import fail_where
from tightdp.core.lowering.frames import of_library
from tightdp.core.lowering.functions import call
from tightdp.core.lowering.machine import Dead, Failure, Machine
from tightdp.core.lowering.objects import has_method
from tightdp.core.lowering.scalars import indexed, operate, over_values, total, truth, whole
from tightdp.core.lowering.sequences import precedes
from tightdp.core.lowering.store import key_of
from tightdp.core.lowering.values import (
    Collection,
    Growing,
    Object,
    Reference,
    Value,
    is_scalar,
    known,
    numeric,
    parts_of,
)
from tightdp.core.nodes import Const, Expr
from tightdp.core.valuesets import ordered
from tightdp.core.windows import is_far


def rank_of(m: Machine, key: Value, item: Value) -> Value:
    return item if key is None else call(m, key, (item,), {})


def before(m: Machine, left: Value, right: Value, name: str = "lt") -> Value:
    return m.each(left, lambda a: m.each(right, lambda b: precedes(m, name, a, b)))


def arranged(m: Machine, items: tuple[Value, ...] | Growing, key: Value, reverse: Value) -> Value:
    """Return items in ascending (or with `reverse` descending) order of `key`, stably."""
    if isinstance(items, Growing):
        return m.of_growing("sorted" if key is None and reverse is False else "sorted otherwise", items)
    return over_values(m, indexed(m, reverse), lambda flag: _arranged(m, items, key, bool(whole(flag))))


def _arranged(m: Machine, items: tuple[Value, ...], key: Value, reverse: bool) -> tuple[Value, ...]:
    plain = key is None and all(is_scalar(item) and numeric(item) for item in items)
    if plain and not any(is_far(m.expr(item)) for item in items):
        statistics = _by_counting(m, [m.expr(item) for item in items])
        return statistics[::-1] if reverse else statistics
    ranks = [rank_of(m, key, item) for item in items]
    draws, born, level = m.builder.draws, m.store.newest, m.store.open()
    by_classes = any(_compares_by_class(m, each) for each in ranks)
    by_heap = by_classes and of_library(m.frame) and m.frame.source.node.name in ("nsmallest", "nlargest")
    if by_heap and not all(_has_equality(m, each) for each in ranks):  # ties fall as they do in Python's heap
        raise m.unsupported("nsmallest and nlargest by a class without __eq__ are not in the language", "use sorted")
    result = (_by_places if by_classes else _by_swaps)(m, items, ranks, reverse)
    if m.builder.draws != draws or any(key_of(cell) <= born for cell in m.store.changes(level)):
        what = "sorting by comparisons that draw, or change something, is not in the language"
        raise m.unsupported(what, "sort by a key: Python does not say what it compares with what")
    m.store.keep(level)
    return result


def _compares_by_class(m: Machine, value: Value) -> bool:
    """Whether methods of classes, or sets, may say what comes first: that need be no order."""
    return any(
        isinstance(part, (Object, Collection))
        or (isinstance(part, Reference) and _compares_by_class(m, m.store[part.key]))
        for part in parts_of(value)
    )


def _has_equality(m: Machine, value: Value) -> bool:
    """Whether objects say what is equal to them; a set is equal to few that it neither contains nor is contained in."""
    return all(
        has_method(part, "__eq__")
        if isinstance(part, Object)
        else not isinstance(part, Collection)
        and (not isinstance(part, Reference) or _has_equality(m, m.store[part.key]))
        for part in parts_of(value)
    )


def _by_swaps(m: Machine, items: tuple[Value, ...], ranks: list[Value], reverse: bool) -> tuple[Value, ...]:
    pairs = list(zip(ranks, items, strict=True))
    for end in range(len(pairs) - 1, 0, -1):
        for at in range(end):
            m.watch()
            first, after = pairs[at], pairs[at + 1]
            swap = truth(m, before(m, *((first[0], after[0]) if reverse else (after[0], first[0]))))
            pairs[at], pairs[at + 1] = m.merge(swap, after, first), m.merge(swap, first, after)
    return tuple(item for _, item in pairs)


def _by_places(m: Machine, items: tuple[Value, ...], ranks: list[Value], reverse: bool) -> tuple[Value, ...]:
    """Return items in the order that classes say; one run is sorted by Python itself.

    Where what they say is no order, what comes of it depends on what is compared with what.
    """

    def less(a: int, b: int) -> Expr:
        return truth(m, before(m, ranks[a], ranks[b]))

    if m.single:
        by_class: Callable[[int], Any] = cmp_to_key(lambda a, b: -(less(a, b) is m.builder.true))
        return tuple(items[at] for at in sorted(range(len(items)), key=by_class, reverse=reverse))
    m.watch()
    mark, checks = m.departures(), len(m.checks)
    try:
        pairs = {(a, b): less(a, b) for a, b in permutations(range(len(items)), 2)}
    except (Failure, Dead):
        if m.guards:
            raise m.unsupported(*_RAISING) from None
        raise
    if m.guards and not (m.stayed(mark) and len(m.checks) == checks):
        raise m.unsupported(*_RAISING)
    fail_where(m, _no_order(m, pairs, len(items)), Failure(*_NO_ORDER))
    earlier = {(a, b): pairs[(b, a) if reverse else (a, b)] for a, b in pairs}
    places = [
        total(m, [0, *(known(earlier[b, a] if a < b else m.builder.negation(earlier[a, b])) for b in others)])
        for a, others in ((a, [b for b in range(len(items)) if b != a]) for a in range(len(items)))
    ]
    sorted_items = []
    for at in range(len(items)):
        result = items[-1]
        for item, place in zip(items[-2::-1], places[-2::-1], strict=True):
            result = m.merge(m.expr(operate(m, "eq", place, at)), item, result)
        sorted_items.append(result)
    return tuple(sorted_items)


_RAISING = "sorting by comparisons that may raise is not in the language", "sort by a key"
_NO_ORDER = (
    "sorting by comparisons that are no order: Python does not say what comes of it",
    "let < be a strict weak order: of equal items none is less, and what is equal to the same item is equal",
)


def _no_order(m: Machine, less: dict[tuple[int, int], Expr], size: int) -> Expr:
    """Return where comparisons are not those of numbers: less both ways, or less with a third item that is between."""
    if all(isinstance(each, Const) for each in less.values()):
        ranks = [sum(less[b, a] is m.builder.true for b in range(size) if a != b) for a in range(size)]
        return m.expr(any((each is m.builder.true) is not (ranks[a] < ranks[b]) for (a, b), each in less.items()))
    more = {pair: m.builder.negation(each) for pair, each in less.items()}
    wrong = [m.conj(less[a, b], less[b, a]) for a, b in less if a < b]
    wrong += [m.conj(less[a, b], more[a, c], more[c, b]) for a, b, c in permutations(range(size), 3)]
    return m.builder.disjunction(wrong)


def _by_counting(m: Machine, items: list[Expr]) -> tuple[Value, ...]:
    """Return the order statistics of numbers from the counts of items at or below every value."""
    values = ordered([value for item in items for value in item.values])
    m.builder.note_mixed([item.values for item in items])
    counts = [m.builder.sum([m.expr(operate(m, "le", item, value)) for item in items]) for value in values[:-1]]
    statistics = []
    for at in range(len(items)):
        m.watch()
        result: Value = values[-1] if values else 0
        for value, count in zip(reversed(values[:-1]), reversed(counts), strict=True):
            result = m.merge(m.expr(operate(m, "gt", known(count), at)), value, result)
        statistics.append(result)
    return tuple(statistics)
