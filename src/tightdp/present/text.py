"""What a person sees of a result, and that as plain text, within any width, and as HTML.

Numbers and words stay whole, wide tables become several: a table that is too wide is cut between columns, into tables
below each other that all begin with the key columns. Where hardly one more column fits beside the keys, every row
becomes a list of its cells. Only a single word or number that is wider than the whole text stands out of it.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import zip_longest
from typing import TextIO, TypeVar
from unicodedata import combining, east_asian_width

from tightdp.exact.numbers import shortened

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
        parts.append(html_table(view.facts))
    if view.grid is not None:
        parts.append(html_table(view.grid.rows, view.grid.header))
        parts += [f"<p>{escape(view.grid.remark)}</p>"] if view.grid.remark else []
    parts += [f"<p>{escape(sentence)}</p>" for sentence in view.sentences]
    parts += [f'<div style="overflow: auto; max-height: 90vh">{view.picture}</div>'] if view.picture else []
    return f'<div class="tightdp">{"".join(parts)}</div>'


def html_table(rows: Sequence[Sequence[str]], header: Sequence[str] = (), labelled: bool = False) -> str:
    """Return a table.

    The cells of a `labelled` table have the name of their column, for a page that has no room for columns.
    """

    def data(cell: str, name: str = "") -> str:
        mark = f' data-name="{escape(name)}"' if labelled and name else ""
        return f"<td{mark}>{escape(cell)}</td>"

    lines = [f"<tr>{''.join(f'<th>{escape(cell)}</th>' for cell in header)}</tr>"] if any(header) else []
    names = header or [""] * max(map(len, rows), default=0)
    lines += [f"<tr>{''.join(map(data, row, names))}</tr>" for row in rows]
    return f"<table{' class=labelled' if labelled else ''}>{''.join(lines)}</table>"


_GAP = "  "
_VERDICT = re.compile(r"(?<=  )(holds|refuted)(?=  |$)")
_COLOURS = {"holds": "\x1b[32mholds\x1b[0m", "refuted": "\x1b[31mrefuted\x1b[0m"}
_LONGEST_LINE = 240
"""Characters of a value in one line."""
_NARROWEST = 20
"""Columns that a text has at least, however narrow the terminal says that it is."""


def text_of(view: View, width: int | None = None) -> str:
    """Return a view as plain text, `width` columns wide at most (any width where None)."""
    return _joined(_blocks(view, width))


def line_of(view: View, kind: str) -> str:
    """Return a view in one line: its heading and facts, else how long its table is, or its first sentence."""
    said = [view.heading, *(f"{label} = {value}" for label, value in view.facts)]
    if view.grid is not None:
        rows = len(view.grid.rows) + view.grid.left_out
        said.append(f"{rows:,} row{'s' * (rows != 1)}")
    if len(said) == 1:
        said += view.sentences[:1]
    return f"<{kind}: {shortened(', '.join(said), _LONGEST_LINE)}>"


def print_view(view: View, file: TextIO) -> None:
    """Print a view within the width of the terminal, with a bold heading, if it is one."""
    blocks = list(_blocks(view, width_of(file)))
    if file.isatty():
        blocks[0] = [f"\x1b[1m{line}\x1b[0m" for line in blocks[0]]
        if not os.environ.get("NO_COLOR"):
            blocks[1:] = [
                [_VERDICT.sub(lambda said: _COLOURS[said[0]], line) for line in block] for block in blocks[1:]
            ]
    file.write(_joined(blocks) + "\n")


def _joined(blocks: Iterable[list[str]]) -> str:
    """Return blocks of lines with an empty line between them."""
    return "\n\n".join("\n".join(block) for block in blocks if block)


def width_of(file: TextIO) -> int | None:
    """Return how many columns a file shows: those of the terminal, None where it is none."""
    try:
        terminal = file.isatty()
    except (AttributeError, ValueError):
        return None
    return shutil.get_terminal_size().columns if terminal else None


def wrapped(text: str, width: int | None, indent: str = "") -> list[str]:
    """Return a text as lines, broken at spaces only; lines after the first are indented."""
    if width is None or _columns(text) <= width:
        return [text]
    lines, line = [], ""
    for word in text.split():
        if not line:
            line = word
        elif _columns(line) + 1 + _columns(word) <= width:
            line = f"{line} {word}"
        else:
            lines.append(line)
            line = f"{indent}{word}"
    return [*lines, line]


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return rows as lines with aligned columns."""
    widths = _widths(rows)
    return [row_of(row, widths) for row in rows]


def row_of(cells: Sequence[str], widths: Sequence[int]) -> str:
    """Return one row of a table whose columns have these widths at least, for rows that are written one by one."""
    return _GAP.join(_padded(cell, width) for cell, width in zip(cells, widths, strict=False)).rstrip()


def table(header: Sequence[str], rows: Sequence[Sequence[str]], width: int | None, keys: int = 1) -> list[str]:
    """Return a table as lines, in several blocks of columns where it is wider than `width`."""
    lines: list[str] = []
    pieces = _pieces(_widths([header, *rows]), width, keys)
    if pieces is None:
        return _records(header, rows, width)
    for piece in pieces:
        lines += [""] if lines else []
        lines += aligned([[row[at] if at < len(row) else "" for at in piece] for row in (header, *rows)])
    return lines


def _pieces(widths: Sequence[int], width: int | None, keys: int) -> list[list[int]] | None:
    """Return which columns stand in which block; None where a row is better read as a list."""
    columns = range(len(widths))
    if width is None or _row_width(widths, columns) <= width:
        return [list(columns)]
    lead = list(columns[:keys])
    pieces: list[list[int]] = []
    for column in columns[keys:]:
        if _row_width(widths, [*lead, column]) > width:
            return None
        if pieces and _row_width(widths, [*pieces[-1], column]) <= width:
            pieces[-1].append(column)
        else:
            pieces.append([*lead, column])
    return pieces if any(len(piece) > keys + 1 for piece in pieces) else None


def _row_width(widths: Sequence[int], columns: Sequence[int]) -> int:
    return sum(widths[at] for at in columns) + len(_GAP) * (len(columns) - 1)


def _records(header: Sequence[str], rows: Sequence[Sequence[str]], width: int | None) -> list[str]:
    lines: list[str] = []
    for row in rows:
        lines += [""] if lines else []
        lines += _facts(list(zip(header, row, strict=False)), width)
    return lines


def _facts(facts: Sequence[tuple[str, str]], width: int | None) -> list[str]:
    """Return labels and values; a value that does not fit beside its label is wrapped, or stands below it."""
    lines: list[str] = []
    label_width = max(_columns(label) for label, _ in facts)
    for label, value in facts:
        before = _padded(label, label_width) + _GAP
        room = None if width is None else width - _columns(before)
        if room is None or max(map(_columns, value.split()), default=0) <= room:
            first, *others = wrapped(value, room)
            lines += [f"{before}{first}".rstrip(), *(" " * _columns(before) + line for line in others)]
        else:
            lines += wrapped(label, width)
            lines += [_GAP + line for line in wrapped(value, (width or 0) - len(_GAP))]
    return lines


def _blocks(view: View, width: int | None) -> Iterator[list[str]]:
    """Yield the lines of the heading, the facts, the grid and the sentences."""
    room = None if width is None else max(width, _NARROWEST)
    yield wrapped(view.heading, room, _GAP)
    if view.facts:
        yield _facts(view.facts, room)
    if view.grid is not None:
        yield _grid(view.grid, room)
    yield [line for sentence in view.sentences for line in wrapped(sentence, room)]


def _grid(grid: Grid, width: int | None) -> list[str]:
    remark = [f"{_GAP}{line}" for line in wrapped(grid.remark, width)] if grid.remark else []
    return [*table(grid.header, grid.rows, width, grid.keys), *remark]


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(_columns, column)) for column in zip_longest(*rows, fillvalue="")]


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - _columns(cell))


def _columns(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def terminal_width() -> int | None:
    """Return the width of the terminal that Python writes to, None where there is none."""
    return width_of(sys.stdout)
