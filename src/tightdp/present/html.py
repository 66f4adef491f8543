"""Views and tables as HTML: for notebooks, and for the pages of reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from tightdp.present.view import View

__all__ = ["html_of", "table"]


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
