"""Loops without a bound that read and change what stands outside: it belongs to their state."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tightdp import Bit, LanguageError, Mechanism, flip, geometric, mechanism


class Counting:
    def __init__(self) -> None:
        self.rounds = 0

    def step(self, by: int) -> None:
        self.rounds += by


class Keeping:
    def __init__(self) -> None:
        self.kept: list[int] = []


COUNTING, KEEPING = Counting(), Keeping()
STEPS, ARRAY, TABLE = [1, 2], np.array([1, 2]), {"step": 1}


@mechanism(record=Bit)
def by_name(x):
    while flip("1/2"):
        COUNTING.rounds += 1
    return COUNTING.rounds + sum(x)


@mechanism(record=Bit)
def by_another_name(x):
    mine = COUNTING
    while flip("1/2"):
        mine.step(STEPS[0])
    return mine.rounds + sum(x)


@mechanism(record=Bit)
def read_only(x):
    rounds = 0
    while flip("1/2"):
        rounds += STEPS[0] * int(ARRAY[0]) * TABLE["step"]
    return rounds + sum(x)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("made", [read_only, by_name, by_another_name], ids=lambda made: made.program.name)
def test_counters_outside(made: Mechanism) -> None:
    for x in ((0,), (1,)):
        law: Any = made.bind(n=1).distribution(x).law
        assert [dict(law)[k + x[0]] for k in range(5)] == [Fraction(1, 2 ** (k + 1)) for k in range(5)]
    assert made.bind(n=1).delta(exp_epsilon=2).delta == Fraction(1, 2)


@mechanism(record=Bit)
def alternating(x):
    while flip("1/2"):
        COUNTING.rounds = 1 - COUNTING.rounds
    return geometric(sum(x) + COUNTING.rounds, "1/2")


def test_what_alternates_outside() -> None:
    law: Any = alternating.bind(n=1).distribution((1,))
    noise = {z: Fraction(1, 3) / 2 ** abs(z) for z in range(-9, 10)}  # an odd number of rounds has probability 1/3
    for y in range(-5, 6):
        assert law.probability(y) == Fraction(2, 3) * noise[y - 1] + Fraction(1, 3) * noise[y - 2]


@mechanism(record=Bit)
def growing(x):
    while flip("1/2"):
        KEEPING.kept.append(1)
    return len(KEEPING.kept) + sum(x)


@pytest.mark.slow(seconds=2)
def test_what_grows_outside_is_refused() -> None:
    with pytest.raises(LanguageError, match="no bound on the rounds"):
        growing.bind(n=1).privacy()


@mechanism(record=Bit)
def by_its_own_functions(x):
    def magnitude():
        k = 0
        while flip("1/2"):
            k += 1
        return k

    def negative():
        return flip("1/2")

    def positive():
        return not flip("1/2")

    sign = negative if flip("1/3") else positive
    while True:
        m, below = magnitude() // 2, sign()
        if m > 0 or not below:
            return sum(x) - m if below else sum(x) + m


def test_functions_defined_in_the_mechanism_are_the_same_in_every_run() -> None:
    """Half of a magnitude is m with probability 3/4^(m + 1); 0 is drawn again where it is negative."""
    law: Any = by_its_own_functions.bind(n=2).distribution((0, 1))
    assert law.status == "exact"
    for y in range(-4, 6):
        assert law.probability(y) == Fraction(3, 2) / 4 ** (abs(y - 1) + 1) / Fraction(5, 8)


@mechanism(record=Bit)
def by_one_of_two(x):
    def often():
        return flip("3/4")

    def seldom():
        return flip("1/4")

    coin = often if x[0] else seldom
    k = 0
    while coin():
        k += 1
    return k


def test_functions_of_another_text_are_not_the_same() -> None:
    for bit, ratio in ((0, Fraction(1, 4)), (1, Fraction(3, 4))):
        law: Any = by_one_of_two.bind(n=1).distribution((bit,))
        assert [law.probability(k) for k in range(5)] == [(1 - ratio) * ratio**k for k in range(5)]
    assert by_one_of_two.bind(n=1).privacy().exp_epsilon == float("inf")


@mechanism(record=Bit)
def with_variables(x):
    p, at = Fraction(1, 2), [0]

    def turned(k):
        at[0] = 1 - at[0]
        return flip(p / k)

    def more():
        return turned(1) or flip(Fraction(1, 3))

    z = 0
    while more():
        z += 1
    return z + at[0] + x[0]


@mechanism(record=Bit)
def without_functions(x):
    z = at = 0
    while True:
        at = 1 - at
        if not flip("1/2") and not flip("1/3"):
            return z + at + x[0]
        z += 1


@mechanism(record=Bit)
def of_two_in_turn(x):
    def coin(p):
        def shown():
            return flip(p)

        return shown

    one, other = coin(Fraction(1, 2)), coin(Fraction(1, 3))
    z = 0
    while one():
        z += 1
        one, other = other, one
    return z + x[0] if other() else z - x[0]


@mechanism(record=Bit)
def of_two_numbers_in_turn(x):
    one, other = Fraction(1, 2), Fraction(1, 3)
    z = 0
    while flip(one):
        z += 1
        one, other = other, one
    return z + x[0] if flip(other) else z - x[0]


@mechanism(record=Bit)
def of_what_changes(x):
    last = 0

    def up():
        return flip("1/3") if last else flip("1/2")

    z = 0
    while up():
        z += 1
        last = 1 - last
    return z + x[0] + last


@mechanism(record=Bit)
def of_what_changes_at_once(x):
    z = last = 0
    while flip("1/3") if last else flip("1/2"):
        z += 1
        last = 1 - last
    return z + x[0] + last


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("made", "flat"),
    [
        (with_variables, without_functions),
        (of_two_in_turn, of_two_numbers_in_turn),
        (of_what_changes, of_what_changes_at_once),
    ],
    ids=lambda made: made.program.name,
)
def test_functions_may_see_variables_around(made: Mechanism, flat: Mechanism) -> None:
    for x in ((0,), (1,)):
        ours: Any = made.bind(n=1).distribution(x)
        theirs: Any = flat.bind(n=1).distribution(x)
        assert ours.status == "exact"
        assert [ours.probability(k) for k in range(-2, 12)] == [theirs.probability(k) for k in range(-2, 12)]
