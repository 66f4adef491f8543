"""The mean of the ideal auditor: against enumeration for finitely many losses, against closed forms for smooth ones."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import pytest

from tightdp import audit
from tightdp.auditing import Gaussian, Laplace, Polygon, expected_correct
from tightdp.errors import ParameterError
from tightdp.exact.enclosure import Enclosure, normal_cdf

F = Fraction

Law = list[tuple[Fraction, Fraction]]
"""The probabilities of each output, for the secret 0 and for 1."""

CHANNELS: dict[str, tuple[Law, list[tuple[object, object]]]] = {
    "randomized response": ([(F(3, 4), F(1, 4)), (F(1, 4), F(3, 4))], [(3, 0)]),
    "with delta": (
        [(F(1, 10), F(0)), (F(0), F(1, 10)), (F(3, 5), F(3, 10)), (F(3, 10), F(3, 5))],
        [(2, "1/10")],
    ),
    "erasure": ([(F(1, 2), F(0)), (F(0), F(1, 2)), (F(1, 2), F(1, 2))], [(1, "1/2")]),
    "two levels": (
        [(F(6, 10), F(1, 10)), (F(1, 10), F(6, 10)), (F(2, 10), F(1, 10)), (F(1, 10), F(2, 10))],
        [(6, 0), (2, "4/10")],
    ),
}


def means(law: Law, canaries: int, guesses: int, balanced: bool) -> Fraction:
    """The mean number of right guesses, by going through all outputs."""
    total = F(0)
    for outputs in product(law, repeat=canaries):
        weight = math.prod(((p + q) / 2 for p, q in outputs), start=F(1))
        ones = sorted((q / (p + q) for p, q in outputs), reverse=True)
        if balanced:
            half = guesses // 2
            right = sum(ones[:half]) + sum(1 - one for one in ones[canaries - half :])
        else:
            right = sum(sorted((max(one, 1 - one) for one in ones), reverse=True)[:guesses])
        total += weight * right
    return total


def games() -> Iterator[tuple[int, int, bool]]:
    for canaries in range(1, 5):
        for guesses in range(canaries + 1):
            yield canaries, guesses, False
            if guesses % 2 == 0:
                yield canaries, guesses, True


@pytest.mark.parametrize("name", CHANNELS)
@pytest.mark.parametrize(("canaries", "guesses", "balanced"), list(games()))
def test_finitely_many_losses_are_enumerated(name: str, canaries: int, guesses: int, balanced: bool) -> None:
    law, pairs = CHANNELS[name]
    found = expected_correct(canaries=canaries, guesses=guesses, tradeoff=pairs, balanced=balanced)
    expected = means(law, canaries, guesses, balanced)
    assert found.lower <= expected <= found.upper
    assert found.upper - found.lower < F(1, 10**30)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("mu", [F(1, 3), F(1), F(5, 2)])
def test_all_secrets_of_a_gaussian_channel(mu: Fraction) -> None:
    """P(right) is Φ(mu/2) for two values."""
    found = expected_correct(canaries=10, guesses=10, tradeoff=Gaussian(mu))
    assert overlap(found, scaled(normal_cdf(Enclosure.exactly(mu / 2)), 10))


def test_three_options_against_numbers_worked_out_otherwise() -> None:
    """With mu -> 0 one of k is right by chance; a large mu is read exactly."""
    blind = expected_correct(canaries=9, guesses=9, tradeoff=Gaussian(F(1, 10**6)), options=3)
    assert abs(blind.upper - 3) < F(1, 100)
    sure = expected_correct(canaries=9, guesses=9, tradeoff=Gaussian(100), options=3)
    assert sure.upper - F(1, 100) < 9 <= sure.upper + F(1, 100)


@pytest.mark.parametrize("mu", [F(1, 2), F(2)])
def test_laplace_channel(mu: Fraction) -> None:
    """P(right) is 1 - e^(-mu/2)/2 (keinan2025, Prop. D.1)."""
    found = expected_correct(canaries=1, guesses=1, tradeoff=Laplace(mu))
    assert abs(float(found.upper) - (1 - math.exp(-float(mu) / 2) / 2)) < 1e-4


def test_a_sampled_channel_with_rate_1_is_the_channel() -> None:
    numbers = {"canaries": 50, "guesses": 11}
    assert overlap(
        expected_correct(**numbers, tradeoff="gaussian:1"), expected_correct(**numbers, tradeoff="gaussian:1@1")
    )


def test_a_pair_that_two_others_imply_together_changes_nothing() -> None:
    """δ is convex in e^ε: with 1/2 at 1 and 1/10 at 4 it is at most 11/30 at 2."""
    two = [(F(1), F(1, 2)), (F(4), F(1, 10))]
    assert Polygon((*two, (F(2), F(9, 20)))) == Polygon(tuple(two))
    assert Polygon((*two, (F(2), F(7, 20)))) != Polygon(tuple(two))
    found = expected_correct(canaries=2, guesses=1, tradeoff=[*two, (F(2), F(9, 20))])
    certainties = [(F(1, 10), F(1)), (F(2, 3), F(4, 5)), (F(7, 30), F(1, 2))]  # with their probabilities
    of_two = sum(p * q * max(a, b) for (p, a), (q, b) in product(certainties, repeat=2))
    assert found.lower <= of_two <= found.upper


@pytest.mark.parametrize("rate", [F(1, 2), F(1, 10)])
def test_the_sampled_curve_lies_between_its_polygons(rate: Fraction) -> None:
    curve = Gaussian(F(2), rate)
    logs = curve.logs(40)
    outer, inner = Polygon(curve.outer(logs)), Polygon(curve.inner(logs))
    for x in (F(k, 50) for k in range(26)):
        above = min(1 - delta - t * x for t, delta in inner.pairs)
        assert below(outer, x) <= F(1 - curve.blow_up(float(x))) + F(1, 10**9)
        assert F(1 - curve.blow_up(float(x))) <= below(inner, x) + F(1, 10**9)
        assert above <= 1


def test_an_ideal_auditor_stays_below_the_truth() -> None:
    """Fig. 1 of mahloujifar2024: the bound from the mean is at most the ε of the mechanism."""
    found = audit(canaries=1000, guesses=100, ideal="gaussian:1", delta="1/100000", tradeoff="gaussian")
    assert found.expected is not None
    assert found.answer.correct == math.floor(found.expected.lower)
    assert found.epsilon_lower is not None
    assert 1 < found.epsilon_lower < 4.38


@pytest.mark.parametrize(
    "wrong",
    [
        {"guesses": 11},
        {"options": 1},
        {"options": 3, "guesses": 5},
        {"tradeoff": [(3, 0)], "options": 3},
        {"tradeoff": "gaussian:1@0"},
        {"tradeoff": "gauss:1"},
        {"guesses": 3, "balanced": True},
    ],
)
def test_numbers_that_do_not_fit(wrong: dict[str, object]) -> None:
    arguments: dict[str, object] = {"canaries": 10, "guesses": 10, "tradeoff": "gaussian:1"} | wrong
    with pytest.raises(ParameterError):
        expected_correct(**arguments)  # type: ignore[arg-type]


def below(polygon: Polygon, x: Fraction) -> Fraction:
    """f(x), as far as the slope is at most -1."""
    return max(1 - delta - t * x for t, delta in polygon.pairs)


def overlap(first: Enclosure, second: Enclosure) -> bool:
    return first.lower <= second.upper and second.lower <= first.upper


def scaled(value: Enclosure, factor: int) -> Enclosure:
    return Enclosure(factor * value.lower, factor * value.upper)
