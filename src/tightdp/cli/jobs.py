"""Many rows at once: the first ones here, the rest by processes on all cores, or by a Dask cluster.

Every row is a task that can be sent to another process, which loads the mechanism again. Small tables are done before
processes would have started.
"""

from __future__ import annotations

import sys
import threading
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TypeVar

from rich import progress
from rich.console import Console
from rich.table import Column

from tightdp.cli.targets import UsageError
from tightdp.errors import MissingExtra
from tightdp.limits import cores, interrupted
from tightdp.session.arguments import read_count
from tightdp.session.processes import numbered, on_cores

T = TypeVar("T")
R = TypeVar("R")

_ALONE = 1.0
"""For how many seconds rows are computed here before other processes start, unless these were asked for."""


def number_of_jobs(options: Namespace) -> int:
    """Return how many rows to work on at once."""
    if options.jobs is not None and options.dask is not None:
        raise UsageError("--jobs and --dask exclude each other", "a cluster has its own number of workers")
    return cores() if options.jobs is None else read_count("--jobs", options.jobs)


def answers(work: Callable[[T], R], tasks: Sequence[T], options: Namespace) -> Iterator[tuple[int, R]]:
    """Yield the answer to every task with its place, as they come; after Ctrl-C those that are known.

    `work` is a function of a module, so that other processes find it.
    """
    jobs = list(enumerate(tasks))
    answered = partial(numbered, work)
    number, start = number_of_jobs(options), time.monotonic()
    if options.dask is None:
        alone = _ALONE if options.jobs is None else 0.0
        while jobs and (number == 1 or len(jobs) == 1 or time.monotonic() - start < alone):
            yield answered(jobs.pop(0))
            if interrupted():
                return
    if jobs:
        with _progress(len(tasks), len(tasks) - len(jobs)) as tell:
            for found in (
                _on_cluster(answered, jobs, options.dask) if options.dask else on_cores(answered, jobs, number)
            ):
                tell()
                yield found


def _on_cluster(work: Callable[[T], R], jobs: Sequence[T], address: str) -> Iterator[R]:
    if find_spec("distributed") is None:
        raise MissingExtra("--dask needs Dask", "dask")
    distributed = import_module("distributed")
    try:
        client = distributed.Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise UsageError(f"there is no Dask cluster at {address}", f"start one with dask scheduler ({error})") from None
    with client:
        futures = client.map(partial(_one_by_one, work), jobs, pure=False)
        for future in distributed.as_completed(futures):
            yield future.result()
            if interrupted():
                client.cancel(futures)
                return


_ROW = threading.Lock()


def _one_by_one(work: Callable[[T], R], job: T) -> R:
    """Return the answer to a task of which a worker has no other at the time: parsing and limits are of a process."""
    with _ROW:
        return work(job)


@contextmanager
def _progress(total: int, done: int) -> Iterator[Callable[[], None]]:
    """Show on a terminal how many rows are done, and the time left."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    with of_rows() as bar:
        task = bar.add_task("rows", total=total, completed=done)
        yield lambda: bar.advance(task)


_WIDE = 100
"""From how many columns on a bar is drawn beside the numbers of a search."""


def of_search() -> progress.Progress:
    """Return what shows the phase of a search, how far it is, its times, and the bound that it has (`found`)."""
    console = Console(stderr=True)
    drawn = () if console.width < _WIDE else (progress.BarColumn(bar_width=20),)
    return progress.Progress(
        progress.TextColumn("{task.description}"),
        *drawn,
        progress.TaskProgressColumn(table_column=_whole(4)),
        progress.TimeElapsedColumn(table_column=_whole(7)),
        progress.TextColumn("left:", table_column=_whole(5)),
        progress.TimeRemainingColumn(table_column=_whole(7)),
        progress.TextColumn("{task.fields[found]}"),
        console=console,
        transient=True,
    )


def of_rows() -> progress.Progress:
    """Return what shows how many rows of a table are done, and the time left."""
    columns = progress.BarColumn(), progress.MofNCompleteColumn(), progress.TimeRemainingColumn()
    return progress.Progress("rows", *columns, console=Console(stderr=True), transient=True)


def _whole(width: int) -> Column:
    """Return a column that a narrow terminal does not cut."""
    return Column(min_width=width, no_wrap=True)
