"""The inference, privacy and accuracy sets: their sizes, and sets that are declared by hand."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction as F
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement import datasets, module_of
from small_mechanisms import count, response
from symmetric_programs import draw
from tightdp import (
    Instance,
    ParameterError,
    ProgramError,
    QueryError,
)
from tightdp.exact.field import exp
from tightdp.language import interp
from tightdp.language.neighbours import relation_of


def test_sizes_of_the_sets() -> None:
    stats = response.bind(n=12, lam="1/5").privacy().stats
    assert stats.symmetries == (
        "clients 1..12 are interchangeable together with their outputs",
        "flipping x_i and y_i together changes nothing",
    )
    accuracy = count.bind(n=12, lam="1/5").accuracy(2)
    assert accuracy.stats.accuracy_set == 13
    assert sum(row.inputs for row in accuracy.top) <= 2**12
    assert sum(row.inputs for row in count.bind(n=40, lam="1/5").accuracy(2, top=100).top) == 2**40


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("alpha", "top"), [(190, 1), (190, 4), (340, 3)])
def test_the_worst_datasets_are_those_of_all(alpha: int, top: int) -> None:
    instance = count.bind(n=340, lam="1/5")
    every = instance.accuracy(alpha, top=341).top
    assert sum(row.inputs for row in every) == 2**340
    assert instance.accuracy(alpha, top=top).top == every[:top]


# Declared sets (oakley2024, Sections 4 and 5).


def ones(i: int, n: int) -> tuple[int, ...]:
    return (1,) * i + (0,) * (n - i)


def c_rr(n: int) -> list[Any]:
    """C_RR: one more or one fewer flip, given n zeros."""
    return [(ones(i, n), ones(i + 1, n), ones(0, n)) for i in range(n)] + [
        (ones(i, n), ones(i - 1, n), ones(0, n)) for i in range(1, n + 1)
    ]


def i_rr(n: int) -> list[Any]:
    """I_RR: every number of flips."""
    return [(ones(i, n), ones(0, n)) for i in range(n + 1)]


@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_the_sets_of_randomized_response(n: int) -> None:
    instance = response.bind(n=n, lam="1/5")
    found = instance.privacy(privacy_set=c_rr(n), inference_set=i_rr(n))
    assert (found.exp_epsilon, found.status) == (4, "exact")
    assert (found.stats.privacy_set, found.stats.inference_set) == (2 * n, n + 1)
    ranked = instance.privacy(privacy_set=c_rr(n), top=5).top
    assert [(row.exp_epsilon, row.triples) for row in ranked] == [(4, n), (F(1, 4), n)]


@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_the_accuracy_set_of_the_count(n: int) -> None:
    instance = count.bind(n=n, lam="1/5")
    declared = [ones(i, n) for i in range(n + 1)]
    points = [(x, y) for x in declared for y in range(n + 1)]
    found = instance.accuracy(1, accuracy_set=declared, inference_set=points, top=100)
    expected = instance.accuracy(1, top=100)
    assert (found.one_minus_beta, found.status, found.stats.accuracy_set) == (expected.one_minus_beta, "exact", n + 1)
    rows, wanted = ([(row.one_minus_beta, row.inputs) for row in result.top] for result in (found, expected))
    assert rows == wanted
    assert {row.x for row in found.top} <= set(declared)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_sets_of_mechanisms_with_e_to_a_power(n: int) -> None:
    e = exp(1)
    instance = response.bind(n=n, lam="1/(1+exp(1))")
    found = instance.privacy(privacy_set=c_rr(n), inference_set=i_rr(n), top=5)
    assert (found.exp_epsilon, found.status) == (e, "exact")
    assert [(row.exp_epsilon, row.triples) for row in found.top] == [(e, n), (1 / e, n)]
    with pytest.raises(QueryError, match=r"misses the triple \(\(.*its ratio is exp\(1\),"):
        instance.privacy(privacy_set=c_rr(n)[n:])
    numbers = count.bind(n=n, lam="1/(1+exp(1))")
    declared = [ones(i, n) for i in range(n + 1)]
    sure = numbers.accuracy(0, accuracy_set=declared)
    assert (
        sure.one_minus_beta
        == numbers.accuracy(0).one_minus_beta
        == min(interp.law(numbers.bound, x)[sum(x)] for x in declared)
    )
    with pytest.raises(QueryError, match="misses the dataset"):
        numbers.accuracy(0, accuracy_set=[])


def test_unsound_sets_are_refused() -> None:
    n = 4
    instance = response.bind(n=n, lam="1/5")
    with pytest.raises(QueryError, match=r"misses the triple \(\(.*its ratio is 1/4") as caught:
        instance.privacy(privacy_set=c_rr(n)[:n])
    assert caught.value.hint
    with pytest.raises(QueryError, match=r"misses the triple \(\(.*its ratio is 4,"):
        instance.privacy(privacy_set=c_rr(n)[n:])
    with pytest.raises(QueryError, match="misses the triple"):
        instance.privacy(privacy_set=[])
    with pytest.raises(QueryError, match=r"inference set misses \(\(1, 1, 0, 0\), \(0, 0, 0, 0\)\)"):
        instance.privacy(privacy_set=c_rr(n), inference_set=[point for point in i_rr(n) if point[0] != ones(2, n)])
    numbers = count.bind(n=n, lam="1/5")
    with pytest.raises(QueryError, match=r"misses the dataset \(.*\): its 1 - β at alpha = 1 is"):
        numbers.accuracy(1, accuracy_set=[ones(0, n), ones(1, n)])
    # By symmetry half of the counts suffice; the inference set must still have every output near the target.
    half = [ones(i, n) for i in range(3)]
    assert numbers.accuracy(1, accuracy_set=half).status == "exact"
    with pytest.raises(QueryError, match="inference set misses"):
        numbers.accuracy(1, accuracy_set=half, inference_set=[(x, sum(x)) for x in half])


@pytest.mark.parametrize(
    ("query", "error"),
    [
        (lambda i: i.privacy(privacy_set=[((0, 0), (1, 1), (0, 0))]), "are not neighbours"),
        (lambda i: i.privacy(privacy_set=[((0, 0), (0, 0), (0, 0))]), "are not neighbours"),
        (lambda i: i.privacy(privacy_set=[((0, 0), (0, 1))]), "give tuples"),
        (lambda i: i.privacy(privacy_set="abc"), "give a list"),
        (lambda i: i.privacy(privacy_set=[((0, 2), (0, 0), (0, 0))]), "outside the domain"),
        (lambda i: i.privacy(privacy_set=[], delta="1/9"), "delta = 0 only"),
        (lambda i: i.privacy(inference_set=[]), "without privacy_set"),
        (lambda i: i.privacy(privacy_set=c_rr(2), inference_set=[1]), "give tuples"),
        (lambda i: i.accuracy(1, accuracy_set=[(0,)]), "1 record"),
        (lambda i: i.accuracy(1, inference_set=[]), "without accuracy_set"),
        (lambda i: i.accuracy(beta="1/9", accuracy_set=[]), "one alpha"),
    ],
)
def test_bad_declared_sets(query: Callable[[Instance], Any], error: str) -> None:
    mechanism_ = count if "accuracy" in query.__code__.co_names else response
    with pytest.raises((QueryError, ParameterError)) as caught:
        query(mechanism_.bind(n=2, lam="1/5"))
    assert error in f"{caught.value.what} {caught.value.hint}"


def every_triple(instance: Instance) -> dict[Any, list[Any]]:
    """All neighbouring triples by ratio, by brute force."""
    bound = instance.bound
    laws = {x: interp.law(bound, x) for x in datasets(bound)}
    found: dict[Any, list[Any]] = {}
    for x, law in laws.items():
        for other in relation_of(bound).neighbours(x):
            for y in law.keys() | laws[other].keys():
                p, q = law.get(y, F(0)), laws[other].get(y, F(0))
                found.setdefault(p / q if q else math.inf, []).append((x, other, y))
    return found


@settings(max_examples=settings.default.max_examples)
@given(st.randoms(use_true_random=False), st.sampled_from([None, "exhaustive"]))
@pytest.mark.slow(seconds=3)
def test_declared_sets_of_drawn_programs(rng: random.Random, method: str | None) -> None:
    """One triple per ratio is sound, one fewer is not, and the refusal names a triple of the ratio left out."""
    drawn = draw(rng, paths=24, datasets=30)
    with module_of(drawn.source) as module:
        instance = module.f.bind(n=drawn.n, method=method)
        try:
            triples = every_triple(instance)
            tight = instance.privacy().exp_epsilon
        except ProgramError:
            return
        chosen = {value: rng.choice(some) for value, some in sorted(triples.items())}
        assert instance.privacy(privacy_set=list(chosen.values())).exp_epsilon == tight
        if chosen:
            gone = rng.choice(sorted(chosen))
            with pytest.raises(QueryError, match="misses the triple") as caught:
                instance.privacy(privacy_set=[triple for value, triple in chosen.items() if value != gone])
            missed = caught.value.what.removeprefix("the privacy set misses the triple ").rsplit(": its ratio is", 1)[0]
            assert eval(missed, {"Fraction": F}) in triples[gone]
