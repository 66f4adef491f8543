"""Numbers with e^q: arithmetic, equality, order, rounding and text, against balls of another library."""

from __future__ import annotations

import math
from fractions import Fraction as F
from typing import Any

import mpmath
import pytest
import sympy
from flint import fmpz_poly
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tightdp.errors import ParameterError
from tightdp.exact.field import ExpNumber, exp
from tightdp.exact.numbers import as_text, compare_log, decimal_text, exponent_of, log, log_down, log_up
from tightdp.exact.parameters import as_number, from_sympy, parse, pretty, to_sympy

rationals = st.builds(F, st.integers(-50, 50), st.integers(1, 12))
exponents = st.builds(F, st.integers(-12, 12), st.integers(1, 6))


@st.composite
def expressions(draw: Any, depth: int = 3) -> tuple[Any, Any]:
    """A number made by arithmetic, and a function that computes it in mpmath."""
    if depth == 0 or draw(st.booleans()):
        if draw(st.booleans()):
            exponent = draw(exponents)
            return exp(exponent), lambda: mpmath.exp(mpmath.mpf(exponent.numerator) / exponent.denominator)
        value = draw(rationals)
        return value, lambda: mpmath.mpf(value.numerator) / value.denominator
    (a, high_a), (b, high_b) = draw(expressions(depth=depth - 1)), draw(expressions(depth=depth - 1))
    operation = draw(st.sampled_from("+-*/"))
    if operation == "+":
        return a + b, lambda: high_a() + high_b()
    if operation == "-":
        return a - b, lambda: high_a() - high_b()
    if operation == "*":
        return a * b, lambda: high_a() * high_b()
    assume(b)
    return a / b, lambda: high_a() / high_b()


def high(reference: Any) -> F:
    """The value with far more than 60 digits, as a rational."""
    with mpmath.workdps(250):
        found = mpmath.mpf(reference())
        negative, mantissa, exponent, _ = found._mpf_
        return (-1) ** negative * F(int(mantissa)) * F(2) ** int(exponent)


def close(left: F, right: F, digits: int = 60) -> bool:
    return abs(left - right) <= max(abs(left), abs(right), F(1, 10**60)) / 10**digits


numbers = expressions()


@settings(max_examples=300)
@given(numbers)
def test_values(pair: tuple[Any, Any]) -> None:
    value, reference = pair
    expected = high(reference)
    if isinstance(value, ExpNumber):
        low, upper = value.enclosure(70)
        assert low < upper
        assert low - abs(low) / 10**100 <= expected <= upper + abs(upper) / 10**100
        assert float(value) == float(expected)
        assert math.floor(value) == math.floor(expected)
        assert int(value) == int(expected)
    else:
        assert close(value, expected)


@given(numbers, numbers)
def test_order_and_equality(left: tuple[Any, Any], right: tuple[Any, Any]) -> None:
    (a, high_a), (b, high_b) = left, right
    x, y = high(high_a), high(high_b)
    if close(x, y, 100):
        assert a == b
        assert hash(a) == hash(b)
        assert not a - b
        assert a <= b <= a
    else:
        assert a != b
        assert (a < b) == (x < y) == (not a >= b)
        assert (a - b > 0) == (x > y)
        assert max(a, b) == (a if x > y else b)


@given(numbers, numbers, numbers)
def test_field_laws(first: Any, second: Any, third: Any) -> None:
    a, b, c = first[0], second[0], third[0]
    assert a + b == b + a
    assert a * b == b * a
    assert (a + b) + c == a + (b + c)
    assert (a * b) * c == a * (b * c)
    assert a * (b + c) == a * b + a * c
    assert a - a == 0
    assert isinstance(a - a, F)
    if b:
        assert a / b * b == a
        assert b / b == 1
        assert (1 / b) ** 2 == b**-2


@given(exponents, exponents)
def test_exponents_add(p: F, q: F) -> None:
    assert exp(p) * exp(q) == exp(p + q)
    assert exp(p) / exp(q) == exp(p - q)
    assert exp(p) ** 3 == exp(3 * p)
    assert (exp(p) == exp(q)) == (p == q)
    assert (exp(p) < exp(q)) == (p < q)
    assert exponent_of(exp(p)) == p
    if p:
        assert exp(p) ** q == exp(p * q)


@given(numbers)
def test_text_is_read_back(pair: tuple[Any, Any]) -> None:
    value = pair[0]
    assert parse(str(value)) == value
    assert as_number(as_text(value)) == value
    assert from_sympy(to_sympy(value)) == value


@settings(max_examples=25, deadline=None)
@given(expressions(depth=2))
def test_sympy_reads_the_text(pair: tuple[Any, Any]) -> None:
    value = pair[0]
    assert from_sympy(sympy.sympify(str(value))) == value


@given(numbers)
def test_logarithms(pair: tuple[Any, Any]) -> None:
    value, reference = pair
    assume(value > 0)
    with mpmath.workdps(250):
        expected = mpmath.log(reference())
        nearest = float(expected)
    assert log(value) == pytest.approx(nearest, rel=1e-15, abs=1e-30)
    assert log_down(value) <= log(value) <= log_up(value)
    assert compare_log(value, F(log_down(value))) >= 0 >= compare_log(value, F(log_up(value)))


def test_a_close_comparison_is_decided() -> None:
    """A rational that agrees with e to 300 digits is below it, and above one that agrees further."""
    low, high = exp(1).enclosure(300)
    assert low < exp(1) < high
    assert (exp(1) - low) > 0
    assert 0 < high - exp(1) < F(1, 10**299)
    long = ExpNumber(fmpz_poly([-low.numerator, low.denominator]), fmpz_poly([1]), 1)
    assert long > 0
    assert not long < 0


def test_it_behaves_like_a_fraction() -> None:
    e = exp(1)
    assert (1 + e) - e == F(1)
    assert type((1 + e) - e) is F
    assert type(e / e) is F
    assert F(1, 2) + e == e + F(1, 2)
    assert F(1, 2) - e == -(e - F(1, 2))
    assert 3 / e == 3 * exp(-1)
    assert 1 - 1 / (1 + e) == e / (1 + e)
    assert e != F(27, 10)
    assert (F(27, 10) < e, e < 3, e > math.inf, e < math.inf, e > -math.inf) == (True, True, False, True, True)
    assert sorted([e, F(3), exp(F(1, 2)), 0, F(2)]) == [0, exp(F(1, 2)), F(2), e, F(3)]
    assert abs(2 - e) == e - 2
    assert +e is e
    assert (math.floor(e), math.ceil(e), int(-e), math.floor(-e)) == (2, 3, -2, -3)
    assert e**0 == 1
    assert {e: 1}[exp(F(1, 2)) ** 2] == 1
    assert sum([e, e, F(1)]) == 2 * e + 1
    assert e != "e"
    assert e == e + 0
    assert 0.5 < e < 2.7182818284590455
    assert float(e) == math.e


def test_the_root_is_as_small_as_it_can_be() -> None:
    half, third = exp(F(1, 2)), exp(F(1, 3))
    assert (half * third).root == 6
    assert (half * half).root == 1
    assert ((half + third) - third).root == 2
    assert exp(F(2, 3)).root == 3
    assert ((half + 1) * (half - 1)) == exp(1) - 1
    assert (exp(1) - half) / (half - 1) == half


@pytest.mark.parametrize(
    ("number", "written", "shown"),
    [
        (lambda: exp(1), "exp(1)", "e"),
        (lambda: exp(2), "exp(2)", "e^2"),
        (lambda: exp(F(1, 2)), "exp(1/2)", "e^(1/2)"),
        (lambda: -exp(-1), "-exp(-1)", "-e^(-1)"),
        (lambda: 3 * exp(F(-1, 2)) / 2, "3*exp(-1/2)/2", "3e^(-1/2)/2"),
        (lambda: -exp(1) / 2, "-exp(1)/2", "-e/2"),
        (lambda: (1 + 2 * exp(1)) / (2 + exp(1)), "(1 + 2*exp(1))/(2 + exp(1))", "(1 + 2e)/(2 + e)"),
        (lambda: 1 / (1 + exp(1)), "1/(1 + exp(1))", "1/(1 + e)"),
        (lambda: (1 - exp(1)) / 2, "(1 - exp(1))/2", "(1 - e)/2"),
        (lambda: (1 + exp(1)) / (2 * exp(1)), "(1 + exp(1))/(2*exp(1))", "(1 + e)/(2e)"),
        (lambda: exp(1) - exp(3) / 7, "(7*exp(1) - exp(3))/7", "(7e - e^3)/7"),
        (lambda: F(1, 3), "1/3", "1/3"),
    ],
)
def test_text(number: Any, written: str, shown: str) -> None:
    assert str(number()) == written
    assert pretty(number()) == shown
    assert parse(written) == number()


def test_other_texts_of_a_number() -> None:
    e = exp(1)
    assert repr(1 / (1 + e)) == "<1/(1 + exp(1))>"
    assert as_text(e) == "exp(1)"
    assert decimal_text(e) == "2.71828"
    assert decimal_text(exp(100)) == "2.68812e43"
    assert decimal_text(-exp(-100), 3) == "-3.72e-44"
    assert e.to_sympy() == sympy.E
    assert log(exp(F(1, 2))) == log_down(exp(F(1, 2))) == log_up(exp(F(1, 2))) == 0.5
    assert compare_log(exp(F(1, 3)), F(1, 3)) == 0


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1/(1+exp(1))", lambda: 1 / (1 + exp(1))),
        (" math.exp( -1/2 ) ", lambda: exp(F(-1, 2))),
        ("0.2", lambda: F(1, 5)),
        ("0.1000000000000000055", lambda: F("0.1000000000000000055")),
        ("1e-6", lambda: F(1, 10**6)),
        ("1_000", lambda: F(1000)),
        ("2**10 - +1", lambda: F(1023)),
        ("(1/2)**-3", lambda: F(8)),
        ("exp(1)**(1/2)", lambda: exp(F(1, 2))),
        ("exp(1 - 3/2) * exp(1/2)", lambda: F(1)),
    ],
)
def test_parse(written: str, value: Any) -> None:
    assert parse(written) == as_number(written) == value()


@pytest.mark.parametrize(
    "written",
    [
        "",
        "foo",
        "exp",
        "exp(exp(1))",
        "exp(1, 2)",
        "exp(x=1)",
        "1/0",
        "1/(exp(1) - exp(1))",
        "0**-1",
        "2**(1/2)",
        "2**exp(1)",
        "(1 + exp(1))**(1/2)",
        "9**9**9",
        "2**1000000",
        "exp(20000)",
        "1j",
        "True",
        "'1'",
        "1 if 1 else 2",
        "5 % 3",
        "1e999999999",
        "exp(1/3) + exp(1/1000003)",
        "__import__('os').system('true')",
        "[1][0]",
        "lambda: 1",
        "1 +",
        "-" * 1500 + "1",
        "(" * 300 + "1" + ")" * 300,
        "1+" * 1500 + "1",
    ],
)
def test_what_is_not_an_expression(written: str) -> None:
    with pytest.raises(ParameterError) as caught:
        parse(written)
    assert caught.value.what
    assert len(str(caught.value.what)) < 300


def test_bad_input() -> None:
    for wrong in (exp(1), 0.5, "1"):
        with pytest.raises(ParameterError):
            exp(wrong)
    with pytest.raises(ParameterError, match="out of reach"):
        exp(10_001)
    with pytest.raises(ParameterError, match="out of reach"):
        exp(F(1, 999_983)) + exp(F(3, 2))
    with pytest.raises(ParameterError, match="out of reach"):
        exp(10_000) ** 1000
    with pytest.raises(ParameterError, match="whole power"):
        (1 + exp(1)) ** F(1, 2)
    with pytest.raises(ZeroDivisionError):
        exp(1) / 0
    with pytest.raises(ZeroDivisionError):
        exp(1) / (exp(1) - exp(1))
    with pytest.raises(TypeError):
        exp(1) + 0.5
    with pytest.raises(TypeError):
        0.5 * exp(1)
    for wrong in (sympy.pi, sympy.sqrt(2), sympy.Symbol("x"), sympy.Float("0.5") * sympy.E):
        with pytest.raises(ParameterError):
            from_sympy(wrong)
    assert as_number(sympy.exp(sympy.Rational(1, 2)) + 1) == exp(F(1, 2)) + 1
    assert as_number(0.2) == F(1, 5)
    assert as_number(exp(1)) == exp(1)
