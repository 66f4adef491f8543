"""Two ways to one answer: when the first has worked for a while, the second starts beside it in a process of its own.

Whichever way answers first wins, and the other one is ended. A question that is answered soon never starts the second
way, so that it costs nothing.
"""

from __future__ import annotations

import contextvars
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Generic, TypeVar

from tightdp.errors import LimitError
from tightdp.limits.child import ANSWER, ERROR, SNAPSHOT, can_fork, end, fork_for
from tightdp.limits.clock import Limits, also_at_ticks, holding, request, requested, withdraw

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

__all__ = ["Race"]

T = TypeVar("T")

_HEAD_START = 0.3
"""Seconds of the processor that the first way has to itself."""


class _Overtaken(LimitError):
    """The other way was faster."""


class Race(Generic[T]):
    """A question, and another way to its answer; `overtaken` says afterwards that the other way was faster."""

    def __init__(self, question: Callable[[], T], other: Callable[[], T], limits: Limits) -> None:
        self._question, self._other, self._limits = question, other, limits
        self._start = time.process_time()
        self._pid = 0
        self._reading: Connection | None = None
        self._over = False
        self.overtaken = False
        self._answer: T

    def answer(self) -> T:
        """Return the first answer. Raises what the first way raises, unless the other one has an answer by then."""
        global _running
        if _running or not can_fork():
            return self._question()
        _running = True
        try:
            with also_at_ticks(self._look):
                found = self._question()
        except Exception:
            if not self.overtaken:
                raise
        finally:
            _running = False
            self._end()
        return self._answer if self.overtaken else found

    def _look(self) -> None:
        """Start the other way when it is time to, then look whether it has an answer."""
        with holding():
            if self._over or requested() is not None:
                return
            if self._reading is not None:
                self._hear(self._reading)
            elif time.process_time() - self._start > _HEAD_START:
                self._fork()

    def _hear(self, reading: Connection) -> None:
        while not self._over and reading.poll():
            try:
                kind, value = pickle.loads(reading.recv_bytes())
            except (EOFError, ConnectionError):
                kind, value = ERROR, None
            self._over = kind != SNAPSHOT
            if kind == ANSWER:
                self._answer, self.overtaken = value, True
                request(_Overtaken("another way was faster"))

    def _fork(self) -> None:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._pid, self._reading = fork_for(
                lambda: contextvars.Context().run(self._silently), self._fresh_limits(), before
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def _fresh_limits(self) -> Limits:
        """Return the limits of the other way: half of the memory, and no longer than the first way."""
        memory = self._limits.max_memory
        return replace(self._limits, timeout=None, max_memory=memory and memory // 2, memory=-1, start=time.monotonic())

    def _silently(self) -> T:
        """Ask the other way; nothing that it prints is shown, and Ctrl-C is for the first way."""
        os.setpgid(0, 0)
        sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 (it is open to the end)
        return self._other()

    def _end(self) -> None:
        with holding():
            if self._pid:
                end(self._pid)
                self._pid = 0
            if self._reading is not None:
                self._reading.close()
            if self.overtaken:
                withdraw(_Overtaken)


_running = False
"""Whether there is a race in this process; there is one at a time."""
