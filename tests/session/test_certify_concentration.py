"""Certificates of ρ: the numbers to which discrete Gaussian noise is added, and how far neighbours move them."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from pathlib import Path

import pytest

from certificate_changes import changed, concentrated
from certificate_oracle import is_true
from command_line import run
from conftest import FULL
from expectations import PROGRAMS
from tightdp import Bit, Int, discrete_gaussian, flip, geometric, mechanism
from tightdp.errors import ParameterError, QueryError
from tightdp.session.certify import Certificate, load_checker
from tightdp.session.files import import_file

checker = load_checker()


def bound(found: Certificate) -> Fraction:
    return Fraction(found.content["claim"]["bound"])


@mechanism(record=Int(0, 3))
def two_sums(x):
    """A sum, and the sum of the squares, with different noise."""
    return discrete_gaussian(sum(x), 2), discrete_gaussian(sum(v * v for v in x), 18)


@mechanism(record=Int(0, 2))
def noisy_sum(x):
    """One sum with noise."""
    return discrete_gaussian(sum(x), 9)


@mechanism(record=Bit)
def shown_besides(x):
    """A record beside noise on the sum."""
    return discrete_gaussian(sum(x), 2), x[0]


@mechanism(record=Bit)
def other_noise(x):
    """A coin besides the noise that the sum decides."""
    return discrete_gaussian(sum(x), 2) + geometric(sum(x), Fraction(1, 2))


@mechanism(record=Bit)
def coins_first(x):
    """Noise on a sum of records that are kept at random."""
    return discrete_gaussian(sum(v for v in x if flip(1 / Fraction(2))), 2)


@mechanism(record=Bit)
def largest_of_two(x):
    """Which of two noisy counts is larger."""
    return discrete_gaussian(sum(x), 4) > discrete_gaussian(len(x) - sum(x), 4)


def test_the_distance_is_over_twice_each_variance() -> None:
    found = two_sums.bind(n=2).certify(zcdp=True)
    assert bound(found) == Fraction(9, 4) + Fraction(81, 36)
    assert found.content["claim"]["attained"] is True
    assert "at whole orders (between: Canonne, Kamath, Steinke 2020)" in found.establishes
    assert two_sums.bind(n=2).certify(rho=4).content["claim"]["question"] == "larger concentration"
    assert "attained" not in two_sums.bind(n=2).certify(rho=5).content["claim"]


def test_the_moments_of_whole_orders_are_those_of_the_distance() -> None:
    for order in (2, 3):
        divergence = math.log(noisy_sum.bind(n=1).renyi(order).exp_moment) / (order - 1)
        assert divergence == pytest.approx(order * bound(noisy_sum.bind(n=1).certify(zcdp=True)), rel=1e-9)


def test_what_is_computed_from_noisy_numbers_has_no_more() -> None:
    instance = largest_of_two.bind(n=2)
    found = instance.certify(zcdp=True)
    assert bound(found) == Fraction(2, 8)
    assert "attained" not in found.content["claim"]
    assert instance.zcdp().lower < bound(found)
    with pytest.raises(QueryError, match="no more is certified of ρ than the 1/4 of the noisy numbers"):
        instance.certify(rho="1/5")


@pytest.mark.slow(seconds=3)
def test_what_is_computed_from_noisy_numbers_is_refuted_at_some_order() -> None:
    """Clamped sums, for which no whole order will do: D of order 9/8 is above 9/8 * ρ, for all laws up to the error."""
    tree = import_file(PROGRAMS / "gallery" / "tree_sensitivity.py").shipped.bind(n=1)
    claim = tree.certify(rho=1).content["claim"]
    assert (claim["question"], claim["order"], claim["root"]) == ("larger moment", "9/8", 64)
    assert claim["bound"] == [*[0] * 9, 1]  # e^(9/8 * 1/8)
    assert Fraction(claim["error"]) < Fraction(1, 10**60)
    assert tree.renyi(2).exp_moment < math.exp(2)
    with pytest.raises(QueryError, match="no more is certified of ρ"):
        tree.certify(rho="11/10")


@pytest.mark.parametrize("mechanism", [shown_besides, other_noise, coins_first], ids=lambda one: one.name)
def test_what_is_no_noise_on_known_numbers_is_refused(mechanism) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(QueryError, match="ρ is certified where an output is computed from numbers with discrete Gauss"):
        mechanism.bind(n=2).certify(zcdp=True)


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    moved = f"{PROGRAMS / 'gallery' / 'two_cells_move.py'}:shipped"
    status, said, _ = run(capsys, "certify", moved, "n=2", "--zcdp", "--output", str(tmp_path / "rho.json"))
    assert (status, 'bound "1/2"' in said) == (0, True)
    status, said, _ = run(capsys, "certify", moved, "n=2", "--rho", "1/4")
    assert (status, "larger concentration" in said) == (0, True)
    status, _, error = run(capsys, "certify", "randomized_response", "n=2", "lam=1/5", "--zcdp")
    assert (status, "computed from numbers with discrete Gaussian noise" in error) == (2, True)


def test_one_claim_at_a_time() -> None:
    with pytest.raises(ParameterError, match="holds one claim"):
        two_sums.bind(n=1).certify(rho=5, delta="1/10")


def test_changed_certificates_are_refused_or_true() -> None:
    random_, every, still = random.Random(6), concentrated(), 0
    for _ in range(1_500 if FULL else 100):
        new = changed(dict(random_.choice(every).content), random_)
        try:
            checker.check(new)
        except (checker.Refused, ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            continue
        still += 1
        assert is_true(new)
    assert still > 5
