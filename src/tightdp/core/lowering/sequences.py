"""Sequences: their items, indexing and slicing with positions that may depend on the run, and changes of lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tightdp.core.lowering.adopt import adopt
from tightdp.core.lowering.comparisons import equal
from tightdp.core.lowering.iteration import collected, items_of, joined
from tightdp.core.lowering.machine import Dead, Failure, Machine
from tightdp.core.lowering.scalars import over_values, whole
from tightdp.core.lowering.values import Host, Range, Reference, Value, is_scalar, known, name_of
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
    if isinstance(value, Host) and isinstance(value.object, dict):
        return _looked_up(m, value.object, index)
    if isinstance(value, Host) or not is_scalar(index):
        raise Failure(f"TypeError: an index must be an integer, not {name_of(index)}", "use an int")
    return m.each(items_of(m, value), lambda items: item_at(m, items, index))


def _looked_up(m: Machine, table: dict[Any, Any], key: Value) -> Value:
    hits = [(m.expr(equal(m, key, adopt(m, have))), content) for have, content in table.items()]
    missing = m.conj(*(m.builder.negation(hit) for hit, _ in hits))
    m.oblige(missing, Failure("KeyError: a key that is not in the dictionary", "give it every key that occurs"))
    found = [(hit, adopt(m, content)) for hit, content in hits if hit is not m.builder.false]
    if not found:
        raise Dead
    result = found[-1][1]
    for hit, content in reversed(found[:-1]):
        result = m.merge(hit, content, result)
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


def position_in(items: Sequence[Value], index: Any) -> int:
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
        m.store[item.key] = m.each(content(m, item), lambda items: replaced(m, items, index, value))

    m.each(base, into)


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
    """Assign the items `more` (a tuple, or a union of tuples) to a slice of a list."""

    def changed(items: tuple[Value, ...], new: tuple[Value, ...], *plain: Any) -> tuple[Value, ...]:
        result, where = list(items), as_slice(*plain)
        try:
            result[where] = new
        except ValueError as error:
            raise Failure(f"ValueError: {error}", "assign as many items as the slice has") from None
        return tuple(result)

    def over(items: tuple[Value, ...], new: tuple[Value, ...]) -> Value:
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
