"""Measure tightdp and its peers: time and peak memory of whole processes, start-up included.

    python benchmarks/beside.py            the table, a quarter of an hour
    python benchmarks/beside.py --quick    a few small tasks, a minute
    python benchmarks/beside.py --plot     the curves of docs/benchmark.svg, half an hour

Tasks can be picked by a part of their name. `--write` puts the table into benchmarks/README.md, the drawing into docs/.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from measure import Outcome, Stopwatch
from report import Row, draw, table, write_between
from tasks import FAMILIES, NODES, PEERS, TASKS, Task, series

OURS = "tightdp"
_OUR_BOUND = 180
NEEDS = {"brute force": "tightdp", "ProbLog": "pysdd", "Storm": "stormpy"}
HERE = Path(__file__).resolve().parent


class Peers:
    """Runs peers as long as they keep within the bound: who was too late is not asked the next larger question."""

    def __init__(self, stopwatch: Stopwatch) -> None:
        self.stopwatch = stopwatch
        self.names = [name for name in PEERS if importlib.util.find_spec(NEEDS[name]) is not None]
        self.late: dict[tuple[str, str], Outcome] = {}

    def ask(self, name: str, task: Task) -> Outcome:
        """Measure a peer on a task."""
        if name not in task.peers:
            return Outcome(failure="-")
        if task.family and (name, task.family) in self.late:
            return self.late[name, task.family]
        outcome = self.stopwatch.measure(task.peer(name))
        if outcome.seconds is None:
            self.late[name, task.family] = outcome
            return outcome
        return replace(outcome, answer=outcome.answer["answer"])


def agree(ours: Any, theirs: Any) -> bool:
    """Whether two answers are the same number (ProbLog computes in floats)."""
    left, right = str(ours), str(theirs)
    if "inf" in (left, right):
        return left == right
    exact = Fraction(left), Fraction(right)
    return abs(exact[0] - exact[1]) <= abs(exact[0]) * Fraction(1, 10**6)


def row(task: Task, peers: Peers) -> Row:
    """Measure one task."""
    ours = peers.stopwatch.measure(task.command, max(peers.stopwatch.bound, _OUR_BOUND))
    if ours.seconds is not None:
        ours = replace(ours, answer=str(task.read(ours.answer)))
    others = {name: peers.ask(name, task) for name in peers.names}
    for name, other in others.items():
        if ours.seconds is not None and other.seconds is not None and not agree(ours.answer, other.answer):
            others[name] = Outcome(failure=f"another answer: {other.answer}")
    return Row(task.name, ours, others)


def machine(processor: bool) -> str:
    """What is measured, and on which machine, in words."""
    model = next(
        (line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")), ""
    )
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    kind = "Processor time (user and system; other work went on)" if processor else "Elapsed time"
    where = f"{cores} cores{f' ({model})' if model else ''}, {platform.system()}, Python {platform.python_version()}"
    return f"{kind} of the whole process, median of several runs; {where}"


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def main() -> None:
    """Measure what is asked for, and print or write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", nargs="*", help="measure the tasks whose name contains one of these")
    parser.add_argument("--quick", action="store_true", help="only small tasks, one run each")
    parser.add_argument("--plot", action="store_true", help="measure and draw the curves instead of the table")
    parser.add_argument("--write", action="store_true", help="write benchmarks/README.md or docs/benchmark.svg")
    parser.add_argument("--bound", type=float, default=25, help="seconds that a peer may take (default 25)")
    parser.add_argument("--runs", type=int, default=5, help="runs of a fast command (default 5)")
    parser.add_argument("--processor", action="store_true", help="processor instead of elapsed time: a busy machine")
    parser.add_argument("--json", metavar="FILE", help="keep the measurements")
    options = parser.parse_args()
    if options.quick:
        options.bound, options.runs = min(options.bound, 20), 1
    stopwatch = Stopwatch(options.bound, options.runs, options.processor)
    if options.plot:
        curves = measure_curves(stopwatch)
        if options.json:
            Path(options.json).write_text(json.dumps(curves, indent=1))
        if options.write:
            draw(curves, HERE.parent / "docs" / "benchmark.svg")
        return
    rows = measure_table(options, stopwatch)
    text = table(rows, stopwatch.measure([sys.executable, "-m", "tightdp", "show", *_SMALL]))
    print(f"\n{text}\n\n{machine(options.processor)}")
    if options.write:
        write_between(HERE / "README.md", "measured", f"{machine(options.processor)}.\n\n{text}")


_SMALL = ("programs/randomized_response.py", "n=1", "lam=1/5", "--json")


def measure_table(options: argparse.Namespace, stopwatch: Stopwatch) -> list[Row]:
    """The rows of the table, reported on stderr as they come."""
    peers = Peers(stopwatch)
    for name in PEERS.keys() - set(peers.names):
        sys.stderr.write(f"{name} is not installed\n")
    rows = []
    for task in (*TASKS, NODES):
        if options.quick and not task.quick:
            continue
        if options.only and not any(word in task.name for word in options.only):
            continue
        rows.append(row(task, peers))
        sys.stderr.write(f"{rows[-1].line()}\n")
        if options.json:
            Path(options.json).write_text(json.dumps([one.to_dict() for one in rows], indent=1))
    return rows


def measure_curves(stopwatch: Stopwatch) -> dict[str, dict[str, list[tuple[int, float]]]]:
    """For every family and tool, (n, seconds) up to the first n that takes longer than the bound."""
    curves: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for family in FAMILIES:
        curves[family] = {}
        peers = Peers(stopwatch)
        for name in (OURS, *peers.names):
            points: list[tuple[int, float]] = []
            for task in series(family):
                outcome = stopwatch.measure(task.command) if name == OURS else peers.ask(name, task)
                if outcome.seconds is None:
                    break
                points.append((task.size, outcome.seconds))
            curves[family][name] = points
            sys.stderr.write(f"{family}, {name}: {points}\n")
    return curves


if __name__ == "__main__":
    main()
