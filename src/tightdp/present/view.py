"""What a person sees of a result, before it is drawn as text, and as HTML: for notebooks, and for reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TypeVar

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


def html_of(view: View) -> str:
    """Return a view as a fragment of HTML; everything but its picture is escaped."""
    parts = [f"<p><b>{escape(view.heading)}</b></p>"]
    if view.facts:
        parts.append(table(view.facts))
    if view.grid is not None:
        parts.append(table(view.grid.rows, view.grid.header))
        parts += [f"<p>{escape(view.grid.remark)}</p>"] if view.grid.remark else []
    parts += [f"<p>{escape(sentence)}</p>" for sentence in view.sentences]
    parts += [f'<div style="overflow: auto">{view.picture}</div>'] if view.picture else []
    return f'<div class="tightdp">{"".join(parts)}</div>'


def table(
    rows: Sequence[Sequence[str]],
    header: Sequence[str] = (),
    write: Callable[[str], str] = escape,
    kind: Callable[[str], str] = lambda cell: "",
    labelled: bool = False,
) -> str:
    """Return a table; `write` gives the HTML of a cell, `kind` its class in style sheets, if it has one.

    The cells of a `labelled` table have the name of their column, for a page that has no room for columns.
    """

    def data(cell: str, name: str = "") -> str:
        marks = f" class={kind(cell)}" if kind(cell) else ""
        marks += f' data-name="{escape(name)}"' if labelled and name else ""
        return f"<td{marks}>{write(cell)}</td>"

    lines = [f"<tr>{''.join(f'<th>{write(cell)}</th>' for cell in header)}</tr>"] if any(header) else []
    names = header or [""] * max(map(len, rows), default=0)
    lines += [f"<tr>{''.join(map(data, row, names))}</tr>" for row in rows]
    return f"<table{' class=labelled' if labelled else ''}>{''.join(lines)}</table>"
