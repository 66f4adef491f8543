"""Going through all runs as the only way: it is not begun where it would take hours."""

from __future__ import annotations

from typing import Any

import pytest

from tightdp import Bit, Int, choice, flip, mechanism, randint
from tightdp.language import interp
from tightdp.limits.calibrated import MUCH_WORK
from tightdp.methods import by_runs, program
from tightdp.methods.base import Control
from tightdp.methods.by_runs import few_runs
from tightdp.methods.choose import program_of


@mechanism(record=Bit)
def in_any_order(x: Any) -> Any:
    left = list(range(len(x)))
    out = []
    for b in x:
        k = choice(left)
        left.remove(k)
        out.append((k, b if flip("2/3") else 1 - b))
    return tuple(out)


@mechanism(record=Int(0, 3))
def one_walks_far(x: Any, steps: int) -> Any:
    s = 1
    if all(v == 0 for v in x):
        for i in range(steps):
            s = (s * (s + 3 * i) + randint(0, 19) * (s + i)) % 100_003
        return s % 4
    for i, v in enumerate(x):
        s = (s * s + (i + 2) * s * v + 3 * flip("1/3") + v) % 100_003
    return s % 4


def test_one_dataset_may_have_more_runs_than_all_others() -> None:
    bound = one_walks_far.bind(n=6, steps=3).bound  # 20^3 runs of one, 2^6 of each of the others
    assert few_runs(bound)
    assert not few_runs(one_walks_far.bind(n=8, steps=3).bound)  # 2^8 runs of each of 4^8 datasets
    assert not few_runs(in_any_order.bind(n=12).bound)


@mechanism(record=Bit)
def with_a_retry_each(x: Any) -> Any:
    for _ in x:
        while flip("1/2"):
            pass
    return x[0] ^ flip("1/3")


def test_a_tree_of_runs_without_end_is_refused_after_counted_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interp, "_LATER", 20_000)
    found = with_a_retry_each.bind(n=2, method="runs").privacy()
    assert found.status == "unresolved"
    assert "makes more than 100 draws" in found.reason


@mechanism(record=Int(0, 40))
def mixed(x):  # type: ignore[no-untyped-def]
    a = x[0]
    for at in range(8):
        a = (a * a * 7 + x[at % len(x)] * 13 + at) % 10007
    return (a + randint(0, 3)) % 10007


@mechanism(record=Bit)
def small(x):  # type: ignore[no-untyped-def]
    return sum(b if flip("3/4") else 1 - b for b in x)


@pytest.mark.slow(seconds=3)
def test_a_program_of_many_values_and_few_runs() -> None:
    """It has 164 runs."""
    found = mixed.bind(n=1).privacy()
    assert (found.status, found.exp_epsilon) == ("exact", float("inf"))
    assert isinstance(by_runs.look(program_of(mixed.bind(n=1).bound), Control(), MUCH_WORK), by_runs.Runs)
    assert mixed.bind(n=1).delta(exp_epsilon=2).delta == 1
    assert mixed.bind(n=1).verify(exp_epsilon=2).holds is False


def test_answers_by_runs_on_request() -> None:
    for ask in ("privacy", "curve", "tradeoff", "zcdp"):
        mine, theirs = (getattr(small.bind(n=3, method=method), ask)() for method in ("runs", None))
        assert mine.to_dict()["result"] == theirs.to_dict()["result"], ask
        assert mine.stats.method == "runs"


@mechanism(record=Int(0, 2))
def in_a_tree(x: Any) -> Any:
    def insert(node: Any, v: int) -> Any:
        if node is None:
            return (v, None, None)
        w, left, right = node
        return (w, insert(left, v), right) if v < w else (w, left, insert(right, v))

    def depth(node: Any) -> int:
        return 0 if node is None else 1 + max(depth(node[1]), depth(node[2]))

    tree = None
    for v in x:
        if flip("2/3"):
            tree = insert(tree, v)
    return depth(tree)


def test_where_lowering_takes_more_than_all_runs_these_are_enumerated(monkeypatch: pytest.MonkeyPatch) -> None:
    lowered = in_a_tree.bind(n=3).delta(exp_epsilon=2)
    monkeypatch.setattr(program, "_INSTEAD", (10_000, 10_000))
    instead = in_a_tree.bind(n=3).delta(exp_epsilon=2)
    assert (instead.delta, instead.witness) == (lowered.delta, lowered.witness)
    assert (lowered.stats.method, instead.stats.method) == ("exhaustive", "runs")
    monkeypatch.setattr(program, "_INSTEAD", (10_000, 10))
    assert in_a_tree.bind(n=3).delta(exp_epsilon=2).stats.method == "exhaustive"  # runs are too many
