"""Loops that add what they draw until a bound have closed forms: against all ways of many rounds, in integers."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import pytest

from agreement import bind, module_of
from tightdp.language.domains import Bit
from tightdp.session.instance import Instance

LOOP = """
def f(x):
    s, k, flag = x[0] + {start}, 0, False
    while s < {bound}:
        {draw}
        {look}
        s += {times} * r
        {observed}
        k += 1
    return {result}
"""
DRAWS = ("r = one_sided_geometric({low}, '{ratio}')", "r = {low}\n        while flip('{ratio}'):\n            r += 1")
LOOKS = ("pass", "if r == 3: break", "flag = flag or r > 2", "flag = flag != (r % 2 == 1)")
OBSERVED = ("pass", "observe(s != 2 or flip('1/2'))", "observe(flip('3/4'))")
RESULTS = ("k", "s", "k + s", "k, s", "k % 2, s % 3", "k, flag")
ONE = 1 << 120


def law(made: dict[str, Any], x: int) -> tuple[dict[Any, int], int]:
    """The law of a loop in parts of ONE, rounded down, and what is not rejected."""
    ratio, low = Fraction(made["ratio"]), made["low"]
    masses = [(low + z, int((1 - ratio) * ratio**z * ONE)) for z in range(36)]
    flow, found, rejected = {(x + made["start"], 0, False): ONE}, dict[Any, int](), 0
    result = eval(f"lambda s, k, flag: ({made['result']})")
    for _ in range(150):
        after: dict[Any, int] = {}
        for (s, k, flag), mass in flow.items():
            for r, share in masses if s < made["bound"] else ():
                seen = {LOOKS[2]: flag or r > 2, LOOKS[3]: flag != (r % 2 == 1)}.get(made["look"], flag)
                stops = made["look"] == LOOKS[1] and r == 3
                now = s if stops else s + made["times"] * r
                moved = mass * share // ONE
                kept = {OBSERVED[0]: moved, OBSERVED[1]: moved // (1 + (now == 2)), OBSERVED[2]: moved * 3 // 4}
                going = moved if stops else kept[made["observed"]]
                rejected += moved - going
                if stops or now >= made["bound"]:
                    end = result(now, k + (not stops), seen)
                    found[end] = found.get(end, 0) + going
                elif going >> 60:
                    after[now, k + 1, seen] = after.get((now, k + 1, seen), 0) + going
            if s >= made["bound"]:
                found[result(s, k, flag)] = found.get(result(s, k, flag), 0) + mass
        flow = after
    return found, ONE - rejected


def drawn(seed: int) -> dict[str, Any]:
    """A loop of this kind."""
    rng = Random(seed)
    return {
        "start": rng.randint(-2, 2),
        "bound": rng.randint(2, 6),
        "low": rng.choice((0, 0, 1)),
        "ratio": rng.choice(("1/2", "1/3", "1/5")),
        "times": rng.choice((1, 1, 2, 3)),
        "draw": rng.choice(DRAWS),
        "look": rng.choice(LOOKS),
        "observed": rng.choice(OBSERVED),
        "result": rng.choice(RESULTS),
    }


@pytest.mark.one_in(8)
@pytest.mark.parametrize("seed", range(16))
def test_laws_are_those_of_all_ways(seed: int) -> None:
    made = drawn(seed)
    source = LOOP.format(**made | {"draw": made["draw"].format(**made)})
    with module_of(source) as module:
        for x in (0, 1):
            instance = Instance(bind(module, Bit, 1))
            masses, accepted = law(made, x)
            missing = Fraction(accepted - sum(masses.values()), accepted)
            assert missing < Fraction(1, 10**8)
            known = instance.distribution((x,))
            for output, mass in sorted(masses.items(), key=lambda each: -each[1])[:12]:
                low = high = known.probability(output)
                if known.status != "exact":
                    high = dict(known.upper)[output]
                assert low - missing <= Fraction(mass, accepted) <= high + missing


def test_how_many_draws_a_sum_takes_is_known_in_closed_form() -> None:
    made = {**drawn(0), "start": 0, "bound": 4, "low": 0, "ratio": "1/3", "times": 1}
    source = LOOP.format(**made | {"draw": DRAWS[0].format(**made), "look": "pass", "observed": "pass", "result": "k"})
    with module_of(source) as module:
        known = Instance(bind(module, Bit, 1)).distribution((0,))
    assert known.status == "exact"
    assert known.probability(1) == Fraction(1, 3**4)


BOUNDED = """
def f(x):
    z = x[0]
    for _ in range({rounds}):
        if z >= {bound}:
            break
        z += one_sided_geometric({low}, '{ratio}')
    return z
"""


def summed(made: dict[str, Any], x: int) -> dict[int, Fraction]:
    """The law of what is added in so many rounds, up to 12."""
    ratio, flow, found = Fraction(made["ratio"]), {x: Fraction(1)}, dict[int, Fraction]()
    for _ in range(made["rounds"]):
        after: dict[int, Fraction] = {}
        for s, mass in flow.items():
            for r in range(made["low"], 13 - s) if s < made["bound"] else ():
                after[s + r] = after.get(s + r, Fraction(0)) + mass * (1 - ratio) * ratio ** (r - made["low"])
            if s >= made["bound"]:
                found[s] = found.get(s, Fraction(0)) + mass
        flow = after
    return {s: found.get(s, Fraction(0)) + flow.get(s, Fraction(0)) for s in {*found, *flow}}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(12))
def test_the_law_on_one_dataset_is_exact_where_that_of_all_is(seed: int) -> None:
    """Also of a program that could be cut off, and in a file without `while`."""
    rng = Random(seed)
    made = {"rounds": rng.randint(2, 6), "bound": rng.randint(2, 5), "low": rng.randint(0, 1)}
    made["ratio"] = rng.choice(("1/2", "1/3", "1/5"))
    with module_of(BOUNDED.format(**made)) as module:
        instance = Instance(bind(module, Bit, 1))
        for x in (0, 1):
            known = instance.distribution((x,))
            assert known.status == "exact"
            assert all(known.probability(z) == mass for z, mass in summed(made, x).items())


@pytest.mark.slow(seconds=6)
@pytest.mark.parametrize(
    "rounds", ["while k < 70 and z > 0:\n        ", "while z > 0:\n        if k >= 70: break\n        "]
)
def test_loops_from_noise_that_count_their_rounds_are_unrolled(rounds: str) -> None:
    """They are not cut off, as their number of rounds is known to end."""
    text = f"def f(x):\n    z, k = geometric(x[0], '1/2'), 0\n    {rounds}z += 1 if flip('1/4') else -1\n"
    with module_of(text + "        k += 1\n    return k\n") as module:
        found = Instance(bind(module, Bit, 1)).privacy()
    assert (found.status, found.exp_epsilon) == ("exact", 2)
