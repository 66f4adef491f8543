"""Claims about ε for every n and all values of an unknown: proofs as functions of it, and refutations."""

from __future__ import annotations

from fractions import Fraction

import pytest

from small_mechanisms import above_threshold
from tightdp import ALL, Int, QueryError, exp, exponential, flip, laplace, mechanism
from tightdp.results import Verification

answers = mechanism(record=Int(0, 1), neighbours="unit-all")


@answers
def noisy_max(x, eps):
    noisy = [laplace(query, 2 / eps) for query in x]
    return noisy.index(max(noisy))


@answers
def exponential_max(x, eps):
    noisy = [exponential(query, 2 / eps) for query in x]
    return noisy.index(max(noisy))


sparse_vector = answers(above_threshold)


@mechanism(record=Int(0, 1))
def lies(x, eps):
    return tuple(1 - bit if flip(1 / (1 + exp(eps))) else bit for bit in x)


@mechanism(record=Int(0, 1))
def sum_with_another_scale(x, eps):
    """With more noise for large ε: the proof is another one there."""
    return laplace(sum(x), 1 if eps > 3 else 1 / eps)


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(noisy_max, marks=pytest.mark.slow(seconds=3)),
        exponential_max,
        sparse_vector,
        lies,
        sum_with_another_scale,
    ],
)
def test_claims_hold_for_every_n_and_every_value(program):
    found = program.bind(n=ALL, eps="?").verify(epsilon="eps")
    assert isinstance(found, Verification)
    assert found.holds
    assert dict(found.subject.parameters)["n"] == ALL
    for value in (Fraction(1, 2), 4):
        one = program.bind(n=ALL, eps=value).verify(epsilon=value)
        assert one.holds


@pytest.mark.parametrize(
    ("program", "claim"),
    [pytest.param(noisy_max, "eps/2", marks=pytest.mark.slow(seconds=2)), (sparse_vector, "eps/4"), (lies, "1")],
)
def test_what_fails_fails_at_some_n_and_value(program, claim):
    found = program.bind(n=ALL, eps="?").verify(epsilon=claim)
    assert found.holds is False
    named = dict(found.subject.parameters)
    n, value = named["n"], named["eps"]
    bound = {"eps/2": Fraction(value) / 2, "eps/4": Fraction(value) / 4, "1": 1}[claim]
    assert program.bind(n=n, eps=value).verify(epsilon=bound).holds is False


@pytest.mark.slow(seconds=2)
def test_what_is_not_known_says_so():
    found = sparse_vector.bind(n=ALL, eps="?").verify(epsilon="9*eps/10")
    assert found.holds is None
    assert found.status == "unresolved"
    assert "n = 4" in found.reason
    with pytest.raises(QueryError, match="unknown eps"):
        noisy_max.bind(n=ALL, eps="?").privacy()
    with pytest.raises(QueryError, match="delta = 0"):
        noisy_max.bind(n=ALL, eps="?").verify(epsilon=1, delta="1/10")
