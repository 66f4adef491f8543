"""Elimination with its rows in arrays: ciphers of very many rounds, and laws as the interpreter has them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from agreement import datasets, meaning
from parametrised import differences
from tightdp import Bit, Int, Mechanism, flip, mechanism, observe, randint
from tightdp.core.lowering import lower
from tightdp.errors import ProgramError
from tightdp.methods.by_elimination import EliminationTable
from tightdp.methods.elimination import TooMuchWork
from tightdp.methods.elimination_columns import Column, combinations
from tightdp.methods.elimination_plan import make_plan
from work import counted

"""Many times what is needed."""
BOX = (12, 5, 6, 11, 9, 0, 10, 13, 3, 14, 15, 8, 4, 7, 1, 2)


@mechanism(record=Int(0, 255))
def rotations(x: Any, rounds: int) -> Any:
    key, state = randint(0, 255), x[0]
    for i in range(rounds):
        state ^= key
        state = ((state << 1) | (state >> 7)) & 255
        state = (state + i) & 255
    return state


@mechanism(record=Int(0, 15))
def register(x: Any, rounds: int) -> Any:
    state, out = randint(1, 255), x[0]
    for _ in range(rounds):
        bit = (state ^ (state >> 2) ^ (state >> 3) ^ (state >> 4)) & 1
        state = (state >> 1) | (bit << 7)
        out = (((out << 1) | (out >> 3)) & 15) ^ (state & 1)
    return out


@mechanism(record=Int(0, 15))
def substitution(x: Any, rounds: int) -> Any:
    state = x[0]
    for i in range(rounds):
        state = BOX[state] ^ (flip("1/16") << (i % 4))
    return state


@mechanism(record=Int(0, 7))
def running_key(x: Any, rounds: int) -> Any:
    state = x[0]
    for _ in range(rounds):
        state = state ^ randint(0, 7) if flip("1/4") else state
    return state


@mechanism(record=Int(0, 3))
def conditioned(x: Any, rounds: int) -> Any:
    state, seen = x[0], []
    for _ in range(rounds):
        step = randint(1, 3) if state else randint(0, 1)
        state = (state * step + flip(Fraction(1, 2 + state))) % 4
        seen.append(min(state, 2))
    observe(sum(seen) > rounds // 2)
    return tuple(sorted(seen)), state / 2


CIPHERS = [rotations, register, substitution, running_key, conditioned]


def in_arrays(cipher: Mechanism[Any], rounds: int, **options: Any) -> EliminationTable:
    bound = cipher.bind(n=1, rounds=rounds).bound
    table = EliminationTable(bound, lower(bound), **options)
    table.fill(list(datasets(bound)))
    return table


@pytest.mark.parametrize("cipher", CIPHERS)
def test_few_rounds_as_the_interpreter_has_them(cipher: Mechanism[Any]) -> None:
    table = in_arrays(cipher, 2)
    some = list(datasets(table.bound))
    assert {x: table.law(x) for x in some[::17] or some} == {x: meaning(table.bound, x) for x in some[::17] or some}


@pytest.mark.one_in(8)
@pytest.mark.parametrize("cipher", CIPHERS)
def test_arrays_have_the_laws_of_single_rows(cipher: Mechanism[Any]) -> None:
    table = in_arrays(cipher, 5)
    by_rows = EliminationTable(table.bound, lower(table.bound))
    for x in datasets(table.bound):
        assert table.law(x) == by_rows.law(x)


def plain_rotations(record: int, rounds: int) -> dict[int, Fraction]:
    law: dict[int, Fraction] = {}
    for key in range(256):
        state = record
        for i in range(rounds):
            state ^= key
            state = (((state << 1) | (state >> 7)) & 255) + i & 255
        law[state] = law.get(state, Fraction(0)) + Fraction(1, 256)
    return law


def plain_substitution(record: int, rounds: int) -> dict[int, Fraction]:
    weights = {record: 1}  # over a denominator of 16 a round
    for i in range(rounds):
        after: dict[int, int] = {}
        for state, weight in weights.items():
            for flipped, share in ((0, 15), (1, 1)):
                to = BOX[state] ^ (flipped << (i % 4))
                after[to] = after.get(to, 0) + weight * share
        weights = after
    return {state: Fraction(weight, 16**rounds) for state, weight in weights.items()}


@pytest.mark.slow(seconds=4)
@pytest.mark.parametrize(("cipher", "plain"), [(rotations, plain_rotations), (substitution, plain_substitution)])
def test_many_rounds(cipher: Mechanism[Any], plain: Callable[[int, int], dict[int, Fraction]]) -> None:
    instance = cipher.bind(n=1, rounds=300)
    with counted() as work:
        found = instance.privacy()
    assert found.status == "exact"
    assert work.calls < 600_000_000
    assert dict(instance.distribution((3,)).law) == plain(3, 300)


@mechanism(record=Int(0, 7))
def tuples_of_wide_values(x: Any, rounds: int) -> Any:
    key = randint(0, 15)
    parts = tuple((x[0] * at + key * 17) % 256 for at in range(1, 13))
    for _ in range(rounds):
        parts = (*parts[1:], (parts[0] + parts[3] + flip("1/3")) % 256) if flip("1/2") else parts
    return parts[-1] if parts < (128,) else max(parts)


def test_more_combinations_than_machine_integers() -> None:
    table = in_arrays(tuples_of_wide_values, 2)
    for x in datasets(table.bound):
        assert table.law(x) == meaning(table.bound, x)
    columns = [Column(range(256), np.arange(6) % mod) for mod in (1, 2, 3, 2, 1, 3, 2, 3, 1)]
    found, place = combinations(columns, 257**9)
    assert [codes[place].tolist() for codes in found] == [column.codes.tolist() for column in columns]
    assert len(found[0]) == 6


@mechanism(record=Int(0, 3))
def with_an_unknown(x: Any, p: Any) -> Any:
    total = 0
    for value in x:
        for _ in range(3):
            total = (5 * total + (value + 1) * randint(0, 9) + flip(p)) % 13
    return total


@pytest.mark.slow(seconds=5)
def test_weights_that_depend_on_an_unknown() -> None:
    found = with_an_unknown.bind(n=2, p="?[0,1]").privacy()
    values = [Fraction(1, 5), Fraction(2, 3)]
    assert not differences(found, values, lambda p: with_an_unknown.bind(n=2, p=p).privacy().exp_epsilon)


@mechanism(record=Bit)
def values_of_some_runs(x: Any) -> Any:
    every, last, found, turns = list(x), [1], 0, 0
    lists = [[x[1]], every]
    while (turns := turns + 1) <= 2 and flip("1/2") ^ (x[0] != 1):
        for last in lists[:2]:
            if x[1] >= 1:
                return tuple(every), tuple(last), x[1], x[0], tuple(map(tuple, lists))
            if found if found else x[0] >= 1:
                break
    return 1, x[0], x[1], found, tuple(last), tuple(every), tuple(map(tuple, lists))


def test_values_that_no_run_has() -> None:
    bound = values_of_some_runs.bind(n=2).bound
    table = EliminationTable(bound, lower(bound))
    table.fill(list(datasets(bound)))
    for x in datasets(bound):
        assert table.law(x) == meaning(bound, x)


@pytest.mark.slow(seconds=2)
def test_a_budget_is_kept_and_the_limits_are_looked_at() -> None:
    with pytest.raises(TooMuchWork):
        in_arrays(rotations, 30, budget=1_000)

    def stop() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        in_arrays(rotations, 30, watch=stop)


@mechanism(record=Bit)
def failing(x: Any) -> Any:
    draws = [randint(0, 3) for _ in range(3)]
    assert sum(draws) + x[0] < 10
    return draws[0]


def test_a_run_that_fails_is_told() -> None:
    bound = failing.bind(n=1).bound
    with pytest.raises(ProgramError, match="fails with"):
        EliminationTable(bound, lower(bound)).fill([(0,), (1,)])


@mechanism(record=Int(0, 3))
def seldom(x: Any, rounds: int) -> Any:
    state = 0xB5
    for at in range(rounds):
        bit = ((state >> 7) ^ (state >> 5) ^ (state >> 4) ^ (state >> 3)) & 1
        state = ((state << 1) & 255) | bit
        if at % 50 == 0:
            state ^= x[0]
        if at % 100 == 0 and flip("1/5"):
            state ^= 128
    return state & 3


@pytest.mark.slow(seconds=2)
def test_draws_far_apart_are_made_where_they_stand() -> None:
    """All of them at the beginning are a row for each of 2^20 ways."""
    with counted() as work:
        program = lower(seldom.bind(n=1, rounds=600).bound)
        plan = make_plan(program)
    assert work.calls < 40_000_000
    assert plan.width < 6 * len(plan.steps)
