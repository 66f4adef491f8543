"""Mechanisms that ask an analyst: all answers against every strategy, tried one by one with the interpreter."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

from agreement import assert_agreement, module_of
from strategies_oracle import datasets, excess, largest, moment, ratio, strategies
from tightdp import TightdpError
from tightdp.errors import LanguageError, ParameterError, ProgramError, QueryError
from tightdp.language.domains import Bit, Bits, Domain, Int, Tuple, Values
from tightdp.language.interp import law
from tightdp.language.neighbours import relation_of
from tightdp.session.instance import Instance
from tightdp.session.mechanism import Mechanism, mechanism

LEVELS = (Fraction(1), Fraction(4, 3), Fraction(2), Fraction(5))
SECRETS = ("flip(1/3)", "flip(1/4 if x[0] else 1/2)", "randint(0, 2) > 0")
NOISES = ("flip(1/4)", "flip(1/3 if hidden else 1/5)", "(hidden and flip(1/2))")
OFFERS = ("(0, 1)", "(0, 1, 2)", "range(2)", "['low', 'high']")


def interactive(seed: int) -> str:
    """Return a mechanism with a hidden state, whose answers depend on it, on the records, and on what was asked."""
    draw = random.Random(seed)
    offer = draw.choice(OFFERS)
    picked = "(0 if pick == 'low' else 1)" if "low" in offer else "pick"
    truth = draw.choice((f"x[{picked} % len(x)]", f"(x[0] + {picked}) % 2", f"(sum(x) > {picked})"))
    turns = draw.choice((1, 2, 2))
    end = draw.choice(("", "        if answer:\n            break\n", "        hidden = hidden != answer\n"))
    shown = draw.choice(("seen", "tuple(seen)", "[*seen]"))
    last = draw.choice(("tuple(seen)", "(hidden, *seen)", "sum(seen)"))
    return (
        f"def f(x):\n    hidden = {draw.choice(SECRETS)}\n    seen = []\n    for turn in range({turns}):\n"
        f"        pick = ask({shown}, {offer})\n        answer = bool({truth}) != bool({draw.choice(NOISES)})\n"
        f"        seen.append(int(answer))\n{end}    return {last}\n"
    )


def bind(module: Any, record: Domain, n: int, neighbours: Any = "replace-one") -> Instance:
    made: Mechanism = mechanism(record=record, neighbours=neighbours)(module.f)
    return made.bind(n=n)


def curve_at(instance: Instance, t: Fraction) -> Fraction:
    """Return δ(t) as the break points of the curve say."""
    points = instance.curve().points
    for (start, left), (end, right) in pairwise(points):
        if start <= t <= end:
            return left + (right - left) * (t - start) / (end - start)
    return points[-1][1]


def assert_best(instance: Instance) -> None:
    """Check every answer against the largest over all strategies."""
    bound = instance.bound
    certified = instance.certify().content["claim"]["bound"]
    tight = math.inf if certified == "inf" else Fraction(certified)
    assert instance.privacy().exp_epsilon == tight == max(largest(bound, ratio), 1)
    for t in LEVELS:
        wanted = largest(bound, excess(t))
        assert instance.delta(exp_epsilon=t).delta == wanted
        assert curve_at(instance, t) == wanted
        least = instance.privacy(delta=wanted).exp_epsilon
        assert least <= t
        assert wanted == 0 or largest(bound, excess(least)) == wanted
    assert instance.renyi(2).exp_moment == max(largest(bound, moment(2)), 1)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(8))
def test_drawn_programs(seed: int) -> None:
    source = interactive(seed)
    with module_of(source.replace("return sum(seen)", "return tuple(seen)")) as module:
        instance = bind(module, Bit, 1 + seed % 2)
        assert_agreement(instance.bound)
        assert_best(instance)


@pytest.mark.slow(seconds=60)
@pytest.mark.parametrize("seed", range(8, 60))
def test_more_drawn_programs(seed: int) -> None:
    test_drawn_programs(seed)


QUERY = """\
def f(x):
    seen = ()
    for _ in range(2):
        wanted = ask(seen, {offer})
        held = any(v == wanted for v in x)
        seen = (*seen, held != flip(1/3))
    return seen
"""


@pytest.mark.one_in(8)
@pytest.mark.parametrize(
    ("record", "neighbours", "n"),
    [
        (Int(0, 2), "replace-one", 1),
        (Int(0, 2), "unit-step", 1),
        (Values("a", "b"), "add-remove", 2),
        (Bits(2), "replace-one", 1),
        (Tuple(Bit, Bit), lambda x: [(v[::-1],) for v in x], 1),
        (Int(0, 1), "unit-all", 2),
    ],
    ids=lambda value: "a function" if callable(value) else str(value),
)
def test_records_and_neighbours(record: Domain, neighbours: Any, n: int) -> None:
    offer = repr(tuple(record.values)[:3])
    with module_of(QUERY.format(offer=offer)) as module:
        assert_best(bind(module, record, n, neighbours))


def test_an_adaptive_analyst_sees_more_than_one_who_asks_all_beforehand() -> None:
    """The first answer is a key that says where to look."""
    source = """\
def f(x):
    key = randint(0, 2)
    shown = ask((key,), (0, 1, 2))
    noise = flip(1/2) if shown != key else flip(1/10)
    return (key, (x[0] == 1) != noise)
"""
    with module_of(source) as module:
        instance = bind(module, Bit, 1)
        bound = instance.bound
        blind = []
        for answer in (0, 1, 2):
            found = {x: law(replace(bound, strategy=lambda h, c, a=answer: a), x) for x in datasets(bound)}
            blind.append(excess(Fraction(2))(found[0,], found[1,]))
        assert instance.delta(exp_epsilon=2).delta == largest(bound, excess(Fraction(2))) == Fraction(7, 10)
        assert max(blind) < Fraction(1, 3)


def test_the_witness_is_a_strategy_that_can_be_played_again() -> None:
    with module_of(interactive(3).replace("return sum(seen)", "return tuple(seen)")) as module:
        made = mechanism(record=Bit)(module.f)
        instance = made.bind(n=2)
        best, at = instance.privacy(), instance.delta(exp_epsilon="4/3")
        played = made.bind(n=2, strategy=best.witness.strategy)
        assert played.privacy().exp_epsilon == best.exp_epsilon
        assert best.witness.probability / best.witness.probability_prime == best.exp_epsilon
        again = made.bind(n=2, strategy=at.witness.strategy)
        assert again.delta(exp_epsilon="4/3").delta == at.delta
        laws = {x: law(again.bound, x) for x in (at.witness.x, at.witness.x_prime)}
        assert excess(Fraction(4, 3))(laws[at.witness.x], laws[at.witness.x_prime]) == at.delta


def test_what_is_shown_counts_as_published() -> None:
    source = "def f(x):\n    ask(x[0] != flip(1/4), ('go on',))\n    return 0\n"
    with module_of(source) as module:
        assert bind(module, Bit, 1).privacy().exp_epsilon == 3
    source = "def f(x):\n    return ask((), ('yes', 'no') if x[0] != flip(1/4) else ('no',)) and 0\n"
    with module_of(source) as module:
        assert bind(module, Bit, 1).privacy().exp_epsilon == 3
    source = "def f(x):\n    ask((), [{x[0] != flip(1/4)}, {7: 8}])\n    return 0\n"
    with module_of(source) as module:
        assert bind(module, Bit, 1).privacy().exp_epsilon == 3
        assert_agreement(bind(module, Bit, 1).bound)


def test_a_list_that_is_shown_is_as_it_was_then() -> None:
    source = "def f(x):\n    seen = [0]\n    pick = ask(seen, (1, 2))\n    seen[0] = x[0]\n    return flip(1/pick)\n"
    with module_of(source) as module:
        assert bind(module, Bit, 1).privacy().exp_epsilon == 1


def test_noise_on_all_integers_exponentials_and_unknowns() -> None:
    source = """\
def f(x, q):
    seen = []
    for _ in range(2):
        at = ask(seen, (1, 2))
        seen.append(geometric(sum(v >= at for v in x), q) > 0)
    return tuple(seen)
"""
    with module_of(source) as module:
        made = mechanism(record=Int(0, 2))(module.f)
        assert made.bind(n=1, q="1/2").privacy().exp_epsilon == 4
        assert made.bind(n=1, q="exp(-1)").privacy().epsilon_exact == 2
        assert made.bind(n=1, q="exp(-1)").delta(epsilon=2).delta == 0
        assert made.bind(n=1, q="exp(-1)").delta(epsilon=1).delta > 0
        (piece,) = made.bind(n=1, q="?[1/10,9/10]").privacy().pieces
        assert str(piece.value) == "1/(x**2)"
        assert [move.answer for _, move in piece.witness.strategy.moves[0].with_depth()] == [1, 1]


def test_runs_need_a_strategy() -> None:
    source = """\
def last(history, choices):
    return choices[-1]

def f(x):
    return ask((), (1, 2)) + x[0]

def wrong(history, choices):
    return 7

def adaptive(history, choices):
    return choices[0] if history else choices[1]
"""
    with module_of(source) as module:
        made = mechanism(record=Bit)(module.f)
        with pytest.raises(ParameterError, match="needs the analyst's strategy"):
            made((0,))
        assert made((1,), strategy=module.last) == 3
        assert made.sample((1,), size=3, strategy="last") == [3, 3, 3]
        assert made.bind(n=1, strategy="last").sample((0,), size=2).outputs == (2, 2)
        assert made.bind(n=1, strategy="adaptive").distribution((0,)).law == ((2, 1),)
        own = mechanism(record=Bit, strategy="last")(module.f)
        assert own((0,)) == 2
        assert own.bind(n=1).privacy().exp_epsilon == math.inf
        with pytest.raises(ProgramError, match="none of the choices"):
            made.bind(n=1, strategy=module.wrong).privacy()
        with pytest.raises(ProgramError, match="none of the choices"):
            made((0,), strategy=module.wrong)
        for bad in (3, "nobody"):
            with pytest.raises(ParameterError, match="is not a function"):
                made.bind(n=1, strategy=bad)


def test_questions_that_depend_on_the_strategy_are_refused() -> None:
    with module_of("def f(x):\n    return ask((), (1, 2)) + (x[0] ^ flip(1/4))\n") as module:
        made = mechanism(record=Bit, target=sum)(module.f)
        open_, fixed = made.bind(n=1), made.bind(n=1, strategy=lambda history, choices: choices[0])
        asked = [
            lambda each: each.accuracy(1),
            lambda each: each.utility(),
            lambda each: each.distribution((0,)),
            lambda each: each.efficacy(),
            lambda each: each.verify(alpha=1, beta="1/2"),
            lambda each: each.zcdp(),
            lambda each: each.privacy_loss(),
            lambda each: each.certify(alpha=1, beta="1/2"),
            lambda each: each.certify(exp_epsilon=2, delta="1/2"),
        ]
        for question in asked:
            with pytest.raises(QueryError, match="what the analyst asks") as refused:
                question(open_)
            assert "strategy" in refused.value.hint
            question(fixed)
        assert open_.verify(exp_epsilon=3)
        with pytest.raises(QueryError, match="integer orders"):
            open_.renyi("3/2")


@pytest.mark.parametrize(
    ("source", "error", "what"),
    [
        ("def f(x):\n    return ask((), ())\n", ProgramError, "no choices"),
        ("def f(x):\n    observe(x[0] or flip(1/2))\n    return ask((), (1, 2))\n", LanguageError, "observe"),
        ("def f(x):\n    return ask(lambda: 1, (1, 2))\n", TightdpError, "shown|function"),
        (
            "def f(x):\n    while True:\n        if ask((), (0, 1)) or flip(1/2):\n            return 1\n",
            LanguageError,
            "more than 200 questions",
        ),
    ],
)
def test_what_is_refused(source: str, error: type[TightdpError], what: str) -> None:
    with module_of(source) as module, pytest.raises(error, match=what):
        bind(module, Bit, 1).privacy()


def test_every_n() -> None:
    source = "def f(x, q):\n    least = ask((), (1, 2))\n    return geometric(sum(v >= least for v in x), q)\n"
    with module_of(source) as module:
        made = mechanism(record=Int(0, 2))(module.f)
        found = made.bind(n="all", q="1/3").privacy()
        assert (found.status, found.exp_epsilon) == ("exact", 3)


def test_all_strategies_are_tried() -> None:
    with module_of(QUERY.format(offer="(0, 1, 2)")) as module:
        bound = bind(module, Int(0, 2), 1).bound
        assert sum(1 for _ in strategies(bound)) == 3**3
        assert len(list(relation_of(bound).neighbours((0,)))) == 2
