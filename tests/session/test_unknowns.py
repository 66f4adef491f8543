"""Mechanisms with an unknown: pieces against the engine with numbers, at random rationals and where pieces meet."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction as F
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sympy

from command_line import run
from conftest import FULL
from generators.comparison import TooSlow, imported, time_limit
from generators.mechanisms import draw_mechanism
from parametrised import differences, ends_of, value_at, with_parameter
from thinned import thinned
from tightdp import (
    ALL,
    Bit,
    Int,
    LanguageError,
    LimitError,
    Mechanism,
    ParameterError,
    ProgramError,
    QueryError,
    choice,
    exp,
    flip,
    geometric,
    mechanism,
)
from tightdp.exact.field import exp as number
from tightdp.session.cellwise import limit_of
from tightdp.session.files import import_file
from tightdp.session.mechanism import mechanisms_of

PROGRAMS = Path(__file__).parents[2] / "programs"
COUNT = 1_000 if FULL else 3
DRAWN = 400 if FULL else 30

THRESHOLD = {"k": 2, "threshold": 1, "ratio_threshold": "1/2"}
CASES: list[tuple[str, int, str, int, dict[str, Any]]] = [
    ("randomized_response", 5, "lam", 1, {}),
    ("randomized_response_count", 6, "lam", 1, {}),
    ("geometric_count", 6, "ratio", 1, {}),
    ("exponential_mechanism", 4, "base", 4, {"candidates": 3}),
    ("k_ary_randomized_response", 3, "exp_epsilon", 4, {"k": 3}),
    ("shuffled_randomized_response", 5, "lam", 5, {}),
    ("xor_randomized_response", 4, "lam", 1, {}),
    ("randomized_response_delta", 3, "delta", 1, {"exp_epsilon": 2}),
    ("randomized_response_delta", 3, "exp_epsilon", 9, {"delta": "1/10"}),
    ("above_threshold", 3, "ratio_query", 1, {"k": 2, "threshold": 1, "ratio_threshold": "1/2"}),
    ("above_threshold", 2, "ratio_threshold", 1, {"k": 2, "threshold": 1, "ratio_query": "1/2"}),
    ("report_noisy_max", 3, "ratio", 1, {"k": 2, "margin": 2}),
    ("shuffled_histogram", 4, "lam", 3, {"values": 2}),
    ("all_or_nothing", 3, "p", 1, {}),
    ("above_threshold_unbounded", 2, "ratio_query", 1, THRESHOLD),
    ("above_threshold_artifact", 2, "ratio_query", 1, THRESHOLD),
    ("batches:poisson_batches", 2, "ratio", 1, {"batches": 2}),
    ("batches:shuffled_batches", 2, "ratio", 1, {"batches": 2}),
    ("batches:bins_batches", 2, "ratio", 1, {"batches": 2}),
    ("batches:one_in_poisson", 2, "ratio", 1, {"batches": 2}),
    ("batches:one_in_bins", 2, "ratio", 1, {"batches": 2}),
    ("batches:one_inserted", 1, "ratio", 1, {"others": (0, 1)}),
    ("bit_vector_randomized_response", 2, "lam", 1, {"d": 2}),
    ("bit_vector_randomized_response:bit_vector_unprotected", 2, "lam", 1, {"d": 2}),
    ("idealised_dp_sgd", 2, "rate", 1, {"s": 2, "steps": 1, "ratio": "1/2"}),
    ("idealised_dp_sgd", 2, "ratio", 1, {"s": 2, "steps": 1, "rate": "1/2"}),
    ("pure_from_approximate", 1, "exp_epsilon", 3, {"weights": ((3, 1), (1, 3)), "k": 2, "rounds": 1}),
    ("shuffled_real_sum", 2, "lam", 2, {"m": 2, "r": 1}),
    ("sparse_vector", 2, "ratio_query", 1, {**THRESHOLD, "cutoff": 1}),
    ("sparse_vector:sparse_vector_fresh_threshold", 2, "ratio_query", 1, {**THRESHOLD, "cutoff": 1}),
    ("sparse_vector:sparse_vector_noisy_answers", 2, "ratio_query", 1, {**THRESHOLD, "cutoff": 1}),
    ("sparse_vector:sparse_vector_exact_answers", 2, "ratio_threshold", 1, {"k": 2, "threshold": 1}),
    ("sparse_vector:sparse_vector_no_cutoff", 2, "ratio_query", 1, THRESHOLD),
]


@mechanism(record=Bit)
def majority(x: Any, lam: Any) -> Any:
    """Whether most of the noisy bits are 1."""
    return sum(1 - b if flip(lam) else b for b in x) > len(x) // 2


@mechanism(record=Int(0, 2))
def winner(x: Any, eps: Any) -> Any:
    """The exponential mechanism, for the commonest record."""
    return choice(range(3), weights=[exp(eps * sum(r == k for r in x) / 2) for k in range(3)])


@mechanism(record=Bit, target=sum)
def counted(x: Any, lam: Any) -> Any:
    """The sum of randomized responses."""
    return sum(1 - b if flip(lam) else b for b in x)


@mechanism(record=Bit)
def branching(x: Any, lam: Any) -> Any:
    """Branches on the unknown, with a border that is no rational and one that is alone."""
    p = lam if lam * lam < F(1, 2) else 1 - lam
    q = 0 if lam == F(1, 3) else min(lam, F(1, 4))
    return flip(p) ^ x[0], flip(q / 2 + F(1, 4)) ^ x[1]


@mechanism(record=Bit)
def touching(x: Any, lam: Any) -> Any:
    """A probability that is 0 at one point within the range."""
    return tuple(1 - b if flip((1 - 2 * lam) ** 2) else b for b in x)


def program(name: str) -> Mechanism:
    file, _, own = name.partition(":")
    found = mechanisms_of(import_file(PROGRAMS / f"{file}.py"))
    return found[own or next(iter(found))]


def rationals(most: int, count: int, seed: int = 0) -> list[F]:
    rng = random.Random(seed)
    return [F(rng.randint(1, 1000 * most - 1), 1000) for _ in range(count)]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("name", "n", "unknown", "most", "others"), thinned(CASES, 2))
def test_programs_at_random_rationals_and_at_ends(
    name: str, n: int, unknown: str, most: int, others: dict[str, Any]
) -> None:
    m, t = program(name), F(3, 2)
    found = m.bind(n=n, **{unknown: "?"}, **others)
    pure, approximate = found.privacy(), found.delta(exp_epsilon=t)

    @cache
    def at(value: F) -> Any:
        return m.bind(n=n, **{unknown: value}, **others)

    values = rationals(most, COUNT)
    inside = [value for value in (*values, *ends_of(pure)) if value_at(pure, value) is not None]
    assert len(inside) > len(values) // 2
    assert differences(pure, inside, lambda value: at(value).privacy().exp_epsilon) == []
    inside = [value for value in (*values, *ends_of(approximate)) if value_at(approximate, value) is not None]
    assert differences(approximate, inside, lambda value: at(value).delta(exp_epsilon=t).delta) == []
    if m.program.target is not None:
        accurate = found.accuracy(1)
        inside = [value for value in (*values, *ends_of(accurate)) if value_at(accurate, value) is not None]
        assert differences(accurate, inside, lambda value: at(value).accuracy(1).one_minus_beta) == []


@pytest.mark.parametrize(
    ("name", "unknown"),
    [("randomized_response", "lam"), ("geometric_count", "ratio"), ("randomized_response_count", "lam")],
)
@pytest.mark.slow
def test_fifty_clients(name: str, unknown: str) -> None:
    m = program(name)
    found = m.bind(n=50, **{unknown: "?"}).privacy()
    values = [*rationals(1, 20 if FULL else 2), *ends_of(found)]
    inside = [value for value in values if value_at(found, value) is not None]
    assert differences(found, inside, lambda value: m.bind(n=50, **{unknown: value}).privacy().exp_epsilon) == []


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(DRAWN))
def test_drawn_programs_with_an_unknown(seed: int) -> None:
    drawn = draw_mechanism(seed)
    with imported(with_parameter(drawn.source, seed)) as module:
        try:
            with time_limit(20):
                found = module.f.bind(n=drawn.n, q="?[1/10,9/10]", max_nodes=20_000)
                pure, approximate = found.privacy(), found.delta(exp_epsilon=2)
        except TooSlow:
            pytest.skip("its pieces take longer than twenty seconds")
        except (LanguageError, LimitError, ParameterError, ProgramError, QueryError):
            with pytest.raises((LanguageError, LimitError, ParameterError, ProgramError, QueryError)):
                module.f.bind(n=drawn.n, q="3/7", max_nodes=20_000).privacy()
            return
        values = [F(1, 10) + F(4, 5) * value for value in rationals(1, 40 if FULL else 3, seed)]

        @cache
        def at(value: F) -> Any:
            return module.f.bind(n=drawn.n, q=value)

        inner = [value for value in ends_of(pure) if F(1, 10) <= value <= F(9, 10)]
        assert differences(pure, [*values, *inner], lambda value: at(value).privacy().exp_epsilon) == []
        assert differences(approximate, values, lambda value: at(value).delta(exp_epsilon=2).delta) == []


def test_a_wrong_piece_is_noticed() -> None:
    found = counted.bind(n=3, lam="?").privacy()
    assert differences(found, [F(1, 3)], lambda value: counted.bind(n=3, lam=value + F(1, 1000)).privacy().exp_epsilon)


def test_where_answers_are_not_continuous() -> None:
    found = branching.bind(n=2, lam="?").privacy()
    values = [*rationals(1, 20), F(1, 3), *ends_of(found)]
    assert F(1, 3) in ends_of(found)
    assert any(part.start.value == part.stop.value == F(1, 3) for part in found.pieces)
    assert any(part.stop.value is None and part.stop.polynomial == "-1 + 2*lam**2" for part in found.pieces)
    assert differences(found, values, lambda value: branching.bind(n=2, lam=value).privacy().exp_epsilon) == []


def test_a_probability_that_is_0_at_a_point() -> None:
    found = touching.bind(n=2, lam="?").privacy()
    assert value_at(found, F(1, 2)) == math.inf == touching.bind(n=2, lam="1/2").privacy().exp_epsilon


def test_an_unknown_exponent() -> None:
    found = winner.bind(n=4, eps="?").privacy()
    for value in (F(1, 2), F(1), F(7, 3)):
        assert value_at(found, value) == winner.bind(n=4, eps=value).privacy().exp_epsilon
    solved = winner.bind(n=4, eps="?").solve(epsilon=1)
    ((span,), last) = solved.holds, solved.holds[-1].safe_stop
    assert span.start.value == 0
    assert last is not None
    assert winner.bind(n=4, eps=last).verify(epsilon=1).holds
    assert winner.bind(n=4, eps=last + F(1, 1000)).verify(epsilon=1).holds is False


@pytest.mark.parametrize("n", [5, 25])
def test_the_least_noise_for_a_claim(n: int) -> None:
    (span,) = majority.bind(n=n, lam="?[0,1/2]").solve(epsilon="1/2").holds
    assert span.stop.value == F(1, 2) == span.safe_stop
    assert span.safe_start is not None
    assert majority.bind(n=n, lam=span.safe_start).verify(epsilon="1/2").holds
    assert majority.bind(n=n, lam=span.safe_start - F(1, 10**9)).verify(epsilon="1/2").holds is False
    assert span.start.low < span.start.high < span.safe_start


@pytest.mark.parametrize("n", [1, 2, 3])
def test_an_end_that_belongs_to_the_answer_is_safe_itself(n: int) -> None:
    """Also where it is a rational root that is found as one of a polynomial."""
    (span,) = counted.bind(n=n, lam="?[0,1]").solve(exp_epsilon=4).holds
    assert (span.start.value, span.with_start, span.safe_start) == (F(1, 5), True, F(1, 5))
    assert (span.stop.value, span.with_stop, span.safe_stop) == (F(4, 5), True, F(4, 5))


@pytest.mark.slow(seconds=3)
def test_claims_with_a_delta_and_an_accuracy() -> None:
    instance = counted.bind(n=6, lam="?")
    both = instance.solve(epsilon=1, delta="1/10", alpha=2, beta="1/5")
    for value in rationals(1, 25):
        verdict = counted.bind(n=6, lam=value).verify(epsilon=1, delta="1/10", alpha=2, beta="1/5").holds
        assert verdict == any(float(span.start) <= value <= float(span.stop) for span in both.holds)
    assert counted.bind(n=6, lam="?[2/5,1/2]").verify(epsilon=1)
    refuted = instance.verify(epsilon=1)
    assert refuted.holds is False
    assert counted.bind(n=6, lam=refuted.parameters["lam"]).verify(epsilon=1).holds is False
    assert instance.solve(alpha=0, beta=0).holds[0].start.value == 0
    assert counted.bind(n=2, lam="?[1/4,1/3]").solve(exp_epsilon=1).holds == ()


def test_claims_with_the_unknown_in_them() -> None:
    """What the exponential mechanism promises, for all ε; and a claim that holds on a part of a range."""
    assert winner.bind(n=4, eps="?").verify(epsilon="eps")
    refuted = winner.bind(n=4, eps="?").verify(epsilon="eps/2")
    assert refuted.holds is False
    value = refuted.parameters["eps"]
    assert winner.bind(n=4, eps=value).verify(epsilon=value / F(2)).holds is False
    assert counted.bind(n=3, lam="?[0,1/2]").verify(exp_epsilon="(1 - lam)/lam")
    (span,) = counted.bind(n=3, lam="?[0,1/2]").solve(exp_epsilon="2 - lam").holds
    assert span.safe_start is not None
    assert counted.bind(n=3, lam=span.safe_start).verify(exp_epsilon=2 - span.safe_start)
    assert counted.bind(n=3, lam=span.safe_start - F(1, 10**9)).verify(exp_epsilon=2 - span.safe_start).holds is False
    for wrong in ("lam + other", "lam +"):
        with pytest.raises(ParameterError):
            counted.bind(n=3, lam="?").verify(exp_epsilon=wrong)
    assert counted.bind(n=3, lam="?").verify(exp_epsilon="exp(lam*lam)").holds is False, "refuted at one value"
    refuted = counted.bind(n=3, lam="?").verify(epsilon="lam", delta="1/10")
    assert refuted.holds is False
    value = refuted.parameters["lam"]
    assert counted.bind(n=3, lam=value).verify(epsilon=value, delta="1/10").holds is False


@pytest.mark.slow(seconds=2)
def test_unbounded_noise_that_meets_for_all_epsilon() -> None:
    found = first_above.bind(n=2, eps="?").privacy()
    values = [F(1, 2), F(1), F(2)]
    assert differences(found, values, lambda value: first_above.bind(n=2, eps=value).privacy().exp_epsilon) == []
    assert first_above.bind(n=2, eps="?").verify(epsilon="eps")


@mechanism(record=Int(-1, 1), neighbours="unit-all")
def first_above(x: Any, eps: Any) -> Any:
    """The sparse vector technique, until the first answer above the threshold."""
    threshold = geometric(0, exp(-eps / 2))
    for at in range(len(x)):
        if geometric(x[at], exp(-eps / 4)) >= threshold:
            return at
    return None


def test_the_best_accuracy() -> None:
    best = counted.bind(n=6, lam="?").solve(epsilon=1, alpha=1, best="accuracy").best
    assert best is not None
    assert best.at.value == 1 / (1 + number(1))
    assert best.exp_epsilon == number(1)
    values = [counted.bind(n=6, lam=value).accuracy(1).one_minus_beta for value in (F(27, 100), F(1, 2), F(73, 100))]
    assert all(best.one_minus_beta > value for value in values)  # type: ignore[operator]
    inner = counted.bind(n=2, lam="?[1/10,9/10]").solve(exp_epsilon=100, alpha=0, best="accuracy").best
    assert inner is not None
    assert inner.at.value == F(1, 10)


def test_what_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for given, words in [
        ({"lam": "?[1/2,1/10]"}, "is empty"),
        ({"lam": "?[1,1]"}, "is empty"),
        ({"lam": "?(0,1)"}, "not an unknown"),
        ({"lam": ["?"]}, "inside of the tuple"),
    ]:
        with pytest.raises(ParameterError, match=words):
            counted.bind(n=2, **given)
    with pytest.raises(ParameterError, match="2 parameters are unknown: first, second"):
        two.bind(n=2, first="?", second="?")
    with pytest.raises(QueryError, match="n = all with the unknown lam"):
        counted.bind(n=ALL, lam="?").privacy(delta="1/10")
    with pytest.raises(ProgramError, match="for lam"):
        counted.bind(n=2, lam="?[1/2,2]").privacy()
    with pytest.raises(QueryError, match="no answer with lam unknown"):
        counted.bind(n=2, lam="?").curve()
    with pytest.raises(QueryError, match="no parameter is unknown"):
        counted.bind(n=2, lam="1/3").solve(epsilon=1)
    for source, words in [
        ("    return sum(flip('1/2') for _ in range(p)) + x[0]", "p is not an integer"),
        ("    return x[0] ^ flip(exp(-p * p))", "exp is taken of an expression with the unknown"),
    ]:
        file = tmp_path / "bad.py"
        file.write_text(
            f"from tightdp import *\n\n@mechanism(record=Bit)\ndef bad(x, p):\n{source}\n", encoding="utf-8"
        )
        status, _, said = run(capsys, "privacy", str(file), "n=1", "p=?")
        assert status == 2
        assert words in said
        assert "bad.py:5:" in said
        assert "with p unknown" in said


@mechanism(record=Bit)
def two(x: Any, first: Any, second: Any) -> Any:
    """Two parameters."""
    return flip(first) ^ flip(second) ^ x[0]


def test_json_and_symbols(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(
        capsys, "privacy", str(PROGRAMS / "randomized_response.py"), "n=2", "lam=?[1/10,1/2]", "--json"
    )
    answer = json.loads(out)
    assert (status, answer["parameters"]["lam"], answer["status"]) == (0, "?[1/10, 1/2]", "exact")
    (piece,) = answer["result"]["pieces"]
    assert (piece["from"], piece["to"], piece["exp_epsilon"]) == ("1/10", "1/2", "(1 - lam)/lam")
    assert sympy.sympify(piece["witness"]["probability"]).subs("lam", sympy.Rational(1, 5)) == sympy.Rational(16, 25)
    found = counted.bind(n=2, lam=sympy.Symbol("lam")).privacy()
    assert [part.value.to_sympy() for part in found.pieces]
    status, out, _ = run(
        capsys, "solve", str(PROGRAMS / "randomized_response.py"), "n=2", "lam=?", "--epsilon", "1", "--json"
    )
    (span,) = json.loads(out)["result"]["holds"]
    assert (status, span["from"], span["to"]) == (0, "1/(1 + exp(1))", "exp(1)/(1 + exp(1))")
    assert F(span["safe_from"]) < F(span["safe_to"])
    law = counted.bind(n=2, lam="?").distribution((0, 1))
    assert {output: value_at_third(mass) for output, mass in law.pieces[0].value} == {
        0: F(2, 9),
        1: F(5, 9),
        2: F(2, 9),
    }


def value_at_third(mass: Any) -> Any:

    return limit_of(mass, F(1, 3))


@pytest.mark.extra("plot")
def test_pictures() -> None:
    instance = counted.bind(n=3, lam="?")
    for result in (
        instance.privacy(),
        instance.delta(exp_epsilon=2),
        instance.accuracy(1),
        instance.distribution((0, 0, 1)),
    ):
        axes = result.plot()
        assert axes.get_xlabel() == "parameter lam"
        assert axes.lines
