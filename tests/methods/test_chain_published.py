"""Where outputs tell which nodes of a chain they lead through, the tight ratio is found along single paths."""

from __future__ import annotations

from typing import Any

import pytest

from tightdp import Bit, Int, Mechanism, choice, flip, mechanism, randint
from tightdp.limits.calibrated import MOST_WORK
from tightdp.methods.base import Control, Refusal
from tightdp.methods.by_chain import WithoutDiagram, look_without_diagram
from tightdp.methods.choose import program_of
from tightdp.session.instance import Instance


@mechanism(record=Int(0, 2), neighbours="unit-step")
def answers_in_turn(x: Any) -> Any:
    """Every client reads the answers so far, and answers the less often the more there are."""
    out: list[Any] = []
    for v in x:
        out.append(v if flip(("1/2", "1/3", "1/5", "1/7")[sum(o == v for o in out)]) else randint(0, 2))
    return tuple(out)


@mechanism(record=Bit, neighbours="unit-all")
def everybody_in_turn(x: Any) -> Any:
    out: list[Any] = []
    for b in x:
        out.append(flip((("1/3", "2/3") if sum(out) > 1 else ("1/4", "1/2"))[b]))
    return tuple(out)


@mechanism(record=Bit, neighbours="add-remove")
def taken_places(x: Any) -> Any:
    """Every client takes a free place; absent ones take any."""
    used: list[Any] = []
    for b in x:
        free = [k for k in range(len(x)) if k not in used]
        used.append(choice(free, [1 if b is None else 2 if k % 2 == b else 1 for k in free]))
    return tuple(used)


@mechanism(record=Bit)
def never_twice(x: Any) -> Any:
    """A client may hold back what the one before sent: some outputs tell records apart for sure."""
    out: list[Any] = []
    for b in x:
        out.append(None if out and out[-1] == b else b if flip("3/4") else 1 - b)
    return tuple(out)


PUBLISHED = (answers_in_turn, everybody_in_turn, taken_places, never_twice)


def chain_of(instance: Instance) -> WithoutDiagram:
    found = look_without_diagram(program_of(instance.bound), Control(), MOST_WORK)
    assert isinstance(found, WithoutDiagram)
    return found


@pytest.mark.one_in(4)
@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("one", PUBLISHED, ids=lambda one: one.name)
def test_ratios_along_paths(one: Mechanism, n: int) -> None:
    method, plain = chain_of(one.bind(n=n)), one.bind(n=n, method="runs").privacy()
    tight = method.tight(Control(), MOST_WORK)
    assert not isinstance(tight, Refusal)
    assert (tight.lower, tight.upper) == (plain.exp_epsilon, plain.exp_epsilon)
    assert (tight.witness is None) == (plain.witness is None)


@pytest.mark.slow(seconds=6)
def test_many_outputs_are_not_listed() -> None:
    found = taken_places.bind(n=8).privacy()
    assert (found.status, found.stats.method) == ("exact", "chain")
