"""The command `sweep`: one query over all combinations of ranges."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from itertools import product
from typing import Any

from tightdp.cli.answer import INTERRUPTED, Asked, ask, emit, write_text
from tightdp.cli.binding import add_limits, add_program, bind_to, load
from tightdp.cli.errors import UsageError
from tightdp.cli.words import read_bindings, read_pairs
from tightdp.present import plot
from tightdp.results.result import Result, Status, Subject
from tightdp.results.sweep import Sweep
from tightdp.session.instance import Instance

__all__ = ["add_arguments", "read_range", "run"]

_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)")
_MOST_ROWS = 10_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command accepts."""
    add_program(parser)
    query = parser.add_mutually_exclusive_group()
    query.add_argument("--delta", metavar="D", help="the tight ε for this δ (without an option: the tight ε)")
    query.add_argument("--epsilon", metavar="E", help="δ at this ε")
    query.add_argument("--exp-epsilon", metavar="T", help="δ at e^ε = T")
    query.add_argument("--alpha", metavar="A", help="the tight 1 - β at this error bound")
    query.add_argument("--beta", metavar="B", help="the least α for this failure probability")
    query.add_argument("--efficacy", action="store_true", help="the efficacy of one-run auditing and what bounds it")
    parser.add_argument("--guesses", metavar="K", help="with --efficacy: the number of guesses (default n)")
    parser.add_argument("--pairs", metavar="Z", help="with --efficacy: as for the command efficacy")
    parser.add_argument("--csv", metavar="FILE", nargs="?", const="-", help="write CSV (to stdout without FILE)")
    parser.add_argument("--plot", metavar="FILE", help="draw the answers against the first range")
    add_limits(parser)


def run(options: argparse.Namespace) -> int:
    """Ask the query for every combination, and print, write or draw the table."""
    for name in ("guesses", "pairs"):
        if getattr(options, name) is not None and not options.efficacy:
            raise UsageError(f"--{name} belongs to --efficacy", "give --efficacy too")
    if options.pairs not in (None, "best"):
        options.pairs = read_pairs(options.pairs)
    mechanism = load(options.file)
    axes = {name: read_range(name, value) for name, value in read_bindings(options.bindings).items()}
    swept = tuple(name for name, values in axes.items() if len(values) > 1)
    if not swept:
        raise UsageError("there is no range to sweep over", "give one, as in n=2..20 or lam=1/10,1/5")
    if options.plot is not None:
        plot.require()
    rows: list[Result] = []
    instances = [bind_to(mechanism, dict(zip(axes, values, strict=True)), options) for values in _combinations(axes)]
    interrupted = False
    for instance in instances:
        asked = _ask(instance, options)
        rows.append(asked.result)
        if asked.interrupted:
            interrupted = True
            break
    status = _status(rows, interrupted)
    result = Sweep(subject=_subject(instances[0], swept), status=status, swept=swept, rows=tuple(rows))
    _draw(result, options)
    if options.csv is None:
        emit(result, options)
    else:
        write_text(options.csv, result.csv())
    return INTERRUPTED if interrupted else Asked(result).exit_status


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


def _ask(instance: Instance, options: argparse.Namespace) -> Asked:
    """Return one row."""

    def query() -> Result:
        if options.efficacy:
            return instance.efficacy(options.guesses, options.pairs)
        if options.alpha is not None or options.beta is not None:
            return instance.accuracy(options.alpha, beta=options.beta, top=1)
        if options.epsilon is not None or options.exp_epsilon is not None:
            return instance.delta(epsilon=options.epsilon, exp_epsilon=options.exp_epsilon)
        return instance.privacy(delta=options.delta or 0)

    name = "efficacy" if options.efficacy else "privacy" if options.alpha is options.beta is None else "accuracy"
    return ask(instance, options, query, name)


def _subject(instance: Instance, swept: tuple[str, ...]) -> Subject:
    """Return the subject with the parameters that stay the same."""
    whole = instance.subject
    fixed = tuple((name, value) for name, value in whole.parameters if name not in swept)
    return Subject(whole.mechanism, fixed, whole.neighbours)


def _status(rows: Sequence[Result], stopped: bool) -> Status:
    if stopped or any(row.cut_short for row in rows):
        return "unresolved"
    return "bounded" if any(row.status == "bounded" for row in rows) else "exact"


def _draw(result: Sweep, options: argparse.Namespace) -> None:
    if options.plot is None:
        return
    figure = result.plot().get_figure()
    try:
        figure.savefig(options.plot)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write {options.plot}: {error}", "give a path such as sweep.png") from None
    sys.stderr.write(f"wrote {options.plot}\n")
