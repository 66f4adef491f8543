"""Runs that meet where they go on alike: the same paths as runs one by one, from fewer of them."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from tightdp import Bit, Int, Mechanism, flip, geometric, laplace, mechanism, observe, randint
from tightdp.cells import paths
from tightdp.cells.laws import cell_laws, mass_of
from tightdp.cells.paths import Loops
from tightdp.exact.field import exp

LIKELY, RARE = Fraction(3, 4), Fraction(1, 4)
SEEN: list[int] = []


def reported(b):
    return flip(LIKELY) if b else flip(RARE)


@mechanism(record=Bit)
def counted(x):
    ones = 0
    for b in x:
        for _ in range(3):
            ones += reported(b)
    return laplace(ones, 2)


@mechanism(record=Bit)
def with_lists(x):
    seen = [0, 0]
    same = seen
    for at, (b, other) in enumerate(zip(x, reversed(x), strict=True)):
        for _ in [1, 2, 3]:
            same[b if reported(other) else at] += 1
            if seen[0] == 4:
                break
        else:
            seen[1] -= 1
    return seen[0] > seen[1], laplace(sum(seen), 1)


@mechanism(record=Bit)
def with_a_global_list(x):
    for b in x:
        for _ in range(2):
            SEEN.append(1 if flip(RARE) else b)
    return laplace(len([b for b in SEEN if b]), 3)


@mechanism(record=Bit)
def with_noise_before(x):
    t, high = geometric(0, "1/2"), 0
    for b in x:
        for _ in range(2):
            if reported(b):
                high += geometric(0, "1/3") > t
    return laplace(0, 1) > high if high else t


@mechanism(record=Bit)
def observed(x):
    ones = 0
    for b in x:
        ones += reported(b)
        ones += reported(b)
        observe(ones != 1)
    rest = ones
    while rest > 1:
        rest -= 1 + flip(RARE)
    return laplace(ones + rest, 1)


def again(x):
    total = 0
    for _ in range(2):
        total += flip(LIKELY)
    total = total + again(x[1:]) if len(x) > 1 else total
    total += flip(RARE)
    return total if len(x) < 2 else laplace(total, 1 + x[0])


calls_itself = mechanism(again, record=Bit)


@mechanism(record=Bit)
def comprehended(x):
    likely = [1 if reported(b) else 0 for b in x for _ in range(2)]
    rare = []
    for at, b in enumerate(x):
        if flip(RARE):
            rare.append(sum(1 for _ in range(at) if reported(b)))
    if sum(flip(RARE) for _ in x) > len(rare):
        rare += [2, 3]
    return sum(rare) > 4, laplace(sum(likely) + 2 * sum(reported(b) for b in x), 1)


def ones_of(b, times):
    found = 0
    for _ in range(times):
        found += reported(b)
    return found


def all_of(x):
    if len(x) == 1:
        return ones_of(x[0], 2)
    return all_of(x[: len(x) // 2]) + reported(x[0]) + all_of(x[len(x) // 2 :])


def kept_in(found, b):
    if reported(b):
        found.append(b)
    return 1 if flip(RARE) else 0


def taken_out(held, b):
    own = held.pop("own")
    for _ in range(2):
        own.append(reported(b))
    return 0


def first(own, _):
    return sum(own)


def called_twice(bump):
    bump()
    bump()


def outside(b):
    SEEN.append(reported(b))
    return flip(RARE)


@mechanism(record=Bit)
def calls_others(x):
    return laplace(sum(ones_of(b, 2) for b in x) - all_of(x), 2)


@mechanism(record=Bit)
def with_containers(x):
    found = []
    held = {"own": [1], "other": found}
    ones = first(held["own"], taken_out(held, x[0]))
    for b in x:
        ones += kept_in(held["other"], b)
    for b in x:
        outside(b)
    return laplace(ones + 2 * len(found) + sum(SEEN), 1)


@mechanism(record=Bit)
def with_functions_inside(x):
    total, seen = 0, [0]

    def bump():
        nonlocal total
        total += reported(x[0])

    def see(b):
        for _ in range(2):
            seen[-1] += reported(b)
            if flip(RARE):
                return
        called_twice(bump)

    for b in x:
        see(b)
    return laplace(total + 3 * sum(seen), 1)


@mechanism(record=Bit)
def with_functions_that_read(x):
    kept = [0, 0]
    step = 1

    def add(at=0, *, times=2):
        for _ in range(times):
            kept[at] += step * reported(x[0])
        return kept[0]

    found = [add(), add(1, times=1)]
    step = 3
    add()
    return laplace(sum(found) + 5 * sum(kept), 1)


def gone_through(made: Mechanism, n: int) -> tuple[dict[Any, Any], int]:
    """The paths on all datasets with their weights, and how many runs found them."""
    bound, number = made.bind(n=n).engine.program.bound, [0]

    def one_more() -> None:
        number[0] += 1

    loops = Loops(lambda path: mass_of(path, lambda: None), one_more)
    found = {x: paths.paths(bound, x, loops)[0] for x in product(bound.record.values, repeat=n)}
    weights: dict[Any, Any] = {}
    for x, every in found.items():
        for path in every:
            weights[x, path.name()] = weights.get((x, path.name()), 0) + path.weight
    return weights, number[0]


@pytest.mark.one_in(8)
@pytest.mark.parametrize(
    "made",
    [
        counted,
        with_lists,
        with_a_global_list,
        with_noise_before,
        observed,
        calls_itself,
        comprehended,
        calls_others,
        with_containers,
        with_functions_inside,
        with_functions_that_read,
    ],
    ids=lambda m: m.name,
)
def test_runs_that_meet_have_the_paths_of_runs_one_by_one(made: Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    together, few = gone_through(made, 2)
    monkeypatch.delattr(paths._Run, "met")
    apart, many = gone_through(made, 2)
    assert together == apart
    assert few < many


@pytest.mark.slow(seconds=2)
def test_what_a_finite_part_comes_to_is_found_state_by_state() -> None:
    @mechanism(record=Bit)
    def reports(x):
        ones = 0
        for b in x:
            for _ in range(6):
                ones += reported(b)
        return laplace(ones, 6)

    @mechanism(record=Bit)
    def listed(x):
        return laplace(sum([reported(b) for b in x for _ in range(6)]), 6)

    @mechanism(record=Bit)
    def asked(x):
        return laplace(sum(ones_of(b, 6) for b in x), 6)

    @mechanism(record=Bit)
    def halved(x):
        def rest(k):
            return 0 if k == 0 else rest(k - 1) + reported(x[0])

        return laplace(rest(6) + all_of(x), 6)

    assert gone_through(reports, 2)[1] < 400  # 4^6 on each dataset, one by one
    assert gone_through(asked, 2)[1] < 1_200
    assert gone_through(halved, 2)[1] < 1_200  # 2^11
    assert gone_through(listed, 2)[1] < 400
    made = listed
    tight = made.bind(n=3).privacy()
    assert tight.status == "exact"
    assert float(tight.exp_epsilon) == pytest.approx(1.6472931894111278, rel=1e-12)  # a sum over a fine grid


def test_a_counter_with_few_values_is_multiplied() -> None:
    def capped(x):
        total = 0
        for b in x:
            z = 0
            while flip(Fraction(1, 2)):
                z += 1
            total += min(z, 5) * b
        return laplace(total, 2)

    tight = mechanism(capped, record=Int(0, 2)).bind(n=1).privacy()
    growth = [(Fraction(1, 2 ** min(z + 1, 5)), z) for z in range(6)]  # of the density of 2z at the far right
    assert tight.exp_epsilon == sum(mass * exp(z) for mass, z in growth)


def test_what_a_loop_does_not_touch_is_followed_once() -> None:
    def sums(x):
        total = 0
        for b in x:
            for _ in range(4):
                seen = b
                while seen < 9:
                    seen = randint(0, 9)
                    if seen < 3:
                        break
                total += seen
        return laplace(total, 6)

    loops = Loops(lambda path: mass_of(path, lambda: None), lambda: None)
    found, _ = paths.paths(mechanism(sums, record=Bit).bind(n=1).engine.program.bound, (0,), loops)
    assert len(loops.known) == 1 < len(found)


def test_a_flag_beside_a_counter_is_no_counter() -> None:
    def flagged(x):
        z, seen, far = x[0], 0, 0
        while flip(Fraction(1, 2)):
            z += 1
            if flip(RARE):
                seen = 1
            if z > 2:
                far = 1
        return z, seen, far

    laws = cell_laws(mechanism(flagged, record=Bit).bind(n=1).engine.program.bound, lambda: None)
    masses = [laws.number(laws.probability((0,), output)) for output in ((2, 0, 0), (3, 1, 1), (3, 0, 0), (7, 0, 1))]
    assert masses == [Fraction(9, 128), Fraction(37, 1024), 0, LIKELY**7 / 256]
