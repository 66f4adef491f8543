"""Names that are only read to compute what nobody reads: they cost a loop no states, and change no law."""

from __future__ import annotations

import ast
from fractions import Fraction
from itertools import product

import pytest

from agreement import bind, module_of
from tightdp.errors import LanguageError, ProgramError
from tightdp.language.domains import Bit
from tightdp.language.interp import law_within
from tightdp.language.liveness import liveness_of
from tightdp.session.instance import Instance

UNREAD = {
    "two that need each other": "a, b = 1, 0",
    "in turn": "a = b = 0",
}
ROUND = {
    "two that need each other": "a, b = a * 2 + b, b + a",
    "in turn": "b += a\n        a = 1 - b",
}


@pytest.mark.parametrize("name", UNREAD)
def test_a_loop_is_answered_exactly_as_without_them(name: str) -> None:
    laws = []
    for begin, more in ((UNREAD[name], ROUND[name]), ("", "pass")):
        source = f"""
def f(x):
    s = 1 + x[0]
    {begin}
    while 0 < s < 4:
        {more}
        s += 1 if flip("1/3") else -1
    return s
"""
        with module_of(source) as module:
            instance = Instance(bind(module, Bit, 1))
            laws.append([dict(instance.distribution((bit,)).law) for bit in (0, 1)])
            assert instance.privacy().status == "exact"
    assert laws[0] == laws[1]


def test_counters_that_are_read_at_last_count() -> None:
    source = """
def f(x):
    a = b = c = 0
    while flip("1/2"):
        a += 1
        b = a + c
        c = 2
    return b % 3 + x[0]
"""
    with module_of(source) as module:
        bound = bind(module, Bit, 1)
        law, beyond = law_within(bound, (0,), 40, 40)
        found = Instance(bound).probability((0,), 0)
    assert float(law[0]) <= float(found) <= float(law[0] + beyond) + 1e-15
    assert found == Fraction(15, 28)


@pytest.mark.parametrize(
    ("body", "idle"),
    [
        ("k = 0\nwhile flip(1/2):\n    k += 1\nreturn 1", 2),
        ("k = 0\nwhile flip(1/2):\n    k += 1\nreturn k", 0),
        ("k = 0\nwhile flip(1/2):\n    k += 1\n    if k > 2:\n        return 1\nreturn 0", 0),
        ("out = []\nk = out\nwhile flip(1/2):\n    k += [1]\nreturn len(out)", 0),  # of one list
        ("k = 0\ndef g():\n    return k\nwhile flip(1/2):\n    k += 1\nreturn g()", 0),
        ("k = 0\ng = (k for _ in x)\nwhile flip(1/2):\n    k += 1\nreturn tuple(g)", 0),
        ("k = 0\nwhile flip(1/2):\n    k += x[0]\nreturn 1", 0),  # records may be anything
        ("k = 0\nwhile flip(1/2):\n    k += randint(1, 2)\nreturn 1", 0),
        ("while flip(1/2):\n    k += 1\nreturn 1", 0),  # it fails
        ("if x[0]:\n    k = 0\nk += 1\nreturn 1", 0),
        ("k = 0\ntry:\n    k += 1\nfinally:\n    y = k\nreturn y", 0),
        ("k = 0\nfor k in range(3):\n    k += 1\nreturn 1", 0),
    ],
)
def test_what_has_an_effect_is_not_idle(body: str, idle: int) -> None:
    source = "def f(x):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    node = ast.parse(source).body[0]
    assert isinstance(node, ast.FunctionDef)
    assert len(liveness_of(node).idle) == idle


@pytest.mark.slow
def test_what_nobody_reads_after_a_loop_tells_no_ends_apart() -> None:
    """Herman's ring of five processes: which of them has the last token is not read, how long that took is."""
    source = """
def f(x):
    ring, t = [1, x[0], 1, 1, 1], 0
    while sum([ring[i] == ring[i - 1] for i in range(5)]) > 1:
        ring = [flip("1/2") if ring[i] == ring[i - 1] else ring[i - 1] for i in range(5)]
        t += 1
    return min(t, 40)
"""
    law, flow = [Fraction(0)] * 31, {(1,) * 5: Fraction(1)}
    for t in range(31):
        after: dict[tuple[int, ...], Fraction] = {}
        for ring, mass in flow.items():
            tokens = [ring[i] == ring[i - 1] for i in range(5)]
            law[t] += mass * (sum(tokens) == 1)
            for coins in product((0, 1), repeat=sum(tokens)) if sum(tokens) > 1 else ():
                coin = iter(coins)
                to = tuple(next(coin) if tokens[i] else ring[i - 1] for i in range(5))
                after[to] = after.get(to, Fraction(0)) + mass / 2 ** len(coins)
        flow = after
    with module_of(source) as module:
        found = Instance(bind(module, Bit, 1)).distribution((1,))
    assert all(found.probability(t) <= law[t] <= dict(found.upper)[t] for t in range(1, 31))


def test_what_a_round_around_a_loop_reads_after_its_else_is_kept() -> None:
    source = """
def f(x):
    a = x[0]
    while True:
        for _ in range(20):
            if flip("1/30"):
                break
            a = (a + 1) % 3
        else:
            continue
        return a
"""
    with module_of(source) as module:
        law = dict(Instance(bind(module, Bit, 1)).distribution((0,)).law)
    total = 1 - Fraction(29, 30) ** 3
    assert law == {a: Fraction(29, 30) ** a / 30 / total for a in range(3)}


def test_a_generator_that_is_kept_reads_what_loops_have_written() -> None:
    source = """
def f(x):
    k, s = 1, 0
    g = (k + b for b in x)
    while flip("1/2"):
        k = 2 if flip("1/2") else k
        s = 1 - s
    return tuple(g), s
"""
    with module_of(source) as module:
        law = dict(Instance(bind(module, Bit, 1)).distribution((0,)).law)
    for output, mass in ((((1,), 0), Fraction(8, 15)), (((1,), 1), Fraction(2, 15))):  # all coins of n rounds fell
        assert abs(law[output] - mass) < Fraction(1, 10**9)


def test_a_name_without_a_value_is_still_an_error() -> None:
    source = "def f(x):\n    while flip(1/2):\n        k += 1\n    return 1\n"
    with module_of(source) as module, pytest.raises((LanguageError, ProgramError), match="k"):
        Instance(bind(module, Bit, 1)).privacy()


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("test", "drawn"),
    [
        ("(z := randint(0, 3)) > 1", "z = randint(0, 3)\n        if z <= 1: break"),
        ("not 1 <= (z := geometric(x[0], 1/2)) <= 2", "z = geometric(x[0], 1/2)\n        if 1 <= z <= 2: break"),
        ("1 < (z := randint(0, 3)) < 3", "z = randint(0, 3)\n        if not 1 < z < 3: break"),
        (  # what comes second may not be assigned
            "flip(1/3) or (z := randint(0, 2)) > 0",
            "if not flip(1/3):\n            z = randint(0, 2)\n            if z <= 0: break",
        ),
        (
            "(w := flip(1/3)) and (z := randint(0, 2)) > 0",
            "w = flip(1/3)\n        if not w: break\n        z = randint(0, 2)\n        if z <= 0: break",
        ),
        (
            "(z := z if flip(1/2) else randint(0, 2)) > 0",
            "z = z if flip(1/2) else randint(0, 2)\n        if z <= 0: break",
        ),
    ],
)
@pytest.mark.parametrize("body", ["pass", "w = z > 1", "flip(1/2)"])
def test_what_a_test_of_a_loop_assigns_is_not_read_before(test: str, drawn: str, body: str) -> None:
    laws = []
    for loop in (f"while {test}:\n        {body}", f"while True:\n        {drawn}\n        {body}"):
        source = f"def f(x):\n    w, z = 0, x[0]\n    {loop}\n    return w, z\n"
        with module_of(source) as module:
            instance = Instance(bind(module, Bit, 1))
            found = [instance.distribution((bit,)) for bit in (0, 1)]
            assert all(each.status == "exact" for each in found)
            laws.append([dict(each.law) for each in found])
    assert laws[0] == laws[1]


def test_a_counter_that_nobody_reads_is_begun_before_a_block_that_counts() -> None:
    source = """
def f(x):
    out = 0
    try:
        for v in x:
            if v ^ flip("1/4"):
                raise ValueError
            out += 1
    except ValueError:
        return -1
    return x[0]
"""
    with module_of(source) as module:
        found = Instance(bind(module, Bit, 2)).distribution((0, 1)).law
    assert dict(found) == {-1: Fraction(13, 16), 0: Fraction(3, 16)}
