"""Results as values: exact numbers, verdicts, enclosures, limits, and how they are shown."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
from fractions import Fraction as F
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from answered import LEAK, RESPONSE, TOTAL, alone, leak, one_flip, response, shame, stopped_after, total, words
from tightdp import LimitError, ParameterError, QueryError
from tightdp.exact.enclosure import exp as exp_enclosure

RESULTS = [
    RESPONSE.privacy(),
    RESPONSE.privacy(top=2),
    RESPONSE.privacy(delta="1/10"),
    LEAK.privacy(),
    RESPONSE.delta(exp_epsilon=2),
    RESPONSE.delta(epsilon=1),
    RESPONSE.curve(),
    RESPONSE.tradeoff(),
    RESPONSE.renyi(2),
    LEAK.renyi(2),
    TOTAL.accuracy(3),
    TOTAL.accuracy(beta="1/10"),
    LEAK.distribution((0, 1)),
    TOTAL.verify(epsilon=2, alpha=3, beta="1/10"),
    RESPONSE.show(),
]


class Text:
    """Stands for a text of Matplotlib."""

    def set_wrap(self, wrap: bool) -> None:
        """Break lines."""


class Axes:
    """Stands for Matplotlib axes."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.title = Text()

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments, **options: self.calls.append(name)


# Values.


def test_pure_privacy() -> None:
    found = RESPONSE.privacy()
    assert (found.exp_epsilon, found.delta, found.status) == (F(4), 0, "exact")
    assert found.epsilon == float(found) == math.log(4)
    assert found.epsilon_enclosure == (1.3862943611198906, math.nextafter(1.3862943611198906, 2))
    witness = found.witness
    assert witness is not None
    assert witness.to_dict() == {
        "x": [0, 0],
        "x_prime": [1, 0],
        "output": [0, 0],
        "probability": "16/25",
        "probability_prime": "4/25",
    }


def test_infinite_privacy() -> None:
    found = LEAK.privacy()
    assert found.exp_epsilon == found.epsilon == math.inf
    assert found.to_dict()["result"]["exp_epsilon"] == found.to_dict()["result"]["epsilon"] == "inf"


def test_no_neighbours_leak_nothing() -> None:
    instance = alone.bind(n=1)
    assert instance.privacy().exp_epsilon == 1
    assert instance.privacy().witness is None
    assert instance.delta(exp_epsilon=1).delta == 0
    assert instance.renyi(2).exp_moment == 1


def test_ranking_of_ratios() -> None:
    ratios = total.bind(n=2, lam="1/5").privacy(top=3).top
    assert [ratio.exp_epsilon for ratio in ratios] == sorted({ratio.exp_epsilon for ratio in ratios}, reverse=True)
    assert ratios[0].exp_epsilon == 4
    with pytest.raises(QueryError, match="delta = 0 only"):
        RESPONSE.privacy(delta="1/10", top=2)


@given(st.fractions(0, 1))
def test_least_epsilon_inverts_delta(delta: F) -> None:
    least = RESPONSE.privacy(delta=delta).exp_epsilon
    assert RESPONSE.delta(exp_epsilon=least).delta <= delta
    assert least == 1 or RESPONSE.delta(exp_epsilon=least).delta == delta


@given(st.fractions(0, 3, max_denominator=50))
def test_delta_at_epsilon_is_exact(epsilon: F) -> None:
    found = RESPONSE.delta(epsilon=epsilon)
    low, high = exp_enclosure(epsilon, 60)
    lower, upper = (max(F(0), F(4, 5) - t / 5) for t in (high, low))
    assert lower <= found.delta <= upper
    assert found.lower == found.upper == found.delta
    assert found.status == "exact"


@given(st.integers(1, 20_000))
def test_delta_at_a_long_epsilon_is_enclosed(above: int) -> None:
    epsilon = F(above, 10_007)
    assume(epsilon.denominator > 1)
    found = RESPONSE.delta(epsilon=epsilon)
    low, high = exp_enclosure(epsilon, 60)
    lower, upper = (max(F(0), F(4, 5) - t / 5) for t in (high, low))
    assert found.lower <= lower <= upper <= found.upper == found.delta
    assert found.upper - found.lower <= F(1, 10**29)
    assert found.status == ("exact" if found.lower == found.upper else "bounded")


def test_delta_is_exact_where_the_curve_is_constant() -> None:
    assert RESPONSE.delta(epsilon=2).status == "exact"
    assert RESPONSE.delta(epsilon=0) == RESPONSE.delta(exp_epsilon=1)
    assert LEAK.delta(epsilon="1/7").delta == F(1, 3)
    assert LEAK.delta(exp_epsilon="1/2").delta == F(2, 3)


def test_curve_and_tradeoff() -> None:
    assert RESPONSE.curve().points == ((1, F(3, 5)), (4, 0))
    assert RESPONSE.tradeoff().vertices == ((0, 1), (F(1, 5), F(1, 5)), (1, 0))
    assert RESPONSE.renyi(2).exp_moment == F(13, 4)


def test_accuracy() -> None:
    found = TOTAL.accuracy(3)
    assert (found.one_minus_beta, found.beta, found.x) == (F(73728, 78125), F(4397, 78125), (0,) * 8)
    assert [row.one_minus_beta for row in found.top[:2]] == [F(73728, 78125), F(75968, 78125)]
    assert [row.inputs for row in found.top[:2]] == [2, 16]
    assert TOTAL.accuracy(beta=found.beta).alpha == 3
    assert TOTAL.accuracy(beta=found.beta - F(1, 10**9)).alpha == 4


def test_outputs() -> None:
    found = LEAK.distribution([0, 1])
    assert found.law == ((None, F(2, 3)), ((0, 1), F(1, 3)))
    assert found.probability((0, 1)) == LEAK.probability([0, 1], [0, 1]) == F(1, 3)
    assert found.probability("nothing") == LEAK.probability((0, 1), "nothing") == 0
    assert RESPONSE.distribution((0, 1)) == response.bind(n=2, lam=0.2).distribution((0, 1))


def test_probability_of_one_output_among_very_many() -> None:
    n = 400
    assert response.bind(n=n, lam="1/5").probability((0,) * n, (1,) * n) == F(1, 5**n)


# Verdicts.


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        ({"exp_epsilon": 4}, True),
        ({"exp_epsilon": "3.999999999999999999999999999999"}, False),
        ({"epsilon": "1.3862943611198907"}, True),
        ({"epsilon": "1.3862943611198906"}, False),
        ({"epsilon": "1.38629436111989061883446424291635313615100026872052"}, True),
        ({"epsilon": "1.38629436111989061883446424291635313615100026872051"}, False),
        ({"exp_epsilon": 2, "delta": "2/5"}, True),
        ({"exp_epsilon": 2, "delta": "1/3"}, False),
        ({"epsilon": 0, "delta": "3/5"}, True),
        ({"epsilon": 10**12}, True),
    ],
)
def test_privacy_claims_are_decided(claim: dict[str, Any], holds: bool) -> None:
    verdict = RESPONSE.verify(**claim)
    assert verdict.holds is holds
    assert bool(verdict) is holds
    assert verdict.status == "exact"
    assert holds or verdict.claims[0].witness is not None


def test_infinite_epsilon_refutes_every_pure_claim() -> None:
    assert LEAK.verify(epsilon=10**30).holds is False
    assert LEAK.verify(exp_epsilon=1, delta="1/3").holds is True
    assert LEAK.verify(epsilon=10**30, delta="1/4").claims[0].tight == math.inf


def test_claims_together() -> None:
    verdict = TOTAL.verify(epsilon=2, alpha=3, beta="1/20")
    assert [claim.holds for claim in verdict.claims] == [True, False]
    assert verdict.claims[1].tight == F(4397, 78125)
    assert verdict.holds is False


# Limits.


def test_a_stopped_search_gives_bounds() -> None:
    found = stopped_after(response.bind(n=4, lam="1/5", neighbours=one_flip), 2).privacy()
    assert (found.status, found.lower, found.upper, found.exp_epsilon) == ("unresolved", 4, math.inf, math.inf)
    answer = found.to_dict()["result"]
    assert (answer["lower"], answer["upper"], answer["exp_epsilon"]) == ("4", None, None)
    assert "interrupted" in str(found)
    delta = stopped_after(response.bind(n=4, lam="1/5", neighbours=one_flip), 2).delta(exp_epsilon=2)
    assert (delta.status, delta.lower, delta.upper) == ("unresolved", F(2, 5), 1)
    accuracy = stopped_after(total.bind(n=4, lam="1/5"), 2).accuracy(1)
    assert (accuracy.status, accuracy.lower, accuracy.upper) == ("unresolved", 0, F(512, 625))
    assert stopped_after(response.bind(n=4, lam="1/5", neighbours=one_flip), 2).curve().status == "unresolved"


def test_a_stopped_search_decides_what_it_can() -> None:
    instance = response.bind(n=4, lam="1/5", neighbours=one_flip)
    assert stopped_after(instance, 2).verify(exp_epsilon=3).holds is False
    undecided = stopped_after(response.bind(n=4, lam="1/5", neighbours=one_flip), 2).verify(exp_epsilon=4)
    assert (undecided.holds, undecided.status, bool(undecided)) == (None, "unresolved", False)
    assert stopped_after(leak.bind(n=4, p="1/3"), 2).privacy().status == "exact"


@pytest.mark.parametrize("stopped", ["privacy", "curve", "tradeoff"])
def test_a_stopped_search_is_not_kept(stopped: str) -> None:
    """What a search knew when it gave up decides no later query on the same instance."""
    fresh = response.bind(n=3, lam="1/5", neighbours=one_flip)
    instance = stopped_after(response.bind(n=3, lam="1/5", neighbours=one_flip), 2)
    assert getattr(instance, stopped)().status == "unresolved"
    instance.engine.progress = None
    instance.engine.stopping = False
    for query in ("privacy", "curve", "tradeoff"):
        found, expected = (getattr(each, query)().to_dict() for each in (instance, fresh))
        assert found["status"] == "exact"
        assert found["result"] == expected["result"]


def test_queries_after_a_limit_on_nodes_or_time() -> None:
    instance = response.bind(n=3, lam="1/5", neighbours=one_flip, max_nodes=3)
    with pytest.raises(LimitError, match="more than 3 nodes"):
        instance.privacy()
    with pytest.raises(LimitError, match="more than 3 nodes"):
        instance.curve()
    instance.max_nodes = None
    assert (instance.privacy().exp_epsilon, instance.curve().status) == (4, "exact")


def test_limits_before_anything_is_known() -> None:
    with pytest.raises(LimitError, match="took more than 0 s"):
        response.bind(n=3, lam="1/5", timeout=0).privacy()
    with pytest.raises(LimitError, match="more than 3 nodes"):
        response.bind(n=3, lam="1/5", max_nodes=3).privacy()


# Bad queries.


@pytest.mark.parametrize(
    "query",
    [
        lambda: RESPONSE.privacy(delta=2),
        lambda: RESPONSE.privacy(delta="a"),
        lambda: RESPONSE.privacy(top=True),
        lambda: RESPONSE.delta(),
        lambda: RESPONSE.delta(exp_epsilon=2, epsilon=1),
        lambda: RESPONSE.delta(exp_epsilon=-1),
        lambda: RESPONSE.delta(epsilon=-1),
        lambda: RESPONSE.delta(epsilon=float("nan")),
        lambda: RESPONSE.renyi(1),
        lambda: RESPONSE.renyi("1/2"),
        lambda: TOTAL.accuracy(),
        lambda: TOTAL.accuracy(1, beta="1/10"),
        lambda: TOTAL.accuracy(-1),
        lambda: TOTAL.accuracy(beta=1),
        lambda: TOTAL.verify(),
        lambda: TOTAL.verify(alpha=1),
        lambda: TOTAL.verify(delta="1/2"),
        lambda: TOTAL.verify(exp_epsilon="1/2"),
        lambda: RESPONSE.distribution((0, 2)),
        lambda: RESPONSE.probability((0,), (0, 0)),
        lambda: response.bind(n=2, lam="1/5", timeout="soon"),
        lambda: response.bind(n=2, lam="1/5", max_nodes=0),
    ],
)
def test_bad_queries(query: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        query()
    assert caught.value.what
    assert caught.value.hint


def test_accuracy_needs_a_target_and_numbers() -> None:
    with pytest.raises(QueryError, match="response has no target"):
        RESPONSE.accuracy(1)
    with pytest.raises(QueryError, match=r"on the dataset \(0,\) words can output '(<b>|&)'"):
        words.bind(n=1).accuracy(1)


def test_too_many_datasets() -> None:
    with pytest.raises(QueryError, match=r"2\^64"):
        response.bind(n=64, lam="1/5", neighbours=one_flip).privacy()


# How results are shown.


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_results_are_immutable_values(result: Any) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.status = "bounded"
    assert result.neighbours == "replace-one"
    assert result.parameters["n"] in (2, 8)
    assert result == dataclasses.replace(result)
    assert pickle.loads(pickle.dumps(result)) == result or type(result).__name__ == "Structure"


@pytest.mark.parametrize("result", RESULTS, ids=lambda result: type(result).__name__)
def test_results_are_shown(result: Any) -> None:
    shown, html = str(result), result._repr_html_()
    assert shown.startswith(str(result.subject))
    assert "neighbours: replace-one" in shown
    assert html.count("<td>") == html.count("</td>") > 0
    assert repr(result).startswith(f"<{type(result).__name__}: {result.subject}")
    assert "\n" not in repr(result)
    assert len(repr(result)) < 300
    assert json.loads(json.dumps(result.to_dict(), allow_nan=False)) == result.to_dict()


def test_html_is_escaped() -> None:
    assert "&lt;b&gt;" in words.bind(n=1).distribution((0,))._repr_html_()


@pytest.mark.parametrize("result", [RESPONSE.curve(), RESPONSE.tradeoff(), LEAK.distribution((0, 1))])
def test_plots_draw_on_the_given_axes(result: Any) -> None:
    axes = Axes()
    assert result.plot(axes) is axes
    assert {"plot", "bar"} & set(axes.calls)


@pytest.mark.extra("plot")
def test_plots_make_their_own_axes() -> None:
    assert RESPONSE.curve().plot().get_xlabel() == "privacy parameter ε"


def test_long_answers_are_shortened_for_people_only() -> None:
    found = response.bind(n=7, lam="1/5").distribution((0,) * 7)
    assert "... and 88 more rows" in str(found)
    assert len(found.to_dict()["result"]["law"]) == 128
    long = response.bind(n=40, lam="1/7").probability((0,) * 40, (0,) * 40)
    assert long == F(6, 7) ** 40


def test_stats_count_what_was_looked_at() -> None:
    stats = response.bind(n=2, lam="1/5", neighbours=one_flip).privacy().stats
    assert (stats.variables, stats.queries, stats.inference_set) == (6, 4, 16)
    assert (stats.privacy_set, stats.method) == (4 * 2 * 4, "exhaustive")
    assert min(stats.compile, stats.count, stats.search) > 0


def test_stats_carry_the_sizes_of_the_symmetric_sets() -> None:
    stats = response.bind(n=9, lam="1/5").privacy().stats
    assert (stats.inference_set, stats.privacy_set, stats.method) == (10, 18, "independent clients")
    assert stats.symmetries == (
        "clients 1..9 are interchangeable together with their outputs",
        "flipping x_i and y_i together changes nothing",
    )
    counted = total.bind(n=9, lam="1/5").accuracy(1).stats
    assert (counted.accuracy_set, counted.method) == (10, "aggregate")


def test_the_diagram_is_drawn() -> None:
    drawn = RESPONSE.show()
    dot, svg = drawn.dot(), drawn.svg()
    inner = drawn.counts["expanded"] - 2
    assert dot.count("->") == svg.count("<line") - 2 == 2 * inner  # two lines are in the legend
    assert dot.count("style=dashed]") == inner
    assert svg.count("<rect") == drawn.counts["expanded"] + 4
    assert all(f">{word}</text>" in svg for word in ("record", "coin", "output", "true", "false"))
    with pytest.raises(QueryError, match="too many for a readable picture"):
        total.bind(n=40, lam="1/5").show().svg()


def test_instance_says_who_it_is() -> None:
    assert repr(RESPONSE) == "<instance response(n=2, lam=1/5), neighbours replace-one>"
    assert RESPONSE.parameters == {"n": 2, "lam": F(1, 5)}
    assert (RESPONSE.n, RESPONSE.neighbours) == (2, "replace-one")
    assert shame.bind(n=1, neighbours=lambda x: [(0,)]).privacy().neighbours == "<lambda>"
