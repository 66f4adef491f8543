"""Many rows at once: the first ones here, the rest by processes on all cores, or by a Dask cluster.

Every row is a task that can be sent to another process, which loads the mechanism again. Small tables are done before
processes would have started.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import TypeVar

from rich import progress
from rich.console import Console
from rich.table import Column

from tightdp.cli.targets import UsageError
from tightdp.errors import MissingExtra
from tightdp.limits import cores, die_with_parent, interrupted, requested
from tightdp.session.arguments import read_count

T = TypeVar("T")
R = TypeVar("R")

_ALONE = 1.0
"""For how many seconds rows are computed here before other processes start, unless these were asked for."""
_BETWEEN_LOOKS = 0.1


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
    answered = partial(_answered, work)
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
                _on_cluster(answered, jobs, options.dask) if options.dask else _on_cores(answered, jobs, number)
            ):
                tell()
                yield found


def _on_cores(work: Callable[[T], R], jobs: Sequence[T], number: int) -> Iterator[R]:
    with _without_ctrl_c(), _without_complaints():
        started = multiprocessing.get_context("spawn").Pool(min(number, len(jobs)), _apart)
    with started as pool:
        results = pool.imap_unordered(work, jobs)
        for _ in jobs:
            while True:
                if interrupted():
                    return
                if (limit := requested()) is not None:
                    raise limit
                with suppress(multiprocessing.TimeoutError):
                    yield results.next(_BETWEEN_LOOKS)
                    break


def _apart() -> None:
    """Start as a process that does not outlive its parent, and leaves Ctrl-C to it."""
    die_with_parent()
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Let Ctrl-C wait until processes are started."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _without_complaints() -> Iterator[None]:
    """Keep the process that cleans up after a pool from warning of what a killed one has left behind."""
    sys.warnoptions.append("ignore:resource_tracker")
    try:
        yield
    finally:
        sys.warnoptions.pop()


def _on_cluster(work: Callable[[T], R], jobs: Sequence[T], address: str) -> Iterator[R]:
    if find_spec("distributed") is None:
        raise MissingExtra("--dask needs Dask", "dask")
    distributed = import_module("distributed")
    try:
        client = distributed.Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise UsageError(f"there is no Dask cluster at {address}", f"start one with dask scheduler ({error})") from None
    with client:
        futures = client.map(work, jobs, pure=False)
        for future in distributed.as_completed(futures):
            yield future.result()
            if interrupted():
                client.cancel(futures)
                return


def _answered(work: Callable[[T], R], job: tuple[int, T]) -> tuple[int, R]:
    return job[0], work(job[1])


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
