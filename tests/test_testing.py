"""The assertions for tests, the pytest plugin, and the types that a user's file sees."""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

from command_line import environment
from tightdp import Bit, Mechanism, ParameterError, exp, flip, geometric, mechanism
from tightdp.testing import assert_accurate, assert_private

ROOT = Path(__file__).parent.parent


@mechanism(record=Bit, target=sum)
def total(x, lam):
    return sum(1 - b if flip(lam) else b for b in x)


@mechanism(record=Bit)
def certain(x):
    return x


@mechanism(record=Bit, target=sum)
def noisy(x, eps):
    return geometric(sum(x), exp(-eps))


@mechanism(record=Bit)
def leaky(x, delta, timeout):
    """Gives the first bit away with probability delta, else a bit that is right with probability 1 - timeout."""
    if flip(delta):
        return 2 + x[0]
    return x[0] ^ flip(timeout)


def failure(call: str) -> str:
    """The message of an assertion that fails."""
    with pytest.raises(AssertionError) as caught:
        eval(call, {**globals()})
    return str(caught.value)


def pasted(message: str) -> str:
    """The line of a message that is said to hold."""
    return next(line.partition("holds:")[2].strip() for line in message.splitlines() if line.startswith("holds:"))


def test_what_holds_is_returned() -> None:
    assert assert_private(total, n=3, lam="1/5", exp_epsilon=4).holds
    assert assert_private(total, n=3, lam=Fraction(1, 5), epsilon="1.39").holds
    assert assert_accurate(total, n=3, lam="1/5", alpha=1, beta="13/125").holds


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "call",
    [
        "assert_private(total, n=1, lam='1/5', epsilon=1)",
        "assert_private(total, n=2, lam='1/5', exp_epsilon='399/100', delta='1/1000000')",
        "assert_private(total, n=2, lam='1/5', exp_epsilon=4, neighbours='unit-all')",
        "assert_private(leaky, n=1, exp_epsilon=3, parameters={'delta': '1/100', 'timeout': '1/4'})",
        "assert_private(leaky, n=1, exp_epsilon=2, delta='1/100', parameters={'delta': '1/100', 'timeout': '1/4'})",
        "assert_accurate(total, n=3, lam='1/5', alpha=1, beta='1/100')",
    ],
)
def test_the_line_to_paste_holds_and_is_tight(call: str) -> None:
    line = pasted(failure(call))
    assert eval(line, {**globals()}).holds
    claims = [claim for claim in eval(line, {**globals()}).claims if claim.tight not in (None, float("inf"))]
    assert all(claim.tight == claim.claimed for claim in claims)


def first_alone(x):
    return [(1 - x[0], *x[1:])]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("call", "held"),
    [
        (
            "assert_private(total, n='all', lam='1/5', exp_epsilon=3)",
            "assert_private(total, n='all', lam='1/5', exp_epsilon=4)",
        ),
        (
            "assert_private(total, n=2, lam='?[1/10,1/2]', exp_epsilon=4)",
            "assert_private(total, n=2, lam='?[1/5,1/2]', exp_epsilon=4)",
        ),
        (
            "assert_private(total, n=1, lam='?[1/10,1/2]', exp_epsilon=2, delta='1/5')",
            "assert_private(total, n=1, lam='?[4/15,1/2]', exp_epsilon=2, delta='1/5')",
        ),
        (
            "assert_accurate(total, n=2, lam='?[0,1/2]', alpha=1, beta='1/16')",
            "assert_accurate(total, n=2, lam='?[0,1/4]', alpha=1, beta='1/16')",
        ),
        (
            "assert_private(noisy, n=2, eps=1, exp_epsilon=2)",
            "assert_private(noisy, n=2, eps=1, exp_epsilon='exp(1)')",
        ),
        (
            "assert_accurate(noisy, n='all', eps=1, alpha=1)",
            "assert_accurate(noisy, n='all', eps=1, alpha=1, beta='2/(exp(1) + exp(2))')",
        ),
    ],
)
def test_every_n_and_an_unknown_are_asked_about(call: str, held: str) -> None:
    message = failure(call)
    assert pasted(message) == held
    assert eval(held, {**globals()}).holds
    assert "with '1/4' in place of lam" in message or "n='all', lam" not in call


def test_what_no_command_asks_is_reproduced_by_a_call() -> None:
    message = failure("assert_private(total, n=2, lam='1/10', exp_epsilon=4, neighbours=first_alone)")
    call = "assert_private(total, n=2, lam='1/10', exp_epsilon={}, neighbours=first_alone)"
    assert f"reproduce:  {call.format(4)}\n" in message
    assert pasted(message) == call.format(9)

    @mechanism(record=Bit)
    def local(x):
        return x[0]

    with pytest.raises(AssertionError, match="reproduce:  assert_private"):
        assert_private(local, n=1, epsilon=1)


def test_options_of_the_command_line_are_keywords() -> None:
    message = failure("assert_accurate(total, n=2, lam='1/5', alpha=1, method='exhaustive', precision='1/1000')")
    assert "total n=2 lam=1/5 --alpha 1 --beta 0 --method exhaustive --precision 1/1000" in message
    with pytest.raises(ParameterError, match="assert_private needs n"):
        assert_private(total, lam="1/5", epsilon=1)  # type: ignore[call-arg]


def test_a_failure_names_the_tight_value_and_a_witness() -> None:
    message = failure("assert_private(total, n=1, lam='1/5', epsilon=1)")
    assert "1.3862943611198906" in message
    assert "On x = (0,) and its neighbour x' = (1,) the output 0 has probability 4/5 against 1/5." in message
    assert f"{Path(__file__).name}:total n=1 lam=1/5 --epsilon 1" in message
    assert f"to blame:   {__file__}:" in message


def test_a_failure_at_a_delta_names_an_event() -> None:
    message = failure("assert_private(total, n=1, lam='1/5', exp_epsilon=2, delta='1/10')")
    assert "δ is at least 2/5, not 1/10" in message
    assert "the event that the output is 0" in message


def test_what_is_not_decided_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    message = failure("assert_private(total, n=12, lam='1/5', exp_epsilon=4, timeout='0.000001s')")
    assert "not decided within its limits" in message


def test_arguments_that_do_not_fit_are_named() -> None:
    with pytest.raises(ParameterError, match="lam is given twice"):
        assert_private(total, n=1, lam="1/5", epsilon=1, parameters={"lam": "1/5"})
    with pytest.raises(ParameterError, match="is not a mechanism"):
        assert_private(len, n=1, epsilon=1)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="no parameter lamb"):
        assert_private(total, n=1, lamb="1/5", epsilon=1)
    assert isinstance(total, Mechanism)


USER_TESTS = """
import pytest
from tightdp import Bit, flip, mechanism


@mechanism(record=Bit, target=sum)
def total(x, lam):
    return sum(1 - b if flip(lam) else b for b in x)


@pytest.mark.parametrize("lam, exp_epsilon", [("1/5", 4), ("1/10", 8)])
def test_privacy(assert_private, lam, exp_epsilon):
    assert_private(total, n=2, lam=lam, exp_epsilon=exp_epsilon)


def test_accuracy(assert_accurate):
    assert_accurate(total, n=2, lam="1/5", alpha=2)
"""


PYTEST = ["-m", "pytest", "-p", "tightdp.pytest_plugin", "-p", "no:cacheprovider"]


def user_tests(folder: Path, *words: str, ini: str = "", text: str = USER_TESTS) -> str:
    """What pytest prints of a user's tests."""
    (folder / "test_mine.py").write_text(text)
    (folder / "pytest.ini").write_text(f"[pytest]\n{ini}")
    plain = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "NO_COLOR": "1", "COLUMNS": "150"}
    command = [sys.executable, *PYTEST, *words, "test_mine.py"]
    done = subprocess.run(command, cwd=folder, env={**environment(), **plain}, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def test_the_plugin_is_an_entry_point() -> None:
    entry = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]["tightdp"]
    assert importlib.import_module(entry).__name__ == "tightdp.pytest_plugin"


def test_the_plugin_gives_fixtures_hides_the_library_and_sums_up(tmp_path: Path) -> None:
    printed = user_tests(tmp_path)
    assert "1 failed, 2 passed" in printed
    assert "holds:      assert_private(total, n=2, lam='1/10', exp_epsilon=9)" in printed
    assert f"to blame:   {tmp_path}/test_mine.py:8: return sum(1 - b if flip(lam) else b for b in x)" in printed
    assert "tightdp/session/" not in printed
    assert "tightdp: 3 claims, 2 holds, 1 refuted" in printed
    assert "refuted   assert_private(total, n=2, lam='1/10', exp_epsilon=8)  tight 9" in printed


@pytest.mark.slow(seconds=7)
def test_the_options_of_the_plugin(tmp_path: Path) -> None:
    ini = "tightdp_timeout = 0\ntightdp_explain = false\ntightdp_report = out/claims.html\n"
    printed = user_tests(tmp_path, "-v", ini=ini)
    assert "3 failed" in printed
    assert printed.count("open      assert_") == 3
    assert "tightdp/session/" not in printed
    page = (tmp_path / "out" / "claims.html").read_text(encoding="utf-8")
    assert page.count("<section") == 3
    printed = user_tests(tmp_path, "--tightdp-report", "claims.html", ini="tightdp_explain = false\n")
    assert "it was not looked for" in printed
    page = (tmp_path / "claims.html").read_text(encoding="utf-8")
    assert "has probability 81/100 against 9/100" in page
    assert "<script" not in page


@pytest.mark.slow(seconds=8)
def test_the_summary_is_that_of_all_workers(tmp_path: Path) -> None:
    printed = user_tests(tmp_path, "-p", "xdist", "-n", "2", "--tightdp-report", "claims.html")
    assert "tightdp: 3 claims, 2 holds, 1 refuted" in printed
    assert (tmp_path / "claims.html").read_text(encoding="utf-8").count("<section") == 3


REFUSED = """
from tightdp import mechanism


@mechanism
def broken(x):
    return x[0] / len(y)


def test_broken(assert_private):
    assert_private(broken, n=1, epsilon=1)
"""


def test_errors_of_the_library_show_the_line_of_the_user_alone(tmp_path: Path) -> None:
    printed = user_tests(tmp_path, text=REFUSED)
    assert "tightdp/session/" not in printed
    assert f"{tmp_path}/test_mine.py:" in printed
    assert "tightdp/session/" in user_tests(tmp_path, "--full-trace", text=REFUSED)


def test_the_line_to_blame_is_always_named(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [
        "assert_private(total, n=1, lam=0, epsilon=1)",
        "assert_private(certain, n=1, epsilon=1)",
        "assert_accurate(total, n=3, lam='1/5', alpha=1, beta='1/100')",
    ]
    for call in calls:
        assert re.search(rf"to blame:   {re.escape(__file__)}:\d+", failure(call)), call
    monkeypatch.setattr("tightdp.testing._BLAMED_IN", 0)
    assert re.search(rf"to blame:   {re.escape(__file__)}:\d+", failure(calls[0]))


USER_FILE = """
from fractions import Fraction

from typing import Any

from tightdp import Bit, Instance, Int, Mechanism, flip, geometric, mechanism
from tightdp.testing import assert_private


@mechanism(record=Bit, target=sum)
def total(x: tuple[int, ...], lam: Fraction) -> int:
    return sum(1 - b if flip(lam) else b for b in x)


@mechanism(record=lambda top: Int(0, top), neighbours="unit-step")
def noisy(x: tuple[int, ...], top: int, ratio: Any = "1/2") -> int:
    return geometric(sum(x), ratio, 0, top * len(x))


noisy.bind(n="all", top=2, ratio="?")
noisy.bind(n=2, top=1, ratio="?").solve(epsilon=1)
made: Mechanism = total
asked: Instance = total.bind(n=3, lam=Fraction(1, 5))
limited: Instance = total.bind(n=3, lam=Fraction(1, 5), timeout="10s", neighbours="unit-step")
epsilon: float = asked.privacy().epsilon
delta = asked.delta(exp_epsilon=2).delta
if isinstance(delta, Fraction):
    below: int = delta.denominator
holds: bool | None = assert_private(total, n=3, lam="1/5", exp_epsilon=4).holds
"""
USER_MISTAKES = """
total.bind(n=3, lmbda=Fraction(1, 5))
total.bind(n=3)
asked.privcy()
wrong: str = asked.privacy().epsilon
total.bind(n=3, lam=Fraction(6, 5)).privacy()
"""
"""All but the last one, of which no type knows, are found by type checkers."""
CHECKERS = {"mypy": ["--strict", "--no-incremental", "mine.py"], "pyright": ["mine.py"]}


@pytest.mark.slow(seconds=12)
@pytest.mark.extra("dev")
@pytest.mark.parametrize("checker", CHECKERS)
def test_types_of_a_users_file(checker: str, tmp_path: Path) -> None:
    program = shutil.which(checker, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    if program is None:
        pytest.skip(f"{checker} is not installed")
    (tmp_path / "mine.py").write_text(USER_FILE)
    source = environment()["PYTHONPATH"]
    (tmp_path / "pyrightconfig.json").write_text(f'{{"extraPaths": ["{source}"], "typeCheckingMode": "standard"}}')
    found = Path(source).name != "site-packages"  # an installed package is found anyway, and mypy refuses its folder
    variables = {**os.environ, **({"MYPYPATH": source} if found else {})}

    def check() -> subprocess.CompletedProcess[str]:
        command = [program, *CHECKERS[checker]]
        return subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True)

    done = check()
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "mine.py").write_text(USER_FILE + USER_MISTAKES)
    found_at = {int(line) for line in re.findall(r"mine\.py:(\d+)(?=.* error)", check().stdout)}
    first = len(USER_FILE.splitlines()) + 2
    assert found_at == set(range(first, first + 4))


def test_a_misspelt_argument_gets_a_suggestion() -> None:
    with pytest.raises(ParameterError) as caught:
        assert_private(total, n=2, lam="1/5", exp_epsilom=4)
    assert caught.value.hint == "did you mean exp_epsilon?"
