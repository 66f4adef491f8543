"""A table of answers over ranges of parameters."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from tightdp.exact.numbers import Exact, as_text, log
from tightdp.present import plot
from tightdp.present.view import Grid, View
from tightdp.present.words import plain, shown, shown_number
from tightdp.results.answers import Accuracy
from tightdp.results.privacy import Delta, Privacy
from tightdp.results.result import Result

__all__ = ["Sweep"]


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
        return View(self._heading, (), Grid((*self.swept, *names, "status"), tuple(cells)))

    def csv(self) -> str:
        """Return the table as CSV; numbers are exact (p/q), ε is a float."""
        names = _columns(self.rows)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*self.swept, *names, "status"])
        for row in self.rows:
            found = _numbers(row)
            values = [_written(name, found[name]) if name in found else "" for name in names]
            writer.writerow([*self._coordinates(row), *values, row.status])
        return text.getvalue()

    def plot(self, ax: Any = None) -> Any:
        """Draw the first number of every exact row against the first swept parameter, one line per other values."""
        axes = plot.new_axes() if ax is None else ax
        name = _columns(self.rows)[0]
        groups: dict[str, list[tuple[Any, Any]]] = {}
        for row in self.rows:
            first, *others = (row.parameters[key] for key in self.swept)
            label = ", ".join(f"{key}={shown(value)}" for key, value in zip(self.swept[1:], others, strict=True))
            if row.status != "unresolved" and isinstance(first, (int, Fraction)):
                groups.setdefault(label, []).append((first, _numbers(row)[name]))
        for label, points in groups.items():
            axes.plot([float(x) for x, _ in points], [float(y) for _, y in points], marker="o", label=label or name)
        axes.set_xlabel(self.swept[0])
        axes.set_ylabel(name)
        axes.legend()
        return axes

    def _coordinates(self, row: Result) -> list[str]:
        return [str(plain(row.parameters[name])) for name in self.swept]


def _numbers(row: Result) -> dict[str, Exact]:
    """Return the numbers of an answer that a table shows; none where nothing is known."""
    if isinstance(row, Privacy):
        return {"exp_epsilon": row.exp_epsilon, "epsilon": row.exp_epsilon}
    if isinstance(row, Delta):
        return {"delta": row.delta}
    if isinstance(row, Accuracy):
        return {"alpha": row.alpha} if row.one_minus_beta is None else {"one_minus_beta": row.one_minus_beta}
    return {}


def _columns(rows: tuple[Result, ...]) -> tuple[str, ...]:
    return tuple(next((_numbers(row) for row in rows if _numbers(row)), {"answer": 0}))


def _shown_column(name: str, value: Exact) -> str:
    return _written(name, value) if name == "epsilon" else shown_number(value)


def _written(name: str, value: Exact) -> str:
    return str(plain(log(value))) if name == "epsilon" else as_text(value)
