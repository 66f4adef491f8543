"""Answers as tables: rows of exact values to iterate over, and data frames of pandas."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from importlib.util import find_spec
from operator import attrgetter
from typing import Any, ClassVar

from tightdp.errors import MissingExtra
from tightdp.exact.field import ExpNumber
from tightdp.exact.numbers import Exact, log, rounded
from tightdp.results.recorded import Recorded, items_of

Row = dict[str, Any]


class Table:
    """A value that is a table: iterating over it gives its rows, `to_frame` all of them.

    `table` names the attribute that has the rows, and after a colon their columns, where the rows are tuples, or not
    all that they have is shown.
    """

    table: ClassVar[str] = ""

    def __iter__(self) -> Iterator[Row]:
        """Go through the rows, each a dictionary of exact values by column."""
        place, _, columns = self.table.partition(":")
        for row in attrgetter(place)(self):
            yield as_row(row, columns.split())

    def to_frame(self, *, exact: bool = False) -> Any:
        """Return the rows as a pandas DataFrame, whose `attrs` say what the answer is about.

        Numbers are floats, correctly rounded; in columns of lower and upper ends they are rounded outward. With `exact`
        they are what they are in the rows: int, Fraction, numbers with powers of e. Raises TightdpError where pandas is
        not installed.
        """
        if find_spec("pandas") is None:
            raise MissingExtra("pandas is not installed", "pandas")
        rows = list(self)
        columns = list(dict.fromkeys(name for row in rows for name in row))
        shown = rows if exact else [{name: _rounded(name, value) for name, value in row.items()} for row in rows]
        frame = import_module("pandas").DataFrame(shown, columns=columns or None)
        frame.attrs.update(self._attributes())
        return frame

    def _attributes(self) -> dict[str, Any]:
        """Return what the `attrs` of a data frame say."""
        return {}


def as_row(value: Any, columns: Iterable[str] = ()) -> Row:
    """Return a value as a row: a mapping, a tuple with the names of its columns, or what its class has."""
    names = list(columns)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return dict(zip(names, value, strict=True))
    if names:
        return {name: getattr(value, name) for name in names}
    if isinstance(value, Recorded):
        return dict(items_of(value))
    if is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    raise TypeError(f"{value!r} is no row")


def ends_of(name: str, ends: tuple[Exact, Exact]) -> tuple[Any, Any]:
    """Return both ends of a column; those of `epsilon` are kept as e^ε."""
    return (log(ends[0]), log(ends[1])) if name == "epsilon" else ends


def answer_row(columns: Mapping[str, tuple[Exact, Exact]], status: str, names: Iterable[str] = ()) -> Row:
    """Return the numbers of an answer as one row.

    A number that is not known is None; `lower` and `upper` enclose the first one, None where nothing is known.
    """
    listed = tuple(names) or tuple(columns)
    found: Row = {}
    for name in listed:
        low, high = columns.get(name, (0, 1))
        found[name] = ends_of(name, (low, high))[0] if low == high else None
    ends: tuple[Exact | None, Exact | None] = columns.get(listed[0], (None, None)) if listed else (None, None)
    known = ends[0] == ends[1] or ends[1] != math.inf
    return {**found, "status": status, "lower": ends[0], "upper": ends[1] if known else None}


def beside(rows: Iterable[Any], others: Iterable[Any], columns: str, end: str) -> tuple[Row, ...]:
    """Return rows with the other ends of their numbers beside them, in columns with the name of that end."""
    first, *numbers = columns.split()
    known = {row[first]: row for row in (as_row(other, columns.split()) for other in others)}
    found = []
    for row in (as_row(each, columns.split()) for each in rows):
        other = known.get(row[first])
        found.append(row if other is None else {**row, **{f"{name}_{end}": other[name] for name in numbers}})
    return tuple(found)


def _rounded(name: str, value: Any) -> Any:
    """Return an exact number as a float: an end of an enclosure rounded outward, any other one to the nearest."""
    if isinstance(value, (bool, int, float)) or not hasattr(value, "__float__"):
        return value
    end = name.rpartition("_")[2]
    if end in ("lower", "upper") and (isinstance(value, ExpNumber) or hasattr(value, "numerator")):
        return rounded(value, end == "upper")
    return _nearest(value)


def _nearest(value: Any) -> Any:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return value
