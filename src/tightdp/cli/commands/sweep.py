"""The command `sweep`: one query over all combinations of ranges, and a CSV file that grows row by row.

Beside that file stands `FILE.unfinished`, which says what the rows are about, and under which limits they were
computed, until the table is complete: so an interrupted sweep resumes where it stopped.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from hashlib import sha256
from inspect import getmodule, getsource
from pathlib import Path
from typing import Any

from tightdp._version import __version__
from tightdp.cli.answer import INTERRUPTED, Asked, ask, bind_to, emit, grows, named
from tightdp.cli.jobs import answers, number_of_jobs
from tightdp.cli.targets import UsageError
from tightdp.cli.words import read_bindings
from tightdp.limits import keep
from tightdp.results.answers import Sweep
from tightdp.results.recorded import plain
from tightdp.results.result import Result, Subject
from tightdp.session.instance import Instance
from tightdp.session.mechanism import Mechanism
from tightdp.session.sweep import Question, combinations, fixed, known, status_of

Row = dict[str, str]


class TableFile:
    """The rows that are known, by their first cells, those of the columns `keys`.

    An unresolved row is asked again; under other limits also one that is not exact.
    """

    def __init__(self, path: Path, about: str, limits: str, keys: Sequence[str]) -> None:
        """Read what the file has, where it is the unfinished table of the same question."""
        self._path, self._keys = path, keys
        self._marker = path.with_name(f"{path.name}.unfinished")
        self._rows: dict[tuple[str, ...], Row] = {}
        with self._errors():
            if path.exists() and self._marker.exists():
                before, _, within = self._marker.read_text(encoding="utf-8").partition("\n")
                kept = () if before != about else ("exact", "bounded") if within == limits else ("exact",)
                with path.open(encoding="utf-8", newline="") as lines:
                    for row in csv.DictReader(lines):
                        if None not in row.values() and row.get("status") in kept:
                            self._rows[self._key(row)] = row
            self._marker.write_text(f"{about}\n{limits}", encoding="utf-8")
            self._write()

    def __contains__(self, key: tuple[str, ...]) -> bool:
        return key in self._rows

    def __len__(self) -> int:
        return sum(row["status"] != "unresolved" for row in self._rows.values())

    def add(self, text: str) -> None:
        """Add the row of a table that has one: a header and the row, as CSV."""
        (row,) = csv.DictReader(io.StringIO(text))
        self._rows[self._key(row)] = row
        with self._errors():
            self._write()

    def finish(self, order: Sequence[tuple[str, ...]]) -> None:
        """Write the rows in their order: the table is complete."""
        self._rows = {key: self._rows[key] for key in order}
        self._write()
        self._marker.unlink(missing_ok=True)

    def _key(self, row: Row) -> tuple[str, ...]:
        return tuple(row[name] for name in self._keys)

    def _write(self) -> None:
        """Write all rows with the columns of one that is known: of others there is not even that."""
        rows = list(self._rows.values())
        columns = max(rows, key=lambda row: (row["status"] != "unresolved", len(row)), default={})
        with self._path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, columns, restval="", extrasaction="ignore", lineterminator="\n")
            if rows:
                writer.writeheader()
            writer.writerows(rows)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            hint = "give a path that can be written"
            raise UsageError(f"cannot write {self._path}: {error.strerror}", hint) from None


_WHERE = ("csv", "plot", "json", "jobs", "dask")
_LIMITS = ("timeout", "max_nodes", "max_memory")
"""Options that do not change an exact row."""
_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)")


@dataclass(frozen=True)
class _Task:
    parameters: dict[str, Any]
    options: Namespace
    sweep: int


def run(options: Namespace) -> int:
    """Ask the query for every combination, and print, write or draw the table."""
    for name in ("guesses", "pairs"):
        if getattr(options, name) is not None and not options.efficacy and options.canaries is None:
            raise UsageError(f"--{name} belongs to --efficacy", "give --efficacy too")
    token = time.time_ns()
    mechanism = _mechanism(options, token)
    axes = {name: read_range(name, value) for name, value in read_bindings(options.bindings).items()}
    swept = tuple(name for name, values in axes.items() if len(values) > 1)
    if not swept:
        raise UsageError("there is no range to sweep over", "give one, as in n=2..20 or lam=1/10,1/5")
    number_of_jobs(options)
    tasks = [_Task(dict(zip(axes, values, strict=True)), options, token) for values in combinations(axes)]
    subjects = [_instance(mechanism, task).subject for task in tasks]
    keys = [tuple(str(plain(dict(subject.parameters)[name])) for name in swept) for subject in subjects]
    table = _table_file(options, mechanism, subjects, swept)
    left = [at for at, key in enumerate(keys) if table is None or key not in table]
    rows: dict[int, Result] = {}
    stopped = False
    keep(Sweep(subject=fixed(subjects[0], swept), status="unresolved", swept=swept, rows=()))
    for place, asked in answers(_row, [tasks[at] for at in left], options):
        at = left[place]
        rows[at] = asked.result
        keep(asked.result)
        stopped = stopped or asked.interrupted
        if table is not None:
            table.add(Sweep(subject=subjects[at], swept=swept, rows=(asked.result,)).csv())
        if stopped:
            break
    stopped = stopped or len(rows) < len(left)
    found = tuple(rows[at] for at in sorted(rows))
    result = Sweep(subject=fixed(subjects[0], swept), status=status_of(found, stopped), swept=swept, rows=found)
    if table is not None:
        if not stopped:
            table.finish(keys)
        else:
            sys.stderr.write(f"interrupted: {len(table)} of {len(tasks)} rows are known; the same command goes on\n")
    else:
        emit(result, options)
    return INTERRUPTED if stopped else Asked(result).exit_status


def _table_file(
    options: Namespace, mechanism: Mechanism, subjects: Sequence[Subject], swept: tuple[str, ...]
) -> TableFile | None:
    if not grows(options):
        return None
    asked = {name: value for name, value in vars(options).items() if name not in _WHERE + _LIMITS}
    limits = str([getattr(options, name) for name in _LIMITS])
    source = getsource(mechanism.program.function)
    module = getmodule(mechanism.program.function)
    whole = source if module is None else getsource(module)
    about = json.dumps([__version__, sha256(whole.encode()).hexdigest(), list(map(str, subjects)), asked], default=str)
    table = TableFile(Path(options.csv), about, limits, swept)
    if len(table):
        sys.stderr.write(f"{len(table)} of {len(subjects)} rows are in {options.csv} already\n")
    return table


def _instance(mechanism: Mechanism, task: _Task) -> Instance:
    return known(bind_to(mechanism, task.parameters, task.options))


def _row(task: _Task) -> Asked:
    """Work on one row, here or in another process."""
    instance = _instance(_mechanism(task.options, task.sweep), task)
    question = Question(**{field.name: getattr(task.options, field.name) for field in fields(Question)})
    return ask(instance, task.options, lambda: question.ask(instance), question.name)


_read: dict[int, Mechanism] = {}


def _mechanism(options: Namespace, sweep: int) -> Mechanism:
    """Return the mechanism; loaded once for a sweep by every process."""
    if sweep not in _read:
        _read.clear()
        _read[sweep] = named(options)
    return _read[sweep]


def read_range(name: str, value: Any) -> Sequence[Any]:
    """Return the values of LO..HI or of A,B,C; anything else is one value."""
    if not isinstance(value, str) or value.startswith("?"):
        return [value]
    found = _RANGE.fullmatch(value)
    if found is None:
        parts = value.split(",")
        if not all(part.strip() for part in parts):
            raise UsageError(f"{name}={value} has an empty entry", "write values as lam=1/10,1/5")
        return parts
    low, high = int(found[1]), int(found[2])
    if low > high:
        raise UsageError(f"{name}={value} is an empty range", "give the lower end first")
    return range(low, high + 1)
