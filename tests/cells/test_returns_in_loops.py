"""What a return statement inside a loop computes from counters, against enumerated runs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tightdp import Bit, Mechanism, flip, mechanism, randint
from tightdp.core.lowering import loops
from tightdp.language.interp import law_within

THIRD = Fraction(1, 3)


@mechanism(record=Bit)
def remainders(x):
    z = 0
    while True:
        if flip(THIRD):
            return z % 3, z + x[0] > 4
        z += 1


@mechanism(record=Bit)
def in_two_loops(x):
    rounds = x[0]
    while True:
        rounds += 1
        while flip(THIRD):
            if flip("1/2"):
                return rounds % 2, "inside"
        if flip("3/4"):
            return rounds % 2, min(rounds, 3)


@mechanism(record=Bit)
def draws_at_the_end(x):
    z = x[0]
    while True:
        for step in (1, 2):
            if flip(THIRD):
                return (z + randint(0, 1)) % 2 + step
        z += 1


@mechanism(record=Bit)
def matched(x):
    z = x[0]
    while True:
        match flip(THIRD):
            case False:
                z += 1
            case shown:
                return shown, min(z, 3)


@mechanism(record=Bit)
def by_a_function_of_the_round(x):
    z = x[0]
    while True:

        def twice(y):
            return 2 * y

        if flip(THIRD):
            return twice(z) % 3
        z += 1


SLOW = pytest.mark.slow(seconds=12)
EXACT = [remainders, draws_at_the_end]
ENCLOSED = [in_two_loops, matched, by_a_function_of_the_round]
MADE = [*EXACT, *(pytest.param(made, marks=SLOW) for made in ENCLOSED)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("made", MADE, ids=lambda made: made.name)
@pytest.mark.parametrize("x", [0, 1])
def test_laws_are_those_of_runs(made: Mechanism, x: int) -> None:
    instance = made.bind(n=1)
    masses, beyond = law_within(instance.engine.program.bound, (x,), reach=9, draws=7)
    found = instance.distribution((x,))
    law = dict(found.law)
    upper = dict(found.upper) if found.upper else law
    assert sum(law.values()) <= 1
    assert {output for output, _ in masses.items()} <= set(law)
    for output, mass in law.items():
        assert masses.get(output, 0) <= upper[output]
        assert mass <= masses.get(output, 0) + beyond


@pytest.mark.parametrize("made", EXACT, ids=lambda made: made.name)
def test_they_are_exact(made: Mechanism) -> None:
    assert made.bind(n=1).privacy().status == "exact"


@mechanism(record=Bit)
def returned(x):
    rounds = flips = 0
    while True:
        rounds, flips = rounds + 1, flips + 2
        first, second = flip(THIRD), flip(THIRD)
        if first != second:
            return first ^ x[0], rounds, flips


@mechanism(record=Bit)
def broken_off(x):
    rounds = flips = 0
    while True:
        rounds, flips = rounds + 1, flips + 2
        first, second = flip(THIRD), flip(THIRD)
        if first != second:
            break
    return first ^ x[0], rounds, flips


def test_counters_that_are_returned_from_inside_are_counters(monkeypatch: pytest.MonkeyPatch) -> None:
    played, found = [0], []
    round_from = loops._round_from

    def counted(*arguments: Any) -> Any:
        played[0] += 1
        return round_from(*arguments)

    monkeypatch.setattr(loops, "_round_from", counted)
    for made in (returned, broken_off):
        played[0] = 0
        law = made.bind(n=1).distribution((1,))
        found.append((law.law, law.upper))
        assert played[0] < 30  # one for each place where counters stand would be 100
    assert found[0] == found[1]
