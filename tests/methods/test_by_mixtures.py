"""Records whose law is a mixture of those of other records: answers are those of all pairs of neighbours."""

from __future__ import annotations

from fractions import Fraction as F
from typing import Any

import pytest

from tightdp import Int, Mechanism, Tuple, choice, exp, flip, geometric, mechanism, observe, shuffle
from tightdp.errors import QueryError

METHOD = "extreme records"


@mechanism(record=Int(0, 99))
def rounded_votes(x: Any) -> Any:
    return sum(flip(F(v, 100)) ^ flip("1/4") for v in x)


@mechanism(record=Int(0, 4))
def levels(x: Any) -> Any:
    """Rounded to 0, 2 or 4, then one of the three at random with 1/4, in any order."""
    rounded = (2 * (v // 2) + 2 * flip(F(v % 2, 2)) for v in x)
    return shuffle(choice((0, 2, 4)) if flip("1/4") else v for v in rounded)


@mechanism(record=Int(0, 4))
def stops(x: Any) -> Any:
    """The first rounded report beyond a noisy threshold."""
    threshold = 2 * flip("1/3")
    for at, v in enumerate(x):
        if 2 * flip(F(v, 4)) + flip("1/5") > threshold:
            return at
    return None


@mechanism(record=Tuple(Int(0, 2), Int(0, 1)))
def products(x: Any) -> Any:
    return geometric(sum(flip(F(a, 2)) * flip(F(1 + b, 4)) for a, b in x), "1/3", 0, len(x))


@mechanism(record=Int(0, 3))
def one_leads(x: Any) -> Any:
    """The first client reports as it is, at least half of the time; the others are rounded."""
    return (x[0] if flip("1/2") else 2), max(3 * flip(F(v, 3)) * flip("3/4") for v in x[1:]) if x[1:] else 0


@mechanism(record=Int(0, 3))
def with_e(x: Any) -> Any:
    return sum(flip(F(v, 3)) ^ flip(1 / (1 + exp(F(1, 2)))) for v in x)


@mechanism(record=Int(0, 4))
def after_all(x: Any) -> Any:
    """The first record is a mixture: the pair that is shown may have none that is extreme."""
    order = (2, 0, 1, 4, 3)
    return max(flip(F(order[v], 4)) for v in x)


PROGRAMS = [levels, stops, products, with_e, after_all]


@pytest.mark.one_in(8)
@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("one", PROGRAMS, ids=lambda one: one.name)
def test_all_questions_have_the_answers_of_all_pairs(one: Mechanism, n: int) -> None:
    ours, plain = one.bind(n=n, method=METHOD), one.bind(n=n, method="exhaustive")
    assert ours.privacy().exp_epsilon == plain.privacy().exp_epsilon
    assert ours.privacy().witness == plain.privacy().witness
    for t in (1, F(3, 2), 3):
        assert ours.delta(exp_epsilon=t).delta == plain.delta(exp_epsilon=t).delta
        assert ours.delta(exp_epsilon=t).witness == plain.delta(exp_epsilon=t).witness
    assert ours.privacy(delta="1/10").exp_epsilon == plain.privacy(delta="1/10").exp_epsilon
    assert ours.curve().points == plain.curve().points
    assert ours.renyi(2).exp_moment == plain.renyi(2).exp_moment


def test_a_record_that_some_client_needs_is_kept() -> None:
    ours, plain = (one_leads.bind(n=2, method=name) for name in (None, "exhaustive"))
    assert ours.delta(exp_epsilon=2).delta == plain.delta(exp_epsilon=2).delta
    assert ours.privacy(delta="1/10").exp_epsilon == plain.privacy(delta="1/10").exp_epsilon


@pytest.mark.slow(seconds=2)
def test_a_hundred_values_are_two() -> None:
    found = rounded_votes.bind(n=30)
    assert found.privacy().exp_epsilon == F(149, 50)
    assert found.delta(exp_epsilon=1).delta == _of_two(30)
    assert found.delta(exp_epsilon=1).stats.method == METHOD


def _of_two(n: int) -> F:
    """The largest total variation between counts of ones of which only what one client adds differs: 1/4 or 149/200."""
    worst = F(0)
    for others in range(n):
        law = [F(1)]
        for p in [F(1, 4)] * others + [F(149, 200)] * (n - 1 - others):
            law = [a * (1 - p) + b * p for a, b in zip([*law, F(0)], [F(0), *law], strict=True)]
        steps = [a - b for a, b in zip([*law, F(0)], [F(0), *law], strict=True)]
        worst = max(worst, (F(149, 200) - F(1, 4)) * sum(abs(step) for step in steps) / 2)
    return worst


def test_the_largest_ratios_are_listed_from_all_pairs() -> None:
    with pytest.raises(QueryError, match="some records only"):
        levels.bind(n=2, method=METHOD).privacy(top=3)
    ours, plain = levels.bind(n=2).privacy(top=4).top, levels.bind(n=2, method="exhaustive").privacy(top=4).top
    assert [(row.exp_epsilon, row.triples) for row in ours] == [(row.exp_epsilon, row.triples) for row in plain]


@mechanism(record=Int(0, 2))
def observed(x: Any) -> Any:
    found = [flip(F(v, 2)) ^ flip("1/4") for v in x]
    observe(any(found))
    return found[0]


@pytest.mark.parametrize(
    ("one", "relation", "why"),
    [
        (levels, "unit-step", "not every one may become any other"),
        (observed, None, "runs are conditioned"),
        (one_leads, None, "of no record is a mixture"),
    ],
)
def test_where_it_does_not_apply(one: Mechanism, relation: Any, why: str) -> None:
    """Steps of one lead past mixtures only, and a law given an event is not linear in what clients hand on."""
    with pytest.raises(QueryError, match=why):
        one.bind(n=2, method=METHOD, neighbours=relation).privacy()
