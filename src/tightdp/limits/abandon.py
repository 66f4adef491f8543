"""A question in a child process, which is forked for it: what cannot be interrupted can be abandoned.

The child sees everything that the question needs, so that nothing is pickled on the way in; its answer is pickled on
the way out. The parent waits. At a limit the child stops by itself and sends what it knows; where it does not, it is
killed, and the last snapshot that it sent is all that is known.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from tightdp.errors import LimitError
from tightdp.limits.calibrated import GRACE, TICK
from tightdp.limits.child import ANSWER, ERROR, KEPT, LAST, SNAPSHOT, Child, can_fork, end, fork_for, here, with_text
from tightdp.limits.clock import (
    Limits,
    holding,
    interruption,
    out_of_memory,
    out_of_time,
    requested,
    resident_memory,
    ticking,
    tightened,
)

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

T = TypeVar("T")

_FAR_TOO_MUCH = 1.1
"""Taking this many times the allowed memory ends the grace period at once."""


class Abandoned(LimitError):
    """A question that did not stop by itself at a limit.

    `snapshot` is the last thing that it said it knew, or None.
    """

    snapshot: Any = None


def run(question: Callable[[], T], limits: Limits, apart: bool = False) -> T:
    """Return the answer of a question, asked in a child process; unless `apart`, in this one where it is a child.

    Raises what it raises, and Abandoned where it does not stop by itself. Ctrl-C ends the child and raises
    KeyboardInterrupt as ever.
    """
    child = here()
    if not can_fork() or (not apart and child is not None and _is_covered(child, limits)):
        with ticking(limits), with_text(limits), tightened(None if child is None else child.limits, limits):
            return question()
    return cast(T, _Parent(question, limits).answer())


def _is_covered(child: Child, limits: Limits) -> bool:
    """Whether a child will be stopped hardly later than these limits ask."""
    ours, theirs = child.limits.deadline, limits.deadline
    return theirs is None or (ours is not None and ours <= theirs + 4 * GRACE)


class _Parent:
    """Forks a child for a question, and listens to it until it answers or has to be abandoned."""

    def __init__(
        self, question: Callable[[], Any], limits: Limits, printing: bool = False, gentle: bool = True
    ) -> None:
        self._question, self._limits = question, limits
        self._printing, self._gentle = printing, gentle
        self.snapshot: Any = None
        """The last snapshot that the child took, None for none."""
        self.kept: list[Any] = []
        """What it asked to keep, in order."""
        self.printed = False
        """Whether it has printed something on stdout."""
        self._why: LimitError | None = None
        self._stop_at = self._looked = 0.0
        self.interrupts = 0
        """How many times there was a Ctrl-C."""

    def answer(self) -> Any:
        """Return the answer, or raise."""
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(AttributeError, ValueError):
                stream.flush()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._pid, reading = fork_for(self._question, self._limits, before, self._printing, self._gentle)
            with self._counting_interrupts(), holding():
                try:
                    signal.pthread_sigmask(signal.SIG_SETMASK, before)
                    return self._hear(reading)
                finally:
                    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
                    self._end()
                    reading.close()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    @contextlib.contextmanager
    def _counting_interrupts(self) -> Iterator[None]:
        """While a command runs, count Ctrl-C instead of raising KeyboardInterrupt."""
        if not self._printing or threading.current_thread() is not threading.main_thread():
            yield
            return

        def interrupted(number: int, frame: FrameType | None) -> None:
            self.interrupts += 1

        before = signal.signal(signal.SIGINT, interrupted)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _hear(self, reading: Connection) -> Any:
        while True:
            if reading.poll(TICK / 2):
                try:
                    kind, value = pickle.loads(reading.recv_bytes())
                except (EOFError, ConnectionError):
                    raise self._failure() from None
                if kind == LAST:
                    texts, message = value
                    for text in texts:
                        self._print(*text)
                    kind, value = pickle.loads(message)
                if kind == ANSWER:
                    return value
                if kind == ERROR:
                    raise value
                if kind == SNAPSHOT:
                    self.snapshot = value
                elif kind == KEPT:
                    self.kept.append(value)
                else:
                    self._print(*value)
            if time.monotonic() - self._looked > TICK / 2:
                self._looked = time.monotonic()
                self._look()

    def _print(self, error: bool, text: str) -> None:
        self.printed = self.printed or (bool(text) and not error)
        stream = sys.stderr if error else sys.stdout
        stream.write(text)
        stream.flush()

    def _look(self) -> None:
        """Note that a limit is reached; raise where the child had its time to stop by itself."""
        if self._why is None:
            self._why = self._reached()
        elif self.interrupts > 1 or self._looked > self._stop_at or self._taken() > _FAR_TOO_MUCH:
            raise self._abandoned(self._why)

    def _reached(self) -> LimitError | None:
        """Return which limit the child has reached; it notices limits by itself, but is told of a request to stop."""
        self._stop_at = self._looked + (2 * GRACE if self.interrupts else GRACE)
        asked = interruption() if self.interrupts else requested()
        if asked is not None:
            os.kill(self._pid, signal.SIGINT)
            return asked
        deadline = self._limits.deadline
        if deadline is not None and self._looked > deadline:
            self._stop_at = deadline + GRACE  # however late it is noticed on a busy machine
            return out_of_time(cast(float, self._limits.timeout))
        return out_of_memory(self._limits.max_memory) if self._taken() > 1 else None

    def _taken(self) -> float:
        """Return the share of the allowed memory that the child has taken."""
        if self._limits.max_memory is None:
            return 0
        return ((resident_memory(self._pid) or 0) - self._limits.memory) / self._limits.max_memory

    def _abandoned(self, why: LimitError) -> Abandoned:
        error = Abandoned(*why.args)
        error.snapshot = self.snapshot
        return error

    def _failure(self) -> Abandoned:
        """Say why a child ended without an answer."""
        code = self._end(kill=False)
        if self._why is not None:
            return self._abandoned(self._why)
        if code == -signal.SIGKILL:
            return self._abandoned(out_of_memory(None))
        if code in (-signal.SIGSEGV, -signal.SIGBUS):
            return self._abandoned(LimitError("the program nests too deeply", "use fewer records or shorter loops"))
        ended = f"signal {-code}" if code < 0 else f"status {code}"
        return self._abandoned(LimitError(f"the computation ended with {ended}", "use fewer records"))

    def _end(self, kill: bool = True) -> int:
        """Make sure that the child has ended, and return its exit status as `subprocess` does."""
        if self._pid:
            self._code, self._pid = end(self._pid, kill), 0
        return self._code


class Command(_Parent):
    """A command that runs in a child process; what it prints is printed by this process.

    The first Ctrl-C asks it to stop and to print what it knows, a second one ends it at once. Where it is not `gentle`
    the first one raises KeyboardInterrupt in it.
    """

    def __init__(self, command: Callable[[], int], limits: Limits, gentle: bool = True) -> None:
        super().__init__(command, limits, printing=True, gentle=gentle)

    def run(self) -> int:
        """Return the exit status. Raises what the command raises, and Abandoned where it does not stop by itself."""
        if can_fork():
            return cast(int, self.answer())
        with ticking(self._limits), with_text(self._limits):
            return cast(int, self._question())


def cores() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
