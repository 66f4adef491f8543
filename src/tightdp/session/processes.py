"""Tasks on several processes of this machine, with what they answer as it comes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from tightdp.errors import LimitError
from tightdp.limits import can_fork, die_with_parent, interrupted, requested
from tightdp.limits.calibrated import TICK

T = TypeVar("T")
R = TypeVar("R")


def on_cores(work: Callable[[T], R], tasks: Sequence[T], number: int, method: str = "spawn") -> Iterator[R]:
    """Yield what is answered to tasks on so many processes, in any order; after Ctrl-C in a command no more.

    Processes are started anew ("spawn"), with work and tasks pickled, or are copies of this one ("fork"), to which
    only tasks are. Raises the limit that the command met, and what a task raises; LimitError where a process is killed.
    """
    before, apart = {*multiprocessing.active_children()}, multiprocessing.get_context(method)
    with _without_complaints(), ProcessPoolExecutor(min(number, len(tasks)), apart, _apart, (work,)) as pool:
        with _without_ctrl_c():
            pending = {pool.submit(_work, task) for task in tasks}
        working = {*multiprocessing.active_children()} - before
        try:
            while pending and not interrupted():
                if (limit := requested()) is not None:
                    raise limit
                done, pending = wait(pending, TICK, FIRST_COMPLETED)
                yield from (each.result() for each in done)
        except BrokenProcessPool:
            raise LimitError("a process was ended from outside", "it may have needed too much memory") from None
        finally:
            for process in working:
                process.kill()


def numbered(work: Callable[[T], R], job: tuple[int, T]) -> tuple[int, R]:
    """Return the answer to a task with its place."""
    return job[0], work(job[1])


def in_order(work: Callable[[T], R], tasks: Sequence[T], number: int) -> list[R]:
    """Return what is answered to all tasks, in their order, on so many processes; 1 is this one.

    Where processes are copies of this one, work may be any function.
    """
    if number == 1 or len(tasks) < 2:
        return [work(task) for task in tasks]
    found = dict(on_cores(partial(numbered, work), list(enumerate(tasks)), number, "fork" if can_fork() else "spawn"))
    return [found[place] for place in range(len(tasks))]


_asked: Callable[[Any], Any]


def _apart(work: Callable[[Any], Any]) -> None:
    """Start as a process that does not outlive its parent, and leaves Ctrl-C to it."""
    global _asked
    _asked = work
    die_with_parent()
    if hasattr(os, "setpgid"):
        os.setpgid(0, 0)


def _work(task: Any) -> Any:
    return _asked(task)


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
