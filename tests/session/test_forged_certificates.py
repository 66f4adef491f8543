"""Certificates that somebody who knows the rules would forge: every one is refused."""

from __future__ import annotations

import copy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from certificate_bombs import BOMBS, HARMLESS
from certificate_oracle import is_true
from forgeries import EXAMPLES, ONE, PAIR, REFUSED, T, every, example, law, made, wrong
from tightdp.session.certify import load_checker

checker = load_checker()
CHECKER = Path(__file__).parents[2] / "proofs" / "checker.py"
FAILURES = (checker.Refused, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def forget(given: dict[str, Any]) -> None:
    """Claim nothing about what is attained."""
    given["claim"].pop("tight", None)
    given["evidence"].pop("witness", None)
    given["evidence"].pop("published", None)


def smaller(given: dict[str, Any]) -> None:
    """Claim less than the tight ratio."""
    given["claim"]["bound"] = 3
    forget(given)


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
    for reasons in given["evidence"]["why"]:
        for row in reasons:
            row[2::2] = [-abs(factor) for factor in row[2::2]]


def negative_times(given: dict[str, Any]) -> None:
    """Turn the form that is to be bounded round."""
    smaller(given)
    for reasons in given["evidence"]["why"]:
        for row in reasons:
            row[0] = -row[0]


def negative_index(given: dict[str, Any]) -> None:
    """Take forms from the end of a list."""
    for reasons in given["evidence"]["why"]:
        for row in reasons:
            row[1] = -1


def floats(given: dict[str, Any]) -> None:
    """Multiply so that rounding hides what is left."""
    for reasons in given["evidence"]["why"]:
        for row in reasons:
            row[0], row[2] = row[0] * 1e-300, row[2] * 1e300


def no_reasons(given: dict[str, Any]) -> None:
    """Give no reason at all."""
    given["evidence"]["why"] = [[] for _ in given["evidence"]["why"]]


def refuted(given: dict[str, Any], witness: Any, **claim: Any) -> None:
    """Claim that a pair shows something."""
    forget(given)
    given["claim"] |= {"kind": "violation", **claim}
    given["evidence"] = {"rule": "witness", "witness": witness}


def filtered_delta(given: dict[str, Any]) -> None:
    """Look at some outputs only where all count."""
    published = given["evidence"]["published"]
    refuted(given, [[[0], [0], [0]], [[1], [0], [0]]], bound=1, delta="2/3")
    given["evidence"]["published"] = published


def no_neighbours(given: dict[str, Any]) -> None:
    """Refute with two datasets that are no neighbours."""
    refuted(given, [[[0], [0], [0]], [[1], [1], [0]]], bound=5)


def other_records(given: dict[str, Any]) -> None:
    """Refute with a record that is not in the domain."""
    given["claim"]["records"] = [[0], [2]]


def too_many_records(given: dict[str, Any]) -> None:
    """Refute with a dataset that is too long."""
    given["evidence"]["witness"] = [[*x, [0]] for x in given["evidence"]["witness"]]


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
    with pytest.raises(FAILURES):
        checker.check(given)


@pytest.mark.parametrize("name", REFUSED)
def test_false_empty_and_meaningless_claims_are_refused(name: str) -> None:
    with pytest.raises(FAILURES):
        checker.check(copy.deepcopy(REFUSED[name]))


def test_what_the_forgeries_begin_with_is_accepted() -> None:
    """So each is refused for what it changes."""
    noisy = [*ONE, law((2, 1), (1, 2))]
    assert checker.check(made(noisy, "d1")).endswith("bound 2")
    assert checker.check(made(noisy, "d1", rule="forms")).endswith("bound 2")
    assert checker.check(made(noisy, "d1", tight=True, witness=PAIR)).endswith("bound 2, attained")
    assert checker.check(made([["v1", "add", "1/2", 0]], "v1"))
    assert checker.check(made([], bound=T, root=1)).endswith("; nothing is published")
    assert checker.check(made([], delta=1)).endswith(", which is always so; nothing is published")
    assert checker.check(wrong([["v1", "eq", 0, 1]], "v1"))
    assert "an upper bound" in checker.check(every())


def test_a_check_that_fails_is_named_as_the_reason() -> None:
    for name in ("a-check-that-fails", "a-condition-that-is-a-number"):
        with pytest.raises(checker.Refused, match="in some run a check fails"):
            checker.check(copy.deepcopy(REFUSED[name]))


@pytest.mark.parametrize(
    "change",
    [
        ('"bound": 4', '"bound": 4, "bound": 4'),
        ('"n": 3', '"n": 3.0'),
        ('"n": 3', '"n": NaN'),
        ('"n": 3', '"n": 1e3'),
        ('"n": 3', '"n": -1'),
        ('"n": 3', '"n": 03'),
        ('"n": 3', '"n": 1000000000'),
        ('"n": 3', '"n": "all"'),
        ('"bound": 4', '"bound": -0'),
        ('"bound": 4', '"bound": 4\r'),
        ('"bound": 4', '"bound": 4\t'),
        ('"tight": true', '"tight": true, "\\u001b[2K\\raccepted": true'),
        ('"tight": true', '"tight": true, "note": "\x1b[2K\raccepted: privacy"'),
        ('"tight": true', '"tight": true, "\u202e": 1'),
        ('"v1"', '"v\u0661"'),
        ('"replace-one"', '"replace-one\\u001b[1A"'),
        ('"replace-one"', '"\\u202eeno-ecalper"'),
        ('"sub"', '"\\u0455ub"'),
    ],
)
def test_what_is_no_strict_file_is_refused_in_plain_characters(
    change: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (EXAMPLES / "randomized_response_count_n3.json").read_text(encoding="utf-8")
    assert change[0] in text
    path = tmp_path / "forged.json"
    path.write_bytes(text.replace(*change, 1).encode())
    assert checker.main(path) == 1
    said = capsys.readouterr().out
    assert said.startswith("refused: ")
    assert said.count("\n") == 1
    assert said.removesuffix("\n").isascii()
    assert said.removesuffix("\n").isprintable()


def test_pairs_that_are_listed_need_not_be_symmetric() -> None:
    certificate = made([*ONE, law((1, 1), (0, 2))], "d1", neighbours=[[[[1]], [[0]]]])
    assert is_true(certificate)
    assert checker.check(certificate)


MEASURE = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(status, used.ru_utime + used.ru_stime, used.ru_maxrss)
"""
"""Runs the checker from a small process, since a child begins with the memory of its parent."""
FAST = ["quotes", "open-brackets", "one-long-number", "values-that-nest", "values-that-grow", "states-that-double",
        "long-odds", "many-forms", "a-long-guarantee", "outputs-of-odds-of-one-hash", "cases-of-long-values",
        "forms-that-meet-nothing"]  # fmt: skip


@pytest.mark.parametrize(
    "name", [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in BOMBS]
)
def test_bombs_end_soon_and_in_little_memory(name: str, tmp_path: Path) -> None:
    """Two seconds on an idle machine; the processor time is allowed to be twice that."""
    path = tmp_path / "bomb.json"
    path.write_text(BOMBS[name](), encoding="utf-8")
    words = [sys.executable, "-I", "-c", MEASURE, sys.executable, "-I", str(CHECKER), str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    said, status, seconds, kilobytes = done.stdout.rsplit(maxsplit=3)
    assert int(status) == (0 if name in HARMLESS else 1), said
    assert said.startswith("accepted: " if name in HARMLESS else "refused: ")
    assert float(seconds) < 4
    assert int(kilobytes) < 200_000
