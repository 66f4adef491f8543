"""What a search tells while it runs: its phase, how far it is, and the bound so far."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from answered import one_flip
from tightdp import Bit, Instance, flip, mechanism
from tightdp.methods.control import Step


@mechanism(record=Bit, target=lambda x: 2 * sum(x))
def uneven(x):  # type: ignore[no-untyped-def]
    """The more ones, the less noise: pairs and datasets differ."""
    return sum(1 - b if flip(Fraction(1, 3 + sum(x))) else b for b in x)


@pytest.mark.parametrize(
    ("ask", "side", "phase"),
    [
        (lambda one: math.log(one.privacy().exp_epsilon), "ε ≥", "comparing neighbours"),
        (lambda one: one.privacy(delta="1/10").exp_epsilon, "e^ε ≥", "comparing neighbours"),
        (lambda one: one.delta(epsilon=0).delta, "δ at ε = 0 ≥", "comparing neighbours"),
        (lambda one: one.renyi(2).exp_moment, "exp((a-1)·D_a) ≥", "comparing neighbours"),
        (lambda one: one.renyi("3/2").exp_moment, "exp((a-1)·D_a) ≥", "comparing neighbours"),
        (lambda one: one.accuracy(0).one_minus_beta, "1 - β ≤", "going through datasets"),
        (lambda one: one.accuracy(beta="1/3").alpha, "α ≥", "going through datasets"),
    ],
)
def test_a_search_tells_its_phase_and_the_bound_so_far(ask: Callable[[Instance], Any], side: str, phase: str) -> None:
    instance = uneven.bind(n=3, neighbours=one_flip)
    steps: list[int] = []
    values: list[Any] = []

    def tell(step: Step) -> None:
        assert step.bound is not None
        assert (step.phase, step.bound.side) == (phase, side)
        steps.append(step.done)
        value = step.bound.value()
        if value is not None:
            values.append(float(value))

    instance.engine.progress = tell
    answer, rising = float(ask(instance)), side.endswith("≥")
    assert steps == sorted(steps)
    assert len(set(values)) > (side != "e^ε ≥")  # there the pairs of a block are compared when all are counted
    assert values == sorted(values, reverse=not rising)
    assert values[-1] <= answer + 1e-9 if rising else values[-1] >= answer - 1e-9
