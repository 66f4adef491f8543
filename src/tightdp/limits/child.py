"""This process as a child that was forked for a question: it asks the question, and sends the answer to its parent."""

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
from dataclasses import dataclass
from functools import cache
from types import FrameType, FunctionType
from typing import TYPE_CHECKING, Any, NoReturn, TextIO, TypeVar, cast

from tightdp.errors import TightdpError
from tightdp.limits.clock import Limits, holding, interrupt, out_of_memory, reborn, ticking

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

T = TypeVar("T")

_SLOTS = 1 << 17
"""The size of the large frame in values of 8 bytes: a power of two, so that the piece for it is twice as large."""


def _ask(question: Callable[[], T]) -> T:
    return question()


if TYPE_CHECKING:
    with_room = _ask
else:
    with_room = FunctionType(_ask.__code__.replace(co_stacksize=_SLOTS), globals(), "with_room")
    with_room.__doc__ = "Return the answer of a question, whose calls share one large piece of the stack."


_CHUNK = 1 << 16
"""How many characters are printed before they are sent on."""

ANSWER, ERROR, SNAPSHOT, KEPT, _PRINTED, LAST = "answer", "error", "snapshot", "kept", "printed", "last"
"""The kinds of messages. The last one of a child that prints is its answer, or its error, with what was printed."""


def can_fork() -> bool:
    """Whether this system can run a question in a child process. Elsewhere limits are kept by polling."""
    return hasattr(os, "fork") and hasattr(signal, "pthread_sigmask") and sys.platform not in ("emscripten", "wasi")


def fork_for(
    question: Callable[[], Any],
    limits: Limits,
    mask: Any,
    printing: bool = False,
    gentle: bool = True,
) -> tuple[int, Connection]:
    """Fork a child that asks a question, with this mask of signals; return its number, and where to hear it."""
    from multiprocessing.connection import Pipe  # late: it takes time to import

    reading, writing = Pipe(duplex=False)
    with warnings.catch_warnings():
        # The child runs none of the threads, and asks for no lock that they could hold.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if not pid:
        reading.close()
        Child(writing, limits, printing, gentle).live(question, mask)
    writing.close()
    return pid, reading


def end(pid: int, kill: bool = True) -> int:
    """Make sure that a child has ended, and return its exit status as `subprocess` does."""
    if kill:
        os.kill(pid, signal.SIGKILL)
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:  # the program lets the system take care of its children
        return 0


def snapshot(value: Any) -> None:
    """In a child, send what is known so far, for the case that the child has to be killed. Elsewhere do nothing."""
    if _here is not None:
        _here.send(SNAPSHOT, value)


def keep(value: Any) -> None:
    """In a child, send one of many things that are known, which no later one replaces. Elsewhere do nothing."""
    if _here is not None:
        _here.send(KEPT, value)


def begin() -> None:
    """In a child, start the clock of its limits now, where it was set to start later."""
    if _here is not None:
        _here.limits.start = min(_here.limits.start, time.monotonic())


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
        reborn()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, _Forwarded):
                stream.take()  # a child of a child: what is kept there is for its parent to send
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
        self._write(self._pickled(kind, value))

    def _pickled(self, kind: str, value: Any) -> bytes:
        text = io.BytesIO()
        (_ForPrinting if self._printing else pickle.Pickler)(text, pickle.HIGHEST_PROTOCOL).dump((kind, value))
        return text.getvalue()

    def _pickled_error(self, error: BaseException) -> bytes:
        """Pickle an error with the text of its traceback; a stand-in where it cannot be pickled."""
        told = "".join(traceback.format_exception(error))
        if not isinstance(error, (TightdpError, KeyboardInterrupt)):
            error.add_note(f"In the child process:\n{told}")
        try:
            message = self._pickled(ERROR, error)
            pickle.loads(message)
        except Exception:
            return self._pickled(ERROR, RuntimeError(told))
        return message

    def _answer(self, question: Callable[[], Any]) -> None:
        try:
            with with_text(self.limits):
                message = self._pickled(ANSWER, with_room(question))
        except BaseException as error:
            message = self._pickled_error(error)
        if self._printing:
            texts = [
                (stream.error, stream.take()) for stream in (sys.stdout, sys.stderr) if isinstance(stream, _Forwarded)
            ]
            message = self._pickled(LAST, (texts, message))
        self._write(message)

    def _write(self, message: bytes) -> None:
        with holding(), self._lock:
            self._writing.send_bytes(message)


def _on_interrupt(number: int, frame: FrameType | None) -> None:
    interrupt()


_here: Child | None = None


def here() -> Child | None:
    """What this process is, where it is a child."""
    return _here


class _Forwarded(io.TextIOBase):
    """A stream of a child, which the parent prints."""

    def __init__(self, child: Child, stream: TextIO, error: bool) -> None:
        self._child, self._stream, self.error = child, stream, error
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
        if self._size > _CHUNK or self.error:
            self.flush()
        return len(text)

    def take(self) -> str:
        """Return what was kept, which is forgotten."""
        text, self._text, self._size = "".join(self._text), [], 0
        return text

    def flush(self) -> None:
        """Send the text."""
        text = self.take()
        if text:
            self._child.send(_PRINTED, (self.error, text))


@dataclass(frozen=True)
class _Shown:
    """What stands for a record in a process that has not imported its class: how it is written."""

    shown: str
    text: str

    def __repr__(self) -> str:
        return self.shown

    def __str__(self) -> str:
        return self.text


class _ForPrinting(pickle.Pickler):
    """Pickles for a parent that only prints, and has not imported the file of the mechanism."""

    def reducer_override(self, value: Any) -> Any:
        """Return what an object is made of again."""
        if not _is_of_file(type(value).__module__):
            return NotImplemented
        if isinstance(value, tuple):
            return tuple, (list(value),)
        return ("".join, (list(value),)) if isinstance(value, str) else (_Shown, (repr(value), str(value)))


@cache
def _is_of_file(module: str) -> bool:
    """Whether a module is a file that was imported by its path, or from beside such a file."""
    return not any(finder.find_spec(module.partition(".")[0], None) for finder in sys.meta_path)


def die_with_parent() -> None:
    """On Linux, have the system end this process with its parent; elsewhere the tick notices."""
    if sys.platform != "linux":
        return
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


_PR_SET_PDEATHSIG = 1
