"""The number of successes in independent trials, each with a probability of its own."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import pytest

from agreement import assert_agreement, bind, module_of
from tightdp import mechanism, poisson_binomial
from tightdp.errors import ParameterError
from tightdp.language import laws
from tightdp.language.domains import Bit, Int


@pytest.mark.parametrize("probabilities", [(), ("1/2",), ("1/3", "1/4", "1/5"), (0, 1, "2/7"), ("1/2",) * 5])
def test_the_law_is_that_of_the_sum_of_all_outcomes(probabilities: tuple[Any, ...]) -> None:
    exact = [Fraction(p) for p in probabilities]
    masses: dict[int, Fraction] = {}
    for outcome in product((0, 1), repeat=len(exact)):
        mass = prod((p if hit else 1 - p for p, hit in zip(exact, outcome, strict=True)), start=Fraction(1))
        masses[sum(outcome)] = masses.get(sum(outcome), Fraction(0)) + mass
    assert dict(laws.poisson_binomial(probabilities)) == {k: mass for k, mass in masses.items() if mass}


def test_a_probability_outside_the_unit_interval_is_named() -> None:
    with pytest.raises(ParameterError, match="3/2"):
        poisson_binomial([Fraction(3, 2)])


PROGRAMS = {
    "constants": "def f(x):\n    return poisson_binomial((1/2, 1/3)) + x[0]",
    "one-that-depends": "def f(x):\n    return poisson_binomial([x[0] / 3, 1/2])",
    "all-depend": "def f(x):\n    return poisson_binomial([(b + 1) / 4 for b in x])",
    "generator": "def f(x):\n    return poisson_binomial(b / 3 for b in x)",
    "random-ones": "def f(x):\n    p = randint(1, 2) / 4\n    return poisson_binomial(probabilities=(p, p, x[-1] / 2))",
    "length-depends": "def f(x):\n    return poisson_binomial([1/3] * x[0])",
    "some-fail": "def f(x):\n    return poisson_binomial([b * (2/3) for b in x])",
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_it_has_the_law_of_the_interpreter(name: str) -> None:
    with module_of(PROGRAMS[name] + "\n") as module:
        seen = assert_agreement(bind(module, Int(0, 2), 2))
    assert seen.failing == (5 if name == "some-fail" else 0)


@mechanism(record=Bit)
def blanket(x: Any) -> int:
    return poisson_binomial([Fraction(1 + 2 * b, 4) for b in x])


def test_it_is_sampled_and_verified() -> None:
    assert set(blanket.sample((0, 1, 1), size=200, seed=3)) == {0, 1, 2, 3}
    assert blanket.bind(n=2).privacy().exp_epsilon == 3
