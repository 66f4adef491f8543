"""Joint laws of too many outputs are refused at once; one output of theirs has its probability all the same."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from tightdp import Bit, Int, Mechanism, choice, flip, mechanism, observe, randint, shuffle
from tightdp.core.lowering import lower
from tightdp.errors import QueryError
from tightdp.methods.one_output import least_outputs


@mechanism(record=Bit)
def network(x: Any) -> Any:
    values = [choice((0, 1, 2), (1, 2, 1 + x[0]))]
    for at in range(29):
        before = values[at // 2]
        values.append(choice((0, 1, 2), (1 + before, 2, 1)) if at % 2 else choice((0, 1, 2), (1, 1, 1 + before)))
    return tuple(values)


def test_a_joint_law_that_cannot_be_listed_is_refused() -> None:
    with pytest.raises(QueryError, match="at least 205,891,132,094,649 values") as caught:
        network.bind(n=1).distribution((1,))
    assert "probability(x, y)" in str(caught.value)
    assert "marginal" in str(caught.value)


@pytest.mark.slow(seconds=2)
def test_one_output_of_very_many_has_its_probability() -> None:
    instance, zeros = network.bind(n=1), (0,) * 30
    for b in (0, 1):
        expected = instance.probability((b,), zeros)
        assert expected.numerator == 1
        assert expected.denominator == (4 + b) * 3**15 * 4**14
    assert instance.probability((0,), (1, *zeros[1:])) > 0
    assert instance.probability((0,), (3, *zeros[1:])) == 0


@mechanism(record=Bit)
def dependent(x: Any) -> Any:
    a, b = flip("1/2"), flip("1/2")
    return a, b, a ^ b, a if b else 1 - a, choice((0, 1), (1, 1 + a)) if b else flip("1/3"), not a


@mechanism(record=Bit)
def given(x: Any) -> Any:
    a, b = flip("1/2"), flip("1/2")
    observe(a == b)
    return a, b


@mechanism(record=Bit)
def either(x: Any) -> Any:
    a, b = choice((0, 1, 2), (1, 1, 1)), flip("1/2")
    return (a if b else 5, a, b, choice((0, 1), (1 + a, b)))


@mechanism(record=Bit)
def summed(x: Any) -> Any:
    a, b, c = flip("1/2"), flip("1/3"), choice((0, 1, 2), (1, 1, 1))
    return a + b, b - c, (x[0] == 1) != a, x[0] ^ b, c + (choice((0, -1, -2), (1, c, c)) if c else -c)


@pytest.mark.parametrize("one", [dependent, given, either, summed], ids=lambda one: one.name)
def test_the_number_is_never_more_than_there_are(one: Mechanism) -> None:
    instance = one.bind(n=1)
    outputs = [len(instance.distribution(x).law) for x in product((0, 1), repeat=1)]
    assert 1 <= least_outputs(lower(instance.bound)) <= min(outputs)
    assert (least_outputs(lower(instance.bound)) > 1) == (one is not given)


@mechanism(record=Bit)
def copies(x: Any) -> Any:
    return tuple(b + flip("1/3") for b in x for _ in range(30))


def test_sums_of_records_and_draws_count() -> None:
    with pytest.raises(QueryError, match="at least 1,073,741,824 values"):
        copies.bind(n=1).distribution((1,))


@mechanism(record=Int(0, 2))
def shuffled(x: Any) -> Any:
    return shuffle([b if flip("1/2") else randint(0, 2) for b in x])


def test_one_count_of_very_many_is_enough_for_one_probability() -> None:
    """P is a coefficient of (2/3 z0 + 1/6 z1 + 1/6 z2)^100, over the number of orders of the outputs."""
    zeros = (0,) * 100
    assert shuffled.bind(n=100).probability(zeros, zeros) == Fraction(2, 3) ** 100
    one = (1, *zeros[1:])
    assert shuffled.bind(n=100).probability(zeros, one) == Fraction(1, 6) * Fraction(2, 3) ** 99
