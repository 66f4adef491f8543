"""Loops that compare two of their counters have closed forms: against all ways of a few hundred rounds."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from agreement import bind, module_of
from tightdp.language.domains import Bit
from tightdp.session.instance import Instance

Pair = tuple[int, int]

RACE = """
def f(x):
    a = c = 0
    while {test}:
        if flip("1/3"):
            {more}
        else:
            c += 1
    return {result}
"""


def by_one(a: int, c: int) -> list[tuple[float, Pair]]:
    return [(1 / 3, (a + 1, c)), (2 / 3, (a, c + 1))]


def or_anew(a: int, c: int) -> list[tuple[float, Pair]]:
    return [(1 / 4, (a + 1, c)), (1 / 12, (0, 0)), (2 / 3, (a, c + 1))]


ANEW = """if flip("3/4"):
                a += 1
            else:
                a = c = 0"""
RACES: dict[str, tuple[str, str, str, Callable[[int, int], Any]]] = {
    "a game": ("max(a, c) < 4 or abs(a - c) < 2", "a += 1", "a > c", by_one),
    "how long it takes": ("abs(a - c) < 3", "a += 1", "a > c, a + c", by_one),
    "twice as much": ("-2 < a - 2 * c < 3", "a += 1", "a - 2 * c, c", by_one),
    "begun anew": ("abs(a - c) < 2 or max(a, c) < 3", ANEW, "a, c", or_anew),
}


def played(
    test: str, result: str, step: Callable[[int, int], list[tuple[float, Pair]]]
) -> tuple[dict[Any, float], float]:
    """The law of a race, but for what goes on."""
    going, ends = eval(f"lambda a, c: {test}"), eval(f"lambda a, c: ({result})")
    flow, law = {(0, 0): 1.0}, dict[Any, float]()
    for _ in range(250):
        after: dict[Pair, float] = {}
        for pair, mass in flow.items():
            for share, to in step(*pair):
                if going(*to):
                    after[to] = after.get(to, 0) + mass * share
                else:
                    law[ends(*to)] = law.get(ends(*to), 0) + mass * share
        flow = after
    return law, sum(flow.values())


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", RACES)
def test_the_law_is_that_of_all_ways(name: str) -> None:
    test, more, result, step = RACES[name]
    law, left = played(test, result, step)
    assert left < 1e-6
    with module_of(RACE.format(test=test, more=more, result=result)) as module:
        instance = Instance(bind(module, Bit, 1))
        for output in sorted(law, key=lambda each: -law[each])[:4]:
            found = instance.probability((0,), output)
            assert isinstance(found, Fraction)
            assert law[output] - 1e-12 <= float(found) <= law[output] + left + 1e-12
