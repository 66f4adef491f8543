"""The published methods: check values, their place above the exact optimum, and the counterexample."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from observations import audit
from tightdp import ParameterError
from tightdp.auditing import Gaussian, Laplace, Polygon, fdp, optimal, order_statistics
from tightdp.auditing.certificate import Game
from tightdp.auditing.optimal_curve import optimum
from tightdp.exact.enclosure import Enclosure


def test_steinke_check_values():
    first = audit(canaries=1000, guesses=100, correct=75, delta="1e-4", method="steinke")
    assert first.epsilon_lower == pytest.approx(0.673, abs=5e-4)
    second = audit(canaries=100_000, guesses=1510, correct=1439, delta="1e-5", method="steinke")
    assert second.epsilon_lower == pytest.approx(2.67585, abs=1e-5)
    third = audit(canaries=100, guesses=100, correct=100, method="steinke")
    assert third.epsilon_lower == pytest.approx(3.49297, abs=5e-6)


def direct_steinke(canaries, guesses, correct, t, delta, options=2):
    q = t / (t + options - 1)
    law = [comb(guesses, i) * q**i * (1 - q) ** (guesses - i) for i in range(guesses + 1)]
    best = max(sum(law[correct - i : correct]) / i for i in range(1, correct + 1))
    return min(Fraction(1), sum(law[correct:]) + 2 * canaries * delta * best)


observations = st.integers(1, 20).flatmap(lambda r: st.tuples(st.integers(r, r + 30), st.just(r), st.integers(1, r)))


@given(
    observations,
    st.fractions(1, 8, max_denominator=8),
    st.fractions(0, Fraction(1, 5), max_denominator=1000),
    st.integers(2, 4),
)
@settings(max_examples=40, deadline=None)
def test_methods_against_the_optimum(observation, t, delta, options):
    canaries, guesses, correct = observation
    game = Game(canaries, guesses, correct, options)
    best = optimal.p_value(game, t, delta).upper
    binomial = optimal.steinke_p_value(game, Enclosure.exactly(t), delta)
    direct = direct_steinke(canaries, guesses, correct, t, delta, options)
    assert binomial.lower <= direct <= binomial.upper
    q, tail = t / (t + options - 1), optimal.p_value(game, t, Fraction(0)).upper
    if direct <= optimal.proved_up_to(options) or tail <= q:
        assert direct >= best
    for variant in ("listing", "code"):
        above = fdp.p_value(game, Polygon(((t, delta),)), variant)
        assert above.upper >= best
    if delta == 0 and options == 2:
        pairs = ((t, delta),)
        exact = order_statistics.p_value(game, pairs, "exact")
        assert exact.lower <= best <= exact.upper
        assert order_statistics.p_value(game, pairs).upper >= best


def test_the_binomial_bound_is_proved_where_its_tail_is_small():
    """The steps of the proof in steinke.py, exactly: TL/(v b) = (1-q)/D, and 2AD >= 1 - T."""
    for guesses, q in itertools.product(
        range(1, 13), (Fraction(1, 4), Fraction(1, 2), Fraction(2, 3), Fraction(9, 10))
    ):
        law = [comb(guesses, i) * q**i * (1 - q) ** (guesses - i) for i in range(guesses + 1)]
        for correct in range(1, guesses + 1):
            tail, rest = sum(law[correct:]), sum(law[:correct])
            best = max(sum(law[correct - i : correct]) / i for i in range(1, correct + 1))
            means = (i * p for i, p in enumerate(law))
            low = sum(itertools.islice(means, correct)) / rest
            distance = sum(means) / tail - low
            assert tail * rest / (correct * law[correct]) == (1 - q) / distance
            assert 2 * best * distance >= rest + best


def test_the_binomial_bound_of_reconstruction():
    """30 of 40 secrets with 5 options each, and a level between 1/5, up to which there is a proof, and 1/2."""
    asked = {"canaries": 100, "guesses": 40, "correct": 30, "delta": "1/1000", "options": 5}
    found, best = (audit(**asked, method=method) for method in ("steinke", "optimal"))
    assert found.valid is True
    assert "published for 2 options" in found.reason
    assert 1 < found.exp_epsilon_lower <= best.exp_epsilon_lower
    assert audit(**asked, method="steinke", significance="1/4").valid == "unknown"
    assert audit(**{**asked, "delta": 0}, method="steinke", significance="1/4").valid is True
    with pytest.raises(ParameterError, match="channels of one bit"):
        audit(**asked, method="order-statistics")


def test_the_binomial_bound_is_too_small_for_large_p_values():
    found = optimal.steinke_counterexample()
    numbers = {"canaries": found.canaries, "guesses": found.guesses, "correct": found.correct}
    assert found.mechanism.delta(found.exp_epsilon) == found.delta
    assert found.probability == 1
    assert found.claimed == direct_steinke(2, 2, 1, found.exp_epsilon, found.delta) == Fraction(79, 80)
    asked = {**numbers, "delta": found.delta, "method": "steinke"}
    there = audit(**asked, exp_epsilon=found.exp_epsilon)
    assert there.valid is False
    assert there.counterexample == found
    assert audit(**asked).valid is True
    assert audit(**asked, significance="3/5").valid == "unknown"
    assert audit(**asked, significance="99/100").valid is False
    assert audit(**{**asked, "delta": 0}, significance="99/100").valid is True


def listing(curve_inverse, canaries, guesses, correct, tau, options, keep):
    """Algorithm 3 as printed (keep=False) or as published code (keep=True), in exact rationals."""
    r, h = tau * correct / canaries, tau * (guesses - correct) / canaries
    for i in range(correct - 1, -1, -1):
        new = (options - 1) * curve_inverse(r)
        new = max(new, h) if keep else new
        r += Fraction(i, guesses - i) * (new - h)
        h = new
    return r + h >= Fraction(guesses, canaries)


@given(
    observations,
    st.fractions(1, 6, max_denominator=4),
    st.fractions(0, Fraction(1, 5), max_denominator=100),
    st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100),
    st.integers(2, 4),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_fdp_follows_the_listing(observation, t, delta, tau, options, keep):
    def inverse(y):
        return max(Fraction(0), (y - delta) / t, 1 - delta - t * (1 - y))

    variant = "code" if keep else "listing"
    game = Game(*observation, options)
    found = fdp.rejects(game, ((t, delta),), tau, variant)
    exact = listing(inverse, *observation, tau, options, keep)
    if found:
        assert exact
    elif exact:  # only rounding may separate them
        assert fdp.rejects(game, ((t, delta),), tau * (1 + Fraction(1, 2**100)), variant)


@pytest.mark.parametrize("curve", [Gaussian("1/2"), Laplace("3/4")])
def test_fdp_lies_above_the_optimum_for_curves(curve):
    for guesses, correct, options in ((10, 8, 2), (25, 20, 2), (12, 8, 3)):
        game = Game(30, guesses, correct, options)
        best, found = optimum(game, curve).p_value, fdp.p_value(game, curve)
        assert found.upper >= best.lower
        assert found.upper - found.lower < Fraction(1, 500)


def test_counterexample_to_order_statistics_by_brute_force():
    """All-or-nothing on five secrets, all 32 datasets, all outcomes of the mechanism with its blind guesser."""
    stored = order_statistics.counterexample()
    m, delta = stored.canaries, stored.delta
    secrets = list(itertools.product((0, 1), repeat=m))
    laws = {
        s: {**dict.fromkeys((("none", g) for g in secrets), (1 - delta) / 2**m), ("all", s): delta} for s in secrets
    }
    hit = Fraction(0)
    for s, law in laws.items():
        assert sum(law.values()) == 1
        hit += sum((p for (_, guess), p in law.items() if guess == s), Fraction(0)) / len(secrets)
        for j in range(m):
            other = laws[(*s[:j], 1 - s[j], *s[j + 1 :])]
            assert sum(max(0, p - other.get(o, 0)) for o, p in law.items()) == delta
    assert hit == stored.probability == stored.mechanism.at_least(stored.correct) == Fraction(51, 640)
    assert stored.mechanism.delta(stored.exp_epsilon) == delta
    assert stored.claimed < Fraction(1, 20) < hit
    # The independent channels of Theorem 1 are likelier than the sum of Theorem 3, but not likely enough either.
    assert stored.claimed < Fraction(21, 40) ** 5 < hit
    answer = audit(canaries=5, guesses=5, correct=5, delta=delta, method="order-statistics")
    assert answer.valid is False
    assert answer.epsilon_lower > 0  # although the mechanism above has ε = 0 at this δ
    assert answer.counterexample == stored
    assert audit(canaries=5, guesses=5, correct=5, delta=delta).epsilon_lower == 0


@pytest.mark.parametrize("curve", [Gaussian(1), Laplace(1)])
def test_order_statistics_fail_for_smooth_curves_too(curve):
    best = optimum(Game(10, 10, 10), curve)
    claimed = order_statistics.p_value(Game(10, 10, 10), curve.outer(curve.logs(64)))
    assert all(best.mechanism.delta(t) <= curve.delta(t).upper for t, _ in curve.inner(curve.logs(40)))
    assert claimed.upper < best.p_value.lower


def test_error_means_are_order_statistics():
    """Three guesses, δ = 1/4, t = 3: scores are infinite with probability 1/4, else the error is 1/4."""
    means = order_statistics.error_means(3, 3, ((Fraction(3), Fraction(1, 4)),))
    below = [sum(comb(3, j) * Fraction(1, 4) ** j * Fraction(3, 4) ** (3 - j) for j in range(k)) for k in (1, 2, 3)]
    for mean, chance in zip(means, below, strict=True):
        assert mean.lower <= chance / 4 <= mean.upper
        assert mean.upper - mean.lower < Fraction(1, 2**200)
