"""Many questions at once, each in a child process: the first ones here, so that short lists never start one."""

from __future__ import annotations

import os
import pickle
import signal
import time
from collections.abc import Callable, Sequence
from select import select
from typing import TYPE_CHECKING, Any, TypeVar

from tightdp.errors import LimitError
from tightdp.limits.child import ANSWER, ERROR, can_fork, end, fork_for
from tightdp.limits.clock import Limits, holding

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

__all__ = ["at_once", "cores"]

T = TypeVar("T")

_ALONE = 1.0
"""For how many seconds questions are answered here before there are children."""


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def at_once(questions: Sequence[Callable[[], T]], jobs: int) -> list[T]:
    """Return the answers in the order of the questions, `jobs` of them asked at a time.

    Raises what a question raises; the others are given up then. Children are forked, so that a question may be any
    function.
    """
    answers: dict[int, T] = {}
    start = time.monotonic()
    while len(answers) < len(questions):
        if jobs > 1 and can_fork() and len(questions) - len(answers) > 1 and time.monotonic() - start > _ALONE:
            first = len(answers)
            answers |= {first + at: found for at, found in _Children(questions[first:], jobs).answers().items()}
        else:
            answers[len(answers)] = questions[len(answers)]()
    return [answers[at] for at in range(len(questions))]


class _Children:
    def __init__(self, questions: Sequence[Callable[[], Any]], jobs: int) -> None:
        self._questions, self._jobs = questions, jobs
        self._running: dict[Connection, tuple[int, int]] = {}
        """Where a child is heard: its number, and the place of its question."""

    def answers(self) -> dict[int, Any]:
        """Return all answers by their places."""
        found: dict[int, Any] = {}
        asked = 0
        try:
            while len(found) < len(self._questions):
                while len(self._running) < self._jobs and asked < len(self._questions):
                    self._fork(asked)
                    asked += 1
                for reading in select(list(self._running), [], [])[0]:
                    place, value = self._hear(reading)
                    found[place] = value
        finally:
            with holding():
                for reading, (pid, _) in self._running.items():
                    end(pid)
                    reading.close()
        return found

    def _fork(self, place: int) -> None:
        question = self._questions[place]

        def apart() -> Any:
            os.setpgid(0, 0)  # Ctrl-C is for the parent
            return question()

        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            pid, reading = fork_for(apart, Limits(), before)
            self._running[reading] = pid, place
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _hear(self, reading: Connection) -> tuple[int, Any]:
        """Return the answer of a child, which is at an end then. Raises its error."""
        pid, place = self._running[reading]
        try:
            kind, value = pickle.loads(reading.recv_bytes())
        except (EOFError, ConnectionError):
            kind, value = ERROR, LimitError("a process was ended from outside", "it may have needed too much memory")
        if kind not in (ANSWER, ERROR):
            return self._hear(reading)
        with holding():
            del self._running[reading]
            end(pid, kill=False)
            reading.close()
        if kind == ERROR:
            raise value
        return place, value
