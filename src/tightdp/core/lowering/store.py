"""What names and lists hold on the runs that are alive, and how runs that parted meet again.

Every name of every frame, and every list, is a cell. Levels are opened where runs part; a level remembers what the
cells that were written since had held before, so that parting and meeting costs as much as was written, however many
names there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

from tightdp.core.builder import Builder
from tightdp.core.doubles import Double
from tightdp.core.lowering.ledger import Ledger, Row, Rows, check_items, content_with, no_row, rows_of
from tightdp.core.lowering.values import (
    UNBOUND,
    Array,
    Element,
    Entries,
    Members,
    Range,
    Sieve,
    Union,
    Value,
    View,
    alternatives,
    is_scalar,
    kind,
    known,
    numeric,
)
from tightdp.core.nodes import Const, Expr, operands_of

Cell = Any
"""A list's key, or (a frame's key, a name)."""

Option = tuple[Expr, tuple[Value, ...]]
"""Items, and when a sequence has them."""

MISSING: Any = object()
"""What a cell holds that was never written, or was deleted."""


def key_of(cell: Cell) -> int:
    """Return the key of a list, or that of the frame in which a name stands."""
    return int(cell[0] if isinstance(cell, tuple) else cell)


class Store:
    """Cells and the levels of what they held before."""

    def __init__(self) -> None:
        self._cells: dict[Cell, Value] = {}
        self._levels: list[dict[Cell, Value]] = [{}]
        self._keys = self._old = 0
        self._born = [0]
        self._names: dict[int, dict[str, None]] = {}

    def new_key(self) -> int:
        """Return a fresh key for a frame or a list."""
        self._keys += 1
        return self._keys

    def old_key(self) -> int:
        """Return a fresh key for something that was there before everything."""
        self._old -= 1
        return self._old

    def discover(self, cell: Cell, value: Value) -> None:
        """Note what a cell has held all the time, which was not looked at before."""
        self._cells[cell] = value

    @property
    def newest(self) -> int:
        """The newest key."""
        return self._keys

    def __getitem__(self, cell: Cell) -> Value:
        return self._cells[cell]

    def get(self, cell: Cell, default: Value = MISSING) -> Value:
        """Return what a cell holds."""
        return self._cells.get(cell, default)

    def __setitem__(self, cell: Cell, value: Value) -> None:
        self._remember(cell)
        self._cells[cell] = value
        if type(cell) is tuple:
            self._names.setdefault(cell[0], {})[cell[1]] = None

    def pop(self, cell: Cell) -> Value:
        """Delete a cell and return what it held."""
        self._remember(cell)
        return self._cells.pop(cell)

    @contextmanager
    def instead(self, cell: Cell, value: Value) -> Iterator[None]:
        """Let a cell hold something else in the block; runs that fail there, and all afterwards, find what it held."""
        held = self._cells[cell]
        self._cells[cell] = value
        try:
            yield
        finally:
            self._cells[cell] = held

    def _remember(self, cell: Cell) -> None:
        level = self._levels[-1]
        if cell not in level:
            level[cell] = self._cells.get(cell, MISSING)

    # frames

    def names(self, frame: int) -> Iterator[tuple[str, Value]]:
        """Yield the names of a frame that hold something, in the order in which they were first assigned."""
        for name in tuple(self._names.get(frame, ())):
            value = self._cells.get((frame, name), MISSING)
            if value is not MISSING:
                yield name, value

    def drop(self, frame: int) -> None:
        """Delete all names of a frame that is left for good."""
        for name in self._names.pop(frame, ()):
            if (frame, name) in self._cells:
                self.pop((frame, name))

    # levels

    def open(self) -> int:
        """Open a level and return its number."""
        self._levels.append({})
        self._born.append(self._keys)
        return len(self._levels) - 1

    def born(self, level: int) -> int:
        """Return the newest key at the time when a level was opened."""
        return self._born[level]

    def changes(self, level: int) -> dict[Cell, Value]:
        """Return what the cells hold that were written since a level was opened (`MISSING`: nothing any more)."""
        written: dict[Cell, None] = {}
        for before in self._levels[level:]:
            written.update(dict.fromkeys(before))
        return {cell: self._cells.get(cell, MISSING) for cell in written}

    def undo(self, level: int) -> dict[Cell, Value]:
        """Close a level, and those above it, as if nothing had been written; return the changes."""
        changes = self.changes(level)
        del self._born[level:]
        while len(self._levels) > level:
            for cell, value in self._levels.pop().items():
                if value is MISSING:
                    self._cells.pop(cell, None)
                else:
                    self._cells[cell] = value
        return changes

    def keep(self, level: int) -> None:
        """Close a level, and those above it; what was written stays."""
        del self._born[level:]
        while len(self._levels) > level:
            top = self._levels.pop()
            below = self._levels[-1]
            for cell, value in top.items():
                below.setdefault(cell, value)

    def write(self, changes: Mapping[Cell, Value]) -> None:
        for cell, value in changes.items():
            if value is not MISSING:
                self[cell] = value
            elif cell in self._cells:
                self.pop(cell)


def like(whole: tuple[Value, ...], items: Iterable[Value]) -> tuple[Value, ...]:
    """Return a tuple with these items, of the class of another one, which may have names for them."""
    made: tuple[Value, ...] = getattr(type(whole), "_make", tuple)(items)
    return made


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
    if isinstance(yes, tuple) and type(yes) is type(no) and len(yes) == len(no):
        return like(yes, (merge(builder, condition, left, right) for left, right in zip(yes, no, strict=True)))
    if isinstance(yes, Range) and isinstance(no, Range) and len(yes.items) == len(no.items):
        return Range(merge(builder, condition, yes.items, no.items))
    if isinstance(yes, Entries) and isinstance(no, Entries) and yes.keys == no.keys:
        return Entries(yes.keys, merge(builder, condition, yes.values, no.values))
    if isinstance(yes, (Entries, Ledger)) and isinstance(no, (Entries, Ledger)):
        return _merge_rows(builder, condition, rows_of(builder, yes), rows_of(builder, no))
    if isinstance(yes, Members) and isinstance(no, Members):
        return yes.combined(no, partial(builder.either, condition), builder.false)
    if isinstance(yes, Sieve) and isinstance(no, Sieve):
        return _merge_sieves(builder, condition, yes, no)
    if isinstance(yes, Double) or isinstance(no, Double):
        one = yes if isinstance(yes, Double) else no
        if all(is_scalar(side) or kind(side) == kind(one) for side in (yes, no)):
            return Double(one.draw, "case", (condition, no, yes))
    if isinstance(yes, Array) and isinstance(no, Array) and kind(yes) == kind(no):
        return _merge_arrays(builder, condition, yes, no)
    if isinstance(yes, Element) and isinstance(no, Element) and yes.dtype == no.dtype:
        return Element(merge(builder, condition, yes.value, no.value), yes.dtype)
    if kind(yes) == kind(no) and not isinstance(yes, Union):
        return yes
    return _merge_shapes(builder, condition, yes, no)


def _merge_rows(builder: Builder, condition: Expr, yes: Rows, no: Rows) -> Entries | Ledger:
    never = no_row(builder)
    keys = {**yes, **no}
    rows = {key: merge_row(builder, condition, yes.get(key, never), no.get(key, never)) for key in keys}
    return content_with(builder, rows)


def merge_row(builder: Builder, condition: Expr, yes: Row, no: Row) -> Row:
    """Return what is known of a key where the condition holds, and elsewhere."""
    here = builder.either(condition, yes.present, no.present)
    if yes.present is not builder.false and no.present is not builder.false:
        value = merge(builder, condition, yes.value, no.value)
        return Row(here, builder.either(condition, yes.rank, no.rank), value, yes.filled and no.filled)
    row = no if yes.present is builder.false else yes
    if not row.filled or not is_scalar(row.value) or not numeric(row.value):
        return replace(row, present=here, filled=False)
    return replace(row, present=here, value=merge(builder, condition, yes.value, no.value))


def _merge_sieves(builder: Builder, condition: Expr, yes: Sieve, no: Sieve) -> Sieve:
    """Keep the items that both begin with, and those that follow where the condition holds, or does not."""
    shortest = min(len(yes.entries), len(no.entries))
    both = zip(yes.entries, no.entries, strict=False)
    shared = next((at for at, (ours, theirs) in enumerate(both) if ours is not theirs), shortest)
    entries = list(yes.entries[:shared])
    for side, holds in ((yes, condition), (no, builder.negation(condition))):
        entries += [(builder.conjunction([holds, present]), item) for present, item in side.entries[shared:]]
    return Sieve(tuple(entries), yes.settle)


def _merge_arrays(builder: Builder, condition: Expr, yes: Array, no: Array) -> Array:
    """Return the array that is one or the other: what is written to it is written to whichever it is."""
    ours, theirs = (
        {(key, places.tobytes(), places.strides): (guard, key, places) for guard, key, places in side.sources}
        for side in (yes, no)
    )
    merged = []
    for name in {**ours, **theirs}:
        here, there = ours.get(name, (builder.false,))[0], theirs.get(name, (builder.false,))[0]
        guard = builder.either(condition, here, there)
        if guard is not builder.false:
            merged.append((guard, *(ours.get(name) or theirs[name])[1:]))
    return Array(yes.shape, yes.dtype, tuple(merged))


def _merge_shapes(builder: Builder, condition: Expr, yes: Value, no: Value) -> Value:
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
    check_items(len(merged), sum(len(_parts(item)) for _, item in merged))
    return merged[0][1] if len(merged) == 1 else Union(tuple(merged))


def _parts(item: Value) -> tuple[Value, ...]:
    if isinstance(item, Entries):
        return item.keys
    return item if isinstance(item, tuple) else ()


def by_length(builder: Builder, options: Iterable[Option]) -> tuple[Option, ...]:
    """Return tuples that exclude each other as one of every length."""
    found: dict[int, Option] = {}
    for guard, items in options:
        if len(items) in found:
            other, before = found[len(items)]
            guard, items = builder.disjunction([other, guard]), merge(builder, other, before, items)
        found[len(items)] = (guard, items)
    return tuple(found.values())


class Listed(Union):
    """The items of a view of a dictionary in the order of its keys: written out where that is asked for."""

    def __init__(self, ledger: Ledger, view: View) -> None:
        object.__setattr__(self, "ledger", ledger)
        object.__setattr__(self, "view", view)

    ledger: Ledger
    view: View

    @cached_property
    def alternatives(self) -> tuple[Option, ...]:
        """Return the items by their number."""
        return by_length(self.ledger.builder, ((holds, self.view.of(keys)) for holds, keys in self.ledger.alternatives))


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
    return {part.serial for part in operands_of(condition, "and")}


def relative(builder: Builder, condition: Expr, given: Iterable[int]) -> Expr:
    """Return a path condition without the parts that are known to hold."""
    return builder.conjunction([part for part in operands_of(condition, "and") if part.serial not in given])
