"""Domains of many records, most of which a program does not tell apart: answers and costs."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction as F
from itertools import product
from typing import Any

import pytest

from tightdp import Instance, Int, Mechanism, QueryError, flip, geometric, mechanism
from tightdp.language import interp
from tightdp.language.neighbours import relation_of
from work import counted


@mechanism(record=Int(-12, 12))
def above(x):  # type: ignore[no-untyped-def]
    return (x[0] > 3) ^ flip("1/4"), len(x)


@mechanism(record=Int(-12, 12))
def rest(x):  # type: ignore[no-untyped-def]
    return geometric(sum(x) % 3, "1/2", 0, 2)


@mechanism(record=Int(-12, 12))
def largest(x):  # type: ignore[no-untyped-def]
    return geometric(max(x) // 6, "1/3", -2, 2)


@mechanism(record=Int(-12, 12))
def tenths(x):  # type: ignore[no-untyped-def]
    return tuple(v // 10 if flip("2/3") else -v // 10 for v in x)


@mechanism(record=Int(-12, 12))
def unseen(x):  # type: ignore[no-untyped-def]
    return flip("1/3") and x[0] - x[0] == 0


@mechanism(record=Int(-12, 12))
def apart(x):  # type: ignore[no-untyped-def]
    return x[0] if flip("1/2") else 0


MORE = ("replace-one", "unit-all")
EVERY = [above, rest, largest, tenths, unseen, apart]


def ranked(instance: Instance) -> Counter[Any]:
    """How many triples have which likelihood ratio, by brute force."""
    bound = instance.bound
    laws = {x: interp.law(bound, x) for x in product(bound.record.values, repeat=bound.n)}
    found: Counter[Any] = Counter()
    for x, law in laws.items():
        for other in relation_of(bound).neighbours(x):
            found.update(p / q if (q := laws[other].get(y, 0)) else math.inf for y, p in law.items())
    return found


@pytest.mark.one_in(8)
@pytest.mark.parametrize(
    "neighbours", ["unit-step", *(pytest.param(each, marks=pytest.mark.slow(seconds=1)) for each in MORE)]
)
@pytest.mark.parametrize("made", EVERY, ids=lambda made: str(made.name))
def test_ratios_their_tallies_and_their_witness_are_those_of_brute_force(made: Mechanism, neighbours: str) -> None:
    for n in (1, 2):
        wanted, witnesses = ranked(made.bind(n=n, neighbours=neighbours)), set()
        for method in (None, "elimination", "chain", "orbits", "exhaustive"):
            try:
                one = made.bind(n=n, neighbours=neighbours, method=method)
                found = one.privacy(top=1 if method == "chain" else 3)
            except QueryError:
                continue
            assert found.exp_epsilon == max(wanted)
            witnesses.add((found.witness.x, found.witness.x_prime, found.witness.output))
            for row in found.top if method not in ("chain", None) else ():
                assert row.triples in (None, wanted[row.exp_epsilon]), method
        assert len(witnesses) == 1


@mechanism(record=Int(0, 1000))
def noisy_comparison(x):  # type: ignore[no-untyped-def]
    return (x[0] > 500) ^ flip("1/4")


@mechanism(record=Int(0, 1000))
def plain_sum(x):  # type: ignore[no-untyped-def]
    return sum(x)


@mechanism(record=Int(0, 1000))
def no_difference(x):  # type: ignore[no-untyped-def]
    return x[0] - x[-1]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("made", "n", "ratio"),
    [(noisy_comparison, 1, 3), (plain_sum, 1, math.inf), (plain_sum, 2, math.inf), (no_difference, 1, 1)],
)
def test_a_thousand_records_take_no_longer_than_their_runs(made: Mechanism, n: int, ratio: F) -> None:
    with counted() as work:
        assert made.bind(n=n).privacy().exp_epsilon == ratio
    assert work.calls < 50_000_000
