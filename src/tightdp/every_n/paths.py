"""The paths of a program: from state to state, for all draws, the same for every n."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tightdp.every_n.chain import Letter, Move
from tightdp.every_n.symbols import Affine, Bounds
from tightdp.exact.field import Number

__all__ = ["Path", "Paths"]


@dataclass(frozen=True)
class Path:
    """One way through the code of a record, or what is before or after: it is taken where `bounds` hold.

    `probability` is that of its finite draws, `noises` are the ratios of its noise on all integers. It sends `letter`,
    with the symbolic values `published` in their places, and leads to the state `target`, which holds `values`.
    """

    probability: Number
    noises: tuple[Number, ...]
    bounds: Bounds
    letter: Letter
    published: tuple[Affine, ...]
    target: int
    values: tuple[Affine, ...]


@dataclass(frozen=True)
class Paths:
    """All paths of a program: at its start, for each record from each state, and at its end from each state.

    Where it is `faithful`, the output determines the messages of all records, one of each (or there are none), and what
    is published at the end.
    """

    states: int
    before: tuple[Path, ...]
    steps: dict[Any, dict[int, tuple[Path, ...]]]
    after: dict[int, tuple[Path, ...]]
    moves: tuple[Move, ...]
    all_at_once: bool
    faithful: bool

    def each(self) -> Iterator[Path]:
        """Yield every path."""
        yield from self.before
        for by in (*self.steps.values(), self.after):
            for paths in by.values():
                yield from paths
