"""Two ways to one answer: the first answer wins, and nothing else is left of the other way."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from processes import children
from tightdp import Bit, Int, LimitError, QueryError, flip, mechanism, randint
from tightdp.limits import Command, Limits, Race, can_fork, ticking
from tightdp.limits.clock import requested

pytestmark = pytest.mark.skipif(not can_fork(), reason="there are no child processes")


def working(seconds: float, answer: str = "slow") -> str:
    """Work for so many seconds of the processor."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(1000))
    return answer


def failing() -> str:
    raise QueryError("no", "another way")


def raced(question: Callable[[], str], other: Callable[[], str]) -> tuple[str, bool]:
    limits, before = Limits(), children()
    race = Race(question, other, limits)
    with ticking(limits):
        found = race.answer()
    assert requested() is None
    assert children() <= before
    return found, race.overtaken


def test_the_first_answer_wins() -> None:
    assert raced(lambda: working(30), lambda: "fast") == ("fast", True)
    assert raced(lambda: working(1), lambda: working(30, "other")) == ("slow", False)


def test_a_quick_question_is_alone() -> None:
    started = []

    def other() -> str:
        started.append(1)
        return "other"

    assert raced(lambda: working(0.01), other) == ("slow", False)
    assert not started


def test_the_other_way_does_not_begin_in_an_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "long_import.py").write_text(
        "import time\nend = time.process_time() + 1\nwhile time.process_time() < end:\n    pass\nanswer = 'fast'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    def imported() -> str:
        return str(importlib.import_module("long_import").answer)

    assert raced(lambda: imported() + working(30), imported) == ("fast", True)


def test_a_way_without_an_answer_loses() -> None:
    assert raced(lambda: working(1), failing) == ("slow", False)
    assert raced(lambda: working(1), lambda: os._exit(1)) == ("slow", False)  # type: ignore[arg-type, return-value]
    with pytest.raises(QueryError):
        raced(lambda: working(1, "x") and failing(), lambda: working(30))


def test_code_that_reports_a_limit_is_overtaken_too() -> None:
    def partial() -> str:
        try:
            return working(30)
        except LimitError:
            return "what is known"

    assert raced(partial, lambda: "all") == ("all", True)


def test_a_race_within_a_race_is_none() -> None:
    def inner() -> str:
        return Race(lambda: working(1, "inner"), lambda: "wrong", Limits()).answer()

    assert raced(inner, lambda: working(30)) == ("inner", False)


def test_a_command_with_a_race_in_it_prints_once(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> int:
        sys.stdout.write("before\n")
        assert raced(lambda: working(30), lambda: "other") == ("other", True)
        sys.stdout.write("after\n")
        return 0

    assert Command(command, Limits()).run() == 0
    assert capsys.readouterr().out == "before\nafter\n"


def test_memory_that_is_allowed_is_shared() -> None:
    assert raced(lambda: working(1.5), lambda: str(len(bytearray(10**6)))) == ("1000000", True)


@mechanism(record=Int(0, 40))
def mixed(x):  # type: ignore[no-untyped-def]
    a = x[0]
    for at in range(8):
        a = (a * a * 7 + x[at % len(x)] * 13 + at) % 10007
    return (a + randint(0, 3)) % 10007


@mechanism(record=Bit)
def small(x):  # type: ignore[no-untyped-def]
    return sum(b if flip("3/4") else 1 - b for b in x)


def test_runs_answer_where_nothing_else_can() -> None:
    """The operations of this program have too many values to compile it; it has 164 runs."""
    found = mixed.bind(n=1).privacy()
    assert (found.status, found.exp_epsilon, found.stats.method) == ("exact", float("inf"), "runs")
    assert mixed.bind(n=1).delta(exp_epsilon=2).delta == 1
    assert mixed.bind(n=1).verify(exp_epsilon=2).holds is False


def test_answers_by_runs_on_request() -> None:
    for ask in ("privacy", "curve", "tradeoff", "zcdp"):
        mine, theirs = (getattr(small.bind(n=3, method=method), ask)() for method in ("runs", None))
        assert mine.to_dict()["result"] == theirs.to_dict()["result"], ask
        assert mine.stats.method == "runs"


SLOW_IMPORT = """
import sys, time
from importlib.abc import MetaPathFinder

class Slow(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "dd._utils":
            end = time.process_time() + 1
            while time.process_time() < end:
                sum(range(1000))

sys.meta_path.insert(0, Slow())
from tightdp.limits import Limits, Race, ticking
from tightdp.logic.bdd import make_manager

limits = Limits()
with ticking(limits):
    Race(lambda: make_manager("cudd", 2), lambda: "faster", limits).answer()
print(make_manager("cudd", 2).size())
"""


def test_an_import_is_not_broken_off() -> None:
    """What is left of one that is cannot be imported again."""
    done = subprocess.run([sys.executable, "-c", SLOW_IMPORT], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout.strip().isdigit()
