"""The order of variables: which draws stand with which client, and in how much memory that is told."""

from __future__ import annotations

import tracemalloc
from typing import Any

from tightdp import Bit, flip, mechanism
from tightdp.core.lowering import lower
from tightdp.core.nodes import Draw
from tightdp.logic.formula import NO_CLIENT, order


@mechanism(record=Bit)
def met(x: Any) -> Any:
    """One draw of its own for every client, one that two clients meet, and one that the sum of all meets."""
    own = [flip("1/3") for _ in x]
    two, every = flip("1/5"), flip("1/7")
    first = [b ^ mine for b, mine in zip(x, own, strict=True)]
    return tuple(first), x[0] and two, x[1] and two, sum(x) + every


def test_draws_stand_with_the_only_client_they_first_meet() -> None:
    blocks = order(lower(met.bind(n=3).bound))
    owners = [block.owner for block in blocks if isinstance(block.leaf, Draw)]
    assert sorted(owners) == [NO_CLIENT, NO_CLIENT, 0, 1, 2]


@mechanism(record=Bit)
def running(x: Any, rounds: int) -> Any:
    """A state that no client has a part in, until the last step."""
    state = 0
    for _ in range(rounds):
        state = (state * 2 + flip("1/3")) % 5 if flip("1/2") else state
    return state + x[0]


def test_a_long_program_is_ordered_in_little_memory() -> None:
    core = lower(running.bind(n=1, rounds=1_000).bound)
    tracemalloc.start()
    order(core)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 20 << 20
