"""Loops without a bound, by the law of how they end: against runs that are enumerated far out."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from tightdp import (
    Bit,
    Mechanism,
    flip,
    geometric,
    laplace,
    mechanism,
    observe,
    randint,
)
from tightdp.cells.laws import CellLaws, cell_laws
from tightdp.cells.noise import Outside
from tightdp.exact.field import exp
from tightdp.language.interp import law_within
from tightdp.session.files import import_file

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
Ratio = Fraction


def laws_of(made: Mechanism, **bindings: Any) -> tuple[CellLaws, Any]:
    bound = made.bind(n=1, **bindings).engine.program.bound
    return cell_laws(bound, lambda: None), bound


@mechanism(record=Bit)
def counted(x):
    z = 0
    while flip("1/2"):
        z += 1
    return x[0] + z


@mechanism(record=Bit)
def signed(x):
    while True:
        negative, z = flip(HALF), 0
        while flip(THIRD):
            z += 1
        if not (negative and z == 0):
            break
    return x[0] - z if negative else x[0] + z


def wait(p):
    rounds = 0
    while True:
        rounds += 1
        if flip(p):
            return rounds


@mechanism(record=Bit)
def returned(x):
    return wait(HALF) + wait(THIRD) + x[0]


@mechanism(record=Bit)
def three_in_a_row(x):
    z = 0
    for _ in range(3):
        while flip(THIRD):
            z += 1
    return z + x[0]


@mechanism(record=Bit)
def third_success(x):
    failures = successes = 0
    while successes < 3:
        if flip("2/3"):
            successes += 1
        else:
            failures += 1
    return failures + x[0]


@mechanism(record=Bit)
def coupons(x):
    seen = [False] * 4
    steps = x[0]
    while not all(seen):
        seen[randint(0, 3)] = True
        steps += 1
    return steps


@mechanism(record=Bit)
def coupons_numbered(x):
    seen, steps = {0: 0, 1: 0, 2: 0}, 0
    while sum(seen.values()) < 3:
        seen[randint(0, 2)] = 1
        steps = steps + 1
    return steps + x[0]


@mechanism(record=Bit)
def knuth_yao(x):
    s = tosses = 0
    while s < 7:
        s = 2 * s + (1 if flip(HALF) else 2)
        tosses += 1
        if s >= 13:
            s -= 12
    return (s, tosses + x[0])


@mechanism(record=Bit)
def conditioned(x):
    z = 0
    while flip(HALF):
        z += 1
        observe(not flip(THIRD))
    return z + x[0]


@mechanism(record=Bit)
def runs_of_heads(x):
    tosses = heads = 0
    while heads < 2:
        tosses += 1
        heads = heads + 1 if flip(HALF) else 0
        if tosses == 0:
            break
    return min(tosses, 9) + x[0]


@mechanism(record=Bit)
def beside_noise(x):
    z, t = geometric(x[0], THIRD), 0
    while flip("1/4"):
        t += 1
    return z + t


@mechanism(record=Bit)
def thresholds(x):
    t = 0
    while flip(HALF):
        t += 1
    z = 0
    while flip("2/3"):
        z += 1
    return x[0] + z > t + 1


@mechanism(record=Bit)
def listed(x):
    ages = [x[0], 0]
    while flip(HALF):
        ages[1] += 1
    return tuple(ages)


@mechanism(record=Bit)
def parity(x):
    z = x[0]
    while flip("2/3"):
        z += 1
    return z % 2 == 0


def coin_of_e(p):
    k = 1
    while flip(Fraction(p, k)):
        k += 1
    return k % 2 == 1


@mechanism(record=Bit)
def coins_of_e(x):
    return coin_of_e(HALF) if x[0] else (coin_of_e(Fraction(1)), coin_of_e(THIRD))


@mechanism(record=Bit)
def from_coins_of_e(x):
    z = x[0]
    while coin_of_e(Fraction(1)):
        z += 1
    return z


def magnitude(scale):
    while True:
        u = randint(0, scale - 1)
        k = 1
        while flip(Ratio(u, scale * k)):
            k += 1
        if k % 2 == 1:
            break
    v = 0
    while coin_of_e(Fraction(1)):
        v += 1
    return u + scale * v


@mechanism(record=Bit)
def discrete_laplace_by_coins(x):
    while True:
        negative, z = flip(HALF), magnitude(2)
        if not (negative and z == 0):
            return x[0] - z if negative else x[0] + z


@mechanism(record=Bit)
def without_rejection(x):
    negative, z = flip(HALF), magnitude(2)
    return x[0] - z if negative else x[0] + z


@mechanism(record=Bit)
def carried(x):
    z = laplace(0, 1)
    while flip(HALF):
        z = z + laplace(0, 1)
    return z + x[0]


@mechanism(record=Bit)
def compared(x):
    t, z = geometric(0, HALF), 0
    while z <= t and flip(HALF):
        z += 1
    return z + x[0]


@mechanism(record=Bit)
def for_ever(x):
    z = x[0]
    while flip(HALF) or z >= 0:
        z += 1
    return z


@mechanism(record=Bit)
def thirds(x):
    z = x[0]
    while flip(HALF):
        z -= THIRD
        if z % 2 == 1 and flip(THIRD):
            return z
    return z if flip(HALF) else -z


REFUSED = [
    (carried, "goes on to the next round"),
    (for_ever, "for ever"),
]


@pytest.mark.parametrize(("made", "why"), REFUSED, ids=lambda each: getattr(each, "name", ""))
def test_what_has_no_closed_form_is_refused(made: Mechanism, why: str) -> None:
    with pytest.raises(Outside, match=why):
        laws_of(made)


@pytest.mark.slow(seconds=3)
def test_published_samplers_have_the_law_of_the_primitive() -> None:
    """Canonne, Kamath and Steinke 2020, Algorithms 1 and 2, at scale 2."""

    def answer(made: Mechanism) -> Any:
        return made.bind(n=1).privacy().exp_epsilon

    assert answer(discrete_laplace_by_coins) == exp(HALF)
    assert answer(without_rejection) == 2 * exp(HALF)
    laws, _ = laws_of(discrete_laplace_by_coins)
    ratio = exp(-HALF)
    for z in range(-4, 5):
        assert laws.number(laws.probability((0,), z)) == (1 - ratio) / (1 + ratio) * ratio ** abs(z)


MADE = [
    counted, signed, returned, three_in_a_row, third_success, coupons, coupons_numbered, knuth_yao,
    conditioned, beside_noise, thresholds, listed, parity, thirds, coins_of_e, from_coins_of_e, compared,
]  # fmt: skip


@pytest.mark.one_in(8)
@pytest.mark.parametrize("made", MADE, ids=lambda made: made.name)
def test_laws_are_those_of_runs(made: Mechanism) -> None:
    laws, bound = laws_of(made)
    for x in ((0,), (1,)):
        draws = 6 if made in (coupons, coupons_numbered) else 11
        masses, beyond = law_within(bound, x, reach=draws, draws=draws)
        whole = sum(masses.values()) + beyond
        for output, mass in sorted(masses.items(), key=lambda each: -each[1])[:12]:
            found = laws.number(laws.probability(x, output))
            low, high = (
                (mass / whole, (mass + beyond) / (whole - beyond)) if made is conditioned else (mass, mass + beyond)
            )
            assert low <= found <= high, (x, output, float(found), float(low), float(high))


def drawn_loop(seed: int) -> str:
    """Return a function with a loop of a drawn chain: states by a variable, and a counter."""
    choose = random.Random(seed)
    states = choose.randint(1, 3)
    lines = ["def made(x):", "    s, z = 0, 0", "    while True:"]
    for s in range(states):
        p, q = choose.choice(["1/2", "1/3", "2/3"]), choose.choice(["1/2", "1/4"])
        lines.append(f"        {'if' if s == 0 else 'elif'} s == {s}:")
        lines.append(f"            if flip('{p}'):")
        lines.append(f"                z += {choose.randint(0, 2)}")
        lines.append(f"                s = {choose.randrange(states)}")
        lines.append(f"            elif flip('{q}'):")
        lines.append("                break")
        lines.append("            else:")
        lines.append(f"                z = z + {choose.randint(0, 1)}")
        lines.append(f"                s = {choose.randrange(states)}")
    lines.append(f"    return z + x[0], s if x[0] else {choose.choice(['0', 's'])}")
    return "\n".join(lines)


def drawn_counting(seed: int) -> str:
    """Return a function with a counter that rounds move, begin anew, ask about, and move in loops inside."""
    choose = random.Random(seed)

    def coin() -> str:
        return f"flip('{choose.choice(['1/2', '1/3', '1/4', '2/3'])}')"

    step = choose.choice(["1", "s", "s", "-1"])
    number = choose.choice(["z", "z", "abs(z)"])
    test = choose.choice([coin(), coin(), f"{coin()} or abs(z) < 2", f"flip('1/2' if {number} % 2 else '1/3')"])
    bodies = [
        [f"z += {step}"],
        [f"z += {step}", f"if {coin()}:", f"    z = {choose.choice(['0', 'z + ' + step, step])}"],
        [f"while {coin()}:", f"    z += {step}"],
        ["k = 0", "while flip('1/3'):", "    k += 1", f"z += k * {step}" if step == "s" else f"z += {step}"],
        [f"observe({coin()})", f"z += {step}"],
        [f"z += {step}", f"if abs(z) < 3 and {coin()}:", "    break"],
        [f"z += {step}", f"if {coin()}:", "    return z - x[0]"],
        [f"if {coin()}:", f"    z += {step}", "else:", f"    z += {choose.choice([step, '2*' + step])}"],
    ]
    lines = ["def made(x):", f"    s, z = (1 if {coin()} else -1), {choose.choice(['0', 'x[0]', '2'])}"]
    lines += ["    while True:", f"        if not ({test}):", "            break"]
    lines += ["        " + line for body in choose.sample(bodies, choose.randint(1, 2)) for line in body]
    if choose.random() < 0.3:
        lines.append(f"    observe(z != 0 or {coin()})")
    lines.append(f"    return {choose.choice(['z + x[0]', 'x[0] - z', 'abs(z) + x[0]', '(z > 3, s)', 'min(z, x[0])'])}")
    return "\n".join(lines)


_SLOW = pytest.mark.slow(seconds=25)
DRAWN = [
    *((drawn_loop, seed) for seed in range(2)),
    *(pytest.param(drawn_loop, seed, marks=_SLOW) for seed in range(2, 40)),
    *((drawn_counting, seed) for seed in range(4)),
    *(pytest.param(drawn_counting, seed, marks=_SLOW) for seed in range(4, 80)),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("draw", "seed"), DRAWN)
def test_drawn_chains(draw: Callable[[int], str], seed: int, tmp_path: Any) -> None:
    file = tmp_path / "made.py"
    file.write_text("from tightdp import *\n\n\n@mechanism(record=Bit)\n" + draw(seed) + "\n")
    try:
        laws, bound = laws_of(import_file(file).made)
    except Outside:  # with bases that are irrational, say
        return
    for x in ((0,), (1,)):
        masses, beyond = law_within(bound, x, 10, draws=9)
        accepted = sum(masses.values())
        for output, mass in masses.items():
            found = laws.number(laws.probability(x, output))
            assert mass / (accepted + beyond) <= found <= (mass + beyond) / accepted, (output, draw(seed))


@mechanism(record=Bit)
def dice_until(x):
    total, throws = x[0], 0
    while total < 30:
        total += randint(1, 6)
        throws += 1
    return throws


def test_a_counter_that_ends_has_no_powers() -> None:
    masses, found = {0: Fraction(1)}, dict(dice_until.bind(n=1).distribution((0,)).law)
    for throws in range(1, 31):
        after: dict[int, Fraction] = {}
        for total, mass in masses.items():
            for face in range(1, 7):
                after[total + face] = after.get(total + face, Fraction(0)) + mass / 6
        ended = sum((mass for total, mass in after.items() if total >= 30), Fraction(0))
        assert found.pop(throws, 0) == ended
        masses = {total: mass for total, mass in after.items() if total < 30}
    assert not found
