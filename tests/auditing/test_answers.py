"""The call itself: bad input, shapes of answers, trade-off functions, certified arithmetic."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from fractions import Fraction

import pytest

from observations import audit
from tightdp.auditing import METHODS, Enclosure, Gaussian, Laplace, Polygon, pairs_of_vertices
from tightdp.errors import ParameterError
from tightdp.exact.enclosure import exp, float_above, float_below, ln, normal_cdf

GOOD = {"canaries": 100, "guesses": 20, "correct": 15}


@pytest.mark.parametrize(
    "wrong",
    [
        {"canaries": 0},
        {"guesses": 101},
        {"guesses": -1, "correct": -1},
        {"correct": 21},
        {"correct": 1.5},
        {"delta": -1},
        {"delta": 2},
        {"delta": "much"},
        {"significance": 0},
        {"significance": 1},
        {"method": "guess"},
        {"options": 1},
        {"options": 3, "method": "order-statistics"},
        {"epsilon": -1},
        {"epsilon": 1000},
        {"exp_epsilon": "1/2"},
        {"epsilon": 1, "exp_epsilon": 3},
        {"tradeoff": "poisson"},
        {"tradeoff": 3},
        {"tradeoff": []},
        {"tradeoff": [(2,)]},
        {"tradeoff": [(2, 3)]},
        {"tradeoff": [(2, "1/10")], "epsilon": 1},
        {"tradeoff": [(2, "1/10")], "method": "steinke"},
        {"tradeoff": "gaussian"},
        {"variant": "code"},
        {"variant": "fast", "method": "fdp"},
    ],
)
def test_bad_input_is_refused(wrong):
    with pytest.raises(ParameterError) as caught:
        audit(**{**GOOD, **wrong})
    assert caught.value.what
    assert caught.value.hint


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("guesses", "correct"), [(0, 0), (5, 0), (1, 1), (5, 5)])
def test_small_observations(method, guesses, correct):
    answer = audit(canaries=5, guesses=guesses, correct=correct, delta="1/100", method=method, exp_epsilon=2)
    assert 0 < answer.p_value.upper <= 1
    assert answer.epsilon_lower >= 0
    if correct == 0:
        assert answer.p_value == Enclosure.exactly(1)
        assert answer.exp_epsilon_lower == 1


@pytest.mark.parametrize("method", METHODS)
def test_answers_are_json(method):
    record = json.loads(json.dumps(audit(**GOOD, delta="1e-3", method=method, epsilon="1/10").to_dict()))
    assert record["method"] == method
    assert record["delta"] == "1/1000"
    assert record["p_value_lower"] <= record["p_value"]
    assert record["valid"] in (True, False, "unknown")


def test_float_epsilon_encloses():
    answer = audit(**GOOD, delta="1e-3", epsilon=math.log(2))
    exact = audit(**GOOD, delta="1e-3", exp_epsilon=2).p_value
    assert abs(answer.p_value.upper - exact.upper) < Fraction(1, 10**12)
    assert answer.p_value.lower <= answer.p_value.upper


def test_vertices_give_pairs():
    pairs = pairs_of_vertices([(0, 1), ("1/5", "1/5"), (1, 0)])  # randomized response with ε = ln 4
    assert pairs == ((Fraction(4), Fraction(0)),)
    both = pairs_of_vertices([(0, "9/10"), ("1/5", "1/5"), ("9/10", 0)])
    assert both == ((Fraction(7, 2), Fraction(1, 10)),)
    # Slope -5, then -5/9: the second side is the line of slope -9/5 of the inverse.
    assert pairs_of_vertices([(0, 1), ("1/10", "1/2"), (1, 0)]) == ((Fraction(9, 5), Fraction(0)),)


def test_pairs_below_one_are_mirrored():
    # δ(1/2) = 3/5 in one order says δ(2) = 1/5 in the other.
    assert Polygon(((Fraction(1, 2), Fraction(3, 5)),)).pairs == ((Fraction(2), Fraction(1, 5)),)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("curve", [Gaussian("1/2"), Gaussian(2), Laplace("3/2")])
def test_curves_lie_between_their_polygons(curve):
    outer, inner = dict(curve.outer(curve.logs(10))), curve.inner(curve.logs(10))
    for t in (Fraction(1), Fraction(6, 5), Fraction(2), Fraction(4)):
        value = curve.delta(t)
        assert value.upper - value.lower < Fraction(1, 10**40)
        # δ of a polygon at t: the largest 1 - f(x) - t x over its vertices.
        assert _profile(tuple(outer.items()), t) >= value.lower
        assert _profile(inner, t) <= value.upper
        assert float(_profile(tuple(outer.items()), t) - _profile(inner, t)) < 0.15


def _profile(pairs, t):
    """The δ at t of the mechanism described by the pairs: 1 - min over x of f(x) + t x."""
    slopes = [(s, 1 - d) for s, d in pairs] + [(1 / s, (1 - d) / s) for s, d in pairs] + [(Fraction(0), Fraction(0))]
    corners = {Fraction(0), Fraction(1)}
    for i, (s, a) in enumerate(slopes):
        corners |= {(a - b) / (s - u) for u, b in slopes[:i] if s != u}
    f = {x: max(a - s * x for s, a in slopes) for x in corners if 0 <= x <= 1}
    return max(Fraction(0), 1 - min(y + t * x for x, y in f.items()))


def test_certified_arithmetic():
    e = exp(Fraction(1))
    assert abs(e.lower - Fraction("2.71828182845904523536028747135266249775724709369995")) < Fraction(1, 10**48)
    assert e.lower < e.upper
    assert e.upper - e.lower < Fraction(1, 10**57)
    log = ln(Fraction(2))
    assert abs(log.upper - Fraction("0.69314718055994530941723212145817656807550013436025")) < Fraction(1, 10**48)
    phi = normal_cdf(Enclosure.exactly(1))
    # Φ(1) to 40 digits
    assert phi.lower < Fraction("0.8413447460685429485852325456320379224779") + Fraction(1, 10**39)
    assert phi.upper > Fraction("0.8413447460685429485852325456320379224779") - Fraction(1, 10**39)
    assert phi.upper - phi.lower < Fraction(1, 10**45)
    for x in (Fraction(-8), Fraction(-3, 7), Fraction(0), Fraction(5, 2), Fraction(20)):
        found = normal_cdf(Enclosure.exactly(x))
        assert float_below(found.lower) <= 0.5 * math.erfc(-float(x) / math.sqrt(2)) * (1 + 1e-12)
        assert float_above(found.upper) >= 0.5 * math.erfc(-float(x) / math.sqrt(2)) * (1 - 1e-12)


def test_audit_of_a_pair_needs_no_heavy_library():
    code = (
        "import sys; from tightdp.auditing import audit, checked;"
        "audit(checked(canaries=1000, guesses=100, correct=75, delta='1e-4', epsilon='1/2'));"
        "print([m for m in ('numpy', 'scipy', 'sympy', 'dd') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("method", ["optimal", "fdp", "steinke"])
def test_an_answer_says_what_is_assumed_of_the_guesser(method):
    pure, approximate = (audit(**GOOD, delta=delta, method=method).why for delta in (0, "1/1000"))
    assert "the guesser saw only the output, or the number of guesses was fixed before the run" in pure
    assert "the guesser saw only the output, and the number of guesses was fixed before the run" in approximate


def test_pairs_that_another_implies_are_dropped():
    kept = ((Fraction(7, 2), Fraction(2, 3)),)
    assert Polygon(((Fraction(5, 2), Fraction(1)), *kept)).pairs == kept
    assert Polygon(((Fraction(5, 2), Fraction(20, 27)), *kept)).pairs == kept
    assert len(Polygon(((Fraction(5, 2), Fraction(19, 27)), *kept)).pairs) == 2
    assert Polygon(((Fraction(2), Fraction(1)),)).pairs == ((2, 1),)
