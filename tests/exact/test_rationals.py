"""Numbers as people write them."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from tightdp.errors import ParameterError
from tightdp.exact.parameters import Range, as_parameter
from tightdp.exact.rationals import as_fraction, as_int, as_value


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("1/5", Fraction(1, 5)),
        ("0.2", Fraction(1, 5)),
        (" -3/6 ", Fraction(-1, 2)),
        ("1e-3", Fraction(1, 1000)),
        (Decimal("0.2"), Fraction(1, 5)),
        (7, Fraction(7)),
        (0.2, Fraction(1, 5)),
        (0.1 + 0.2, Fraction("0.30000000000000004")),
        (1e-300, Fraction(1, 10**300)),
        (np.float64(0.2), Fraction(1, 5)),
        (np.float32(0.2), Fraction(1, 5)),
        (np.int64(3), Fraction(3)),
        (sympy.Rational(1, 3), Fraction(1, 3)),
    ],
)
def test_as_fraction_takes_numbers_as_written(written: object, meant: Fraction) -> None:
    assert as_fraction(written) == meant
    assert type(as_fraction(written)) is Fraction


@pytest.mark.parametrize(
    "wrong",
    [
        *(True, np.True_, None, "abc", "", "1/0", "1/2/3", "1e999999999", "nan", (1, 2), 1j),
        *(float("inf"), float("nan"), Decimal("inf"), Decimal("1e99999"), sympy.Symbol("lam")),
    ],
)
def test_as_fraction_names_what_is_not_a_number(wrong: object) -> None:
    with pytest.raises(ParameterError) as caught:
        as_fraction(wrong)
    assert repr(wrong) in caught.value.what
    assert "1/5" in caught.value.hint


@pytest.mark.parametrize("extreme", ["1e-5000", "2.5e999999999", Decimal("1e99999")])
def test_an_exponent_that_is_not_written_out_is_named(extreme: object) -> None:
    with pytest.raises(ParameterError, match="exponent beyond 4,000"):
        as_fraction(extreme)


@given(st.fractions())
def test_text_of_a_fraction_reads_back(q: Fraction) -> None:
    assert as_fraction(str(q)) == q


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_the_decimal_that_prints_it(number: float) -> None:
    assert as_fraction(number) == Fraction(repr(number))
    assert float(as_fraction(number)) == number


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("4", 4),
        ("8/2", 4),
        (2.0, 2),
        ("1/5", Fraction(1, 5)),
        ("laplace", "laplace"),
        ("", ""),
        (None, None),
        (True, True),
        ([1, ["1/2", "a"]], (1, (Fraction(1, 2), "a"))),
        (range(3), (0, 1, 2)),
        (np.array([1, 2]), (1, 2)),
        (np.array([0.5]), (Fraction(1, 2),)),
        (np.True_, True),
        (sympy.Symbol("lam"), Range()),
        ("?", Range()),
        ("?[1/10, 1/2]", Range(Fraction(1, 10), Fraction(1, 2))),
    ],
)
def test_as_parameter(written: object, meant: object) -> None:
    value = as_parameter(written)
    assert value == meant
    assert type(value) is type(meant)


@pytest.mark.parametrize("wrong", [float("inf"), {"a": 1}, object(), "1/0", "-2/00", [float("nan")]])
def test_as_parameter_rejects(wrong: object) -> None:
    with pytest.raises(ParameterError):
        as_parameter(wrong)


def test_as_value_leaves_strings_alone() -> None:
    assert as_value(["1/5", 0.5]) == ("1/5", Fraction(1, 2))


def test_as_int() -> None:
    assert as_int(True, "k") == 1
    assert type(as_int(True, "k")) is int
    assert as_int(Fraction(4, 2), "k") == 2
    for wrong in (Fraction(1, 2), "3", None, 1.5):
        with pytest.raises(ParameterError, match="k is "):
            as_int(wrong, "k")
