"""What a person sees of a result, before it is drawn as text, as a terminal table or as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import zip_longest

__all__ = ["Grid", "View"]


@dataclass(frozen=True)
class Grid:
    """A table: a header, rows of text, and how many further rows were left out."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left_out: int = 0

    @property
    def remark(self) -> str:
        """Say how many rows are missing; empty when none is."""
        return f"... and {self.left_out:,} more rows (--json prints all)" if self.left_out else ""


@dataclass(frozen=True)
class View:
    """A heading, labelled facts, perhaps a grid, and sentences."""

    heading: str
    facts: tuple[tuple[str, str], ...] = ()
    grid: Grid | None = None
    sentences: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the view as plain text."""
        blocks = [self.heading]
        if self.facts:
            blocks.append(_aligned(self.facts))
        if self.grid is not None:
            blocks.append(_aligned([self.grid.header, *self.grid.rows]))
            blocks += [self.grid.remark] if self.grid.remark else []
        return "\n".join([*blocks, *self.sentences])

    def html(self) -> str:
        """Return the view as a fragment of HTML."""
        parts = [f"<p><b>{escape(self.heading)}</b></p>"]
        if self.facts:
            parts.append(_html_table(self.facts))
        if self.grid is not None:
            parts.append(_html_table(self.grid.rows, self.grid.header))
            parts += [f"<p>{escape(self.grid.remark)}</p>"] if self.grid.remark else []
        parts += [f"<p>{escape(sentence)}</p>" for sentence in self.sentences]
        return f'<div class="tightdp">{"".join(parts)}</div>'


def _aligned(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip_longest(*rows, fillvalue="")]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)) for row in rows)
    return "\n".join(f"  {line.rstrip()}" for line in lines)


def _html_table(rows: Sequence[Sequence[str]], header: Sequence[str] = ()) -> str:
    head = f"<tr>{''.join(f'<th>{escape(cell)}</th>' for cell in header)}</tr>" if header else ""
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{head}{body}</table>"
