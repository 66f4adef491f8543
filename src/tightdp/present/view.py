"""What a person sees of a result, before it is drawn as text or as HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["MOST_ROWS", "Grid", "View"]

MOST_ROWS = 40
"""How many rows of a long table are shown."""

T = TypeVar("T")


@dataclass(frozen=True)
class Grid:
    """A table: a header, rows of text, and how many further rows were left out.

    The first `keys` columns say what a row is about; they are repeated where a table is too wide to stand in one piece.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left_out: int = 0
    keys: int = 1

    @classmethod
    def of(
        cls,
        header: Iterable[str],
        items: Sequence[T],
        row: Callable[[T], Iterable[str]],
        keys: int = 1,
        most: int = MOST_ROWS,
    ) -> Grid:
        """Return the table that has a row for each of the first items."""
        shown = items[:most]
        return cls(tuple(header), tuple(tuple(row(item)) for item in shown), len(items) - len(shown), keys)

    @property
    def remark(self) -> str:
        """Say how many rows are missing; empty when none is."""
        return f"... and {self.left_out:,} more rows (--json prints all)" if self.left_out else ""


@dataclass(frozen=True)
class View:
    """A heading, labelled facts, perhaps a grid, sentences, and perhaps a picture (SVG, in HTML only)."""

    heading: str
    facts: Sequence[tuple[str, str]] = ()
    grid: Grid | None = None
    sentences: Sequence[str] = ()
    picture: str = ""
