"""Rounds of loops whose probabilities have many digits cost more steps: what is bounded by steps ends in time."""

from __future__ import annotations

import pytest

from tightdp import Bit, LimitError, geometric, mechanism
from tightdp.core.lowering import loop_chain, lower


@mechanism(record=Bit)
def raised(x, q):
    distance = 0
    while geometric(distance, q, -3, 4) < 2:
        distance += 1
    return distance


def _rounds(q: str, steps: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return how many rounds are followed in so many steps."""
    rounds, left, found = 0, steps, loop_chain.LoopChain._found

    def counted(*arguments):
        nonlocal rounds
        rounds += 1
        return found(*arguments)

    def watch() -> None:
        nonlocal left
        left -= 1
        if not left:
            raise LimitError("that was enough", "")

    monkeypatch.setattr(loop_chain.LoopChain, "_found", counted)
    with pytest.raises(LimitError):
        lower(raised.bind(n=1, q=q).bound, watch=watch)
    monkeypatch.undo()
    return rounds


def test_long_probabilities_are_more_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 2 * _rounds("0.367879441172", 3000, monkeypatch) < _rounds("1/2", 3000, monkeypatch)
