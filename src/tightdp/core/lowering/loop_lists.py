"""The lists that a round of a loop made, as part of a state: what they hold, and which names share one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tightdp.core.lowering.loop_runs import Run
from tightdp.core.lowering.machine import Machine
from tightdp.core.lowering.store import Cell
from tightdp.core.lowering.values import Reference, Value, all_plain
from tightdp.core.operators import Far


@dataclass(frozen=True)
class Listed:
    """A list that a round made: its number among them, by which names share it, and its items, none inside itself."""

    number: int
    items: tuple[Value, ...] = ()

    def __repr__(self) -> str:
        return repr(list(self.items))


class Lists:
    """The lists that a round made, in what it goes on with."""

    def __init__(self, run: Run, changes: dict[Cell, Value], keys: int) -> None:
        self._run, self._changes, self._keys = run, changes, keys
        self._numbers: dict[int, int] = {}
        self._around: set[int] = set()

    def content(self, value: Value) -> Value:
        """Return a value with nothing open in it, and with lists that were made meanwhile as what they hold."""
        whole = self._run.whole(value)
        return self._listed(whole) if isinstance(whole, (tuple, Reference)) else whole

    def _listed(self, whole: Value) -> Value:
        if isinstance(whole, tuple):
            return whole if all_plain(whole) else tuple(map(self._listed, whole))
        if not isinstance(whole, Reference) or whole.key <= self._keys:
            return whole
        number = self._numbers.setdefault(whole.key, len(self._numbers))
        if number in self._around:
            return Listed(number)
        self._around.add(number)
        items = self.content(self._changes[whole.key])
        self._around.remove(number)
        return Listed(number, items)


def remade(m: Machine, values: Sequence[Value]) -> Sequence[Value]:
    """Return values with new lists in place of those that a round made."""
    made: dict[int, Reference] = {}

    def thawed(value: Value) -> Value:
        if isinstance(value, tuple):
            return value if all_plain(value) else tuple(map(thawed, value))
        if not isinstance(value, Listed):
            return value
        if value.number not in made:
            made[value.number] = m.new_list(())
            m.store[made[value.number].key] = thawed(value.items)
        return made[value.number]

    return tuple(map(thawed, values))


def is_endless(value: Value) -> bool:
    """Whether what a round goes on with may be any integer: it would have to be compared with what comes later."""
    inner = value.items if isinstance(value, Listed) else value
    return isinstance(value, Far) or (isinstance(inner, tuple) and not all_plain(inner) and any(map(is_endless, inner)))


def nested(value: Value) -> object:
    """Return how a value is nested, whatever its numbers are."""
    inner = value.items if isinstance(value, Listed) else value
    return tuple(map(nested, inner)) if isinstance(inner, tuple) else len(inner) if isinstance(inner, str) else None
