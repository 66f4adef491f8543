"""The recorded answers: some of them are asked again, and the comparison sees what it is to see."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
sys.path.append(str(BENCHMARKS))

from net import brute, switches  # noqa: E402
from net.asking import ask  # noqa: E402
from net.comparing import verdicts  # noqa: E402
from net.sources import bound  # noqa: E402

RECORDED = [json.loads(line) for line in (BENCHMARKS / "answers.jsonl").read_text(encoding="utf-8").splitlines()]
QUICK = [row for row in RECORDED if row["seconds"] < 0.08]
EVERY = max(len(QUICK) // 80, 1)


def response(question: str, **arguments: Any) -> dict[str, Any]:
    """A row about two clients of randomized response."""
    program = {"source": "programs/randomized_response.py", "mechanism": "randomized_response"}
    return {**program, "bind": {"n": 2, "lam": "1/5"}, "question": question, "arguments": arguments}


def kinds(before: dict[str, Any], after: dict[str, Any], seconds: float = 0.1) -> list[str]:
    """What the comparison says of an answer that was recorded with 0.1 s."""
    row = {"answer": before, "seconds": 0.1}
    return [verdict.kind for verdict in verdicts(row, {"result": {**after, "seconds": seconds}})]


@pytest.mark.parametrize("row", QUICK[::EVERY], ids=lambda row: f"{row['mechanism']}-{row['question']}")
def test_some_recorded_answers_are_found_again(row: dict[str, Any]) -> None:
    found = ask(row)
    assert [verdict for verdict in verdicts(row, {"result": found}) if verdict.kind != "slower"] == []


def test_a_part_of_the_table_was_checked_by_brute_force() -> None:
    checked = [row for row in RECORDED if row["verified"].startswith("brute force")]
    assert len(RECORDED) > 1000
    assert len(checked) > len(RECORDED) / 2
    assert not [row for row in RECORDED if row["verified"].startswith("wrong")]


def test_an_exact_answer_stays_as_it_is() -> None:
    four = {"status": "exact", "values": {"exp_epsilon": "4"}}
    assert kinds(four, four) == []
    assert kinds(four, {"status": "exact", "values": {"exp_epsilon": "5"}}) == ["different"]
    assert kinds(four, {"status": "bounded", "ends": {"exp_epsilon": ["3", "5"]}}) == ["no longer exact"]
    assert kinds(four, {**four, "witness": "wrong: 3"}) == ["witness"]
    assert kinds(four, four, seconds=1.5) == ["slower"]
    assert [verdict.kind for verdict in verdicts({"answer": four, "seconds": 0.1}, {"late": True})] == ["late"]


def test_an_enclosure_may_only_become_tighter() -> None:
    wide = {"status": "bounded", "ends": {"delta": ["1/4", "1/2"]}}
    assert kinds(wide, {"status": "bounded", "ends": {"delta": ["1/3", "1/2"]}}) == []
    assert kinds(wide, {"status": "bounded", "ends": {"delta": ["1/5", "1/2"]}}) == ["wider"]
    assert kinds(wide, {"status": "bounded", "ends": {"delta": ["2/3", "3/4"]}}) == ["outside"]
    assert kinds(wide, {"status": "exact", "values": {"delta": "1/3"}}) == ["better"]
    assert kinds(wide, {"status": "exact", "values": {"delta": "2/3"}}) == ["better", "outside"]


@pytest.mark.parametrize(
    "row",
    [
        response("privacy"),
        response("privacy", delta="1/10"),
        response("delta", epsilon=1),
        response("curve"),
        response("tradeoff"),
        response("renyi", order=2),
        response("distribution", x=-1),
        response("likelihood", x=0, x_prime=-1),
        response("verify", exp_epsilon=3),
        response("efficacy"),
        response("guessing", guesser="2/3"),
    ],
    ids=lambda row: row["question"],
)
def test_brute_force_confirms_and_contradicts(row: dict[str, Any]) -> None:
    found = ask(row)
    assert brute.verify(bound(row), [(row, found)]) == ["brute force"]
    wrong = {**found, "values": dict.fromkeys(found["values"], "1/7")}
    (verdict,) = brute.verify(bound(row), [(row, wrong)])
    assert verdict.startswith("wrong")


def test_every_switch_has_something_to_switch() -> None:
    for places in switches.SWITCHES.values():
        for where, function, _ in places:
            assert callable(getattr(switches.owner(where), function))
