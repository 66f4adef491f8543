"""Answers as tables: rows to iterate over, data frames, and curves that are evaluated."""

from __future__ import annotations

import csv
import io
import math
from fractions import Fraction as F
from typing import Any

import pytest

from answered import RESPONSE, TOTAL, response, stopped_after, total
from tightdp import QueryError, audit, canaries_needed
from tightdp.exact.numbers import rounded
from tightdp.results.result import Result

CUT_SHORT = stopped_after(total.bind(n=8, lam="1/5", method="exhaustive"), 3).privacy()

TABLES: list[tuple[Any, str, int]] = [
    (RESPONSE.privacy(), "n lam exp_epsilon epsilon status lower upper", 1),
    (CUT_SHORT, "n lam exp_epsilon epsilon status lower upper", 1),
    (RESPONSE.privacy(top=2), "exp_epsilon epsilon x x_prime output probability probability_prime triples", 2),
    (RESPONSE.renyi("3/2"), "n lam exp_moment status lower upper", 1),
    (RESPONSE.zcdp(), "n lam rho status lower upper", 1),
    (RESPONSE.curve(), "exp_epsilon epsilon delta", 2),
    (RESPONSE.tradeoff(), "false_positive_rate false_negative_rate", 3),
    (RESPONSE.distribution((0, 1)), "output probability", 4),
    (RESPONSE.likelihood((0, 1), (1, 1)), "output probability probability_prime ratio", 4),
    (RESPONSE.failure(), "n lam probability status lower upper", 1),
    (RESPONSE.sample((0, 1), size=3), "output", 3),
    (RESPONSE.show(), "n lam variables input_bits coins output_bits nodes expanded status lower upper", 1),
    (RESPONSE.report(), "n lam exp_epsilon epsilon status lower upper", 1),
    (RESPONSE.explain(epsilon=1), "line text published fixed", 1),
    (TOTAL.accuracy(1, top=3), "x one_minus_beta inputs", 3),
    (TOTAL.accuracy(beta="1/10"), "n lam alpha status lower upper", 1),
    (TOTAL.utility(), "measure value x", 3),
    (TOTAL.verify(epsilon=1, alpha=1, beta="1/10"), "claim claimed tight holds witness", 2),
    (TOTAL.optimum(alpha=1), "n lam optimum own exp_epsilon status lower upper", 1),
    (TOTAL.efficacy(), "guesses efficacy ac ddp dp element_gap output_gap interference_gap adaptive", 8),
    (TOTAL.guessing(), "guesses right probability", 9),
    (TOTAL.guessing().reported("optimal"), "epsilon probability", 3),
    (canaries_needed(TOTAL, at_most=4), "canaries power reported exp_epsilon", 3),
    (TOTAL.sweep({"n": [1, 2]}), "n exp_epsilon epsilon status lower upper", 2),
    (TOTAL.sweep({"n": [1], "lam": ["1/5", "1/3"]}, alpha=1), "lam one_minus_beta status lower upper", 2),
    (audit(canaries=9, guesses=9, correct=9), "method canaries guesses correct delta significance guarantee", 1),
    (response.bind(n=2, lam="?").privacy(), "from to exp_epsilon witness", 2),
    (response.bind(n=2, lam="?").solve(epsilon=1), "from to from_included to_included safe_from safe_to", 1),
    (response.bind(n="all", lam="1/5").privacy(), "n lam exp_epsilon epsilon status lower upper", 1),
]


def named(table: Any) -> str:
    return type(table).__name__


@pytest.mark.parametrize(("table", "columns", "length"), TABLES, ids=lambda part: named(part))
def test_every_answer_is_a_table(table: Any, columns: str, length: int) -> None:
    rows = list(table)
    assert len(rows) == length
    assert {tuple(row)[: len(columns.split())] for row in rows} == {tuple(columns.split())}


@pytest.mark.extra("pandas")
@pytest.mark.parametrize(("table", "columns", "length"), TABLES, ids=lambda part: named(part))
def test_every_answer_is_a_data_frame(table: Any, columns: str, length: int) -> None:
    frame = table.to_frame()
    assert len(frame) == length
    assert list(frame.columns)[: len(columns.split())] == columns.split()
    assert list(table.to_frame(exact=True).to_dict("list")) == list(frame.columns)
    if isinstance(table, Result):
        assert frame.attrs["mechanism"] == table.mechanism or table.query == "audit"
    for name in {"exp_epsilon", "probability", "delta", "rho"} & set(frame.columns):
        assert "Fraction" not in str(frame[name].map(type).tolist())


@pytest.mark.extra("pandas")
def test_ends_in_a_frame_are_rounded_outward() -> None:
    found = RESPONSE.renyi("3/2")
    (row,) = found.to_frame().to_dict("records")
    assert F(row["lower"]) <= found.lower < found.upper <= F(row["upper"])


def test_floats_on_either_side() -> None:
    third = F(1, 3)
    assert F(rounded(third, False)) < third < F(rounded(third, True))
    assert rounded(F(1, 2), True) == rounded(F(1, 2), False) == 0.5
    assert rounded(F(10) ** 400, True) == math.inf
    assert rounded(F(10) ** 400, False) < math.inf


def test_the_csv_of_a_sweep_is_its_table() -> None:
    found = TOTAL.sweep({"n": [1, 2], "lam": ["1/5", "1/3"]})
    read = list(csv.DictReader(io.StringIO(found.csv())))
    assert [list(row) for row in read] == [list(row) for row in found]
    assert [F(row["exp_epsilon"]) for row in read] == [row["exp_epsilon"] for row in found]


def test_what_is_not_known_is_none() -> None:
    (row,) = CUT_SHORT
    assert row["exp_epsilon"] is row["upper"] is None
    assert row["status"] == "unresolved"
    (infinite,) = response.bind(n=1, lam=0).privacy()
    assert infinite["exp_epsilon"] == infinite["upper"] == infinite["lower"] == math.inf


@pytest.mark.parametrize("epsilon", [0, "1/2", 1, "7/5", 3, 0.1234567891234])
def test_a_curve_is_evaluated(epsilon: Any) -> None:
    curve, asked = TOTAL.curve(), TOTAL.delta(epsilon=epsilon)
    found = curve(epsilon)
    assert found.lower <= asked.delta
    assert asked.lower <= found.delta
    assert found.epsilon == asked.epsilon
    if asked.status == "exact" and found.status == "exact":
        assert found.delta == asked.delta
    assert found == curve.delta(epsilon=epsilon)


def test_a_curve_at_rational_points() -> None:
    for t in (1, "3/2", 4, 7):
        assert TOTAL.curve().delta(exp_epsilon=t).delta == TOTAL.delta(exp_epsilon=t).delta
    with pytest.raises(QueryError, match="begins at e"):
        TOTAL.curve().delta(exp_epsilon="1/2")


def test_an_enclosed_curve_is_enclosed_where_it_is_evaluated() -> None:
    curve = response.bind(n=2, lam="1/5", precision="1/1000").privacy_loss().compose(2).curve()
    exact = RESPONSE.privacy_loss().compose(2)
    for epsilon in (0, "1/3", 1, 2):
        found, true = curve(epsilon), exact.delta(epsilon=epsilon)
        assert found.lower <= true.delta <= found.delta


def test_a_curve_that_was_cut_short_is_a_lower_end() -> None:
    curve = stopped_after(total.bind(n=8, lam="1/5", method="exhaustive"), 3).curve()
    assert curve.status == "unresolved"
    found, true = curve(1), TOTAL.delta(epsilon=1)
    assert found.status == "unresolved"
    assert found.lower <= true.delta <= found.delta == 1


def test_a_tradeoff_function_is_evaluated() -> None:
    function = RESPONSE.tradeoff()
    assert [function(rate) for rate in (0, "1/10", "1/5", "3/5", 1)] == [
        1,
        F(3, 5),
        F(1, 5),
        F(1, 10),
        0,
    ]
