"""Claims about ε for every n and all values of an unknown: proofs as functions of it, and refutations."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from small_mechanisms import above_threshold
from tightdp import ALL, Int, QueryError, exp, exponential, flip, laplace, mechanism
from tightdp.exact.field import exp as exact_exp
from tightdp.results import Verification
from tightdp.session import enclosing

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


@pytest.mark.one_in(4)
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


@pytest.mark.slow(seconds=2)
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
def test_what_is_not_known_says_so(monkeypatch):
    monkeypatch.setattr(enclosing, "_WORK", 0)  # with more the claim fails at n = 5
    found = sparse_vector.bind(n=ALL, eps="?").verify(epsilon="9*eps/10")
    assert found.holds is None
    assert found.status == "unresolved"
    assert "n = 4" in found.reason
    with pytest.raises(QueryError, match="unknown eps"):
        noisy_max.bind(n=ALL, eps="?").privacy(delta="1/10")
    with pytest.raises(QueryError, match="delta = 0"):
        noisy_max.bind(n=ALL, eps="?").verify(epsilon=1, delta="1/10")


def test_upper_ends_are_functions_beside_lower_ends():
    """At a value of the unknown both are what is found there."""
    found = sparse_vector.bind(n=ALL, eps="?").privacy()
    assert (found.status, [each.n for each in found.lower]) == ("bounded", [1, 2, 3])
    (part,) = found.pieces
    assert part.stop.value == math.inf
    value = Fraction(1, 2)
    assert sparse_vector.bind(n=ALL, eps=value).verify(epsilon=value).found.upper == exact_exp(value)
    assert "at most e^eps" in str(found)
    for each in found.lower:
        tight = sparse_vector.bind(n=each.n, eps=value).privacy()
        assert each.found.part(value).witness.x == tight.witness.x


@pytest.mark.slow(seconds=2)
def test_what_some_n_attains_is_exact():
    found = lies.bind(n=ALL, eps="?").privacy()
    assert (found.status, [each.n for each in found.lower]) == ("exact", [1])


@pytest.mark.slow(seconds=3)
def test_values_for_which_a_claim_holds_are_enclosed():
    found = sparse_vector.bind(n=ALL, eps="?").solve(epsilon=1)
    (proved,), (possible,) = found.holds, found.not_refuted
    assert (found.status, found.n, proved.stop.value) == ("bounded", 3, 1)
    safe, beyond = proved.safe_stop, possible.safe_stop + Fraction(1, 100)
    assert sparse_vector.bind(n=ALL, eps=safe).verify(epsilon=1).holds
    assert sparse_vector.bind(n=3, eps=possible.safe_stop).verify(epsilon=1).holds
    assert sparse_vector.bind(n=3, eps=beyond).verify(epsilon=1).holds is False
    assert "not refuted at n = 3" in str(found)


@pytest.mark.slow(seconds=2)
def test_values_for_which_a_claim_holds():
    exact = lies.bind(n=ALL, eps="?").solve(epsilon=1)
    assert (exact.status, exact.not_refuted, exact.holds[0].stop.value) == ("exact", None, 1)


def drawn_again(x, eps):
    """What is above a threshold that is drawn again, without an end: private up to n = 4, and not for every n."""
    t, told = laplace(0, 2 / eps), []
    for query in x:
        if laplace(query, 4 / eps) >= t:
            told.append(True)
            t = laplace(0, 2 / eps)
        else:
            told.append(False)
    return tuple(told)


@pytest.mark.slow(seconds=4)
def test_a_claim_that_fails_for_larger_n_is_refuted_at_one_value():
    found = mechanism(record=Int(-1, 1), neighbours="unit-all")(drawn_again).bind(n=ALL, eps="?").verify(epsilon="eps")
    assert found.holds is False
    assert found.found.proof == "growth"


def test_what_is_about_something_else_is_refused():
    unknown = lies.bind(n=ALL, eps="?")
    for ask in (
        lambda: unknown.privacy(delta="1/10"),
        lambda: unknown.solve(epsilon=1, alpha=1, best="accuracy"),
        lambda: unknown.verify(epsilon=1, delta="1/10"),
    ):
        with pytest.raises(QueryError):
            ask()


@mechanism(record=Int(0, 1))
def sign_of_noisy_sum(x, eps):
    return laplace(sum(x), 1 / eps) > 0


@pytest.mark.parametrize(
    "program",
    [
        lambda: sign_of_noisy_sum.bind(n=1, eps="?"),
        pytest.param(lambda: sparse_vector.bind(n=ALL, eps="?"), marks=pytest.mark.slow(seconds=4)),
    ],
)
def test_a_claim_slightly_below_is_refuted(program):
    """With the claim the unknown stands for another number in exponents than it does in the answer."""
    found = program().verify(epsilon="99*eps/100")
    assert found.holds is False
    assert found.parameters["eps"] == 1
