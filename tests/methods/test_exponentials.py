"""Mechanisms with e^q: what every method answers is what the laws of the interpreter say."""

from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import pairwise, product
from typing import Any

import pytest

from tightdp import Bit, Instance, Int, QueryError, choice, exp, flip, geometric, mechanism, observe
from tightdp.core.lowering import lower
from tightdp.exact.field import ExpNumber
from tightdp.exact.field import exp as number
from tightdp.language import interp
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound
from tightdp.logic.encode import prober
from tightdp.methods.by_elimination import EliminationTable
from tightdp.methods.choose import NAMES


@mechanism(record=Bit, target=sum)
def response(x: Any, lam: Any) -> Any:
    """Randomized response."""
    return tuple(1 - b if flip(lam) else b for b in x)


@mechanism(record=Bit, target=sum)
def counted(x: Any, eps: Any) -> Any:
    """The sum of randomized responses."""
    return sum(b if flip(exp(eps) / (1 + exp(eps))) else 1 - b for b in x)


@mechanism(record=Int(0, 2))
def exponential(x: Any, eps: Any) -> Any:
    """The exponential mechanism, for the commonest record."""
    scores = [sum(r == k for r in x) for k in range(3)]
    return choice(range(3), weights=[exp(eps * u / 2) for u in scores])


@mechanism(record=Bit, target=sum)
def noisy(x: Any, eps: Any) -> Any:
    """A sum with geometric noise."""
    return geometric(sum(x), math.exp(-eps), 0, len(x))


@mechanism(record=Bit)
def above(x: Any, eps: Any) -> Any:
    """The first query whose noisy answer is above a noisy threshold."""
    threshold = geometric(1, exp(-eps / 2), -1, 3)
    for at in range(len(x)):
        if geometric(sum(x[: at + 1]), exp(-eps / 4), -1, 3) >= threshold:
            return at
    return None


@mechanism(record=Bit)
def mixed(x: Any, first: Any, second: Any) -> Any:
    """Two roots of e in one program, given that not all noise is silent."""
    noise = [flip(1 / (1 + first)) for _ in x]
    observe(any(noise) or flip(second / 3))
    return tuple(b ^ z for b, z in zip(x, noise, strict=True))


def bind(program: Any, n: int, **parameters: Any) -> Instance:
    return program.bind(n=n, **parameters)  # type: ignore[no-any-return]


CASES = [
    pytest.param(bind(response, 3, lam="1/(1+exp(1/2))"), id="response"),
    pytest.param(bind(counted, 4, eps="1/2"), id="counted"),
    pytest.param(bind(exponential, 3, eps=1), id="exponential"),
    pytest.param(bind(noisy, 3, eps="2/3"), id="noisy"),
    pytest.param(bind(above, 2, eps=1), id="above"),
    pytest.param(bind(mixed, 2, first="exp(1/2)", second="exp(1/3)"), id="mixed"),
]


def laws_of(bound: Bound) -> dict[Any, dict[Any, Any]]:
    """The laws of the interpreter on all datasets."""
    return {x: interp.law(bound, x) for x in product(bound.record.values, repeat=bound.n)}


def largest_ratio(bound: Bound) -> Any:
    """The largest likelihood ratio, straight from the definition."""
    laws, related = laws_of(bound), relation_of(bound).neighbours
    return max(p / laws[other][y] for x in laws for other in related(x) for y, p in laws[x].items())


def delta(bound: Bound, t: Any) -> Any:
    """The largest Σ max(0, P - t P'), straight from the definition."""
    laws, related = laws_of(bound), relation_of(bound).neighbours
    return max(
        sum((max(F(0), p - t * laws[other].get(y, F(0))) for y, p in laws[x].items()), start=F(0))
        for x in laws
        for other in related(x)
    )


@pytest.mark.one_in(8)
@pytest.mark.parametrize("instance", CASES)
def test_every_method_gives_the_tight_ratio_and_delta(instance: Instance) -> None:
    bound = instance.bound
    ratio, bar = largest_ratio(bound), delta(bound, number(F(1, 3)))
    asked = 0
    for method in (None, *NAMES):
        again = Instance(bound, method=method)
        try:
            found = again.privacy()
            assert found.exp_epsilon == ratio
            assert found.status == "exact"
            assert found.witness is None or found.witness.probability / found.witness.probability_prime == ratio
            for at in (again.delta(epsilon="1/3"), again.delta(exp_epsilon="exp(1/3)")):
                assert at.lower <= bar <= at.upper
                assert at.status == "bounded" or at.lower == at.upper
        except QueryError:
            assert method is not None
        else:
            asked += 1
    assert asked >= 3


@pytest.mark.one_in(3)
@pytest.mark.parametrize("backend", ["cudd", "autoref"])
@pytest.mark.parametrize("instance", CASES)
def test_laws_are_those_of_the_interpreter(instance: Instance, backend: str) -> None:
    again = Instance(instance.bound, backend)
    for x, law in laws_of(instance.bound).items():
        assert dict(again.distribution(x).law) == law
        assert sum(law.values(), start=F(0)) == 1
        y = next(iter(law))
        assert again.probability(x, y) == law[y]


@pytest.mark.parametrize("instance", CASES)
def test_laws_by_elimination(instance: Instance) -> None:
    bound = instance.bound
    table = EliminationTable(bound, lower(bound, None, prober()))
    for x, law in laws_of(bound).items():
        assert table.law(x) == law


@pytest.mark.one_in(2)
@pytest.mark.parametrize("eps", [F(1, 2), F(1), F(7, 3)])
@pytest.mark.parametrize("n", [1, 4])
def test_randomized_response_has_the_epsilon_it_is_made_for(eps: F, n: int) -> None:
    instance = bind(response, n, lam=f"1/(1+exp({eps}))")
    found = instance.privacy()
    assert found.exp_epsilon == number(eps)
    assert found.to_dict()["result"]["epsilon_exact"] == str(eps)
    assert f"{eps} exactly" in str(found)
    assert instance.verify(epsilon=eps)
    assert not instance.verify(epsilon=eps - F(1, 10**30))


@pytest.mark.one_in(4)
@pytest.mark.parametrize("instance", CASES)
def test_the_curve_and_the_tradeoff_function(instance: Instance) -> None:
    bound = instance.bound
    points = instance.curve().points
    for t, value in points:
        assert delta(bound, t) == value
    for (t, value), (after, low) in pairwise(points):
        middle = (t + after) / 2
        assert delta(bound, middle) == (value + low) / 2
    vertices = instance.tradeoff().vertices
    for t in (F(1, 2), F(1), number(F(1, 5))):
        assert max(1 - fnr - t * fpr for fpr, fnr in vertices) == delta(bound, t)


@pytest.mark.parametrize("n", [2, 5])
def test_accuracy_is_exact(n: int) -> None:
    instance = bind(noisy, n, eps=1)
    for alpha in range(n + 1):
        worst = min(
            sum((p for y, p in law.items() if abs(y - sum(x)) <= alpha), start=F(0))
            for x, law in laws_of(instance.bound).items()
        )
        found = instance.accuracy(alpha)
        assert found.one_minus_beta == worst
        assert instance.accuracy(beta=F(1, 2)).alpha >= 0


def test_rational_programs_have_an_exact_delta_at_every_rational_epsilon() -> None:
    instance = bind(response, 2, lam="1/4")
    found = instance.delta(epsilon="1/2")
    assert found.status == "exact"
    assert found.delta == (3 - number(F(1, 2))) / 4
    assert isinstance(found.delta, ExpNumber)
    assert found.to_dict()["result"]["delta"] == "(3 - exp(1/2))/4"


def test_large_sums() -> None:
    instance = bind(counted, 40, eps="1/2")
    found = instance.privacy()
    assert found.exp_epsilon == number(F(1, 2))
    law = dict(instance.distribution((0,) * 40).law)
    assert sum(law.values(), start=F(0)) == 1
    assert law[40] == (1 / (1 + number(F(1, 2)))) ** 40
