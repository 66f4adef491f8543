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
from operator import call
from typing import TYPE_CHECKING, Any, TypeVar

from tightdp.cli.words import UsageError
from tightdp.errors import MissingExtra
from tightdp.limits import cores, die_with_parent, interrupted, requested
from tightdp.session.arguments import read_count
from tightdp.session.later import Later

if TYPE_CHECKING:
    from tightdp.cli import bars
else:
    bars = Later("tightdp.cli.bars")

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


Job = Callable[[], tuple[int, Any]]
"""Works on a row, and returns its place in the table and the answer."""


def answers(work: Callable[[T], R], tasks: Sequence[T], options: Namespace) -> Iterator[tuple[int, R]]:
    """Yield the answer to every task with its place, as they come; after Ctrl-C those that are known.

    `work` is a function of a module, so that other processes find it.
    """
    jobs: list[Job] = [partial(_answered, work, place, task) for place, task in enumerate(tasks)]
    number, start = number_of_jobs(options), time.monotonic()
    if options.dask is None:
        alone = _ALONE if options.jobs is None else 0.0
        while jobs and (number == 1 or len(jobs) == 1 or time.monotonic() - start < alone):
            yield jobs.pop(0)()
            if interrupted():
                return
    if jobs:
        with _progress(len(tasks), len(tasks) - len(jobs)) as tell:
            for found in _on_cluster(jobs, options.dask) if options.dask else _on_cores(jobs, number):
                tell()
                yield found


def _on_cores(jobs: Sequence[Job], number: int) -> Iterator[tuple[int, Any]]:
    with _without_ctrl_c(), _without_complaints():
        started = multiprocessing.get_context("spawn").Pool(min(number, len(jobs)), _apart)
    with started as pool:
        results = pool.imap_unordered(call, jobs)
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


def _on_cluster(jobs: Sequence[Job], address: str) -> Iterator[tuple[int, Any]]:
    if find_spec("distributed") is None:
        raise MissingExtra("--dask needs Dask", "dask")
    distributed = import_module("distributed")
    try:
        client = distributed.Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise UsageError(f"there is no Dask cluster at {address}", f"start one with dask scheduler ({error})") from None
    with client:
        futures = client.map(call, jobs, pure=False)
        for future in distributed.as_completed(futures):
            yield future.result()
            if interrupted():
                client.cancel(futures)
                return


def _answered(work: Callable[[Any], Any], place: int, task: Any) -> tuple[int, Any]:
    return place, work(task)


@contextmanager
def _progress(total: int, done: int) -> Iterator[Callable[[], None]]:
    """Show on a terminal how many rows are done, and the time left."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    with bars.of_rows() as bar:
        task = bar.add_task("rows", total=total, completed=done)
        yield lambda: bar.advance(task)
