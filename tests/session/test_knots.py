"""δ, and ε at a δ, of published real numbers with an unknown scale: beside closed forms, and values of the unknown."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tightdp import Bit, Mechanism, exponential, flip, laplace, mechanism
from tightdp.cells.scales import Scaled
from tightdp.errors import QueryError
from tightdp.results import Pieces
from tightdp.session import knots


@mechanism(record=Bit)
def count(x: Any, eps: Any) -> Any:
    return laplace(sum(x), 1 / eps)


@mechanism(record=Bit)
def by_scale(x: Any, s: Any) -> Any:
    return laplace(sum(x), s)


@mechanism(record=Bit)
def two_counts(x: Any, eps: Any) -> Any:
    first = laplace(x[0], 2 / eps)
    return first, laplace(x[0], 1 / eps if first > 1 else 4 / eps)


@mechanism(record=Bit)
def gap(x: Any, eps: Any) -> Any:
    return max(laplace(query, 2 / eps) for query in x) - exponential(0, 2 / eps)


@mechanism(record=Bit)
def mixture(x: Any, eps: Any) -> Any:
    return laplace(sum(x), 1 / eps) if flip("1/3") else min(max(laplace(x[0], 2 / eps), 0), 1)


@mechanism(record=Bit)
def decided(x: Any, eps: Any) -> Any:
    return laplace(sum(x), 1 / eps if eps < 1 else 1)


@mechanism(record=Bit)
def jumps(x: Any, eps: Any) -> Any:
    return laplace(sum(x), 1 / eps if eps**3 + eps < 3 else 2 / eps)


@mechanism(record=Bit)
def in_a_coin(x: Any, eps: Any) -> Any:
    return laplace(sum(x), 1 / eps) if flip(1 / (1 + eps)) else None


def widths(found: Pieces, truth: Any) -> list[float]:
    """Return how wide an enclosure is at places in it, where it must hold a number."""
    assert found.status == "bounded"
    seen = []
    for part in found.pieces:
        start, stop = Fraction(str(part.start.value)), Fraction(str(part.stop.value))
        for share in (0, Fraction(3, 5)):
            value = start + (stop - start) * share
            least, most = map(float, part.ends_at(value))
            low, high = truth(value)
            assert least <= high + 1e-11
            assert low <= most + 1e-11
            seen.append(most - least)
    return seen


def widest(drawn: Mechanism, unknown: str, ask: Callable[[Any], Any]) -> float:
    """Return how wide the answer to a question is, which must hold those at single values."""

    def at(value: Fraction) -> tuple[float, float]:
        known = ask(drawn.bind(n=1, eps=value))
        return float(known.lower), float(known.upper)

    return max(widths(ask(drawn.bind(n=1, eps=unknown)), at))


def test_second_derivatives_of_probabilities() -> None:
    w = np.linspace(0, 60, 600_001)
    for k in (1, 2, 5):
        density = w ** (k - 1) * np.exp(-w) / math.factorial(k - 1)
        for rates, bent in ((True, (w - k) ** 2 - k), (False, w * w - 2 * (k + 1) * w + k * k + k)):
            ours = Scaled(k, rates)
            for bound, changes in ((ours.bent, bent), (ours.turned, w - k)):
                mean = float((np.maximum(changes, 0) * density).sum() * 1e-4)
                assert float(bound) == pytest.approx(mean, abs=1e-3)


@pytest.mark.slow(seconds=3)
def test_one_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knots, "_CELLS", 12)

    def delta(eps: Fraction) -> tuple[float, float]:
        return (max(0, 1 - math.sqrt(1.2) * math.exp(-eps / 2)),) * 2

    assert max(widths(count.bind(n=2, eps="?[1/2,1]").delta(exp_epsilon="6/5"), delta)) < 0.01
    assert max(widths(by_scale.bind(n=1, s="?[1,2]").delta(exp_epsilon="6/5"), lambda s: delta(1 / s))) < 0.01


@pytest.mark.slow(seconds=5)
def test_the_ratio_of_one_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knots, "_CELLS", 6)

    def ratio(eps: Fraction) -> tuple[float, float]:
        return (max(1, 0.81 * math.exp(eps)),) * 2

    assert max(widths(count.bind(n=1, eps="?[1/2,3/4]").privacy(delta="1/10"), ratio)) < 0.1


@pytest.mark.parametrize("drawn", [two_counts, gap])
def test_beside_values(drawn: Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knots, "_CELLS", 2)
    assert widest(drawn, "?[1,9/8]", lambda instance: instance.delta(exp_epsilon="11/10")) < 0.04


@pytest.mark.slow(seconds=5)
def test_the_tight_ratio_is_an_upper_end() -> None:
    found = count.bind(n=1, eps="?[1/2,1]").privacy(delta="1/1000000")
    assert max(widths(found, lambda eps: ((1 - 1e-6) ** 2 * math.exp(eps),) * 2)) < 0.05


@pytest.mark.slow(seconds=20)
@pytest.mark.parametrize("drawn", [two_counts, mixture])
def test_ratios_beside_values(drawn: Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knots, "_CELLS", 6)
    assert widest(drawn, "?[1,5/4]", lambda instance: instance.privacy(delta="1/10")) < 1


def test_only_scales_in_a_range_are_enclosed() -> None:
    with pytest.raises(QueryError, match="its range is not given"):
        count.bind(n=1, eps="?").delta(exp_epsilon=2)
    with pytest.raises(QueryError, match="its range is not one of positive numbers"):
        count.bind(n=1, eps="?[0,1]").delta(exp_epsilon=2)
    for drawn in (decided, jumps, in_a_coin):
        with pytest.raises(QueryError, match="more than the scale"):
            drawn.bind(n=1, eps="?[1/2,2]").delta(exp_epsilon=2)


def test_the_table_is_rounded_outward(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knots, "_CELLS", 4)
    found = count.bind(n=1, eps="?[1,2]").delta(exp_epsilon=2)
    assert str(found).splitlines()[4] == "eps             δ is at least  and at most"
    rows = [line.split() for line in str(found).splitlines()[5:10]]
    for row in rows:
        assert float(row[-2]) <= max(0, 1 - math.sqrt(2) * math.exp(-float(Fraction(row[0])) / 2)) <= float(row[-1])
    assert set(found.to_dict()["result"]["pieces"][0]) == {"from", "to", "lower", "upper"}
