"""Limits on one question, and the tick that keeps them where Python code does not look at them."""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from tightdp.errors import LimitError
from tightdp.limits.memory import resident_memory, shown_memory

__all__ = [
    "Limits",
    "age",
    "holding",
    "interrupt",
    "interrupted",
    "interruption",
    "out_of_memory",
    "out_of_time",
    "reborn",
    "request",
    "requested",
    "ticking",
    "tightened",
]

_BETWEEN_MEASUREMENTS = 0.1
"""Seconds between two measurements of memory."""
_BETWEEN_TICKS = 0.1
_PATIENCE = 0.3
"""Seconds that code has to notice a limit by itself before it is interrupted."""


_NODES_PER_STEP = 5


def _never() -> bool:
    return False


@dataclass
class Allowance:
    """Work that may be done, in steps as engine code counts them: the same ones on a busy and on an idle machine."""

    left: int
    price: int = 1
    """What a step costs: more where steps are known to be longer."""

    def take(self, steps: int) -> None:
        """Raise LimitError where no work is left."""
        self.left -= steps * self.price
        if self.left < 0:
            raise LimitError("it took more steps than were allowed", "")


@dataclass
class Limits:
    """Bounds on one question: seconds of wall-clock time, nodes of the diagram, and bytes of memory taken meanwhile.

    The clock starts, and memory is counted from, when the object is made. `stop` is asked whether to end early. An
    object is what engine code calls now and then: `limits(nodes)` raises LimitError where a bound is exceeded. Every
    such call is a step of an `allowance`, and so are some nodes of a diagram.
    """

    timeout: float | None = None
    max_nodes: int | None = None
    max_memory: int | None = None
    early: float = 0.0
    """So many seconds before the time is over the question ends: they are kept for something else."""
    stop: Callable[[], bool] = _never
    allowance: Allowance | None = None
    start: float = field(default_factory=time.monotonic)
    memory: int = -1
    """How much memory the process had at the start; measured unless given."""
    _measured: float = 0.0

    def __post_init__(self) -> None:
        if self.memory < 0:
            self.memory = 0 if self.max_memory is None else resident_memory() or 0
        self._measured = self.start

    def __call__(self, nodes: int = 0) -> None:
        """Raise LimitError where a bound is exceeded, or when asked to stop."""
        if self.allowance is not None:
            self.allowance.take(1 + nodes // _NODES_PER_STEP)
        found = self.reached(nodes)
        if found is not None:
            _state.raised = time.monotonic()
            raise found

    watch = __call__

    def reached(self, nodes: int = 0) -> LimitError | None:
        """Return what bound is exceeded, None for none."""
        if _state.request is not None:
            return _copy(_state.request)
        if self.stop():
            return interruption()
        if self.max_nodes is not None and nodes > self.max_nodes:
            return LimitError(f"the diagram has more than {self.max_nodes:,} nodes", "allow more with --max-nodes")
        if self.timeout is None and self.max_memory is None:
            return None
        now = time.monotonic()
        if self.timeout is not None and now - self.start > self.timeout - self.early:
            return out_of_time(self.timeout)
        if self.max_memory is not None and now - self._measured > _BETWEEN_MEASUREMENTS:
            self._measured = now
            if (resident_memory() or 0) - self.memory > self.max_memory:
                return out_of_memory(self.max_memory)
        return None

    @property
    def deadline(self) -> float | None:
        """The time by the monotonic clock when the question must end."""
        return None if self.timeout is None else self.start + self.timeout - self.early


def age() -> float:
    """Return how many seconds ago this process began; where the system does not tell, its processor time."""
    try:
        fields = Path("/proc/self/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        began = int(fields[_START_TIME]) / os.sysconf("SC_CLK_TCK")
        return time.clock_gettime(time.CLOCK_BOOTTIME) - began
    except (OSError, ValueError, IndexError, AttributeError):
        return time.process_time()


_START_TIME = 19
"""The place of the start of a process after its name, in clock ticks since the system started (proc(5))."""


def out_of_time(timeout: float) -> LimitError:
    """Return the error of a question that took too long."""
    return LimitError(f"the query took more than {timeout:g} s", "allow more with --timeout")


def out_of_memory(max_memory: int | None) -> LimitError:
    """Return the error of a question that took too much memory."""
    if max_memory is None:
        return LimitError("the memory was used up", "use fewer records, or a machine with more memory")
    return LimitError(
        f"the query took more than {shown_memory(max_memory)} of memory",
        "allow more with --max-memory (unless given, it is 80 % of what is free)",
    )


def interruption() -> LimitError:
    """Return the error of a question that the user stopped."""
    return LimitError("the query was interrupted", "let it run, or ask for less")


# What was asked of this process.


@dataclass
class _State:
    request: LimitError | None = None
    since: float = 0.0
    raised: float = -math.inf
    """When code last noticed a limit by itself, or was interrupted."""
    held: int = 0
    interrupted: bool = False


_state = _State()


def request(error: LimitError) -> None:
    """Ask all questions of this process to end; the first request counts."""
    if _state.request is None:
        _state.request, _state.since = error, time.monotonic()


def interrupt() -> None:
    """Ask the same because the user wants it."""
    if _state.request is None:
        request(interruption())
        _state.interrupted = True


def interrupted() -> bool:
    """Whether the user asked this process to end its questions."""
    return _state.interrupted


def requested() -> LimitError | None:
    """Return what was requested, None for nothing."""
    return _state.request


def reborn() -> None:
    """Forget what was asked of the process that this one was forked from."""
    _state.request, _state.raised, _state.interrupted = None, -math.inf, False
    _state.held = 0


@contextmanager
def tightened(outer: Limits | None, inner: Limits) -> Iterator[None]:
    """Have the limits of this process end no later than those of a question meanwhile.

    What met the tighter ones is over when the question is, unless the user asked for it.
    """
    if outer is None or inner.deadline is None:
        yield
        return
    before = outer.early
    outer.early += max(0.0, (outer.deadline or inner.deadline) - inner.deadline)
    try:
        yield
    finally:
        outer.early = before
        if not _state.interrupted and time.monotonic() < (outer.deadline or math.inf):
            _state.request, _state.raised = None, -math.inf


@contextmanager
def holding() -> Iterator[None]:
    """Keep the tick from raising meanwhile."""
    _state.held += 1
    try:
        yield
    finally:
        _state.held -= 1


@contextmanager
def ticking(limits: Limits, own: bool = False) -> Iterator[Callable[[], bool]]:
    """Look at the limits ten times a second by a signal, and end code that does not look itself.

    Such code gets LimitError, again where a destructor swallows it. Yields what says whether a limit was met. Does
    nothing where signals cannot be had: outside the main thread, or where the program uses SIGALRM. `own` says that the
    process is ours.
    """
    if not _can_tick(own):
        yield lambda: False
        return
    before, hook = signal.signal(signal.SIGALRM, _tick(limits, os.getppid() if own else None)), sys.unraisablehook
    sys.unraisablehook = _swallowed(hook)
    signal.setitimer(signal.ITIMER_REAL, _BETWEEN_TICKS, _BETWEEN_TICKS)
    try:
        yield lambda: _state.request is not None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.unraisablehook = hook
        _state.request, _state.raised, _state.interrupted = None, -math.inf, False


def _can_tick(own: bool) -> bool:
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        return False
    free = signal.getsignal(signal.SIGALRM) == signal.SIG_DFL and signal.getitimer(signal.ITIMER_REAL)[0] == 0
    return own or free


def _tick(limits: Limits, parent: int | None) -> Callable[[int, FrameType | None], None]:
    def tick(number: int, frame: FrameType | None) -> None:
        if parent is not None and os.getppid() != parent:
            os._exit(1)  # nobody waits for the answer
        found = limits.reached() if _state.request is None else None
        if found is not None:
            request(found)
        if _state.request is None or _state.held or _state.raised > _state.since - _PATIENCE:
            return
        if time.monotonic() - _state.since > _PATIENCE:
            _state.raised = time.monotonic()
            raise _copy(_state.request)

    return tick


def _swallowed(hook: Callable[[sys.UnraisableHookArgs], Any]) -> Callable[[sys.UnraisableHookArgs], Any]:
    """Return a hook for what destructors swallow: the tick raises again.

    Of work that is abandoned nothing else is said, such as how many nodes of a diagram are still there; anything else
    goes on to `hook`.
    """

    def swallowed(failure: sys.UnraisableHookArgs, /) -> None:
        if _state.request is None:
            hook(failure)
        elif isinstance(failure.exc_value, LimitError):
            _state.raised = -math.inf

    return swallowed


def _copy(error: LimitError) -> LimitError:
    """Return the same error without the traceback of its last use."""
    return type(error)(*error.args)
