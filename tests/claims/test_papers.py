"""The claims of the five papers, and those found beside them: every one can fail, and all are as recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from tightdp.claims import Paper, check_file
from tightdp.claims.answers import mutated, scores
from tightdp.claims.model import Claim, Statement
from tightdp.claims.run import load_papers

PROOFS = Path(__file__).parent.parent.parent / "proofs"
PAPERS = ("cheu2019", "found", "keinan2025", "mahloujifar2024", "oakley2024", "xiang2025")
ROWS = {
    "cheu2019": ("C", 26),
    "found": ("F", 1),
    "keinan2025": ("K", 33),
    "mahloujifar2024": ("M", 9),
    "oakley2024": ("O", 15),
}
BESIDE = {
    "cheu2019": {"C29"},
    "keinan2025": {"K21d", "K22e", "K24c", "K34"},
    "mahloujifar2024": {"M11"},
    "oakley2024": {"O12e", "O15c"},
}
"""What else is false as printed."""


def load(name: str) -> Paper:
    (found,) = load_papers(PROOFS / name)
    return found


def held(claim: Claim) -> list[Statement]:
    """What a claim holds to be true."""
    every = [claim] if claim.corrected is None else [claim, claim.corrected]
    return [statement for statement in every if statement.verdict in ("decided", "argued", "holds on")]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", PAPERS)
def test_every_printed_row_is_there(name: str) -> None:
    letter, count = ROWS.get(name, ("X", 10))
    assert {item.id for item in load(name).top} == {f"{letter}{number}" for number in range(1, count + 1)} | BESIDE.get(
        name, set()
    )


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", PAPERS)
def test_whatever_is_held_to_be_true_is_one_object_or_has_instances(name: str) -> None:
    for claim in load(name).items:
        if isinstance(claim, Claim):
            for statement in held(claim):
                assert (statement.exact is not None) == (statement.verdict == "decided"), claim.id
                assert statement.exact or statement.instances(quick=True), claim.id
                assert (statement.proof is not None) == (statement.verdict == "argued"), claim.id


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", PAPERS)
def test_every_counterexample_has_a_brute_force_of_its_own(name: str) -> None:
    for claim in load(name).items:
        if isinstance(claim, Claim) and claim.verdict in ("refuted", "corrected"):
            assert claim.brute is not None, claim.id
            assert claim.brute is not claim.check, claim.id


def test_the_claims_of_oakley2024_are_as_recorded() -> None:
    check_file(PROOFS / "oakley2024", quick=True)


@pytest.mark.slow(seconds=4)
def test_changes_of_what_is_decided_of_oakley2024_are_noticed() -> None:
    _, _, share = scores(list(mutated([load("oakley2024")])))["decided"]
    assert share >= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", PAPERS)
def test_all_claims_in_full(name: str) -> None:
    check_file(PROOFS / name)
