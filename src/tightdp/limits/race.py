"""Two ways to one answer: when the first has worked for a while, the second starts beside it in a process of its own.

Whichever way answers first wins, and the other one is ended. A question that is answered soon never starts the second
way, so that it costs nothing. Where processes are more than processors, what is beside a question can `stand_back`.
"""

from __future__ import annotations

import contextvars
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

from tightdp.errors import LimitError
from tightdp.limits.child import ANSWER, ERROR, SNAPSHOT, can_fork, end, fork_for
from tightdp.limits.clock import Limits, also_at_ticks, holding, request, requested, withdraw

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

__all__ = ["Beside", "Race", "stand_back"]

T = TypeVar("T")

_IMPORTER = "<frozen importlib._bootstrap>"
_HEAD_START = 0.5
"""Seconds of processor time that the first way has to itself."""
_ALONE, _SHARE_ALONE = 2.0, 0.25
"""Seconds that a question takes before partial answers are looked for, or this share of its limit on time."""
_BRISK, _REST = 2.0, 0.07
"""Seconds of processor time that the search for partial answers takes in one go, and seconds that it then rests at
every tick: what it has not found by then is seldom worth what it takes from the question."""
_BACK = 5
"""By how much nice(2) lowers the priority: to a third of what the process would get of a shared processor."""


def stand_back() -> None:
    """In a process beside a question, lower the priority, so that the question has the processor first."""
    os.nice(_BACK)


class _Overtaken(LimitError):
    """The other way was faster."""


def _importing(frame: FrameType | None) -> bool:
    """Whether the question is in an import: a process that began then would find a module without what it needs."""
    while frame is not None and frame.f_code.co_filename != __file__:
        if frame.f_code.co_filename == _IMPORTER:
            return True
        frame = frame.f_back
    return False


class _Apart:
    """What starts in a process of its own when a question has worked for a while, and is heard at every tick."""

    def __init__(self, other: Callable[[], object], limits: Limits) -> None:
        self._other, self._limits = other, limits
        self._pid = 0
        self._reading: Connection | None = None
        self._over = False

    def _late(self) -> bool:
        """Whether it is time to start."""
        raise NotImplementedError

    def _heard(self, kind: str, value: object) -> None:
        """Take note of a message."""
        raise NotImplementedError

    def _look(self) -> None:
        """Start the other way when it is time to, then look whether it has said anything."""
        with holding():
            if self._over or requested() is not None:
                return
            if self._reading is not None:
                self._hear(self._reading)
            elif self._late() and not _importing(sys._getframe(1)):
                self._fork()

    def _hear(self, reading: Connection) -> None:
        while not self._over and reading.poll():
            try:
                kind, value = pickle.loads(reading.recv_bytes())
            except (EOFError, ConnectionError):
                kind, value = ERROR, None
            self._over = kind != SNAPSHOT
            self._heard(kind, value)

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

    def _silently(self) -> object:
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
                self._reading = None


class Race(_Apart, Generic[T]):
    """A question, and another way to its answer; `overtaken` says afterwards that the other way was faster."""

    def __init__(self, question: Callable[[], T], other: Callable[[], T], limits: Limits) -> None:
        super().__init__(other, limits)
        self._question = question
        self._start = time.process_time()
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
            if self.overtaken:
                with holding():
                    withdraw(_Overtaken)
        return self._answer if self.overtaken else found

    def _late(self) -> bool:
        return time.process_time() - self._start > _HEAD_START

    def _heard(self, kind: str, value: object) -> None:
        if kind == ANSWER:
            self._answer, self.overtaken = cast(T, value), True
            request(_Overtaken("another way was faster"))


class Beside(_Apart):
    """What looks for partial answers beside a question that takes long, and sends each with `child.partial`.

    `known` is the last of them. Where the question has to be abandoned, the parent has it too.
    """

    def __init__(self, other: Callable[[], object], limits: Limits) -> None:
        super().__init__(other, limits)
        self._start = time.monotonic()
        self.known: Any = None

    @contextmanager
    def meanwhile(self) -> Iterator[None]:
        """Look beside what is done in the body of the `with` statement, if it takes long."""
        global _beside
        if _beside or not can_fork():
            yield
            return
        _beside = True
        try:
            with also_at_ticks(self._look):
                yield
        finally:
            _beside = False
            with holding():
                if self._reading is not None:
                    self._hear(self._reading)
            self._end()

    def _late(self) -> bool:
        timeout = self._limits.timeout
        alone = _ALONE if timeout is None else min(_ALONE, _SHARE_ALONE * timeout)
        return time.monotonic() - self._start > alone

    def _heard(self, kind: str, value: object) -> None:
        if kind == SNAPSHOT:
            self.known = value

    def _silently(self) -> object:
        stand_back()
        with also_at_ticks(_rest):
            return super()._silently()


def _rest() -> None:
    if time.process_time() > _BRISK:
        time.sleep(_REST)


_running = False
"""Whether there is a race in this process; there is one at a time."""
_beside = False
"""Whether partial answers are looked for beside a question of this process."""
