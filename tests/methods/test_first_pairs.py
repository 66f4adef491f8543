"""An infinite ratio is found on a few pairs of neighbours, before methods that take much work."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from tightdp import Bit, Int, ProgramError, QueryError, flip, geometric, mechanism
from tightdp.language.interp import law
from tightdp.methods import program

FORTY = Int(0, 39)


@mechanism(record=FORTY)
def stable_histogram(x: Any) -> Any:
    counts: dict[int, int] = {}
    for v in x:
        counts[v] = counts.get(v, 0) + 1
    out = {}
    for v in counts:
        noisy = geometric(counts[v], "1/2", 0, 4)
        if noisy >= 2:
            out[v] = noisy
    return out


@mechanism(record=FORTY)
def stable_list(x: Any) -> Any:
    out = []
    for k in range(40):
        count = x.count(k)
        if count and (noisy := geometric(count, "1/2", 0, 4)) >= 2:
            out.append((k, noisy))
    return tuple(out)


@mechanism(record=Bit)
def response(x: Any) -> Any:
    return tuple(1 - b if flip("1/3") else b for b in x)


@mechanism(record=Bit)
def fails_elsewhere(x: Any) -> Any:
    return (x[0], 1 // (2 - sum(x[1:])))


@mechanism(record=Bit)
def turned(x: Any) -> Any:
    total = geometric(0, "1/2")
    for v in x:
        total = v - total
    return total


def assert_never_elsewhere(instance: Any, found: Any) -> None:
    """The output of the witness has the probability that is said, and never occurs on the neighbour."""
    witness = found.witness
    ours, theirs = (law(instance.bound, x) for x in (witness.x, witness.x_prime))
    assert ours[witness.output] == witness.probability > 0
    assert witness.output not in theirs


@pytest.mark.slow(seconds=2)
def test_a_stable_histogram_of_a_large_domain_is_not_private() -> None:
    found = stable_histogram.bind(n=3).privacy()
    assert (found.status, found.exp_epsilon, found.stats.method) == ("exact", math.inf, "first pairs")
    assert_never_elsewhere(stable_histogram.bind(n=3), found)


def test_a_few_pairs_decide_before_a_long_lowering_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_DECIDED", (20_000, 400_000))
    found = stable_list.bind(n=2).privacy()
    assert (found.status, found.exp_epsilon, found.stats.method) == ("exact", math.inf, "a few pairs")
    assert_never_elsewhere(stable_list.bind(n=2), found)
    monkeypatch.setattr(program, "_DECIDED", (0, 400_000))
    assert response.bind(n=3).privacy().exp_epsilon == 2


def test_a_private_program_is_left_to_other_methods() -> None:
    with pytest.raises(QueryError, match="none of a few pairs of neighbours has an infinite ratio"):
        response.bind(n=3, method="first pairs").privacy()


def test_a_run_that_fails_is_left_to_other_methods() -> None:
    with pytest.raises(ProgramError, match="division by zero"):
        fails_elsewhere.bind(n=3, method="first pairs").privacy()


def test_laws_are_not_compared_where_tails_begin_elsewhere() -> None:
    instance = turned.bind(n=11)
    assert instance.privacy().exp_epsilon == 2
    with pytest.raises(QueryError, match="first pairs does not apply: an output stands for several"):
        turned.bind(n=11, method="first pairs").privacy()
    rows = instance.likelihood((0,) * 11, (1,) + (0,) * 10).rows
    assert {row.ratio for row in rows} == {Fraction(1, 2), 2}
