"""A table of answers over ranges of parameters."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from tightdp.exact.numbers import Exact, as_text, log
from tightdp.present import plot
from tightdp.present.view import Grid, View
from tightdp.present.words import plain, shown, shown_number
from tightdp.results.answers import Accuracy
from tightdp.results.efficacy import Efficacy
from tightdp.results.privacy import Delta, Privacy
from tightdp.results.result import Result

__all__ = ["Sweep"]

_MOST_REASONS = 3
_EPSILON = ("exp_epsilon", "epsilon")


@dataclass(frozen=True, kw_only=True, repr=False)
class Sweep(Result):
    """One answer for every combination of the swept parameters, whose names are `swept`."""

    query: ClassVar[str] = "sweep"
    swept: tuple[str, ...]
    rows: tuple[Result, ...]

    def _answer(self) -> dict[str, Any]:
        rows = []
        for row in self.rows:
            whole = row.to_dict()
            rows.append({key: whole[key] for key in ("query", "parameters", "status", "result", "stats")})
        return {"rows": rows}

    def view(self) -> View:
        """Return what a person sees."""
        names = _columns(self.rows)
        cells = []
        for row in self.rows:
            found = _numbers(row)
            shown_values = [_shown_column(name, found[name]) if name in found else "?" for name in names]
            cells.append((*self._coordinates(row), *shown_values, row.status))
        reasons = {row.reason: None for row in self.rows if row.status != "exact" and row.reason}
        said = tuple(f"Not decided everywhere: {reason}." for reason in list(reasons)[:_MOST_REASONS])
        grid = Grid((*self.swept, *names, "status"), tuple(cells), keys=len(self.swept))
        return View(self._heading, (), grid, said)

    def csv(self) -> str:
        """Return the table as CSV; numbers are exact (p/q), ε is a float.

        A number that is not known is left empty; `lower` and `upper` enclose the first one in every row.
        """
        names = _columns(self.rows)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*self.swept, *names, "status", "lower", "upper"])
        for row in self.rows:
            found = _numbers(row)
            values = [
                _written(name, found[name][0]) if name in found and found[name][0] == found[name][1] else ""
                for name in names
            ]
            ends = [as_text(end) for end in found[names[0]]] if names[0] in found else ["", ""]
            writer.writerow([*self._coordinates(row), *values, row.status, *ends])
        return text.getvalue()

    def plot(self, ax: Any = None) -> Any:
        """Draw the first number of every exact row against the first swept parameter, one line per other values."""
        axes = plot.new_axes() if ax is None else ax
        name = _columns(self.rows)[0]
        groups: dict[str, list[tuple[Any, Any]]] = {}
        for row in self.rows:
            first, *others = (row.parameters[key] for key in self.swept)
            label = ", ".join(f"{key}={shown(value)}" for key, value in zip(self.swept[1:], others, strict=True))
            found = _numbers(row).get(name)
            if found is not None and found[0] == found[1] != math.inf and isinstance(first, (int, Fraction)):
                groups.setdefault(label, []).append((first, found[0]))
        for label, points in groups.items():
            axes.plot([float(x) for x, _ in points], [float(y) for _, y in points], marker="o", label=label or name)
        axes.set_xlabel(self.swept[0])
        axes.set_ylabel(name)
        axes.legend()
        return axes

    def _coordinates(self, row: Result) -> list[str]:
        return [str(plain(row.parameters[name])) for name in self.swept]


def _numbers(row: Result) -> dict[str, tuple[Exact, Exact]]:
    """Return the ends of the numbers of an answer that a table shows, equal where exact; none where none is known."""
    if isinstance(row, Privacy):
        return dict.fromkeys(_EPSILON, (row.lower if row.status != "exact" else row.upper, row.upper))
    if isinstance(row, Delta):
        return {"delta": (row.lower if row.status != "exact" else row.upper, row.upper)}
    if isinstance(row, Accuracy):
        exact = row.alpha if row.one_minus_beta is None else row.one_minus_beta
        name = "alpha" if row.one_minus_beta is None else "one_minus_beta"
        return {name: (exact, exact) if row.status == "exact" else (row.lower, row.upper)}
    if isinstance(row, Efficacy):
        last = row.rows[-1]
        dp = (last.dp if row.status == "exact" else last.ddp, last.dp)
        same = {"efficacy": last.efficacy, "ac": last.ac, "ddp": last.ddp}
        return {**{name: (value, value) for name, value in same.items()}, "dp": dp}
    return {}


def _columns(rows: tuple[Result, ...]) -> tuple[str, ...]:
    return tuple(next((_numbers(row) for row in rows if _numbers(row)), {"answer": 0}))


def _shown_column(name: str, ends: tuple[Exact, Exact]) -> str:
    lower, upper = ends
    write = _written if name == "epsilon" else _shown
    if lower == upper:
        return write(name, lower)
    return f"at least {write(name, lower)}" if upper == math.inf else f"{write(name, lower)} to {write(name, upper)}"


def _shown(_: str, value: Exact) -> str:
    return shown_number(value)


def _written(name: str, value: Exact) -> str:
    return str(plain(log(value))) if name == "epsilon" else as_text(value)
