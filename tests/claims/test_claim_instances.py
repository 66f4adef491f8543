"""Instances are exact and ordered, and draws repeat."""

from __future__ import annotations

from fractions import Fraction

from deciding import outcome

from tightdp.claims import (
    grid,
    random_dp_law,
    random_law,
    seeds,
)


def test_grids_are_exact_and_ordered() -> None:
    assert grid(n=(1, 2), lam=("1/5", "0.5"))[:2] == [
        {"n": 1, "lam": Fraction(1, 5)},
        {"n": 1, "lam": Fraction(1, 2)},
    ]
    assert seeds(2, n=3) == [{"seed": 0, "n": 3}, {"seed": 1, "n": 3}]


def test_draws_repeat_and_keep_their_promise() -> None:
    assert random_law(3, "ab", 4) == random_law(3, "ab", 4) != random_law(4, "ab", 4)
    for seed in range(5):
        laws = random_dp_law(seed, 2, outputs=4, exp_epsilon=Fraction(3, 2), delta=Fraction(1, 20))
        assert all(sum(law.values()) == 1 for law in laws.values())
        worst = max(
            sum((max(Fraction(0), p - Fraction(3, 2) * laws[b][y]) for y, p in laws[a].items()), Fraction(0))
            for a in laws
            for b in laws
            if sum(i != j for i, j in zip(a, b, strict=True)) == 1
        )
        assert 0 < worst <= Fraction(1, 20)


def test_whole_numbers_of_an_instance_never_divide_to_floats() -> None:
    (n,) = (each["n"] for each in grid(n=(3,)))
    values = [n / 2, 2 / n, n**-2, (n + 1) / 2, (2 * n - 1) / 4, 2**n / 5, -n / 2, abs(n) / 2, n // 2 / 5, n % 2 / 3]
    assert all(isinstance(value, Fraction) for value in values)
    assert values[:5] == [Fraction(3, 2), Fraction(2, 3), Fraction(1, 9), 2, Fraction(5, 4)]
    assert values[5:] == [Fraction(8, 5), Fraction(-3, 2), Fraction(3, 2), Fraction(1, 5), Fraction(1, 3)]
    assert (n**2, pow(n, 2, 5), list(range(n)), f"{n}") == (9, 4, [0, 1, 2], "3")
    (pair,) = (each["pair"] for each in grid(pair=((1, "1/2"),)))
    assert pair == (1, Fraction(1, 2))
    assert isinstance(pair[0] / 3, Fraction)


def test_a_float_among_the_numbers_is_an_error() -> None:
    found = outcome("`close > 2`", verdict="refuted", instances=[{"n": 1}], check=lambda n: {"close": 0.1 + n})
    assert "gives the float close = 1.1" in found.differs
