"""The command `sweep`: one query over all combinations of ranges."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from itertools import product
from typing import Any

from tightdp.cli.commands import bind_to, emit, interruptible, privacy_query, write_text
from tightdp.cli.load import load, read_bindings
from tightdp.cli.parser import UsageError
from tightdp.errors import LimitError
from tightdp.present import plot
from tightdp.results.answers import Unknown
from tightdp.results.result import Result, Status, Subject
from tightdp.results.sweep import Sweep
from tightdp.session.instance import Instance

__all__ = ["read_range", "sweep"]

_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)")
_MOST_ROWS = 10_000


def sweep(options: argparse.Namespace) -> int:
    """Ask the query for every combination, and print, write or draw the table."""
    mechanism = load(options.file)
    axes = {name: read_range(name, value) for name, value in read_bindings(options.bindings).items()}
    swept = tuple(name for name, values in axes.items() if len(values) > 1)
    if not swept:
        raise UsageError("there is no range to sweep over", "give one, as in n=2..20 or lam=1/10,1/5")
    if options.plot is not None:
        plot.require()
    rows: list[Result] = []
    instances = [
        bind_to(mechanism, dict(zip(axes, values, strict=True)), options, None) for values in _combinations(axes)
    ]
    stopped = False
    for instance in instances:
        row, stopped = _ask(instance, options)
        rows.append(row)
        if stopped:
            break
    result = Sweep(subject=_subject(instances[0], swept), status=_status(rows, stopped), swept=swept, rows=tuple(rows))
    _draw(result, options)
    if options.csv is None:
        return emit(result, options)
    write_text(options.csv, result.csv())
    return 3 if result.status == "unresolved" else 0


def read_range(name: str, value: Any) -> Sequence[Any]:
    """Return the values of LO..HI or of A,B,C; anything else is one value."""
    if not isinstance(value, str):
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


def _combinations(axes: dict[str, Sequence[Any]]) -> list[tuple[Any, ...]]:
    size = 1
    for values in axes.values():
        size *= len(values)
    if size > _MOST_ROWS:
        raise UsageError(f"the ranges have {size:,} combinations", f"sweep over at most {_MOST_ROWS:,}")
    return list(product(*axes.values()))


def _ask(instance: Instance, options: argparse.Namespace) -> tuple[Result, bool]:
    """Return one row, and whether it was interrupted by the user."""
    accuracy = options.alpha is not None or options.beta is not None
    try:
        with interruptible(instance):
            if accuracy:
                row: Result = instance.accuracy(options.alpha, beta=options.beta, top=1)
            else:
                row = privacy_query(instance, options)
    except LimitError as error:
        name = "accuracy" if accuracy else "privacy"
        row = Unknown(subject=instance.subject, status="unresolved", reason=error.what, name=name)
    return row, instance.engine.stopping


def _subject(instance: Instance, swept: tuple[str, ...]) -> Subject:
    """Return the subject with the parameters that stay the same."""
    whole = instance.subject
    fixed = tuple((name, value) for name, value in whole.parameters if name not in swept)
    return Subject(whole.mechanism, fixed, whole.neighbours)


def _status(rows: Sequence[Result], stopped: bool) -> Status:
    found = {row.status for row in rows}
    if stopped or "unresolved" in found:
        return "unresolved"
    return "bounded" if "bounded" in found else "exact"


def _draw(result: Sweep, options: argparse.Namespace) -> None:
    if options.plot is None:
        return
    figure = result.plot().get_figure()
    try:
        figure.savefig(options.plot)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write {options.plot}: {error}", "give a path such as sweep.png") from None
    sys.stderr.write(f"wrote {options.plot}\n")
