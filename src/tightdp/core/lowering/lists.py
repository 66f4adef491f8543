"""Methods of lists, tuples and ranges."""

from __future__ import annotations

from typing import Any

from tightdp.core.lowering.arranging import arranged
from tightdp.core.lowering.builtins import summed
from tightdp.core.lowering.comparisons import equal
from tightdp.core.lowering.iteration import items_of, visit
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.registry import method
from tightdp.core.lowering.scalars import operate, over_values, whole
from tightdp.core.lowering.sequences import content, element, extend, position_in
from tightdp.core.lowering.values import SCALARS, Every, Range, Reference, Value

__all__: list[str] = []


@method("append", Reference)
def _append(m: Machine, base: Reference, value: Value) -> None:
    extend(m, base, (value,))


@method("extend", Reference)
def _extend(m: Machine, base: Reference, more: Value) -> None:
    extend(m, base, more)


@method("insert", Reference)
def _insert(m: Machine, base: Reference, index: Value, value: Value) -> None:
    m.store[base.key] = m.each(
        content(m, base), lambda items: over_values(m, index, lambda at: _inserted(items, whole(at), value))
    )


def _inserted(items: tuple[Value, ...], at: int, value: Value) -> tuple[Value, ...]:
    changed = list(items)
    changed.insert(at, value)
    return tuple(changed)


@method("pop", Reference)
def _pop(m: Machine, base: Reference, index: Value = -1) -> Value:
    def split(items: tuple[Value, ...]) -> Value:
        def at(position: Any) -> Value:
            if not items:
                raise Failure("IndexError: pop from an empty list", "test with if before")
            where = position_in(items, position)
            return (items[where], items[:where] + items[where + 1 :])

        return over_values(m, index, at)

    pair = m.each(content(m, base), split)
    m.store[base.key] = element(m, pair, 1)
    return element(m, pair, 0)


@method("copy", Reference)
def _copy(m: Machine, base: Reference) -> Value:
    return m.new_list(items_of(m, base))


@method("sort", Reference)
def _sort(m: Machine, base: Reference, **keywords: Value) -> None:
    m.store[base.key] = m.each(content(m, base), lambda items: arranged(m, items, keywords))


@method("reverse", Reference)
def _reverse(m: Machine, base: Reference) -> None:
    m.store[base.key] = m.each(content(m, base), lambda items: items[::-1])


@method("clear", Reference)
def _clear(m: Machine, base: Reference) -> None:
    content(m, base)
    m.store[base.key] = ()


@method("remove", Reference)
def _remove(m: Machine, base: Reference, wanted: Value) -> None:
    _pop(m, base, _index(m, base, wanted))


@method("index", Reference, tuple, Range)
def _index(m: Machine, base: Value, wanted: Value) -> Value:
    def search(items: tuple[Value, ...]) -> Value:
        hits = [m.expr(equal(m, item, wanted)) for item in items]
        missing = m.conj(*(m.builder.negation(hit) for hit in hits))
        m.oblige(missing, Failure("ValueError: .index() of a value that is not there", "test with `in` first"))
        result: Value = max(len(items) - 1, 0)
        for at in range(len(items) - 2, -1, -1):
            result = m.merge(hits[at], at, result)
        return result

    return m.each(items_of(m, base), search)


@method("count", Every)
def _count_every(m: Machine, base: Every, wanted: Value) -> Value:
    result = m.new_list((0,))

    def add(item: Value) -> None:
        (done,) = m.store[result.key]
        m.store[result.key] = (operate(m, "add", done, operate(m, "int", equal(m, item, wanted))),)

    visit(m, base, add)
    return m.store.pop(result.key)[0]


@method("count", Reference, tuple, Range)
def _count(m: Machine, base: Value, wanted: Value) -> Value:
    return m.each(items_of(m, base), lambda items: summed(m, tuple(equal(m, item, wanted) for item in items)))


@method("bit_count", *SCALARS)
def _bit_count(m: Machine, value: Value) -> Value:
    return operate(m, "bit_count", value)


@method("bit_length", *SCALARS)
def _bit_length(m: Machine, value: Value) -> Value:
    return operate(m, "bit_length", value)
