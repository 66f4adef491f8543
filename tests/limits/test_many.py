"""Many questions at once have the answers of one after the other, whatever functions they are."""

from __future__ import annotations

import os
import time
from fractions import Fraction

import pytest

from tightdp import validity
from tightdp.errors import ParameterError
from tightdp.limits import abandon, at_once


@pytest.fixture(autouse=True)
def at_once_from_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(abandon, "GRACE", -1.0)


def test_answers_are_in_the_order_of_the_questions() -> None:
    def question(at: int) -> tuple[int, int]:
        time.sleep((5 - at) / 50)
        return at, os.getpid()

    found = at_once([lambda at=at: question(at) for at in range(5)], 3)  # type: ignore[misc]
    assert [at for at, _ in found] == list(range(5))
    assert len({pid for _, pid in found}) == 5
    assert os.getpid() not in {pid for _, pid in found}


def test_an_error_ends_the_others() -> None:
    def bad() -> int:
        raise ParameterError("this is wrong", "do that")

    start = time.monotonic()
    with pytest.raises(ParameterError, match="this is wrong"):
        at_once([lambda: time.sleep(60) or 1, bad, lambda: time.sleep(60) or 1], 3)
    assert time.monotonic() - start < 30


def test_a_rule_that_is_any_function_is_tried_on_all_cores() -> None:
    def rule(canaries: int, guesses: int, correct: int) -> Fraction:
        return Fraction(max(2 * correct - guesses, 0), canaries)

    alone, together = (validity(rule, games=[(5, 5), (6, 3)], jobs=jobs) for jobs in (1, 2))
    assert alone.to_dict() == together.to_dict()
    with pytest.raises(ParameterError, match="jobs"):
        validity(rule, jobs=0)
