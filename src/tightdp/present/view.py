"""What a person sees of a result, before it is drawn as text or as HTML."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Grid", "View"]


@dataclass(frozen=True)
class Grid:
    """A table: a header, rows of text, and how many further rows were left out.

    The first `keys` columns say what a row is about; they are repeated where a table is too wide to stand in one piece.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left_out: int = 0
    keys: int = 1

    @property
    def remark(self) -> str:
        """Say how many rows are missing; empty when none is."""
        return f"... and {self.left_out:,} more rows (--json prints all)" if self.left_out else ""


@dataclass(frozen=True)
class View:
    """A heading, labelled facts, perhaps a grid, sentences, and perhaps a picture (SVG, in HTML only)."""

    heading: str
    facts: tuple[tuple[str, str], ...] = ()
    grid: Grid | None = None
    sentences: tuple[str, ...] = ()
    picture: str = ""
