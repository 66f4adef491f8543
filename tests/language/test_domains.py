"""Record domains."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tightdp.errors import ParameterError
from tightdp.language.domains import Bit, Bits, Domain, Int, Tuple, Values, is_integral, with_absent


class _Five(int):
    def __add__(self, other: int) -> int:
        return (int(self) + other) % 5


DOMAINS: list[tuple[Domain, tuple[Any, ...]]] = [
    (Bit, (0, 1)),
    (Int(-1, 2), (-1, 0, 1, 2)),
    (Values("b", "a", None), ("b", "a", None)),
    (Values(0.5, "1/2"), (Fraction(1, 2), "1/2")),
    (Bits(2), ((0, 0), (0, 1), (1, 0), (1, 1))),
    (Tuple(Bit, Values("u", "v")), ((0, "u"), (0, "v"), (1, "u"), (1, "v"))),
    (with_absent(Int(0, 1)), (0, 1, None)),
    (with_absent(Bits(1)), ((0,), (1,), None)),
]


@pytest.mark.parametrize(("domain", "values"), DOMAINS)
def test_values_size_membership(domain: Domain, values: tuple[Any, ...]) -> None:
    assert domain.values == values
    assert domain.size == len(values)
    assert all(value in domain for value in values)
    assert [domain.canonical(value) for value in values] == list(values)
    assert "other" not in domain
    assert (0, 0, 0) not in domain
    assert [] not in domain
    assert {} not in domain
    assert hash(domain) == hash(domain)
    assert domain.describe()


def test_leaves_follow_the_components() -> None:
    domain = Tuple(Bit, Tuple(Int(0, 2), Bits(2)), Values((1, 2), None))
    assert domain.leaves() == ((0, 1), (0, 1, 2), (0, 1), (0, 1), ((1, 2), None))
    assert Int(1, 2).leaves() == ((1, 2),)
    assert with_absent(Bits(1)).leaves() == (((0,), (1,), None),)


def test_large_domains_are_not_listed_for_membership() -> None:
    assert Bits(200).size == 2**200
    assert (0, 1) * 100 in Bits(200)
    assert 10**30 in Int(0, 10**40)


def test_canonical_gives_the_plain_record() -> None:
    assert type(Bit.canonical(True)) is int
    assert type(Bit.canonical(np.int64(1))) is int
    assert Bits(2).canonical([0, 1]) == (0, 1)
    assert Tuple(Bits(2), Bit).canonical([np.array([0, 1]), 1]) == ((0, 1), 1)
    assert Values(0.5).canonical(Fraction(1, 2)) == Fraction(1, 2)
    assert Values(None, True).canonical(1) is True
    with pytest.raises(ParameterError, match=r"2 is outside the domain Bit\n  give 0 or 1"):
        Bit.canonical(2)


@pytest.mark.parametrize(
    "build",
    [
        lambda: Int(2, 1),
        lambda: Int(0, "a"),  # type: ignore[arg-type]
        lambda: Int(0, Fraction(1, 2)),  # type: ignore[arg-type]
        lambda: Values(),
        lambda: Values(1, True),
        lambda: Values([{}]),
        lambda: Values(_Five(2), 3),
        lambda: Bits(0),
        lambda: Tuple(),
        lambda: Tuple(Bit, 3),  # type: ignore[arg-type]
    ],
)
def test_bad_domains(build: Any) -> None:
    with pytest.raises(ParameterError):
        build()


def test_equality_and_repr() -> None:
    assert Int(0, 3) == Int(0, 3) != Int(0, 4)
    assert repr(Tuple(Bit, Int(0, 3), Bits(2), Values("a", 0.5))) == "Tuple(Bit, Int(0, 3), Bits(2), Values('a', 1/2))"


def test_with_absent_adds_none_once() -> None:
    domain = Values(None, "a")
    assert with_absent(domain) is domain
    assert with_absent(with_absent(Bit)) == with_absent(Bit)


def test_is_integral() -> None:
    assert is_integral(Bit)
    assert is_integral(Values(3, 5))
    assert not any(map(is_integral, [Values(1, None), Bits(1), Values(0.5), with_absent(Bit)]))
