"""Sums over clients that compare their records with a value that is drawn, or chosen by earlier answers."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from tightdp import Int, Mechanism, flip, geometric, mechanism
from tightdp.methods.base import Control


@mechanism(record=Int(0, 7))
def search(x: Any) -> Any:
    low, high = 0, 7
    for _ in range(2):
        middle = (low + high) // 2
        if 2 * geometric(sum(r <= middle for r in x), "1/2", 0, len(x)) >= len(x):
            high = middle
        else:
            low = middle + 1
    return low


@mechanism(record=Int(0, 4))
def drawn_threshold(x: Any) -> Any:
    at = 1 + geometric(1, "1/2", 0, 2)
    return at, geometric(sum(r >= at for r in x), "1/2", 0, len(x))


@mechanism(record=Int(0, 3))
def remainder(x: Any) -> Any:
    step = 2 + flip("1/3")
    first = geometric(max(r % step for r in x), "1/2", 0, 2)
    other = geometric(sum(r * (first + 1) % 3 for r in x), "1/3", 0, 4)
    return first, other


@mechanism(record=Int(0, 3))
def answered_twice(x: Any) -> Any:
    first = geometric(sum(x) // 2, "1/2", 0, 2)
    return geometric(sum(r > first for r in x) + first, "1/3", 0, 4) if first else sum(r > 1 for r in x) > 1


SHARED = [search, drawn_threshold, remainder, answered_twice]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("one", SHARED, ids=lambda one: one.name)
def test_laws_and_ratios_are_those_of_all_datasets(one: Mechanism) -> None:
    for n in (2, 3):
        ours, plain = one.bind(n=n, method="aggregate"), one.bind(n=n, method="exhaustive")
        assert ours.engine.program.aggregate(Control()) is not None
        records = ours.engine.bound.record.values
        for x in product(records[::2], repeat=n):
            assert ours.distribution(x).law == plain.distribution(x).law
        assert [(e.exp_epsilon, e.triples) for e in ours.privacy(top=3).top] == [
            (e.exp_epsilon, e.triples) for e in plain.privacy(top=3).top
        ]


def test_a_noisy_search_of_a_large_domain_takes_little_work() -> None:
    @mechanism(record=Int(0, 99))
    def median(x: Any) -> Any:
        low, high = 0, 99
        for _ in range(3):
            middle = (low + high) // 2
            if 2 * geometric(sum(r <= middle for r in x), "1/2", 0, len(x)) >= len(x):
                high = middle
            else:
                low = middle + 1
        return low

    found = median.bind(n=6, timeout=30).privacy()
    assert (found.status, found.exp_epsilon) == ("exact", 8)
