"""Mutation: what is false close to a statement is noticed, and every change that is not is listed with the reason."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tightdp.claims import Exactly, Paper, every, grid
from tightdp.claims.answers import mutated, scores
from tightdp.cli import main

HALF = grid(n=(1, 2, 3))


def mean(n: int) -> dict[str, Any]:
    """The mean of 0, ..., n."""
    return {"mean": Fraction(sum(range(n + 1)), n + 1)}


def changes(statement: Any, **arguments: Any) -> dict[str, bool]:
    paper = Paper("test2026")
    paper.claim("T1", "", statement, **arguments)
    return {change.what: change.killed for change in mutated([paper])}


def test_constants_move_by_small_steps_both_ways() -> None:
    found = changes("`mean = n/2`", verdict="holds on", instances=HALF, check=mean)
    assert found == {"mean = n/2: 2 into 21/10": True, "mean = n/2: 2 into 19/10": True}


def test_what_only_weakens_survives_and_no_complement_counts() -> None:
    found = changes("If `n >= 1` then `mean <= 100n`.", verdict="holds on", instances=HALF, check=mean)
    assert found == {
        "without n >= 1": False,
        "mean <= 100n: <= into <": False,
        "mean <= 100n: 100 into 105": False,
        "mean <= 100n: 100 into 95": False,
    }


def test_a_relation_of_names_gets_a_factor() -> None:
    found = changes("`mean = half`", verdict="holds on", instances=HALF, check=lambda n: {**mean(n), "half": n / 2})
    assert list(found.values()) == [True, True]


def test_signs_and_exponents() -> None:
    found = changes("`(x + 1)² - x² = 2x + 1`", verdict="holds on", instances=HALF, check=lambda n: {"x": n})
    assert "(x + 1)^2 - x^2 = 2x + 1: 2 into 3" in found
    assert "(x + 1)^2 - x^2 = 2x + 1: - into +" in found
    assert all(found.values())


def test_what_is_decided_is_decided_again_with_each_change() -> None:
    statement = Exactly(every("0 <= x <= 1"), given=["x > 0"], says=["x² <= x"])
    found = changes(statement, verdict="decided")
    assert found["x^2 <= x: 2 into 1"] is False  # x <= x is true as well
    assert found["0 <= x <= 1 into 0 <= x <= 21/20"] is True
    assert found["without x > 0"] is False
    assert found["x^2 <= x: <= into <"] is True


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "claims.py"
    path.write_text(
        "from tightdp.claims import Exactly, Paper, every\n"
        "paper = Paper('mine')\n"
        "paper.claim('A1', '', Exactly(every('x > 1'), says=['x + 1 > 1']), verdict='decided')\n"
        "paper.claim('A2', '', Exactly(every('x'), says=['2x - x = x']), verdict='decided')\n",
        encoding="utf-8",
    )
    assert main(["claims", str(path), "--mutate", "--id", "A2"]) == 0
    assert capsys.readouterr().out == "  decided: 3 of 3 changes noticed, 100 %\n"
    assert main(["claims", str(path), "--mutate"]) == 1
    assert (
        "survives: mine A1 (decided): x > 1 into x >= 1: decided as well: it holds on the wider range, too"
        in capsys.readouterr().out
    )
    assert main(["claims", str(path), "--mutate", "--json", "--id", "A2"]) == 0
    result = json.loads(capsys.readouterr().out)["result"]
    assert result == {"scores": {"decided": {"changes": 3, "noticed": 3, "share": "1"}}, "survivors": []}
    assert scores([]) == {}
