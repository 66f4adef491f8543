"""A question in a child process, which is forked for it: what cannot be interrupted can be abandoned.

The child sees everything that the question needs, so that nothing is pickled on the way in; its answer is pickled on
the way out. The parent waits. At a limit the child stops by itself and sends what it knows; where it does not, it is
killed, and the last snapshot that it sent is all that is known.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import os
import pickle
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any, NoReturn, TextIO, TypeVar, cast

from tightdp.errors import LimitError, TightdpError
from tightdp.limits.clock import (
    Limits,
    holding,
    interrupt,
    interruption,
    out_of_memory,
    out_of_time,
    requested,
    ticking,
)
from tightdp.limits.memory import resident_memory

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

__all__ = ["Abandoned", "Command", "begin", "can_abandon", "die_with_parent", "run", "snapshot", "with_text"]

T = TypeVar("T")

_GRACE = 1.0
"""Seconds that a child has to send what it knows, from the moment when it should stop."""
_GRACE_OF_COMMANDS = 1.5
"""The same after Ctrl-C on a command, which may wait for a child of its own."""
_BETWEEN_LOOKS = 0.05
_FAR_TOO_MUCH = 1.1
"""By which factor more memory than allowed ends the grace at once."""
_CHUNK = 1 << 16
"""How many characters are printed before they are sent on."""

_ANSWER, _ERROR, _SNAPSHOT, _PRINTED = "answer", "error", "snapshot", "printed"


class Abandoned(LimitError):
    """A question that did not stop by itself at a limit. `snapshot` is the last thing that it said it knew, or None."""

    snapshot: Any = None


def can_abandon() -> bool:
    """Whether this system can run a question in a child process. Elsewhere limits are kept by looking at them."""
    return hasattr(os, "fork") and hasattr(signal, "pthread_sigmask") and sys.platform not in ("emscripten", "wasi")


def run(question: Callable[[], T], limits: Limits) -> T:
    """Return the answer of a question, asked in a child process.

    Raises what it raises, and Abandoned where it does not stop by itself. Ctrl-C ends the child and raises
    KeyboardInterrupt as ever.
    """
    if not can_abandon() or _is_covered(limits):
        with ticking(limits), with_text(limits):
            return question()
    return cast(T, _Parent(question, limits).answer())


class Command:
    """A command that runs in a child process; what it prints is printed by this process.

    The first Ctrl-C asks it to stop and to print what it knows, a second one ends it at once. Where it is not `gentle`
    the first one raises KeyboardInterrupt in it.
    """

    def __init__(self, command: Callable[[], int], limits: Limits, gentle: bool = True) -> None:
        self._command, self._limits = command, limits
        self._parent = _Parent(command, limits, printing=True, gentle=gentle)

    @property
    def interrupted(self) -> bool:
        """Whether there was a Ctrl-C."""
        return self._parent.interrupts > 0

    @property
    def snapshot(self) -> Any:
        """The last snapshot that the command took, None for none."""
        return self._parent.snapshot

    @property
    def printed(self) -> bool:
        """Whether the command has printed something on stdout."""
        return self._parent.printed

    def run(self) -> int:
        """Return the exit status. Raises what the command raises, and Abandoned where it does not stop by itself."""
        if can_abandon():
            return cast(int, self._parent.answer())
        with ticking(self._limits), with_text(self._limits):
            return self._command()


def snapshot(value: Any) -> None:
    """In a child, send what is known so far: it is told where the child has to be killed. Elsewhere do nothing."""
    if _here is not None:
        _here.send(_SNAPSHOT, value)


def begin() -> None:
    """In a child, start the clock of its limits now, where it was set to start later."""
    if _here is not None:
        _here.limits.start = min(_here.limits.start, time.monotonic())


def _is_covered(limits: Limits) -> bool:
    """Whether this process is a child that will be stopped no later than these limits ask."""
    if _here is None:
        return False
    ours, theirs = _here.limits.deadline, limits.deadline
    return theirs is None or (ours is not None and ours <= theirs + _GRACE)


@contextlib.contextmanager
def with_text(limits: Limits) -> Iterator[None]:
    """Turn a bare MemoryError into one that says what to do."""
    try:
        yield
    except MemoryError:
        failed = True
    else:
        failed = False
    if failed:
        raise out_of_memory(limits.max_memory)


# The parent.


class _Parent:
    """Forks a child for a question, and hears it until it answers or has to be abandoned."""

    def __init__(
        self, question: Callable[[], Any], limits: Limits, printing: bool = False, gentle: bool = True
    ) -> None:
        self._question, self._limits = question, limits
        self._printing, self._gentle = printing, gentle
        self.snapshot: Any = None
        self.printed = False
        self._why: LimitError | None = None
        self._stop_at = self._looked = 0.0
        self.interrupts = 0

    def answer(self) -> Any:
        """Return the answer, or raise."""
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(AttributeError, ValueError):
                stream.flush()
        from multiprocessing.connection import Pipe  # late: it takes time to import

        reading, writing = Pipe(duplex=False)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._pid = _fork()
            if not self._pid:
                reading.close()
                Child(writing, self._limits, self._printing, self._gentle).live(self._question, before)
            writing.close()
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
            if reading.poll(_BETWEEN_LOOKS):
                try:
                    kind, value = pickle.loads(reading.recv_bytes())
                except (EOFError, ConnectionError):
                    raise self._failure() from None
                if kind == _ANSWER:
                    return value
                if kind == _ERROR:
                    raise value
                if kind == _SNAPSHOT:
                    self.snapshot = value
                else:
                    self._print(*value)
            if time.monotonic() - self._looked > _BETWEEN_LOOKS:
                self._looked = time.monotonic()
                self._look()

    def _print(self, error: bool, text: str) -> None:
        self.printed = self.printed or not error
        stream = sys.stderr if error else sys.stdout
        stream.write(text)
        stream.flush()

    def _look(self) -> None:
        """Note that a limit is reached; raise where the child had its time to stop by itself."""
        if self._why is None:
            self._why = self._reached()
            self._stop_at = self._looked + (_GRACE_OF_COMMANDS if self.interrupts else _GRACE)
        elif self.interrupts > 1 or self._looked > self._stop_at or self._taken() > _FAR_TOO_MUCH:
            raise self._abandoned(self._why)

    def _reached(self) -> LimitError | None:
        """Return which limit the child has reached; it notices the same by itself, but for what was asked of us."""
        asked = interruption() if self.interrupts else requested()
        if asked is not None:
            os.kill(self._pid, signal.SIGINT)
            return asked
        deadline = self._limits.deadline
        if deadline is not None and self._looked > deadline:
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
        """Make sure that the child is no more, and return how it ended, as `subprocess` tells it."""
        if self._pid:
            if kill:
                os.kill(self._pid, signal.SIGKILL)
            try:
                self._code = os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])
            except ChildProcessError:  # the program lets the system take care of its children
                self._code = 0
            self._pid = 0
        return self._code


def _fork() -> int:
    with warnings.catch_warnings():
        # The child runs none of the threads, and asks for no lock that they could hold.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


# The child.


class Child:
    """This process, where it is a child: it asks the question, and sends the answer."""

    def __init__(self, writing: Connection, limits: Limits, printing: bool, gentle: bool) -> None:
        self.limits = limits
        self._writing = writing
        self._printing, self._gentle = printing, gentle
        self._lock = threading.RLock()

    def live(self, question: Callable[[], Any], mask: Any) -> NoReturn:
        """Do what a child is for, and leave."""
        global _here
        _here = self
        code = 1
        try:
            die_with_parent()
            faulthandler.disable()  # a crash becomes an error of the parent
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.signal(signal.SIGINT, _on_interrupt if self._gentle else signal.default_int_handler)
            sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123 (it is open to the end)
            if self._printing:
                sys.stdout = cast(TextIO, _Forwarded(self, sys.stdout, error=False))
                sys.stderr = cast(TextIO, _Forwarded(self, sys.stderr, error=True))
            with ticking(self.limits, own=True):
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
                self._answer(question)
            code = 0
        except BaseException:
            with contextlib.suppress(BaseException):
                traceback.print_exc(file=sys.__stderr__)
        finally:
            os._exit(code)

    def send(self, kind: str, value: Any) -> None:
        """Send a message."""
        self._write(_pickled(kind, value))

    def _answer(self, question: Callable[[], Any]) -> None:
        try:
            with with_text(self.limits):
                message = _pickled(_ANSWER, question())
        except BaseException as error:
            message = _pickled_error(error)
        if self._printing:
            sys.stdout.flush()
            sys.stderr.flush()
        self._write(message)

    def _write(self, message: bytes) -> None:
        with holding(), self._lock:
            self._writing.send_bytes(message)


def _on_interrupt(number: int, frame: FrameType | None) -> None:
    interrupt()


_here: Child | None = None
"""What this process is, where it is a child."""


class _Forwarded(io.TextIOBase):
    """A stream of a child, which the parent prints."""

    def __init__(self, child: Child, stream: TextIO, error: bool) -> None:
        self._child, self._stream, self._error = child, stream, error
        self._text: list[str] = []
        self._size = 0

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the stream that the text will go to."""
        return self._stream.encoding

    def isatty(self) -> bool:
        """Whether the text will go to a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """The descriptor of that stream: the size of the terminal is asked of it."""
        return self._stream.fileno()

    def writable(self) -> bool:
        """Whether it can be written to."""
        return True

    def write(self, text: str) -> int:
        """Keep the text until it is worth sending."""
        self._text.append(text)
        self._size += len(text)
        if self._size > _CHUNK or self._error:
            self.flush()
        return len(text)

    def flush(self) -> None:
        """Send the text."""
        text, self._text, self._size = "".join(self._text), [], 0
        if text:
            self._child.send(_PRINTED, (self._error, text))


def _pickled(kind: str, value: Any) -> bytes:
    return pickle.dumps((kind, value), protocol=pickle.HIGHEST_PROTOCOL)


def _pickled_error(error: BaseException) -> bytes:
    """Pickle an error with the text of its traceback; a stand-in where it cannot be pickled."""
    told = "".join(traceback.format_exception(error))
    if not isinstance(error, (TightdpError, KeyboardInterrupt)):
        error.add_note(f"In the child process:\n{told}")
    try:
        message = _pickled(_ERROR, error)
        pickle.loads(message)
    except Exception:
        return _pickled(_ERROR, RuntimeError(told))
    return message


def die_with_parent() -> None:
    """On Linux, have the system end this process with its parent; elsewhere the tick notices."""
    if sys.platform != "linux":
        return
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


_PR_SET_PDEATHSIG = 1
