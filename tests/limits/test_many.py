"""Many questions at once have the answers of one after the other, whatever functions they are."""

from __future__ import annotations

import os
import signal
import time
from fractions import Fraction

import pytest

from tightdp import validity
from tightdp.errors import LimitError, ParameterError
from tightdp.session.processes import in_order


def test_answers_are_in_the_order_of_the_questions() -> None:
    def question(at: int) -> tuple[int, int]:
        time.sleep((5 - at) / 50)
        return at, os.getpid()

    found = in_order(question, range(5), 3)
    assert [at for at, _ in found] == list(range(5))
    assert len({pid for _, pid in found}) == 3
    assert os.getpid() not in {pid for _, pid in found}


def test_an_error_ends_the_others() -> None:
    def bad(at: int) -> int:
        if at == 1:
            raise ParameterError("this is wrong", "do that")
        time.sleep(60)
        return at

    start = time.monotonic()
    with pytest.raises(ParameterError, match="this is wrong"):
        in_order(bad, range(3), 3)
    assert time.monotonic() - start < 30


def test_a_process_that_is_killed_ends_the_others() -> None:
    def killed(at: int) -> int:
        if at == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)
        return at

    with pytest.raises(LimitError, match="a process was ended from outside"):
        in_order(killed, range(3), 3)


def test_a_rule_that_is_any_function_is_tried_on_all_cores() -> None:
    def rule(canaries: int, guesses: int, correct: int) -> Fraction:
        return Fraction(max(2 * correct - guesses, 0), canaries)

    alone, together = (validity(rule, games=[(5, 5), (6, 3)], jobs=jobs) for jobs in (1, 2))
    assert alone.to_dict() == together.to_dict()
    with pytest.raises(ParameterError, match="jobs"):
        validity(rule, jobs=0)
