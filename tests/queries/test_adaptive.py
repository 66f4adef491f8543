"""The most that neighbours chosen anew in every run lose, against every strategy listed by hand."""

from __future__ import annotations

import random
from fractions import Fraction as F
from itertools import product

import pytest

from tightdp import Bit, flip, mechanism
from tightdp.queries.composition.pairs import DominatingPair, merged, optimum, optimum_least


def unwatched() -> None:
    """No limit."""


def drawn(source: random.Random) -> DominatingPair:
    """A pair of laws on three outcomes, some of which one of them never gives."""
    sides = [[source.randint(0, 4) for _ in range(3)] for _ in range(2)]
    ours, theirs = ([F(weight, sum(side) or 1) for weight in side] for side in sides)
    if not sum(ours) or not sum(theirs):
        return drawn(source)
    return merged(zip(ours, theirs, strict=True))


def by_strategies(first: list[DominatingPair], second: list[DominatingPair], t: F) -> F:
    """δ(t) of the best of all ways to choose a pair, and then a pair for each of its outcomes."""
    best = F(0)
    for pair in first:
        for chosen in product(second, repeat=len(pair.outcomes)):
            joint = [
                (p * a, q * b) for (p, q), then in zip(pair.outcomes, chosen, strict=True) for a, b in then.outcomes
            ]
            best = max(best, sum((max(F(0), p - t * q) for p, q in joint), F(0)))
    return best


@pytest.mark.parametrize("seed", range(40))
def test_it_is_the_best_strategy(seed: int) -> None:
    source = random.Random(seed)
    first, second = ([drawn(source) for _ in range(source.randint(1, 3))] for _ in range(2))
    choices = ((tuple(first), 1), (tuple(second), 1))
    for t in (F(0), F(1, 2), F(1), F(3, 2), F(3)):
        assert optimum(choices, t, unwatched) == by_strategies(first, second, t)
    bar = F(source.randint(1, 9), 20)
    least = optimum_least(choices, bar, F(1), unwatched)
    if least is None:
        assert by_strategies(first, second, F(10**9)) > bar
        return
    assert by_strategies(first, second, least) <= bar
    assert least == 1 or by_strategies(first, second, least * (1 - F(1, 10**9))) > bar


@mechanism(record=Bit)
def count(x, lam):  # type: ignore[no-untyped-def]
    return sum(1 - b if flip(lam) else b for b in x)


@pytest.mark.slow(seconds=3)
def test_few_runs_are_close_from_above() -> None:
    """The dominating pair alone gives 0.38707; whoever chooses anew in every run gets 0.34831."""
    found = count.bind(n=5, lam="1/5").privacy_loss().compose(3).delta(exp_epsilon=2)
    assert found.status == "bounded"
    assert (float(found.lower), float(found.delta)) == (0.316766722981888, 0.348319045910528)
    assert count.bind(n=5, lam="1/5").privacy_loss().compose(100).delta(exp_epsilon=2).status == "bounded"
