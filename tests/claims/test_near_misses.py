"""Near misses and mutation: what is false close to a statement has to be refuted by its instances."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from deciding import outcome

from tightdp.claims import Near, Paper, grid
from tightdp.claims.answers import mutated, noticed_share
from tightdp.cli import main
from tightdp.errors import ParameterError

HALF = grid(n=(1, 2, 3))


def mean(n: int) -> dict[str, Any]:
    """The mean of 0, ..., n."""
    return {"mean": Fraction(sum(range(n + 1)), n + 1)}


def test_the_statement_decides_what_the_check_measured() -> None:
    assert outcome(statement="`mean = n/2`", verdict="holds-on", instances=HALF, check=mean).differs == ""
    found = outcome(statement="`mean = n/3`", verdict="holds-on", instances=HALF, check=mean)
    assert found.verdict == "refuted"
    assert found.evidence.counterexample is not None
    assert found.evidence.counterexample.why == "mean = n/3: 1/2 = 1/3 does not hold."


def test_a_near_miss_has_to_be_refuted() -> None:
    right = {"statement": "`mean <= n/2`", "verdict": "holds-on", "instances": HALF, "check": mean}
    found = outcome(near=("n/2", "n/3"), **right)
    assert found.differs == ""
    assert found.evidence.near == "`n/3` in place of `n/2` (refuted at n = 1)"
    assert "no instance refutes the near miss" in outcome(near=("n/2", "n"), **right).differs


def test_a_near_miss_names_a_piece_that_is_there_once() -> None:
    with pytest.raises(ParameterError, match="stands 2 times"):
        outcome(statement="`n = n`", verdict="holds-on", instances=HALF, check=mean, near=("n", "m"))


def test_a_near_miss_outside_of_formulas_has_its_own_check() -> None:
    right = {"verdict": "holds-on", "instances": HALF, "check": lambda n: n > 0}
    assert outcome(near=Near("All are odd.", lambda n: n % 2 == 1), **right).differs == ""
    assert "no instance refutes" in outcome(near=Near("All are small.", lambda n: n < 9), **right).differs
    assert "decides by itself" in outcome(statement="Two.", near=("Two", "Three"), **right).differs


def test_other_instances_than_the_quick_ones_refute_it_too() -> None:
    paper = Paper("test2026")
    paper.claim("T1", "", "`mean <= n/2`", verdict="holds-on", instances=HALF, quick=1, check=mean, near=("n/2", "1/2"))
    (change, *_) = mutated([paper])
    assert change.noticed


def test_an_instance_outside_of_a_condition_is_an_error_and_is_noticed_when_changed() -> None:
    arguments = {"verdict": "holds-on", "instances": HALF, "check": mean}
    assert "lies outside the claim" in outcome(statement="For `n >= 2`: `mean = n/2`", **arguments).differs
    right = outcome(statement="For `n >= 1`: `mean = n/2`", near=("n >= 1", "n >= 2"), **arguments)
    assert right.differs == ""


def test_the_brute_force_is_not_the_check() -> None:
    def wrong(n: int) -> bool:
        return n > 1

    found = outcome(verdict="refuted", instances=HALF, check=wrong, brute=wrong, at={"n": 1})
    assert found.differs == "its brute force is the check itself"


def test_the_share_that_is_noticed() -> None:
    paper = Paper("test2026")
    paper.claim("T1", "", "`mean = n/2`", verdict="holds-on", instances=HALF, check=mean)
    paper.claim("T2", "", "`mean <= 100n`", verdict="holds-on", instances=HALF, check=mean)
    paper.claim("T3", "", "Words.", verdict="holds-on", instances=HALF, check=lambda n: True)
    found = list(mutated([paper]))
    assert [(change.id, change.what, change.noticed) for change in found] == [
        ("T1", "mean = n/2: = into ≠", True),
        ("T1", "mean = n/2: 2 into 4 or 1", True),
        ("T2", "mean <= 100n: <= into >", True),
        ("T2", "mean <= 100n: 100 into 200 or 50", False),
        ("T3", "no formula and no near miss", False),
    ]
    assert noticed_share(found) == Fraction(3, 5)
    assert noticed_share([]) is None
    assert list(mutated([paper], ["T2"])) == found[2:4]


def test_a_loose_claim_is_changed_by_more() -> None:
    paper = Paper("test2026")
    paper.claim("T1", "", "`mean <= 100n`", verdict="holds-on", instances=HALF, check=mean, loose=1000)
    assert all(change.noticed for change in mutated([paper]))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "claims.py"
    path.write_text(
        "from tightdp.claims import Paper, grid\n"
        "paper = Paper('mine')\n"
        "paper.claim('A1', '', '`n = 2n - n`', verdict='holds-on', instances=grid(n=(1, 2)), check=lambda n: {})\n"
        "paper.claim('A2', '', '`n <= 9n`', verdict='holds-on', instances=grid(n=(1, 2)), check=lambda n: {})\n",
        encoding="utf-8",
    )
    assert main(["claims", str(path), "--mutate"]) == 1
    assert (
        capsys.readouterr().out
        == "  not noticed: mine A2: n <= 9n: 9 into 18 or (9/2)\n  3 of 4 changes noticed, 75 %\n"
    )
    assert main(["claims", str(path), "--mutate", "--json", "--id", "A1"]) == 0
    result = json.loads(capsys.readouterr().out)["result"]
    assert result == {"changes": 2, "noticed": 2, "noticed_share": "1", "unnoticed": []}
