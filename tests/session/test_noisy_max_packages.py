"""Noisy maxima and exponential mechanisms of three other packages, the installed files as they are."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import mpmath
import pytest

import tightdp
from tightdp import Int

pytestmark = pytest.mark.extra("noisy-max")
Law = Sequence[float]


def tight(law: Callable[[tuple[int, ...]], Law], n: int, most: int) -> float:
    """The largest ratio between neighbours, of laws that this file computes by itself."""
    laws = {x: law(x) for x in itertools.product(range(most + 1), repeat=n)}
    pairs = [
        (x, (*x[:at], value, *x[at + 1 :]))
        for x, at, value in itertools.product(laws, range(n), range(most + 1))
        if x[at] != value
    ]
    return math.log(max(p / q for x, y in pairs for p, q in zip(laws[x], laws[y], strict=True)))


def exponential(x: tuple[int, ...]) -> Law:
    weights = [math.exp(x.count(value) / 2) for value in range(3)]
    return [weight / math.fsum(weights) for weight in weights]


def noisy_largest(x: tuple[int, ...], options: Sequence[int] = (1, 2, 3)) -> Law:
    """Where the largest of scores with Laplace noise of scale 1 is, by quadrature."""
    scores = [-abs(sum(value < option for value in x) - len(x) / 2) for option in options]

    def below(t: float) -> float:
        return 1 - mpmath.exp(-t) / 2 if t >= 0 else mpmath.exp(t) / 2

    def density(z: float, at: int) -> float:
        others = (below(z - score) for place, score in enumerate(scores) if place != at)
        return math.prod(others, start=mpmath.exp(-abs(z - scores[at])) / 2)

    ends = [-mpmath.inf, *sorted(set(scores)), mpmath.inf]
    return [mpmath.quad(lambda z, at=at: density(z, at), ends) for at in range(len(scores))]  # type: ignore[misc]


@pytest.mark.parametrize("n", [1, 2])
def test_report_noisy_max_of_eeprivacy_spends_more_than_it_is_asked_for(n: int) -> None:
    """Scores move by 1 in either direction, and the scale is 1/ε: what it needs is 2/ε."""
    found = tightdp.of(
        "eeprivacy.operations:PrivateQuantile.execute",
        record=Int(0, 3),
        dataset="values=np.array(x)",
        arguments={"options": [1, 2, 3]},
    )
    answer = found.bind(n=n, epsilon=1, quantile="1/2").privacy()
    assert answer.status == "exact"
    assert float(answer.epsilon) == pytest.approx(tight(noisy_largest, n, 3), abs=1e-9)
    assert (n == 1) == (answer.epsilon <= 1)


@pytest.mark.parametrize("n", [1, 2])
def test_the_exponential_mechanism_of_smartnoise(n: int) -> None:
    dataset = "np.bincount(np.array(x), minlength=3)"
    found = tightdp.of("snsynth.utils:exponential_mechanism", record=Int(0, 2), dataset=dataset, floats=True)
    answer = found.bind(n=n, epsilon=1).privacy()
    assert answer.status == "exact"
    assert float(answer.epsilon) == pytest.approx(tight(exponential, n, 2), abs=1e-12)


CODE = """
from pipeline_dp.dp_computations import ExponentialMechanism


class Count(ExponentialMechanism.ScoringFunction):
    global_sensitivity = 1
    is_monotonic = False

    def __init__(self, records):
        self.records = records

    def score(self, k):
        return self.records.count(k)


def most_frequent(x, epsilon=1.0):
    return ExponentialMechanism(Count(x)).apply(epsilon, [0, 1, 2])
"""


@pytest.mark.parametrize("n", [1, 2])
def test_the_exponential_mechanism_of_pipeline_dp(n: int, tmp_path: Path) -> None:
    path = tmp_path / "most_frequent.py"
    path.write_text(CODE, encoding="utf-8")
    answer = tightdp.of(f"{path}:most_frequent", record=Int(0, 2), floats=True).bind(n=n).privacy()
    assert answer.status == "exact"
    assert float(answer.epsilon) == pytest.approx(tight(exponential, n, 2), abs=1e-12)
