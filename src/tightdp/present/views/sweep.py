"""How a table over ranges is shown, and written as CSV."""

from __future__ import annotations

import csv
import io
import math
from fractions import Fraction
from typing import Any

from tightdp.exact.numbers import Exact, as_text, log
from tightdp.present import plot
from tightdp.present.show import file_of, picture_of, view_of
from tightdp.present.view import Grid, View
from tightdp.present.views.result import heading
from tightdp.present.words import brief, shown_number
from tightdp.results.answers import Accuracy
from tightdp.results.audit import Audit
from tightdp.results.diagram import DiagramSize
from tightdp.results.efficacy import Efficacy
from tightdp.results.every_n import EveryN
from tightdp.results.privacy import Delta, Privacy
from tightdp.results.record import plain
from tightdp.results.result import Result
from tightdp.results.sweep import Sweep

_MOST_REASONS = 3
_MARKERS, _LINES = "os^Dv", ("-", "--", ":", "-.")
_SPREAD = 100
"""Answers that differ by more are drawn on a logarithmic scale."""


@view_of.register
def _sweep_view(result: Sweep) -> View:
    def cells(row: Result) -> tuple[str, ...]:
        found = _numbers(row)
        shown_values = (_shown_column(name, found[name]) if name in found else "?" for name in names)
        return *_coordinates(result, row), *shown_values, row.status

    names = _columns(result.rows)
    reasons = {row.reason: None for row in result.rows if row.status != "exact" and row.reason}
    said = tuple(f"Not decided everywhere: {reason}." for reason in list(reasons)[:_MOST_REASONS])
    grid = Grid((*result.swept, *names, "status"), tuple(map(cells, result.rows)), keys=len(result.swept))
    return View(heading(result), (), grid, said)


@file_of.register
def _sweep_file(result: Sweep, form: str) -> str:
    """Return the table as CSV; numbers are exact (p/q), ε is a float.

    A number that is not known is left empty; `lower` and `upper` enclose the first one in every row.
    """
    names = _columns(result.rows)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*result.swept, *names, "status", "lower", "upper"])
    for row in result.rows:
        found = _numbers(row)
        known = {name: low for name, (low, high) in found.items() if low == high}
        values = [_written(name, known[name]) if name in known else "" for name in names]
        ends = map(as_text, found[names[0]]) if names[0] in found else ("", "")
        writer.writerow([*_coordinates(result, row), *values, row.status, *ends])
    return text.getvalue()


@picture_of.register
def _sweep_plot(result: Sweep, ax: Any) -> Any:
    """Draw the first number of every exact row against the first swept parameter, one line per other values."""
    name = _columns(result.rows)[0]
    axes = plot.named_axes(ax, result.swept[0], name, result.subject)
    groups: dict[str, list[tuple[Any, Any]]] = {}
    for row in result.rows:
        first, *others = (row.parameters[key] for key in result.swept)
        named = zip(result.swept[1:], others, strict=True)
        label = ", ".join(f"{key}={brief(value, 40, quoted=False)}" for key, value in named)
        found = _numbers(row).get(name)
        if found is not None and found[0] == found[1] != math.inf and isinstance(first, (int, Fraction)):
            groups.setdefault(label, []).append((first, found[0]))
    for place, (label, points) in enumerate(groups.items()):
        style = {"marker": _MARKERS[place % len(_MARKERS)], "linestyle": _LINES[place % len(_LINES)]}
        numbers = [(float(x), float(y)) for x, y in points]
        # Open marks of different forms and sizes show series that lie on each other.
        axes.plot(*zip(*numbers, strict=True), **style, markersize=9 - place % 4, fillstyle="none", label=label or name)
    heights = [float(y) for points in groups.values() for _, y in points]
    if heights and min(heights) > 0 and max(heights) > _SPREAD * min(heights):
        axes.set_yscale("log")
    if all(x == int(x) for points in groups.values() for x, _ in points):
        axes.locator_params(axis="x", integer=True)
    return plot.legend_below(axes) if len(groups) > 1 else axes


def _coordinates(result: Sweep, row: Result) -> list[str]:
    return [str(plain(row.parameters[name])) for name in result.swept]


def _numbers(row: Result) -> dict[str, tuple[Exact, Exact]]:
    """Return the ends of the numbers of an answer that a table shows, equal where exact; none where none is known."""
    exact = row.status == "exact"
    if isinstance(row, (Privacy, EveryN, Delta)):
        names = ("delta",) if isinstance(row, Delta) else ("exp_epsilon", "epsilon")
        return dict.fromkeys(names, (row.upper if exact else row.lower, row.upper))
    if isinstance(row, Accuracy):
        name = "alpha" if row.one_minus_beta is None else "one_minus_beta"
        return {name: (getattr(row, name),) * 2 if exact else (row.lower, row.upper)}
    if isinstance(row, DiagramSize):
        return {name: (Fraction(count), Fraction(count)) for name, count in row.counts}
    if isinstance(row, Audit) and row.p_value is not None:
        return {"p_value": (row.p_value.lower, row.p_value.upper)}
    if isinstance(row, Efficacy):
        last = row.rows[-1]
        same = {name: (getattr(last, name),) * 2 for name in ("efficacy", "ac", "ddp")}
        return {**same, "dp": (last.dp if exact else last.ddp, last.dp)}
    return {}


def _columns(rows: tuple[Result, ...]) -> tuple[str, ...]:
    return tuple(next((_numbers(row) for row in rows if _numbers(row)), {"answer": 0}))


def _shown_column(name: str, ends: tuple[Exact, Exact]) -> str:
    lower, upper = (_written(name, end) if name == "epsilon" else shown_number(end) for end in ends)
    if ends[0] == ends[1]:
        return lower
    return f"at least {lower}" if ends[1] == math.inf else f"{lower} to {upper}"


def _written(name: str, value: Exact) -> str:
    return str(plain(log(value))) if name == "epsilon" else as_text(value)
