"""Runs on all datasets together, of programs that ask of records nothing but what noise around them decides.

Records are unknown integers then, which linear forms have beside draws. A path is found once; on a dataset it has the
records in place of the unknown ones, and is left out where it cannot occur.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from tightdp.cells.draws import Path, may_occur, supported, united
from tightdp.cells.followed import Endless, Loops
from tightdp.cells.linear import FALSE, TRUE, Row, Rows, needed, opposite, rebuilt, row, shape_of, tightest
from tightdp.cells.noise import Noisy, Outside, noisy
from tightdp.cells.paths import found_by
from tightdp.cells.pictures import Met
from tightdp.language.program import Bound, Dataset

_MISLED = (ast.Try, ast.Is, ast.IsNot)
"""What goes on where a number does not behave as an integer does."""


def paths_together(bound: Bound, datasets: Sequence[Dataset], loops: Loops) -> Callable[[Dataset], list[Path]] | None:
    """Return what gives the paths on each of the datasets, None where records are asked for more."""
    wrong = bound.program.floats or any(isinstance(part, _MISLED) for part in ast.walk(bound.program.source.node))
    if wrong or len(datasets) < 3 or any(type(value) is not int for value in bound.record.values):
        return None
    low, high = min(bound.record.values), max(bound.record.values)
    unknown = range(-bound.n, 0)
    within = frozenset(row({v: sign}, end) for v in unknown for sign, end in ((1, high), (-1, -low)))

    def execute(run: Any) -> Any:
        run.rows = within
        return bound.execute(tuple(noisy(run, {v: 1}, 0) for v in unknown), run)

    apart = Loops(loops.mass, loops.watch)
    try:
        found = found_by(execute, apart)
    except Endless as endless:  # nor are runs on each dataset to find that out once more
        loops.followed.add(endless.key)
        return None
    except (Outside, Met):
        return None
    if apart.rejected:
        return None
    every = list(map(_Together, found))
    alone = len({path.kind() for path in found}) == len(found) and not any(each.shown for each in every)

    def on(x: Dataset) -> list[Path]:
        loops.watch()
        here = [path for each in every for path in each.on(x)]
        return here if alone else united(_merged(here))

    return on


def _merged(paths: Iterable[Path]) -> Iterable[Path]:
    """Return paths with those as one that unknown records told apart."""
    found: dict[Any, Path] = {}
    for path in paths:
        name = path.name()
        found[name] = replace(path, weight=path.weight + found[name].weight) if name in found else path
    return found.values()


class _Together:
    """A path with unknown records."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._still = [line for line in path.rows if line[0][0][0] >= 0]
        self._moved = [_Moved(line) for line in path.rows if line[0][0][0] < 0]
        self._numbers: list[Any] = []
        self._shape = shape_of(path.output, self._numbers)
        self.shown = any(isinstance(each, Noisy) and min(each.coefficients) < 0 for each in self._numbers)

    def on(self, x: Dataset) -> Iterator[Path]:
        """Yield the path on a dataset if it may occur there."""
        moved = [each.on(x) for each in self._moved]
        if FALSE not in moved:
            rows = tightest([*self._still, *(line for line in moved if line != TRUE)])
            if may_occur(self._path.laws, rows):
                yield replace(self._path, rows=self._needed(needed(rows)), output=self._output(x))

    def _needed(self, rows: Rows) -> Rows:
        """Return conditions without those that hold wherever draws lie by their laws."""
        if supported(self._path.laws, rows) is not rows:
            for line in sorted(rows):
                rest = rows - {line}
                rows = rows if may_occur(self._path.laws, tightest([*rest, opposite(line)])) else rest
        return rows

    def _output(self, x: Dataset) -> Any:
        if not self.shown:
            return self._path.output
        values = iter(self._numbers)
        return rebuilt(self._shape, lambda _: _at(next(values), x))


class _Moved:
    """A condition on unknown records, and draws."""

    def __init__(self, line: Row) -> None:
        self._records = [(v, c) for v, c in line[0] if v < 0]
        self._draws = {v: c for v, c in line[0] if v >= 0}
        self._bound = line[1]
        self._known: dict[Any, Row] = {}

    def on(self, x: Dataset) -> Row:
        bound = self._bound - sum(c * x[v] for v, c in self._records)
        if bound not in self._known:
            self._known[bound] = row(self._draws, bound)
        return self._known[bound]


def _at(value: Any, x: Dataset) -> Any:
    if not isinstance(value, Noisy):
        return value
    draws = {v: c for v, c in value.coefficients.items() if v >= 0}
    return noisy(value.run, draws, value.constant + sum(c * x[v] for v, c in value.coefficients.items() if v < 0))
