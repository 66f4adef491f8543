"""What real noise has no answer to, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tightdp import (
    Bit,
    Int,
    LanguageError,
    Mechanism,
    exp,
    flip,
    geometric,
    laplace,
    mechanism,
    observe,
    uniform,
)
from tightdp.errors import QueryError, TightdpError


def bits(function: Callable[..., Any]) -> Mechanism:
    return mechanism(record=Bit)(function)


@bits
def count(x):
    return laplace(sum(x), 2)


@bits
def noise_of_both_kinds(x):
    return laplace(sum(x), 2) + geometric(0, "1/2")


@bits
def uniform_noise_too(x):
    return sum(x) + uniform(0, 2) + geometric(0, "1/2")


def test_what_has_no_answer_is_refused_with_its_place() -> None:
    with pytest.raises(LanguageError, match="real noise has no answer to this question") as caught:
        count.bind(n=1).efficacy()
    assert caught.value.span is not None
    with pytest.raises(QueryError, match="no rule of evidence fits: real noise"):
        uniform_noise_too.bind(n=1).certify()


def test_the_law_of_one_number_with_noise_of_both_kinds_is_not_listed() -> None:
    with pytest.raises(QueryError, match="published in a sum with noise on the integers"):
        noise_of_both_kinds.bind(n=1).distribution((0,))


@bits
def product_of_draws(x):
    return laplace(x[0], 1) * laplace(0, 1)


@bits
def quotient_of_draws(x):
    return laplace(x[0], 1) / laplace(1, 1)


@bits
def reciprocal(x):
    return 1 / laplace(x[0], 1)


@bits
def reciprocal_compared(x):
    return 1 / laplace(x[0], 1) > 2


@bits
def fails_at_times(x):
    z = laplace(x[0], 1)
    assert not x[0] or z < 5
    return z > 1


@mechanism(record=Int(0, 99))
def wide(x):
    return laplace(sum(x), 2) > 1


@mechanism(record=Int(0, 99))
def wide_published(x):
    return laplace(sum(x), 2)


REASONS = [
    (product_of_draws, 1, "real noise is multiplied by such noise"),
    (fails_at_times, 1, "a run on the dataset (1,) fails with AssertionError: not x[0] or z < 5"),
    (wide_published, 2, "there are 10,000 datasets, and real noise is answered for at most 4,096"),
]


@pytest.mark.parametrize(("made", "n", "why"), REASONS, ids=lambda each: getattr(each, "__name__", ""))
def test_what_stands_in_the_way_is_said(made: Mechanism, n: int, why: str) -> None:
    with pytest.raises(TightdpError) as caught:
        made.bind(n=n).privacy()
    assert why in caught.value.what


@bits
def power(x):
    z = laplace(x[0], 1)
    return z > 0, z**2


@bits
def exponential_of_noise(x):
    z = laplace(x[0], 1)
    return exp(z)


@bits
def exponential_of_whole_noise(x):
    z = geometric(x[0], "1/2")
    return exp(z)


@pytest.mark.parametrize(
    ("made", "line"),
    [
        (power, "return z > 0, z**2"),
        (exponential_of_noise, "return exp(z)"),
        (exponential_of_whole_noise, "return exp(z)"),
    ],
)
def test_the_line_that_does_it_is_pointed_at(made: Mechanism, line: str) -> None:
    with pytest.raises(LanguageError) as caught:
        made.bind(n=1).privacy()
    assert caught.value.span is not None
    assert caught.value.span.text.strip() == line


@pytest.mark.parametrize(
    ("change", "how"),
    [
        (lambda z, eps: z + eps, "is added to eps"),
        (lambda z, eps: eps - z, "is added to eps"),
        (lambda z, eps: z * eps, "is multiplied by eps"),
        (lambda z, eps: z / eps, "is divided by eps"),
        (lambda z, eps: z > eps, "is compared with eps"),
    ],
)
def test_noise_that_meets_an_unknown_is_refused_with_its_name(change: Callable[..., Any], how: str) -> None:
    @mechanism(record=Bit)
    def moved(x, eps):
        return change(laplace(x[0], 1), eps)

    with pytest.raises(TightdpError, match=f"real noise {how}, which is not rational"):
        moved.bind(n=1, eps="?[1,2]").privacy()


def test_an_unknown_scale_of_published_numbers_is_said_to_be_in_the_way() -> None:
    @mechanism(record=Bit)
    def total(x, eps):
        return (laplace(x[0], 1 / eps) if flip("1/2") else laplace(0, 1 / eps)) - laplace(0, 1 / eps)

    with pytest.raises(TightdpError, match="real noise has an unknown scale, and is published"):
        total.bind(n=1, eps="?").privacy()


def test_accuracy_of_several_numbers_says_what_is_no_number() -> None:
    @mechanism(record=Bit, target=sum)
    def two(x):
        return laplace(x[0], 1), laplace(x[0], 1)

    with pytest.raises(TightdpError, match="on the dataset \\(0,\\) two can output several values"):
        two.bind(n=1).accuracy(1)


def test_an_observation_that_no_run_meets_is_a_contradiction() -> None:
    @mechanism(record=Bit)
    def never(x):
        z = laplace(x[0], 1)
        observe(z > z + x[0])
        return z

    with pytest.raises(TightdpError, match="a contradiction: on the dataset \\(0,\\)"):
        never.bind(n=1).privacy()
