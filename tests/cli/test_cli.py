"""The command line: recorded transcripts, exit status, limits, and what it leaves alone."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import GOLDEN, SLOW, environment, run
from tightdp.errors import LanguageError

TRANSCRIPTS = sorted(GOLDEN.glob("*.txt"))
UPDATE = "TIGHTDP_UPDATE_GOLDEN" in os.environ


def block(capsys: pytest.CaptureFixture[str], command: str) -> str:
    """One command with its output, as transcripts have it, without what it cost."""
    status, out, err = run(capsys, *shlex.split(command)[1:])
    out = re.sub(r', "stats": \{[^{}]*\{[^{}]*\}\}', "", out)
    return f"$ {command}\n{out}{f'(stderr){chr(10)}{err}' if err else ''}(exit {status})\n"


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=pytest.mark.slow(seconds=5) if path.stem == "limits" else ())
        for path in TRANSCRIPTS
    ],
)
def test_transcript(path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command prints what is recorded. TIGHTDP_UPDATE_GOLDEN=1 records anew: read the difference then."""
    monkeypatch.chdir(GOLDEN)
    recorded = path.read_text(encoding="utf-8")
    commands = re.findall(r"^\$ (tightdp .*)$", recorded, re.MULTILINE)
    found = "\n".join(block(capsys, command) for command in commands)
    if UPDATE:
        path.write_text(found, encoding="utf-8")
    assert found == recorded or UPDATE


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=[path.stem for path in TRANSCRIPTS])
def test_bad_input_says_what_and_how_to_correct_it(path: Path) -> None:
    for said in re.findall(r"\(stderr\)\n(.*?)\(exit ([23])\)", path.read_text(encoding="utf-8"), re.DOTALL):
        lines = said[0].splitlines()
        assert lines[0]
        assert lines[-1].startswith("  ")
        assert lines[-1].strip()
        assert "Traceback" not in said[0]


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "--help")
    assert status == 0
    for command in ("privacy", "accuracy", "distribution", "verify", "show", "sample", "sweep"):
        assert f"\n  {command} " in out
        status, text, _ = run(capsys, command, "--help")
        assert status == 0
        assert f"tightdp {command} FILE[:NAME]" in text
    assert run(capsys, "--version")[1].startswith("tightdp ")


# Files that are no good.


def complaint(capsys: pytest.CaptureFixture[str], path: Path, text: str) -> str:
    path.write_text(text)
    status, out, err = run(capsys, "privacy", str(path), "n=1")
    assert (status, out) == (2, "")
    return err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "defines no mechanism"),
        ("x = (", ":1:5: '(' was never closed"),
        ("\n\nimport nowhere_to_be_found", ":3 fails with ModuleNotFoundError: No module named 'nowhere_to_be_found'"),
        ("from tightdp import Boolean", "\n  tightdp has ALL, Adaptive, Bit, Bits"),
        ("import tightdp\nx = tightdp.Boolean", "\n  tightdp has ALL, Adaptive, Bit, Bits"),
        ("raise SystemExit", "fails with SystemExit"),
        ("1/0", "fails with ZeroDivisionError"),
        ("x = 'a\0b'", "source code string cannot contain null bytes"),
    ],
)
def test_a_file_that_cannot_be_imported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, text: str, said: str
) -> None:
    assert said in complaint(capsys, tmp_path / "broken.py", text)


def test_unsupported_python_gets_the_line_and_a_caret(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = "from tightdp import Bit, mechanism\n@mechanism(record=Bit)\ndef f(x):\n    return eval('x')\n"
    err = complaint(capsys, tmp_path / "unsupported.py", text)
    assert f"{tmp_path / 'unsupported.py'}:4:" in err
    assert "return eval('x')" in err
    assert "^" in err


def test_a_file_may_import_its_neighbour_and_leaves_nothing_behind(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "the_neighbour.py").write_text("print('noise')\nBIAS = 0.25\n")
    path = tmp_path / "user.py"
    path.write_text(
        "from the_neighbour import BIAS\nfrom tightdp import Bit, flip, mechanism\n\n\n"
        "@mechanism(record=Bit)\ndef f(x):\n    return x[0] ^ flip(BIAS)\n"
    )
    before = list(sys.path)
    status, out, err = run(capsys, "privacy", str(path), "n=1", "--json")
    assert (status, err) == (0, "noise\n")
    assert json.loads(out)["result"]["exp_epsilon"] == "3"
    assert sys.path == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["the_neighbour.py", "user.py"]


# Files that are written.


def test_show_writes_a_picture(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = tmp_path / "diagram.svg"
    status, out, _ = run(capsys, "show", str(GOLDEN / "single.py"), "n=2", "--svg", str(target))
    assert status == 0
    assert "nodes" in out
    assert target.read_text().startswith("<svg ")


def test_a_path_that_cannot_be_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = str(tmp_path / "no" / "diagram.svg")
    status, _, err = run(capsys, "show", str(GOLDEN / "single.py"), "n=2", "--dot", target)
    assert status == 2
    assert f"cannot write {target}" in err


# Limits.


def test_an_interrupted_run_prints_what_it_knows(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    command = [sys.executable, "-m", "tightdp", "privacy", "slow.py", "n=12", "--json"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )
    assert process.stderr is not None
    assert [process.stderr.readline() for _ in range(3)] == ["working\n"] * 3
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    answer = json.loads(out)
    assert answer["status"] == "unresolved"
    assert answer["neighbours"] == "slowly"
    assert answer["result"]["lower"] == "4"
    assert answer["result"]["upper"] is None


class Refused:
    """A command whose program is refused after Ctrl-C."""

    interrupts, printed = 1, False

    def run(self) -> int:
        """Refuse the program."""
        raise LanguageError("try is not supported", "leave it out")


def test_an_interrupted_run_of_a_refused_program_says_both(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.modules["tightdp.cli.main"], "_command", lambda options, began: Refused())
    status, _, said = run(capsys, "privacy", "refused.py", "n=2")
    assert (status, said.splitlines()[1:]) == (130, ["try is not supported", "  leave it out"])
    assert said.startswith("the query was interrupted")


def test_a_closed_pipe_is_no_error() -> None:
    command = f"{shlex.quote(sys.executable)} -m tightdp distribution mechanisms.py:response lam=1/5 "
    command += "--input '[0,0,0,0,0,0,0,0,0,0,0,0]' --json | head -c 20"
    done = subprocess.run(command, shell=True, cwd=GOLDEN, capture_output=True, text=True, env=environment())
    assert done.stderr == ""
    assert done.stdout.startswith('{"schema": 2, "tig')


# The JSON object.


def test_json_has_exactly_the_promised_keys(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(GOLDEN)

    def result(*arguments: str) -> dict[str, Any]:
        answer = json.loads(run(capsys, *arguments, "--json")[1])
        top = ["schema", "tightdp", "query", "mechanism", "parameters", "neighbours", "status", "result", "stats"]
        assert list(answer) == top
        assert [key for key in answer["stats"] if key in ("variables", "nodes", "seconds")][-1] == "seconds"
        assert list(answer["stats"]["seconds"]) == ["compile", "count", "search"]
        assert answer["query"] == arguments[0]
        return dict(answer["result"])

    response = ("privacy", "mechanisms.py:response", "n=2", "lam=1/5")
    pure = result(*response)
    assert list(pure) == ["exp_epsilon", "epsilon", "epsilon_exact", "delta", "witness"]
    assert list(pure["witness"]) == ["x", "x_prime", "output", "probability", "probability_prime"]
    delta = result(*response, "--delta", "1/10")
    assert list(delta) == ["exp_epsilon", "epsilon", "epsilon_exact", "delta", "witness"]
    assert list(delta["witness"]) == ["x", "x_prime"]
    assert list(result(*response, "--exp-epsilon", "2")) == ["delta", "exp_epsilon", "witness"]
    assert list(result(*response, "--curve")) == ["points"]
    assert list(result(*response, "--tradeoff")) == ["vertices"]
    assert list(result(*response, "--renyi", "2")) == ["order", "exp_moment", "epsilon"]
    accuracy = result("accuracy", "mechanisms.py:total", "n=2", "lam=1/5", "--alpha", "1")
    assert list(accuracy) == ["alpha", "one_minus_beta", "beta", "witness", "top"]
    assert list(accuracy["top"][0]) == ["x", "one_minus_beta", "inputs"]
    law = result("distribution", "mechanisms.py:response", "lam=1/5", "--input", "[0]")
    assert law == {"law": [[[0], "4/5"], [[1], "1/5"]]}
    verdict = result("verify", "mechanisms.py:response", "n=2", "lam=1/5", "--epsilon", "2")
    assert list(verdict) == ["holds", "claims"]
    assert list(verdict["claims"][0]) == ["claim", "claimed", "tight", "holds", "witness"]
