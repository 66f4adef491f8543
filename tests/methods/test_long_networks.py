"""Networks of hundreds of rounds that replace a state of a few bits: linear in the rounds, and exact."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tightdp import Bit, Mechanism, flip, mechanism
from tightdp.core.lowering import lower
from tightdp.methods.by_elimination import EliminationTable
from tightdp.methods.elimination_plan import first_plan
from work import counted

ROUNDS = 200
"""Many times what is needed; what goes through the runs never ends."""


@mechanism(record=Bit)
def diamond(x: Any) -> Any:
    state = x[0]
    for _ in range(ROUNDS):
        if flip("1/2"):
            left, right = state, False
        else:
            left, right = False, state
        state = left or (right and not flip("1/1000"))
    return state


@mechanism(record=Bit)
def ladder(x: Any) -> Any:
    left, right = x[0], 1 - x[0]
    for _ in range(ROUNDS):
        if flip("1/3"):
            left, right = right, left
        left = left ^ flip("1/1000")
    return left, right


@mechanism(record=Bit)
def walk(x: Any) -> Any:
    place = 3 * x[0]
    for _ in range(ROUNDS):
        if flip("1/4"):
            place = min(place + 1, 5) if flip("1/2") else max(place - 1, 0)
    return place


@mechanism(record=Bit)
def outputs(x: Any) -> Any:
    state, seen = x[0], []
    for _ in range(60):
        if flip("1/3"):
            state = 1 - state
        state = 0 if state and flip("1/5") else state
        seen.append(state)
    return tuple(seen[-6:])


def law_of_diamond() -> dict[Any, Fraction]:
    kept = (1 - Fraction(1, 2_000)) ** ROUNDS
    return {True: kept, False: 1 - kept}


def law_of_ladder() -> dict[Any, Fraction]:
    swap, noise = Fraction(1, 3), Fraction(1, 1_000)
    weights = {(1, 0): 1}  # over a denominator of 3,000 a round
    for _ in range(ROUNDS):
        after: dict[tuple[int, int], int] = {}
        for (left, right), weight in weights.items():
            for swapped in (False, True):
                for flipped in (0, 1):
                    a, b = (right, left) if swapped else (left, right)
                    share = 3_000 * (swap if swapped else 1 - swap) * (noise if flipped else 1 - noise)
                    after[a ^ flipped, b] = after.get((a ^ flipped, b), 0) + weight * int(share)
        weights = after
    return {state: Fraction(weight, 3_000**ROUNDS) for state, weight in weights.items()}


def law_of_walk() -> dict[Any, Fraction]:
    weights = {3: 1}  # over a denominator of 8 a round
    for _ in range(ROUNDS):
        after: dict[int, int] = {}
        for place, weight in weights.items():
            for to, share in ((place, 6), (min(place + 1, 5), 1), (max(place - 1, 0), 1)):
                after[to] = after.get(to, 0) + weight * share
        weights = after
    return {place: Fraction(weight, 8**ROUNDS) for place, weight in weights.items()}


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("network", "expected"), [(diamond, law_of_diamond), (ladder, law_of_ladder), (walk, law_of_walk)]
)
def test_many_rounds(network: Mechanism[Any], expected: Any) -> None:
    instance = network.bind(n=1)
    with counted() as work:
        law = instance.distribution((1,)).law
        found = instance.privacy()
    assert work.calls < 20_000_000
    assert dict(law) == expected()
    assert found.status == "exact"


def test_a_small_state_is_kept_small_in_any_program() -> None:
    plan = first_plan(lower(diamond.bind(n=1).bound))
    assert plan.width < 10 * len(plan.steps)


@pytest.mark.slow(seconds=2)
def test_outputs_that_select_by_earlier_ones_are_counted_in_no_time() -> None:
    with counted() as work:
        law = outputs.bind(n=1).distribution((0,)).law
    assert work.calls < 20_000_000
    assert sum(probability for _, probability in law) == 1


@mechanism(record=Bit)
def mixing(x: Any) -> Any:
    a, b = 1, 7
    for r in range(400):
        a = (a + b + x[0]) % 16
        b = (((b << 1) | (b >> 3)) & 15) ^ a
        if r % 8 == 0:
            a ^= flip("1/3")
    return a


@mechanism(record=Bit)
def queue(x: Any) -> Any:
    waiting, lost = x[0], 0
    for _ in range(400):
        if flip("2/5"):
            if waiting < 10:
                waiting += 1
            else:
                lost = min(lost + 1, 3)
        if waiting > 0 and flip("1/2"):
            waiting -= 1
    return waiting >= 5, lost


@pytest.mark.parametrize("program", [pytest.param(each, marks=pytest.mark.slow(seconds=4)) for each in (mixing, queue)])
def test_the_law_of_one_dataset_takes_no_diagram_where_that_is_large(program: Mechanism[Any]) -> None:
    with counted() as work:
        found = program.bind(n=1).distribution((1,))
    assert work.calls < 20_000_000
    assert sum(probability for _, probability in found.law) == 1
    bound = program.bind(n=1).bound
    assert dict(found.law) == EliminationTable(bound, lower(bound)).law((1,))
