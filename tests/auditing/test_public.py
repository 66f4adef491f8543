"""`tightdp.audit` and `tightdp.worst_case`: what a user sees, and that the engine confirms the optimum."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction

import pytest

import tightdp
from tightdp import Bit, Instance, ParameterError, QueryError, audit, flip, mechanism, worst_case
from tightdp.auditing import METHODS, Enclosure
from tightdp.auditing.certificate import Game
from tightdp.auditing.optimal_curve import optimum
from tightdp.auditing.tradeoff import Polygon
from tightdp.cli import main

SPECIFIED = [
    "method",
    "canaries",
    "guesses",
    "correct",
    "delta",
    "significance",
    "epsilon_lower",
    "p_value",
    "valid",
]
SEEN = {"canaries": 1000, "guesses": 100, "correct": 75, "delta": "1e-4"}


@mechanism(record=Bit)
def response(x, lam):
    """Every bit flipped with probability lam."""
    return tuple(1 - b if flip(lam) else b for b in x)


@mechanism(record=Bit)
def leak(x, p):
    """Everything with probability p, else nothing."""
    return x if flip(p) else None


@pytest.mark.parametrize("method", METHODS)
def test_an_answer_is_a_result_like_the_others(method):
    answer = audit(**SEEN, method=method, epsilon="1/2")
    record = json.loads(json.dumps(answer.to_dict()))
    assert record["query"] == "audit"
    assert list(record["result"])[: len(SPECIFIED)] == SPECIFIED
    assert record["result"]["valid"] in (True, False, "unknown")
    assert record["result"]["why"] == answer.why
    assert "ε at least" in str(answer)
    assert "<table>" in answer._repr_html_()
    with pytest.raises(AttributeError):
        answer.status = "exact"


def test_numbers_are_rounded_to_the_safe_side():
    answer = audit(**SEEN, epsilon="1/2")
    assert answer.exp_epsilon_lower is not None
    assert answer.p_value is not None
    assert math.exp(answer.epsilon_lower) <= float(answer.exp_epsilon_lower) * (1 + 1e-15)
    shown = next(line for line in str(answer).splitlines() if "ε at least" in line).split()[3].rstrip(",")
    assert Fraction(shown) <= Fraction(answer.epsilon_lower)
    assert Fraction(answer.to_dict()["result"]["p_value"]) >= answer.p_value.upper
    high = next(line for line in str(answer).splitlines() if "p-value" in line).split()[-1]
    assert Fraction(high) >= answer.p_value.upper


def test_check_values():
    assert audit(**SEEN, method="steinke").epsilon_lower == pytest.approx(0.673, abs=5e-4)
    large = audit(canaries=100_000, guesses=1510, correct=1439, delta="1e-5", method="steinke")
    assert large.epsilon_lower == pytest.approx(2.675, abs=1e-3)
    perfect = audit(canaries=100, guesses=100, correct=100, method="steinke")
    assert perfect.epsilon_lower == pytest.approx(3.49297, abs=5e-6)
    two = audit(canaries=2, guesses=2, correct=2, delta="1/10", epsilon=0)
    assert two.p_value == Enclosure.exactly(Fraction(13, 40))
    assert two.status == "exact"
    ten = audit(canaries=10, guesses=10, correct=9, delta="1/10", epsilon=0)
    assert float(ten.p_value) == pytest.approx(0.131651, abs=5e-7)


def test_the_trade_off_function_of_a_program():
    bound = response.bind(n=2, lam="1/5")
    observation = {"canaries": 30, "guesses": 10, "correct": 9}
    answer = audit(**observation, tradeoff=bound)
    assert answer.p_value == audit(**observation, exp_epsilon=4).p_value
    assert answer.p_value == audit(**observation, tradeoff=bound.tradeoff()).p_value
    assert answer.to_dict()["mechanism"] == "response"
    assert "response(n=2, lam=1/5)" in str(answer)
    leaky = audit(**observation, tradeoff=leak.bind(n=2, p="1/10"))
    assert leaky.p_value == audit(**observation, delta="1/10", exp_epsilon=1).p_value
    assert audit(**observation, tradeoff=response.bind(n=1, lam=0)).p_value == Enclosure.exactly(1)
    assert (
        audit(**observation, tradeoff=response.bind(n=1, lam="1/2")).p_value == audit(**observation, epsilon=0).p_value
    )


def test_curves_by_name():
    observation = {"canaries": 100, "guesses": 40, "correct": 36}
    named = audit(**observation, tradeoff="gaussian:1/2")
    assert named.p_value == audit(**observation, tradeoff=tightdp.auditing.Gaussian("1/2")).p_value
    for wrong in ("gaussian:", "gaussian:-1", "laplace:x", "poisson:1", b"gaussian:1", 3.5):
        with pytest.raises(ParameterError) as caught:
            audit(**observation, tradeoff=wrong)
        assert caught.value.hint


@pytest.mark.extra("plot")
def test_plot():
    from matplotlib import pyplot

    axes = audit(**SEEN).plot(pyplot.figure().add_subplot())
    assert axes.get_xlabel() == "ε"
    curve = dict(zip(*axes.get_lines()[0].get_data(), strict=True))
    assert max(curve.values()) <= 1
    assert all(p > 0.05 for place, p in curve.items() if place > audit(**SEEN).epsilon_lower)
    with pytest.raises(QueryError):
        audit(canaries=10, guesses=5, correct=4, tradeoff="gaussian:1").plot()
    pyplot.close("all")


# The worst mechanism as a program.


def chance(instance: Instance, correct: int, options: int) -> Fraction:
    """The probability of `correct` right answers, for uniform secrets, by all datasets and all outputs."""
    secrets = list(itertools.product(range(options), repeat=instance.n))
    hit = Fraction(0)
    for x in secrets:
        for y, p in instance.distribution(x).law:
            assert sum(guess is not None for guess in y) == instance.parameters["guesses"]
            hit += p * (sum(a == b for a, b in zip(x, y, strict=True)) >= correct)
    return hit / len(secrets)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("canaries", "guesses", "correct", "t", "delta", "options"),
    [
        (1, 1, 1, "2", "1/10", 2),
        (2, 2, 2, "1", "1/10", 2),
        (2, 1, 1, "3/2", "1/20", 2),
        (3, 2, 2, "3/2", "1/20", 2),
        (3, 3, 2, "2", "0", 2),
        (4, 2, 1, "5/4", "1/50", 2),
        (4, 4, 3, "3/2", "1/20", 2),
        (4, 3, 3, "3", "1/7", 2),
        (2, 2, 1, "2", "1/10", 3),
        (3, 2, 2, "2", "1/30", 3),
    ],
)
def test_the_engine_confirms_the_optimum(canaries, guesses, correct, t, delta, options):
    answer = audit(canaries=canaries, guesses=guesses, correct=correct, exp_epsilon=t, delta=delta, options=options)
    instance = worst_case(answer)
    assert answer.p_value.is_exact
    assert instance.delta(exp_epsilon=t).delta == Fraction(delta)
    assert chance(instance, correct, options) == answer.p_value.upper


def test_fewer_guesses_than_allowed_do_not_help():
    """Whoever answers fewer than r secrets is beaten: the optimum for v grows with the number of answers."""
    for canaries, correct in ((4, 1), (4, 2), (6, 3)):
        optima = [
            audit(canaries=canaries, guesses=r, correct=correct, exp_epsilon="3/2", delta="1/20").p_value.upper
            for r in range(correct, canaries + 1)
        ]
        assert optima == sorted(optima)


def test_the_engine_confirms_a_mechanism_for_a_trade_off_function():
    pairs = ((1, "3/10"), (2, "1/10"), (4, "1/50"))
    answer = audit(canaries=4, guesses=3, correct=3, tradeoff=pairs)
    instance = worst_case(answer)
    for t, delta in pairs:
        assert instance.delta(exp_epsilon=t).delta <= Fraction(delta)
    assert chance(instance, 3, 2) == answer.worst.at_least(3) >= answer.p_value.lower
    assert answer.p_value.upper - answer.p_value.lower < Fraction(1, 10**6)


def test_the_program_of_the_worst_case_is_audited_like_any_other():
    """Its exact efficacy and the bound agree: at least v right guesses are as likely as the p-value says."""
    answer = audit(canaries=3, guesses=2, correct=2, delta="1/20", exp_epsilon="3/2")
    instance = worst_case(answer)
    assert instance.privacy(delta="1/20").exp_epsilon == Fraction(3, 2)
    with pytest.raises(QueryError):
        worst_case(audit(**SEEN, method="fdp"))
    with pytest.raises(QueryError):
        worst_case(audit(canaries=5, guesses=3, correct=0))


# Failure and size.


def test_help(capsys):
    with pytest.raises(SystemExit):
        main(["audit", "--help"])
    text = capsys.readouterr().out
    assert text.startswith("usage: tightdp audit --canaries M --guesses R --correct V")
    for option in ("--delta", "--epsilon", "--exp-epsilon", "--tradeoff", "--options", "--method", "--json"):
        assert f"{option} " in text


@pytest.mark.parametrize(
    "correct",
    [pytest.param(each, marks=pytest.mark.slow(seconds=4)) for each in (760, 900, 1100, 1180, 1400, 1500)],
)
def test_ends_of_the_range_for_a_curve(correct):
    """Where the optimum is nearly 0 or nearly 1 for floats, the enclosure stays true and stays useful."""
    found = optimum(Game(100_000, 1500, correct), tightdp.auditing.Gaussian("1/2"))
    assert found.certificate.check()
    assert 0 < found.p_value.lower <= found.p_value.upper <= 1
    if correct <= 1180:
        assert found.p_value.lower > Fraction(999, 1000)
    else:
        assert found.p_value.upper < Fraction(1, 1000)
    for t in (Fraction(1), Fraction(3), Fraction(50)):
        assert found.mechanism.delta(t) <= tightdp.auditing.Gaussian("1/2").delta(t).upper


def test_the_linear_program_with_its_certificate_at_five_hundred():
    pairs = tuple((Fraction(5, 4) + Fraction(i, 8), Fraction(1, 100 * 4**i)) for i in range(5))
    found = optimum(Game(500, 500, 330), Polygon(pairs))
    assert found.certificate.check()
    assert found.p_value.upper - found.p_value.lower < found.p_value.upper / 10**6
    assert all(found.mechanism.delta(t) <= delta for t, delta in pairs)


def test_the_linear_program_is_enclosed_tightly_for_many_canaries():
    curve = tightdp.auditing.Gaussian("1/2")
    answer = audit(canaries=100_000, guesses=1500, correct=1300, tradeoff=curve.outer(curve.logs(5)))
    assert answer.answer.certificate.check()
    assert answer.p_value.upper - answer.p_value.lower < Fraction(1, 10**6)
    assert all(answer.worst.delta(t) <= delta for t, delta in curve.outer(curve.logs(5)))
