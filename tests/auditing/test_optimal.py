"""The optimal audit: published check values, certificates, and agreement of its three algorithms."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from observations import audit
from tightdp.auditing import Gaussian, Laplace, Polygon, optimal
from tightdp.auditing.certificate import Game
from tightdp.auditing.linear_program import certify, search
from tightdp.auditing.optimal_curve import optimum
from tightdp.exact.enclosure import Enclosure, round_up


def test_check_values():
    assert audit(canaries=2, guesses=2, correct=2, delta="1/10", epsilon=0).p_value == Enclosure.exactly(
        Fraction(13, 40)
    )
    ten = audit(canaries=10, guesses=10, correct=9, delta="1/10", epsilon=0).p_value
    assert ten == Enclosure.exactly(Fraction(12133, 92160))
    assert float(ten) == pytest.approx(0.131651, abs=5e-7)


@given(st.integers(1, 30), st.data())
@settings(max_examples=25, deadline=None)
def test_pure_dp_gives_the_binomial_tail(guesses, data):
    correct = data.draw(st.integers(0, guesses))
    t = data.draw(st.fractions(1, 9, max_denominator=9))
    options = data.draw(st.integers(2, 4))
    q = t / (t + options - 1)
    tail = sum(comb(guesses, i) * q**i * (1 - q) ** (guesses - i) for i in range(correct, guesses + 1))
    found = audit(canaries=guesses + 3, guesses=guesses, correct=correct, exp_epsilon=t, options=options)
    assert found.p_value == Enclosure.exactly(tail)


@given(st.integers(1, 25), st.data())
@settings(max_examples=25, deadline=None)
def test_enclosure_certificate_and_mechanism_meet_the_exact_value(guesses, data):
    canaries, correct = guesses + data.draw(st.integers(0, 20)), data.draw(st.integers(1, guesses))
    numbers = {
        "game": Game(canaries, guesses, correct, data.draw(st.integers(2, 4))),
        "t": data.draw(st.fractions(1, 9, max_denominator=9)),
        "delta": data.draw(st.fractions(0, 1, max_denominator=500)),
    }
    exact = optimal.p_value(**numbers)
    enclosed = optimal.enclose(**numbers)
    assert enclosed.lower <= exact.lower <= enclosed.upper
    assert enclosed.upper - enclosed.lower < Fraction(1, 2**200)
    proof = optimal.certificate(**numbers)
    assert proof.check()
    assert exact.lower <= proof.bound <= exact.lower + Fraction(1, 2**80)
    mechanism = optimal.worst_mechanism(**numbers)
    assert mechanism.at_least(correct) == exact.lower
    assert mechanism.delta(numbers["t"]) <= numbers["delta"]


def test_certificate_refuses_what_is_not_feasible():
    proof = optimal.certificate(Game(50, 40, 30), Fraction(3, 2), Fraction(1, 100))
    assert proof.check()
    assert not replace(proof, constant=proof.constant * Fraction(99, 100)).check()
    assert not replace(proof, multipliers=(proof.multipliers[0] * Fraction(99, 100),)).check()
    assert not replace(proof, multipliers=(-proof.multipliers[0],)).check()
    assert not replace(proof, pairs=((Fraction(1, 2), Fraction(1, 100)),)).check()


def test_one_pair_by_the_linear_program_agrees_with_the_closed_form():
    pair = (Fraction(5, 4), Fraction(1, 1000))
    closed = optimal.p_value(Game(500, 60, 45), *pair)
    found = optimum(Game(500, 60, 45), Polygon((pair,)))
    assert float(found.p_value.upper) == pytest.approx(float(closed.upper), rel=1e-6)
    assert found.p_value.lower <= closed.upper
    assert closed.lower <= found.p_value.upper


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("game", "curve"),
    [
        (Game(1, 1, 1), Gaussian(1)),
        (Game(2, 2, 1), Gaussian(1)),
        (Game(10, 10, 9), Gaussian("1/2")),
        (Game(100, 20, 18), Gaussian(1)),
        (Game(100, 20, 18, 3), Gaussian(1)),
        (Game(20, 20, 18), Laplace(1)),
        (Game(60, 60, 40), Gaussian("1/3")),
    ],
)
def test_recursion_for_a_curve_agrees_with_the_linear_program(game, curve):
    found = optimum(game, curve)
    assert found.certificate.check()
    assert found.p_value.upper - found.p_value.lower < Fraction(1, 10**8)
    assert all(found.mechanism.delta(t) <= curve.delta(t).upper for t, _ in curve.inner(curve.logs(50)))
    pairs = curve.outer(curve.logs(160))
    solution = search(game, pairs)
    bound = certify(game, pairs, solution.multipliers, solution.value)
    assert bound.check()
    # Finitely many tangents are a weaker guarantee, so their optimum lies above, and close.
    assert found.p_value.lower <= bound.bound
    assert float(bound.bound) == pytest.approx(float(found.p_value), rel=2e-3)


def test_one_gaussian_guess_is_the_neyman_pearson_test():
    # One secret, one guess: the best chance is (1 + Φ(mu/2) - Φ(-mu/2)) / 2 = Φ(1/2) for mu = 1.
    found = optimum(Game(1, 1, 1), Gaussian(1)).p_value
    expected = (1 + math.erf(0.5 / math.sqrt(2))) / 2
    assert float(found.lower) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("options", [2, 3])
def test_least_epsilon_is_certified(options):
    answer = audit(canaries=1000, guesses=100, correct=75, delta="1e-4", options=options)
    rejected = answer.exp_epsilon_lower
    above = round_up(rejected * (1 + Fraction(1, 10**12)), 80)
    p = [optimal.enclose(Game(1000, 100, 75, options), t, Fraction(1, 10**4)) for t in (rejected, above)]
    assert p[0].upper <= Fraction(1, 20) < p[1].lower
    assert answer.certificate.check()
    assert answer.certificate.bound <= Fraction(1, 20) + Fraction(1, 2**80)
    assert answer.valid is True


def test_large_observation_and_exact_certificate():
    answer = audit(canaries=100_000, guesses=1500, correct=1400, delta="1e-5")
    assert answer.epsilon_lower == pytest.approx(2.4630690796, abs=1e-9)
    answer = audit(canaries=500, guesses=500, correct=300, delta="1/1000", exp_epsilon="5/4")
    assert answer.p_value.is_exact
    assert answer.certificate.check()
    assert answer.mechanism.at_least(300) == answer.p_value.upper
    assert answer.mechanism.delta(Fraction(5, 4)) == Fraction(1, 1000)


def test_gaussian_family():
    numbers = {"canaries": 100, "guesses": 40, "correct": 36, "delta": "1e-5", "tradeoff": "gaussian"}
    assert audit(**numbers).epsilon_lower > audit(**numbers, method="fdp").epsilon_lower


@pytest.mark.parametrize(
    ("game", "pairs"),
    [
        (Game(3, 3, 2), ((Fraction(7, 4), Fraction(3, 4)), (Fraction(8), Fraction(1, 4)))),
        (Game(18, 15, 8, 5), ((Fraction(7), Fraction(7, 12)), (Fraction(17, 2), Fraction(3, 25)))),
    ],
)
def test_a_certain_event_has_a_mechanism(game, pairs):
    """Where all pairs leave room for v right guesses for certain, the mechanism shows it."""
    found = optimum(game, Polygon(pairs))
    assert found.p_value.upper == 1
    assert found.p_value.lower > 1 - Fraction(1, 10**6)
    assert all(found.mechanism.delta(t) <= delta for t, delta in pairs)
