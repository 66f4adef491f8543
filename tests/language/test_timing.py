"""Rounds and bits that are published: against mechanisms that count by hand, and the programs and their page."""

from __future__ import annotations

import json
import pickle
import random
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import Any

import pytest
from programs.timing import loops, samplers

from tightdp import (
    ALL,
    Int,
    LanguageError,
    ProgramError,
    QueryError,
    ask,
    choice,
    flip,
    geometric,
    mechanism,
    randint,
)
from tightdp.language.interp import law
from tightdp.session.certify import load_checker
from timing_oracle import RUNS, largest
from timing_oracle import law as run_law

PAGE = Path(__file__).parents[2] / "docs" / "timing.md"
RECORDED = [(module, expected) for module in (loops, samplers) for expected in module.EXPECTED]
LABELS = [expected["mechanism"] for _, expected in RECORDED]
SEEN: dict[str, Any] = {
    "without": lambda told: told[0],
    "rounds": lambda told: told[:2],
    "bits": lambda told: (told[0], told[2]),
}
DEPTH = {"delayed": 40, "count_by_trials": 12, "k_ary_by_rejection": 9}
"""So many coins are followed where there is no bound; elsewhere all."""


def asked(module: Any, expected: dict[str, Any], what: str) -> Any:
    counts = {} if what == "without" else {f"with_{what}": True}
    return getattr(module, expected["mechanism"]).bind(**expected["parameters"], **counts)


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("module", "expected"), RECORDED, ids=LABELS)
def test_programs(module: Any, expected: dict[str, Any]) -> None:
    cells = []
    for what, seen in SEEN.items():
        found = asked(module, expected, what).privacy()
        wanted = inf if expected[what] == "inf" else Fraction(expected[what])
        assert (found.status, found.exp_epsilon) == ("exact", wanted)
        name, given = expected["mechanism"], expected["parameters"]
        values = given["k"] if name == "k_ary_by_rejection" else 2
        ratio, left = largest(name, given["n"], values, seen, DEPTH.get(name, 100))
        if not left or what != "without":  # what is seen tells how many coins fell: all such runs are followed, or none
            assert ratio == wanted
        cells.append(expected[what])
    words = " ".join(f"{key}={value}" for key, value in expected["parameters"].items())
    assert f"| `{expected['mechanism']} {words}` | {' | '.join(cells)} |" in PAGE.read_text(encoding="utf-8")


def test_padded_programs_have_the_same_law() -> None:
    for x in ((0, 0), (0, 1), (1, 1)):
        padded = dict(samplers.count_padded.bind(n=2, p="1/2").distribution(x).law)
        by_trials, rest = run_law(RUNS["count_by_trials"], x, 20)
        for y, mass in padded.items():
            assert mass - rest <= sum(each for told, each in by_trials.items() if told[0] == y) <= mass
        lazy, once = (each.bind(n=2, a=3, k=4) for each in (samplers.answers_lazily, samplers.answers_at_once))
        assert dict(lazy.distribution(x).law) == dict(once.distribution(x).law)


def test_a_delay_costs_a_delta() -> None:
    found = loops.delayed.bind(n=2, lam="1/4", p="7/8", with_rounds=True)
    assert found.delta(exp_epsilon=3).delta == Fraction(1, 8)
    assert found.privacy(delta="1/8").exp_epsilon == Fraction(20, 7)


# against what is counted by hand


def trials(p: Any) -> int:
    z = 0
    while flip(p):
        z += 1
    return z


def nested(p: Any) -> int:
    total = 0
    for _ in range(2):
        total += trials(p)
        if total:
            break
    return total


@mechanism
def by_itself(x, most):
    total = 0
    for v in x:
        for _ in range(v + 1):
            if flip("1/4"):
                continue
            total += 1
    if flip("1/2"):
        return total % 2
    while total < most:
        total += randint(1, 2)
        if total % 3 == 0:
            break
    else:
        return None
    return total > most


@mechanism
def by_hand(x, most):
    records = inner = outer = total = bits = 0
    for v in x:
        records += 1
        for _ in range(v + 1):
            inner += 1
            bits += 2
            if flip("1/4"):
                continue
            total += 1
    bits += 1
    if flip("1/2"):
        return total % 2, (records, inner, outer), bits
    while total < most:
        outer += 1
        bits += 1
        total += randint(1, 2)
        if total % 3 == 0:
            break
    else:
        return None, (records, inner, outer), bits
    return total > most, (records, inner, outer), bits


@mechanism(record=Int(0, 2))
def helped(x, p):
    def twice(v):
        for _ in range(v):
            if flip("1/2"):
                return 1
        return 0

    first = sum([twice(v) for v in x])
    return (first + nested(p)) % 2


@mechanism(record=Int(0, 2))
def helped_by_hand(x, p):
    counts = [0, 0, 0]
    first = 0
    for v in x:
        for _ in range(v):
            counts[0] += 1
            if flip("1/2"):
                first += 1
                break
    total = 0
    for _ in range(2):
        counts[1] += 1
        while flip(p):
            counts[2] += 1
            total += 1
        if total:
            break
    return (first + total) % 2, tuple(counts)


@pytest.mark.parametrize("n", [1, 2])
def test_counts_are_those_made_by_hand(n: int) -> None:
    told, hand = by_itself.bind(n=n, most=4, with_rounds=True, with_bits=True), by_hand.bind(n=n, most=4)
    for x in ((0,) * n, (1,) * n):
        assert law(told.bound, x) == law(hand.bound, x) == dict(told.distribution(x).law)
    assert told.privacy().exp_epsilon == hand.privacy().exp_epsilon == inf
    assert told.delta(exp_epsilon=2).delta == hand.delta(exp_epsilon=2).delta


@pytest.mark.slow(seconds=2)
@pytest.mark.parametrize("n", [1, 2])
def test_helpers_count_too(n: int) -> None:
    told, hand = helped.bind(n=n, p="1/4", with_rounds=True), helped_by_hand.bind(n=n, p="1/4")
    assert told.privacy().exp_epsilon == hand.privacy().exp_epsilon == inf
    assert told.delta(exp_epsilon=2).delta == hand.delta(exp_epsilon=2).delta
    assert told.bound.run((2,) * n)[1][0] >= n


@mechanism
def only_the_draws(x):
    while flip("1/2"):
        pass
    return tuple([v ^ flip("1/4") for v in x])


def test_time_that_tells_nothing() -> None:
    assert only_the_draws.bind(n=1, with_bits=True).privacy().exp_epsilon == 3
    assert loops.any_record_padded.bind(n=ALL, lam="1/4", with_rounds=True).privacy().upper == 3
    assert loops.any_record.bind(n=ALL, lam="1/4", with_rounds=True).privacy().upper == inf
    found = only_the_draws.bind(n=1, with_rounds=True)
    assert found.privacy().exp_epsilon == 3
    assert str(found.subject).endswith("with_rounds=True)")


@mechanism
def asking(x, turns):
    seen = []
    for _ in range(turns):
        lies = ask(seen, (1, 2))
        told = x[0]
        for _ in range(lies):
            if flip("1/2"):
                told = 1 - told
                break
        seen.append(told ^ flip("1/4"))
    return tuple(seen)


def test_an_analyst_who_sees_the_time() -> None:
    without, seen = (asking.bind(n=1, turns=1, with_rounds=with_rounds).privacy() for with_rounds in (False, True))
    assert without.exp_epsilon == Fraction(5, 3)
    assert seen.exp_epsilon == 3


@mechanism
def stopping(x):
    said = any(flip("1/4") for v in x if v)
    return said, next((i for i, v in enumerate(x) if v or flip("1/4")), None), sum(v for v in x if flip("1/2"))


@mechanism
def stopping_by_hand(x):
    looked = tried = 0
    said = False
    for v in x:
        looked += 1
        if v and flip("1/4"):
            said = True
            break
    first = None
    for i in range(len(x)):
        tried += 1
        if x[i] or flip("1/4"):
            first = i
            break
    return (said, first, sum(v for v in x if flip("1/2"))), (looked, tried)


def test_generators_that_are_not_gone_through_to_the_end_are_loops() -> None:
    told, hand = stopping.bind(n=2, with_rounds=True), stopping_by_hand.bind(n=2)
    for x in ((0, 0), (0, 1), (1, 0), (1, 1)):
        assert law(told.bound, x) == law(hand.bound, x) == dict(told.distribution(x).law)


# refused, and on their way


@mechanism
def recursive(x):
    def again(k):
        return k == 0 or (flip("1/2") and again(k - 1))

    return x[0] ^ again(2)


def deeper(k):
    return 0 if flip("1/2") or k == 0 else 1 + deeper(k - 1)


TRIALS = (trials, nested)


@mechanism
def listed(x):
    return TRIALS[0]("1/4") + x[0]


@mechanism
def deep(x):
    return deeper(2) + x[0]


@mechanism
def drawing(x):
    return geometric(x[0], "1/2")


GENERATOR = random.Random()


@mechanism
def by_module(x):
    return x[0] ^ random.getrandbits(1)


@mechanism
def by_generator(x):
    return x[0] ^ GENERATOR.getrandbits(1)


@mechanism
def by_another_generator(x):
    return x[0] ^ random.SystemRandom().getrandbits(1)


@mechanism
def choosing(x):
    return choice((x[0], 1))


@mechanism
def inside(x):
    return by_itself(x, most=2)


@mechanism
def thirds(x):
    return x[0] ^ flip("1/3")


@pytest.mark.parametrize(
    ("made", "counts", "said"),
    [
        (recursive, "rounds", "calls itself"),
        (deep, "rounds", "calls itself"),
        (listed, "rounds", "what TRIALS counts is not seen here"),
        (inside, "rounds", "what by_itself counts is not seen here"),
        (drawing, "bits", "geometric takes no fixed number of fair bits"),
        (choosing, "bits", "choice takes no fixed number of fair bits"),
        (by_module, "bits", "what random.getrandbits counts is not seen here"),
        (by_generator, "bits", "what GENERATOR counts is not seen here"),
        (by_another_generator, "bits", "what random.SystemRandom counts is not seen here"),
    ],
)
def test_what_is_not_counted_is_refused(made: Any, counts: str, said: str) -> None:
    with pytest.raises(LanguageError) as error:
        made.bind(n=1, **{f"with_{counts}": True}).privacy()
    assert said in error.value.what
    assert error.value.span is not None
    assert error.value.span.file == __file__


def test_other_refusals() -> None:
    with pytest.raises(ProgramError, match=r"some a / 2\^k"):
        thirds.bind(n=1, with_bits=True).privacy()
    with pytest.raises(QueryError, match="unknown"):
        samplers.count_padded.bind(n=1, p="?", with_bits=True)
    with pytest.raises(QueryError, match="doubles"):
        thirds.bind(n=1, with_rounds=True, floats=True)
    with pytest.raises(QueryError, match="no rounds and bits"):
        samplers.count_padded.bind(n=1, p="1/2", with_rounds=True).optimum()


def test_rounds_travel_and_are_certified() -> None:
    instance = loops.any_record.bind(n=2, lam="1/4", with_rounds=True)
    again = pickle.loads(pickle.dumps(instance))
    assert again.privacy().exp_epsilon == inf
    padded = loops.any_record_padded.bind(n=2, lam="?", with_rounds=True)
    assert padded.verify(exp_epsilon=3).holds is False
    content = json.loads(samplers.answers_at_once.bind(n=1, a=3, k=4, with_bits=True).certify().text)
    assert content["claim"]["parameters"] == {"a": "3", "k": "4", "with_bits": "True"}
    assert "privacy" in str(load_checker().check(content))


def test_explain_keeps_what_is_seen() -> None:
    found = loops.any_record.bind(n=2, lam="1/4", with_rounds=True).explain(exp_epsilon=3)
    assert found.remedies == ()
