"""Sums that a condition keeps in bounds, such as queues and walks between walls, take few values in any round."""

from __future__ import annotations

import pytest

from agreement import assert_agreement, bind, module_of
from tightdp import Int
from tightdp.core.lowering import lower
from tightdp.core.nodes import reachable

QUEUE = """
def f(x, rounds):
    waiting, lost = x[0], 0
    for _ in range(rounds):
        if flip("2/5"):
            if waiting < 4:
                waiting += 1
            else:
                lost = min(lost + 1, 3)
        if waiting > 0 and flip("1/2"):
            waiting -= 1
    return waiting, lost
"""
WALLS = """
def f(x, rounds):
    place = 2 + x[0]
    for _ in range(rounds):
        if 0 < place < 6:
            place = place + (1 if flip("1/3") else -1)
    return place
"""
STEPS = """
def f(x, rounds):
    place = x[0]
    for _ in range(rounds):
        if place < 7 and flip("1/3"):
            place += 2 * flip("1/2") + x[0]
        elif not place < 5:
            place = place - 3 - x[0]
    return place
"""
COUNTER = """
def f(x, rounds):
    count = 0
    for _ in range(rounds):
        if count < 5 and (flip("1/4") or x[0] > 1):
            count += 1
    return count
"""
PLACES = """
def f(x, rounds):
    place, other = x[0], 0
    for _ in range(rounds):
        if place != 4 and place >= other:
            place, other = place + flip("1/2"), (place + other) % 3
        else:
            place = other or place - 2
    return place, other
"""


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("source", "most"), [(QUEUE, 20), (WALLS, 9), (STEPS, 20), (COUNTER, 7)])
def test_values_do_not_grow_with_the_rounds(source: str, most: int) -> None:
    with module_of(source) as module:
        program = lower(bind(module, Int(0, 3), 1, rounds=200))
    assert max(len(expr.values) for expr in reachable(program.roots)) <= most


@pytest.mark.one_in(3)
@pytest.mark.parametrize("source", [QUEUE, WALLS, STEPS, COUNTER, PLACES])
def test_laws_are_those_of_the_interpreter(source: str) -> None:
    with module_of(source) as module:
        for rounds in (1, 3, 5):
            assert_agreement(bind(module, Int(0, 3), 1, rounds=rounds), ("cudd",))
