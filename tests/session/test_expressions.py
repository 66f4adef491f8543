"""Numbers that are asked with, given as expressions with exp(q): exact, and between the answers at rationals."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import pytest
import sympy

from command_line import run
from tightdp import Bit, Instance, ParameterError, QueryError, audit, flip, mechanism
from tightdp.exact.parameters import parse
from tightdp.testing import assert_accurate, assert_private

PROGRAM = str(Path(__file__).parents[2] / "programs" / "randomized_response_count.py")


@mechanism(record=Bit, target=sum)
def counted(x: Any, lam: Any) -> Any:
    """The sum of randomized responses."""
    return sum(1 - b if flip(lam) else b for b in x)


def instance(**limits: Any) -> Instance:
    return counted.bind(n=6, lam="1/5", **limits)


def ends(expression: str) -> tuple[F, F]:
    found = parse(expression).enclosure(30)  # type: ignore[union-attr]
    return found.lower, found.upper


QUESTIONS: list[tuple[str, Callable[[Any], Any]]] = [
    ("exp(-3)", lambda value: instance().privacy(delta=value).exp_epsilon),
    ("2*exp(-10)", lambda value: instance().epsilon(delta=value).exp_epsilon),
    ("exp(-20)/3", lambda value: counted.bind(n=100_000, lam="1/5", precision="1e-6").privacy(delta=value).lower),
    ("exp(1)*2/3", lambda value: instance().delta(exp_epsilon=value).delta),
    ("exp(-2)", lambda value: instance().guessing(delta=value).exp_epsilon),
    ("exp(-2)", lambda value: instance().adaptive_guessing(delta=value).exp_epsilon),
    ("exp(-8)", lambda value: audit(canaries=50, guesses=20, correct=16, delta=value).exp_epsilon_lower),
    ("exp(-8)", lambda value: audit(canaries=50, guesses=20, correct=16, delta=value, epsilon=1).p_value.upper),
    ("exp(1/2)", lambda value: audit(canaries=50, guesses=20, correct=16, exp_epsilon=value).p_value.upper),
]


@pytest.mark.one_in(8)
@pytest.mark.parametrize("number", range(len(QUESTIONS)))
def test_an_answer_lies_between_those_at_rationals(number: int) -> None:
    expression, question = QUESTIONS[number]
    low, high = (question(end) for end in ends(expression))
    near = F(1, 10**12)
    least, most = min(low, high), max(low, high)
    for given in (expression, sympy.sympify(expression)):
        found = question(given)
        assert least * (1 - near) <= found <= most * (1 + near)


BETWEEN = [("2", "exp(1)", "3"), ("0", "1/(1+exp(1))", "1"), ("1", "3/2", "2")]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("low", "given", "high"), BETWEEN)
def test_alpha_and_beta(low: str, given: str, high: str) -> None:
    asked = instance()
    assert asked.accuracy(given).one_minus_beta == asked.accuracy(low).one_minus_beta
    assert asked.accuracy(given).one_minus_beta < asked.accuracy(high).one_minus_beta
    enough = asked.accuracy(given).beta
    assert asked.verify(alpha=given, beta=enough)
    assert not asked.verify(alpha=given, beta=enough * F(999, 1000))
    for rate in ("exp(-1)", "1 - exp(-1/10)", "exp(-9)"):
        below, above = ends(rate)
        assert asked.accuracy(beta=rate).alpha == asked.accuracy(beta=below).alpha == asked.accuracy(beta=above).alpha
    many = counted.bind(n=20_000, lam="1/5")
    assert many.accuracy(beta="exp(-3)").alpha == many.accuracy(beta=ends("exp(-3)")[0]).alpha


def test_claims() -> None:
    tight = instance().delta(epsilon="1/3+1/6").delta
    assert instance().verify(epsilon="1/2", delta=tight)
    assert not instance().verify(epsilon="1/2", delta=tight * F(999, 1000))
    (span,) = counted.bind(n=3, lam="?[0,1/2]").solve(epsilon=1, delta="exp(-3)").holds
    assert span.safe_start is not None
    assert counted.bind(n=3, lam=span.safe_start).verify(epsilon=1, delta="exp(-3)")
    assert not counted.bind(n=3, lam=span.safe_start - F(1, 10**9)).verify(epsilon=1, delta="exp(-3)")
    assert assert_private(counted, n=3, lam="1/(1+exp(1))", epsilon=1, delta="exp(-10)")
    assert assert_accurate(counted, n=3, lam="1/5", alpha="exp(1/2)", beta="exp(-1)")
    with pytest.raises(AssertionError) as refuted:
        assert_private(counted, n=3, lam="1/5", epsilon="1/100", delta="exp(-10)")
    assert "--delta 'exp(-10)'" in str(refuted.value)
    (enough,) = re.findall("exp_epsilon='(.+?)'", str(refuted.value))
    assert assert_private(counted, n=3, lam="1/5", exp_epsilon=enough, delta="exp(-10)")


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (lambda: instance().delta(epsilon="exp(-1)"), r"epsilon is exp\(-1\), which is irrational"),
        (lambda: instance().delta(epsilon="log(3)"), "exp_epsilon=3"),
        (lambda: instance().privacy(delta="exp(1)"), "between 0 and 1"),
        (lambda: instance().privacy(delta="exp(exp(1))"), "delta: .* exp of a number that is not rational"),
        (lambda: instance().privacy(delta="1/(1-1)"), "delta: .* divides by 0"),
        (lambda: instance().accuracy("exp(1"), "alpha: .* is not an expression"),
        (lambda: instance().accuracy("sqrt(2)*exp(1)"), r"alpha: 'sqrt\(2\)' is not part of the grammar"),
        (lambda: instance().renyi("exp(1)"), "order is exp"),
        (lambda: instance().certify(epsilon=1, delta="exp(-9)"), "delta is .*irrational"),
        (lambda: audit(canaries=5, guesses=5, correct=5, significance="exp(-3)"), "significance is .*irrational"),
    ],
)
def test_what_is_refused(question: Callable[[], Any], words: str) -> None:
    with pytest.raises((ParameterError, QueryError), match=words):
        question()


def test_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in [
        (["privacy", "--delta", "exp(-10)"], "tight e^ε  "),
        (["verify", "--epsilon", "3/2", "--delta", "exp(-10)"], "holds"),
        (["verify", "--alpha", "exp(1/2)", "--beta", "exp(-1)"], "holds"),
        (["accuracy", "--alpha", "1/(1+exp(1))"], "1/(1 + e)"),
        (["explain", "--epsilon", "2", "--delta", "exp(-10)"], "exp(2) and δ = exp(-10)"),
        (["guessing", "--delta", "exp(-2)"], "expected"),
    ]:
        status, out, _ = run(capsys, words[0], PROGRAM, "n=3", "lam=2/3-1/3", *words[1:])
        assert status == 0
        assert said in out
    status, out, _ = run(capsys, "audit", "--canaries", "9", "--guesses", "9", "--correct", "8", "--delta", "exp(-10)")
    assert status == 0
    assert "(ε, exp(-10))-DP" in out
