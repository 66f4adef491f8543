"""Views as HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tightdp.present.view import View

__all__ = ["html_of"]


def html_of(view: View) -> str:
    """Return a view as a fragment of HTML; everything but its picture is escaped."""
    parts = [f"<p><b>{escape(view.heading)}</b></p>"]
    if view.facts:
        parts.append(_table(view.facts))
    if view.grid is not None:
        parts.append(_table(view.grid.rows, view.grid.header))
        parts += [f"<p>{escape(view.grid.remark)}</p>"] if view.grid.remark else []
    parts += [f"<p>{escape(sentence)}</p>" for sentence in view.sentences]
    parts += [f'<div style="overflow: auto">{view.picture}</div>'] if view.picture else []
    return f'<div class="tightdp">{"".join(parts)}</div>'


def _table(rows: Sequence[Sequence[str]], header: Sequence[str] = ()) -> str:
    head = f"<tr>{''.join(f'<th>{escape(cell)}</th>' for cell in header)}</tr>" if header else ""
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{head}{body}</table>"
