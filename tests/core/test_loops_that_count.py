"""Loops that only add to some names: laws are those of the interpreter whoever else reads or changes the names."""

from __future__ import annotations

import pytest

from agreement import bind, module_of
from tightdp.language.domains import Bit
from tightdp.language.interp import law_within
from tightdp.session.instance import Instance

READ_BY_ANOTHER = """
def f(x):
    c = 0
    def read():
        return c % 2
    for _ in range(9):
        if flip("1/3") and read() == 0:
            c += 1
    return c
"""
CHANGED_WHERE_CAUGHT = """
def f(x):
    c = x[0]
    for i in range(9):
        try:
            c += 1
            y = 1 // (c % 3)
        except ZeroDivisionError:
            c += 5
        if flip("1/5"):
            c -= 2
    return c
"""
FAILING_WHERE_CAUGHT = """
def f(x):
    total = 0
    for i in range(2):
        z = 0
        try:
            while flip("1/3"):
                z += 1
                if z == 4:
                    z = 1 // (z - 4)
        except ZeroDivisionError:
            z = -1
        total = 10 * total + z
    return total
"""
LEFT_IN_THREE_WAYS = """
def f(x):
    c = 0
    while flip("1/2"):
        c += 1
        if flip("1/3"):
            break
        if c == 5:
            return "five", c
    else:
        return "else", c + x[0]
    return "broke", c
"""
NO_INTEGER_AT_FIRST = """
def f(x):
    c = False
    for i in range(9):
        c += flip("1/4")
    return c
"""
ADDED_TO_IN_A_LOOP_INSIDE = """
def f(x):
    c = d = 0
    for i in range(3):
        d += 1
        for j in range(9):
            if j > 6 and flip("1/9"):
                c += 1
                break
    return c, d + x[0]
"""


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "source",
    [
        READ_BY_ANOTHER, CHANGED_WHERE_CAUGHT, FAILING_WHERE_CAUGHT, LEFT_IN_THREE_WAYS, NO_INTEGER_AT_FIRST,
        ADDED_TO_IN_A_LOOP_INSIDE,
    ],
    ids=[
        "read by another", "changed where caught", "failing where caught", "left in three ways", "no integer at first",
        "added to in a loop inside",
    ],
)  # fmt: skip
def test_laws_are_those_of_the_interpreter(source: str) -> None:
    with module_of(source.lstrip()) as module:
        bound = bind(module, Bit, 1)
        for x in ((0,), (1,)):
            found = Instance(bound).distribution(x)
            masses, beyond = law_within(bound, x, reach=12, draws=12)
            assert (found.status, beyond) == ("exact", 0)
            assert dict(found.law) == masses
