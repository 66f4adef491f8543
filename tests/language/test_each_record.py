"""Neighbours by a function of one record: the same as listed, for one n and for every n."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from small_mechanisms import above_threshold
from tightdp import ALL, EachRecord, Int, LanguageError, ParameterError, flip, mechanism
from tightdp.exact.field import exp

LARGER = EachRecord(lambda query: {min(query + 1, 1)})
SMALLER = EachRecord(lambda query: {max(query - 1, 0)})


def listed(x):
    """The same as LARGER, as a function of a dataset."""
    every = product(*((query, 1) if query == 0 else (query,) for query in x))
    return [other for other in every if other != tuple(x)]


def lies(x):
    """Lies more often about 1."""
    return tuple(flip("1/3") if query else flip("1/5") for query in x)


def test_neighbours_are_those_of_every_record():
    assert list(LARGER((0, 1, 0))) == [(0, 1, 1), (1, 1, 0), (1, 1, 1)]
    assert sorted(LARGER((0, 0))) == sorted(listed((0, 0)))


@pytest.mark.parametrize(("function", "given"), [(lies, {}), (above_threshold, {"scale": 2})])
def test_answers_are_those_of_a_listed_relation(function, given):
    for n in (1, 2):
        ours = mechanism(record=Int(0, 1), neighbours=LARGER)(function).bind(n=n, **given).privacy()
        theirs = mechanism(record=Int(0, 1), neighbours=listed)(function).bind(n=n, **given).privacy()
        assert (ours.exp_epsilon, ours.status) == (theirs.exp_epsilon, "exact")


@pytest.mark.slow(seconds=3)
def test_one_direction_has_an_answer_for_every_n():
    """Sparse vector with half of the noise on queries: what is enough where all of them move the same way."""
    for neighbours, value in ((LARGER, exp(1)), (SMALLER, exp(Fraction(1, 2))), ("unit-all", exp(Fraction(3, 2)))):
        made = mechanism(record=Int(0, 1), neighbours=neighbours)(above_threshold)
        found = made.bind(n=ALL, scale=2).verify(exp_epsilon=value)
        assert found.holds
        assert found.found.upper == value
        assert made.bind(n=3, scale=2).privacy().exp_epsilon <= value


def test_what_is_no_answer():
    with pytest.raises(LanguageError, match="function of one dataset"):
        mechanism(record=Int(0, 1), neighbours=listed)(above_threshold).bind(n=ALL).privacy()
    outside = EachRecord(lambda query: (query + 1,))
    for n in (1, ALL):
        with pytest.raises(ParameterError, match="is not a dataset"):
            mechanism(record=Int(0, 1), neighbours=outside)(above_threshold).bind(n=n).privacy()
