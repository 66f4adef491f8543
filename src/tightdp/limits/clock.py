"""Limits on one question, the tick that keeps them where Python code does not look, and how much memory there is."""

from __future__ import annotations

import math
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

from tightdp.errors import LimitError, ParameterError
from tightdp.limits.calibrated import NODES_PER_STEP, TICK

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_SHARE = Fraction(4, 5)
"""How much of the free memory a question may take where no limit is given."""
_CGROUP = Path("/sys/fs/cgroup")
_SYSTEM: str = sys.platform


def read_memory(value: Any) -> int | None:
    """Return a number of bytes, given as such or as "500M" or "4G" (powers of 1024); None for the default.

    Raises ParameterError where it is neither, or not positive.
    """
    if value is None:
        return None
    found = _SIZE.fullmatch(str(value).strip()) if isinstance(value, (str, int)) else None
    size = 0 if found is None or isinstance(value, bool) else int(Fraction(found[1]) * _UNITS[found[2].upper()])
    if size <= 0:
        raise ParameterError(f"max_memory is {value!r}", "give a size such as 500M or 4G, or a number of bytes")
    return size


def shown_memory(size: int) -> str:
    """Return a number of bytes as people write it, such as 1.5 GB."""
    for unit in ("T", "G", "M", "K"):
        if size >= _UNITS[unit]:
            return f"{size / _UNITS[unit]:.1f}".removesuffix(".0") + f" {unit}B"
    return f"{size} bytes"


def default_memory() -> int | None:
    """Return 80 % of the memory that is free now; None where that cannot be told."""
    free = available_memory()
    return None if free is None else int(_SHARE * free)


def available_memory() -> int | None:
    """Return how many bytes can be taken without swapping, within the limits of the container; None if unknown."""
    try:
        if _SYSTEM == "linux":
            return _available_on_linux()
        if _SYSTEM == "darwin":
            return _available_on_macos()
    except (OSError, ValueError):
        pass
    return None


def resident_memory(pid: int | None = None) -> int | None:
    """Return how many bytes of a process (this one, unless given) are in memory; None if unknown."""
    process = os.getpid() if pid is None else pid
    try:
        if _SYSTEM == "linux":
            with open(f"/proc/{process}/statm", "rb") as file:  # noqa: PTH123 (it is read many times a second)
                return int(file.read().split()[1]) * _PAGE
        if _SYSTEM == "darwin":
            return 1024 * int(_output("ps", "-o", "rss=", "-p", str(process)))
    except (OSError, ValueError, IndexError):
        pass
    return None


_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def _available_on_linux() -> int | None:
    found = re.search(r"^MemAvailable:\s+(\d+) kB", Path("/proc/meminfo").read_text(encoding="ascii"), re.MULTILINE)
    left = [] if found is None else [1024 * int(found[1])]
    for limit, used in (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes")):
        folder = _CGROUP if limit == "memory.max" else _CGROUP / "memory"
        try:
            left.append(int((folder / limit).read_text()) - int((folder / used).read_text()))
        except (OSError, ValueError):  # another version of cgroups, or no limit ("max")
            continue
    return max(min(left), 0) if left else None


def _available_on_macos() -> int:
    text = _output("vm_stat")
    page = re.search(r"page size of (\d+) bytes", text)
    pages = re.findall(r"^Pages (?:free|inactive|speculative|purgeable):\s+(\d+)\.", text, re.MULTILINE)
    return (4096 if page is None else int(page[1])) * sum(map(int, pages))


def _output(*command: str) -> str:
    import subprocess  # late: it takes time to import, and only macOS needs it

    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=5).stdout
    except subprocess.SubprocessError as error:
        raise OSError(str(error)) from None


_PATIENCE = 3 * TICK
"""Seconds that code has to notice a limit by itself before it is interrupted."""


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


IN_A_CALL = 64
"""Steps for which a watch is called once, as in a statement that is lowered."""


def pay(watch: Callable[[], None], steps: float) -> None:
    """Call a watch as often as so many steps take that are done in one piece, such as a product of matrices."""
    for _ in range(1 + int(steps) // IN_A_CALL):
        watch()


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
            self.allowance.take(1 + nodes // NODES_PER_STEP)
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
        if self.max_memory is not None and now - self._measured > TICK:
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
    signal.setitimer(signal.ITIMER_REAL, TICK, TICK)
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
        if time.monotonic() - _state.since > _PATIENCE and not _importing(frame):
            _state.raised = time.monotonic()
            raise _copy(_state.request)

    return tick


def _importing(frame: FrameType | None) -> bool:
    """Whether a module is being imported: extension modules make another error of ours, and stay half imported."""
    while frame is not None:
        if (frame.f_code.co_filename, frame.f_code.co_name) == ("<frozen importlib._bootstrap>", "_find_and_load"):
            return True
        frame = frame.f_back
    return False


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
