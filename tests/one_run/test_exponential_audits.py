"""One-run audits of mechanisms with e^q: closed forms, and brute force with a rational of 60 digits in its place."""

from __future__ import annotations

import json
from fractions import Fraction as F
from typing import Any

import pytest

from efficacy_oracle import Game
from generators.comparison import TooSlow, imported, time_limit
from generators.mechanisms import draw_mechanism
from parametrised import near, rounded, with_parameter
from tightdp import (
    Bit,
    Instance,
    LanguageError,
    LimitError,
    ParameterError,
    ProgramError,
    QueryError,
    Threshold,
    Top,
    choice,
    exp,
    flip,
    geometric,
    mechanism,
    observe,
)
from tightdp.cli.main import main
from tightdp.exact.field import ExpNumber
from tightdp.exact.field import exp as number
from tightdp.language.program import Bound
from tightdp.results.guessing import Efficacy

CERTAIN = 30
HALF = F(-1, 2)
REFUSED = (LanguageError, LimitError, ParameterError, ProgramError, QueryError)


@mechanism(record=Bit)
def response(x: Any, eps: Any) -> Any:
    """Randomized response."""
    return tuple(1 - b if flip(1 / (1 + exp(eps))) else b for b in x)


@mechanism(record=Bit)
def noisy(x: Any, q: Any) -> Any:
    """A count with geometric noise."""
    return geometric(sum(x), q, 0, len(x))


@mechanism(record=Bit)
def summed(x: Any, q: Any) -> Any:
    """The sum of randomized responses."""
    return sum(1 - b if flip(q / (1 + q)) else b for b in x)


@mechanism(record=Bit)
def chained(x: Any, q: Any) -> Any:
    """Every output depends on the one before it."""
    told, last = [], 0
    for b in x:
        last = (b ^ last) if flip(q) else last
        told.append(last)
    return tuple(told)


@mechanism(record=Bit)
def conditioned(x: Any, q: Any) -> Any:
    """The parity of noisy bits, given that one of them is 1."""
    bits = [1 - b if flip(q / 2) else b for b in x]
    observe(sum(bits) > 0)
    return sum(bits) % 2


@mechanism(record=Bit)
def unequal(x: Any, q: Any) -> Any:
    """Bits that are told with different noise, and one that is chosen among all."""
    told = tuple(1 - b if flip(q / (2 + at)) else b for at, b in enumerate(x))
    return told, choice(range(len(x)), weights=[1 if b else q for b in x])


PROGRAMS = (noisy, summed, chained, conditioned, unequal)


def same_law(found: dict[Any, Any], meant: dict[Any, F]) -> bool:
    """Whether two laws agree as far as 60 digits allow."""
    return found.keys() == meant.keys() and all(near(found[key], meant[key], CERTAIN) for key in meant)


def check_efficacy(instance: Instance, bound: Bound) -> Efficacy:
    """Compare what is asked of one instance with brute force on the other numbers."""
    found = instance.efficacy()
    game = Game(bound, found.pairs)
    for row, meant in zip(found.rows, game.efficacies(), strict=True):
        assert near(row.efficacy, meant, CERTAIN), (row, float(meant))
        assert near(row.ddp, game.ddp(), CERTAIN)
    assert near(found.exp_epsilon, game.exp_epsilon(), CERTAIN)
    assert same_law(instance.guessing().joint.to_dict(), game.joint_law(game.threshold_guesser(F(1, 2))))
    return found


@pytest.mark.one_in(3)
@pytest.mark.parametrize("n", range(1, 5))
@pytest.mark.parametrize("eps", [F(1, 2), F(1), F(7, 3)])
def test_randomized_response_is_as_good_as_its_posterior(n: int, eps: F) -> None:
    e = number(eps)
    found = response.bind(n=n, eps=eps).efficacy(adaptive=True)
    assert found.status == "exact"
    assert found.exp_epsilon == e
    assert [row.efficacy for row in found.rows] == [e / (1 + e)] * n
    assert all(row.ac == row.ddp == row.dp == row.adaptive == e / (1 + e) for row in found.rows)
    joint = response.bind(n=n, eps=eps).guessing().joint
    assert joint.right == n * e / (1 + e)
    assert joint.to_dict()[n, n] == (e / (1 + e)) ** n


@pytest.mark.one_in(4)
@pytest.mark.parametrize("n", [1, 2, 3, pytest.param(4, marks=pytest.mark.slow(seconds=5))])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_agrees_with_brute_force(program: Any, n: int) -> None:
    instance, bound = program.bind(n=n, q="exp(-1/2)"), program.bind(n=n, q=rounded(HALF)).bound
    game = Game(bound)
    check_efficacy(instance, bound)
    for least in (F(3, 5), F(7, 10)):
        meant = game.joint_law(game.threshold_guesser(least))
        assert same_law(instance.guessing(Threshold(least)).joint.to_dict(), meant)
    for k in range(1, n + 1):
        assert same_law(instance.guessing(Top(k)).joint.to_dict(), game.joint_law(game.top_guesser(k)))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_adaptive_guessers(program: Any) -> None:
    instance, game = program.bind(n=3, q="exp(-1/2)"), Game(program.bind(n=3, q=rounded(HALF)).bound)
    for row in instance.efficacy(adaptive=True).rows:
        assert near(row.adaptive, game.adaptive_optimum(row.guesses), CERTAIN)


def test_the_best_pairs_and_classic_audits() -> None:
    instance = unequal.bind(n=2, q="exp(-1/2)")
    assert instance.efficacy(pairs="best").rows[-1].efficacy >= instance.efficacy().rows[-1].efficacy
    e = number(1)
    classic = response.bind(n=1, eps=1).classic_guessing(3, x=(0,), x_prime=(1,))
    assert classic.joint.right == 3 * e / (1 + e)
    assert classic.exp_epsilon == e


def test_more_outputs_than_are_listed() -> None:
    e = number(1)
    assert response.bind(n=12, eps=1).guessing(Top(4)).joint.right == 4 * e / (1 + e)
    assert response.bind(n=60, eps=1).efficacy().rows[-1].efficacy == e / (1 + e)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("part", range(2))
def test_drawn_mechanisms(part: int) -> None:
    compared = 0
    for seed in range(10 * part, 10 * part + 10):
        drawn = draw_mechanism(seed)
        with imported(with_parameter(drawn.source, seed)) as module:
            try:
                with time_limit(20):
                    bound = module.f.bind(n=drawn.n, q=rounded(HALF)).bound
                    if drawn.n > 3 or bound.record.size < 2:
                        continue
                    found = check_efficacy(module.f.bind(n=drawn.n, q="exp(-1/2)"), bound)
            except (*REFUSED, TooSlow):
                continue
        compared += isinstance(found.rows[0].efficacy, ExpNumber)
    assert compared >= 3


def test_expressions_with_decimals(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "answers.py"
    file.write_text(
        '"""Answers."""\n\nfrom tightdp import Bit, flip, mechanism\n\n\n@mechanism(record=Bit)\ndef answers(x, lam):\n'
        '    """Randomized response."""\n    return tuple(1 - b if flip(lam) else b for b in x)\n'
    )
    asked = [str(file), "n=2", "lam=1/(1+exp(1))"]
    assert main(["efficacy", *asked]) == 0
    assert "e/(1 + e) ≈ 0.731059" in capsys.readouterr().out
    assert main(["efficacy", *asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["result"]["rows"][0]["efficacy"] == "exp(1)/(1 + exp(1))"
    assert main(["guessing", *asked]) == 0
    assert "2e/(1 + e) ≈ 1.46212" in capsys.readouterr().out


@pytest.mark.one_in(8)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_an_order_that_is_given(program: Any) -> None:
    instance, game = program.bind(n=3, q="exp(-1/2)"), Game(program.bind(n=3, q=rounded(HALF)).bound)
    for order in ((0, 1, 2), (2, 0, 1)):
        for least, value in (
            (F(1, 2), F(1, 2)),
            (F(3, 5), F(3, 5)),
            ("1/(1 + exp(-2/5))", 1 / (1 + rounded(F(-2, 5)))),
        ):
            found = instance.adaptive_guessing(least, order=order).joint
            assert same_law(found.to_dict(), game.adaptive_law(order, value))


def test_an_order_of_many() -> None:
    many = summed.bind(n=14, q="exp(-1/2)")
    best = many.adaptive_guessing().joint.right
    assert best > many.guessing().joint.right
    near_it = summed.bind(n=14, q=rounded(HALF)).adaptive_guessing().joint.right
    assert near(best, near_it, CERTAIN)
    response_of_two = response.bind(n=40, eps=1).adaptive_guessing("exp(1)/(1 + exp(1))").joint
    assert response_of_two.right == 40 * number(1) / (1 + number(1))
