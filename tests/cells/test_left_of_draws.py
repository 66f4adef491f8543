"""Loops that look at geometric noise round by round: against all ways of many rounds, in integers."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import pytest

from agreement import bind, module_of
from tightdp import Bit, Mechanism, geometric, mechanism, one_sided_geometric
from tightdp.cells.laws import cell_laws
from tightdp.cells.noise import Outside
from tightdp.session.instance import Instance

DRAWS = {
    "n = one_sided_geometric({low}, '{ratio}')": "one",
    "n = {low}\n    while flip('{ratio}'):\n        n += 1": "one",
    "n = {low} + one_sided_geometric(0, '{ratio}') + one_sided_geometric(0, '{ratio}')": "two",
    "n = geometric({low}, '{ratio}')": "both",
    "n = k = {low}\n    while k < {low} + 2:\n        n, k = (n + 1, k) if flip('{ratio}') else (n, k + 1)": "two",
}
BETWEEN = ("pass", "if n > 3: return -1, -1", "if n <= 2: return -1, -1", "observe(n != 1)", "n = n if n >= 0 else -n")
LOOPS = (
    "while n > 0:\n        n -= {step}\n        {body}",
    "i = 0\n    while i < n:\n        i += {step}\n        {body}",
    "i = 0\n    while {step} * i < n:\n        i += 1\n        {body}",
    "for _ in range(n):\n        {body}",
    "for i in range(2, n + 2):\n        {body}",
)
BODIES = (
    "s += flip('1/3')",
    "s += 1",
    "s += one_sided_geometric(0, '1/4')",
    "if flip('1/5'): break",
    "s += 1\n        observe(flip('3/4'))",
    "if flip('1/3'): continue\n        s += 1",
    "if flip('1/6'): return s, 7",
    "s = s + 1 if flip('1/2') else 0",
    "for _ in range(one_sided_geometric(0, '1/4')):\n            s += 1",
    "m = one_sided_geometric(0, '1/4')\n        while m > 0:\n            m -= 1\n            s += flip('1/2')",
    "for _ in range(one_sided_geometric(1, '1/4')):\n            if flip('1/5'): break\n            s += 1",
)
RESULTS = ("s", "s, x[0]", "s % 3", "min(s, 2) + x[0]")
ONE = 1 << 120
Masses = dict[Any, int]


def source(made: dict[str, Any]) -> str:
    lines = ["def f(x):", f"    s = {made['begin']}", "    " + made["draw"], "    " + made["between"]]
    text = "\n".join([*lines, "    " + made["loop"], f"    return {made['result']}"])
    return text.replace("{body}", made["body"]).format(**made).replace("FIRST", "x[0]") + "\n"


def drawn(seed: int) -> dict[str, Any]:
    """A loop of this kind."""
    rng = Random(seed)
    made: dict[str, Any] = {
        "draw": rng.choice(tuple(DRAWS)),
        "low": rng.choice((0, 0, 1, 2)),
        "ratio": rng.choice(("1/2", "1/3", "1/5")),
        "between": rng.choice(BETWEEN),
        "begin": rng.choice(("0", "FIRST")),
        "loop": rng.choice(LOOPS),
        "step": rng.choice((1, 1, 2)),
        "body": rng.choice(BODIES),
        "result": rng.choice(RESULTS),
    }
    return made | ({"step": 1} if made["loop"].startswith("for") else {})


def starts(made: dict[str, Any]) -> list[tuple[int, int]]:
    r, low = Fraction(made["ratio"]), made["low"]
    far = range(72)
    one = [((1 - r) * r**k, low + k) for k in far]
    law = {
        "one": one,
        "two": [((1 - r) ** 2 * (k + 1) * r**k, low + k) for k in far],
        "both": [((1 - r) / (1 + r) * r ** abs(k), low + k) for k in range(-71, 72)],
    }
    return [(int(mass * ONE), n) for mass, n in law[DRAWS[made["draw"]]]]


def law(made: dict[str, Any], x: int) -> tuple[Masses, int]:
    """The law of the function in parts of ONE, rounded down, and what is not rejected."""
    found, rejected = Masses(), 0
    result = eval(f"lambda s, x: ({made['result']})")

    def end(value: Any, mass: int) -> None:
        found[value] = found.get(value, 0) + mass

    flow = dict[tuple[int, int], int]()
    for mass, first in starts(made):
        n = first
        if (made["between"] == BETWEEN[1] and n > 3) or (made["between"] == BETWEEN[2] and n <= 2):
            end((-1, -1), mass)
            continue
        if made["between"] == BETWEEN[3] and n == 1:
            rejected += mass
            continue
        n = abs(n) if made["between"] == BETWEEN[4] else n
        key = n, x if made["begin"] == "FIRST" else 0
        flow[key] = flow.get(key, 0) + mass
    while flow:
        after = dict[tuple[int, int], int]()
        for (n, s), mass in flow.items():
            if n <= 0:
                end(result(s, (x,)), mass)
                continue
            for share, kind, now in rounds(made["body"], s):
                moved = mass * share.numerator // share.denominator
                if kind == "on" and moved >> 30:
                    key = n - made["step"], now
                    after[key] = after.get(key, 0) + moved
                elif kind == "break":
                    end(result(now, (x,)), moved)
                elif kind == "return":
                    end((now, 7), moved)
                elif kind == "reject":
                    rejected += moved
        flow = after
    return found, ONE - rejected


@cache
def rounds(body: str, s: int) -> list[tuple[Fraction, str, int]]:
    def coin(p: str, heads: tuple[str, int], tails: tuple[str, int]) -> list[tuple[Fraction, str, int]]:
        return [(Fraction(p), *heads), (1 - Fraction(p), *tails)]

    match BODIES.index(body):
        case 0:
            return coin("1/3", ("on", s + 1), ("on", s))
        case 1:
            return [(Fraction(1), "on", s + 1)]
        case 2 | 8:
            return [(Fraction(3, 4) / 4**k, "on", s + k) for k in range(40)]
        case 3:
            return coin("1/5", ("break", s), ("on", s))
        case 4:
            return coin("3/4", ("on", s + 1), ("reject", s))
        case 5:
            return coin("1/3", ("on", s), ("on", s + 1))
        case 6:
            return coin("1/6", ("return", s), ("on", s))
        case 7:
            return coin("1/2", ("on", s + 1), ("on", 0))
        case 9:  # of k that are geometric with ratio 1/4 each counts with probability 1/2: geometric with ratio 1/7
            return [(Fraction(6, 7) / 7**k, "on", s + k) for k in range(30)]
        case _:
            reached = [Fraction(1), *(Fraction(4, 5) ** k / 4 ** (k - 1) for k in range(1, 40)), Fraction(0)]
            return [(reached[k] - reached[k + 1], "on", s + k) for k in range(40)]


def assert_laws(seed: int) -> bool:
    """Compare the law by algebra with that of all ways; False where there is none."""
    made = drawn(seed)
    with module_of(source(made)) as module:
        bound = Instance(bind(module, Bit, 1)).engine.program.bound
        try:
            laws = cell_laws(bound, lambda: None)
        except Outside:
            return False
        for x in (0, 1):
            masses, accepted = law(made, x)
            missing = Fraction(accepted - sum(masses.values()), accepted)
            assert missing < Fraction(1, 10**12)
            for output, mass in sorted(masses.items(), key=lambda each: -each[1])[:9]:
                found = laws.number(laws.probability((x,), output))
                low = Fraction(mass, accepted)
                assert low - Fraction(1, 10**15) <= found <= low + missing, (source(made), x, output, float(found))
    return True


@pytest.mark.one_in(40)
@pytest.mark.parametrize("seed", range(40))
def test_laws_are_those_of_all_ways(seed: int) -> None:
    assert_laws(seed)


@mechanism(record=Bit)
def kept(x):
    n, k = one_sided_geometric(x[0], "1/2"), 0
    m = n
    while n > 0:
        n, k = n - 1, k + 1
    return m, k


@mechanism(record=Bit)
def kept_by_the_caller(x):
    def spent(n):
        k = 0
        while n > 0:
            n, k = n - 1, k + 1
        return k

    n = one_sided_geometric(x[0], "1/2")
    k = spent(n)
    return n, k


@mechanism(record=Bit)
def looked_at_twice(x):
    n = geometric(x[0], "1/2")
    m, k = n, 0
    while m > 0:
        m, k = m - 1, k + 1
    while n > 0:
        n, k = n - 1, k + 1
    return k


@pytest.mark.parametrize("made", [kept, kept_by_the_caller, looked_at_twice], ids=lambda made: made.name)
def test_a_draw_that_is_used_after_the_loop_is_refused(made: Mechanism) -> None:
    with pytest.raises(Outside, match="after a loop"):
        cell_laws(made.bind(n=1).engine.program.bound, lambda: None)


def test_a_loop_that_goes_on_with_more_and_more_draws_is_refused() -> None:
    """What is left of them all would have no end of states, each longer than the one before."""
    text = "def f(x):\n    n, k = 1, 0\n    while n > 0:\n        n, k = n - 1, k + 1\n"
    text += "        while flip('1/3'):\n            n += 1\n    return k + x[0]\n"
    with module_of(text) as module, pytest.raises(Outside, match="more and more draws"):
        cell_laws(bind(module, Bit, 1), lambda: None, [(0,)])
