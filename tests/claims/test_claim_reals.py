"""Certified reals: comparisons at the precision that they take, never by floats."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from tightdp.claims import (
    UndecidedError,
    exp,
    log,
    real,
    sqrt,
)


def test_reals_are_decided_at_the_precision_that_it_takes() -> None:
    near = Fraction(1, 10**50)
    assert exp(near) > 1 + near
    assert exp(near) < 1 + near + near * near
    assert sqrt(2) * sqrt(2) < 2 + near
    assert log(exp(Fraction(3, 7))) + near > Fraction(3, 7)
    assert exp(-40) > 0
    assert abs(log(Fraction(1, 2))) < Fraction(7, 10)
    assert 1 / exp(2) < Fraction(14, 100) < exp(-1) ** 2 + Fraction(1, 100)
    assert real(2) ** Fraction(1, 2) > 2 ** (real(1) / 2) - near
    assert real(3) <= 3
    assert real(0) >= 0


def test_equal_reals_are_never_decided() -> None:
    with pytest.raises(UndecidedError):
        _ = sqrt(2) * sqrt(3) < sqrt(6)
    with pytest.raises(TypeError):
        _ = exp(1) == exp(1)
    with pytest.raises(TypeError):
        real(0.5)  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError):
        (1 / real(0)).enclosure()


@pytest.mark.parametrize("value", [Fraction(-7, 3), Fraction(1, 9), Fraction(5), Fraction(123456, 7)])
def test_enclosures_hold_the_value(value: Fraction) -> None:
    low, high = exp(value if value < 100 else value / 1000).enclosure(10)
    assert low < high < low * (1 + Fraction(1, 10**8))
    assert float(low) == pytest.approx(math.exp(value if value < 100 else value / 1000))
    low, high = sqrt(value * value).enclosure(12)
    assert low <= abs(value) <= high
