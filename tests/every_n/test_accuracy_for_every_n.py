"""Accuracy for every n: only where the error has one law, whatever the records are."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tightdp import ALL, Mechanism, QueryError, flip, geometric, mechanism


@mechanism(target=sum)
def estimate(x, lam):
    """A noisy count, of bits that are told as they are, or through randomized response."""
    return geometric(sum(v ^ flip(lam) for v in x), "1/2")


def test_the_error_of_a_noisy_sum_is_the_same_for_every_n() -> None:
    told = estimate.bind(n=ALL, lam=0)
    assert told.accuracy(2).one_minus_beta == estimate.bind(n=5, lam=0).accuracy(2).one_minus_beta == Fraction(5, 6)
    assert told.accuracy(beta="1/10").alpha == 3
    assert told.verify(alpha=2, beta="1/6").holds is True
    assert told.verify(alpha=2, beta="1/7").holds is False
    with pytest.raises(QueryError, match="one claim"):
        told.verify(alpha=2, beta="1/6", epsilon=1)
    for ask in (lambda made: made.accuracy(2), lambda made: made.verify(alpha=2, beta="1/6")):
        with pytest.raises(QueryError, match="every n"):
            ask(estimate.bind(n=ALL, lam="1/4"))


@mechanism(target=sum)
def clamped(x):
    """The error of what is clamped depends on the count."""
    return max(0, geometric(sum(x), "1/2"))


@mechanism(target=sum)
def doubled(x):
    """Not the sum itself."""
    return geometric(2 * sum(x), "1/2")


@mechanism(target=max)
def largest(x):
    """Another target."""
    return geometric(max(x), "1/2")


@pytest.mark.parametrize("made", [clamped, doubled, largest])
def test_errors_that_depend_on_the_records_are_refused(made: Mechanism) -> None:
    with pytest.raises(QueryError, match="every n"):
        made.bind(n=ALL).accuracy(1)
