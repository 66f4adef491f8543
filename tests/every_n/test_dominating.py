"""δ, the curve, divergences and claims of them for every n, between what some n has and what is proved."""

from __future__ import annotations

from fractions import Fraction
from math import inf
from random import Random

import pytest

from tightdp import (
    ALL,
    Bit,
    EachRecord,
    Int,
    LanguageError,
    QueryError,
    choice,
    discrete_laplace,
    flip,
    geometric,
    mechanism,
)
from tightdp.every_n.upper import Upper
from tightdp.session import dominating, search


@mechanism(record=Bit)
def clamped(x):
    return min(geometric(sum(x), "1/2"), 1)


@mechanism(record=Bit)
def folded(x):
    return abs(discrete_laplace(sum(x), 1))


@mechanism(record=Bit)
def remembered(x, lam):
    """Whether a one was seen is wrong at times, and what is told of it too."""
    seen = 0
    for v in x:
        seen = (seen | v) ^ flip(lam)
    return seen ^ flip(lam)


@mechanism(record=Bit)
def in_clear_with_others(x):
    key = flip("1/2")
    return tuple(v ^ key for v in x)


def test_noise_that_is_clamped_has_the_curve_of_randomized_response():
    every, one = (clamped.bind(n=n) for n in (ALL, 1))
    assert every.curve().points == one.curve().points == ((1, Fraction(1, 3)), (2, 0))
    assert every.tradeoff().vertices == one.tradeoff().vertices
    assert every.renyi(2).exp_moment == one.renyi(2).exp_moment
    found = every.privacy(delta="1/10")
    assert (found.status, found.upper, found.n, found.attained) == ("exact", Fraction(17, 10), 1, True)


def test_ratios_with_powers_of_e():
    found = folded.bind(n=ALL).delta(epsilon="1/2")
    assert float(found.lower) == pytest.approx(float(found.upper), rel=1e-2)
    assert all(folded.bind(n=n).delta(epsilon="1/2").delta <= found.upper for n in (1, 2, 3))


def test_without_an_end_of_the_ratios_one_is_the_end_of_delta():
    found = in_clear_with_others.bind(n=ALL).delta(exp_epsilon=5)
    assert (found.status, found.delta, found.for_every_n.n) == ("exact", 1, 2)
    assert in_clear_with_others.bind(n=ALL).verify(epsilon=3, delta="1/2").holds is False
    assert in_clear_with_others.bind(n=ALL).privacy(delta="1/2").exp_epsilon == inf


def test_claims():
    every = remembered.bind(n=ALL, lam="1/5")
    assert every.verify(exp_epsilon=4, delta="1/100").holds is True
    refuted = every.verify(exp_epsilon="11/10", delta="1/100")
    assert refuted.holds is False
    assert refuted.to_dict()["result"].keys() >= {"lower", "upper", "n", "attained", "proof"}
    assert refuted.claims[0].claim == "exp_epsilon at delta = 1/100"


def test_an_upper_end_that_some_n_contradicts_is_refused(monkeypatch):
    monkeypatch.setattr(dominating, "proved", lambda instance: Upper(Fraction(1), "windows"))
    with pytest.raises(LanguageError, match="contradicts its answer at n = 1"):
        clamped.bind(n=ALL).delta(exp_epsilon=1)


@mechanism(record=Int(0, 2))
def drawn(x, start, table, told, ratio):
    """A state that records and draws lead on, and what is told of it at the end, with each record, or by its sum."""
    state, total, sent = start, 0, []
    for v in x:
        state = choice((0, 1), table[state][v])
        total += state
        sent.append(state ^ flip(ratio))
    if told == "end":
        return state ^ flip(ratio)
    if told == "noisy":
        return min(max(geometric(total, ratio), 0), 2)
    if told == "least":
        return min(sent), max(sent)
    return tuple(sent) if told == "each" else sum(sent) % 2


ASKED = {
    "delta": lambda asked: asked.delta(exp_epsilon="3/2"),
    "epsilon": lambda asked: asked.privacy(delta="1/20"),
    "renyi": lambda asked: asked.renyi(3),
    "curve": lambda asked: asked.curve(),
    "tradeoff": lambda asked: asked.tradeoff(),
}


def within(one, every):
    """Whether the answer at one n is within the ends for every n."""
    if hasattr(one, "points"):
        grid = [1 + Fraction(k, 4) for k in range(20)]
        return all(one.delta(exp_epsilon=t).upper <= every.delta(exp_epsilon=t).upper for t in grid)
    if hasattr(one, "vertices"):
        return all(every(Fraction(k, 10)) <= one(Fraction(k, 10)) for k in range(11))
    return one.lower <= every.upper


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(24))
def test_no_n_is_above(seed):
    draw = Random(seed)
    table = tuple(tuple((draw.randint(0, 3), draw.randint(1, 3)) for _ in range(3)) for _ in range(2))
    told = draw.choice(["end", "noisy", "least", "each", "rest"])
    parts = {"table": table, "told": told, "start": draw.randint(0, 1), "ratio": Fraction(1, draw.randint(3, 6))}
    relations = [None, "unit-step", EachRecord(lambda v: [min(v + 1, 2)])]
    parts["neighbours"] = draw.choice(relations[: 3 if told == "end" else 2 - (told == "noisy")])
    ask = ASKED[draw.choice(list(ASKED))]
    every = ask(drawn.bind(n=ALL, **parts))
    for n in (1, 2, 3, 4):
        assert within(ask(drawn.bind(n=n, **parts)), every), n


@pytest.mark.parametrize("both_ways", [True, False])
def test_no_laws_within_a_ratio_are_easier_to_tell_apart(both_ways):
    """Laws on four outputs are drawn; δ is summed here."""
    draw = Random(both_ways)
    relation = None if both_ways else EachRecord(lambda v: [1] if not v else [])
    most = clamped.bind(n=1, neighbours=relation)
    for _ in range(60):
        p, q = ([Fraction(draw.randint(1, 9)) for _ in range(4)] for _ in range(2))
        p, q = ([each / sum(law) for each in law] for law in (p, q))
        ratio = max(max(a / b, b / a if both_ways else 0) for a, b in zip(p, q, strict=True))
        worst = search.curve(dominating.responses(most, ratio))
        for t in (Fraction(1), Fraction(3, 2), ratio):
            delta = sum(max(Fraction(0), a - t * b) for a, b in zip(p, q, strict=True))
            assert delta <= worst.delta(exp_epsilon=t).delta
        assert worst.points[-1] == (ratio, 0)


def test_the_privacy_loss_is_not_enclosed():
    with pytest.raises(QueryError, match="no pair of laws"):
        clamped.bind(n=ALL).privacy_loss()


def test_what_is_said_of_lines_between_two_ends():
    curve, tradeoff = folded.bind(n=ALL).curve(), folded.bind(n=ALL).tradeoff()
    for said in ("lower end at  n = ", "upper end by  randomized response"):
        assert said in str(curve)
    for said in ("upper end at  n = ", "lower end by  randomized response"):
        assert said in str(tradeoff)
    assert "The true function lies nowhere below." in str(tradeoff)


@pytest.mark.parametrize(("made", "exp_epsilon"), [(clamped, 1), (folded, "exp(1)"), (folded, 1)])
def test_points_of_a_curve_say_how_they_are_proved(made, exp_epsilon):
    curve = made.bind(n=ALL).curve()
    point = curve.delta(exp_epsilon=exp_epsilon)
    assert (point.status == "exact") == (point.lower == point.upper) == (exp_epsilon != 1 or made is clamped)
    said = point.to_dict()["result"]
    assert said["n"] == curve.for_every_n.n
    assert (said["attained"], said["proof"]) == (True if point.status == "exact" else None, "randomized response")


@pytest.mark.slow(seconds=4)
def test_claims_are_explained_where_they_fail():
    every = remembered.bind(n=ALL, lam="1/5", neighbours="unit-all")
    assert every.explain(exp_epsilon=4).holds is True
    found = every.explain(exp_epsilon=2, delta="1/100")
    assert (found.holds, "n=1" in str(found.subject)) == (False, True)


@mechanism(record=Bit)
def apart(x):
    """What a first answer tells is only a part of what all of them would."""
    seen, sent = 0, []
    for v in x:
        seen = (seen | v) ^ flip("1/10")
        sent.append(seen ^ flip("1/4"))
    return sum(sent) % 2, sent[0]


@pytest.mark.slow(seconds=4)
def test_a_claim_between_the_ends_is_not_explained():
    found = apart.bind(n=ALL)
    assert "e^ε at most  " in str(found.explain())
    with pytest.raises(QueryError, match="not decided"):
        found.explain(exp_epsilon=5)
