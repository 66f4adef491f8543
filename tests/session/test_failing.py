"""A program that fails says so early, whatever takes long, and every way to its answer names the same dataset."""

from __future__ import annotations

from typing import Any

import pytest

from tightdp import (
    Bit,
    Instance,
    Int,
    ProgramError,
    choice,
    discrete_laplace,
    flip,
    geometric,
    mechanism,
    observe,
    randint,
)
from work import counted

RATIOS = (1, "1/2", "1/4", "1/8")


@mechanism(record=Int(0, 5))
def short_list(x: Any) -> Any:
    scores = [sum(v == k for v in x) for k in range(6)]
    left = list(range(6))
    while len(left) > 1:
        k = choice(left)
        if flip(RATIOS[max(scores) - scores[k]]):
            return k
        left.remove(k)
    return left[0]


@mechanism(record=Int(0, 5))
def divided(x: Any) -> Any:
    counts = [geometric(sum(v == k for v in x), "1/2", -2, len(x) + 2) for k in range(4)]
    s = 0
    for i, v in enumerate(x):
        s = (7 * s + v * geometric(v, "1/3", -5, 10) + counts[i % 4]) % 10_007
    return s // (5 * len(x) - sum(x))


@mechanism(record=Int(0, 3))
def contradicted(x: Any) -> Any:
    s = 0
    for v in x:
        s = (5 * s + v * randint(0, 9)) % 997
    observe(sum(x) > 0)
    return s


@mechanism(record=Int(-3, 3))
def far_out(x: Any) -> Any:
    z = discrete_laplace(sum(x), 2)
    return z // (sum(x) - 3 * len(x))


def error_of(instance: Instance, question: str = "privacy") -> ProgramError:
    given: dict[str, dict[str, Any]] = {
        "delta": {"exp_epsilon": 2},
        "verify": {"exp_epsilon": 2},
        "classic_guessing": {"runs": 2},
    }
    options = given.get(question, {})
    with pytest.raises(ProgramError) as caught:
        getattr(instance, question)(**options)
    return caught.value


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "question",
    [
        *("privacy", "delta", "curve", "verify", "show", "certify"),
        *("efficacy", "guessing", "adaptive_guessing", "classic_guessing"),
    ],
)
def test_what_takes_long_to_compile_fails_early(question: str) -> None:
    with counted() as work:
        error = error_of(short_list.bind(n=20), question)
    assert work.calls < 500_000
    assert error.x == (0,) * 20
    assert "a run on the dataset" in error.what
    assert "IndexError: index 20 in a sequence of length 4" in error.what
    assert error.span is not None
    assert error.span.text[error.span.column - 1 :].startswith("RATIOS[max")


def test_a_limit_on_time_does_not_hide_it() -> None:
    assert error_of(short_list.bind(n=20, timeout=20)).x == (0,) * 20


@pytest.mark.slow(seconds=4)
@pytest.mark.parametrize(("case", "x"), [(divided, (5,) * 8), (contradicted, (0,) * 4), (far_out, (3,) * 6)])
def test_datasets_at_both_ends_are_looked_at(case: Any, x: tuple[int, ...]) -> None:
    assert error_of(case.bind(n=len(x))).x == x


@pytest.mark.parametrize("method", ["exhaustive", "orbits", "chain", "runs"])
def test_every_method_names_the_same_dataset(method: str) -> None:
    assert error_of(short_list.bind(n=4, method=method)).x == (0,) * 4


@mechanism(record=Bit)
def only_between(x: Any) -> Any:
    assert sum(x) != 2 or not flip("1/3")
    return tuple(b if flip("2/3") else 1 - b for b in x)


def test_the_first_dataset_in_order_is_looked_for_too() -> None:
    assert error_of(only_between.bind(n=6)).x == (0, 0, 0, 0, 1, 1)


def test_questions_about_one_dataset_are_answered() -> None:
    instance = divided.bind(n=1)
    assert instance.distribution((4,)).law
    assert instance.failure((5,)).probability == 1


@mechanism(record=Int(0, 3))
def not_of_three(x: Any) -> Any:
    s = 0
    for v in x:
        assert v < 3 or flip("2/3")
        s = (7 * s + randint(0, 30) * (v + 1)) % 1009
    return s


def test_an_audit_is_about_the_datasets_of_its_pairs() -> None:
    short = not_of_three.bind(n=2)
    assert short.efficacy().rows
    assert short.efficacy(pairs=[(0, 1), (1, 2)]).rows
    with pytest.raises(ProgramError):
        short.efficacy(pairs=[(0, 1), (1, 3)])
    for ask in (
        lambda instance: instance.efficacy(None, [(1, 3)] * 12),
        lambda instance: instance.guessing(pairs=[(1, 3)] * 12),
    ):
        with counted() as work, pytest.raises(ProgramError) as caught:
            ask(not_of_three.bind(n=12))
        assert work.calls < 8_000_000
        assert caught.value.x is not None
        assert 3 in caught.value.x
