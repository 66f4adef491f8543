"""Chains in which records alone decide the way: states that are kept while records are read, and noise at the end."""

from __future__ import annotations

from typing import Any

import pytest

from tightdp import Int, Mechanism, flip, geometric, mechanism
from tightdp.limits.calibrated import MOST_WORK
from tightdp.methods.base import Control
from tightdp.methods.chain_certain import certainly
from tightdp.methods.chain_eliminated import EliminatedChain, eliminate_to_chain


@mechanism(record=Int(0, 4))
def where_largest(x: Any) -> Any:
    best, at = -1, 0
    for place, r in enumerate(x):
        if r > best:
            best, at = r, place
    return geometric(at, "1/3", 0, 3)


@mechanism(record=Int(0, 4))
def second_largest(x: Any) -> Any:
    a, b = 0, 0
    for r in x:
        if r > a:
            a, b = r, a
        elif r > b:
            b = r
    return geometric(b, "1/3", 0, 4)


@mechanism(record=Int(0, 4), neighbours="unit-step")
def longest_run(x: Any) -> Any:
    best = length = 0
    before = -1
    for r in x:
        length = length + 1 if r >= before else 1
        best = max(best, length)
        before = r
    return geometric(best, "1/3", 0, 4), flip("1/3") if before > 2 else flip("2/3")


@mechanism(record=Int(0, 4), neighbours="unit-step")
def largest_jump(x: Any) -> Any:
    jump = 0
    for place in range(1, len(x)):
        jump = max(jump, abs(x[place] - x[place - 1]))
    return geometric(jump // 2, "1/3", 0, 2)


@mechanism(record=Int(0, 4))
def last_even(x: Any) -> Any:
    last = 0
    for r in x:
        if r % 2 == 0:
            last = r
    return geometric(last, "1/3", 0, 4) if last else 0


@mechanism(record=Int(0, 3))
def constant(x: Any) -> Any:
    state = 0
    for r in x:
        state = (2 * state + r) % 5
    return geometric(state // 5, "1/3", 0, 2)


KEPT = [where_largest, second_largest, longest_run, largest_jump, last_even, constant]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("one", KEPT, ids=lambda one: one.name)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_states_that_are_kept_give_what_all_datasets_give(one: Mechanism, n: int) -> None:
    ours, plain = (one.bind(n=n, method=method).privacy() for method in ("chain", "exhaustive"))
    assert (ours.status, ours.exp_epsilon) == ("exact", plain.exp_epsilon)


@pytest.mark.parametrize("one", KEPT[:-1], ids=lambda one: one.name)
def test_the_way_is_found_and_attains_the_ratio(one: Mechanism) -> None:
    engine = one.bind(n=3).engine
    found = eliminate_to_chain(engine.program.expanded(Control()), engine.bound.record, Control(), MOST_WORK)
    assert isinstance(found, EliminatedChain)
    certain = certainly(found.chain, engine.bound.record.values, Control())
    assert certain is not None
    steps = {record: tuple(r for r in (record - 1, record + 1) if 0 <= r <= 4) for record in range(5)}
    decided, path = certain.largest(steps, Control())
    assert decided
    assert path is not None
    assert sum(old != new for old, new, _ in path[2]) == 1


@mechanism(record=Int(0, 3))
def drawn_on_the_way(x: Any) -> Any:
    kept = 0
    for r in x:
        kept = r if flip("1/3") else kept
    return geometric(kept, "1/3", 0, 3)


def test_what_is_drawn_before_the_last_record_is_left_to_the_search() -> None:
    engine = drawn_on_the_way.bind(n=3).engine
    found = eliminate_to_chain(engine.program.expanded(Control()), engine.bound.record, Control(), MOST_WORK)
    assert isinstance(found, EliminatedChain)
    assert certainly(found.chain, engine.bound.record.values, Control()) is None
    ours, plain = (drawn_on_the_way.bind(n=3, method=method).privacy() for method in ("chain", "exhaustive"))
    assert ours.exp_epsilon == plain.exp_epsilon


@pytest.mark.parametrize("largest", [49, pytest.param(99, marks=pytest.mark.slow)])
def test_a_run_of_records_of_a_large_domain_takes_little_work(largest: int) -> None:
    @mechanism(record=Int(0, largest))
    def longest(x: Any) -> Any:
        best = length = 0
        before = -1
        for r in x:
            length = length + 1 if r >= before else 1
            best = max(best, length)
            before = r
        return geometric(best, "1/2", 0, 9)

    found = longest.bind(n=3, timeout=30).privacy()
    assert (found.status, found.exp_epsilon) == ("exact", 2)
