"""Counters that pass all they are compared with: against programs that stop counting there, and against small n."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import pytest

from chain_laws import law
from tightdp import ALL, Bit, flip, geometric, laplace, mechanism
from tightdp.errors import LanguageError
from tightdp.every_n.states import chain_of, explore


def noisy_at_first(x, stop):
    seen, sent = 0, []
    for v in x:
        sent.append(v ^ flip("1/4" if seen < 3 else "1/8"))
        seen = min(seen + 1, 3) if stop else seen + 1
    return tuple(sent)


def used_up(x, stop):
    left, sent = Fraction(2, 3), []
    for v in x:
        if left == 0:
            sent.append(v ^ flip("1/4"))
        left = max(left - Fraction(1, 3), Fraction(-1)) if stop else left - Fraction(1, 3)
    return tuple(sent)


def in_a_row(x, stop):
    runs = [0, 0]
    for v in x:
        longer = runs[1] + 1
        runs = [runs[0], (min(longer, 2) if stop else longer) if v ^ flip("1/4") else 0]
    return runs[1] >= 2


def in_a_dictionary(x, stop):
    counts = {0: 0, 1: 0}
    late = 0
    for v in x:
        if counts[v] >= 2:
            late = late ^ v ^ flip("1/4")
        counts[v] = min(counts[v] + 1, 2) if stop else counts[v] + 1
    return late ^ flip("1/4")


def one_counts_the_other(x, stop):
    first, second, sent = 0, 0, []
    for v in x:
        second = 2 * first + 1
        sent.append(v ^ flip("1/4" if second < 5 or first == 3 else "1/8"))
        first = min(first + 1, 4) if stop else first + 1
    return tuple(sent), first > 3


def length_of_a_list(x, stop):
    kept, sent, size = [], [], 0
    for v in x:
        if (size if stop else len(kept)) < 2:
            kept.append(0)
            sent.append(v ^ flip("1/4"))
            size += 1
        elif not stop:
            kept.append(0)
    return tuple(sent)


PAIRS = [noisy_at_first, used_up, in_a_row, in_a_dictionary, one_counts_the_other, length_of_a_list]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("function", PAIRS, ids=lambda each: each.__name__)
def test_same_chain_as_where_counting_stops(function):
    made = mechanism(record=Bit)(function)
    for sums in (False, True):
        ours, theirs = (explore(made.bind(n=1, stop=stop).bound, sums) for stop in (False, True))
        assert ours.states == theirs.states
        for n in (1, 2, 3, 4):
            for x in product((0, 1), repeat=n):
                assert law(chain_of(ours), x) == law(chain_of(theirs), x)


def drawn(seed):
    """A program whose counter moves one way, and is compared with a few constants."""
    make = random.Random(seed)
    start, step = make.randint(-2, 2), make.choice((1, 2, 3, -1, -2, Fraction(1, 2), Fraction(-1, 3)))
    edges = [Fraction(make.randint(-8, 8), make.choice((1, 1, 2))) for _ in range(3)]
    always, reset = make.random() < 0.5, make.random() < 0.3

    def counting(x):
        at, sent = start, []
        for v in x:
            noise = "1/4" if at < edges[0] else "1/8" if at == edges[1] else "1/3"
            told = v ^ flip(noise)
            sent.append(told if -at <= edges[2] or v else 0)
            if always or told:
                at += step
            elif reset:
                at = start
        return tuple(sent), bool(at >= edges[2])

    return mechanism(record=Bit)(counting)


@pytest.mark.parametrize(
    "seed", [1, 2, 5, *(pytest.param(seed, marks=pytest.mark.slow(seconds=3)) for seed in (0, *range(6, 20)))]
)
def test_no_upper_end_below_what_some_n_has(seed):
    made = drawn(seed)
    found = made.bind(n=ALL).privacy()
    tight = [made.bind(n=n).privacy().exp_epsilon for n in (1, 2, 3, 4, 5)]
    assert max(tight[:4]) <= found.lower
    assert max(tight) <= found.upper


def above(x, most, scale):
    t, told, count = laplace(0, 2), [], 0
    for query in x:
        if (laplace(query, scale) if scale else query) >= t:
            told.append(True)
            count += 1
            if count == most:
                break
        else:
            told.append(False)
    return tuple(told)


def test_a_cutoff_that_is_never_met_is_no_cutoff():
    made = mechanism(record=Bit, neighbours="unit-all")(above)
    refuted = made.bind(n=ALL, most=0, scale=0).verify(epsilon=1)
    assert refuted.holds is False
    assert refuted.found.lower == refuted.found.upper
    assert made.bind(n=ALL, most=1, scale=4).verify(epsilon=1).holds


def test_what_is_not_cut_off_is_refused():
    @mechanism(record=Bit)
    def walk(x):
        at, told = 0, 0
        for v in x:
            at += 1 if v else -1
            told = told ^ (v if at == 3 else 0)
        return told ^ flip("1/4")

    with pytest.raises(LanguageError, match="the values that at may have do not end"):
        walk.bind(n=ALL).privacy()


def counted(x, kind):
    at, told = 0, 0
    for v in x:
        at += v if kind == "records" else 1 if kind == "all" else flip("3/4" if v else "1/4")
        told = told ^ (v if at == 3 else 0)
    return told ^ flip("1/4"), geometric(at, "1/2")


def with_remainders(x, kind):
    at, told = 0, 0
    for v in x:
        at += 1 + v - v
        told = told ^ (v if at * at % 7 > at else 0)
    return told ^ flip("1/4")


def less_noise_later(x, kind):
    yes = 0
    for v in x:
        yes += flip("1/3" if yes < 3 else "1/10") ^ v
    return yes


def half_later(x, kind):
    total = 0
    for v in x:
        total += v if total >= 2 else 2 * v
    return geometric(total, "1/3")


def memory_of_two(x, kind):
    total = before = earlier = 0
    for v in x:
        total += earlier ^ before ^ v
        earlier, before = before, v
    return geometric(total, "1/2")


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("program", "kind", "lower", "upper"),
    [
        (counted, "records", 6, 6),
        (counted, "all", 3, 3),
        pytest.param(counted, "draws", 3, 9, marks=pytest.mark.slow(seconds=9)),
        (with_remainders, "", 3, 3),
        (less_noise_later, "", 9, 9),
        (half_later, "", 9, 9),
        (memory_of_two, "", 8, 8),
    ],
)
def test_sums_that_are_compared_may_be_published(program, kind, lower, upper):
    made = mechanism(record=Bit)(program)
    found = made.bind(n=ALL, kind=kind).privacy()
    tight = [made.bind(n=n, kind=kind).privacy().exp_epsilon for n in (1, 2, 3, 4, 5)]
    assert max(tight[:4]) <= found.lower
    assert max(tight) <= found.upper
    assert lower <= found.lower <= found.upper == upper
