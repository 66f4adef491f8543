"""Programs as people write them, each in several spellings: the same answers, and about the same seconds.

    python benchmarks/spellings.py                     every program, some minutes
    python benchmarks/spellings.py gap blanket         programs whose name has one of these in it
    python benchmarks/spellings.py --limit 20          seconds of the processor that one question may take

Every file of the folder `spelled` is one mechanism of the literature; its functions are the spellings. All spellings of
a mechanism are asked the same questions, each in a process of its own. The time is that of the processor, without the
start of Python. A line is marked where answers differ, and where the slowest takes more than 1.5 times as long as the
quickest and more than a second.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

TOO_FAR_APART = 1.5
"""By this factor one spelling may take longer than another."""
NOTICED = 1.0
"""Seconds that nobody minds."""

Case = tuple[str, list[Any], dict[str, Any], str, dict[str, Any]]
"""A mechanism's name, its spellings, what they are bound with, and a question with its arguments."""


def cases(words: list[str]) -> Iterator[Case]:
    """Yield the mechanisms whose name has one of the words in it, at every size."""
    for path in sorted((HERE / "spelled").glob("*.py")):
        if path.stem == "__init__" or (words and not any(word in path.stem for word in words)):
            continue
        module = importlib.import_module(f"spelled.{path.stem}")
        spellings = [value for value in vars(module).values() if hasattr(value, "bind")]
        yield from ((path.stem, spellings, *asked) for asked in module.ASKED)


def answered(mechanism: Any, size: dict[str, Any], question: str, given: dict[str, Any]) -> str:
    """Ask one question and return the answer as text."""
    found = getattr(mechanism.bind(**size), question)(**given)
    value = {"privacy": "exp_epsilon", "delta": "delta", "accuracy": "one_minus_beta"}[question]
    return f"{found.status} {getattr(found, value)}"


def measured(ask: Callable[[], str], limit: int) -> tuple[float, str]:
    """Return the seconds of the processor that a question takes in a process of its own, and its answer."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.setsid()
        start = int(_processor(resource.RUSAGE_SELF)) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (start + limit, start + limit))
        before = _processor()
        try:
            answer = ask()
        except Exception as error:
            answer = f"{type(error).__name__}: {error}"
        os.write(writing, json.dumps([_processor() - before, answer]).encode())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:  # noqa: PTH123 (it is no path)
        text = pipe.read()
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    seconds, answer = json.loads(text) if text else (float(limit), "late")
    return seconds, answer


def _processor(*whose: int) -> float:
    usages = map(resource.getrusage, whose or (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def compare(case: Case, limit: int) -> int:
    """Print the answers and seconds of all spellings of one mechanism; return 1 where the line is marked."""
    name, spellings, size, question, given = case
    rows = [measured(partial(answered, each, size, question, given), limit) for each in spellings]
    times = [seconds for seconds, _ in rows]
    apart = len({answer for _, answer in rows}) > 1
    slow = max(times) > max(NOTICED, TOO_FAR_APART * min(times))
    shown = ", ".join(f"{key}={value}" for key, value in size.items())
    answer = _short(rows[0][1]) + " ANSWERS" * apart + " SECONDS" * slow
    print(f"{name}({shown}) {question}:", *(f"{seconds:.2f}" for seconds in times), answer, flush=True)
    for each, (_, other) in zip(spellings, rows, strict=True):
        if apart:
            print(f"    {each.name}: {_short(other)}", flush=True)
    return int(apart or slow)


def _short(answer: str) -> str:
    return answer if len(answer) <= 70 else f"{answer[:40]}... of {len(answer)} characters"


def main() -> int:
    """Compare the spellings of the mechanisms that were asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("words", nargs="*")
    parser.add_argument("--limit", type=int, default=20)
    arguments = parser.parse_args()
    start = time.monotonic()
    marked = sum(compare(case, arguments.limit) for case in cases(arguments.words))
    print(f"{marked} lines marked, {time.monotonic() - start:.0f} s")
    return int(marked > 0)


if __name__ == "__main__":
    sys.exit(main())
