"""The runs of a program that is read for every n, and what is learned of it on the way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tightdp.every_n.following import Run
from tightdp.every_n.learned import Explored, Knowledge, Sent

__all__ = ["INDEX", "LENGTH", "OPEN", "Again", "Ending", "Session", "Unending"]

OPEN = "\0open"
"""Stands for a symbolic value in a letter."""
INDEX, LENGTH = "\0index", "\0length"
"""What stands in an output for the index of a record, and for the number of records."""


@dataclass(frozen=True)
class Ending:
    """One run of the whole program: its parts, the final state of each pass, and what it returns."""

    key: tuple[int, ...]
    before: Run
    passes: tuple[tuple[Explored, int], ...]
    after: Run
    returned: Sent
    asked: tuple[Sent, ...]
    initial: tuple[Any, ...]
    used: frozenset[int]


@dataclass
class Session:
    """What is known of the passes of a program."""

    sums: bool
    learned: dict[tuple[tuple[int, ...], int], Knowledge] = field(default_factory=dict)
    explored: dict[tuple[int, ...], tuple[Explored, Any]] = field(default_factory=dict)
    known: dict[tuple[tuple[int, ...], int], tuple[Explored, object]] = field(default_factory=dict)


class Again(Exception):
    """More was learned of a pass: everything is read once more."""


class Unending(Exception):
    """A run that was followed does not come to an end: none is like it."""
