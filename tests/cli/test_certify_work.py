"""`certify` says how much work checking takes where that is more than the usual, and the checker takes so much."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from expectations import PROGRAMS
from tightdp.cli import main
from tightdp.session.certify import load_checker

COUNT = (f"{PROGRAMS / 'randomized_response_count.py'}", "n=40", "lam=1/5")


def test_what_takes_the_usual_work_is_told_without_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", *COUNT, "--output", str(tmp_path / "count.json")]) == 0
    shown = capsys.readouterr().out
    assert shown.count("\n") == 1
    assert "--work" not in shown


def test_the_work_that_is_told_is_the_least(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    checker, place = load_checker(), tmp_path / "count.json"
    monkeypatch.setattr(checker, "WORK", checker.WORK // 100)
    assert main(["certify", *COUNT, "--output", str(place)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert len(shown) == 2
    times = int(shown[1].partition("--work ")[2].partition(":")[0])
    assert times > 1
    content = json.loads(place.read_text(encoding="ascii"))
    assert shown[0].endswith(checker.check(content, times))
    with pytest.raises(checker.Refused, match="more work than is allowed"):
        checker.check(content, times - 1)
