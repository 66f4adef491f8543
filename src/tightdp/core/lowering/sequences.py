"""Sequences: their items, indexing and slicing with positions that may depend on the run, and changes of lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tightdp.core.lowering.adopt import adopt
from tightdp.core.lowering.comparisons import equal
from tightdp.core.lowering.iteration import collected, items_of, joined
from tightdp.core.lowering.machine import Dead, Failure, Machine
from tightdp.core.lowering.scalars import over_values, whole
from tightdp.core.lowering.store import MISSING
from tightdp.core.lowering.values import (
    Entries,
    Every,
    Growing,
    Host,
    Range,
    Reference,
    Table,
    Value,
    View,
    is_scalar,
    known,
    name_of,
)
from tightdp.core.nodes import Expr

__all__ = ["content", "element", "extend", "position_in", "replaced", "sliced", "store", "valid_positions"]


# reading


def sliced(m: Machine, value: Value, bounds: tuple[Value, ...]) -> Value:
    """Return a slice of a sequence or of a string."""

    def cut(items: tuple[Value, ...]) -> Value:
        low, high, step = bounds
        return over_values(
            m,
            low,
            lambda a: over_values(m, high, lambda b: over_values(m, step, lambda c: _cut(items, a, b, c))),
        )

    if is_scalar(value):
        return over_values(m, value, lambda text: m.each(cut(items_of(m, text)), "".join))
    part = m.each(items_of(m, value), cut)
    if isinstance(value, Range):
        return m.each(part, Range)
    return m.new_list(part) if isinstance(value, Reference) else part


def _cut(items: tuple[Value, ...], *bounds: Any) -> Value:
    return items[as_slice(*bounds)]


def as_slice(*bounds: Any) -> slice:
    """Return plain bounds as a slice. Raises Failure as Python does."""
    for bound in bounds:
        if bound is not None:
            whole(bound)
    if bounds[2] == 0:
        raise Failure("ValueError: slice step cannot be zero", "use a step other than 0")
    return slice(*bounds)


def element(m: Machine, value: Value, index: Value) -> Value:
    """Return the element of a sequence or of a dictionary at an index that may depend on the run."""
    if isinstance(value, Table):
        return m.each(m.store[value.key], lambda entries: looked_up(m, entries, index))
    if isinstance(value, Host) and isinstance(value.object, dict):
        return looked_up(m, entries_of(m, value.object), index)
    if isinstance(value, View):
        raise Failure(f"TypeError: {name_of(value)} has no elements to index", "index list(...) of it")
    if isinstance(value, Every):
        return value.step(m.record_at(index), index)
    if isinstance(value, Host) or not is_scalar(index):
        raise Failure(f"TypeError: an index must be an integer, not {name_of(index)}", "use an int")
    items = items_of(m, value)
    if isinstance(items, Growing):
        return m.of_growing("item", items, index)
    return m.each(items, lambda items: item_at(m, items, index))


def entries_of(m: Machine, table: dict[Any, Any]) -> Entries:
    """Return the entries of a dictionary of the module."""
    return Entries(tuple(adopt(m, key) for key in table), tuple(adopt(m, value) for value in table.values()))


def looked_up(m: Machine, entries: Entries, key: Value, default: Value = MISSING) -> Value:
    """Return what belongs to a key, and the default (`MISSING`: none, runs without it fail) where it is not there."""
    hits = [m.expr(equal(m, key, have)) for have in entries.keys]
    if default is MISSING:
        missing = m.conj(*(m.builder.negation(hit) for hit in hits))
        m.oblige(missing, Failure("KeyError: a key that is not in the dictionary", "give it every key that occurs"))
    found = [(hit, value) for hit, value in zip(hits, entries.values, strict=True) if hit is not m.builder.false]
    if not found and default is MISSING:
        raise Dead
    result = found.pop()[1] if default is MISSING else default
    for hit, value in reversed(found):
        result = m.merge(hit, value, result)
    return result


def item_at(m: Machine, items: tuple[Value, ...], index: Value) -> Value:
    """Return the item at an index."""
    if not isinstance(index, Expr):
        return items[position_in(items, index)]
    positions = dict(valid_positions(m, items, index))
    some = next(iter(positions.values()))
    return _select(m, index, [items[positions.get(value, some)] for value in index.values])


def _select(m: Machine, index: Expr, branches: list[Value]) -> Value:
    """Return the branch at the position of the index's value, component by component."""
    if all(is_scalar(branch) for branch in branches):
        return known(m.builder.case(index, tuple(m.expr(branch) for branch in branches)))
    lengths = {len(branch) if isinstance(branch, tuple) else None for branch in branches}
    if len(lengths) == 1 and None not in lengths:
        return tuple(_select(m, index, list(column)) for column in zip(*branches, strict=True))
    result = branches[-1]
    for value, branch in zip(reversed(index.values[:-1]), reversed(branches[:-1]), strict=True):
        result = m.merge(m.builder.equals(index, value), branch, result)
    return result


def position_in(items: Sequence[Value], index: object) -> int:
    """Return a plain index as a position from the start."""
    at = whole(index)
    if not -len(items) <= at < len(items):
        raise Failure(f"IndexError: index {at} in a sequence of length {len(items)}", "keep the index in range")
    return at % len(items)


def valid_positions(m: Machine, items: Sequence[Value], index: Expr) -> list[tuple[Any, int]]:
    """Return (value, position) for the values of an index that are in range; oblige the others not to occur."""
    valid = [
        (value, value % len(items))
        for value in index.values
        if isinstance(value, int) and -len(items) <= value < len(items)
    ]
    accepted = {value for value, _ in valid}
    wrong = [value for value in index.values if value not in accepted]
    if wrong:
        m.oblige(
            m.builder.disjunction([m.builder.equals(index, value) for value in wrong]),
            Failure(f"IndexError: index {wrong[0]!r} in a sequence of length {len(items)}", "keep the index in range"),
        )
    if not valid:
        raise Dead
    return valid


def content_of(m: Machine, value: Value) -> Value:
    """Return the entries of a dictionary (or a union of them). Raises Failure for anything else."""
    if isinstance(value, Table):
        return m.store[value.key]
    if isinstance(value, Host) and isinstance(value.object, dict):
        return entries_of(m, value.object)
    raise Failure(f"AttributeError: {name_of(value)} is not a dictionary", "use a dictionary")


# changing


def content(m: Machine, value: Value) -> Value:
    """Return the content of a list that is about to be changed."""
    if not isinstance(value, Reference):
        raise Failure(f"TypeError: {name_of(value)} cannot be changed", "make a list of it first: list(...)")
    if value.key in m.frozen:
        raise m.unsupported("a list of the enclosing module cannot be changed", "copy it first: list(...)")
    return m.store[value.key]


def store(m: Machine, base: Value, index: Value, value: Value) -> None:
    """Assign to an element."""

    def into(item: Value) -> None:
        if isinstance(item, Table):
            insert(m, item, index, value)
            return
        m.store[item.key] = m.each(content(m, item), lambda items: replaced(m, items, index, value))

    m.each(base, into)


def insert(m: Machine, table: Table, key: Value, value: Value) -> None:
    """Let a value belong to a key of a dictionary; a new key comes last."""

    def into(entries: Entries) -> Value:
        if isinstance(key, Expr) and all(item in entries.keys for item in key.values):
            hits = [m.expr(equal(m, key, have)) for have in entries.keys]
            changed = [m.merge(hit, value, old) for hit, old in zip(hits, entries.values, strict=True)]
            return Entries(entries.keys, tuple(changed))
        return over_keys(m, key, lambda plain: _with_entry(entries, plain, value))

    m.store[table.key] = m.each(m.store[table.key], into)


def _with_entry(entries: Entries, key: Any, value: Value) -> Entries:
    if key in entries.keys:
        at = entries.keys.index(key)
        return Entries(entries.keys, (*entries.values[:at], value, *entries.values[at + 1 :]))
    return Entries((*entries.keys, key), (*entries.values, value))


def over_keys(m: Machine, key: Value, action: Callable[[Any], Value]) -> Value:
    """Apply an action to every plain value that a key of a dictionary, or a member of a set, may take."""

    def over(done: tuple[Any, ...], rest: tuple[Value, ...], then: Callable[[Any], Value]) -> Value:
        if not rest:
            return then(done)
        return over_keys(m, rest[0], lambda plain: over((*done, plain), rest[1:], then))

    def of(value: Value) -> Value:
        if isinstance(value, tuple):
            return over((), value, action)
        if not is_scalar(value):
            raise Failure(f"TypeError: unhashable: a {name_of(value)}", "use a number, a string or a tuple of them")
        return over_values(m, value, action)

    return m.each(key, of)


def replaced(m: Machine, items: tuple[Value, ...], index: Value, value: Value) -> tuple[Value, ...]:
    """Return items with another one at an index."""
    if not isinstance(index, Expr):
        at = position_in(items, index)
        return (*items[:at], value, *items[at + 1 :])
    changed = list(items)
    for number, at in valid_positions(m, items, index):
        changed[at] = m.merge(m.builder.equals(index, number), value, changed[at])
    return tuple(changed)


def replace_slice(m: Machine, base: Value, bounds: tuple[Value, ...], more: Value) -> None:
    """Assign the items `more` (a tuple, or a union of tuples) to a slice of a list; None deletes it."""

    def changed(items: tuple[Value, ...], new: tuple[Value, ...] | None, *plain: Any) -> tuple[Value, ...]:
        result, where = list(items), as_slice(*plain)
        if new is None:
            del result[where]
            return tuple(result)
        try:
            result[where] = new
        except ValueError as error:
            raise Failure(f"ValueError: {error}", "assign as many items as the slice has") from None
        return tuple(result)

    def over(items: tuple[Value, ...], new: tuple[Value, ...] | None) -> Value:
        low, high, step = bounds
        return over_values(
            m,
            low,
            lambda a: over_values(m, high, lambda b: over_values(m, step, lambda c: changed(items, new, a, b, c))),
        )

    present = content(m, base)
    m.store[base.key] = m.each(present, lambda items: m.each(more, lambda new: over(items, new)))


def extend(m: Machine, reference: Value, more: Value) -> None:
    """Append the items of a sequence to a list."""
    items, present = collected(m, more), content(m, reference)
    m.store[reference.key] = joined(m, present, items)
