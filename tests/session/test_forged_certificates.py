"""Certificates that somebody who knows the rules would forge: every one is refused."""

from __future__ import annotations

import copy
import subprocess
import sys
from pathlib import Path

import pytest

from certificate_bombs import BOMBS, HARMLESS, MEASURE, part, program, sealed, straight
from certificate_oracle import is_true
from forged_evidence import FORGED
from forgeries import (
    COIN,
    EXAMPLES,
    MESSAGES,
    ONE,
    PAIR,
    RANGE,
    REFUSED,
    SOME,
    SOME_BY_T,
    T,
    curve,
    every,
    example,
    guessed,
    law,
    made,
    wrong,
)
from tightdp.session.certify import load_checker

checker = load_checker()
CHECKER = Path(__file__).parents[2] / "proofs" / "checker.py"
FAILURES = (checker.Refused, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@pytest.mark.parametrize("forgery", FORGED)
def test_forged_evidence_is_refused(forgery: str) -> None:
    name, change = FORGED[forgery]
    given = copy.deepcopy(example(name))
    checker.check(given)
    change(given)
    with pytest.raises(FAILURES):
        checker.check(given)


@pytest.mark.parametrize("name", REFUSED)
def test_false_empty_and_meaningless_claims_are_refused_in_words(name: str) -> None:
    with pytest.raises(checker.Refused):
        checker.check(sealed(copy.deepcopy(REFUSED[name])))


def test_what_the_forgeries_begin_with_is_accepted() -> None:
    """So each is refused for what it changes."""
    noisy = [*ONE, law((2, 1), (1, 2))]
    assert checker.check(made(noisy, "d1")).endswith("; by a theorem")
    assert checker.check(made(noisy, "d1", rule="forms")).endswith("; by a theorem")
    assert checker.check(made(noisy, "d1", attained=True, witness=PAIR)).endswith(", attained; by a theorem")
    assert checker.check(made([["v1", "add", "1/2", 0]], "v1"))
    assert "; nothing is published; " in checker.check(made([], bound=T, root=1))
    assert ", which is always so; nothing is published; " in checker.check(made([], delta=1))
    assert checker.check(made(noisy, "d1", question="moment", order="3/2", bound="1179/1000"))
    assert checker.check(made([], bound="1/2", delta="1/2", attained=True, witness=PAIR))
    assert checker.check(wrong([["v1", "eq", 0, 1]], "v1"))
    assert checker.check(curve([[1, "1/3"], [2, 0]], [PAIR, PAIR])).endswith(", attained; by a theorem")
    true = {"bound": {"above": [1, 0, 1], "below": [0, 1]}, "unknown": RANGE}
    assert checker.check(made([*ONE, law((T, 1), (1, T))], "d1", **true))
    assert checker.check(made([*ONE, law((T, 1), (1, T))], "d1", rule="forms", **true))
    assert "an upper bound" in checker.check(every())
    assert "an upper bound" in checker.check(made(noisy, "d1", question=MESSAGES))
    share = {"above": [1, 2], "below": [2, 2]}
    for each in (guessed("7/8", SOME), guessed("7/8", COIN, SOME), guessed(share, SOME_BY_T, unknown=RANGE)):
        assert is_true(each)
        assert checker.check(each).endswith("; by a theorem")


def test_a_check_that_fails_is_named_as_the_reason() -> None:
    for name in ("a-check-that-fails", "a-condition-that-is-a-number"):
        with pytest.raises(checker.Refused, match="in some run a check fails"):
            checker.check(sealed(copy.deepcopy(REFUSED[name])))


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
        ('"attained": true', '"attained": true, "\\u001b[2K\\raccepted": true'),
        ('"attained": true', '"attained": true, "note": "\x1b[2K\raccepted: privacy"'),
        ('"attained": true', '"attained": true, "\u202e": 1'),
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


def test_clients_that_may_not_change_places_are_met_in_every_order() -> None:
    """The record 1 makes the state 1 likely, in which the next record shows most: so 1, 0 and 1, 1 differ most."""
    rows = [[[0, 0], [2, 2]], [[1, 0], [3, 1]], [[0, 1], [1, 3]], [[1, 1], [1, 3]]]
    odds = [[key, [[0, a], [1, b]]] for key, (a, b) in rows]
    start = part(None, [], [["s1", "add", 0, 0]], [])
    one = part(0, ["s1"], [["x0", "input", 0], ["v0", "tuple", "s1", "x0"], ["d1", "draw", "v0", odds]], [])
    whole = {**program([start, one, part(None, ["d1"], [], ["d1"])])}
    whole["parts"][1]["takes"] = ["d2"]
    whole["parts"][1]["lines"][1] = ["apply", "v0", "tuple", "d2", "x0"]
    whole["order"] = [[0, None], [1, 0], [1, 1], [2, None]]
    for delta, true in (("7/16", True), ("27/64", False)):
        found = sealed({**made([], n=2, bound=1, delta=delta), "program": whole})
        assert is_true(found) is true
        if true:
            assert checker.check(found)
        else:
            with pytest.raises(checker.Refused, match="the claim is wrong"):
                checker.check(found)


def test_depth_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("[" * 201 + "]" * 201, '{"a":' * 250 + "1" + "}" * 250):
        (tmp_path / "deep.json").write_text(text, encoding="ascii")
        assert checker.main(tmp_path / "deep.json") == 1
        assert capsys.readouterr().out == "refused: this is nested too deeply\n"
    lines = [["v0", "add", 1, 1], *([f"v{at + 1}", "tuple", f"v{at}"] for at in range(250))]
    with pytest.raises(checker.Refused, match="a value is nested too deeply"):
        checker.check(straight(lines, "v250"))


FAST = ["quotes", "open-brackets", "one-long-number", "values-that-nest", "values-that-grow", "states-that-double",
        "long-odds", "many-forms", "a-long-guarantee", "outputs-of-odds-of-one-hash", "cases-of-long-values",
        "forms-that-meet-nothing"]  # fmt: skip


@pytest.mark.one_in(8)
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
