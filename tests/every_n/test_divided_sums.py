"""Noise that is added to a sum over the records divided by a number, and rounded, for every n."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import pytest

from tightdp import ALL, Bit, Int, flip, geometric, laplace, mechanism


@mechanism(record=Bit)
def divided(x):
    return geometric(sum(x) // 2, "1/2")


@mechanism(record=Bit)
def divided_and_whole(x):
    return geometric((sum(x) + 1) // 3, "1/2"), geometric(sum(x), "1/3")


@mechanism(record=Bit)
def rounded(x):
    return geometric(round(sum(x) / 2), "1/2")


@mechanism(record=Int(0, 2))
def rounded_up(x):
    return geometric(math.ceil(Fraction(sum(x), 3)), "1/2") > 1


@mechanism(record=Bit)
def towards_zero(x):
    return geometric(int((sum(x) - 2) / 2), "1/2")


@mechanism(record=Bit)
def real_noise(x):
    return laplace(sum(x) // 2, 1)


TIGHT = {divided: 2, divided_and_whole: 6, rounded: 2, rounded_up: 2, towards_zero: 2}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("made", TIGHT, ids=lambda made: made.name)
def test_a_step_of_the_quotient_is_what_one_record_changes(made):
    found = made.bind(n=ALL).privacy()
    assert (found.status, found.upper) == ("exact", TIGHT[made])


def test_real_noise():
    assert real_noise.bind(n=ALL).verify(epsilon=1).holds is True


WAYS = {
    "down": lambda total, by: total // by,
    "up": lambda total, by: math.ceil(total / by),
    "half to even": lambda total, by: round(Fraction(total, by)),
    "towards zero": lambda total, by: int(total / by),
    "rest": lambda total, by: total - total % by,
}


@mechanism(record=Int(0, 2))
def drawn(x, weights, add, by, way, most, wrong):
    total = add + sum(weights[v] if flip(wrong) else v for v in x)
    whole = WAYS[way](total, by)
    return geometric(min(whole, most) if most else whole, "1/2")


@pytest.mark.one_in(48)
@pytest.mark.parametrize("seed", range(24))
def test_no_answer_at_one_n_is_above(seed):
    draw = Random(seed)
    weights = tuple(draw.randint(-2, 3) for _ in range(3))
    parts = {"weights": weights, "add": draw.randint(-3, 3), "by": draw.choice([2, 3, -2]), "way": draw.choice([*WAYS])}
    parts |= {"most": draw.choice([0, 0, 1]), "wrong": draw.choice(["1/2", "1/2", "1"])}
    found = drawn.bind(n=ALL, **parts).privacy()
    for n in (1, 2):
        assert drawn.bind(n=n, **parts).privacy().exp_epsilon <= found.upper
