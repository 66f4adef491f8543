"""Items at positions that may depend on the run, and what a node picks among values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tightdp.core.lowering.machine import Dead, Failure, Machine
from tightdp.core.lowering.scalars import whole
from tightdp.core.lowering.store import like
from tightdp.core.lowering.values import (
    Collection,
    Object,
    Reference,
    Table,
    Union,
    Value,
    View,
    all_plain,
    is_scalar,
    kind,
    known,
    name_of,
)
from tightdp.core.nodes import Expr


def item_at(m: Machine, items: tuple[Value, ...], index: Value) -> Value:
    m.builder.cells.check_whole(index)
    if not isinstance(index, Expr):
        return items[position_in(items, index)]
    positions = dict(valid_positions(m, items, index))
    some = next(iter(positions.values()))
    return picked(m, index, [items[positions.get(value, some)] for value in index.values])


def picked(m: Machine, index: Expr, branches: Sequence[Value]) -> Value:
    """Return the value that belongs to that of a node, part by part where the values have parts."""
    first = branches[0]
    if all(
        branch is first or (type(branch) is type(first) and all_plain((branch,)) and branch == first)
        for branch in branches
    ):
        return first
    if all(map(is_scalar, branches)):
        return known(m.builder.case(index, [m.expr(branch) for branch in branches]))
    kinds = list(map(kind, branches))
    shapes = list(dict.fromkeys(kinds))
    if len(shapes) == 1 and isinstance(first, tuple):
        return like(first, (picked(m, index, column) for column in zip(*branches, strict=True)))
    if len(shapes) == 1 or any(isinstance(branch, Union) for branch in branches):
        result = branches[-1]
        for value, branch in zip(reversed(index.values[:-1]), reversed(branches[:-1]), strict=True):
            result = m.merge(m.builder.equals(index, value), branch, result)
        return result
    found: Value = None
    for shape in reversed(shapes):
        here = [each == shape for each in kinds]
        some = branches[here.index(True)]
        mine = picked(m, index, [branch if own else some for branch, own in zip(branches, here, strict=True)])
        single = m.builder.equals(index, index.values[here.index(True)]) if here.count(True) == 1 else None
        is_here = single or m.builder.case(index, list(map(m.builder.const, here)))
        found = mine if shape == shapes[-1] else m.merge(is_here, mine, found)
    return found


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
    for name, hint in (("IndexError", "keep the index in range"), ("TypeError", "use an int")):
        wrong = [v for v in index.values if v not in accepted and isinstance(v, int) == (name == "IndexError")]
        if wrong:
            failure = Failure(f"{name}: index {wrong[0]!r} in a sequence of length {len(items)}", hint)
            m.oblige(m.builder.disjunction([m.builder.equals(index, value) for value in wrong]), failure)
    if not valid:
        raise Dead
    return valid


def refuse_slice(m: Machine, value: Value) -> None:
    """Raise Failure for a slice of a deque, a dictionary or a set, and LanguageError for one of an object."""
    if isinstance(value, Object):
        raise m.unsupported(f"a slice of a {name_of(value)} is not in the language", "call a method that gives it")
    if isinstance(value, (Table, View, Collection)) or (isinstance(value, Reference) and type(value) is not Reference):
        raise Failure(f"TypeError: a {name_of(value)} has no slices", "make a list of it first: list(...)")


def as_slice(*bounds: Value) -> slice:
    """Return a slice, or Failure for bounds that are none."""
    for bound in bounds:
        if bound is not None:
            whole(bound)
    if bounds[2] == 0:
        raise Failure("ValueError: slice step cannot be zero", "use a step other than 0")
    return slice(*bounds)
