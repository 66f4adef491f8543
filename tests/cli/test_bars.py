"""Progress is one line of a terminal, whole at 80 columns."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.progress import Progress

from tightdp.cli import jobs as bars


def shown(bar: Progress, width: int) -> list[str]:
    """The lines that a bar takes on a terminal."""
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    console.print(bar.get_renderable())
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue().splitlines()


@pytest.mark.parametrize("width", [80, 120])
def test_a_search_is_one_line(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    bar = bars.of_search()
    bar.add_task("comparing neighbours", total=1000, completed=310, found="between 2.59123 and 1.94792e+12")
    (line,) = shown(bar, width)
    assert line.startswith("comparing neighbours")
    assert " 31%" in line
    assert line.rstrip().endswith("between 2.59123 and 1.94792e+12")


@pytest.mark.parametrize("width", [80, 120])
def test_rows_of_a_table_are_one_line(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    bar = bars.of_rows()
    bar.add_task("rows", total=1000, completed=310)
    (line,) = shown(bar, width)
    assert "310/1000" in line
    assert line.rstrip()[-1].isdigit() or line.rstrip().endswith("-:--:--")
