"""Runs of a program read for every n that meet again are followed once: same paths, and programs of many draws."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from tightdp import ALL, Bit, Mechanism, flip, mechanism, randint
from tightdp.every_n import meeting, reading
from tightdp.every_n.paths import Affine, Path, Paths
from tightdp.every_n.states import explore
from tightdp.every_n.trees import shorter

LAM = Fraction(1, 4)


def bits(function: Callable[..., Any]) -> Mechanism:
    return mechanism(record=Bit)(function)


@bits
def parity(x, k):
    total = sum(x) % 2
    for _ in range(k):
        total = (total + flip("1/100")) % 2
    return total


@bits
def parity_of_generator(x, k):
    return (sum(x) + sum(flip("1/100") for _ in range(k))) % 2


@bits
def parity_in_a_function(x, k):
    def noisy(t):
        for _ in range(k):
            t = 1 - t if flip("1/100") else t
        return t

    t = 0
    for v in x:
        t ^= v
    return noisy(t)


@bits
def parity_of_each(x, k):
    out = []
    for v in x:
        b = v
        for _ in range(k):
            b ^= flip("1/100")
        out.append(b)
    return tuple(out)


@bits
def parity_of_each_generator(x, k):
    return tuple((v + sum(flip("1/100") for _ in range(k))) % 2 for v in x)


@bits
def parity_of_pad(x, k):
    pad = 0
    for _ in range(k):
        pad ^= flip("1/100")
    t = 0
    for v in x:
        t ^= v
    return t ^ pad


PARITIES = [
    parity,
    parity_of_generator,
    parity_in_a_function,
    parity_of_each,
    parity_of_each_generator,
    parity_of_pad,
]


# what a rest of a run must not forget


@bits
def two_rounds_alike(x, k):
    t, seen = sum(x) % 2, 0
    for i in range(k):
        if flip("1/3"):
            seen = i
    return t if flip("1/4") else seen


@bits
def read_in_a_closure(x, k):
    bias = 0

    def told(v):
        return v ^ bias ^ flip("1/4")

    for _ in range(k):
        bias = bias ^ flip("1/3")
    return tuple(told(v) for v in x)


@bits
def kept_in_a_list(x, k):
    t = max(v ^ flip("1/4") for v in x)
    drawn = [flip("1/3") for _ in range(k)]
    again = drawn
    again[0] = t
    return drawn[0] ^ drawn[-1]


@bits
def half_of_a_sum(x, k):
    t = sum(v ^ flip("1/4") for v in x)
    return (flip("1/3") + sum(flip("1/5") for _ in range(k))) * 10 + min(t, 1)


@bits
def drawn_keys(x, k):
    counts = {0: 0, 1: 0}
    for _ in range(k):
        counts[randint(0, 1)] ^= 1
    t = 0
    for v in x:
        t ^= v ^ flip("1/4")
    return t ^ counts[0], counts[1]


@bits
def least_by_key(x, k):
    t = max(v ^ flip("1/4") for v in x)
    return min([0, 1, 2][:k], key=lambda i: sum(flip("1/3") for _ in range(2)) + i * t)


@bits
def left_early(x, k):
    for v in x:
        t = 0
        for _ in range(k):
            if flip("1/3"):
                break
            t ^= v
        if t:
            return 1
    return 0


@bits
def generator_read_late(x, k):
    t, p = sum(x) % 2, LAM
    drawn = (flip(p) for _ in range(k))
    p = 1 - LAM if flip("1/2") else LAM
    return t ^ (sum(drawn) % 2)


FORGETFUL = [
    two_rounds_alike,
    read_in_a_closure,
    kept_in_a_list,
    half_of_a_sum,
    drawn_keys,
    least_by_key,
    left_early,
    generator_read_late,
]


def laws(paths: Paths) -> Any:
    """Return the paths as sets, with the numbers of states and the order of paths left out where there is one state."""

    def sign(path: Path) -> Any:
        return path.probability, path.noises, frozenset(path.bounds.items()), path.letter, path.published, path.values

    every = [
        paths.before,
        *(by.get(at, ()) for by in (*paths.steps.values(), paths.after) for at in range(paths.states)),
    ]
    return paths.states, sorted(sorted(map(repr, map(sign, some))) for some in every)


LONG = pytest.mark.slow(seconds=3)
QUICK = (parity, parity_in_a_function, parity_of_pad)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "made",
    [*PARITIES, *(pytest.param(each, marks=LONG) if each is least_by_key else each for each in FORGETFUL)],
    ids=lambda made: made.name,
)
def test_paths_are_those_of_all_runs(made: Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    bound = made.program.bind(1, k=3)
    met = [explore(bound, sums) for sums in (False, True)]
    monkeypatch.setattr(reading, "key_of", lambda *_: None)
    assert list(map(laws, met)) == [laws(explore(bound, sums)) for sums in (False, True)]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "made",
    [each if each in QUICK else pytest.param(each, marks=LONG) for each in PARITIES],
    ids=lambda made: made.name,
)
def test_many_draws(made: Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    """A coin that is added up k times is one that is odd with probability (1 - (1 - 2p)^k)/2."""
    monkeypatch.setattr(meeting, "_FEW_CHOICES", 1)
    fair = Fraction(98, 100) ** 12
    assert made.bind(n=ALL, k=12).privacy().upper == (1 + fair) / (1 - fair)


def test_constants_that_follow_each_other_are_one() -> None:
    told, two = Affine(((("told", 1), Fraction(1)),), Fraction(0)), Affine((), Fraction(2))
    one, more = Affine((), Fraction(1)), Affine((), Fraction(5))
    rest = shorter("mod", told, two)
    assert shorter("add", shorter("add", rest, one), more) == ("add", rest, Affine((), Fraction(6)))
    assert shorter("mod", shorter("add", rest, more), two) == shorter("mod", told._replace(constant=Fraction(1)), two)
    assert shorter("bitxor", shorter("bitxor", rest, one), one) == rest
    assert shorter("sub", one, rest) == ("sub", one, rest)
    assert shorter("mod", shorter("add", rest, one), more) == ("mod", ("add", rest, one), more)
