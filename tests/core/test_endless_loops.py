"""Loops without a bound on their rounds that end with probability 1: closed forms, and runs with few draws."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from agreement import bind, module_of
from tightdp.errors import LanguageError, ProgramError
from tightdp.exact.field import exp
from tightdp.language import interp
from tightdp.language.domains import Bit, Int
from tightdp.methods.failing import failing_run
from tightdp.session.instance import Instance

F = Fraction

LOOPS = {
    "rejection": """
def f(x):
    r = randint(0, 3)
    while r == 3:
        r = randint(0, 3)
    return (sum(x) + r) % 3
""",
    "return inside": """
def f(x):
    while True:
        b = flip(1/3)
        if b or flip(1/2):
            return b != x[0]
""",
    "random walk": """
def f(x):
    s = 2 + x[0]
    while 0 < s < 5:
        s += 1 if flip(1/3) else -1
    return s
""",
    "break and else": """
def f(x):
    k, said = x[0], 0
    while k < 3:
        k = choice((0, 1, 2, 3))
        if k == 1 and flip(1/2):
            break
        if k == 2:
            continue
        said = (said + x[1]) % 2
    else:
        said += 10
    return (k, said)
""",
    "noise in range": """
def f(x):
    z = geometric(x[0], 1/9)
    while not -1 <= z <= 2:
        z = geometric(x[0], 1/9)
    return z
""",
    "per record": """
def f(x):
    result = []
    for b in x:
        r = randint(0, 2)
        while r == 2:
            r = randint(0, 2)
        result.append(b if r else 1 - b)
    return tuple(result)
""",
    "by a function": """
def f(x):
    def pair():
        while True:
            a, b = flip(1/5), flip(3/5)
            if a != b:
                return a
    return (pair() + x[0], pair())
""",
    "one in another": """
def f(x):
    n = 0
    while n < 2:
        while flip(1/2):
            n = 0 if flip(x[0] / 4) else n
        n += 1
    return n + x[1]
""",
    "what the round looks at": """
def f(x):
    t = randint(0, 2)
    a = 0
    while a <= t + x[0] - 1:
        a = randint(0, 3)
    return a
""",
    "a tuple": """
def f(x):
    last = (0, x[0])
    while last[0] == last[1] or flip(1/3):
        last = (last[1], randint(0, 1))
    return last
""",
}


@pytest.mark.one_in(8)
@pytest.mark.parametrize("backend", ["cudd", pytest.param("autoref", marks=pytest.mark.slow(seconds=1))])
@pytest.mark.parametrize("name", LOOPS)
def test_laws_enclose_what_runs_with_few_draws_give(name: str, backend: str) -> None:
    with module_of(LOOPS[name] + "\n") as module:
        bound = bind(module, Bit, 2)
        for x in ((0, 0), (0, 1), (1, 0)):
            found = Instance(bound, backend).distribution(x)
            assert found.status == "exact"
            law = dict(found.law)
            assert sum(law.values()) == 1
            masses, beyond = interp.law_within(bound, x, 2, 4 if name == "noise in range" else 7)
            assert beyond < F(2, 3)
            assert masses.keys() <= law.keys()
            assert all(masses.get(y, 0) <= p <= masses.get(y, 0) + beyond for y, p in law.items()), x
        whole = Instance(bound, backend).privacy()
        assert whole.status == "exact"


def test_a_random_walk_ends_as_the_ruin_of_a_gambler() -> None:
    with module_of(LOOPS["random walk"] + "\n") as module:
        found = Instance(bind(module, Bit, 1)).distribution((0,))
        assert found.probability(5) == F(2**2 - 1, 2**5 - 1)  # odds 2 against a step up
        assert Instance(bind(module, Bit, 1)).privacy().exp_epsilon == F(7, 3)


def test_rejection_gives_the_conditional_law() -> None:
    with module_of(LOOPS["noise in range"] + "\n") as module:
        law = dict(Instance(bind(module, Int(0, 2), 1)).distribution((1,)).law)
        weights = {z: F(1, 9) ** abs(z - 1) for z in range(-1, 3)}
        assert law == {z: weight / sum(weights.values()) for z, weight in weights.items()}


def test_numbers_with_e_stay_exact() -> None:
    source = "def f(x):\n    b = x[0]\n    while flip(1 / (1 + exp(1))):\n        b = 1 - b\n    return b\n"
    with module_of(source) as module:
        # an even number of steps against an odd one: 1/(1 + p) against p/(1 + p), with p = 1/(1 + e)
        assert Instance(bind(module, Bit, 1)).privacy().exp_epsilon == 1 + exp(Fraction(1))


REFUSED = {
    "for ever": (
        "def f(x):\n    b, c = x[0], 0\n    while b:\n        c = flip(1/2)\n    return c",
        LanguageError,
        "for ever",
    ),
    "sometimes for ever": (
        "def f(x):\n    b = randint(0, 2)\n    while b:\n        b = b if b == 2 else randint(0, 1)\n    return b",
        LanguageError,
        "from b = 2 it does not end",
    ),
    "for ever, without a draw": (
        "def f(x):\n    z = 0\n    while z < 3:\n        z = 1 - z\n    return z",
        LanguageError,
        "from z = 0 it does not end",
    ),
    "for ever on some records": (
        "def f(x):\n    z = [0]\n    while x[0] and z[0] < 3:\n        z[0] = (z[0] + 2) % 3\n    return z[0]",
        LanguageError,
        "it does not end",
    ),
    "for ever beside noise": (
        "def f(x):\n    z = x[0]\n    while z < 3:\n        z = 1 - z\n    return laplace(z, 1)",
        LanguageError,
        "it does not end",
    ),
    "Gaussian": (
        "def f(x):\n    z = 9\n    while z > 3:\n        z = discrete_gaussian(0, 1)\n    return z > 0",
        LanguageError,
        "Gaussian",
    ),
    "noise that goes on": (
        "def f(x):\n    z = 9\n    while z > 3:\n        z = min(z, 5) + geometric(0, 1/2)\n    return z > 0",
        LanguageError,
        "goes on with noise",
    ),
}


COUNTED = {
    "a counter": "def f(x):\n    k = 0\n    while flip(1/2):\n        k += 1\n    return k",
    "noise that it ends with": "def f(x):\n    z = 0\n    while z < 1:\n        z = geometric(x[0], 1/2)\n    return z",
    "noise, compared": "def f(x):\n    z = 0\n    while z < 1:\n        z = geometric(x[0], .5)\n    return z > 5",
    "a dictionary": "def f(x):\n    d = {0: 0}\n    while d[0] < 1:\n        d[0] = flip(1/3) or x[0]\n    return d[0]",
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", COUNTED)
def test_what_has_no_bound_is_answered_by_its_law(name: str) -> None:
    with module_of(COUNTED[name] + "\n") as module:
        bound = bind(module, Bit, 1)
        lower, laws = F(1), [interp.law_within(bound, (x,), 20, 2 if "noise" in name else 12) for x in (0, 1)]
        for (ours, _), (theirs, beyond) in (laws, laws[::-1]):
            lower = max(lower, *(mass / (theirs.get(y, 0) + beyond) for y, mass in ours.items()))
        found = Instance(bound).privacy()
    assert found.status == "exact"
    assert lower <= found.exp_epsilon <= lower * F(3, 2) or found.exp_epsilon == math.inf


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", REFUSED)
def test_others_are_refused_and_the_state_is_named(name: str) -> None:
    source, error, words = REFUSED[name]
    with module_of(source + "\n") as module, pytest.raises(error, match=words):
        Instance(bind(module, Bit, 1)).privacy()


@pytest.mark.parametrize(
    ("body", "result"),
    [
        ("t = [1]\nwhile t[0] == 1:\n    t = [int(flip(1/2))]\nreturn t[0]", 0),
        (
            "t = u = [1]\nwhile u[0]:\n    t = [randint(0, 2), [u[0]]]\n    u = t\nreturn u is t, u[0], t[1][0] > 0",
            (True, 0, True),
        ),
        ("k = 1\nwhile k:\n    t = [0, 7]\n    t[0] = t\n    k = randint(0, 1)\nreturn t[0][0][1]", 7),
    ],
)
def test_lists_that_a_round_makes_are_part_of_the_state(body: str, result: Any) -> None:
    source = "def f(x):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    with module_of(source) as module:
        assert Instance(bind(module, Bit, 1)).distribution((0,)).law == ((result, 1),)


@pytest.mark.slow(seconds=5)
def test_a_loop_that_counts_its_rounds_may_have_any_number_of_states() -> None:
    for grown in ("t.append(int(flip(1/2)))", "t = t + [int(flip(1/2))]"):
        with module_of(
            f"def f(x):\n    t = []\n    while len(t) < 70:\n        {grown}\n    return sum(t)\n"
        ) as module:
            assert Instance(bind(module, Bit, 1)).distribution((0,)).probability(1) == F(70, 2**70)


def test_a_failure_in_a_round_is_one_of_the_program() -> None:
    rounds = "    while k > 0:\n        k = randint(0, 3)\n        assert k != 3 or x[0] == 0\n"
    source = f"def f(x):\n    k = 2\n{rounds}    return k\n"
    with module_of(source) as module:
        with pytest.raises(ProgramError, match="assert"):
            Instance(bind(module, Bit, 1)).privacy()
        assert Instance(bind(module, Bit, 1)).distribution((0,)).probability(0) == 1


def test_it_is_drawn_as_python_runs_it() -> None:
    with module_of(LOOPS["rejection"] + "\n") as module:
        outputs: list[Any] = list(Instance(bind(module, Bit, 1)).sample((0,), size=900, seed=3).outputs)
        assert all(230 < outputs.count(y) < 370 for y in range(3))


def test_a_search_with_noise_is_unrolled_where_its_values_change() -> None:
    source = """
def f(x):
    lo, hi = 0, 15
    while lo < hi:
        mid = (lo + hi) // 2
        if 2 * geometric(sum(v <= mid for v in x), "1/2") < len(x):
            lo = mid + 1
        else:
            hi = mid
    return lo
"""
    with module_of(source) as module:
        found = Instance(bind(module, Int(0, 15), 2))
        assert found.show().to_dict()["result"]["coins"] < 50  # as a chain, one for every state and dataset: 2,040
        assert found.privacy().exp_epsilon == 16


def test_a_run_that_may_have_no_end_is_left() -> None:
    """Looking for a failing run, one at random went round for ever."""
    source = """
def f(x):
    s = (1 if flip("1/2") else 2) if x[0] else 1
    n = 0
    while s < 3:
        if s == 0:
            n = n if flip("1/2") else n + 1
        elif s == 1:
            s = 0 if flip("1/2") else 2
        else:
            s = 2 if flip("1/2") else 3
    return max(n, 4)
"""
    with module_of(source) as module:
        assert failing_run(bind(module, Bit, 1), "cudd", (0, 1), briefly=True) is None
