"""Accuracy with an error relative to the target, by every kind of number, beside plain counting."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction as F
from itertools import product
from typing import Any

import pytest

from tightdp import Bit, Instance, Int, QueryError, discrete_gaussian, flip, geometric, mechanism


@mechanism(record=Bit, target=sum)
def responses(x: Sequence[int], lam: Any) -> int:
    return sum(1 - b if flip(lam) else b for b in x)


@mechanism(record=Bit, target=sum)
def unbiased(x: Sequence[int], lam: Any) -> Any:
    """Five thirds of the count, less its mean on zeros; never in the middle of two integers."""
    return sum(1 - b if flip(lam) else b for b in x) * F(5, 3) - F(len(x), 3)


@mechanism(record=Int(0, 3), target=lambda x: sum(x) - 2)
def noisy(x: Sequence[int], ratio: Any) -> int:
    return geometric(sum(x) - 2, ratio, -2, 3 * len(x))


@mechanism(record=Bit, target=sum)
def endless(x: Sequence[int], ratio: Any) -> int:
    return geometric(sum(x), ratio)


@mechanism(record=Bit, target=sum)
def gaussian(x: Sequence[int], sigma_squared: Any) -> int:
    return discrete_gaussian(sum(x), sigma_squared)


def errors(instance: Instance, x: Sequence[int]) -> dict[F, F]:
    """The law of the relative error, from the law of the output."""
    target = F(instance.bound.program.target(x))  # type: ignore[misc]
    found: dict[F, F] = defaultdict(F)
    for output, mass in instance.distribution(x).law:
        found[abs(output - target) / max(F(1), abs(target))] += mass  # type: ignore[operator]
    return found


def datasets(instance: Instance) -> list[tuple[int, ...]]:
    return list(product(instance.bound.record.values, repeat=instance.n))


CASES = [(responses, {"lam": "1/5"}), (unbiased, {"lam": "1/5"}), (noisy, {"ratio": "1/2"})]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize(("program", "parameters"), CASES, ids=lambda value: getattr(value, "name", ""))
def test_it_is_the_least_probability_over_datasets(program: Any, parameters: dict[str, str], n: int) -> None:
    instance = program.bind(n=n, **parameters)
    laws = [errors(instance, x) for x in datasets(instance)]
    for alpha in (F(0), F(1, 3), F(1, 2), F(1), F(2)):
        wanted = min(sum(mass for error, mass in law.items() if error <= alpha) for law in laws)
        assert instance.accuracy(alpha, relative=True).one_minus_beta == wanted
    for beta in (F(0), F(1, 10), F(1, 3)):
        wanted = max(min(e for e in law if sum(m for a, m in law.items() if a <= e) >= 1 - beta) for law in laws)
        assert instance.accuracy(beta=beta, relative=True).alpha == wanted


def test_it_counts_the_numbers_of_tails() -> None:
    """Beyond 6 noise on all integers is one output of the law, of which accuracy knows the parts."""
    ratio = F(1, 2)
    instance = endless.bind(n=8, ratio=ratio)
    found = instance.accuracy(3, relative=True, top=9)
    assert found.one_minus_beta == 1 - 2 * ratio**4 / (1 + ratio)  # at targets 0 and 1 an error of 3, one by one
    assert found.top[-1].one_minus_beta == 1 - 2 * ratio**25 / (1 + ratio)
    assert instance.accuracy(beta=2 * ratio**4 / (1 + ratio), relative=True).alpha == 3


def test_as_a_function_of_an_unknown_it_has_the_values_at_numbers() -> None:
    found = unbiased.bind(n=3, lam="?[0,1/2]").accuracy("1/2", relative=True)
    for lam in (F(1, 10), F(1, 5), F(2, 5)):
        part = found.part(lam)
        assert part is not None
        value = part.value if isinstance(part.value, F) else part.value.at(lam)
        assert value == unbiased.bind(n=3, lam=lam).accuracy("1/2", relative=True).one_minus_beta
    assert "max(1, |target|)" in str(found)
    assert found.to_dict()["result"]["relative"] is True


def test_gaussian_noise_is_enclosed() -> None:
    instance = gaussian.bind(n=4, sigma_squared=2)
    least = instance.accuracy("1/2", relative=True)
    plain = instance.accuracy(0)  # at the targets 0 and 1 nothing else is within a half
    assert (least.status, least.lower, least.upper) == ("bounded", plain.lower, plain.upper)
    assert instance.accuracy(beta="1/10", relative=True).alpha == instance.accuracy(beta="1/10").alpha


@pytest.mark.parametrize("alpha", [3, 4])
def test_an_enclosure_for_many_records_holds_the_exact_value(alpha: int) -> None:
    exact = unbiased.bind(n=40, lam="1/5").accuracy(alpha, relative=True)
    found = unbiased.bind(n=40, lam="1/5", precision="1/1000000").accuracy(alpha, relative=True)
    assert (exact.status, found.status) == ("exact", "bounded")
    assert found.lower <= exact.one_minus_beta <= found.upper  # type: ignore[operator]
    assert found.x == exact.x or sum(found.x or ()) <= 1


def test_where_doubles_are_not_close_enough_exact_laws_are_listed() -> None:
    """The least probability is 5^-60, far below the masses that an enclosure keeps."""
    found = responses.bind(n=60, lam="4/5", precision="1/1000").accuracy(0)
    assert (found.status, found.one_minus_beta) == ("exact", responses.bind(n=60, lam="4/5").accuracy(0).one_minus_beta)


def test_thousands_of_records_take_no_law() -> None:
    found = responses.bind(n=4_000, lam="1/100").accuracy(40, relative=True)
    assert found.status == "bounded"
    assert found.upper - found.lower <= found.upper / 10**9


def test_for_every_n_it_is_refused() -> None:
    with pytest.raises(QueryError, match="depends on the target"):
        endless.bind(n="all", ratio="1/2").accuracy(1, relative=True)
