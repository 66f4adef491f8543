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


def test_audits_take_limits(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("audit", "--canaries", "100", "--guesses", "50", "--correct", "40")
    status, printed, _ = run(capsys, *asked, "--timeout", "60", "--max-memory", "4G")
    assert (status, printed) == run(capsys, *asked)[:2]
    assert run(capsys, *asked, "--timeout", "soon")[0] == 2
