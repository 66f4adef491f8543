"""What a loop finds when it begins, to go back to; and what is done only where others do not see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tightdp.core.lowering.machine import Machine
from tightdp.core.lowering.store import Cell, key_of
from tightdp.core.lowering.values import Value


class Before:
    """What a loop finds, so that it can begin again; unless only one of its rounds does, of the `whole` lowering."""

    def __init__(self, m: Machine, whole: bool = True) -> None:
        self._m, self._alive, self._mark = m, m.alive, m.departures()
        self._given = (m.given, m.given.made) if m.given else None
        lists: list[list[Any]] = [
            m.checks,
            m.evidence,
            m.results,
            m.added,
            m.stack,
            m.position,
            m.frame.returns,
            m.frame.loops, *(guard.raised for guard in m.guards),
        ]  # fmt: skip
        if whole:
            lists += [m.builder.noises, m.builder.operations, m.builder.lost]
        self._lists = [(each, len(each)) for each in lists]
        self._kept = (dict(m.spent), m.impossible) if whole else None

    def restore(self, level: int) -> None:
        """Forget all that was done since, with what was written since a level was opened."""
        self._m.store.undo(level)
        self._m.alive = self._alive
        self._m.forget_departures(self._mark)
        if self._given is not None:
            given, made = self._given
            given.made = made
        if self._kept is not None:
            self._m.spent, self._m.impossible = dict(self._kept[0]), self._kept[1]
        for each, length in self._lists:
            del each[length:]


def tentatively(m: Machine, action: Callable[[], Value], allowed: Callable[[Cell], bool]) -> tuple[bool, Value]:
    """Do what ends no run, and of what was there before changes only what is allowed; else leave everything as it was.

    Return whether it was done, and its value.
    """
    before, alive, born = Before(m), m.alive, m.store.newest
    level, ended = m.store.open(), len(m.checks) + len(m.evidence)
    value = action()
    changed = (cell for cell in m.store.changes(level) if key_of(cell) <= born)
    if m.alive is alive and len(m.checks) + len(m.evidence) == ended and all(map(allowed, changed)):
        m.store.keep(level)
        return True, value
    before.restore(level)
    return False, None
