"""Datasets up to the values of certain aggregates, sums of several integers, and ratios that are rounded first."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from tightdp import Bit, Int, Mechanism, ProgramError, Values, choice, flip, geometric, mechanism, observe
from tightdp.language.neighbours import relation_of
from tightdp.methods.base import Control, Pair
from tightdp.methods.mixture import SeveralSums
from tightdp.methods.ranking import Logarithms, tight_ratio
from tightdp.methods.states import States
from tightdp.symmetry.sets import every_neighbouring_pair


@mechanism(record=Int(0, 5))
def clamped(x: Any) -> Any:
    return geometric(sum(x), "2/3", 0, 4)


@mechanism(record=Int(0, 5), neighbours="unit-step")
def stepwise(x: Any) -> Any:
    return geometric(sum(x), "2/3", 0, 4)


@mechanism(record=Values(0, 2, 3, 7))
def largest(x: Any) -> Any:
    return geometric(max(x), "2/3", 0, 7)


@mechanism(record=Values(-2, 0, 1, 3))
def of_two(x: Any) -> Any:
    return choice((0, 1), [1 + sum(x) ** 2, 1 + max(x) ** 2])


@mechanism(record=Int(0, 4))
def weighted(x: Any) -> Any:
    return geometric(sum((1 + at % 2) * v for at, v in enumerate(x)), "1/2", 0, 9)


@mechanism(record=Int(0, 4))
def residue(x: Any) -> Any:
    return sum(x) % 3, flip("1/3")


STATES = [clamped, stepwise, largest, of_two, weighted, residue]


TARGETS = {
    "the same": sum,
    "another": max,
    "two": lambda x: max(x) - min(x),
    "function of it": lambda x: sum(x) % 3,
    "all": lambda x: sum(v * v for v in x),
    "one client apart": lambda x: sum(x) + x[0],
}


@pytest.mark.one_in(8)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("noisy", [clamped, of_two, weighted], ids=lambda mechanism: mechanism.name)
def test_accuracy_by_states_of_mechanism_and_target_is_that_of_all_datasets(noisy: Mechanism, target: str) -> None:
    measured = mechanism(record=noisy.program.record, target=TARGETS[target])(noisy.program.function)
    for alpha in (0, 2):
        ours, plain = (measured.bind(n=3, method=by).accuracy(alpha=alpha) for by in ("aggregate", "exhaustive"))
        assert ours.one_minus_beta == plain.one_minus_beta
        if noisy is not weighted:  # where all clients are alike, what is shown is the first in order
            assert [row.x for row in ours.top] == [row.x for row in plain.top]
        assert sum(row.inputs for row in ours.top) == sum(row.inputs for row in plain.top)


def test_accuracy_is_measured_once_for_every_sum() -> None:
    @mechanism(record=Int(0, 20), target=sum)
    def long(x: Any) -> Any:
        return geometric(sum(x), "1/2", 0, 20 * len(x))

    assert long.bind(n=6).accuracy(alpha=3).stats.accuracy_set == 121


@pytest.mark.one_in(3)
@pytest.mark.parametrize("mechanism", STATES, ids=lambda mechanism: mechanism.name)
def test_states_give_what_all_datasets_give(mechanism: Mechanism) -> None:
    for n in (2, 3):
        ours, plain = mechanism.bind(n=n, method="aggregate"), mechanism.bind(n=n, method="exhaustive")
        assert _ratios(ours) == _ratios(plain)
        assert ours.delta(exp_epsilon="3/2").delta == plain.delta(exp_epsilon="3/2").delta


def _ratios(instance: Any) -> Any:
    return [(entry.exp_epsilon, entry.triples) for entry in instance.privacy(top=3).top]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("mechanism", STATES, ids=lambda mechanism: mechanism.name)
def test_states_count_datasets_and_pairs(mechanism: Mechanism) -> None:
    instance = mechanism.bind(n=3)
    bound = instance.engine.bound
    table = instance.engine.program.aggregate(Control())
    assert table is not None
    states = table.orbits
    assert isinstance(states, States)
    datasets = list(product(bound.record.values, repeat=3))
    counted = [states.counts(x) for x in datasets]
    assert {state: counted.count(state) for state in counted} == {s: states.size(s) for s in states.every_counts()}
    assert all(states.counts(states.representative(state)) == state for state in states.every_counts())
    pairs = [(states.counts(x), states.counts(y)) for x in datasets for y in relation_of(bound).neighbours(x)]
    found: dict[Any, int] = {}
    for change in states.changes_of_one():
        x, y = states.neighbours(change)
        assert y in relation_of(bound).neighbours(x)
        assert (states.counts(x), states.counts(y)) == (change.counts, change.counts_after)
        found[change.counts, change.counts_after] = found.get((change.counts, change.counts_after), 0) + change.size
    assert found == {pair: pairs.count(pair) for pair in pairs}


@mechanism(record=Int(0, 21))
def middle(x: Any) -> Any:
    return geometric((min(x) + max(x)) // 8, "2/3", 0, 5)


@mechanism(record=Int(0, 24), neighbours="unit-step")
def spread(x: Any) -> Any:
    return geometric((max(x) - min(x)) // 3, "2/3", 0, 5)


@mechanism(record=Int(0, 8))
def unlike(x: Any) -> Any:
    return geometric((min(x) + max(r // (1 + at % 2) for at, r in enumerate(x))) // 3, "2/3", 0, 5)


MANY_STATES = [middle, spread, unlike]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("mechanism", MANY_STATES, ids=lambda mechanism: mechanism.name)
def test_pairs_of_many_states_are_told_apart_by_their_laws(
    mechanism: Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tightdp.methods.states.FEW_VALUES", 10)
    for n in (2, 3) if mechanism is unlike else (2,):
        ours, plain = mechanism.bind(n=n, method="aggregate"), mechanism.bind(n=n, method="exhaustive")
        assert isinstance(ours.engine.program.aggregate(Control()).orbits, States)
        assert _ratios(ours) == _ratios(plain)
        assert ours.delta(exp_epsilon="3/2").delta == plain.delta(exp_epsilon="3/2").delta


@pytest.mark.parametrize("n", [3, pytest.param(12, marks=pytest.mark.slow(seconds=4))])
def test_smallest_and_largest_of_a_large_domain_take_little_work(n: int) -> None:
    """Datasets have 5,050 states, and these 13 laws."""

    @mechanism(record=Int(0, 99))
    def midrange(x: Any) -> Any:
        return geometric((min(x) + max(x)) // 20, "1/2", 0, 9)

    found = midrange.bind(n=n, timeout=20).privacy()
    assert (found.status, found.exp_epsilon) == ("exact", 32)


@mechanism(record=Bit)
def dropout(x: Any) -> Any:
    total = present = 0
    for b in x:
        if flip("9/10"):
            present += 1
            total += b if flip("3/4") else 1 - b
    return present, total


@mechanism(record=Int(-1, 1))
def two_sums(x: Any) -> Any:
    sent = [v if flip("1/2") else 0 for v in x]
    return sum(sent), sum(v * v for v in sent)


@pytest.mark.parametrize("mechanism", [dropout, two_sums], ids=lambda mechanism: mechanism.name)
def test_several_sums_are_a_polynomial_in_several_variables(mechanism: Mechanism) -> None:
    ours, plain = mechanism.bind(n=3, method="aggregate"), mechanism.bind(n=3, method="exhaustive")
    table = ours.engine.program.aggregate(Control())
    assert table is not None
    assert isinstance(table._start, SeveralSums)
    for x in product(ours.engine.bound.record.values, repeat=3):
        assert ours.distribution(x).law == plain.distribution(x).law
    assert ours.privacy().exp_epsilon == plain.privacy().exp_epsilon


@pytest.mark.parametrize("one", [*STATES, dropout, two_sums], ids=lambda one: one.name)
@pytest.mark.parametrize("top", [1, 3])
def test_rounded_logarithms_decide_nothing(one: Mechanism, top: int) -> None:
    engine = one.bind(n=2, method="exhaustive").engine
    table = engine.program.table(Control())
    pairs = [Pair(*triple, table) for triple in every_neighbouring_pair(engine.bound)]
    usual, few, none = (
        tight_ratio(pairs, top, logarithms=logarithms)
        for logarithms in (Logarithms(), Logarithms(kept=10), Logarithms(longest=0))
    )
    assert usual == few == none
    assert usual[0].exp_epsilon != 1


CODES = {"u": 1, "w": 2, None: 0}


@mechanism(record=Values("u", None, "w"))
def coded(x: Any) -> Any:
    return sum([int(flip((1 if b is None else CODES[b]) % 3 / 2)) for b in x])


def test_a_part_may_have_fewer_values_than_its_text_names() -> None:
    """No client has the code of None: the part that is cut out is drawn for the values that there are."""
    half = Fraction(1, 2)
    ones = {"u": half, None: half, "w": Fraction(1)}
    for x in product(ones, repeat=2):
        assert coded.bind(n=2, method="aggregate").distribution(x).probability(2) == ones[x[0]] * ones[x[1]]
    assert coded.bind(n=2).privacy().exp_epsilon == float("inf")


@mechanism(record=Int(0, 9))
def conditioned(x: Any) -> Any:
    counts = [sum(1 for v in x if v == k) for k in range(7)]
    observe(not (counts[1] == counts[2] == counts[3] == 2))
    return tuple(counts) if flip("1/5") else flip("1/3")


@pytest.mark.slow(seconds=3)
def test_a_dataset_without_a_law_is_met_while_laws_are_compared() -> None:
    """Classes of neighbours are many, and equal laws are looked for: one of the laws has nothing to divide by."""
    with pytest.raises(ProgramError, match="is false in every run"):
        conditioned.bind(n=6, method="aggregate").privacy(top=2)
