"""The bound by the noise that all records share holds for all datasets, and is near where that noise is most of it."""

from __future__ import annotations

import random
from fractions import Fraction as F
from itertools import combinations_with_replacement, permutations, product

import pytest

from tightdp import Int, flip, mechanism, randint
from tightdp.exact.scaled import power
from tightdp.queries.enclosed.counts import Letters, boxes_through
from tightdp.queries.enclosed.privacy import Bounds, Found, largest
from tightdp.queries.privacy import DeltaAt, LeastRatio

Law = dict[int, F]


def added(one: Law, other: Law) -> Law:
    total: Law = {}
    for a, p in one.items():
        for b, q in other.items():
            total[a + b] = total.get(a + b, F(0)) + p * q
    return total


def drawn(source: random.Random) -> list[Law]:
    """Laws with a part in common, perhaps shifted."""
    noise = {value: source.randint(1, 5) for value in range(source.randint(2, 4))}
    laws = []
    for _ in range(source.randint(2, 4)):
        own, shift = source.randint(-3, 5), source.choice([0, 0, 1, 4])
        weights = {value + shift: F(weight) for value, weight in noise.items()}
        weights[own] = weights.get(own, F(0)) + source.randint(0, 9)
        laws.append({value: weight / sum(weights.values()) for value, weight in weights.items() if weight})
    return laws


def excess(others: Law, before: Law, after: Law, t: F) -> F:
    ours, theirs = added(others, before), added(others, after)
    return sum((max(F(0), mass - t * theirs.get(value, F(0))) for value, mass in ours.items()), F(0))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(30))
def test_no_dataset_has_a_larger_delta(seed: int) -> None:
    source = random.Random(seed)
    laws, records = drawn(source), source.randint(1, 5)
    letters = Letters(laws, 1e-25)
    whole = letters.boxes(records)
    sums: list[Law] = []
    for some in combinations_with_replacement(laws, records):
        total: Law = {0: F(1)}
        for law in some:
            total = added(total, law)
        sums.append(total)
    t, bar = source.choice([F(1), F(5, 4), F(2)]), source.choice([1e-2, 1e-3])
    for move in permutations(range(len(laws)), 2):
        before, after = laws[move[0]], laws[move[1]]
        bounds = Bounds(letters, [move])
        assert bounds.delta_above(whole, move, float(t), 0.0) >= max(excess(one, before, after, t) for one in sums)
        ratio = bounds.enough(LeastRatio(F(bar)), whole, 1.0, lambda: None)
        if ratio < float("inf"):
            assert max(excess(one, before, after, F(ratio)) for one in sums) <= bar


def test_it_is_tight_where_all_records_add_the_same_noise() -> None:
    laws = [{v: F(1, 4), v + 1: F(1, 2), v + 2: F(1, 4)} for v in (0, 3, 1)]
    letters = Letters(laws, 1e-25)
    total: Law = {0: F(1)}
    for _ in range(40):
        total = added(total, laws[0])
    found = Bounds(letters, [(0, 1)]).delta_above(letters.boxes(40), (0, 1), 1.25, 0.0)
    assert 0 <= found / float(excess(total, laws[0], laws[1], F(5, 4))) - 1 < 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_halves_of_boxes_have_all_datasets(seed: int) -> None:
    source = random.Random(seed)
    letters = Letters(drawn(source), 1e-25)
    records, found = source.randint(0, 6), []
    boxes_through(letters.boxes(records), lambda box: False, found.append, lambda: None)
    size = len(letters.laws)
    assert sorted(found) == [some for some in product(range(records + 1), repeat=size) if sum(some) == records]


@pytest.mark.parametrize("seed", range(10))
def test_small_powers_are_rounded_once(seed: int) -> None:
    law, times = drawn(random.Random(seed))[0], 5
    total: Law = {0: F(1)}
    for _ in range(times):
        total = added(total, law)
    found = power(law, times, 1e-25)
    for at, weight in enumerate(found.weights.tolist()):
        exact = total.get(found.first + at, F(0))
        assert abs(F(weight) - exact) <= exact / 2**53
    assert F(found.weights.sum()) > 1 - F(1, 10**12)


def test_what_is_known_before_the_search_is_told() -> None:
    laws = drawn(random.Random(7))
    letters, moves = Letters(laws, 1e-25), list(permutations(range(len(laws)), 2))
    known: list[Found] = []
    found = largest(DeltaAt(F(5, 4), F(5, 4)), letters, moves, 4, 1e-9, lambda: None, known.append)
    assert [one.others is not None for one in known] == [True, True]
    assert known[0].lower <= found.lower <= found.upper <= known[1].upper < known[0].upper == 1


@mechanism(record=Int(0, 10))
def integers(x, lam):  # type: ignore[no-untyped-def]
    return sum(randint(0, 10) if flip(lam) else v for v in x)


@mechanism(record=Int(0, 3))
def fours(x, lam):  # type: ignore[no-untyped-def]
    return sum(randint(0, 3) if flip(lam) else v for v in x)


@pytest.mark.slow
def test_sums_of_ten_thousand_integers() -> None:
    found = integers.bind(n=10_000, lam="1/5").privacy(delta="1e-6")
    assert F("1.24036168") < found.lower < found.upper < found.lower * (1 + F(1, 10**9))


def test_sums_of_four_values() -> None:
    found = fours.bind(n=300, lam="1/5").privacy(delta="1e-6")
    assert found.witness is not None
    assert found.lower < found.upper < found.lower * (1 + F(1, 10**9))
