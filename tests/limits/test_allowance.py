"""Counted work ends a question, and no clock does."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from small_mechanisms import remembers_or
from tightdp.errors import LimitError
from tightdp.limits import Allowance, Limits
from tightdp.logic.bdd import make_manager
from tightdp.session import enclosing


def test_steps_and_nodes_are_charged_at_their_price() -> None:
    allowance = Allowance(100, price=10)
    limits, others = Limits(allowance=allowance), Limits(allowance=allowance)
    for _ in range(4):
        limits()
        others()
    limits(5)  # two steps: one for the call, and one for its nodes
    assert allowance.left == 0
    assert limits.reached() is None
    with pytest.raises(LimitError, match="more steps"):
        others()


@pytest.mark.slow(seconds=3)
def test_without_work_only_the_first_n_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    instance = remembers_or.bind(n="all", lam="1/3", wrong="1/4")
    more = instance.privacy()
    monkeypatch.setattr(enclosing, "_WORK", 0)
    monkeypatch.setattr(enclosing, "WORK_FOR_FEW", 0)
    less = instance.privacy()
    assert (less.n, less.upper) == (1, more.upper)
    assert Fraction(1) < less.lower < more.lower < math.inf


@pytest.mark.parametrize("backend", ["cudd", "autoref"])
def test_the_size_of_a_diagram_is_looked_at_after_as_many_operations(backend: str) -> None:
    def sizes() -> list[int]:
        found: list[int] = []
        manager = make_manager(backend, 20, found.append)
        node = manager.true
        for at in range(2_000):
            node = manager.differ(node, manager.both(manager.variable(at % 20), manager.variable(at * 7 % 20)))
        return found

    seen = sizes()
    assert len(seen) > 3
    assert sizes() == seen
