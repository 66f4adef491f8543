"""Progress bars, by Rich: imported only where one is shown."""

from __future__ import annotations

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Column

_WIDE = 100
"""From how many columns on a bar is drawn beside the numbers of a search."""


def of_search() -> Progress:
    """Return what shows the phase of a search, how far it is, its times, and the bound that it has (`found`)."""
    console = Console(stderr=True)
    drawn = () if console.width < _WIDE else (BarColumn(bar_width=20),)
    return Progress(
        TextColumn("{task.description}"),
        *drawn,
        TaskProgressColumn(table_column=_whole(4)),
        TimeElapsedColumn(table_column=_whole(7)),
        TextColumn("left:", table_column=_whole(5)),
        TimeRemainingColumn(table_column=_whole(7)),
        TextColumn("{task.fields[found]}"),
        console=console,
        transient=True,
    )


def of_rows() -> Progress:
    """Return what shows how many rows of a table are done, and the time left."""
    columns = BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    return Progress("rows", *columns, console=Console(stderr=True), transient=True)


def _whole(width: int) -> Column:
    return Column(min_width=width, no_wrap=True)
