"""Laws of many datasets found at once are those found one by one; screened pairs have the largest ratio."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

from agreement import bind, datasets, meaning, module_of
from generators.comparison import TooSlow, imported, time_limit
from generators.writer import draw
from strategies import write_program
from tightdp import Int, choice, exp, flip, geometric, mechanism, observe, randint
from tightdp.core.lowering import lower
from tightdp.core.passes import expand_shuffles
from tightdp.errors import ProgramError, TightdpError
from tightdp.exact.weights import quotient
from tightdp.language.program import Bound
from tightdp.logic.count import raw_weights
from tightdp.logic.encode import encode, prober
from tightdp.methods.aggregate_screen import largest_changes, telling_changes
from tightdp.methods.base import Control, Pair, Sought
from tightdp.methods.by_aggregates import Aggregates, look
from tightdp.methods.compiled import deep_recursion
from tightdp.methods.leaf_laws import LeafLaws
from tightdp.methods.program import Candidate
from tightdp.methods.ranking import tight_ratio
from tightdp.queries.laws import ExactLaws
from tightdp.queries.privacy import DeltaAt, LeastRatio
from tightdp.session.mechanism import Mechanism
from tightdp.symmetry.sets import every_neighbouring_pair


def assert_agree(bound: Bound) -> None:
    """Compare the laws of all datasets at once with those of the interpreter; or a run fails both ways."""
    with deep_recursion():
        program = expand_shuffles(lower(bound, None, prober()))
    found = LeafLaws(program, "cudd")
    every = datasets(bound)
    expected = [meaning(bound, x) for x in every]
    choices = [[bound.record.split(x[leaf.client])[leaf.leaf] for leaf in program.inputs] for x in every]
    try:
        laws = list(found.every(choices))
    except ProgramError:
        assert None in expected
        return
    for ours, (law, below) in zip(expected, laws, strict=True):
        whole = sum(law.values()) if found.conditioned else below
        if whole and not found.codes.several:
            assert {found.codes.first(code): quotient(weight, whole) for code, weight in law.items()} == ours
    formula = encode(program, "cudd")
    on_diagram = LeafLaws(program, "cudd", formula=formula)
    at_once = [quotients(*law) for law in on_diagram.every(choices)]
    assert at_once == [quotients(*raw_weights(formula, formula.evidence_of(values))) for values in choices]


def quotients(weights: Mapping[int, Any], below: Any) -> dict[int, Any]:
    return {code: quotient(weight, below) for code, weight in weights.items()}


@pytest.mark.one_in(12)
@pytest.mark.parametrize("seed", range(60))
def test_drawn_programs_on_all_datasets_at_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tightdp.methods.leaf_laws.LITTLE_WORK", 0)
    if seed % 2:  # by a few rows at a time
        monkeypatch.setattr("tightdp.logic.lanes.LISTED_MASSES", 64)
    case = write_program(random.Random(70_000 + seed))
    with module_of(case.source) as module:
        try:
            bound = bind(module, case.record, case.n, neighbours=case.neighbours, **case.parameters)
            assert_agree(bound)
        except TightdpError:
            pass


@pytest.mark.one_in(8)
@pytest.mark.parametrize("seed", range(60))
def test_drawn_programs_of_many_statements(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tightdp.methods.leaf_laws.LITTLE_WORK", 0)
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


@pytest.mark.one_in(4)
@pytest.mark.parametrize("one", SUMS, ids=lambda one: one.name)
def test_laws_of_all_counts(one: Mechanism) -> None:
    assert_agree(one.bind(n=3).bound)


def aggregates(one: Mechanism) -> Aggregates:
    found = one.bind(n=3, method="aggregate").engine.program.look(AGGREGATE, Control(), 1 << 28)
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


QUESTIONS = (DeltaAt(Fraction(5, 4), Fraction(5, 4)), DeltaAt(Fraction(1), Fraction(1)), LeastRatio(Fraction(1, 50)))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("one", SUMS, ids=lambda one: one.name)
@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_screened_pairs_have_the_largest_value_of_a_question(one: Mechanism, question: Any) -> None:
    table = aggregates(one).table

    def value(pair: Pair) -> Any:
        return question.ends(ExactLaws.of(pair))[0]

    changes = telling_changes(table, Sought(question.least, question.place, value), Control(), few=0)
    if one is drawn_exponentials:
        assert changes is None
        return
    assert changes is not None
    some, every = (
        [value(Pair(x, other, 0, table)) for x, other, *_ in pairs]
        for pairs in (map(table.orbits.neighbours, changes), every_neighbouring_pair(table.bound))
    )
    assert max(some, default=question.least) == max(every)


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


@pytest.mark.one_in(4)
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

    bound = failing.bind(n=2).bound
    assert None in map(partial(meaning, bound), datasets(bound))
    assert_agree(bound)


@mechanism(record=Int(0, 4))
def exponential_median(x: Any) -> Any:
    odds = [Fraction(31, 53) ** abs(sum(v < t for v in x) - sum(v > t for v in x)) for t in range(5)]
    z = choice(range(5), odds)
    return z, z + choice((0, 1), [1 + x.count(0), 1 + x.count(1)])


def test_laws_with_many_denominators_have_one_by_lane() -> None:
    bound = exponential_median.bind(n=3).bound
    assert_agree(bound)
    program = lower(bound, None, prober())
    choices = [[x[leaf.client] for leaf in program.inputs] for x in datasets(bound)]
    below = {below for _, below in LeafLaws(program, "cudd").every(choices)}
    assert len(below) > 1
    assert max(map(int.bit_length, below)) < math.lcm(*below).bit_length()
