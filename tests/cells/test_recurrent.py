"""Loops with counters whose laws have irrational poles: ratios against the flow of masses, counted here."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import pytest
from flint import fmpq

from tightdp import Bit, Mechanism, flip, mechanism, observe
from tightdp.cells import poles
from tightdp.cells.generating import Generating, Ray
from tightdp.cells.laws import cell_laws
from tightdp.cells.patterns import Pattern
from tightdp.cells.suprema import TooLong
from tightdp.language.interp import law_within

HALF, THIRD, THIRDS = Fraction(1, 2), Fraction(1, 3), Fraction(2, 3)
UPWARDS = Pattern((0,), ((1,),))
FAR = 160


def flow(rng: random.Random) -> tuple[list[list[tuple[int, int, fmpq]]], list[fmpq]]:
    """Draw a chain: from each state two moves, by how much they count, and the probability to end."""
    size = rng.randint(2, 4)
    moves, ends = [], []
    for _ in range(size):
        p = fmpq(rng.randint(1, 5), 6)
        each = [(rng.randrange(size), rng.randint(1, 2), share) for share in (p, 1 - p)]
        moves.append(each[: rng.randint(1, 2)])
        ends.append(1 - sum((share for *_, share in moves[-1]), fmpq(0)))
    return moves, ends


def masses(moves: Any, ends: Any, begun: list[fmpq]) -> list[fmpq]:
    visits: list[list[fmpq]] = []
    for k in range(FAR):
        now = list(begun) if k == 0 else [fmpq(0)] * len(ends)
        for state, each in enumerate(moves):
            for to, grown, share in each:
                now[to] += visits[k - grown][state] * share if grown <= k else 0
        visits.append(now)
    return [sum((v * e for v, e in zip(line, ends, strict=True)), fmpq(0)) for line in visits]


def generating(terms: list[fmpq]) -> Generating:
    found = Generating.from_terms(terms.__getitem__, 12)
    assert [found.term(k) for k in range(FAR)] == terms
    return found


def seen(terms: list[fmpq], others: list[fmpq]) -> Any:
    both = [(p, q) for p, q in zip(terms, others, strict=True) if p]
    return max((p / q for p, q in both), default=fmpq(0)) if all(q for _, q in both) else math.inf


def laws(rng: random.Random) -> tuple[list[fmpq], list[fmpq]]:
    """Return two sequences of masses: of one chain that begins otherwise, or of two."""
    moves, ends = flow(rng)
    size = len(ends)
    begun = [[fmpq(rng.randint(1, 3), 3) * (s in (0, size - 1)) for s in range(size)] for _ in range(2)]
    p = masses(moves, ends, begun[0])
    if rng.random() < 0.3:
        moves, ends = flow(rng)
        begun[1] = [fmpq(1)] * len(ends)
    return p, masses(moves, ends, begun[1])


@pytest.mark.parametrize("seed", range(60))
def test_suprema_are_those_of_truncated_flows(seed: int) -> None:
    p, q = laws(random.Random(seed))
    both = generating(p).coefficients, generating(q).coefficients
    on: Any = UPWARDS, fmpq(0), lambda: None
    try:
        found, high = poles.supremum(*both, *on), None
        assert found is not None or not any(p)
    except TooLong as error:
        found = error.best
        assert found is not None
        high = poles.upper_end(*both, UPWARDS, found.value, lambda: None)
    if found is None:
        return
    assert found.value == math.inf or seen(p, q) <= (high or found.value)
    if not any(found.moved):
        assert found.value == seen(p, q)
    elif found.value == math.inf:
        assert seen(p[-24:], q[-24:]) > seen(p[40:64], q[40:64])
    else:
        assert abs(seen(p[-24:], q[-24:]) / found.value - 1) < fmpq(1, 100)
    excess, theirs = poles.larger(*both, fmpq(1), UPWARDS, lambda: None)
    counted = [(a - b, b) for a, b in zip(p, q, strict=True) if a > b]
    left = generating(p).later(FAR).total + generating(q).later(FAR).total
    for total, known in zip((excess, theirs), zip(*counted, strict=True) if counted else ((), ()), strict=True):
        assert sum(known, fmpq(0)) <= total <= sum(known, fmpq(0)) + left


def test_an_irrational_limit_is_enclosed() -> None:
    """F(2k)/L(2k), of Fibonacci's and Lucas's numbers, grows to 1/√5."""
    fibonacci, lucas = ([fmpq(a), fmpq(b)] for a, b in ((0, 1), (2, 3)))
    for each in (fibonacci, lucas):
        while len(each) < FAR:
            each.append(3 * each[-1] - each[-2])
    p, q = (generating(each).coefficients for each in (fibonacci, lucas))
    with pytest.raises(TooLong) as error:
        poles.supremum(p, q, UPWARDS, fmpq(0), lambda: None)
    best = error.value.best
    assert best is not None
    assert best.moved == (1,)
    high = poles.upper_end(p, q, UPWARDS, best.value, lambda: None)
    assert best.value**2 < fmpq(1, 5) < high**2
    assert high - best.value < fmpq(1, 1 << 80)
    assert poles.supremum(q, p, UPWARDS, fmpq(0), lambda: None).value == math.inf


def test_rays_are_what_they_list() -> None:
    ray = Ray(3, -1, generating([fmpq(1, 2) ** k for k in range(FAR)]))
    inner = ray.within(-1, 1)
    assert [inner.at(place) for place in range(-2, 3)] == [0, fmpq(1, 16), fmpq(1, 8), fmpq(1, 4), 0]
    assert [ray.divided(2, 1).at(w) for w in (1, 0, -1)] == [1, fmpq(1, 4), fmpq(1, 16)]
    assert [ray.from_(1, 1).term(k) for k in range(4)] == [fmpq(1, 4), fmpq(1, 2), 1, 0]
    finite = ray.within(2, 3)
    assert [finite.reversed.at(place) for place in (1, 2, 3)] == [0, fmpq(1, 2), 1]
    assert finite.plus(Ray(0, 1, ray.masses)).at(2) == fmpq(1, 2)
    assert ray.plus(Ray(0, 1, ray.masses)) is None


@mechanism(record=Bit)
def two_in_a_row(x):
    n, last = 0, flip(THIRD if x[0] else THIRDS)
    while True:
        n, now = n + 1, flip(THIRD)
        if now and last:
            return n
        last = now


@mechanism(record=Bit)
def walk(x):
    at, n = 1, 0
    while 0 < at < 4:
        at += 1 if flip(HALF if x[0] else THIRD) else -1
        n -= 1
    return at > 0, n


@mechanism(record=Bit)
def added(x):
    n, run = x[0], 0
    while flip(THIRD):
        while run < 2:
            n += 1
            run = run + 1 if flip(HALF) else 0
        run = 0
    return n // 2 if flip(HALF) else -1


@mechanism(record=Bit)
def conditioned(x):
    n = run = 0
    while run < 2:
        n += 1
        run = run + 1 if flip(HALF) else 0
        observe(run > 0 or flip(THIRD))
    return n + flip(HALF if x[0] else THIRD), n > 3


@pytest.mark.parametrize("made", [two_in_a_row, walk, added, conditioned], ids=lambda made: made.name)
def test_laws_are_those_of_runs(made: Mechanism) -> None:
    bound = made.bind(n=1)
    laws = cell_laws(bound.engine.program.bound, lambda: None)
    for x in ((0,), (1,)):
        known, beyond = law_within(bound.engine.program.bound, x, reach=7, draws=7)
        whole = sum(known.values()) + beyond
        for output, mass in known.items():
            found = laws.number(laws.probability(x, output))
            if made is conditioned:
                assert mass / whole <= found <= (mass + beyond) / (whole - beyond)
            else:
                assert mass <= found <= mass + beyond


@pytest.mark.parametrize(("made", "tight"), [(two_in_a_row, 2), (walk, math.inf), (conditioned, Fraction(3, 2))])
def test_epsilon_is_exact(made: Mechanism, tight: Any) -> None:
    found = made.bind(n=1).privacy()
    assert (found.status, found.exp_epsilon) == ("exact", tight)
