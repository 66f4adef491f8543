"""Enclosures are as narrow as asked, of a tiny δ too, or it is said that they are not."""

from __future__ import annotations

from fractions import Fraction as F
from typing import Any

import pytest

from tightdp import Bit, discrete_gaussian, flip, mechanism, shuffle
from tightdp.errors import QueryError
from tightdp.results.result import CheckedWitness
from tightdp.session.large import METHOD

WIDTH = F(1, 10**9)


@mechanism(record=Bit)
def shuffled_bits(x: Any, lam: Any) -> Any:
    """Shuffled randomized response."""
    return shuffle(1 - b if flip(lam) else b for b in x)


def test_a_tiny_delta_of_many_records_is_enclosed() -> None:
    """It is far below the mass that is cut off from laws at first; then all datasets were gone through in vain."""
    found = shuffled_bits.bind(n=6_000, lam="1/4", precision=WIDTH).delta(exp_epsilon="6/5")
    assert isinstance(found.witness, CheckedWitness)
    assert found.lower <= found.witness.delta <= found.delta <= found.lower * (1 + WIDTH) < F(1, 10**30)


def test_a_delta_below_all_doubles_is_said_to_be_small() -> None:
    found = shuffled_bits.bind(n=1_000_000, lam="1/4").delta(exp_epsilon="11/10")
    assert found.lower == 0 < found.delta < F(1, 10**150)
    assert "too small" in found.reason


def test_a_precision_is_kept_or_refused() -> None:
    close = noisy_count.bind(n=1, sigma_squared=10, precision="1e-9")
    kept = close.privacy_loss().compose(10).epsilon(delta="1e-3")
    assert kept.upper - kept.lower <= kept.upper / 10**9
    with pytest.raises(QueryError, match="precision"):
        close.curve()
    wide = noisy_count.bind(n=1, sigma_squared=10, precision="1/10").privacy_loss().compose(10).epsilon(delta="1e-3")
    assert wide.upper - wide.lower <= wide.upper / 10


@mechanism(record=Bit)
def noisy_count(x: Any, sigma_squared: Any) -> Any:
    """A count with discrete Gaussian noise."""
    return discrete_gaussian(sum(x), sigma_squared)


def test_a_long_epsilon_is_a_question_like_any_other() -> None:
    """e^ε is enclosed where ε is long: by the laws of all datasets, and without them where records are many."""
    epsilon = F(123456789, 10**10)
    by_laws = shuffled_bits.bind(n=60, lam="1/4").delta(epsilon=epsilon)
    without = shuffled_bits.bind(n=60, lam="1/4", precision=WIDTH).delta(epsilon=epsilon)
    assert without.stats.method == METHOD != by_laws.stats.method
    for found in (by_laws, without):
        assert found.status == "bounded"
        assert found.upper - found.lower <= WIDTH * found.upper
    assert without.lower <= by_laws.lower
    assert by_laws.upper <= without.upper
    many = shuffled_bits.bind(n=20_000, lam="1/4").delta(epsilon=epsilon)
    assert many.status == "bounded"
    assert many.upper - many.lower <= WIDTH * many.upper
    assert many.witness is not None
