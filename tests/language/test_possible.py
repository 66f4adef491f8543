"""What a function can return, read off its text: what it returns when it runs is always among it."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

from tightdp import Bit, Mechanism, flip, geometric, laplace, mechanism, randint
from tightdp.language.possible import returned_values


def parity(x):
    k = 1
    while flip(Fraction(1 + x[0], 3) / k):
        k += 1
    return k % 2 == 1


def factory(x):
    i = 1
    while True:
        if not flip("1/2"):
            return True
        if flip(Fraction(1, 2 * i)):
            return False
        i += 1


def coin(p):
    k = 1
    while flip(p / k):
        k += 1
    return k % 2 == 1


def clamped(x):
    z = 0
    while coin(Fraction(1, 1 + x[0])):
        z += 1
    return max(-2, min(z - geometric(0, "1/2"), 2)), "high" if z > 3 else "low"


def remainders(x):
    z = x[0]
    a = b = 0
    while flip("1/2"):
        a, b = b, a + 1
        a -= 2
    return (a % 3, not z)


def drawn(x):
    u = randint(1, 4)
    v = -u
    return v * 2 if flip("1/2") else int(u > 2)


def sometimes(x):  # noqa: RET503 (it may come to its end)
    if flip("1/2"):
        return 1


def unknown_record(x):
    return x[0]


def compares_a_record(x):
    return x[0] == 1


def counts(x):
    z = 0
    while flip("1/2"):
        z += 1
    return z


def real(x):
    return laplace(0, 1) % 2


def rebound(x):
    k = z = 0
    for k in x:
        z += 1 - k
    return k % 2 + z % 2


def shared(x):
    k = 0

    def more():
        nonlocal k
        k = "many"

    more()
    return k


def through_a_lambda(x):
    return (lambda: x)()


def by_itself(x):
    return 1 if flip("1/2") else by_itself(x)


KNOWN = [
    (parity, {True, False}),
    (factory, {True, False}),
    (clamped, {(z, word) for z in range(-2, 3) for word in ("high", "low")}),
    (remainders, {(a, b) for a in range(3) for b in (True, False)}),
    (drawn, {-8, -6, -4, -2, 0, 1}),
    (sometimes, {None, 1}),
]


@pytest.mark.parametrize(("function", "values"), KNOWN)
def test_finitely_many_values(function: Any, values: set[Any]) -> None:
    assert returned_values(function) == values


@pytest.mark.parametrize("function", [row[0] for row in KNOWN])
def test_runs_return_nothing_else(function: Any) -> None:
    known = returned_values(function)
    assert known is not None
    assert {function((random.Random(at).randint(0, 1),)) for at in range(100)} <= known


def compares_several(x):
    k = 0
    while flip("1/2"):
        k += 1
    return k % 3 == x[0], k > sum(x), x[-1]


def takes_parts(x):
    y = x
    return y[0] if flip("1/2") else (x[:1] == (0,))


def of_another(x):
    x = [x, x]
    return x[0]


def of_many(x, places=(0,)):
    return x[slice(0, 1)] if flip("1/2") else x[places[0]]


def test_records_are_among_what_is_known() -> None:
    known = returned_values(compares_several, (0, 1))
    assert known == {(a, b, c) for a in (False, True) for b in (False, True) for c in (0, 1)}
    assert returned_values(unknown_record, (Fraction(1, 2), 3)) is None
    assert returned_values(compares_a_record, (Fraction(1, 2), 3)) == {False, True}
    assert returned_values(compares_a_record, ((1, 2), (3, 4))) is None
    assert [returned_values(each, (0, 1)) for each in (takes_parts, of_another, of_many)] == [None] * 3


@pytest.mark.parametrize(
    "function",
    [unknown_record, compares_a_record, counts, real, rebound, shared, through_a_lambda, by_itself],
)
def test_nothing_is_known(function: Any) -> None:
    assert returned_values(function) is None


@pytest.mark.slow(seconds=2)
def test_these_have_an_upper_end() -> None:
    """The coins of e^(-1/3) and e^(-2/3) whose division is wrong: sums of their series."""

    @mechanism(record=Bit)
    def wrong(x):
        p = Fraction(1 + x[0], 3)
        k = 1
        while flip(Fraction(p.numerator, p.denominator * k) if k % 2 else Fraction(p.numerator // 2 or 1, 6)):
            k += 1
        return k % 2 == 1

    def even(x: int) -> Fraction:
        goes_on, total = Fraction(1), Fraction(0)
        for k in range(1, 200):
            heads = Fraction(1 + x, 3 * k) if k % 2 else Fraction(max((1 + x) // 2, 1), 6)
            total += goes_on * (1 - heads) if k % 2 == 0 else 0
            goes_on *= heads
        return total

    pairs = [(even(a), even(1 - a)) for a in (0, 1)]
    tight = max(max(p / q, (1 - p) / (1 - q)) for p, q in pairs)
    found = bounded(wrong)
    assert found[0] <= tight <= found[1] < found[0] * (1 + Fraction(1, 10**12))


def bounded(made: Mechanism) -> tuple[Any, Any]:
    found = made.bind(n=1).privacy()
    assert found.status == "bounded"
    return found.lower, found.upper
