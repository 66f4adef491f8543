"""What is learned of a pass over the records, and a store in which nothing is read that a record may have changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol, TypeAlias

from tightdp.core.lowering.store import MISSING, Cell, Store
from tightdp.core.lowering.values import Entries, Every, Host, Reference, Stream, Value
from tightdp.every_n.counters import Limits
from tightdp.every_n.paths import Affine, Bounds, Noise, Tree
from tightdp.exact.field import Number

Frozen: TypeAlias = Any
"""Plain data."""
Place: TypeAlias = tuple[Any, ...]
"""Where a value stands: a cell, and the way from there."""

Extreme: TypeAlias = tuple[str, int]
"""The items of a list that come first in ascending ("lt") or descending ("gt") order, up to a rank; -1 for the first
and its place."""
Extremes: TypeAlias = dict[Extreme, tuple[tuple[Value, Value], ...]]
"""These items, and the indices of their records."""


@dataclass
class Knowledge:
    """What was learned of a pass while its states were looked for."""

    written: dict[Cell, None] = field(default_factory=dict)
    live: dict[Cell, None] = field(default_factory=dict)
    plain: set[Place] = field(default_factory=set)
    told: set[Place] = field(default_factory=set)
    tracked: dict[Place, set[str]] = field(default_factory=dict)
    tokens: list[Place] = field(default_factory=list)
    residues: dict[Place, int] = field(default_factory=dict)
    """Modulo what a sum is part of the state, where it is divided; 0 where that is not known."""
    extremes: dict[Place, set[Extreme]] = field(default_factory=dict)
    """What is asked of the order of lists."""
    before: dict[Tree, None] = field(default_factory=dict)
    """What the code of a record asks of what was found before the pass: it is decided before that."""
    marking: bool = False
    """Whether the indices of records that are kept have marks."""
    measured: dict[Place, set[str]] = field(default_factory=dict)
    """The lists whose length or sum is looked at after the records."""
    limits: Limits = field(default_factory=Limits)
    opened: set[Place] = field(default_factory=set)
    """Sums that records compare, and that are needed as they are however large they grow: they stay symbolic."""

    counted: bool = False
    """Whether the index of the record at hand is a part of the state: it decides what happens."""
    remembered: int = 0
    """How many earlier records are a part of the state."""

    def place(self, token: int) -> Place:
        """Return where something stands that grows; the index of the record at hand stands nowhere."""
        return () if token < 0 else self.tokens[token % 1000]

    def farther(self, token: int, edge: Fraction | None, sums: bool) -> None:
        """Learn that a number that is cut off is compared farther out, or needed as it is."""
        place = self.place(token)
        if edge is None and sums and place not in self.opened:
            self.opened.add(place)
            self.plain.discard(place)
            del self.limits.known[place]
        else:
            self.limits.move(place, edge)

    def token(self, number: int, place: Place) -> int:
        """Return the number of what grows in a place."""
        if place not in self.tokens:
            self.tokens.append(place)
        return number * 1000 + self.tokens.index(place)


@dataclass(frozen=True)
class State:
    """How the pass goes on ("next", or left for one of several places), and what its cells hold."""

    left: int | None
    cells: tuple[Frozen, ...]
    slots: int
    sums: tuple[int, ...]
    residues: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Sent:
    """What is added to a token, or asked: the symbolic values stand apart."""

    what: Any
    published: tuple[Affine, ...]


@dataclass(frozen=True)
class Play:
    """One way through a round."""

    probability: Number
    noises: tuple[Noise, ...]
    bounds: Bounds
    sent: tuple[tuple[int, Sent], ...]
    asked: tuple[Sent, ...]
    target: int
    slots: tuple[Affine, ...]
    sums: tuple[Affine, ...]
    mark: int | None = None


@dataclass(frozen=True)
class Explored:
    """All states of a pass, what each record makes of each, and how the first one is entered."""

    states: tuple[State, ...]
    steps: dict[tuple[int, Any], tuple[Play, ...]]
    slots: tuple[Affine, ...]
    sums: tuple[Affine, ...]
    finals: tuple[int, ...]


class OfPass(Protocol):
    """The pass whose states these are."""

    m: Any
    number: int
    born: int
    learned: Knowledge
    initial: dict[int, Any]
    marks: frozenset[int]
    extremes: dict[int, Extremes]
    index: Value
    departed: tuple[int, Value] | None
    met: dict[Place, set[Any]]
    growing: set[int]

    def aggregate(self, token: int, name: str) -> Value:
        """Return the sum or the length of what was added to a list up to now."""
        ...


POISON: Any = Host("a value that depends on the records")
"""What a cell holds that a round may have written and nothing is known to read."""


class Again(Exception):
    """More was learned of a pass: everything is read once more."""


class Unending(Exception):
    """A run that was followed does not come to an end: none is like it."""


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
        held = Reference(key)
        names = (str(cell[1]) for cell, value in self._cells.items() if isinstance(cell, tuple) and value == held)
        return next(names, "a list")

    def holders(self, key: int) -> list[Cell]:
        """Return the cells that hold a list."""
        return [cell for cell, value in self._cells.items() if Reference(key) in _inside(value)]


def _inside(value: Value) -> Iterator[Value]:
    yield value
    parts = value if isinstance(value, tuple) else value.values if isinstance(value, Entries) else ()
    for part in parts:
        yield from _inside(part)
