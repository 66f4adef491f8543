"""Every program gives the answers recorded beside it: by brute force, from the engine, and when it is run."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

import expectations
from expectations import Law, Oracle, are_neighbours, number, ratio
from thinned import thinned
from tightdp import ALL, Instance, errors

RECORDED = list(expectations.expectations())
DISTRIBUTIONS = [(name, expected) for name, expected in RECORDED if expected["query"] == "distribution"]
LABELS = [expectations.label(name, expected) for name, expected in RECORDED]
BACKENDS = ["cudd", "autoref"]
F = Fraction


# What is recorded is well-formed.


@pytest.mark.parametrize(("name", "expected"), RECORDED, ids=LABELS)
def test_recorded_answers_follow_the_schema(name: str, expected: dict[str, Any]) -> None:
    keys = set(expected) - {"mechanism", "query", "parameters", "neighbours"}
    assert keys == {"error"} or keys <= expectations.KEYS[expected["query"]]
    assert "n" in expected["parameters"]
    assert expected["mechanism"] in expectations.mechanisms(name)


@pytest.mark.parametrize("name", expectations.names())
def test_a_program_is_plain(name: str) -> None:
    tree = ast.parse((expectations.PROGRAMS / f"{name}.py").read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert all(isinstance(node, ast.ImportFrom) and node.module in ("tightdp", "fractions") for node in imports)
    assert "Source:" in (ast.get_docstring(tree) or "")
    assert "Parameters:" in (ast.get_docstring(tree) or "")
    for mechanism in expectations.mechanisms(name):
        queries = {expected["query"] for _, expected in RECORDED if expected["mechanism"] == mechanism}
        assert {"privacy", "distribution"} <= queries


def test_the_table_lists_every_program() -> None:
    table = (expectations.PROGRAMS / "README.md").read_text()
    assert [name for name in expectations.names() if f"[{name}.py]({name}.py)" not in table] == []


# Brute force finds it again.


@cache
def oracle(place: int) -> Oracle:
    """The oracle of the first recorded answer about the same mechanism, parameters and neighbours."""
    name, expected = RECORDED[place]
    return Oracle(expectations.bind(name, expected))


def same_subject(expected: dict[str, Any]) -> int:
    """The place of the first recorded answer about the same mechanism, parameters and neighbours."""
    keys = ("mechanism", "parameters", "neighbours")
    subjects = [[other.get(key) for key in keys] for _, other in RECORDED]
    return subjects.index([expected.get(key) for key in keys])


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("name", "expected"), thinned(RECORDED, 3), ids=LABELS)
def test_brute_force(name: str, expected: dict[str, Any]) -> None:
    found = oracle(same_subject(expected))
    if "error" in expected:
        with pytest.raises(getattr(errors, expected["error"])):
            found.exp_epsilon()
        return
    if found.endless:
        check_within(found, expected)
        return
    match expected["query"]:
        case "privacy":
            assert found.exp_epsilon() == number(expected["exp_epsilon"])
            check_recorded_triple(found, expected)
        case "delta":
            assert found.delta(F(expected["exp_epsilon"])) == F(expected["delta"])
            check_recorded_pair(found, expected)
        case "epsilon":
            assert found.least_exp_epsilon(F(expected["delta"])) == number(expected["exp_epsilon"])
        case "accuracy":
            check_accuracies(found.accuracies(F(expected["alpha"])), expected)
        case "distribution":
            assert found.law(expected["x"]) == recorded_law(expected)


def check_within(found: Oracle, expected: dict[str, Any]) -> None:
    """What is recorded lies between the ends that runs with noise within reach give."""
    if expected["query"] == "privacy":
        least, most = found.exp_epsilon_ends()
        assert least <= number(expected["exp_epsilon"]) <= most
        assert least > min(number(expected["exp_epsilon"]) / 2, 20)
        return
    assert expected["query"] == "distribution"
    masses, beyond = found.ends(expected["x"])
    law = recorded_law(expected)
    assert sum(law.values()) == 1
    assert all(masses.get(y, 0) <= probability <= masses.get(y, 0) + beyond for y, probability in law.items())
    assert masses.keys() <= law.keys()


def check_recorded_triple(found: Oracle, expected: dict[str, Any]) -> None:
    if "witness" in expected:
        x, x_prime, output = (expected["witness"][key] for key in ("x", "x_prime", "output"))
        assert are_neighbours(found.bound.neighbours, x, x_prime)
        attained = ratio(found.law(x)[output], found.law(x_prime).get(output, 0))
        assert attained == number(expected["exp_epsilon"])


def check_recorded_pair(found: Oracle, expected: dict[str, Any]) -> None:
    if "witness" in expected:
        x, x_prime = expected["witness"]["x"], expected["witness"]["x_prime"]
        assert are_neighbours(found.bound.neighbours, x, x_prime)
        assert found.divergence(x, x_prime, F(expected["exp_epsilon"])) == F(expected["delta"])


def check_accuracies(by_dataset: dict[Any, Fraction], expected: dict[str, Any]) -> None:
    ranking = sorted(set(by_dataset.values()))
    assert ranking[0] == F(expected["one_minus_beta"])
    if "worst" in expected:
        assert {x for x, value in by_dataset.items() if value == ranking[0]} == set(expected["worst"])
    if "next" in expected:
        assert ranking[1] == F(expected["next"])


def recorded_law(expected: dict[str, Any]) -> Law:
    return {output: F(probability) for output, probability in expected["law"]}


# The engine agrees, on both back ends.


@cache
def instance(place: int, backend: str) -> Instance:
    name, expected = RECORDED[place]
    mechanism = expectations.mechanisms(name)[expected["mechanism"]]
    return mechanism.bind(neighbours=expected.get("neighbours"), backend=backend, **expected["parameters"])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("name", "expected"), RECORDED, ids=LABELS)
def test_engine(name: str, expected: dict[str, Any], backend: str) -> None:
    place = same_subject(expected)
    asked = instance(place, backend)
    if "error" in expected:
        with pytest.raises(getattr(errors, expected["error"])):
            asked.privacy()
        return
    match expected["query"]:
        case "privacy":
            check_privacy(asked, oracle(place), expected)
        case "delta":
            check_delta(asked, oracle(place), expected)
        case "epsilon":
            assert asked.epsilon(delta=expected["delta"]).exp_epsilon == number(expected["exp_epsilon"])
        case "accuracy":
            check_accuracy(asked, expected)
        case "distribution":
            assert dict(asked.distribution(expected["x"]).law) == recorded_law(expected)


def check_privacy(asked: Instance, found: Oracle, expected: dict[str, Any]) -> None:
    """The value is as recorded, the witness attains it, and a published claim gets its verdict."""
    value = number(expected["exp_epsilon"])
    answer = asked.privacy()
    assert answer.exp_epsilon == value
    witness: Any = answer.witness
    assert are_neighbours(found.bound.neighbours, witness.x, witness.x_prime)
    for x, probability in ((witness.x, witness.probability), (witness.x_prime, witness.probability_prime)):
        masses, beyond = found.ends(x) if found.endless else (found.law(x), 0)
        assert 0 <= probability - masses.get(witness.output, 0) <= beyond
    assert ratio(witness.probability, witness.probability_prime) == value
    if "claimed" in expected:
        assert asked.verify(exp_epsilon=expected["claimed"]).holds is (value <= number(expected["claimed"]))


def check_delta(asked: Instance, found: Oracle, expected: dict[str, Any]) -> None:
    """The value is as recorded, and the pair and the event of the witness attain it."""
    answer = asked.delta(exp_epsilon=expected["exp_epsilon"])
    assert answer.delta == F(expected["delta"])
    witness = answer.witness
    if witness is not None:
        assert are_neighbours(found.bound.neighbours, witness.x, witness.x_prime)
        law, other = found.law(witness.x), found.law(witness.x_prime)
        t = F(expected["exp_epsilon"])
        assert sum(law.get(y, 0) - t * other.get(y, 0) for y in witness.event) == answer.delta


def check_accuracy(asked: Instance, expected: dict[str, Any]) -> None:
    answer = asked.accuracy(alpha=expected["alpha"])
    assert answer.one_minus_beta == F(expected["one_minus_beta"])
    if "worst" in expected:
        assert answer.x in expected["worst"]
        assert answer.top[0].inputs == len(expected["worst"])
    if "next" in expected:
        assert answer.top[1].one_minus_beta == F(expected["next"])


NOISE = {"k": 3, "threshold": 1, "ratio_threshold": "1/2", "ratio_query": "1/2"}


LONG = pytest.mark.slow(seconds=5)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("mechanism", "parameters", "claimed", "holds"),
    [
        pytest.param("sparse_vector", {"cutoff": 1, **NOISE}, 8, True, marks=LONG),
        pytest.param("sparse_vector", {"cutoff": 2, **NOISE}, 32, True, marks=LONG),
        ("sparse_vector", {"cutoff": 2, **NOISE}, 4, False),
        pytest.param("sparse_vector_fresh_threshold", {"cutoff": 2, **NOISE}, 64, True, marks=LONG),
        ("sparse_vector_noisy_answers", {"cutoff": 1, **NOISE}, 4, False),
        ("sparse_vector_exact_answers", {key: NOISE[key] for key in NOISE if key != "ratio_query"}, 4, False),
        ("sparse_vector_no_cutoff", NOISE, 4, False),
    ],
)
def test_claims_about_the_sparse_vector_technique_for_every_n(
    mechanism: str, parameters: dict[str, Any], claimed: int, holds: bool
) -> None:
    found = expectations.mechanisms("sparse_vector")[mechanism].bind(n=ALL, **parameters).verify(exp_epsilon=claimed)
    assert found.holds is holds
    if not holds:
        witness = found.found.witness
        assert are_neighbours("unit-all", witness.x, witness.x_prime)
        assert len(witness.x) == found.found.n
        assert found.found.lower > claimed


# A program runs as plain Python.


@pytest.mark.parametrize(
    ("name", "expected"), DISTRIBUTIONS, ids=[expectations.label(*recorded) for recorded in DISTRIBUTIONS]
)
def test_running(name: str, expected: dict[str, Any]) -> None:
    mechanism = expectations.mechanisms(name)[expected["mechanism"]]
    parameters = {key: value for key, value in expected["parameters"].items() if key != "n"}
    support = recorded_law(expected).keys()
    assert mechanism(expected["x"], **parameters) in support
    drawn = mechanism.sample(expected["x"], size=50, seed=7, **parameters)
    assert len(drawn) == 50
    assert set(drawn) <= support
    assert drawn == mechanism.sample(expected["x"], size=50, seed=7, **parameters)


# Closed forms: nothing of tightdp is used on their side.


def noise(v: int, r: Fraction, lo: int, hi: int) -> dict[int, Fraction]:
    """Two-sided geometric noise clamped to lo..hi, from the tail formula P(|z| = j) = (1 - r)/(1 + r)·r^j."""
    law = {z: (1 - r) / (1 + r) * r ** abs(z - v) for z in range(lo, hi + 1)}
    law[lo] = r ** (v - lo) / (1 + r)
    law[hi] = r ** (hi - v) / (1 + r)
    return law


def above_threshold_law(x: tuple[int, ...], k: int, threshold: int, r: Fraction) -> Iterator[Fraction]:
    """The probability of every index, then of none, as a sum over the noisy threshold."""
    thresholds = noise(threshold, r, 0, k)
    below = [{t: sum(p for z, p in noise(v, r, 0, k).items() if z < t) for t in range(k + 1)} for v in x]
    for i in range(len(x) + 1):
        missed = {t: math.prod(b[t] for b in below[:i]) for t in thresholds}
        yield sum((p * missed[t] * (1 - below[i][t] if i < len(x) else 1) for t, p in thresholds.items()), F(0))


@pytest.mark.parametrize(("n", "exp_epsilon"), [(2, F(23, 4)), (3, F(347, 52))])
def test_above_threshold_in_closed_form(n: int, exp_epsilon: Fraction) -> None:
    mechanism = expectations.mechanisms("above_threshold")["above_threshold"]
    bound = mechanism.program.bind(n, k=3, threshold=2, ratio_threshold="1/2", ratio_query="1/2")
    found = Oracle(bound)
    laws = {x: tuple(above_threshold_law(x, 3, 2, F(1, 2))) for x in found.datasets}
    for x, law in laws.items():
        assert found.law(x) == {i: p for i, p in enumerate(law) if p}
    assert max(p / q for a, b in found.pairs() for p, q in zip(laws[a], laws[b], strict=True)) == exp_epsilon


@pytest.mark.parametrize(("n", "lam"), [(1, F(1, 5)), (4, F(1, 3)), (9, F(1, 7)), (12, F(1, 5))])
def test_randomized_response_for_larger_n(n: int, lam: Fraction) -> None:
    mechanism = expectations.mechanisms("randomized_response")["randomized_response"]
    x, y = (0, 1) * (n // 2) + (0,) * (n % 2), (0,) * n
    expected = (1 - lam) ** (n - n // 2) * lam ** (n // 2)
    assert mechanism.bind(n=n, lam=lam).distribution(x).probability(y) == expected


@pytest.mark.parametrize("ones", [0, 3, 8, 20])
def test_count_is_a_sum_of_two_binomials(ones: int) -> None:
    n, lam = 20, F(1, 5)
    mechanism = expectations.mechanisms("randomized_response_count")["randomized_response_count"]
    expected: Law = {}
    for kept in range(ones + 1):
        for raised in range(n - ones + 1):
            mass = math.comb(ones, kept) * (1 - lam) ** kept * lam ** (ones - kept)
            mass *= math.comb(n - ones, raised) * lam**raised * (1 - lam) ** (n - ones - raised)
            expected[kept + raised] = expected.get(kept + raised, F(0)) + mass
    x = (0,) * (n - ones) + (1,) * ones
    assert dict(mechanism.bind(n=n, lam=lam).distribution(x).law) == expected


@pytest.mark.parametrize(("n", "r"), [(2, F(1, 3)), (3, F(2, 5)), (4, F(1, 2))])
def test_noisy_max_with_noise_clamped_to_the_answers(n: int, r: Fraction) -> None:
    mechanism = expectations.mechanisms("report_noisy_max")["report_noisy_max"]
    assert mechanism.bind(n=n, k=1, ratio=r, margin=0).privacy().exp_epsilon == r**-n


@pytest.mark.parametrize(("n", "lam"), [(2, F(1, 2)), (3, F(1)), (4, F(3))])
def test_shuffled_randomized_response(n: int, lam: Fraction) -> None:
    mechanism = expectations.mechanisms("shuffled_randomized_response")["shuffled_randomized_response"]
    assert mechanism.bind(n=n, lam=lam).privacy().exp_epsilon == 2 * n / lam - 1


@pytest.mark.parametrize("votes", [(0, 0, 0, 1, 2), (2, 2, 2, 2, 2)])
def test_exponential_mechanism(votes: tuple[int, ...]) -> None:
    mechanism = expectations.mechanisms("exponential_mechanism")["exponential_mechanism"]
    weights = [F(3, 2) ** votes.count(c) for c in range(3)]
    law = dict(mechanism.bind(n=5, candidates=3, base="3/2").distribution(votes).law)
    assert law == {c: weight / sum(weights) for c, weight in enumerate(weights)}
