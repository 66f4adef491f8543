"""The size of a diagram is looked at within one operation of CUDD, too."""

from __future__ import annotations

from functools import reduce

import pytest

from tightdp.errors import LimitError
from tightdp.limits import Limits
from tightdp.logic import bdd
from tightdp.logic.bdd import Manager, Node, make_manager


def equal(manager: Manager, start: int, bits: int, apart: int) -> Node:
    """Return whether some variables equal those that stand `apart` levels below them: about 3 * 2^bits nodes."""
    pairs = [(manager.variable(at), manager.variable(at + apart)) for at in range(start, start + bits)]
    return reduce(manager.both, [manager.negate(manager.differ(*pair)) for pair in pairs])


def combined(manager: Manager, operation: str, bits: int) -> Node:
    """Return what one operation makes of two diagrams that are far smaller than their combination."""
    left, right = equal(manager, 0, bits, 2 * bits), equal(manager, bits, bits, 2 * bits)
    match operation:
        case "choose":
            return manager.choose(manager.variable(4 * bits), left, right)
        case "substitute":
            names = {bits - 1 + 2 * bits: manager.choose(right, manager.variable(3 * bits - 1), manager.false)}
            return manager.substitute(left, names)
        case _:
            made: Node = getattr(manager, operation)(left, right)
            return made


@pytest.mark.one_in(3)
@pytest.mark.parametrize("operation", ["both", "either", "differ", "choose", "substitute"])
def test_one_operation_stops_at_the_limit_of_nodes(operation: str) -> None:
    manager = make_manager("cudd", 50, Limits(max_nodes=100_000))
    with pytest.raises(LimitError, match="the diagram has more than 100,000 nodes"):
        combined(manager, operation, 12)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("operation", ["both", "either", "differ", "choose", "substitute"])
def test_an_operation_that_was_stopped_gives_the_same_diagram(operation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = make_manager("cudd", 30, lambda size: None)
    expected = plain.extract(combined(plain, operation, 7))
    sizes: list[int] = []
    monkeypatch.setattr(bdd, "_MEMORY_BETWEEN_LOOKS", 0)
    monkeypatch.setattr(bdd, "_BETWEEN_LOOKS", 1_000)
    manager = make_manager("cudd", 30, sizes.append)
    assert manager.extract(combined(manager, operation, 7)) == expected
    assert sizes
