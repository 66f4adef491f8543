"""Signs of sums of polynomials times exponentials, beside their values at many places."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest

from tightdp.exact.waves import Terms, Undecided, Wave


def wave(terms: list[tuple[Fraction, int, int]]) -> Terms:
    """Return Σ c·e^(rate·t)·t^degree, by rate, degree and c."""
    found: dict[tuple[Fraction, int], Fraction] = {}
    for rate, degree, c in terms:
        key = rate, degree
        found[key] = found.get(key, Fraction(0)) + Fraction(c)
    return {key: c for key, c in found.items() if c}


def value(terms: list[tuple[Fraction, int, int]], t: float) -> float:
    return sum(c * math.exp(rate * t) * t**degree for rate, degree, c in terms)


def signs(function: Terms, length: Fraction | None) -> Wave:
    return Wave(function, Fraction(0), length, lambda: None, 1_000)


@pytest.mark.parametrize("seed", range(150))
def test_signs_are_those_of_values(seed: int) -> None:
    choose = random.Random(seed)
    rates = [Fraction(-k, choose.choice((1, 2, 4))) for k in range(4)]
    terms = [(choose.choice(rates), choose.randint(0, 2), choose.randint(-4, 4)) for _ in range(choose.randint(2, 6))]
    length = choose.choice([None, Fraction(2), Fraction(7, 3)])
    function = wave(terms)
    if not function:
        return
    asked = signs(function, length)
    far = float(length or 40)
    values = [value(terms, far * k / 997) for k in range(1, 997)]
    scale = max(map(abs, values))
    if asked.never_negative():
        assert min(values) >= -1e-12 * scale
    elif min(values) > 1e-3 * scale:
        raise AssertionError("it is positive, and that was not seen")
    try:
        parts = asked.changes()
    except Undecided:  # the places of a double zero are not found
        return
    assert parts[0][0] == 0
    assert parts[-1][1] == asked.top
    for low, high, sign in parts:
        for k in range(1, 20):
            t = float(low) + k / 20 * float(high - low)
            assert not sign or sign * value(terms, t) >= -1e-12 * scale
        assert sign or high - low < Fraction(1, 10**20)


def test_a_crossing_at_a_rational_is_exact() -> None:
    one, half = Fraction(-1), Fraction(-1, 2)
    assert signs(wave([(Fraction(0), 1, 3), (Fraction(0), 0, -1)]), Fraction(2)).changes() == [
        (0, Fraction(1, 3), -1),
        (Fraction(1, 3), 2, 1),
    ]
    function = wave([(one, 0, 1), (half, 0, -1), (half, 1, 2)])
    assert [sign for *_, sign in signs(function, None).changes()] == [1]


def test_zeros_at_the_ends_are_decided_by_derivatives() -> None:
    # (e^-t - 1 + t) has a double zero at 0; t·(2 - t)·e^-t is 0 at both ends.
    assert signs(wave([(Fraction(-1), 0, 1), (Fraction(0), 0, -1), (Fraction(0), 1, 1)]), None).never_negative()
    assert signs(wave([(Fraction(-1), 1, 2), (Fraction(-1), 2, -1)]), Fraction(2)).never_negative()
    assert not signs(wave([(Fraction(-1), 1, 2), (Fraction(-1), 2, -1)]), Fraction(3)).never_negative()
