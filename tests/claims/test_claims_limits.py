"""Claims and audits end at a limit, and tell what is decided until then."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from command_line import run
from tightdp.claims import command
from tightdp.errors import LimitError

PROOFS = str(Path(__file__).parents[2] / "proofs")


def stopped_after_one(work: Any, tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    yield 0, work(tasks[0])
    raise LimitError("the query took more than 5 s", "allow more with --timeout")


def test_what_is_decided_before_a_limit_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    parser = ArgumentParser()
    command.add_arguments(parser)
    status = command.run(
        parser.parse_args([PROOFS, "--quick", "--json", "--id", "C1", "--id", "C2"]), stopped_after_one
    )
    printed = capsys.readouterr()
    assert status == 3
    assert "took more than 5 s: the rest is not decided" in printed.err
    answer = json.loads(printed.out)
    assert answer["status"] == "unresolved"
    assert [claim["id"] for claim in answer["result"]["claims"]] == ["C1"]


def test_claims_end_at_a_limit(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, said = run(capsys, "claims", PROOFS, "--timeout", "1/100", "--jobs", "2")
    assert status == 3
    assert "took more than 0.01 s" in said


SLOW = """
import time
from tightdp.claims import Paper, grid

paper = Paper("slow2026")


@paper.claim("A1", "Thm 1", "It is odd: `rest = 1`.", verdict="holds on", instances=grid(n=(1, 3)))
def odd(n):
    return {"rest": n % 2}


@paper.claim("A2", "Thm 2", "It takes long: `m = n`.", verdict="holds on", instances=grid(n=range(1, 400)))
def long(n):
    time.sleep(0.05)
    return {"m": n}
"""


@pytest.mark.slow(seconds=6)
def test_a_claim_that_a_limit_cuts_short_is_not_one_that_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "claims.py"
    file.write_text(SLOW, encoding="utf-8")
    status, printed, said = run(capsys, "claims", str(file), "--timeout", "4", "--jobs", "1")
    assert status == 3
    assert "A1" in printed
    assert "1 claim, all as recorded" in printed
    assert "DIFFERS" not in printed
    assert "the rest is not decided" in said


def test_audits_take_limits(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("audit", "--canaries", "100", "--guesses", "50", "--correct", "40")
    status, printed, _ = run(capsys, *asked, "--timeout", "60", "--max-memory", "4G")
    assert (status, printed) == run(capsys, *asked)[:2]
    assert run(capsys, *asked, "--timeout", "soon")[0] == 2
