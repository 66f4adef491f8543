"""Items at positions that may depend on the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tightdp.core.lowering.machine import Dead, Failure, Machine
from tightdp.core.lowering.scalars import whole
from tightdp.core.lowering.values import Value, is_scalar, known
from tightdp.core.nodes import Expr


def item_at(m: Machine, items: tuple[Value, ...], index: Value) -> Value:
    """Return the item at an index."""
    m.builder.cells.check_whole(index)
    if not isinstance(index, Expr):
        return items[position_in(items, index)]
    positions = dict(valid_positions(m, items, index))
    some = next(iter(positions.values()))
    return _select(m, index, [items[positions.get(value, some)] for value in index.values])


def _select(m: Machine, index: Expr, branches: list[Value]) -> Value:
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
