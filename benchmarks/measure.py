"""Time and peak memory of whole processes."""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Outcome", "Stopwatch"]

ROOT = Path(__file__).resolve().parent.parent


_ENOUGH = 10
"""After so many seconds in all, a command is not run again."""
_PATIENCE = 8
"""How many times the bound a process may take on a busy machine, where processor time is what counts."""


@dataclass(frozen=True)
class Outcome:
    """Medians of several runs of one command; `failure` says why there are none."""

    seconds: float | None = None
    megabytes: float | None = None
    answer: Any = None
    runs: int = 0
    failure: str = ""


@dataclass(frozen=True)
class Stopwatch:
    """How commands are measured: elapsed time, or the processor time (user and system) of the process.

    The two are the same on an idle machine; on a busy one only the second means something. A command may take `bound`
    seconds; a fast one is run up to `runs` times.
    """

    bound: float
    runs: int
    processor: bool = False

    def measure(self, command: Sequence[str], bound: float | None = None) -> Outcome:
        """Run a command that prints JSON."""
        limit = self.bound if bound is None else bound
        times: list[float] = []
        memory: list[float] = []
        answer: Any = None
        while len(times) < self.runs and sum(times) < _ENOUGH:
            elapsed, usage, status, out, err = _run(command, limit, self.processor)
            seconds = usage.ru_utime + usage.ru_stime if self.processor else elapsed
            if status == "late" or seconds > limit:
                return Outcome(failure=f"> {limit:g} s")
            if status:
                return Outcome(failure=_last_line(err) or f"exit status {status}")
            times.append(seconds)
            memory.append(usage.ru_maxrss / 1024)
            answer = json.loads(out)
        return Outcome(statistics.median(times), statistics.median(memory), answer, len(times))


def _run(command: Sequence[str], bound: float, processor: bool) -> tuple[float, Any, int | str, str, str]:
    def limit() -> None:
        most = math.ceil(bound)
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 1))

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, cwd=ROOT, preexec_fn=limit if processor else None
        )
        late = threading.Event()
        timer = threading.Timer(bound * (_PATIENCE if processor else 1), lambda: (late.set(), process.kill()))
        timer.start()
        try:
            # wait4 gives the memory of this one process; resource.getrusage would give the maximum of all of them.
            _, code, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            raise
        finally:
            timer.cancel()
        elapsed = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(code)
        if late.is_set() or process.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return elapsed, usage, "late", "", ""
        return elapsed, usage, process.returncode, _text(out), _text(err)


def _text(file: Any) -> str:
    file.seek(0)
    return str(file.read().decode(errors="replace"))


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:80] if lines else ""
