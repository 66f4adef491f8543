"""Rounds in which all clients vote on what earlier rounds led to: elimination instead of aggregates of every round."""

from __future__ import annotations

import pytest

from tightdp import Mechanism, Values, flip, mechanism
from work import counted


@mechanism(record=Values(-2, -1, 1, 2))
def sign_descent(x):  # type: ignore[no-untyped-def]
    """SignSGD: the parameter moves by the majority of the randomized signs of the gradients."""
    w = 0
    moves = []
    for _ in range(3):
        votes = 0
        for b in x:
            s = 1 if b > w else -1
            votes += -s if flip("1/4") else s
        w += 1 if votes > 0 else -1 if votes < 0 else 0
        moves.append(w)
    return tuple(moves)


@mechanism(record=Values(-2, -1, 1, 2))
def last_of_signs(x):  # type: ignore[no-untyped-def]
    w = 0
    for _ in range(2):
        votes = sum((1 if b > w else -1) * (-1 if flip("1/5") else 1) for b in x)
        w = max(-2, min(2, w + (1 if votes > 0 else -1)))
    return w


@pytest.mark.one_in(2)
@pytest.mark.parametrize("made", [sign_descent, last_of_signs], ids=lambda made: str(made.name))
def test_every_method_gives_the_same_answer_and_witness(made: Mechanism) -> None:
    for n in (1, 2, 3, 4):
        found = made.bind(n=n).privacy()
        for method in ("elimination", "aggregate" if n > 1 else "chain", "exhaustive" if n < 4 else "orbits"):
            other = made.bind(n=n, method=method).privacy()
            assert (other.exp_epsilon, other.witness.x, other.witness.x_prime, other.witness.output) == (
                found.exp_epsilon,
                found.witness.x,
                found.witness.x_prime,
                found.witness.output,
            ), (n, method)


@pytest.mark.slow(seconds=2)
def test_eight_records_take_little_work() -> None:
    with counted() as work:
        assert sign_descent.bind(n=8).privacy().exp_epsilon > 8
    assert work.calls < 5_000_000  # the aggregates of all rounds have 61 million values together
