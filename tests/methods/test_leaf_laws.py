"""Laws given the values of leaves, by a diagram and by elimination; and programs that were slow by a diagram."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from tightdp import Bit, Int, QueryError, choice, flip, geometric, mechanism, observe
from tightdp.core.lowering import lower
from tightdp.core.passes import expand_shuffles
from tightdp.logic.encode import encode, prober
from tightdp.methods.base import Control
from tightdp.methods.compiled import cells
from tightdp.methods.leaf_laws import LeafLaws, leaf_laws


@mechanism(record=Int(0, 2))
def observed(x):  # type: ignore[no-untyped-def]
    noisy = [geometric(v, "1/2", 0, 2) for v in x]
    observe(sum(noisy) > 0)
    return (sum(x) % 2, noisy[0], flip("1/3") and max(noisy))


@mechanism(record=Bit)
def dropout(x):  # type: ignore[no-untyped-def]
    total = present = 0
    for b in x:
        if flip("9/10"):
            present += 1
            total += b if flip("3/4") else 1 - b
    return (present, total)


@mechanism(record=Int(0, 100))
def clamped(x):  # type: ignore[no-untyped-def]
    return geometric(sum(x), "1/2", 0, 100 * len(x))


@mechanism(record=Int(0, 1000))
def plain(x):  # type: ignore[no-untyped-def]
    return sum(x)


@mechanism(record=Int(0, 10**6))
def huge(x):  # type: ignore[no-untyped-def]
    return sum(x)


@pytest.mark.parametrize("most", [0, 30, 1_000_000])
def test_elimination_gives_the_laws_of_the_diagram_also_where_it_ends_in_between(most: int) -> None:
    bound = observed.bind(n=2).bound
    program = expand_shuffles(lower(bound, None, prober()))
    diagram = LeafLaws(program, "cudd", formula=encode(program))
    other = LeafLaws(program, "cudd", most=most)
    for values in product(range(3), repeat=2):
        laws = []
        for table in (diagram, other):
            weights, below = table.given(values)
            assert tuple(table.codes.decoded(list(weights))) == tuple(map(table.codes.first, weights))
            laws.append({table.codes.first(code): Fraction(weight, below) for code, weight in weights.items()})
        assert laws[0] == laws[1]
    assert (other.size == (0, 0)) == (most == 1_000_000)


def test_a_program_of_few_values_is_given_a_diagram() -> None:
    small = lower(dropout.bind(n=3).bound, None, prober())
    large = lower(clamped.bind(n=1).bound, None, prober())
    assert cells(small) < cells(large) == 101 + 101 * 101
    assert leaf_laws(small, "cudd")[0].size[1] > 0 == leaf_laws(large, "cudd")[0].size[1]


@mechanism(record=Int(0, 5))
def permute_and_flip(x):  # type: ignore[no-untyped-def]
    scores = [sum(v == k for v in x) for k in range(6)]
    best, left = max(scores), list(range(6))
    while len(left) > 1:
        k = choice(left)
        if flip(Fraction(1, 2) ** (best - scores[k])):
            return k
        left.remove(k)
    return left[0]


@pytest.mark.slow(seconds=2)
def test_laws_of_many_counts_are_found_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    table = permute_and_flip.bind(n=8).engine.program.aggregate(Control())
    assert table is not None
    one_by_one: list[object] = []
    given = LeafLaws.given
    monkeypatch.setattr(LeafLaws, "given", lambda laws, values: one_by_one.append(values) or given(laws, values))
    table.fill_all(lambda: None)
    assert len(one_by_one) < 3


def test_draws_of_a_client_may_count_the_clients_too() -> None:
    """The number of clients that take part is made of draws alone, which the sum of their bits depends on."""
    for n in (2, 3):
        by_counts, by_all = (dropout.bind(n=n, method=name) for name in ("aggregate", "exhaustive"))
        assert by_counts.curve().points == by_all.curve().points
    found = dropout.bind(n=30).privacy()
    assert (found.exp_epsilon, found.stats.method) == (3, "aggregate")


@pytest.mark.slow(seconds=2)
def test_one_record_of_many_values_takes_no_diagram() -> None:
    found = clamped.bind(n=1, neighbours="unit-step").privacy()
    assert (found.exp_epsilon, found.stats.method, found.stats.nodes) == (2, "elimination", 0)
    assert clamped.bind(n=1).privacy().exp_epsilon == 2**100


@pytest.mark.slow(seconds=4)
def test_sums_of_many_values_are_answered_or_refused_at_once() -> None:
    found = plain.bind(n=2).privacy()
    assert (found.exp_epsilon, found.status) == (float("inf"), "exact")
    assert found.witness is not None
    assert found.witness.probability_prime == 0
    with pytest.raises(QueryError, match="combinations of values") as caught:
        huge.bind(n=3).privacy(top=2)
    assert "smaller record domain" in caught.value.hint
