"""States that are mixtures of others: what a program draws when it needs it is drawn before the records."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import pytest

from tightdp import ALL, Bit, Int, flip, mechanism, randint
from tightdp.every_n.chain import Chain, Matrix, Vector, row
from tightdp.every_n.chain import product as inner
from tightdp.every_n.mixtures import unmixed
from tightdp.every_n.upper import least_upper, readings


@mechanism(record=Bit)
def memoized(x):
    """Permanent randomized response: each answer is drawn when it is given first, and told with noise of its own."""
    permanent, sent = {}, []
    for v in x:
        if v not in permanent:
            permanent[v] = v ^ flip("1/3")
        sent.append(permanent[v] ^ flip("1/4"))
    return tuple(sent)


@mechanism(record=Bit)
def drawn_at_the_first_one(x):
    """A secret level of noise is drawn with the first record that is 1."""
    level, sent = None, []
    for v in x:
        if v and level is None:
            level = flip("1/2")
        sent.append(v ^ flip("1/3" if v and level else "1/4"))
    return tuple(sent)


@mechanism(record=Int(0, 2))
def masks_of_values(x):
    """Every value has a mask, drawn when it is met, of which the noise depends on it."""
    masks = {}
    last = 0
    for v in x:
        if v not in masks:
            masks[v] = flip("1/3") if v else flip("1/2")
        last = masks[v] ^ flip("1/5")
    return last


@mechanism(record=Bit)
def hidden_coin_is_forgotten(x):
    """A coin is drawn again after each 1, and read with the next record."""
    coin, sent = flip("1/2"), []
    for v in x:
        sent.append(v ^ (flip("1/3") if coin else flip("1/4")))
        if v:
            coin = flip("1/2")
        elif not coin:
            coin = randint(0, 1) == 1
    return tuple(sent)


@pytest.mark.slow(seconds=4)
def test_what_is_drawn_late_is_drawn_before():
    found = least_upper(readings(memoized.bind(n=ALL).bound), Fraction(2))
    assert (found.value, found.approached) == (3, True)
    assert found.value > memoized.bind(n=4).privacy().exp_epsilon == Fraction(361, 147)


@pytest.mark.parametrize("program", [memoized, drawn_at_the_first_one, masks_of_values, hidden_coin_is_forgotten])
def test_upper_ends_are_not_below_what_some_n_has(program):
    tight = [program.bind(n=n).privacy().exp_epsilon for n in (1, 2, 3)]
    found = least_upper(readings(program.bind(n=1).bound), max(tight))
    assert found.value >= max(tight)


def _drawn(random: Random) -> tuple[Chain, int]:
    """Return a chain to which states were added that are mixtures of the first ones."""
    size, more = random.randint(1, 3), random.randint(1, 3)

    def vector() -> Vector:
        return {at: Fraction(random.randint(1, 4), 12) for at in range(size) if random.random() < 0.7}

    mixtures = [vector() for _ in range(more)]

    def mixed(of: list[Vector]) -> list[Vector]:
        """Return the rows of all states, in which part of what leads to the first states leads to mixtures of them."""
        rows = [*of]
        for shares in mixtures:
            total: Vector = {}
            for at, share in shares.items():
                total = {j: total.get(j, 0) + share * of[at].get(j, 0) for j in {*total, *of[at]}}
            rows.append(total)
        return [_led(each, random, mixtures, size) for each in rows]

    steps: dict[str, dict[int, Matrix]] = {}
    for y, x in product("ab", (0, 1)):
        rows = mixed([vector() for _ in range(size)])
        steps.setdefault(y, {})[x] = {at: each for at, each in enumerate(rows) if each}
    finals = []
    for _ in range(2):
        ends = vector()
        ends |= {size + at: inner(shares, ends) for at, shares in enumerate(mixtures)}
        finals.append({at: value for at, value in ends.items() if value})
    start = _led(vector(), random, mixtures, size)
    return Chain(size + more, (start,), steps, tuple(finals), ((0, 1), (1, 0)), False), size


def _led(entries: Vector, random: Random, mixtures: list[Vector], size: int) -> Vector:
    left = dict(entries)
    for number, shares in enumerate(mixtures):
        if shares and random.random() < 0.6 and all(left.get(at, 0) >= share / 2 for at, share in shares.items()):
            left = {at: value - Fraction(shares.get(at, 0), 2) for at, value in left.items()}
            left[size + number] = Fraction(1, 2)
    return {at: value for at, value in left.items() if value}


@pytest.mark.parametrize("seed", range(40))
def test_the_law_of_a_chain_stays_what_it_is(seed):
    chain, size = _drawn(Random(seed))
    fewer = unmixed(chain)
    assert fewer.size <= size
    for n in range(4):
        for word in product(product("ab", (0, 1)), repeat=n):
            for ours, theirs in zip(chain.finals, fewer.finals, strict=True):
                values = []
                for one, final in ((chain, ours), (fewer, theirs)):
                    now = one.starts[0]
                    for y, x in word:
                        now = row(now, one.steps[y][x])
                    values.append(inner(now, final))
                assert values[0] == values[1]
