"""Labels come from evidence, and counterexamples are confirmed by code of their own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from deciding import by_words, itself, outcome, rr, without_reader, without_steps, without_words, wrong_step

from tightdp.claims import Correction, Paper, brute, grid
from tightdp.claims.brute import SharedCodeError, without_engine
from tightdp.claims.run import run_paper
from tightdp.errors import ParameterError

FIVE = grid(n=range(5))


def other(n: int) -> dict[str, Any]:
    """The same, measured otherwise."""
    return {"m": sum(1 for _ in range(n))}


def test_instances_alone_are_never_an_argument() -> None:
    found = outcome("`m < 9/2`", verdict="holds on", instances=FIVE, check=itself)
    assert (found.verdict, found.evidence.checked, found.differs) == ("holds on", 5, "")


def test_a_written_proof_is_argued() -> None:
    found = outcome("`m < 9/2`", verdict="argued", proof=by_words, instances=FIVE, check=itself)
    assert (found.verdict, found.differs) == ("argued", "")
    assert [step.what for step in found.evidence.steps] == ["x² + 1 > 0"]


@pytest.mark.parametrize("proof", [wrong_step, without_steps, without_words, without_reader])
def test_a_broken_argument_is_none(proof: Callable[[], None]) -> None:
    found = outcome("`m < 9/2`", verdict="argued", proof=proof, instances=FIVE, check=itself)
    assert found.verdict == "open"
    assert "ProofError" in found.differs


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"proof": by_words}, "a proof without instances"),
        ({"proof": by_words, "instances": FIVE, "check": lambda n: {"m": 0}}, "they say nothing"),
        ({"proof": by_words, "instances": FIVE, "check": lambda n: True}, "return the quantities"),
        ({"proof": by_words, "instances": FIVE}, "no check"),
        ({"proof": by_words, "check": itself}, "no instances"),
    ],
)
def test_a_made_up_claim_with_a_step_that_always_holds_has_no_label(arguments: dict[str, Any], says: str) -> None:
    found = outcome("`0 = 0·m`", verdict="argued", **arguments)
    assert found.verdict == "open"
    assert says in found.differs


def test_a_sentence_without_a_formula_has_no_label() -> None:
    assert "says no formula" in outcome("It is so.", verdict="holds on", instances=FIVE, check=itself).differs


def test_a_failing_instance_outweighs_an_argument() -> None:
    found = outcome("`m < 3`", verdict="argued", proof=by_words, instances=FIVE, check=itself)
    assert found.verdict == "refuted"
    assert "it fails at n = 3" in found.differs


def test_the_first_instance_that_fails_is_the_counterexample() -> None:
    found = outcome("`m < 4`", verdict="refuted", instances=grid(n=range(9)), check=itself, brute=other, at={"n": 4})
    assert (found.verdict, found.differs) == ("refuted", "")
    example = found.evidence.counterexample
    assert example is not None
    assert (example.instance, example.numbers, example.confirmed) == ({"n": 4}, {"m": 4}, True)
    assert example.why == "`m < 4` fails: 4 < 4 does not hold."


def test_another_counterexample_than_the_recorded_one_differs() -> None:
    found = outcome("`m < 4`", verdict="refuted", instances=grid(n=(7, 4)), check=itself, brute=other, at={"n": 4})
    assert "the counterexample is n = 7" in found.differs


def test_a_counterexample_lies_inside_of_all_conditions() -> None:
    arguments = {"instances": FIVE, "check": itself, "brute": other, "at": {"n": 4}}
    assert "lies outside the claim" in outcome("If `m >= 2` then `m < 4`.", verdict="refuted", **arguments).differs


@pytest.mark.parametrize(
    ("again", "says"),
    [
        (lambda n: {"m": -1}, "does not confirm"),
        (lambda n: {"m": n + 1}, "independent code finds m = 1"),
        (lambda n: {"m": rr.bind(n=1, lam="1/5").privacy()}, "SharedCodeError"),
        (lambda n: itself(n), "share code: deciding.itself"),
        (None, "without `brute`"),
    ],
)
def test_a_refutation_needs_code_of_its_own(again: Any, says: str) -> None:
    found = outcome("`m < 0`", verdict="refuted", instances=grid(n=(0,)), check=itself, brute=again, at={"n": 0})
    assert says in found.differs


def test_corrections_have_their_own_label() -> None:
    arguments = {"instances": grid(n=(4,)), "check": itself, "brute": other, "at": {"n": 4}}
    right = Correction("`m < 9/2`", verdict="holds on", instances=FIVE, check=itself)
    assert outcome("`m < 4`", verdict="corrected", corrected=right, **arguments).differs == ""
    wrong = Correction("`m < 2`", verdict="holds on", instances=FIVE, check=itself)
    found = outcome("`m < 4`", verdict="corrected", corrected=wrong, **arguments)
    assert found.verdict == "refuted"
    assert "its correction is refuted" in found.differs


def test_a_disproof_refutes_a_statement_about_limits() -> None:
    found = outcome("It tends to 0.", verdict="refuted", disproof=by_words, brute=other, at={"n": 2})
    assert (found.verdict, found.differs) == ("refuted", "")


def test_open_needs_nothing() -> None:
    assert outcome(verdict="open", reason="too hard").differs == ""


def test_rows_combine_their_parts() -> None:
    paper = Paper("test2026")
    paper.claim("R1a", "", "`m < 9/2`", verdict="argued", proof=by_words, instances=FIVE, check=itself)
    paper.claim("R1b", "", "`m < 9/2`", verdict="holds on", instances=FIVE, check=itself)
    paper.claim("R1c", "", "c", verdict="refuted", disproof=by_words, brute=other, at={"n": 1}, extra=True)
    paper.row("R1", "Thm 1", "abc", parts=("R1a", "R1b", "R1c"))
    (found,) = run_paper(paper)
    assert (found.id, found.verdict, [part.id for part in found.parts]) == ("R1", "holds on", ["R1a", "R1b", "R1c"])
    (only,) = run_paper(paper, ids=["R1b"])
    assert only.id == "R1b"


def test_ids_and_verdicts_are_checked() -> None:
    paper = Paper("test2026")
    paper.claim("T1", "", "s", verdict="open")
    with pytest.raises(ParameterError, match="twice"):
        paper.claim("T1", "", "s", verdict="open")
    with pytest.raises(ParameterError, match="is not a verdict"):
        paper.claim("T2", "", "s", verdict="proved")
    with pytest.raises(ParameterError, match="has no claim T9"):
        paper.find("T9")


def test_the_guard_lets_the_interpreter_pass_and_stops_the_engine() -> None:
    with without_engine():
        assert brute.exp_epsilon(rr, 2, lam="1/5") == 4
    with pytest.raises(SharedCodeError), without_engine():
        rr.bind(n=1, lam="1/5").privacy()
    assert sys.getprofile() is None


def test_the_tail_of_a_binomial_law() -> None:
    assert brute.tail(3, FIVE[1]["n"] / 2, 2) == FIVE[1]["n"] / 2
