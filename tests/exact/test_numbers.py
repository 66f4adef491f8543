"""Numbers on their way to the reader: text, correctly rounded logarithms, decided comparisons."""

from __future__ import annotations

import math
from fractions import Fraction as F

import mpmath
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tightdp.errors import ParameterError
from tightdp.exact.enclosure import exp as exp_enclosure
from tightdp.exact.numbers import (
    as_text,
    compare_log,
    decimal_text,
    log,
    log_down,
    log_up,
)

positive = st.builds(F, st.integers(1, 10**30), st.integers(1, 10**30))
near_one = st.builds(lambda k, n: 1 + F(k, 10**n), st.integers(-999, 999), st.integers(4, 60))
exponents = st.builds(F, st.integers(-2000, 2000), st.integers(1, 50))


def reference(value: F, divisor: int = 1) -> float:
    """ln(value) / divisor with 400 bits, by another library."""
    with mpmath.workprec(400):
        return float(mpmath.log(mpmath.mpf(value.numerator) / value.denominator) / divisor)


@pytest.mark.parametrize(
    ("value", "text"),
    [(F(4), "4"), (F(-1, 3), "-1/3"), (7, "7"), (math.inf, "inf"), (-math.inf, "-inf"), (F(0), "0")],
)
def test_text(value: F | float, text: str) -> None:
    assert as_text(value) == text


def test_text_of_numbers_that_str_refuses() -> None:
    long = 10**6000 + 7
    assert as_text(F(long, 3)) == f"1{'0' * 5999}7/3"
    with pytest.raises(TypeError):
        as_text(0.5)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (F(1, 3), "0.333333"),
        (F(2, 3), "0.666667"),
        (F(16, 25), "0.64"),
        (F(123456789), "123456789"),
        (F(10) ** 40 / 3, "3.33333e39"),
        (F(1, 3 * 10**9), "3.33333e-10"),
        (F(-1, 8), "-0.125"),
        (math.inf, "inf"),
    ],
)
def test_decimal(value: F | float, text: str) -> None:
    assert decimal_text(value) == text


@given(positive | near_one)
def test_log_is_correctly_rounded(value: F) -> None:
    assert log(value) == reference(value)
    assert log_down(value) <= log(value) <= log_up(value)


@given(positive | near_one)
def test_directed_logs_enclose(value: F) -> None:
    assume(value != 1)
    low, high = log_down(value), log_up(value)
    assert compare_log(value, F(low)) > 0 > compare_log(value, F(high))
    assert math.nextafter(low, math.inf) == high


@given(positive, st.integers(1, 20))
def test_log_divided(value: F, divisor: int) -> None:
    assert log(value, divisor) == reference(value, divisor)


def test_log_at_the_ends() -> None:
    assert log(F(4)) == math.log(4) == 1.3862943611198906
    assert (log(F(1)), log_down(F(1)), log_up(F(1))) == (0.0, 0.0, 0.0)
    assert [str(log(1 + sign * F(1, 10**1400))) for sign in (1, -1)] == ["0.0", "0.0"]
    assert (log(math.inf), log(F(0))) == (math.inf, -math.inf)
    assert log(F(10) ** 100_000) == reference(F(10) ** 100_000)
    with pytest.raises(ValueError, match="has no logarithm"):
        log(F(-1))


@given(exponents, st.integers(1, 60))
def test_exp_enclosure(exponent: F, digits: int) -> None:
    low, high = exp_enclosure(exponent, digits)
    with mpmath.workprec(700):
        exact = mpmath.exp(mpmath.mpf(exponent.numerator) / exponent.denominator)
        assert mpmath.mpf(low.numerator) / low.denominator <= exact <= mpmath.mpf(high.numerator) / high.denominator
    assert (high - low) * 10**digits <= high
    assert (low == high) == (exponent == 0)


def test_exp_out_of_reach() -> None:
    with pytest.raises(ParameterError, match="out of reach"):
        exp_enclosure(F(10_001), 10)


@given(positive, exponents)
def test_comparison_with_an_exponential(value: F, exponent: F) -> None:
    with mpmath.workprec(700):
        difference = mpmath.log(mpmath.mpf(value.numerator) / value.denominator) - mpmath.mpf(
            exponent.numerator
        ) / mpmath.mpf(exponent.denominator)
        assert compare_log(value, exponent) == mpmath.sign(difference)


def test_close_comparisons_are_decided() -> None:
    with mpmath.workdps(220):
        digits = mpmath.nstr(mpmath.e, 200)
    below = F(digits[:-1])
    assert compare_log(below, F(1)) == -1
    assert compare_log(below + F(1, 10**190), F(1)) == 1
    assert compare_log(F(1), F(0)) == 0
    assert compare_log(math.inf, F(10**9)) == 1
    assert compare_log(F(4), F(10**40)) == -1
