"""Going through all runs beside other ways: it is not begun where it would take hours."""

from __future__ import annotations

from typing import Any

from tightdp import Bit, Int, choice, flip, geometric, mechanism
from tightdp.methods.by_runs import endless_runs


@mechanism(record=Bit)
def in_any_order(x: Any) -> Any:
    left = list(range(len(x)))
    out = []
    for b in x:
        k = choice(left)
        left.remove(k)
        out.append((k, b if flip("2/3") else 1 - b))
    return tuple(out)


@mechanism(record=Int(0, 10**6))
def noisy_sum(x: Any) -> Any:
    return geometric(sum(x), "1/2", 0, 10)


def test_how_long_all_runs_take_is_foreseen() -> None:
    assert not endless_runs(in_any_order.bind(n=3).bound)
    assert endless_runs(in_any_order.bind(n=12).bound)  # 12! orders of each of 2^12 datasets
    assert endless_runs(noisy_sum.bind(n=3).bound)  # few runs of each of 10^18 datasets
