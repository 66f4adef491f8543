"""Many runs of mechanisms that publish real numbers: beside sums over the laws of losses, and single runs."""

from __future__ import annotations

from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest

from tightdp import Bit, exponential, flip, laplace, mechanism, uniform
from tightdp.results.privacy_loss import PrivacyLoss


@mechanism(record=Bit)
def count(x: Any) -> Any:
    return laplace(sum(x), 1)


@mechanism(record=Bit)
def clamped(x: Any) -> Any:
    return min(max(laplace(sum(x), 1), 0), 1)


@mechanism(record=Bit)
def never_below(x: Any) -> Any:
    return exponential(sum(x), 1) if flip("1/2") else uniform(0, 2)


def losses_of_a_count(cells: int) -> tuple[np.ndarray, np.ndarray]:
    """The likelihood ratios of laplace(0, 1) to laplace(1, 1), and their probabilities."""
    middle = (np.arange(cells) + 0.5) / cells
    masses = np.exp(-middle) * 2 * np.sinh(0.5 / cells) / 2
    return np.exp([1, *(1 - 2 * middle), -1]), np.array([0.5, *masses, np.exp(-1) / 2])


def delta(ratios: np.ndarray, masses: np.ndarray, runs: int, t: float) -> float:
    every, weights = ratios, masses
    for _ in range(runs - 1):
        every, weights = np.outer(every, ratios).ravel(), np.outer(weights, masses).ravel()
    return float((weights * np.maximum(0, 1 - t / every)).sum())


@pytest.fixture(scope="module")
def loss() -> PrivacyLoss:
    return count.bind(n=1).privacy_loss()


def test_runs_of_a_count_beside_sums_over_losses(loss: PrivacyLoss) -> None:
    for runs, cells in ((1, 2_000), (2, 500), (3, 80)):
        ratios, masses = losses_of_a_count(cells)
        for t in (F(1), F(3, 2), F(4)):
            found = loss.compose(runs).delta(exp_epsilon=t)
            truth = delta(ratios, masses, runs, float(t))
            assert found.lower - F(1, 10**4) <= truth <= found.upper + F(1, 10**4)
            assert found.upper - found.lower < F(1, 10**4)


def test_many_runs_of_a_count(loss: PrivacyLoss) -> None:
    """An accountant that rounds up says 9.998979 for ten runs."""
    found = loss.compose(10).epsilon(delta="1/1000000")
    assert np.log(float(found.lower)) < 9.998979 < np.log(float(found.upper))
    assert found.upper / found.lower < F(1001, 1000)


@pytest.mark.slow(seconds=4)
@pytest.mark.parametrize("made", [clamped, never_below], ids=lambda each: each.program.name)
def test_single_runs_are_those_of_the_mechanism(made: Any) -> None:
    instance = made.bind(n=1)
    found = instance.privacy_loss()
    for t in (F(1), F(2), F(5)):
        one, known = found.delta(exp_epsilon=t), instance.delta(exp_epsilon=t)
        assert one.lower <= known.upper
        assert known.lower <= one.upper
        assert one.upper - one.lower < F(1, 10**3)


def test_what_is_certain_is_certain_once_in_many_runs() -> None:
    """Of uniform noise: what is certain in both of two runs was counted for each of them."""

    @mechanism(record=Bit)
    def shifted(x: Any) -> Any:
        return uniform(x[0], x[0] + 2)

    for runs in (1, 2, 5):
        found = shifted.bind(n=1).privacy_loss().compose(runs).delta(exp_epsilon=1)
        assert found.lower <= 1 - F(1, 2) ** runs <= found.upper < 1 - F(1, 2) ** runs + F(1, 100)


def test_samples_of_a_single_record_bound_a_loss_from_below() -> None:
    @mechanism(record=Bit, neighbours="add-remove")
    def present(x: Any) -> Any:
        here = sum(v is not None for v in x)
        return uniform(here, here + 2)

    found = present.bind(n=2).privacy_loss().subsample("1/4")
    for t, truth in ((F(11, 10), F(1, 8)), (F(1, 2), F(9, 16))):
        one = found.delta(exp_epsilon=t)
        assert one.lower <= truth <= one.upper < one.lower + F(1, 10**6)
