"""The comparison of accountants with exact answers: what is wrong is caught and shrunk, what is right is not."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction as F
from itertools import product
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

from oracle_draws import Accountant, Mechanism, Question, loss_of, random_mechanism, random_questions
from oracles import beyond, run, shrunk, smallest, violation

Asked = Callable[[Mechanism, Question], float]


def curve(drawn: Mechanism, t: float) -> float:
    """δ at t by adding up all outputs of all runs, in doubles."""
    return max(
        sum(
            max(0.0, math.prod(float(p[y]) for y in run) - t * math.prod(float(q[y]) for y in run))
            for run in product(range(len(p)), repeat=drawn.runs)
        )
        for p, q in drawn.directions
    )


def accountant(ask: Asked, upper: bool = True) -> Accountant:
    def fits(drawn: Mechanism, question: Question) -> bool:
        return drawn.kind != "gaussian" and question.of == "delta" and len(drawn.laws[0]) ** drawn.runs <= 4096

    return Accountant("fake", "none", "1", upper, fits, ask, "fake()")


def answer(scale: float, plus: float = 0.0) -> Asked:
    return lambda drawn, question: scale * curve(drawn, math.exp(float(question.at))) + plus


def test_the_truth_is_that_of_adding_up() -> None:
    source = random.Random(3)
    for _ in range(20):
        drawn = replace(random_mechanism(source), runs=source.choice((1, 2)))
        loss = loss_of(drawn)
        for question in random_questions(source, loss)[:2]:
            found = loss.delta(epsilon=question.at)
            expected = curve(drawn, math.exp(float(question.at)))
            assert float(found.lower) - 1e-9 <= expected <= float(found.delta) + 1e-9, drawn


@pytest.mark.parametrize("upper", [True, False])
def test_what_is_on_its_side_is_not_blamed(upper: bool) -> None:
    good = accountant(answer(1.0, 1e-9 if upper else -1e-9), upper)
    count = run([good], 60, "right")[good.key]
    assert count.draws > 10
    assert not count.violations
    assert not count.failed


@pytest.mark.parametrize(("upper", "scale"), [(True, 0.9), (False, 1.1)])
def test_what_is_wrong_is_caught_and_shrunk(upper: bool, scale: float) -> None:
    bad = accountant(answer(scale), upper)
    count = run([bad], 60, "wrong")[bad.key]
    assert len(count.violations) > 10
    drawn, question = smallest(bad, count.violations, F(1, 10**12))
    assert drawn.runs == 1
    assert drawn.rate == 1
    assert len(drawn.laws[0]) == 2 or drawn.kind != "laws"
    assert violation(bad, (drawn, question))[0] > F(1, 10**12)


def test_a_fault_of_many_runs_stays_one_of_many_runs() -> None:
    """Shrinking keeps what makes an answer wrong: here three runs or more and a Poisson sample."""
    start = Mechanism("laws", ((5, 3, 2), (1, 4, 20)), F(3, 8), 8), Question("delta", F(1, 3))
    drawn, question = shrunk(start, lambda draw: draw[0].runs >= 3 and draw[0].rate < 1)
    assert (drawn.runs, drawn.rate, len(drawn.laws[0]), sum(map(sum, drawn.numbers))) == (3, F(1, 2), 2, 2)
    assert question.at == 0


def test_sides_of_answers() -> None:
    """Randomized response with e^ε = 3: δ(0) = 1/2, and ε = ln 3 at δ = 0, ln 2 at δ = 1/4."""
    loss = loss_of(Mechanism("response", (2, F(1, 2))))
    delta, epsilon = Question("delta", F(0)), Question("epsilon", F(1, 4))
    assert beyond(loss, delta, 0.5, True) == beyond(loss, delta, 0.5, False) == 0
    assert beyond(loss, delta, 0.25, True) == F(1, 4)
    assert beyond(loss, delta, 0.75, False) == F(1, 4)
    assert beyond(loss, delta, math.nan, True) is None
    assert beyond(loss, epsilon, math.log(2) + 1e-9, True) == beyond(loss, epsilon, math.log(2) - 1e-9, False) == 0
    assert beyond(loss, epsilon, math.inf, True) == 0
    assert float(beyond(loss, epsilon, math.inf, False) or 0) == 0.25
    low = beyond(loss, epsilon, 0.0, True)
    assert low == F(1, 4), "the true δ at ε = 0 is 1/2"
    assert beyond(loss, epsilon, -1.0, False) == 0


def test_an_error_is_counted_apart() -> None:
    def fails(drawn: Mechanism, question: Question) -> float:
        raise ValueError("no answer")

    broken = accountant(fails)
    count = run([broken], 20, "broken")[broken.key]
    assert count.failed == {"ValueError: no answer": count.draws}
    assert not count.violations


@pytest.mark.extra("oracles")
def test_real_accountants_answer() -> None:
    """Every one answers about one of these, on its side but for rounding."""
    from oracle_peers import accountants

    drawn = [
        Mechanism("laws", ((3, 1, 1), (1, 2, 2)), F(1, 4), 2),
        Mechanism("response", (2, F(1, 2)), runs=3),
        Mechanism("leak", (F(3), F(1, 64)), runs=2),
        Mechanism("geometric", (F(1, 2), 1), runs=2),
    ]
    asked, missing = accountants()
    assert {name for name, _ in missing} <= {"opacus"}
    for each in asked:
        found = [
            violation(each, (one, question))[0]
            for one in drawn
            for question in (Question("delta", F(1, 2)), Question("epsilon", F(1, 128)))
            if each.fits(one, question)
        ]
        assert found or "Gaussian" in each.name or each.package == "opacus", each.name
        assert all(gap is not None and gap < F(1, 10**12) for gap in found), each.name
