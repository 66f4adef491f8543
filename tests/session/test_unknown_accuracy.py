"""Accuracy with an unknown scale: drawn programs beside the engine with numbers, and closed forms beside sums."""

from __future__ import annotations

import math
import random
from fractions import Fraction as F
from typing import Any

import pytest

from agreement import module_of
from parametrised import value_at
from tightdp import Bit, geometric, laplace, mechanism, one_sided_geometric
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
