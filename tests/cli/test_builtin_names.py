"""Programs of the package by name: listed, printed, run from any folder; near names are suggested."""

from __future__ import annotations

import io
import json
import tomllib
from pathlib import Path

import pytest

from command_line import run
from tightdp.present.text import Grid, View, print_view

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run in an empty folder."""
    monkeypatch.chdir(tmp_path)


def test_a_program_runs_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "privacy", "randomized_response", "n=8", "lam=1/5")
    assert status == 0
    assert "tight e^ε  4" in out
    status, out, _ = run(capsys, "verify", "gallery/floating_point:shipped", "n=1", "--exp-epsilon", "16")
    assert status == 1
    status, out, _ = run(capsys, "verify", "gallery/replace_one_sum:mended", "n=1", "--exp-epsilon", "4")
    assert status == 0


def test_a_file_of_the_user_goes_first(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    source = (ROOT / "programs" / "xor.py").read_text(encoding="utf-8")
    (tmp_path / "count").write_text(source, encoding="utf-8")
    assert "xor(n=1)" in run(capsys, "privacy", "count", "n=1")[1]


def test_the_list_and_the_source(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "programs")
    assert status == 0
    assert "randomized_response" in out
    listed = json.loads(run(capsys, "programs", "--json")[1])["programs"]
    assert {"name", "mechanisms", "summary"} == set(listed[0])
    assert next(one for one in listed if one["name"] == "gallery/daily_budget")["mechanisms"] == [
        "meant",
        "shipped",
        "mended",
    ]
    source = (ROOT / "programs" / "count.py").read_text(encoding="utf-8")
    assert run(capsys, "programs", "count")[1] == source


@pytest.mark.parametrize("command", ["privacy", "programs"])
def test_a_near_name_is_suggested(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, command, "randomised_response", *(["n=2"] if command == "privacy" else []))
    assert status == 2
    assert "did you mean randomized_response?" in err


def test_a_file_that_is_missing_stays_a_missing_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert "nothing.py does not exist" in run(capsys, "privacy", "nothing.py", "n=1")[2]


def test_claims_are_found_outside_a_clone(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "claims", "--quick", "--id", "X1")
    assert status == 0
    assert "1 claim, all as recorded" in out


def test_the_wheel_has_programs_and_claims() -> None:
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert build["force-include"] == {"programs": "tightdp/programs", "proofs": "tightdp/proofs"}


def test_a_range_of_n_is_sent_to_sweep(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "privacy", "randomized_response", "n=1..5", "lam=1/5")
    assert status == 2
    assert "tightdp sweep FILE n=1..5" in err


def test_an_abbreviated_option_is_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean --epsilon?" in run(capsys, "verify", "randomized_response", "n=1", "lam=1/5", "--eps", "1")[2]


def test_verdicts_are_coloured_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    seen = View("heading", (), Grid(("claim", "verdict"), (("holds water", "refuted"), ("e", "holds"))))
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal, file = Terminal(), io.StringIO()
    print_view(seen, terminal)
    print_view(seen, file)
    assert terminal.getvalue().count("\x1b[31m") == 1
    assert terminal.getvalue().count("\x1b[32m") == 1
    assert "\x1b" not in file.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Terminal()
    print_view(seen, plain)
    assert "\x1b[3" not in plain.getvalue()
