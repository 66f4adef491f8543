"""Laws of many datasets found at once are those found one by one; screened pairs have the largest ratio."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from agreement import bind, module_of
from generators.comparison import TooSlow, imported, time_limit
from generators.writer import draw
from strategies import write_program
from tightdp import Int, choice, exp, flip, geometric, mechanism, observe, randint
from tightdp.core.lowering import lower
from tightdp.core.passes import expand_shuffles
from tightdp.errors import TightdpError
from tightdp.exact.field import Number
from tightdp.exact.weights import over
from tightdp.language.program import Bound
from tightdp.logic.encode import prober
from tightdp.methods import aggregated, leaf_laws
from tightdp.methods.base import Pair
from tightdp.methods.by_aggregates import Aggregates, look
from tightdp.methods.compiled import deep_recursion
from tightdp.methods.control import Control
from tightdp.methods.elimination import INTEGERS, Elimination, Failed
from tightdp.methods.elimination_trial import make_plan
from tightdp.methods.elimination_walk import Walk
from tightdp.methods.lane_laws import laws_of_lanes, rounded_laws
from tightdp.methods.leaf_laws import ByElimination
from tightdp.methods.program import Candidate
from tightdp.methods.ranking import tight_ratio
from tightdp.methods.screening import largest_changes
from tightdp.session.mechanism import Mechanism


def assert_agree(bound: Bound) -> bool:
    """Compare the laws of all datasets, at once, rounded and one by one; whether no run fails and doubles will do."""
    with deep_recursion():
        program = expand_shuffles(lower(bound, None, prober()))
    plan = make_plan(program)
    walk = Walk(Elimination(plan, INTEGERS))
    lanes = []
    for x in product(bound.record.values, repeat=bound.n):
        records = [bound.record.split(record) for record in x]
        lanes.append([records[leaf.client][leaf.leaf] for leaf in walk.leaves])
    alone: list[Any] = []
    for values in lanes:
        try:
            part, _ = walk.end(values)
        except Failed:
            with pytest.raises(Failed):
                list(laws_of_lanes(plan, lanes))
            return False
        law: dict[Any, Number] = {}
        for row, weight in walk.rows(part):
            law[row] = law.get(row, 0) + over(weight, part.denominator)
        alone.append(law)
    codes = ByElimination(program, "cudd", lambda nodes: None).codes
    together = [
        {tuple(codes.component_values(code)): over(weight, below) for code, weight in law.items()}
        for law, below in laws_of_lanes(plan, lanes)
    ]
    assert together == alone
    found = rounded_laws(plan, lanes)
    if found is not None:
        for law, row in zip(alone, found[1].tolist(), strict=True):
            doubles = dict(zip(map(tuple, map(codes.component_values, found[0])), row, strict=True))
            assert {output for output, weight in doubles.items() if weight} == set(law)
            assert all(
                abs(Fraction(doubles[output]) / weight - 1) < Fraction(1, 2**28) for output, weight in law.items()
            )
    return found is not None


@pytest.mark.parametrize("seed", range(60))
def test_drawn_programs_on_all_datasets_at_once(seed: int) -> None:
    case = write_program(random.Random(70_000 + seed))
    with module_of(case.source) as module:
        try:
            bound = bind(module, case.record, case.n, neighbours=case.neighbours, **case.parameters)
            assert_agree(bound)
        except TightdpError:
            pass


@pytest.mark.parametrize("seed", range(60))
def test_drawn_programs_of_many_statements(seed: int) -> None:
    drawn = draw(90_000 + seed, 6, 10)
    with imported(drawn.source) as module:
        try:
            with time_limit(5):
                assert_agree(module.f.bind(n=drawn.n).bound)
        except (TightdpError, TooSlow):
            pass


@mechanism(record=Int(0, 2))
def permute_and_flip(x: Any) -> Any:
    scores = [sum(v == k for v in x) for k in range(3)]
    left = list(range(3))
    while len(left) > 1:
        k = choice(left)
        if flip((1, "1/2", "1/4", "1/8", "1/16")[max(scores) - scores[k]]):
            return k
        left.remove(k)
    return left[0]


@mechanism(record=Int(0, 2))
def drawn_exponentials(x: Any) -> Any:
    scores = [sum(v == k for v in x) for k in range(3)]
    first = choice((0, 1, 2), [exp(score) for score in scores])
    return first, flip(1 / (1 + exp(scores[first])))


@mechanism(record=Int(0, 2))
def observed_counts(x: Any) -> Any:
    sent = [v if flip("1/2") else randint(0, 2) for v in x]
    zeros, ones = sum(v == 0 for v in sent), sum(v == 1 for v in sent)
    noisy = geometric(zeros, "1/2", 0, len(x))
    observe(max(noisy, ones) > 0)
    return noisy if flip("2/3") else ones


@mechanism(record=Int(0, 3))
def local_sum(x: Any) -> Any:
    return sum(geometric(v, "1/2", 0, 3) for v in x)


@mechanism(record=Int(0, 3))
def two_kinds(x: Any) -> Any:
    return sum(v if flip("1/2") else (at % 2) * randint(0, 3) for at, v in enumerate(x))


AGGREGATE = Candidate("aggregate", look)
SUMS = (permute_and_flip, drawn_exponentials, observed_counts, local_sum, two_kinds)


@pytest.mark.parametrize("one", SUMS, ids=lambda one: one.name)
def test_laws_of_all_counts(one: Mechanism) -> None:
    assert assert_agree(one.bind(n=3).bound) == (one is not drawn_exponentials)


def aggregates(one: Mechanism) -> Aggregates:
    found = one.bind(n=3, method="aggregate").engine.program.look(AGGREGATE, Control())
    assert isinstance(found, Aggregates)
    return found


@pytest.mark.parametrize("one", SUMS, ids=lambda one: one.name)
def test_screened_pairs_have_the_largest_ratio(one: Mechanism) -> None:
    table = aggregates(one).table
    changes = largest_changes(table, Control(), few=0)
    if one is drawn_exponentials:
        assert changes is None
        return
    assert changes is not None
    ours = tight_ratio(Pair(*table.orbits.neighbours(change), change.size, table) for change in changes)
    plain = one.bind(n=3, method="exhaustive").privacy()
    assert [(ratio.exp_epsilon, ratio.triples) for ratio in ours] == [(plain.exp_epsilon, plain.top[0].triples)]


@pytest.mark.parametrize("one", [permute_and_flip, observed_counts], ids=lambda one: one.name)
def test_pairs_screened_by_rounded_laws(one: Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aggregated, "_FEW", 0)
    monkeypatch.setattr(leaf_laws, "SMALL_CELLS", 0)
    monkeypatch.setattr(largest_changes, "__defaults__", (0,))
    method = aggregates(one)
    found, plain = one.bind(n=4, method="aggregate"), one.bind(n=4, method="exhaustive").privacy()
    assert method.table.rounded(lambda: None) is not None
    assert (found.privacy().exp_epsilon, found.privacy().witness) == (plain.exp_epsilon, plain.witness)
    table = found.engine.program.aggregate(Control())
    assert table is not None
    assert table.codes_given() is None  # not all laws were computed exactly


@mechanism(record=Int(0, 3))
def noise_in_the_middle(x: Any) -> Any:
    return geometric(sum(v if flip("1/2") else randint(0, 3) for v in x), "1/2", 0, 9)


@pytest.mark.parametrize(
    ("one", "attained"), [(local_sum, True), (noise_in_the_middle, False), (two_kinds, False)], ids=lambda one: str(one)
)
def test_a_bound_that_a_pair_attains_is_the_answer(one: Mechanism, attained: bool) -> None:
    found = aggregates(one).bound_attained(Control())
    assert (found is not None) == attained
    if found is not None:
        assert found.lower == found.upper == one.bind(n=3, method="exhaustive").privacy().exp_epsilon


@mechanism(record=Int(0, 7))
def exponential_median(x: Any) -> Any:
    scores = [abs(sum(v < 2 * b for v in x) - sum(v >= 2 * (b + 1) for v in x)) for b in range(4)]
    return choice((0, 1, 2, 3), [2 ** (max(scores) - score) for score in scores])


@mechanism(record=Int(0, 2))
def a_sum_and_a_noisy_count(x: Any) -> Any:
    return geometric(sum(v == 0 for v in x), "1/2", 0, len(x)) + sum(v if flip("1/2") else 0 for v in x)


@pytest.mark.parametrize("one", [exponential_median, a_sum_and_a_noisy_count], ids=lambda one: one.name)
@pytest.mark.parametrize("n", [2, 3])
def test_sums_in_which_further_sums_stand_are_cut_apart(one: Mechanism, n: int) -> None:
    ours, plain = one.bind(n=n, method="aggregate"), one.bind(n=n, method="exhaustive")
    assert (ours.privacy().exp_epsilon, ours.privacy().witness) == (
        plain.privacy().exp_epsilon,
        plain.privacy().witness,
    )
    assert ours.delta(exp_epsilon=2).delta == plain.delta(exp_epsilon=2).delta


def test_a_run_that_fails_on_some_datasets_is_told() -> None:
    @mechanism(record=Int(0, 2))
    def failing(x: Any) -> Any:
        left = [1, 2, 3][sum(x) :]
        return choice(left) if flip("1/2") else len(left)

    assert not assert_agree(failing.bind(n=2).bound)
