"""Figures and tables of papers as exact tables: beside each printed number ours.

A package of claims may have functions decorated with `paper.figure`; each returns the rows of a table. They are printed
by `tightdp figures`, and written as CSV, and drawn where the figure says which columns to draw.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR
from fractions import Fraction
from io import StringIO
from pathlib import Path
from typing import Any, TypeAlias

from tightdp.exact.enclosure import ln
from tightdp.exact.numbers import as_text, decimal_text
from tightdp.exact.reals import Real
from tightdp.present import plot

Cell: TypeAlias = "str | int | Fraction | Real | None"
"""A string, an exact number, a certified real, or nothing."""

_LONGEST = 12


@dataclass(frozen=True)
class Figure:
    """A figure or table of a paper: its columns, how its rows are made, which columns are drawn against the first."""

    name: str
    caption: str
    header: tuple[str, ...]
    make: Callable[[], Iterable[Sequence[Cell]]]
    drawn: tuple[str, ...] = ()

    def rows(self) -> list[tuple[Cell, ...]]:
        """Compute the rows. Raises ValueError where one has another number of cells than the header."""
        found = [tuple(row) for row in self.make()]
        if any(len(row) != len(self.header) for row in found):
            raise ValueError(f"{self.name}: a row has another number of cells than the header")
        return found


def shown(cell: Cell) -> str:
    """Write a cell for people: long fractions and reals as decimals."""
    if isinstance(cell, Fraction) and len(as_text(cell)) > _LONGEST:
        return decimal_text(cell, 6)
    if isinstance(cell, Real):
        return decimal_text(cell.enclosure(12).lower, 6)
    return exact_text(cell)


def exact_text(cell: Cell) -> str:
    """Write a cell exactly; a real as the two ends of an enclosure."""
    if cell is None or isinstance(cell, str):
        return cell or ""
    if isinstance(cell, Real):
        return cell.text(15)
    return as_text(Fraction(cell))


def epsilon_text(exp_epsilon: Fraction | None) -> str | None:
    """Write the ε of an e^ε with four digits, rounded down."""
    return None if exp_epsilon is None else decimal_text(ln(exp_epsilon).lower, 4, ROUND_FLOOR)


def as_csv(figure: Figure, rows: Sequence[Sequence[Cell]]) -> str:
    """Return a table as CSV with exact numbers."""
    out = StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(figure.header)
    writer.writerows([exact_text(cell) for cell in row] for row in rows)
    return out.getvalue()


def draw(figure: Figure, rows: Sequence[Sequence[Cell]], path: Path) -> None:
    """Draw the columns that the figure names against the first one. Raises TightdpError without Matplotlib."""

    axes: Any = plot.new_axes()
    for name in figure.drawn:
        at = figure.header.index(name)
        points = [(_number(row[0]), _number(row[at])) for row in rows if row[at] is not None]
        plot.lines(axes, points, figure.header[0], "", name)
    axes.set_title(figure.name)
    axes.legend()
    axes.figure.savefig(path)


def _number(cell: Cell) -> Fraction:
    if isinstance(cell, Real):
        return Fraction(cell.enclosure(12).lower)
    assert isinstance(cell, (int, Fraction))
    return Fraction(cell)
