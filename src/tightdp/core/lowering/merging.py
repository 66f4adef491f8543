"""The value that is one thing where a condition holds and another elsewhere: how runs that parted meet again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tightdp.core.builder import Builder
from tightdp.core.lowering.store import MISSING, Cell
from tightdp.core.lowering.values import (
    UNBOUND,
    Entries,
    Members,
    Range,
    Sieve,
    Union,
    Value,
    alternatives,
    is_scalar,
    kind,
    known,
)
from tightdp.core.nodes import Const, Expr, Nary
from tightdp.errors import LimitError

__all__ = ["facts", "merge", "merge_changes", "relative"]

MAX_ITEMS = 8_000
"""How many items a sequence whose length depends on the run may have, over all its lengths."""


def merge(builder: Builder, condition: Expr, yes: Value, no: Value) -> Value:
    """Return the value that is `yes` where the condition holds and `no` elsewhere."""
    if isinstance(condition, Const):
        return yes if condition.values[0] else no
    if yes is no:
        return yes
    if is_scalar(yes) and is_scalar(no):
        if type(yes) is type(no) and not isinstance(yes, Expr) and yes == no:
            return yes
        return known(builder.case(condition, (builder.expr(no), builder.expr(yes))))
    if isinstance(yes, tuple) and isinstance(no, tuple) and len(yes) == len(no):
        return tuple(merge(builder, condition, left, right) for left, right in zip(yes, no, strict=True))
    if isinstance(yes, Range) and isinstance(no, Range) and len(yes.items) == len(no.items):
        return Range(merge(builder, condition, yes.items, no.items))
    if isinstance(yes, Entries) and isinstance(no, Entries) and yes.keys == no.keys:
        return Entries(yes.keys, merge(builder, condition, yes.values, no.values))
    if isinstance(yes, Members) and isinstance(no, Members):
        return _merge_members(builder, condition, yes, no)
    if isinstance(yes, Sieve) and isinstance(no, Sieve):
        return _merge_sieves(builder, condition, yes, no)
    if kind(yes) == kind(no) and not isinstance(yes, Union):
        return yes
    return _merge_shapes(builder, condition, yes, no)


def _merge_sieves(builder: Builder, condition: Expr, yes: Sieve, no: Sieve) -> Sieve:
    """Keep the items that both begin with, and those that follow where the condition holds, or does not."""
    shortest = min(len(yes.entries), len(no.entries))
    both = zip(yes.entries, no.entries, strict=False)
    shared = next((at for at, (ours, theirs) in enumerate(both) if ours is not theirs), shortest)
    entries = list(yes.entries[:shared])
    for side, holds in ((yes, condition), (no, builder.negation(condition))):
        entries += [(builder.conjunction([holds, present]), item) for present, item in side.entries[shared:]]
    return Sieve(tuple(entries), yes.settle)


def _merge_shapes(builder: Builder, condition: Expr, yes: Value, no: Value) -> Value:
    """Merge values of different shapes, shape by shape."""
    never, always = builder.false, builder.true
    left = {kind(item): (guard, item) for guard, item in alternatives(yes, always)}
    right = {kind(item): (guard, item) for guard, item in alternatives(no, always)}
    merged = []
    for shape in {**left, **right}:
        ours, theirs = left.get(shape, (never, None)), right.get(shape, (never, None))
        guard = builder.either(condition, ours[0], theirs[0])
        if shape not in left or shape not in right:
            item = ours[1] if shape in left else theirs[1]
        else:
            item = merge(builder, condition, ours[1], theirs[1])
        if guard is not never:
            merged.append((guard, item))
    items = sum(len(_parts(item)) for _, item in merged)
    if items > MAX_ITEMS:
        raise LimitError(
            f"a sequence may have {len(merged):,} lengths, and {items:,} items in all of them together",
            "bound how far it grows where its growth depends on the run",
        )
    return merged[0][1] if len(merged) == 1 else Union(tuple(merged))


def _parts(item: Value) -> tuple[Value, ...]:
    if isinstance(item, Entries):
        return item.keys
    return item if isinstance(item, tuple) else ()


def _merge_members(builder: Builder, condition: Expr, yes: Members, no: Members) -> Members:
    ours, theirs = (dict(zip(side.values, side.present, strict=True)) for side in (yes, no))
    never = builder.false
    merged = {
        value: builder.either(condition, ours.get(value, never), theirs.get(value, never))
        for value in {**ours, **theirs}
    }
    return Members(tuple(merged), tuple(merged.values()))


def merge_changes(
    builder: Builder, condition: Expr, yes: Mapping[Cell, Value], no: Mapping[Cell, Value], before: Any, born: int
) -> dict[Cell, Value]:
    """Merge what two sets of runs wrote.

    `before` gives what the other cells hold. What only one side made (a list, a frame with a key above `born`) stays.
    """
    merged = {}
    for cell in dict.fromkeys((*yes, *no)):
        ours, theirs = (side[cell] if cell in side else before.get(cell) for side in (yes, no))
        if ours is MISSING and theirs is MISSING:
            merged[cell] = MISSING
        elif (ours is MISSING or theirs is MISSING) and (type(cell) is not tuple or cell[0] > born):
            merged[cell] = theirs if ours is MISSING else ours
        else:
            ours = UNBOUND if ours is MISSING else ours
            merged[cell] = merge(builder, condition, ours, UNBOUND if theirs is MISSING else theirs)
    return merged


def facts(condition: Expr) -> set[int]:
    """Return the serial numbers of the conditions that a path condition is made of."""
    parts = condition.operands if isinstance(condition, Nary) and condition.operator == "and" else (condition,)
    return {part.serial for part in parts}


def relative(builder: Builder, condition: Expr, given: Iterable[int]) -> Expr:
    """Return a path condition without the parts that are known to hold."""
    if isinstance(condition, Nary) and condition.operator == "and":
        return builder.conjunction([part for part in condition.operands if part.serial not in given])
    return builder.true if condition.serial in given else condition
