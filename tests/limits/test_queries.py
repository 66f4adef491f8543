"""Every query answers within limits as it does without, and ends at them whatever it is doing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tightdp
from tightdp import Bit, Instance, Int, LimitError, flip, geometric, mechanism
from tightdp.limits import can_fork
from tightdp.results.result import Result
from tightdp.session import limited

pytestmark = pytest.mark.skipif(not can_fork(), reason="limits are kept by looking at them on this system")


@mechanism(record=Bit)
def response(x, lam):  # type: ignore[no-untyped-def]
    return tuple(1 - b if flip(lam) else b for b in x)


@mechanism(record=Int(0, 2), target=sum)
def noisy(x):  # type: ignore[no-untyped-def]
    return geometric(sum(x), "1/2", 0, 2 * len(x))


QUERIES: list[Callable[[Instance], Any]] = [
    lambda instance: instance.privacy(),
    lambda instance: instance.privacy(delta="1/10"),
    lambda instance: instance.privacy(top=2),
    lambda instance: instance.epsilon(),
    lambda instance: instance.delta(exp_epsilon=2),
    lambda instance: instance.delta(epsilon=1),
    lambda instance: instance.curve(),
    lambda instance: instance.tradeoff(),
    lambda instance: instance.renyi(2),
    lambda instance: instance.efficacy(),
    lambda instance: instance.efficacy(adaptive=True),
    lambda instance: instance.guessing(lambda output: (None,) * 2),
    lambda instance: instance.adaptive_guessing(),
    lambda instance: instance.classic_guessing(2),
    lambda instance: instance.distribution((0, 1)),
    lambda instance: instance.show(),
    lambda instance: instance.show((0, 1)),
    lambda instance: instance.verify(exp_epsilon=3),
    lambda instance: instance.probability((0, 1), instance.distribution((0, 1)).law[0][0]),
]


BINDS: dict[str, Callable[..., Instance]] = {
    "responses": lambda **limits: response.bind(n=2, lam="1/5", **limits),
    "a sum": lambda **limits: noisy.bind(n=2, **limits),
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("query", QUERIES, ids=range(len(QUERIES)))
@pytest.mark.parametrize("bind", BINDS)
def test_a_query_answers_the_same_within_limits(query: Callable[[Instance], Any], bind: str) -> None:
    free, within = query(BINDS[bind]()), query(BINDS[bind](timeout=60, max_memory="4G"))
    assert within == free
    assert type(within) is type(free)
    if isinstance(free, Result):
        assert within.to_dict()["result"] == free.to_dict()["result"]
        assert str(within).splitlines()[0] == str(free).splitlines()[0]


def test_accuracy_answers_the_same_within_limits() -> None:
    for query in (lambda each: each.accuracy(1), lambda each: each.accuracy(beta="1/10")):
        assert query(noisy.bind(n=2, timeout=60)) == query(noisy.bind(n=2))


PROGRAMS = """
import itertools
from collections import deque
from tightdp import Bit, Int, flip, geometric, mechanism


@mechanism(record=Bit)
def many_terms(x):
    return sum(flip("1/3") for _ in range(20000)) + x[0]


@mechanism(record=Bit)
def ever_deeper(x):
    r = (x[0],)
    for _ in range(40):
        r = (r, flip("1/2")) if flip("1/2") else (r,)
    return r


@mechanism(record=Int(0, 9))
def many_forms(x):
    out, state = [], 0
    for v in x:
        state = (state * 3 + v + geometric(5, "2/3", 0, 10)) % 11
        out.append(state > 4 if flip("1/3") else None)
    return tuple(out)


@mechanism(record=Int(0, 400), target=sum)
def wide(x):
    return geometric(sum(x), "9/10", 0, 400 * len(x)) + geometric(sum(x), "8/9", 0, 400 * len(x))


@mechanism(record=Bit)
def hidden_bit(x):
    weight = sum(x)
    return (x[weight - 1] if weight else 0) ^ flip("1/3") ^ (x[-weight] if weight else 0)


@mechanism(record=Bit)
def long_law(x):
    return tuple(1 - b if flip("1/5") else b for b in x)


def in_c(x):
    deque(itertools.repeat(None), maxlen=0)


@mechanism(record=Bit, neighbours=in_c)
def never(x):
    return x[0] ^ flip("1/5")


def spin(x):
    while True:
        pass


@mechanism(record=Bit, target=spin)
def aimless(x):
    return x[0] ^ flip("1/5")
"""

HANGING = {
    "lowering a sum": ["privacy", "many_terms", "n=1"],
    "lowering a deep output": ["privacy", "ever_deeper", "n=1"],
    "a chain": ["privacy", "many_forms", "n=9"],
    "a curve": ["privacy", "many_forms", "n=6", "--curve"],
    "an aggregate": ["privacy", "wide", "n=4", "--tradeoff"],
    "a diagram": ["privacy", "hidden_bit", "n=90"],
    "decoding": ["distribution", "long_law", "--input", json.dumps([0] * 22)],
    "a C call": ["privacy", "never", "n=3"],
    "a target": ["accuracy", "aimless", "n=3", "--alpha", "0"],
}


def stages(*quick: str) -> list[Any]:
    """All of them; those that are not named are tried where there is time."""
    return [each if each in quick else pytest.param(each, marks=pytest.mark.slow(seconds=3)) for each in HANGING]


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """A command in a process group of its own."""
    assert tightdp.__file__ is not None
    (folder / "programs.py").write_text(PROGRAMS, encoding="utf-8")
    command, name, *rest = arguments
    return subprocess.Popen(
        [sys.executable, "-m", "tightdp", command, f"programs.py:{name}", *rest, "--json"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": str(Path(tightdp.__file__).parent.parent)},
    )


def _look_for(group: int) -> None:
    """Look for processes for a while: the system may take a moment to clear away what was ended."""
    for _ in range(20):
        os.killpg(group, 0)
        time.sleep(0.1)


def check_the_end(process: subprocess.Popen[str], status: int, *why: str) -> float:
    """It says no more than is known, and leaves no process behind. Return when it ended."""
    out, err = process.communicate(timeout=30)
    ended = time.monotonic()
    assert process.returncode == status, err
    answer = json.loads(out)
    assert answer["status"] in ("unresolved", "bounded")
    assert "exp_epsilon" not in answer["result"] or answer["result"]["upper"] == answer["result"]["exp_epsilon"]
    assert any(reason in answer["reason"] for reason in why), answer
    assert "Traceback" not in err
    with pytest.raises(ProcessLookupError):
        _look_for(process.pid)
    return ended


@pytest.mark.one_in(2)
@pytest.mark.parametrize("stage", stages("lowering a deep output", "a C call"))
def test_the_time_limit_of_a_command(stage: str, tmp_path: Path) -> None:
    began = time.monotonic()
    process = start(tmp_path, *HANGING[stage], "--timeout", "1")
    assert check_the_end(process, 3, "took more than 1 s") - began < 1 + 2 + LOADED


@pytest.mark.parametrize("stage", stages())
def test_an_interrupted_command(stage: str, tmp_path: Path) -> None:
    process = start(tmp_path, *HANGING[stage])
    time.sleep(1.5 + LOADED)
    began = time.monotonic()
    os.killpg(process.pid, 2)
    # Ctrl-C may come just as the compiler has refused the program, before its runs are enumerated.
    check_the_end(process, 130, "interrupted", "more than 65,536 parts")
    assert time.monotonic() - began < 2 + LOADED


LOADED = 1.0
"""Seconds that a busy machine may add."""


def test_the_memory_limit_of_a_command(tmp_path: Path) -> None:
    process = start(tmp_path, *HANGING["decoding"], "--max-memory", "100M")
    check_the_end(process, 3, "took more than 100 MB of memory")


def test_limits_from_python() -> None:
    begin = time.monotonic()
    with pytest.raises(LimitError, match=r"took more than 0\.5 s"):
        response.bind(n=22, lam="1/5", timeout=0.5).distribution((0,) * 22)
    assert time.monotonic() - begin < 2.5 + LOADED
    with pytest.raises(LimitError, match="took more than 60 MB of memory"):
        response.bind(n=22, lam="1/5", max_memory="60M").distribution((0,) * 22)


def test_the_memory_limit_without_a_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited, "default_memory", lambda: 60 << 20)
    instance = response.bind(n=22, lam="1/5")
    engine = instance.engine
    with pytest.raises(LimitError, match="took more than 60 MB of memory"):
        instance.distribution((0,) * 22)
    assert instance.engine is not engine  # what was cut off in the middle is not used again
    assert instance.privacy().exp_epsilon == 4
