"""Compositions of pairs of laws: exact ones against a listing of all runs, enclosed ones against exact ones."""

from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from symmetry_oracle import meaning
from tightdp import Int, choice, mechanism
from tightdp.errors import ParameterError, QueryError
from tightdp.language.neighbours import relation_of
from tightdp.queries.composition.grid import above, below, grid_for
from tightdp.queries.composition.lattice import Runs, compose_on_lattice
from tightdp.queries.composition.loss import Direction, Losses
from tightdp.queries.composition.pairs import DominatingPair, merged, pair_of_hull

THRESHOLDS = (F(0), F(1, 3), F(1), F(3, 2), F(4), F(17))
RESPONSE = merged([(F(4, 5), F(1, 5)), (F(1, 5), F(4, 5))])


@st.composite
def pairs(draw: st.DrawFn, finite: bool = False) -> DominatingPair:
    weights = st.lists(st.integers(int(finite), 6), min_size=2, max_size=4).filter(any)
    p, q = draw(weights), draw(weights)
    size = min(len(p), len(q))
    p, q = p[:size], q[:size]
    if not any(p) or not any(q):
        p, q = [1] * size, [1] * size
    return merged((F(a, sum(p)), F(b, sum(q))) for a, b in zip(p, q, strict=True))


def listed_delta(runs: Runs, t: F) -> F:
    """δ of a composition by listing every outcome of every run."""
    each = [pair.outcomes for pair, times in runs for _ in range(times)]
    total = F(0)
    for outcome in product(*each):
        p, q = (math.prod((side[at] for side in outcome), start=F(1)) for at in (0, 1))
        total += max(F(0), p - t * q)
    return total


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(pairs(), st.integers(1, 2)), min_size=1, max_size=3))
def test_exact_composition_is_that_of_all_runs(runs: list[tuple[DominatingPair, int]]) -> None:
    composed = compose_on_lattice(tuple(runs))
    assert composed is not None
    assert [composed.delta(t) for t in THRESHOLDS] == [listed_delta(tuple(runs), t) for t in THRESHOLDS]


@settings(max_examples=60, deadline=None)
@given(pairs(), st.integers(1, 4), st.fractions(0, 1, max_denominator=50))
def test_least_inverts_delta(pair: DominatingPair, times: int, delta: F) -> None:
    composed = compose_on_lattice(((pair, times),))
    assert composed is not None
    least = composed.least(delta)
    if least == math.inf:
        assert composed.certain > delta
    else:
        assert composed.delta(F(least)) <= delta
        assert least == 1 or composed.delta(F(least)) == delta or composed.delta(F(least) * F(999, 1000)) > delta


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(pairs(), st.integers(1, 6)), min_size=1, max_size=2))
def test_the_grid_encloses(runs: list[tuple[DominatingPair, int]]) -> None:
    kept = tuple((pair, times) for pair, times in runs if pair.finite)
    exact = compose_on_lattice(kept)
    assert exact is not None
    grid = grid_for(kept, 256)
    low, high = below(kept, grid), above(kept, grid)
    for t in THRESHOLDS:
        assert low.delta(t) <= exact.delta(t) <= high.delta(t)


def test_a_fine_grid_is_close() -> None:
    runs = ((merged([(F(3, 10), F(1, 10)), (F(1, 2), F(3, 10)), (F(1, 5), F(6, 10))]), 50),)
    exact, grid = compose_on_lattice(runs), grid_for(runs, 1 << 16)
    assert exact is not None
    ends = below(runs, grid), exact, above(runs, grid)
    for delta in (F(1, 10**3), F(1, 10**9), F(1, 10**15)):
        low, true, high = (float(end.least(delta)) for end in ends)
        assert low * 0.99 < true < high * 1.01
        assert math.log(high / low) < 0.01


def test_a_thousand_runs_of_randomized_response() -> None:
    composed = compose_on_lattice(((RESPONSE, 1000),))
    assert composed is not None
    expected = sum(
        math.comb(1000, right) * max(F(0), F(4) ** right - F(4) ** 100 * F(4) ** (1000 - right)) / F(5) ** 1000
        for right in range(1001)
    )
    assert composed.delta(F(4) ** 100) == expected


def test_a_delta_far_below_a_float() -> None:
    """e^ε0 = 2, a hundred runs, ε = 98 ln 2: only the two best outcomes count."""
    pair = merged([(F(2, 3), F(1, 3)), (F(1, 3), F(2, 3))])
    composed = compose_on_lattice(((pair, 100),))
    assert composed is not None
    assert composed.delta(F(2) ** 98) == F(2**100 - 2**98, 3**100)


def test_pairs_of_hulls() -> None:
    assert pair_of_hull([(F(0), F(1, 10)), (F(1, 5), F(4, 5)), (F(1), F(1))]).outcomes == (
        (F(1, 10), F(0)),
        (F(7, 10), F(1, 5)),
        (F(1, 5), F(4, 5)),
    )
    with pytest.raises(ParameterError, match="do not sum to 1"):
        DominatingPair(((F(1, 2), F(1)),))


@settings(max_examples=200, deadline=None)
@given(pairs(), pairs())
def test_a_pair_below_another_one_has_nowhere_a_larger_delta(one: DominatingPair, other: DominatingPair) -> None:
    kinks = {p / q for pair in (one, other) for p, q in pair.outcomes if q} | {F(10**6)}
    deltas = [[listed_delta(((pair, 1),), t) for t in kinks] for pair in (one, other)]
    assert one.below(other) == all(a <= b for a, b in zip(*deltas, strict=True))
    assert one.below(one)


@settings(max_examples=40, deadline=None)
@given(pairs(), st.fractions("1/10", 1, max_denominator=10), st.integers(1, 3))
def test_samples_of_both_directions(pair: DominatingPair, rate: F, times: int) -> None:
    """A sample mixes the laws on the side where the record is present."""
    both = tuple(
        Direction(name, ((given_pair, 1),), (((given_pair, 1),),), (((given_pair, 1),),))
        for name, given_pair in (("remove", pair), ("add", pair.reversed()))
    )
    losses = Losses(both).sampled(rate).repeated(times)
    mixed = [(rate * p + (1 - rate) * q, q) for p, q in pair.outcomes]
    runs = [((merged(mixed), times),), ((merged((q, p) for p, q in mixed), times),)]
    for t in (F(1), F(3, 2), F(4)):
        assert losses.delta(t) == (max(listed_delta(each, t) for each in runs),) * 2


def test_samples_need_records_that_come_and_go() -> None:
    losses = Losses((Direction("replace", ((RESPONSE, 1),), (((RESPONSE, 1),),)),))
    with pytest.raises(QueryError, match="presence of one record"):
        losses.sampled(F(1, 2))


def test_an_envelope_is_bounded_by_real_pairs() -> None:
    """Two pairs, neither of which dominates the other: their envelope is above both."""
    one, other = merged([(F(9, 10), F(1, 2)), (F(1, 10), F(1, 2))]), merged([(F(1, 5), F(1, 50)), (F(4, 5), F(49, 50))])
    envelope = pair_of_hull([(F(1, 50), F(1, 5)), (F(1, 2), F(9, 10)), (F(1), F(1))])
    losses = Losses((Direction("replace", ((envelope, 1),), (((one, 1),), ((other, 1),))),))
    for t in (F(1), F(2), F(5)):
        assert len(set(losses.delta(t))) == 1
    lower, upper = losses.repeated(10).delta(F(10))
    assert lower == max(listed_delta(((pair, 10),), F(10)) for pair in (one, other))
    assert lower < upper < 1


@mechanism(record=Int(0, 3))
def middle(x):  # type: ignore[no-untyped-def]
    """The exponential mechanism on how far a value is from being the median."""
    away = [max(0, max(sum(v < c for v in x), sum(v > c for v in x)) - len(x) // 2) for c in range(4)]
    return choice(range(4), weights=[F(1, 2**a) for a in away])


def test_neighbours_that_others_dominate_are_no_choice() -> None:
    """Of 25 different pairs of neighbours seven are left: two runs are composed as the best adversary chooses them."""
    instance = middle.bind(n=3)
    loss = instance.privacy_loss().compose(2)
    laws = {x: meaning(instance.bound, x) or {} for x in product(range(4), repeat=3)}
    neighbours = ((laws[x], laws[other]) for x in laws for other in relation_of(instance.bound).neighbours(x))
    pairs = {tuple(sorted((p[y], q[y]) for y in p)) for p, q in neighbours}
    assert len(pairs) > 8

    def after_one(t: F) -> F:
        return max(sum((max(F(0), p - t * q) for p, q in pair), F(0)) for pair in pairs)

    for t in (F(1), F(3, 2), F(2)):
        best = max(sum((p * after_one(t * q / p) for p, q in pair), F(0)) for pair in pairs)
        found = loss.delta(exp_epsilon=t)
        assert 0 <= found.delta - best < F(1, 10**20)
        assert found.status == ("exact" if found.lower == best else "bounded")
