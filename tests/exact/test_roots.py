"""Real roots of polynomials over Z[e^(1/d)]: isolated, compared and refined, beside SymPy and beside mpmath."""

from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import pairwise

import mpmath
import pytest
import sympy
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tightdp.exact.field import exp
from tightdp.exact.lines import Line
from tightdp.exact.polynomials import RING
from tightdp.exact.roots import Point, between, closed, roots

small = st.integers(-6, 6)
polynomials = st.lists(small, min_size=2, max_size=7).filter(any)


def line(*parts: list[int], root: int = 1) -> Line:
    """A polynomial: coefficients in x for each power of e^(1/root)."""
    terms = {(power, at, 0, 0, 0): c for at, part in enumerate(parts) for power, c in enumerate(part) if c}
    return Line(RING.from_dict(terms), root)


@example([0, 1, 1, -2, 3], F(-3), F(2))  # 0 is inside of the interval of the second root, and not in its middle
@given(polynomials, st.sampled_from([F(0), F(-3), F(1, 2)]), st.sampled_from([None, F(2), F(7, 2)]))
def test_roots_are_those_of_sympy(coefficients: list[int], low: F, high: F | None) -> None:
    x = sympy.Symbol("x")
    found = roots(line(coefficients), low, high)
    wanted = [
        root
        for root in dict.fromkeys(sympy.Poly(coefficients[::-1], x).real_roots())
        if root > sympy.Rational(str(low)) and (high is None or root < sympy.Rational(str(high)))
    ]
    assert len(found) == len(wanted)
    for point, root in zip(found, sorted(wanted), strict=True):
        below, above = point.near(20)
        assert below <= F(str(sympy.N(root, 40))) + F(1, 10**30)
        assert above >= F(str(sympy.N(root, 40))) - F(1, 10**30)
        exact = closed(point)
        assert (exact.value is not None) == bool(root.is_rational)
        assert point.sign_of(line(coefficients)) == 0


@settings(deadline=None)
@given(polynomials, polynomials)
def test_roots_with_e_in_coefficients(plain: list[int], times_e: list[int]) -> None:
    ours = line(plain, times_e, root=2)
    assume(ours.degree > 0)
    found = roots(ours, F(0), None)
    with mpmath.workdps(60):
        e = mpmath.exp(mpmath.mpf(1) / 2)
        for point in found:
            value = mpmath.mpf(0)
            low, high = point.near(40)
            at = (low + high) / 2
            for power, part in ours.parts:
                value += e**power * sum(
                    int(c) * (mpmath.mpf(at.numerator) / at.denominator) ** i for i, c in enumerate(part.coeffs())
                )
            assert abs(value) < mpmath.mpf(10) ** -25
    for one, other in pairwise(found):
        assert one.compare(other) < 0
        assert one.compare(between(one, other)) < 0 < other.compare(between(one, other))


terms = st.dictionaries(st.tuples(st.integers(0, 2), st.integers(0, 3)), small.filter(bool), min_size=2, max_size=5)


@example({(0, 0): 2, (1, 0): 1, (0, 1): -2}, 3, False)  # 2 + x - 2·e^(x/3): 0 at x = 0 and at 2.8
@example({(0, 0): 2, (1, 0): 1, (0, 1): -2}, 1, False)  # 2 + x - 2·e^x is negative
@given(terms, st.sampled_from([1, 2, 3]), st.booleans())
def test_no_sign_changes_but_at_roots_with_the_unknown_in_exponents(
    drawn: dict[tuple[int, int], int], root: int, inverse: bool
) -> None:
    powers = {(power, 0, 0, 0, e) if inverse else (power, 0, 0, e, 0): c for (power, e), c in drawn.items()}
    ours = Line(RING.from_dict(powers), root)
    assume(ours.mixed)
    ends = [0.0, *map(float, roots(ours, F(0), None)), math.inf]
    samples = [mpmath.mpf(k) / 16 for k in range(1, 400)]
    for low, high in pairwise(ends):
        inside = [x for x in samples if low + 1e-9 < x < high - 1e-9]
        values = [
            sum(c * x**power * mpmath.exp(e * (1 / x if inverse else x) / root) for (power, e), c in drawn.items())
            for x in inside
        ]
        assert len({mpmath.sign(value) for value in values}) <= 1


def test_the_same_root_of_two_polynomials_is_one_point() -> None:
    (first,) = roots(line([-2, 0, 1]), F(0), None)
    (second,) = roots(line([-6, 2, 3, -1]), F(0), F(2))
    third = roots(line([-4, 0, 0, 0, 1]), F(0), None)[0]
    assert first.compare(second) == 0 == first.compare(third)
    assert first.compare(F(1414213562, 10**9)) > 0 > first.compare(F(1414213563, 10**9))
    (with_e,) = roots(line([-1, 1], [0, 1]), F(0), None)
    assert closed(with_e).value == 1 / (1 + exp(1))
    assert with_e.compare(Point(1 / (1 + exp(1)))) == 0


@pytest.mark.parametrize("polynomial", [line([-2, 0, 1]), line([-3, 0, 0, 2], [0, -1], root=5)])
def test_a_root_is_compared_with_a_power_of_e_and_with_neighbours_of_its_own(polynomial: Line) -> None:
    """Both used to be refined in turn, the power of e to twice as many digits each time."""
    (root,) = roots(polynomial, F(0), None)
    for end in (exp(F(1, 10)), exp(F(3, 2)), exp(F(k, 50)) if (k := round(50 * math.log(float(root)))) else F(1)):
        point = Point(end)
        order = root.compare(point)
        assert order == -point.compare(root) == (1 if float(root) > float(end) else -1)
        low, high = (point, root) if order > 0 else (root, point)
        assert low.compare(between(low, high)) < 0 < high.compare(between(low, high))
        assert between(low, high).denominator.bit_length() < 64
    isolated = root.low, root.high
    low, high = root.near(300)
    assert (root.low, root.high) == isolated != (low, high)
    assert root.compare(low) > 0 > root.compare(high)
