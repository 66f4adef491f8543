"""Clients that toss coins before noise is added to their sum, for every n."""

from fractions import Fraction as F
from typing import Any

import pytest

from tightdp import ALL, Bit, Int, Mechanism, choice, discrete_laplace, exponential, flip, geometric, laplace, mechanism
from tightdp.exact.field import exp

E = exp(1)


@mechanism(record=Bit)
def compared(x: Any) -> Any:
    kept = [v for v in x if flip("1/4")]
    return laplace(sum(kept), 1) > len(x) / 2


@mechanism(record=Bit)
def published(x: Any) -> Any:
    return laplace(sum(v for v in x if flip("1/4")), 1)


@mechanism(record=Int(0, 3))
def cut(x: Any) -> Any:
    total = 0
    for v in x:
        if flip("1/3"):
            total += min(v, 2)
    return discrete_laplace(total, 2)


@mechanism(record=Int(0, 2))
def histogram(x: Any) -> Any:
    counts = [0, 0, 0]
    for v in x:
        if flip("1/3"):
            counts[v] += 1
    return tuple(geometric(count, "1/2") for count in counts)


@mechanism(record=Bit)
def with_size(x: Any) -> Any:
    ones = kept = 0
    for v in x:
        if flip("1/4"):
            ones += v
            kept += 1
    return geometric(ones, "1/2"), kept


@mechanism(record=Bit)
def answered_at_random(x: Any) -> Any:
    return laplace(sum(choice((v, 0, 1)) for v in x), 1) > 3


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (compared, (3 + E) / 4),
        (published, (3 + E) / 4),
        (cut, (2 + E) / 3),
        (histogram, F(8, 5)),
        (with_size, 2),
        (answered_at_random, (1 + 2 * E) / (2 + E)),
    ],
)
def test_a_client_is_hidden_by_its_coins_and_by_the_noise(made: Mechanism, expected: Any) -> None:
    found = made.bind(n=ALL).privacy()
    assert (found.status, found.upper, found.proof) == ("exact", expected, "alignment")
    assert made.bind(n=2).privacy().exp_epsilon <= expected


@mechanism(record=Int(0, 2))
def largest_count(x: Any) -> Any:
    """The noise is no less than 0: what is published is a path of its own, whatever the order of the others."""
    noisy = [exponential(x.count(k), 2) for k in range(3)]
    return noisy.index(max(noisy))


@pytest.mark.slow(seconds=3)
def test_the_noise_of_the_largest_is_shifted_alone() -> None:
    found = largest_count.bind(n=ALL).privacy()
    assert (found.upper, found.proof) == (E, "alignment")
    assert found.lower > F(27, 10)


@mechanism(record=Bit)
def counted_later(x: Any) -> Any:
    kept = [v ^ flip("1/4") for v in x]
    return laplace(kept.count(1), 2)


@mechanism(record=Bit)
def as_long_as_any(x: Any) -> Any:
    kept = [v ^ flip("1/4") for v in x]
    return laplace(len(str(kept)), 2)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("made", "lower"), [(counted_later, (1 + 3 * exp(F(1, 2))) / (3 + exp(F(1, 2)))), (as_long_as_any, 1)]
)
def test_real_noise_in_the_rest_of_the_program_is_not_followed(made: Mechanism, lower: Any) -> None:
    """Datasets with one law have no witness from which to go on to larger ones."""
    found = made.bind(n=ALL).privacy()
    assert (found.status, found.lower, found.upper, found.proof) == ("bounded", lower, 3, "independence")
