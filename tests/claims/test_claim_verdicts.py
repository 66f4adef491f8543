"""Verdicts come from evidence, and counterexamples are confirmed without the engine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from deciding import below, by_words, outcome, rr, without_steps, without_words, wrong_step

from tightdp.claims import (
    Correction,
    Fails,
    Paper,
    brute,
    grid,
)
from tightdp.claims.brute import SharedCodeError, without_engine
from tightdp.claims.run import run_paper
from tightdp.errors import ParameterError


def test_instances_alone_are_never_a_proof() -> None:
    found = outcome(verdict="holds-on", instances=grid(n=range(5)), check=below(9))
    assert (found.verdict, found.evidence.checked, found.differs) == ("holds-on", 5, "")


def test_a_proof_is_a_proof() -> None:
    found = outcome(verdict="proved", proof=by_words)
    assert (found.verdict, found.differs) == ("proved", "")
    assert found.evidence.argument == "Squares are not negative."
    assert [step.what for step in found.evidence.steps] == ["x² + 1 > 0"]


@pytest.mark.parametrize("proof", [wrong_step, without_steps, without_words])
def test_a_broken_proof_proves_nothing(proof: Callable[[], None]) -> None:
    found = outcome(verdict="proved", proof=proof)
    assert found.verdict == "open"
    assert "ProofError" in found.differs


def test_a_failing_instance_outweighs_a_proof() -> None:
    found = outcome(verdict="proved", proof=by_words, instances=grid(n=range(5)), check=below(3))
    assert found.verdict == "refuted"
    assert "it fails at n = 3" in found.differs


def test_the_first_instance_that_fails_is_the_counterexample() -> None:
    found = outcome(verdict="refuted", instances=grid(n=range(9)), check=below(4), brute=below(4), at={"n": 4})
    assert (found.verdict, found.differs) == ("refuted", "")
    example = found.evidence.counterexample
    assert example is not None
    assert (example.instance, example.numbers, example.confirmed) == ({"n": 4}, {"found": 4}, True)


def test_another_counterexample_than_the_recorded_one_differs() -> None:
    found = outcome(verdict="refuted", instances=grid(n=(7, 4)), check=below(4), brute=below(4), at={"n": 4})
    assert "the counterexample is n = 7" in found.differs


def test_counterexamples_are_simplified() -> None:
    found = outcome(
        verdict="refuted",
        instances=grid(n=(9,)),
        check=below(4),
        brute=below(4),
        simplify=lambda n: [{"n": n - 1}],
        at={"n": 4},
    )
    assert found.differs == ""


@pytest.mark.parametrize(
    ("again", "says"),
    [
        (lambda n: True, "does not confirm"),
        (lambda n: Fails(found=n + 1), "brute force finds found = 1"),
        (lambda n: rr.bind(n=1, lam="1/5").privacy().exp_epsilon == 0, "SharedCodeError"),
        (None, "without `brute`"),
    ],
)
def test_a_refutation_needs_brute_force(again: Any, says: str) -> None:
    found = outcome(verdict="refuted", instances=grid(n=(0,)), check=lambda n: Fails(found=n), brute=again, at={"n": 0})
    assert says in found.differs


def test_corrections_have_their_own_verdict() -> None:
    right = Correction("It is below 9.", verdict="holds-on", instances=grid(n=range(9)), check=below(9))
    arguments = {"instances": grid(n=(4,)), "check": below(4), "brute": below(4), "at": {"n": 4}}
    assert outcome(verdict="corrected", corrected=right, **arguments).differs == ""
    wrong = Correction("It is below 2.", verdict="holds-on", instances=grid(n=range(9)), check=below(2))
    found = outcome(verdict="corrected", corrected=wrong, **arguments)
    assert found.verdict == "refuted"
    assert "its correction is refuted" in found.differs


def test_a_disproof_refutes_a_statement_about_limits() -> None:
    found = outcome(verdict="refuted", disproof=by_words, brute=below(1), at={"n": 2})
    assert (found.verdict, found.differs) == ("refuted", "")


def test_open_needs_nothing() -> None:
    assert outcome(verdict="open", reason="too hard").differs == ""


@pytest.mark.parametrize("answer", [None, 1, "yes"])
def test_a_check_has_to_answer(answer: Any) -> None:
    assert "or True where" in outcome(verdict="holds-on", instances=grid(n=(1,)), check=lambda n: answer).differs


def test_instances_without_check_and_check_without_instances() -> None:
    assert "no check" in outcome(verdict="holds-on", instances=grid(n=(1,))).differs
    assert "no instances" in outcome(verdict="holds-on", check=below(1)).differs


def test_rows_combine_their_parts() -> None:
    paper = Paper("test2026")
    paper.claim("R1a", "", "a", verdict="proved", proof=by_words)
    paper.claim("R1b", "", "b", verdict="holds-on", instances=grid(n=(1,)), check=below(9))
    paper.claim("R1c", "", "c", verdict="refuted", disproof=by_words, brute=below(0), at={"n": 1}, extra=True)
    paper.row("R1", "Thm 1", "abc", parts=("R1a", "R1b", "R1c"))
    (found,) = run_paper(paper)
    assert (found.id, found.verdict, [part.id for part in found.parts]) == (
        "R1",
        "holds-on",
        ["R1a", "R1b", "R1c"],
    )
    (only,) = run_paper(paper, ids=["R1b"])
    assert only.id == "R1b"


def test_ids_and_verdicts_are_checked() -> None:
    paper = Paper("test2026")
    paper.claim("T1", "", "s", verdict="open")
    with pytest.raises(ParameterError, match="twice"):
        paper.claim("T1", "", "s", verdict="open")
    with pytest.raises(ParameterError, match="is not a verdict"):
        paper.claim("T2", "", "s", verdict="true")
    with pytest.raises(ParameterError, match="has no claim T9"):
        paper.find("T9")


def test_the_guard_lets_the_interpreter_pass_and_stops_the_engine() -> None:
    with without_engine():
        assert brute.exp_epsilon(rr, 2, lam="1/5") == 4
    with pytest.raises(SharedCodeError), without_engine():
        rr.bind(n=1, lam="1/5").privacy()
    assert sys.getprofile() is None
