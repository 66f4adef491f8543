"""Questions about laws that the algebra of real noise has: finitely many outputs."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tightdp import Bit, Int, laplace, mechanism


@mechanism(record=Int(0, 1), neighbours="unit-all")
def noisy_max(x: Any, scale: Any) -> Any:
    noisy = [laplace(query, scale) for query in x]
    return noisy.index(max(noisy))


@mechanism(record=Bit)
def above(x: Any, scale: Any) -> Any:
    return laplace(sum(x), scale) > 1


def test_laws_curves_and_divergences_of_one_coin() -> None:
    """One Laplace draw that is compared is a coin with a known probability."""
    instance = above.bind(n=2, scale=2)
    heads = {0: math.exp(-1 / 2) / 2, 1: 1 / 2, 2: 1 - math.exp(-1 / 2) / 2}
    for x in ((0, 0), (0, 1), (1, 1)):
        law = dict(instance.distribution(x).law)
        assert float(law[True]) == pytest.approx(heads[sum(x)])
        assert law[False] + law[True] == 1
    t = math.exp(0.1)
    pairs = [(0, 1), (1, 0), (1, 2), (2, 1)]
    coins = [((heads[a], heads[b]), (1 - heads[a], 1 - heads[b])) for a, b in pairs]
    delta = max(sum(max(0, p - t * q) for p, q in both) for both in coins)
    assert float(instance.curve()(0.1).delta) == pytest.approx(delta)
    moment = max(sum(p * p / q for p, q in both) for both in coins)
    assert float(instance.renyi(2).exp_moment) == pytest.approx(moment)
    assert instance.likelihood((0, 0), (0, 1)).rows[0].ratio is not None


def test_the_curve_ends_at_the_tight_epsilon() -> None:
    instance = noisy_max.bind(n=3, scale=2)
    (t, delta), *_ = reversed(instance.curve().points)
    assert (t, delta) == (instance.privacy().exp_epsilon, 0)
    assert noisy_max.bind(n=3, scale=2, method="cells").privacy().exp_epsilon == t
