"""Views on a terminal, by `rich`: fixed width and no colour where the output is not a terminal."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, TextIO

from tightdp.present.view import View

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["print_view"]

_WIDTH = 200
"""Columns of a table that is not on a terminal; sentences are not wrapped there."""


def print_view(view: View, file: TextIO) -> None:
    """Print a view."""
    if file.isatty():
        _print(view, _console(file))
        return
    text = io.StringIO()
    _print(view, _console(text))
    file.writelines(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def _console(file: IO[str]) -> Console:
    from rich.console import Console

    if file.isatty():
        return Console(file=file, highlight=False)
    return Console(file=file, width=_WIDTH, color_system=None, force_terminal=False, highlight=False, soft_wrap=True)


def _print(view: View, console: Console) -> None:
    from rich.text import Text

    console.print(Text(view.heading, style="bold"))
    if view.facts:
        console.print()
        console.print(_table(view.facts), soft_wrap=False)
    if view.grid is not None:
        console.print()
        console.print(_table(view.grid.rows, view.grid.header), soft_wrap=False)
        if view.grid.remark:
            console.print(Text(f"  {view.grid.remark}"))
    if view.sentences:
        console.print()
    for sentence in view.sentences:
        console.print(Text(sentence))


def _table(rows: Sequence[Sequence[str]], header: Sequence[str] = ()) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=bool(header), header_style="bold")
    for name in header or ("",) * max(map(len, rows)):
        table.add_column(Text(name), overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table
