"""Dictionaries whose keys depend on the run: what is known of every key, in whatever order they came."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

from tightdp.core.builder import Builder
from tightdp.core.facts import at_most
from tightdp.core.lowering.values import Entries, Union, Value, is_scalar
from tightdp.core.nodes import Const, Expr
from tightdp.core.windows import is_far
from tightdp.errors import LimitError
from tightdp.language.tails import parts_of
from tightdp.limits.calibrated import TABLE_ENTRIES

MAX_ITEMS = 2 * TABLE_ENTRIES
"""How many items a container whose length depends on the run may have, over all its forms."""


@dataclass(frozen=True)
class Row:
    """What is known of a key: whether it is in the dictionary, its rank (keys come by rank), and what belongs to it.

    Where the key is not there the value is 0 if the row is `filled`, else anything.
    """

    present: Expr
    rank: Expr
    value: Value
    filled: bool = True


Rows = dict[Any, Row]


class Ledger(Union):
    """The content of a dictionary by its keys, of which each is there, or not, on a condition of its own.

    As one of several contents, each with its keys in order, it is written out where that is asked for.
    """

    def __init__(self, builder: Builder, rows: Rows) -> None:
        object.__setattr__(self, "builder", builder)
        object.__setattr__(self, "rows", rows)

    builder: Builder
    rows: Rows

    @cached_property
    def alternatives(self) -> tuple[tuple[Expr, Value], ...]:
        """Return the same content by its keys in order."""
        builder = self.builder
        longest = at_most([row.present for row in self.rows.values()])
        found: list[tuple[Expr, tuple[Any, ...]]] = [(builder.true, ())]
        for key, row in self.rows.items():
            longer = []
            for guard, keys in found:
                fits = len(keys) < longest
                after = [builder.total("gt", row.rank, self.rows[other].rank) for other in keys if fits]
                for place in range(len(keys), -1, -1) if fits else ():
                    here = [guard, row.present, *after[:place], *map(builder.negation, after[place:])]
                    longer.append((builder.conjunction(here), (*keys[:place], key, *keys[place:])))
                longer.append((builder.conjunction([guard, builder.negation(row.present)]), keys))
            found = [(guard, keys) for guard, keys in longer if guard is not builder.false]
            check_items(len(found), sum(len(keys) for _, keys in found))
        return tuple((guard, Entries.of({key: self.rows[key].value for key in keys})) for guard, keys in found)


def check_items(forms: int, items: int) -> None:
    """Raise LimitError where a container has too many items in all of its forms together."""
    if items > MAX_ITEMS:
        raise LimitError(
            f"a sequence may have {forms:,} lengths, and {items:,} items in all of them together",
            "bound how far it grows where its growth depends on the run",
        )


def no_row(builder: Builder) -> Row:
    """Return what is known of a key that is not there on any run."""
    return Row(builder.false, builder.const(0), 0)


def rows_of(builder: Builder, content: Entries | Ledger) -> Rows:
    """Return what is known of every key."""
    if isinstance(content, Ledger):
        return content.rows
    return {key: Row(builder.true, builder.const(at), value) for at, (key, value) in enumerate(content.table.items())}


def content_with(builder: Builder, rows: Rows) -> Entries | Ledger:
    """Return the content of a dictionary: with its keys in order where all are there, in one order, on every run."""
    rows = {key: row for key, row in rows.items() if row.present is not builder.false}
    if all(row.present is builder.true and isinstance(row.rank, Const) for row in rows.values()):
        order = sorted(rows, key=lambda key: rows[key].rank.values[0])
        return Entries.of({key: rows[key].value for key in order})
    return Ledger(builder, rows)


def inserted(builder: Builder, rows: Rows, value: Value, key: Value) -> Row:
    """Return the row of a key to which a value belongs now; a new key comes last."""
    last = builder.const(1 + max((row.rank.values[-1] for row in rows.values()), default=-1))
    old = rows.get(key)
    return Row(builder.true, last if old is None else builder.either(old.present, old.rank, last), value)


def possible_keys(builder: Builder, key: Value) -> dict[Value, Expr] | None:
    """Return the conditions under which a key is each of the plain ones that it may be.

    None where it has several forms, too many values, or is none.
    """
    parts = list(parts_of(key))
    builder.cells.check_whole(*parts)
    open_parts = [part for part in parts if isinstance(part, Expr)]
    number = prod(len(part.values) for part in open_parts)
    if not all(map(is_scalar, parts)) or number > TABLE_ENTRIES:
        return None
    if not open_parts:
        return {key: builder.true}
    if builder.noises and any(map(is_far, open_parts)):
        return None
    one = len(open_parts) == 1
    joint = open_parts[0] if one else builder.total("tuple", *open_parts)
    found: dict[Value, Expr] = {}
    for values in joint.values:
        chosen = iter((values,) if one else values)
        found[_filled_in(key, chosen)] = builder.equals(joint, values)
    return found


def _filled_in(key: Value, chosen: Iterator[Value]) -> Value:
    """Return a key with plain values in place of its parts that are not known."""
    if isinstance(key, tuple):
        return tuple(_filled_in(part, chosen) for part in key)
    return next(chosen) if isinstance(key, Expr) else key
