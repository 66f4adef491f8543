"""What a return statement inside a loop computes from counters, against enumerated runs."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tightdp import Bit, Mechanism, flip, mechanism, randint
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
