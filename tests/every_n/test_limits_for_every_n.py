"""An answer for every n that a limit cuts short: what is known is the answer, with the limit as its reason."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any, NoReturn

import pytest

from tightdp import ALL, LimitError, flip, mechanism
from tightdp.session import enclosing


@mechanism
def sent(x, lam):
    return tuple(v ^ flip(lam) for v in x)


def reached(*arguments: Any) -> NoReturn:
    raise LimitError("the query took more than 1 s", "allow more with --timeout")


def endless(*arguments: Any) -> None:
    while True:
        time.sleep(0.01)


@pytest.mark.parametrize("step", ["readings", "least_upper"])
def test_the_lower_end_is_kept(step, monkeypatch):
    monkeypatch.setattr(enclosing, step, reached)
    found = sent.bind(n=ALL, lam="1/4").privacy()
    assert (found.status, found.lower, found.n, found.proof) == ("unresolved", 3, 1, "none")
    assert found.not_known == {"upper"}
    assert found.reason == "the query took more than 1 s"
    assert "e^ε at least  3 (at n = 1)" in str(found)
    assert "e^ε at most" not in str(found)
    assert "Unresolved: the query took more than 1 s" in str(found)


def test_both_ends_are_kept(monkeypatch):
    monkeypatch.setattr(enclosing, "least_upper", lambda programs, lower: enclosing.Upper(lower + 2, "windows"))
    monkeypatch.setattr(enclosing, "near", lambda lower, upper: False)
    monkeypatch.setattr(enclosing, "is_told_apart_at_most_by_one", lambda bound, programs: False)
    monkeypatch.setattr(enclosing._Raising, "_of_pairs", reached)
    found = sent.bind(n=ALL, lam="1/4").privacy()
    assert (found.status, found.lower, found.upper) == ("bounded", 3, 5)
    assert "Bounded: the query took more than 1 s; these ends are proved." in str(found)


@pytest.mark.parametrize(("claimed", "verdict"), [("2", False), ("4", None)])
def test_a_claim_is_decided_by_what_is_known(claimed, verdict, monkeypatch):
    monkeypatch.setattr(enclosing, "least_upper", reached)
    found = sent.bind(n=ALL, lam="1/4").verify(exp_epsilon=claimed)
    assert found.holds is verdict
    assert found.found.lower == 3
    assert found.reason == ("" if verdict is False else "the query took more than 1 s")


@pytest.mark.slow(seconds=3)
def test_what_is_abandoned_leaves_the_lower_end(monkeypatch):
    monkeypatch.setattr(enclosing, "least_upper", endless)
    asked = sent.bind(n=ALL, lam="1/4", timeout=1)
    found = asked.privacy()
    assert (found.status, found.lower) == ("unresolved", 3)
    assert asked.verify(exp_epsilon=2).holds is False


def test_an_upper_end_that_nothing_proves_is_not_shown_as_one():
    found = replace(sent.bind(n=ALL, lam="1/4").privacy(), status="bounded", upper=math.inf, proof="none")
    assert "e^ε at most   not known: no way to prove a bound for every n succeeded" in str(found)
    assert "upper end by" not in str(found)
