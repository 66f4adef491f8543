"""Integer polynomials in e^(1/d) behave like the numbers they are."""

from __future__ import annotations

import pickle
from fractions import Fraction
from typing import Any

import pytest
from flint import fmpz_poly
from hypothesis import given
from hypothesis import strategies as st

from tightdp.exact.field import ExpNumber, exp
from tightdp.exact.weights import quotient
from tightdp.exact.whole import ExpInteger, compare_quotients, gcd, lcm

T = ExpInteger(fmpz_poly([0, 1]), 2)
"""The square root of e."""


def _number(value: Any) -> Any:
    return quotient(value, 1)


WHOLE = st.one_of(
    st.integers(-9, 9),
    st.builds(
        lambda powers, root: ExpInteger(fmpz_poly(powers), root),
        st.lists(st.integers(-9, 9), max_size=4),
        st.integers(1, 3),
    ),
)


@given(WHOLE, WHOLE)
def test_arithmetic_and_order_are_those_of_the_numbers(left: Any, right: Any) -> None:
    a, b = _number(left), _number(right)
    assert _number(left + right) == a + b
    assert _number(left - right) == a - b
    assert _number(left * right) == a * b
    assert _number(-left) == -a
    assert (left == right) == (a == b)
    assert left != right or hash(left) == hash(right)
    assert (left < right, left <= right, left > right, left >= right) == (a < b, a <= b, a > b, a >= b)
    assert bool(left) == bool(a)
    if right:
        assert left * right // right == left
        assert quotient(left, right) == a / b


@given(WHOLE, WHOLE, WHOLE)
def test_common_divisors_and_multiples(left: Any, right: Any, factor: Any) -> None:
    shared = gcd(left * factor, right * factor)
    for value in (left * factor, right * factor):
        assert not shared or value // shared * shared == value
    if left and right:
        whole = lcm(abs_(left), abs_(right))
        assert whole > 0
        assert whole // left * left == whole // right * right == whole


@given(WHOLE, WHOLE, WHOLE, WHOLE)
def test_quotients_are_compared(a: Any, b: Any, c: Any, d: Any) -> None:
    if b and d:
        b, d = abs_(b), abs_(d)
        left, right = quotient(a, b), quotient(c, d)
        assert compare_quotients(a, b, c, d) == (left > right) - (left < right)


def abs_(value: Any) -> Any:
    return -value if value < 0 else value


def test_numerators_and_denominators_are_weights() -> None:
    p = 1 / (1 + exp(Fraction(1, 2)))
    assert isinstance(p, ExpNumber)
    assert (p.numerator, p.denominator) == (1, 1 + T)
    assert quotient(p.numerator, p.denominator) == p
    assert (1 - exp(1)).as_integer_ratio()[1] > 0
    assert (1 / (1 - exp(1))).as_integer_ratio()[1] > 0


@given(WHOLE)
def test_weights_and_numbers_are_pickled(value: Any) -> None:
    again, number = pickle.loads(pickle.dumps((value, _number(value))))
    assert again == value
    assert number == _number(value)


def test_equal_numbers_in_different_roots_are_equal() -> None:
    assert ExpInteger(fmpz_poly([0, 1]), 1) == T * T
    assert hash(T * T) == hash(ExpInteger(fmpz_poly([0, 1]), 1))
    assert T - T == 0
    assert hash(ExpInteger(fmpz_poly([5]), 3)) == hash(5)


def test_sympy_takes_numbers_as_they_are() -> None:
    sympy = pytest.importorskip("sympy")
    number = 1 / (1 + exp(1))
    assert sympy.simplify(number * (1 + sympy.E)) == 1
    assert sympy.sympify(number) == 1 / (1 + sympy.E)
    assert number - sympy.E == 1 / (1 + sympy.E) - sympy.E
