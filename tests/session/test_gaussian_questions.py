"""Audits, errors, failures, ratios and composition with Gaussian noise, against sums over its law by definition."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from flint import arb, ctx, fmpq

from tightdp import discrete_gaussian, geometric, mechanism
from tightdp.errors import QueryError
from tightdp.language.domains import Bit
from tightdp.session.instance import Instance

NARROW = Fraction(1, 10**12)
VARIANCE = Fraction(2)
REACH = 60


@mechanism(record=Bit, target=sum)
def count(x: Any) -> Any:
    return discrete_gaussian(sum(x), 2)


@mechanism(record=Bit, target=sum)
def passed(x: Any) -> Any:
    return int(discrete_gaussian(x[0] + 2 * x[1], 2) >= 2)


@mechanism(record=Bit, target=lambda x: (x[0], x[1]))
def two(x: Any) -> Any:
    return discrete_gaussian(x[0], 2), discrete_gaussian(x[1], 2)


@mechanism(record=Bit, target=sum)
def failing(x: Any) -> Any:
    z = discrete_gaussian(sum(x), 2)
    assert z < 4
    return min(z, 1)


def _noise() -> dict[int, arb]:
    terms = {k: (-arb(fmpq(k * k)) / 4).exp() for k in range(-REACH, REACH + 1)}
    total = sum(terms.values(), arb(0))
    return {k: term / total for k, term in terms.items()}


def _law(centre: int, seen: Callable[[int], Any] = lambda z: z) -> dict[Any, arb]:
    law: dict[Any, arb] = {}
    for k, mass in _noise().items():
        law[seen(k + centre)] = law.get(seen(k + centre), arb(0)) + mass
    return law


LAWS: dict[str, tuple[Instance, Callable[[tuple[int, ...]], dict[Any, arb]]]] = {
    "count": (count.bind(n=2), lambda x: _law(sum(x))),
    "passed": (passed.bind(n=2), lambda x: _law(x[0] + 2 * x[1], lambda z: int(z >= 2))),
}


def _within(value: arb, low: Any, high: Any) -> bool:
    """Whether a number is between two ends that are close."""
    assert 0 <= Fraction(high) - Fraction(low) <= NARROW * Fraction(high)
    slack = arb(0, arb(10) ** -60)
    ends = [arb(fmpq(Fraction(end).numerator, Fraction(end).denominator)) for end in (low, high)]
    return bool(ends[0].union(ends[1]).overlaps(value + slack))


@pytest.mark.parametrize("name", LAWS)
def test_efficacies_are_those_of_the_definition(name: str) -> None:
    instance, law = LAWS[name]
    found = instance.efficacy(adaptive=True)
    assert found.status == "bounded"
    with ctx.workprec(400):
        laws = {x: law(x) for x in product((0, 1), repeat=2)}
        sums = [arb(0), arb(0)]
        for y in {y for each in laws.values() for y in each}:
            by_bit = [
                [sum((laws[x].get(y, arb(0)) for x in laws if x[at] == bit), arb(0)) / 4 for bit in (0, 1)]
                for at in (0, 1)
            ]
            best = sorted((max(pair, key=lambda p: p.mid()) for pair in by_bit), key=lambda p: -p.mid())
            sums[0], sums[1] = sums[0] + best[0], sums[1] + (best[0] + best[1]) / 2
        for high, low, wanted in zip(found.rows, found.least, sums, strict=True):
            assert _within(wanted, low.efficacy, high.efficacy)
            assert _within(sums[0], low.ac, high.ac)
            assert low.element_gap <= high.element_gap
            assert high.adaptive is not None
            assert high.adaptive >= high.efficacy


def test_posteriors_are_certain_where_a_record_moves_published_noise() -> None:
    for instance in (count.bind(n=2), two.bind(n=2)):
        found = instance.efficacy()
        assert (found.lower, found.upper) == (math.inf, math.inf)
        assert found.rows[0].ddp == found.rows[0].dp == found.least[0].ddp == 1


def test_posteriors_of_a_threshold_are_enclosed() -> None:
    found = passed.bind(n=2).efficacy()
    with ctx.workprec(400):
        laws = {x: LAWS["passed"][1](x) for x in product((0, 1), repeat=2)}
        posteriors = [
            sum((laws[x][y] for x in laws if x[at] == bit), arb(0)) / sum((each[y] for each in laws.values()), arb(0))
            for y, at, bit in product((0, 1), repeat=3)
        ]
        largest = max(posteriors, key=lambda p: p.mid())
        apart = [(x, z) for x in laws for z in laws if sum(a != b for a, b in zip(x, z, strict=True)) == 1]
        wanted = max((laws[x][y] / laws[z][y] for x, z in apart for y in (0, 1)), key=lambda p: p.mid())
        assert _within(largest, found.least[0].ddp, found.rows[0].ddp)
        assert _within(wanted, found.lower, found.upper)
        assert found.exp_epsilon == found.upper


def test_laws_of_guesses_have_an_error() -> None:
    instance = passed.bind(n=2)
    found = instance.guessing(delta="1/1000")
    assert found.status == "bounded"
    assert 0 < found.error < Fraction(1, 10**60)
    efficacy = instance.efficacy().rows[-1].efficacy
    assert abs(found.joint.right / 2 - efficacy) <= Fraction(1, 10**35)
    assert found.exp_epsilon >= instance.privacy(delta="1/1000").lower
    reported = found.reported("steinke")
    assert (reported.error, reported.status) == (found.error, "bounded")
    assert instance.adaptive_guessing().error == found.error
    assert instance.classic_guessing(3).error == 3 * found.error


def test_expected_errors_count_the_tails() -> None:
    found = count.bind(n=2).utility()
    assert found.status == "bounded"
    with ctx.workprec(400):
        noise = _noise()
        for measure, power in (("expected absolute error", 1), ("expected squared error", 2)):
            worst = next(each for each in found.measures if each.measure == measure)
            assert _within(
                sum((mass * abs(k) ** power for k, mass in noise.items()), arb(0)), worst.better, worst.value
            )
        right = found.measures[-1]
        assert _within(noise[0], right.value, right.better)


def test_expected_errors_of_geometric_noise_are_exact() -> None:
    @mechanism(record=Bit, target=lambda x: sum(x) / 2)
    def off(x: Any) -> Any:
        return geometric(sum(x), "1/3") if x[0] else 3 - geometric(1, "1/3")

    found = off.bind(n=2).utility()
    assert found.status == "exact"
    distances = {x: abs((sum(x) if x[0] else 2) - Fraction(sum(x), 2)) for x in product((0, 1), repeat=2)}
    # E|Z + d| and E(Z + d)² of two-sided noise of ratio 1/3, summed far out
    masses = [(k, Fraction(1, 2) * Fraction(1, 3) ** abs(k)) for k in range(-80, 81)]
    for measure, power in (("expected absolute error", 1), ("expected squared error", 2)):
        wanted = max(sum(mass * abs(k + d) ** power for k, mass in masses) for d in distances.values())
        assert 0 <= found.value(measure) - wanted < Fraction(1, 10**30)


def test_failures_are_enclosed() -> None:
    found = failing.bind(n=2).failure()
    with ctx.workprec(400):
        assert _within(
            sum((mass for k, mass in _noise().items() if k + 2 >= 4), arb(0)), found.lower, found.probability
        )
    assert (found.status, found.x) == ("bounded", (1, 1))


def test_ratios_of_outputs_are_enclosed() -> None:
    found = count.bind(n=2).likelihood((1, 1), (0, 1))
    with ctx.workprec(400):
        ours, theirs = _law(2), _law(1)
        core = [row for row in found.rows if isinstance(row.output, int)]
        assert {row.output for row in core} >= set(range(-15, 16))
        for row in core:
            assert _within(ours[row.output] / theirs[row.output], row.ratio, row.ratio_above)
    assert [row.output[:2] for row in found.rows if isinstance(row.output, str)] == [">=", "<="]
    assert sum(row.above[0] for row in found.rows if row.above) >= 1 >= sum(row.probability for row in found.rows)


@pytest.mark.extra("dp-accounting")
def test_losses_of_runs_are_those_of_an_accountant() -> None:
    import dp_accounting as accounting

    loss = accounting.pld.privacy_loss_distribution.from_discrete_gaussian_mechanism(math.sqrt(2))
    found = count.bind(n=2).privacy_loss()
    once = found.delta(exp_epsilon=2)
    direct = count.bind(n=2).delta(exp_epsilon=2)
    assert once.status == "bounded"
    assert once.lower <= direct.delta <= once.delta * (1 + NARROW)
    ten = found.compose(10)
    assert ten.delta(exp_epsilon=8).delta == pytest.approx(
        loss.self_compose(10).get_delta_for_epsilon(math.log(8)), rel=1e-3
    )
    assert float(ten.epsilon(delta="1/1000")) == pytest.approx(
        loss.self_compose(10).get_epsilon_for_delta(1e-3), rel=1e-3
    )


def test_what_has_no_enclosure_is_refused() -> None:
    with pytest.raises(QueryError, match="Gaussian"):
        count.bind(n=2).probability((0, 0), 0)
    with pytest.raises(QueryError, match="one e\\^ε is refuted at a time"):
        count.bind(n=2).certify()


@mechanism(record=Bit)
def wide(x: Any) -> Any:
    return discrete_gaussian(sum(x), 50)


def test_many_runs_are_enclosed_on_the_progression_of_their_losses() -> None:
    found = wide.bind(n=1, precision="1e-9").privacy_loss().compose(50).epsilon(delta="1/1000")
    assert found.upper - found.lower <= found.lower / 10**9

    def normal(z: float) -> float:
        return math.erfc(-z / math.sqrt(2)) / 2

    # 50 runs with sensitivity 1 and variance 50 are nearly one of a Gaussian with sensitivity and variance 1.
    epsilon, ratio = math.log(found.lower), float(found.lower)
    assert normal(1 / 2 - epsilon) - ratio * normal(-1 / 2 - epsilon) == pytest.approx(1e-3, abs=1e-4)


@mechanism(record=Bit)
def compared(x: Any) -> Any:
    return tuple(discrete_gaussian(b, 2) >= discrete_gaussian(0, 2) for b in x)


def test_noise_of_many_clients_is_compared_client_by_client() -> None:
    """The ratio of ten clients is that of one, whose law is summed here by definition; no law of all is listed."""
    weights = {k: math.exp(-k * k / 4) for k in range(-REACH, REACH + 1)}
    total = sum(weights.values()) ** 2
    both = [(k, m, p * q / total) for k, p in weights.items() for m, q in weights.items()]
    at_least = [sum(mass for k, m, mass in both if b + k >= m) for b in (0, 1)]
    ratio = max(at_least[1] / at_least[0], (1 - at_least[0]) / (1 - at_least[1]))
    found = compared.bind(n=10).privacy()
    assert found.lower <= Fraction(ratio) * (1 + NARROW)
    assert Fraction(ratio) * (1 - NARROW) <= found.upper <= found.lower * (1 + NARROW)
