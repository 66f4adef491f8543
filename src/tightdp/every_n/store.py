"""A store in which nothing is read unseen that a record may have changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tightdp.core.lowering.store import MISSING, Cell, Store
from tightdp.core.lowering.values import Entries, Every, Host, Reference, Stream, Value

__all__ = ["POISON", "CheckedStore", "Needed"]

POISON: Any = Host("a value that depends on the records")
"""What a cell holds that a round may have written and nothing is known to read."""


class Needed(Exception):
    """A cell is read that was taken for one that nothing reads."""

    def __init__(self, cell: Cell) -> None:
        super().__init__()
        self.cell = cell


class CheckedStore(Store):
    """A store in which nothing is read that a round may have changed unseen."""

    def __getitem__(self, cell: Cell) -> Value:
        value = super().__getitem__(cell)
        if value is POISON:
            raise Needed(cell)
        return value

    def get(self, cell: Cell, default: Value = MISSING) -> Value:
        value = super().get(cell, default)
        if value is POISON:
            raise Needed(cell)
        return value

    def was(self, cell: Cell, level: int) -> Value:
        """Return what a cell held when a level was opened."""
        for before in self._levels[level:]:
            if cell in before:
                return before[cell]
        return self._cells.get(cell, MISSING)

    def forget_keys(self, newest: int) -> None:
        """Give the keys after one again: what had them is gone, and the next run finds the same ones."""
        self._keys = newest

    def streams(self) -> set[Any]:
        """Return what is held and can be gone through once."""
        found = {part for value in self._cells.values() for part in _inside(value) if isinstance(part, (Stream, Every))}
        return found | {part for each in found if isinstance(each, Every) for part in each.parts}

    def name_of(self, key: Cell) -> str:
        """Return a name that holds a list."""
        names = (
            str(cell[1]) for cell, value in self._cells.items() if isinstance(cell, tuple) and _is_list(value, key)
        )
        return next(names, "a list")

    def refers(self, key: int) -> int:
        """Return how many cells hold a list."""
        return len(self.holders(key))

    def holders(self, key: int) -> list[Cell]:
        """Return the cells that hold a list."""
        return [cell for cell, value in self._cells.items() if Reference(key) in _inside(value)]


def _is_list(value: Value, key: Cell) -> bool:
    return isinstance(value, Reference) and value.key == key


def _inside(value: Value) -> Iterator[Value]:
    yield value
    parts = value if isinstance(value, tuple) else value.values if isinstance(value, Entries) else ()
    for part in parts:
        yield from _inside(part)
