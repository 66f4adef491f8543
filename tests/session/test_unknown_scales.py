"""Real noise whose scale is unknown: its tight ε as a function, beside numbers and closed forms."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tightdp import Bit, Int, Mechanism, exponential, flip, laplace, mechanism, uniform
from tightdp.errors import TightdpError
from tightdp.exact.field import ExpNumber
from tightdp.exact.polynomials import naming

VALUES = [Fraction(1, 3), Fraction(1), Fraction(9, 2)]


@mechanism(record=Int(-1, 1), neighbours="unit-all")
def noisy_max(x: Any, eps: Any) -> Any:
    noisy = [laplace(query, 2 / eps) for query in x]
    return noisy.index(max(noisy))


@mechanism(record=Int(-1, 1), neighbours="unit-all")
def noisy_max_exponential(x: Any, eps: Any) -> Any:
    noisy = [exponential(query, 2 / eps) for query in x]
    return noisy.index(max(noisy))


@mechanism(record=Int(-1, 1), neighbours="unit-all")
def above_threshold(x: Any, eps: Any) -> Any:
    threshold = laplace(0, 2 / eps)
    for at, query in enumerate(x):
        if laplace(query, 4 / eps) >= threshold:
            return at
    return None


@mechanism(record=Bit)
def sign(x: Any, eps: Any) -> Any:
    return laplace(x[0], eps) > 0


@mechanism(record=Bit)
def beside_a_coin(x: Any, eps: Any) -> Any:
    return laplace(x[0], 1 / eps) > uniform(0, 1) if flip("1/3") else flip(1 / (1 + eps))


@mechanism(record=Bit)
def count(x: Any, eps: Any) -> Any:
    return laplace(sum(x), 1 / eps), laplace(x[0], 2 / eps)


@mechanism(record=Bit)
def sum_of_two(x: Any, eps: Any) -> Any:
    return laplace(x[0], 1 / eps) + laplace(0, 1 / eps)


def at(found: Any, value: Fraction) -> float:
    part = found.part(value).value
    return (
        float(part.to_sympy().subs({"x": value, "eps": value}).evalf(20))
        if isinstance(part, ExpNumber)
        else float(part)
    )


@pytest.mark.parametrize(
    ("made", "n"),
    [
        (noisy_max, 2),
        (noisy_max_exponential, 2),
        (above_threshold, 2),
        (sign, 1),
        (beside_a_coin, 1),
        (count, 2),
        (sum_of_two, 1),
    ],
)
def test_it_is_that_of_numbers(made: Mechanism, n: int) -> None:
    found = made.bind(n=n, eps="?").privacy()
    for value in VALUES:
        assert at(found, value) == pytest.approx(float(made.bind(n=n, eps=value).privacy().exp_epsilon), rel=1e-12)


def test_closed_forms() -> None:
    expected = {(noisy_max, 2): "2*exp(eps)/(2 + eps)", (sign, 1): "exp(1/eps)", (count, 1): "exp(3*eps/2)"}
    for (made, n), value in expected.items():
        found = made.bind(n=n, eps="?").privacy()
        (part,) = found.pieces
        with naming(found.unknown):
            assert str(part.value) == value


def test_claims_are_decided_for_all_scales() -> None:
    assert noisy_max.bind(n=2, eps="?").verify(epsilon="eps").holds
    refuted = noisy_max.bind(n=2, eps="?").verify(epsilon="eps/2")
    assert refuted.holds is False
    (span,) = noisy_max.bind(n=2, eps="?").solve(epsilon=1).holds
    assert noisy_max.bind(n=2, eps=span.safe_stop).verify(epsilon=1).holds
    assert noisy_max.bind(n=2, eps=span.safe_stop + Fraction(1, 500)).verify(epsilon=1).holds is False


def test_what_is_not_in_reach_is_refused() -> None:
    with pytest.raises(TightdpError):
        count.bind(n=1, eps="?").delta(exp_epsilon=2)


def test_a_claim_fails_at_a_value_where_not_all_values_are_decided() -> None:
    """1/eps stands in the exponent of the mechanism, eps in that of the claim: it holds from 1 on."""

    @mechanism(record=Bit)
    def inverse(x, eps):
        return laplace(x[0], eps) > 1

    found = inverse.bind(n=1, eps="?[1/4,3]").verify(epsilon="eps")
    assert found.holds is False
    value = Fraction(found.parameters["eps"])
    assert inverse.bind(n=1, eps=value).verify(epsilon=value).holds is False
    with pytest.raises(TightdpError, match="the unknown and its inverse stand in exponents"):
        inverse.bind(n=1, eps="?[2,3]").verify(epsilon="eps")


@pytest.mark.parametrize("claimed", ["eps/2", "eps/8"])
@pytest.mark.parametrize("made", [noisy_max, noisy_max_exponential, above_threshold, sign, count, sum_of_two])
def test_a_claim_that_fails_somewhere_has_the_tight_value_there(made: Mechanism, claimed: str) -> None:
    n = 2 if made in (noisy_max, noisy_max_exponential, above_threshold) else 1
    found = made.bind(n=n, eps="?").verify(epsilon=claimed)
    if found.holds:
        return
    value = found.subject.parameters[-1][1]
    (claim,) = found.claims
    numeric = made.bind(n=n, eps=value).privacy()
    assert claim.tight == numeric.exp_epsilon > claim.claimed
    if hasattr(numeric.witness, "probability"):
        assert claim.witness.probability == claim.tight * claim.witness.probability_prime
