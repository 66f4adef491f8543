"""Certificates that somebody who knows the rules would forge: every one is refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from certificate_oracle import is_true
from tightdp.session.certify import load_checker

checker = load_checker()
EXAMPLES = Path(__file__).parents[2] / "proofs" / "certificates"
ONE = ["client 0", "x0 = input 0", "output x0", "then"]
"""The record is published: no e^ε is enough."""


def example(name: str) -> dict[str, Any]:
    """A committed certificate."""
    found: dict[str, Any] = json.loads((EXAMPLES / f"{name}.json").read_text(encoding="utf-8"))
    return found


def made(lines: list[str], claim: dict[str, Any], rule: str = "datasets", **more: Any) -> dict[str, Any]:
    """A certificate for one client with one bit."""
    evidence = {"rule": rule, **more}
    given = {"clients": 1, "records": ["(0,)", "(1,)"], "neighbours": "replace-one"}
    return {"claim": {"kind": "privacy", "bound": "2", **claim}, "program": lines, "evidence": evidence, **given}


def smaller(given: dict[str, Any]) -> None:
    """Claim less than the tight ratio."""
    given["claim"] = {"kind": "privacy", "bound": "3"}


def false_form(given: dict[str, Any]) -> None:
    """Bound all forms of u by one that is nowhere negative and never proved."""
    smaller(given)
    given["evidence"]["cuts"] = [[[0, 1, 1, 1]] for _ in given["evidence"]["cuts"]]
    given["evidence"]["why"] = [[[1, 0, 10**9]] * 99 for _ in range(5)]


def false_form_after(given: dict[str, Any]) -> None:
    """Bound all by a form in v and w that the cut before is not asked for, because units stand there."""
    smaller(given)
    given["evidence"]["cuts"] = [[], [], [[3, 1, 4, 1, 5, 1, 6, 1]], []]
    given["evidence"]["why"] = [[[1, 0, 10**9]] * 99 for _ in range(5)]


def negative_multiplier(given: dict[str, Any]) -> None:
    """Turn kept forms round."""
    smaller(given)
    for part in given["evidence"]["why"]:
        for row in part:
            row[2::2] = [-abs(factor) for factor in row[2::2]]


def negative_times(given: dict[str, Any]) -> None:
    """Turn the form that is to be bounded round."""
    smaller(given)
    for part in given["evidence"]["why"]:
        for row in part:
            row[0] = -row[0]


def negative_index(given: dict[str, Any]) -> None:
    """Take forms from the end of a list."""
    for part in given["evidence"]["why"]:
        for row in part:
            row[1] = -1


def floats(given: dict[str, Any]) -> None:
    """Multiply so that rounding hides what is left."""
    for part in given["evidence"]["why"]:
        for row in part:
            row[0], row[2] = row[0] * 1e-300, row[2] * 1e300


def no_reasons(given: dict[str, Any]) -> None:
    """Give no reason at all."""
    given["evidence"]["why"] = [[] for _ in given["evidence"]["why"]]


def filtered_delta(given: dict[str, Any]) -> None:
    """Look at some outputs only where all count."""
    given["claim"] = {"kind": "violation", "bound": "1", "delta": "2/3"}
    given["evidence"]["rule"] = "witness"


def no_neighbours(given: dict[str, Any]) -> None:
    """Refute with two datasets that are no neighbours."""
    given["claim"] = {"kind": "violation", "bound": "5"}
    given["evidence"] |= {"rule": "witness", "witness": ["((0,), (0,), (0,))", "((1,), (1,), (0,))"]}


def other_records(given: dict[str, Any]) -> None:
    """Refute with a record that is not in the domain."""
    given["records"] = ["(0,)"]


def too_many_records(given: dict[str, Any]) -> None:
    """Refute with a dataset that is too long."""
    given["evidence"]["witness"] = [text[:-1] + ", (0,))" for text in given["evidence"]["witness"]]


FORGED: dict[str, tuple[str, Callable[[dict[str, Any]], None]]] = {
    function.__name__: (name, function)
    for name, function in [
        ("randomized_response_count_n3", smaller),
        ("above_threshold_n3", smaller),
        ("randomized_response_count_n3", false_form),
        ("randomized_response_count_n3", false_form_after),
        ("above_threshold_n3", negative_multiplier),
        ("above_threshold_n3", negative_times),
        ("above_threshold_n3", negative_index),
        ("above_threshold_n3", floats),
        ("above_threshold_n3", no_reasons),
        ("sparse_vector_n3", no_reasons),
        ("randomized_response_count_n3", filtered_delta),
        ("randomized_response_count_n3", no_neighbours),
        ("randomized_response_count_n3", other_records),
        ("randomized_response_count_n3", too_many_records),
    ]
}


@pytest.mark.parametrize("forgery", FORGED)
def test_forged_evidence_is_refused(forgery: str) -> None:
    name, change = FORGED[forgery]
    given = copy.deepcopy(example(name))
    checker.check(given)
    change(given)
    with pytest.raises((checker.Refused, LookupError, TypeError, ValueError)):
        checker.check(given)


TWICE = [*ONE[:2], "v1 = eq x0 7", "output x0 v1"]
LISTED = {"neighbours": ["(((0,),), ((1,),))"]}
DROPS = ["client 0", "x0 = input 0", "v1 = eq x0 0", "observe v1", "output "]
LATE = [*ONE[:2], "then x0", "v1 = eq x0 7", "output v1 x0"]
TWO = ["client 0", "x0 = input 0", "v1 = eq x0 1", "output v1"]
WORDS: dict[str, dict[str, Any]] = {
    "the-ratio-is-infinite": made(ONE, {}),
    "forms-for-an-infinite-ratio": made(ONE, {}, "forms", cuts=[[], []], why=[[], [], []], units=True),
    "forms-for-a-delta": made(ONE, {"delta": "1/2"}, "forms", cuts=[[], []], why=[[], [], []], units=True),
    "two-outputs-of-an-error": made(TWICE, {"kind": "accuracy", "beta": "0"}),
    "a-number-as-an-error": made(ONE, {"kind": "accuracy", "beta": "0"}),
    "what-is-published-of-an-error": made(
        TWO,
        {"kind": "accuracy", "beta": "0", "tight": True},
        witness=["((1,),)", "((1,),)"],
        published=["()", "(5,)"],
    ),
    "two-outputs": made(LATE, {}),
    "a-record-in-another-part": made(["x0 = input 0", "client 0 x0", "output x0"], {}),
    "a-client-twice": made(["client 0", "client 0", "x0 = input 0", "then", "output "], {}),
    "a-client-that-is-not-there": made(["client 1", "x0 = input 0", "then", "output "], {}),
    "a-client-that-is-a-truth-value": made(["client 0", "client False", "x0 = input 0", "then", "output "], {}),
    "a-value-that-was-forgotten": made(["client 0", "x0 = input 0", "then", "output x0"], {}),
    "a-value-that-never-was": made(["client 0", "then v7", "output v7"], {}),
    "a-part-of-all-among-others": made(['client "all"', "x0 = input 0", "client 0", "then"], {}),
    "odds-below-zero-for-this-T": made(["d1 = draw { 0 T-2 | 1 T^2 }", "output d1"], {}) | {"T": "exp(1/2)"},
    "odds-of-different-sums-but-for-a-float": made(
        [
            *ONE[:2],
            "d1 = draw x0 { 0: 0 T | 0: 1 1 ; 1: 0 1 | 1: 1 271828182845904523536028747135266249775724709369995 }",
        ],
        {"bound": "1"},
    ),
    "a-bound-that-is-just-too-small": made(
        [*ONE[:2], "d1 = draw x0 { 0: 0 T | 0: 1 1 ; 1: 0 1 | 1: 1 T }", "output d1"],
        {"bound": f"{271828182845904523536028747135266249775724709369995}/{10**50}"},
    ),
    "a-polynomial-that-is-an-infinite-bound": made(ONE, {"bound": "T/(T-T)"}),
    "an-observation-that-drops-one-dataset": made(DROPS, {}),
    "forms-with-observations": made(
        ["client 0", "x0 = input 0", "d1 = draw x0 { 0: True 1 | 0: False 9 | 1: True 10 }", "observe d1", "output "],
        {},
        "forms",
        cuts=[[]],
        why=[[], []],
        units=True,
    ),
    "a-bound-below-one": made(["output "], {"bound": "1/2"}),
    "a-negative-denominator": made(ONE, {"bound": "-4/-2"}),
    "a-negative-delta": made(ONE, {"delta": "-1"}),
    "an-infinite-bound": made(ONE, {"bound": "inf"}),
    "no-such-claim": made(["output "], {"kind": "privacies"}),
    "no-such-rule": made(["output "], {}, "trust"),
    "a-witness-for-all": made(["output "], {}, "witness"),
    "an-undefined-operand": made(["v1 = div 1 0", "v2 = eq v1 0", "output v2"], {}),
    "a-format-of-strings": made(['v1 = mod "%099999999d" 1', "output v1"], {}),
    "the-other-branch-is-missing": made(["client 0", "x0 = input 0", "v1 = case x0 { 0: 1 }", "output v1"], {}),
    "a-law-is-missing": made(["client 0", "x0 = input 0", "d1 = draw x0 { 0: 1 1 }", "output d1"], {}),
    "listed-pairs-for-forms": made(ONE, {}, "forms", cuts=[[], []], why=[[], [], []], units=True) | LISTED,
    "no-such-neighbours": made(["client 0", "x0 = input 0", "output "], {}) | {"neighbours": "none"},
}


@pytest.mark.parametrize("name", WORDS)
def test_false_or_meaningless_claims_are_refused(name: str) -> None:
    with pytest.raises((checker.Refused, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)):
        checker.check(WORDS[name])


@pytest.mark.parametrize(
    "change",
    [
        ('"bound": "4"', '"bound": "4", "bound": "4"'),
        ('"clients": 3', '"clients": 3.0'),
        ('"clients": 3', '"clients": NaN'),
        ('"clients": 3', '"clients": 1e3'),
        ('"clients": 3', '"clients": -1'),
        ('"clients": 3', '"clients": 1000000000'),
        ('"clients": 3', '"clients": "all"'),
    ],
)
def test_keys_that_stand_twice_and_numbers_that_are_not_whole_are_refused(
    change: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (EXAMPLES / "randomized_response_count_n3.json").read_text(encoding="utf-8")
    assert text.count(change[0]) == 1
    path = tmp_path / "forged.json"
    path.write_text(text.replace(*change), encoding="utf-8")
    assert checker.main(path) == 1
    assert capsys.readouterr().out.startswith("refused: ")


def test_pairs_that_are_listed_need_not_be_symmetric() -> None:
    lines = ["client 0", "x0 = input 0", "d1 = draw x0 { 0: 0 1 | 1: 0 1 | 1: 1 0 }", "output d1", "then"]
    given = made(lines, {"bound": "1"}) | {"neighbours": ["(((0,),), ((1,),))"]}
    assert is_true(given)
    assert checker.check(given)
