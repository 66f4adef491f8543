"""The command `sweep`: one query over all combinations of ranges."""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from hashlib import sha256
from inspect import getmodule, getsource
from pathlib import Path
from typing import Any

from tightdp._version import __version__
from tightdp.cli.answer import INTERRUPTED, Asked, ask, emit
from tightdp.cli.binding import bind_to, load
from tightdp.cli.errors import UsageError
from tightdp.cli.jobs import answers, number_of_jobs
from tightdp.cli.table_file import TableFile, grows
from tightdp.cli.words import read_bindings
from tightdp.limits import keep
from tightdp.results.record import plain
from tightdp.results.result import Result, Subject
from tightdp.results.sweep import Sweep
from tightdp.session.instance import Instance
from tightdp.session.mechanism import Mechanism
from tightdp.session.sweep import Question, combinations, fixed, known, status_of

__all__ = ["read_range", "run"]

_WHERE = ("csv", "plot", "json", "jobs", "dask")
_LIMITS = ("timeout", "max_nodes", "max_memory")
"""Options that do not change an exact row."""
_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)")


@dataclass(frozen=True)
class _Task:
    """One row: what other processes need to work on it."""

    place: str
    parameters: dict[str, Any]
    options: argparse.Namespace
    sweep: int


def run(options: argparse.Namespace) -> int:
    """Ask the query for every combination, and print, write or draw the table."""
    for name in ("guesses", "pairs"):
        if getattr(options, name) is not None and not options.efficacy and options.canaries is None:
            raise UsageError(f"--{name} belongs to --efficacy", "give --efficacy too")
    token = time.time_ns()
    mechanism = _loaded(options.file, token)
    axes = {name: read_range(name, value) for name, value in read_bindings(options.bindings).items()}
    swept = tuple(name for name, values in axes.items() if len(values) > 1)
    if not swept:
        raise UsageError("there is no range to sweep over", "give one, as in n=2..20 or lam=1/10,1/5")
    number_of_jobs(options)
    tasks = [_Task(options.file, dict(zip(axes, values, strict=True)), options, token) for values in combinations(axes)]
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
    options: argparse.Namespace, mechanism: Mechanism, subjects: Sequence[Subject], swept: tuple[str, ...]
) -> TableFile | None:
    """Return the file that rows are written to as they come, None where there is none."""
    if not grows(options):
        return None
    asked = {name: value for name, value in vars(options).items() if name not in _WHERE + _LIMITS}
    limits = str([getattr(options, name) for name in _LIMITS])
    source = getsource(mechanism.program.function)
    module = getmodule(mechanism.program.function)
    whole = source if module is None else getsource(module)
    about = json.dumps([__version__, sha256(whole.encode()).hexdigest(), list(map(str, subjects)), asked], default=str)
    table = TableFile(Path(options.csv), about, limits, len(swept))
    if len(table):
        sys.stderr.write(f"{len(table)} of {len(subjects)} rows are in {options.csv} already\n")
    return table


def _instance(mechanism: Mechanism, task: _Task) -> Instance:
    return known(bind_to(mechanism, task.parameters, task.options))


def _row(task: _Task) -> Asked:
    """Work on one row, here or in another process."""
    instance = _instance(_loaded(task.place, task.sweep), task)
    question = Question(**{field.name: getattr(task.options, field.name) for field in fields(Question)})
    return ask(instance, task.options, lambda: question.ask(instance), question.name)


@lru_cache(maxsize=1)
def _loaded(place: str, sweep: int) -> Mechanism:
    """Return the mechanism; loaded once for a sweep by every process."""
    return load(place)


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
