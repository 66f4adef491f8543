"""What a search tells while it runs: its phase, how far it is, and the bound so far."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from answered import one_flip
from tightdp import Bit, Instance, canaries_needed, flip, mechanism
from tightdp.methods.base import Step


@mechanism(record=Bit, target=lambda x: 2 * sum(x))
def uneven(x):  # type: ignore[no-untyped-def]
    """The more ones, the less noise: pairs and datasets differ."""
    return sum(1 - b if flip(Fraction(1, 3 + sum(x))) else b for b in x)


@mechanism(record=Bit)
def uneven_by(x, weight):  # type: ignore[no-untyped-def]
    """What is drawn depends on which of two numbers is larger."""
    return flip(max(weight, 1 - weight) / 2) if x[0] else flip(1 / 2)


@mechanism(record=Bit)
def one_bit_each(x):  # type: ignore[no-untyped-def]
    """Randomized response with little noise."""
    return tuple(b ^ flip("1/100") for b in x)


_ONE_STEP = {"trying pairs", "going through orders", "comparing secret bits"}


@pytest.mark.parametrize(
    ("ask", "side", "phase"),
    [
        (lambda one: math.log(one.privacy().exp_epsilon), "ε ≥", "comparing neighbours"),
        (lambda one: one.privacy(delta="1/10").exp_epsilon, "e^ε ≥", "comparing neighbours"),
        (lambda one: one.delta(epsilon=0).delta, "δ ≥", "comparing neighbours"),
        (lambda one: one.renyi(2).exp_moment, "exp((a-1)·D_a) ≥", "comparing neighbours"),
        (lambda one: one.renyi("3/2").exp_moment, "exp((a-1)·D_a) ≥", "comparing neighbours"),
        (lambda one: one.accuracy(0).one_minus_beta, "1 - β ≤", "going through datasets"),
        (lambda one: one.accuracy(beta="1/3").alpha, "α ≥", "going through datasets"),
        (lambda one: one.utility().measures[0].value, "absolute error ≥", "going through datasets"),
        (lambda one: one.zcdp().lower, "ρ ≥", "going through orders"),
        (lambda one: one.efficacy(1, "best").rows[0].efficacy, "efficacy ≥", "trying pairs"),
        (lambda one: one.efficacy().lower, "e^ε ≥", "comparing secret bits"),
    ],
)
def test_a_search_tells_its_phase_and_the_bound_so_far(ask: Callable[[Instance], Any], side: str, phase: str) -> None:
    instance = uneven.bind(n=3, neighbours=one_flip)
    steps: list[int] = []
    values: list[Any] = []

    def tell(step: Step) -> None:
        if (step.phase, step.bound and step.bound.side) != (phase, side):
            return  # another part of the question
        assert step.bound is not None
        steps.append(step.done)
        value = step.bound.value()
        if value is not None:
            values.append(float(value))

    instance.progress = tell
    answer, rising = float(ask(instance)), side.endswith("≥")
    assert steps == sorted(steps)
    # The pairs of a block are compared when all are counted; other searches have one step here.
    assert len(set(values)) > (side != "e^ε ≥" and phase not in _ONE_STEP)
    assert values == sorted(values, reverse=not rising)
    assert values[-1] <= answer + 1e-9 if rising else values[-1] >= answer - 1e-9


def test_the_search_over_an_unknown_tells_up_to_where_it_is() -> None:
    """The line between what is answered and what is not goes from one end of the range to the other."""
    instance = uneven_by.bind(n=2, weight="?[1/10,9/10]")
    steps: list[Step] = []
    instance.progress = steps.append
    instance.privacy()
    assert {step.phase for step in steps} >= {"going through weight"}
    assert [step.bound.side for step in steps if step.bound] == ["answered to weight ="] * len(steps)
    places = [step.bound.value() for step in steps if step.bound]
    assert places[0] == 0.1
    assert len(set(places)) > 1
    assert all(step.done <= step.total for step in steps)


def test_the_search_for_canaries_tells_how_many_are_too_few() -> None:
    instance = one_bit_each.bind(n=1)
    steps: list[Step] = []
    instance.progress = steps.append
    found = canaries_needed(instance, share="1/5", at_most=64)
    assert found.canaries is not None
    bounds = [int(step.bound.value() or 0) for step in steps if step.bound and step.bound.side == "canaries >"]
    assert bounds == sorted(bounds)
    assert bounds[-1] < found.canaries
    assert {step.phase.partition(": ")[2] for step in steps} >= {"compiling the audit", "counting guesses"}
