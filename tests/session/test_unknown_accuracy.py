"""Accuracy with an unknown scale: drawn programs beside the engine with numbers, and closed forms beside sums."""

from __future__ import annotations

import math
import random
from fractions import Fraction as F
from typing import Any

import pytest

from agreement import module_of
from parametrised import value_at
from tightdp import Bit, discrete_laplace, exponential, geometric, laplace, mechanism, one_sided_geometric
from tightdp.errors import QueryError
from tightdp.exact.polynomials import naming

HEAD = "from tightdp import *\n\n\n@mechanism(record=Bit, target=sum)\n"


def drawn_program(seed: int) -> str:
    """Return a program that publishes a count with noise whose strength is the unknown."""
    draw = random.Random(seed)
    centre = draw.choice(("sum(x)", "sum(x) + x[0]", "2 * sum(x)"))
    kinds = (
        lambda: f"laplace({centre}, {draw.choice((1, 2))} / eps)",
        lambda: f"exponential({centre}, 1 / eps)",
        lambda: f"geometric({centre}, exp(-eps / {draw.choice((1, 2))}))",
        lambda: f"one_sided_geometric({centre}, exp(-eps))",
    )
    kind = kinds[seed % 4]
    body = (
        "return {0}",
        "return max({0}, 0)",
        "return {0} if flip('1/3') else x[0]",
        "return {0} + {1}",
        "z = {0}\n    return z if z > 1 else 0",
        "return -{0}",
    )[draw.randrange(6)]
    return f"{HEAD}def drawn(x, eps):\n    {body.format(kind(), kind())}\n"


@pytest.mark.one_in(8)
@pytest.mark.parametrize("seed", range(48))
def test_accuracy_is_that_of_numbers(seed: int) -> None:
    source = drawn_program(seed)
    with module_of(source, "") as module:
        for alpha in (F(1), F(5, 2)):
            pieces = module.drawn.bind(n=2, eps="?[1/4,3]").accuracy(alpha)
            for value in (F(1, 3), F(1), F(5, 2)):
                one = module.drawn.bind(n=2, eps=value).accuracy(alpha)
                assert value_at(pieces, value) == one.one_minus_beta, source


@mechanism(record=Bit, target=sum)
def count(x: Any, eps: Any) -> Any:
    return laplace(sum(x), 1 / eps)


@mechanism(record=Bit, target=sum)
def late(x: Any, r: Any) -> Any:
    return one_sided_geometric(sum(x), r)


@mechanism(record=Bit, target=sum)
def two_sided(x: Any, r: Any) -> Any:
    return geometric(sum(x), r)


@pytest.mark.parametrize(
    ("made", "name", "alpha", "expected"),
    [
        (count, "eps", 2, "(-1 + exp(2*eps))/(exp(2*eps))"),
        (late, "r", 1, "1 - r**2"),
        (late, "r", 2, "1 - r**3"),
    ],
)
def test_closed_forms(made: Any, name: str, alpha: int, expected: str) -> None:
    found = made.bind(n=2, **{name: "?"}).accuracy(alpha)
    (part,) = found.pieces
    with naming(found.unknown):
        assert str(part.value) == expected


def test_a_two_sided_count_beside_sums() -> None:
    found = two_sided.bind(n=2, r="?").accuracy(2)
    for r in (F(1, 5), F(1, 2), F(9, 10)):
        assert value_at(found, r) == sum((1 - r) / (1 + r) * r ** abs(k) for k in range(-2, 3))


def test_the_least_noise_that_is_private_and_the_most_that_is_accurate() -> None:
    (span,) = count.bind(n=2, eps="?").solve(epsilon=1, alpha=2, beta="1/3").holds
    assert float(span.start) == pytest.approx(math.log(3) / 2, rel=1e-12)
    assert span.stop.value == 1


@mechanism(record=Bit, target=lambda x: 3 * x[0])
def chosen(x: Any, s: Any) -> Any:
    low, high = laplace(0, s), exponential(0, 2 * s)
    return 3 * x[0] + (low - high / 3 if low < 2 * high else 2 * low)


@mechanism(record=Bit, target=sum)
def clamped(x: Any, s: Any) -> Any:
    return max(0, laplace(sum(x), s))


@mechanism(record=Bit, target=sum)
def whole(x: Any, s: Any) -> Any:
    return discrete_laplace(sum(x), s)


@pytest.mark.parametrize(("made", "name"), [(count, "eps"), (chosen, "s")])
def test_least_errors_of_reals_are_in_proportion_to_the_scale(made: Any, name: str) -> None:
    found = made.bind(n=2, **{name: "?"}).accuracy(beta="1/10")
    (part,) = found.pieces
    for value in (F(1, 3), F(7, 2)):
        one = made.bind(n=2, **{name: value}).accuracy(beta="1/10")
        least, most = part.ends_at(value)
        assert least <= one.upper, "they have a number in common"
        assert one.lower <= most
        assert most - least < F(1, 10**9)
    if made is count:
        assert float(part.ends_at(F(4))[0]) == pytest.approx(math.log(10) / 4, rel=1e-12)
        assert "2.30258509299/eps" in str(found)


def test_least_errors_that_are_no_multiple_of_the_unknown_are_refused() -> None:
    with pytest.raises(QueryError, match="no multiple of s") as refused:
        clamped.bind(n=2, s="?").accuracy(beta="1/10")
    assert "solve" in str(refused.value)


def test_least_errors_of_integers_need_a_range() -> None:
    with pytest.raises(QueryError, match="infinitely many least errors"):
        two_sided.bind(n=2, r="?").accuracy(beta="1/10")
    found = two_sided.bind(n=2, r="?[1/10,1/2]").accuracy(beta="1/10")
    for r in (F(1, 5), F(1, 4), F(1, 3), F(1, 2)):
        assert value_at(found, r) == next(k for k in range(9) if 2 * r ** (k + 1) / (1 + r) <= F(1, 10))


def test_the_least_error_of_discrete_laplace_noise() -> None:
    r = math.exp(-1 / 2)
    least = next(k for k in range(20) if 2 * r ** (k + 1) / (1 + r) <= 1 / 10)
    assert whole.bind(n=2, s=2).accuracy(beta="1/10").alpha == least
