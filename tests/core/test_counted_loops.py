"""Loops with a small state, against closed forms, and against linear algebra on a state graph written by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import comb
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agreement import bind, module_of
from tightdp.errors import LanguageError, ProgramError
from tightdp.exact.absorbing import absorbed
from tightdp.exact.field import exp
from tightdp.language import interp
from tightdp.language.domains import Bit, Int
from tightdp.session.instance import Instance

F = Fraction
Law = Mapping[Any, Any]


def law_of(source: str, x: tuple[int, ...] = (0,), record: Any = Bit) -> Law:
    with module_of(source + "\n") as module:
        found = Instance(bind(module, record, len(x))).distribution(x)
        assert found.status == "exact"
        return dict(found.law)


def steps_by_hand(start: Any, step: Callable[[Any], Law | None], rounds: int) -> dict[Any, Fraction]:
    """Apply a transition table so many times; a state without a step stays."""
    law = {start: F(1)}
    for _ in range(rounds):
        following: dict[Any, Fraction] = {}
        for state, mass in law.items():
            for place, share in (step(state) or {state: F(1)}).items():
                following[place] = following.get(place, F(0)) + mass * share
        law = following
    return law


def ruin(size: int, at: int, up: Fraction) -> Fraction:
    """The probability that a walk ends at 0."""
    odds = (1 - up) / up
    return F(size - at, size) if odds == 1 else (odds**at - odds**size) / (1 - odds**size)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("size", "up"), [(500, F(2, 5)), (50, F(1, 2)), (31, F(3, 7))])
def test_ruin_of_a_gambler(size: int, up: Fraction) -> None:
    source = f"""
def f(x):
    c = {size // 2} + x[0]
    while 0 < c < {size}:
        c += 1 if flip({up}) else -1
    return c == 0
"""
    for bit in (0, 1):
        assert law_of(source, (bit,))[True] == ruin(size, size // 2 + bit, up)


def dice_until(total: int) -> Law:
    reached = {0: F(1)}
    for s in range(total):
        mass = reached.pop(s, F(0))
        for face in range(1, 7):
            reached[s + face] = reached.get(s + face, F(0)) + mass / 6
    return reached


@pytest.mark.parametrize("total", [7, 30, 1000])
def test_dice_until_a_sum(total: int) -> None:
    assert law_of(
        f"def f(x):\n    s = 0\n    while s < {total}:\n        s += randint(1, 6)\n    return s"
    ) == dice_until(total)


@pytest.mark.parametrize("total", [100, 400])
def test_dice_from_where_a_record_says(total: int) -> None:
    """What is reached from one record is known where the loop is followed from the next one."""
    with module_of(
        f"def f(x):\n    s = x[0]\n    while s < {total}:\n        s += randint(1, 6)\n    return s\n"
    ) as module:
        found = Instance(bind(module, Bit, 1)).privacy()
    laws = [dice_until(total), {s + 1: mass for s, mass in dice_until(total - 1).items()}]
    ratios = [ours[s] / theirs[s] for ours, theirs in (laws, laws[::-1]) for s in ours]
    assert (found.status, found.exp_epsilon) == ("exact", max(ratios))


def test_coupons_as_a_list_of_what_was_seen() -> None:
    source = """
def f(x):
    seen, draws = [0] * 6, 0
    while sum(seen) < 6:
        seen[randint(0, 5)] = 1
        draws = 1 - draws
    return draws
"""
    # the generating function of the number of draws at -1: the product of p z / (1 - (1 - p) z)
    at = F(1)
    for k in range(6):
        p = F(6 - k, 6)
        at *= -p / (1 + (1 - p))
    assert law_of(source) == {0: (1 + at) / 2, 1: (1 - at) / 2}


@pytest.mark.parametrize("steps", [100, 200])
def test_a_walk_between_walls(steps: int) -> None:
    source = f"""
def f(x):
    p = 5 + x[0]
    for _ in range({steps}):
        p = min(10, max(0, p + (1 if flip(1/3) else -1)))
    return p
"""

    def step(p: int) -> Law:
        up, down = min(10, p + 1), max(0, p - 1)
        return {up: F(1, 3), down: F(2, 3)}

    assert law_of(source, (1,)) == steps_by_hand(6, step, steps)


def test_a_sum_over_rounds_that_look_at_their_number() -> None:
    source = """
def f(x):
    s = 0
    for i in range(40):
        if flip(1 / (i + 2)):
            s = (s + i) % 3
    return s
"""
    law = {0: F(1)}
    for i in range(40):
        law = {s: law.get(s, F(0)) * F(i + 1, i + 2) + law.get((s - i) % 3, F(0)) * F(1, i + 2) for s in range(3)}
    assert law_of(source) == law


def test_a_binomial_with_a_break_and_an_else() -> None:
    source = """
def f(x):
    s = 0
    for i in range(30):
        if flip(1/2):
            s += 1
        if s == 10:
            break
    else:
        return ("never", s)
    return ("at", i)
"""
    law = law_of(source)
    for i in range(9, 30):
        assert law["at", i] == F(comb(i, 9), 2 ** (i + 1))
    for s in range(10):
        assert law["never", s] == F(comb(30, s), 2**30)


def test_a_die_from_coins_where_a_run_is_observed() -> None:
    source = """
def f(x):
    face = 0
    while face == 0:
        a, b, c = flip(1/2), flip(1/2), flip(1/2)
        observe(a or b or c)
        v = 4 * a + 2 * b + c
        if v < 7:
            face = v
    return face
"""
    # a round is rejected with 1/8, as likely from every face: the condition leaves the die fair
    assert law_of(source) == {face: F(1, 6) for face in range(1, 7)}


def test_observe_in_a_round_weighs_the_runs_by_their_length() -> None:
    source = """
def f(x):
    k = 0
    while flip(1/2):
        observe(flip(1/3) or x[0])
        k = (k + 1) % 3
    return k
"""
    for bit, share in ((0, F(1, 6)), (1, F(1, 2))):
        weights = [share**k for k in range(3)]
        assert law_of(source, (bit,)) == {k: weight / sum(weights) for k, weight in enumerate(weights)}


def test_a_round_that_fails_after_another_was_rejected_is_no_failure() -> None:
    source = """
def f(x):
    k = 0
    while True:
        k = randint(0, 3)
        observe(k != 3)
        assert k != 3
        if k:
            return k
"""
    assert law_of(source) == {1: F(1, 2), 2: F(1, 2)}
    with pytest.raises(ProgramError, match="assert"):
        law_of(source.replace("observe(k != 3)", "observe(k != 2)"))


def test_numbers_with_e_in_a_counted_loop() -> None:
    source = """
def f(x):
    c = 5 + x[0]
    while 0 < c < 12:
        c += 1 if flip(1 / (1 + exp(-1))) else -1
    return c == 0
"""
    odds = exp(F(-1))
    assert law_of(source)[True] == (odds**5 - odds**12) / (1 - odds**12)


def test_loops_from_noisy_records_keep_their_privacy() -> None:
    source = """
def f(x):
    c = 4 + 2 * sum(x)
    for _ in range(24):
        c = min(12, max(0, c + choice((-1, 0, 1))))
    return c
"""
    with module_of(source) as module:
        found = Instance(bind(module, Bit, 3)).privacy()
        laws = [steps_by_hand(4 + 2 * total, lambda c: _three(c), 24) for total in range(4)]
        ratios = [laws[a][y] / laws[b][y] for a in range(4) for b in (a - 1, a + 1) if 0 <= b < 4 for y in range(13)]
        assert found.exp_epsilon == max(ratios)


def _three(c: int) -> Law:
    law: dict[int, Fraction] = {}
    for place in (max(0, c - 1), c, min(12, c + 1)):
        law[place] = law.get(place, F(0)) + F(1, 3)
    return law


SMALL = {
    "per record": """
def f(x):
    out = []
    for b in x:
        c = 3
        while 0 < c < 6 + b:
            c += 1 if flip(1/2) else -2
        out.append(c)
    return tuple(out)
""",
    "two counters": """
def f(x):
    a = b = 0
    while a + b < 9 and not flip(1/5):
        if flip((1 + x[0]) / 4):
            a += 1
        else:
            b += 1
    return a - b
""",
    "a list that grows": """
def f(x):
    out = []
    for i in range(9):
        out.append(flip(1/3) ^ x[0])
    return sum(out)
""",
    "early return": """
def f(x):
    k = x[1]
    for i in range(12):
        k = (k + randint(0, 1)) % 5
        if k == 4:
            return (i, "hit")
    return k
""",
    "continue and a later read": """
def f(x):
    total, last = 0, x[0]
    for i in range(10):
        if flip(1/4):
            continue
        last = i % 3
        total = min(total + 1, 4)
    return (total, last, i)
""",
    "a loop in a loop": """
def f(x):
    k = x[0]
    for _ in range(8):
        for _ in range(9):
            k = (k * 2 + x[1]) % 3
        if flip(1/3):
            k = 0
    return k
""",
    "a stream is used up": """
def f(x):
    faces = iter((x[0], 1, 0))
    k = 0
    for _ in range(9):
        k = (k + flip(1/3)) % 2
    return (k, tuple(faces))
""",
    "a helper with a loop": """
def f(x):
    def steps(k, n):
        for _ in range(n):
            k = max(-2, min(2, k + choice((-1, 1))))
        return k
    return steps(x[0], 9) - steps(0, 2 + x[1])
""",
    "the variable lives on": """
def f(x):
    s = 0
    for i in range(11):
        s = (s + flip(1/2)) % 2
    for j in range(3):
        s += x[j % 2]
    return s + i
""",
}


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", SMALL)
def test_laws_are_those_of_the_interpreter(name: str) -> None:
    with module_of(SMALL[name] + "\n") as module:
        bound = bind(module, Bit, 2)
        for x in ((0, 0), (1, 0)):
            try:
                found = dict(Instance(bound).distribution(x).law)
            except LanguageError:
                assert name == "a stream is used up"
                continue
            masses, beyond = interp.law_within(bound, x, 2, 11)
            assert all(masses.get(y, 0) <= p <= masses.get(y, 0) + beyond for y, p in found.items())
            assert sum(found.values()) == 1


def test_more_states_than_are_followed_are_cut_off_and_enclosed() -> None:
    two = "    if flip(1/2):\n            k += 1\n        else:\n            m += 1\n"
    source = f"def f(x):\n    k = m = 0\n    while flip(1/2):\n    {two}    return k > m\n"
    with module_of(source) as module:
        found = Instance(bind(module, Int(0, 1), 1)).distribution((0,))
    (low, high) = (dict(law)[True] for law in (found.law, found.upper))
    # The walk k - m stops at 0 with probability 1 / sqrt(3), so the value is 1/2 - sqrt(1/12).
    assert (F(1, 2) - low) ** 2 >= F(1, 12) >= (F(1, 2) - high) ** 2
    assert high < low + F(1, 10**12)


@given(st.data())
def test_chains_end_as_their_own_elimination_says(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 6))
    steps: dict[Any, dict[Any, Any]] = {}
    for state in range(size):
        places = data.draw(st.lists(st.integers(0, size - 1), max_size=3))
        row: dict[Any, Any] = {}
        for place in [*places, f"end {data.draw(st.integers(0, 1))}"]:
            row[place] = row.get(place, F(0)) + F(1, len(places) + 1)
        steps[state] = row
    found = absorbed(0, steps)
    assert sum(found.values()) == 1
    # what is found from a state is the mean of what is found from those that follow it
    laws = {state: absorbed(state, steps) for state in steps}
    for state, row in steps.items():
        for end in ("end 0", "end 1"):
            mean = sum(m * (laws[p].get(end, F(0)) if p in laws else F(p == end)) for p, m in row.items())
            assert laws[state].get(end, F(0)) == mean
