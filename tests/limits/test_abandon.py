"""Limits are kept whatever a question does, and nothing of it stays behind."""

from __future__ import annotations

import importlib
import itertools
import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from processes import children
from tightdp.errors import LimitError, ParameterError
from tightdp.limits import Abandoned, Command, Limits, age, can_fork, interrupted, run, snapshot
from tightdp.limits.clock import available_memory, default_memory, read_memory, resident_memory, shown_memory, ticking

pytestmark = pytest.mark.skipif(not can_fork(), reason="limits are kept by looking at them on this system")


def spin() -> None:
    """Python code that never looks at its limits."""
    while True:
        pass


def never_return() -> None:
    """A C call that never returns and looks at no signal."""
    deque(itertools.repeat(None), maxlen=0)


def eat() -> None:
    """Python code that takes more and more memory."""
    eaten = []
    while True:
        eaten.append(bytearray(1 << 20))


def eat_in_c() -> None:
    """A C call that takes more and more memory."""
    list(itertools.count(10**30))


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """The block takes no longer, and leaves no child behind."""
    start, before = time.monotonic(), children()
    yield
    assert time.monotonic() - start < seconds
    assert children() <= before


def test_answers_and_errors_come_back() -> None:
    big = Fraction(7**20_000, 3**20_000)
    with at_most(5):
        assert run(lambda: big, Limits(timeout=30)) == big
        assert run(lambda: (math.inf, None, {"a": (1,)}), Limits(timeout=30)) == (math.inf, None, {"a": (1,)})
        with pytest.raises(ParameterError, match="bad") as caught:
            run(lambda: _raise(ParameterError("bad", "give a good one")), Limits(timeout=30))
        assert caught.value.args == ("bad", "give a good one")
        with pytest.raises(ZeroDivisionError) as failed:
            run(lambda: 1 // 0, Limits(timeout=30))
        assert "1 // 0" in failed.value.__notes__[0]
        with pytest.raises(RuntimeError, match="Odd: of 3"):
            run(lambda: _raise(Odd(1, 2)), Limits(timeout=30))


class Odd(Exception):
    """An error that cannot be pickled."""

    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"of {one + two}")
        self.reason = lambda: one


def _raise(error: Exception) -> None:
    raise error


@pytest.mark.parametrize("question", [spin, never_return, lambda: time.sleep(60)], ids=["Python", "C", "asleep"])
def test_the_time_is_kept(question: Callable[[], Any]) -> None:
    with at_most(2.5), pytest.raises(LimitError, match=r"took more than 0.5 s"):
        run(question, Limits(timeout=0.5))


class Swallows:
    """Its destructor takes long, and swallows what is raised in it."""

    def __del__(self) -> None:
        end = time.monotonic() + 0.9
        while time.monotonic() < end:
            pass


def test_a_limit_that_a_destructor_swallows_is_met_again(capfd: pytest.CaptureFixture[str]) -> None:
    def question() -> str | None:
        try:
            Swallows()
            spin()
        except LimitError:
            return "at last"
        return None

    with at_most(2.5):
        assert run(question, Limits(timeout=0.3)) == "at last"
    assert capfd.readouterr().err == ""


SLOW_MODULE = """
import time
from tightdp.limits.clock import requested

while requested() is None:
    pass
end = time.monotonic() + 0.5
while time.monotonic() < end:
    pass
"""
"""A module that is still being imported when the limit is met, and later."""


def test_an_import_is_not_broken_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_to_import.py").write_text(SLOW_MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    done = []

    def question() -> None:
        importlib.import_module("slow_to_import")
        done.append("imported")
        spin()

    with ticking(Limits(timeout=0.05)), pytest.raises(LimitError, match="more than"):
        question()
    assert done == ["imported"]


@pytest.mark.parametrize("question", [eat, eat_in_c], ids=["Python", "C"])
def test_the_memory_is_kept(question: Callable[[], Any]) -> None:
    with at_most(10), pytest.raises(LimitError, match=r"took more than 200 MB of memory") as caught:
        run(question, Limits(max_memory=200 << 20))
    assert "--max-memory" in caught.value.hint


def test_a_bare_memory_error_does_not_escape() -> None:
    with at_most(2), pytest.raises(LimitError, match="memory"):
        run(lambda: bytearray(1 << 60), Limits(timeout=30))


def test_a_question_that_stops_by_itself_tells_what_it_knows() -> None:
    def counted() -> int:
        limits, number = Limits(timeout=0.3), 0
        try:
            while True:
                limits(0)
                number += 1
        except LimitError:
            return number

    with at_most(2):
        assert run(counted, Limits(timeout=0.3)) > 1000


def test_the_last_snapshot_is_what_is_known() -> None:
    def question() -> None:
        snapshot("nothing")
        snapshot("at least 3")
        never_return()

    with at_most(2.5), pytest.raises(Abandoned) as caught:
        run(question, Limits(timeout=0.3))
    assert caught.value.snapshot == "at least 3"
    snapshot("not in a child: nothing happens")


def test_a_crash_is_a_limit() -> None:
    with at_most(2), pytest.raises(LimitError, match="nests too deeply"):
        run(lambda: os.kill(os.getpid(), signal.SIGSEGV), Limits(timeout=5))
    with at_most(2), pytest.raises(LimitError, match="memory"):
        run(lambda: os.kill(os.getpid(), signal.SIGKILL), Limits(timeout=5))
    with at_most(2), pytest.raises(LimitError, match="status 7"):
        run(lambda: os._exit(7), Limits(timeout=5))


def test_a_question_in_a_question_is_ended_too() -> None:
    inner: list[LimitError] = []

    def outer() -> str:
        try:
            run(never_return, Limits(timeout=0.3))
        except LimitError as error:
            inner.append(error)
        return inner[0].what

    with at_most(3):
        assert run(outer, Limits(max_memory=1 << 40)) == "the query took more than 0.3 s"


def test_from_another_thread() -> None:
    found: list[Any] = []

    def ask(question: Callable[[], Any]) -> None:
        try:
            found.append(run(question, Limits(timeout=0.4)))
        except LimitError as error:
            found.append(error.what)

    threads = [threading.Thread(target=ask, args=[question]) for question in (lambda: 1, spin, never_return)]
    with at_most(4):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(map(str, found)) == ["1", "the query took more than 0.4 s", "the query took more than 0.4 s"]


def test_what_a_command_prints_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> int:
        sys.stdout.write("one\n" * 100_000)
        sys.stderr.write("two\n")
        return 5

    sys.stdout.write("before\n")
    with at_most(5):
        assert Command(command, Limits()).run() == 5
    out, err = capsys.readouterr()
    assert out == "before\n" + "one\n" * 100_000
    assert err == "two\n"


@pytest.mark.parametrize("question", [spin, never_return], ids=["Python", "C"])
def test_an_interrupted_command(question: Callable[[], Any]) -> None:
    def command() -> int:
        try:
            question()
        except LimitError as error:
            return 9 if interrupted() and "interrupted" in error.what else 8
        return 0

    asked = Command(command, Limits())
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with at_most(2.3):
        if question is spin:
            assert asked.run() == 9
        else:
            with pytest.raises(Abandoned, match="interrupted"):
                asked.run()
        timer.join()
    assert asked.interrupts


INTERRUPTED = """
import itertools, os, signal, threading, time
from collections import deque
from tightdp.limits import Limits, run

# as in a terminal, also where the tests were started in the background, which ignores Ctrl-C
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    run(lambda: deque(itertools.repeat(None), maxlen=0), Limits(timeout=30))
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - start < 2)
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("no child")
"""


def test_ctrl_c_in_python_is_a_keyboard_interrupt() -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=20, check=False)
    assert (done.stdout, done.stderr) == ("interrupted True\nno child\n", "")


ORPHANED = """
import itertools, os
from collections import deque
from tightdp.limits import Limits, run

def question():
    print(os.getpid(), flush=True)
    deque(itertools.repeat(None), maxlen=0)

run(question, Limits(timeout=30))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the child notices at its next tick")
def test_a_child_does_not_outlive_its_parent() -> None:
    with subprocess.Popen([sys.executable, "-c", ORPHANED], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
        parent.wait()
    end = time.monotonic() + 5
    while time.monotonic() < end and _is_running(child):
        time.sleep(0.05)
    assert not _is_running(child)


def _is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


# Memory.


@pytest.mark.parametrize(
    ("text", "size"),
    [("500M", 500 << 20), ("4G", 4 << 30), ("1.5g", 3 << 29), ("2 GiB", 2 << 30), ("10", 10), (7, 7), (None, None)],
)
def test_sizes(text: Any, size: int | None) -> None:
    assert read_memory(text) == size


@pytest.mark.parametrize("text", ["", "4 X", "-1G", 0, "0", True, 1.5, "much"])
def test_bad_sizes(text: Any) -> None:
    with pytest.raises(ParameterError, match="max_memory"):
        read_memory(text)


def test_memory_is_measured() -> None:
    before = resident_memory()
    taken = bytearray(os.urandom(1) * (64 << 20))
    after = resident_memory()
    assert before is not None
    assert after is not None
    assert after - before > 32 << 20
    free, default = available_memory(), default_memory()
    assert free is not None
    assert default is not None
    assert 0 < default < free * 1.5
    assert resident_memory(2**22 + 1) is None
    assert [shown_memory(size) for size in (len(taken), 3 << 29, 12)] == ["64 MB", "1.5 GB", "12 bytes"]


def test_the_age_of_a_process_is_what_its_clock_says() -> None:
    first, began = age(), time.monotonic()
    time.sleep(0.2)
    assert first > 0
    assert age() - first == pytest.approx(time.monotonic() - began, abs=0.1)
