"""Answers a row in a process of its own, for so many seconds of the processor, its children's included."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

_WAITING = 6
"""So many times the limit may pass by the clock, on a machine that does other things too."""


def processor() -> float:
    """The seconds of the processor that this process and its children took."""
    mine = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in mine)


def in_child(what: Callable[[], Any], limit: float) -> dict[str, Any]:
    """Return `{"result", "seconds"}` of a function, `{"late"}` where it takes longer, or `{"crash"}`."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        _answer(what, writing, limit)
    os.close(writing)
    text, end = b"", time.monotonic() + _WAITING * limit + 5
    while select.select([reading], [], [], max(end - time.monotonic(), 0))[0] and (more := os.read(reading, 1 << 16)):
        text += more
    os.close(reading)
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    try:
        found: dict[str, Any] = json.loads(text)
    except ValueError:
        return {"late": True}
    return found


def _answer(what: Callable[[], Any], writing: int, limit: float) -> None:
    os.setsid()
    start = processor()
    most = int(start + limit) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123 (it is open to the end)
    warnings.simplefilter("ignore")
    try:
        result = what()
        answer = {"result": result, "seconds": round(processor() - start, 3)}
    except BaseException as error:
        answer = {"crash": f"{type(error).__name__}: {error}"[:300], "seconds": round(processor() - start, 3)}
    left = json.dumps(answer).encode()
    while left:
        left = left[os.write(writing, left) :]
    os._exit(0)
