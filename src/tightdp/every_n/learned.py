"""What is learned of a pass over the records: its states, and what each record makes of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from tightdp.core.lowering.store import Cell
from tightdp.core.lowering.values import Value
from tightdp.every_n.symbols import Affine, Bounds
from tightdp.exact.field import Number

__all__ = ["Explored", "Frozen", "Knowledge", "OfPass", "Place", "Play", "Sent", "State"]

Frozen: TypeAlias = Any
"""Plain data."""
Place: TypeAlias = tuple[Any, ...]
"""Where a value stands: a cell, and the way from there."""


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
    measured: dict[Place, set[str]] = field(default_factory=dict)
    """The lists whose length or sum is looked at after the records."""

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
    noises: tuple[Number, ...]
    bounds: Bounds
    sent: tuple[tuple[int, Sent], ...]
    asked: tuple[Sent, ...]
    target: int
    slots: tuple[Affine, ...]
    sums: tuple[Affine, ...]


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

    def aggregate(self, token: int, name: str) -> Value:
        """Return the sum or the length of what was added to a list up to now."""
        ...
