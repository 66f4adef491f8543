"""What names and lists hold on the runs that are alive, and what changed since a point.

Every name of every frame, and every list, is a cell. Levels are opened where runs part; a level remembers what the
cells that were written since had held before, so that parting and meeting costs as much as was written, however many
names there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tightdp.core.lowering.values import Value

__all__ = ["MISSING", "Cell", "Store"]

Cell = Any
"""A list's key, or (a frame's key, a name)."""

MISSING: Any = object()
"""What a cell holds that was never written, or was deleted."""


class Store:
    """Cells and the levels of what they held before."""

    def __init__(self) -> None:
        self._cells: dict[Cell, Value] = {}
        self._levels: list[dict[Cell, Value]] = [{}]
        self._keys = 0
        self._born = [0]
        self._names: dict[int, dict[str, None]] = {}

    def new_key(self) -> int:
        """Return a fresh key for a frame or a list."""
        self._keys += 1
        return self._keys

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
        """Write changes."""
        for cell, value in changes.items():
            if value is not MISSING:
                self[cell] = value
            elif cell in self._cells:
                self.pop(cell)
