"""Drawn mechanisms with exp(q), compared with the interpreter on numbers of 60 digits in its place."""

from __future__ import annotations

import math
from fractions import Fraction as F
from typing import Any

import pytest

from conftest import FULL
from generators.comparison import TooSlow, imported, meanings, time_limit
from generators.mechanisms import draw_mechanism
from parametrised import near, rounded, with_parameter
from tightdp import LanguageError, LimitError, ParameterError, ProgramError, QueryError
from tightdp.language.neighbours import relation_of
from tightdp.language.program import Bound

EXPONENTS = (F(-1, 2), F(-2, 3), F(-7, 3), F(-1, 5))
CERTAIN = 30
MOST_RUNS = 2_000
REFUSED = (LanguageError, LimitError, ParameterError, ProgramError, QueryError)


def brute_force(bound: Bound, t: F) -> tuple[Any, F] | None:
    """The largest ratio and δ(t) over all neighbours, by the interpreter; None where there are too many runs."""
    laws = meanings(bound, MOST_RUNS)
    if laws is None or any(law is None for law in laws.values()):
        return None
    neighbours = relation_of(bound).neighbours
    largest, delta = F(1), F(0)
    for x, law in laws.items():
        for other in neighbours(x):
            theirs = laws[other]
            assert law is not None
            assert theirs is not None
            excess = F(0)
            for y, p in law.items():
                q = theirs.get(y, F(0))
                largest = max(largest, p / q if q else math.inf) if p else largest  # type: ignore[type-var]
                excess += max(F(0), p - t * q)
            delta = max(delta, excess)
    return largest, delta


@pytest.mark.one_in(2)
@pytest.mark.parametrize("part", range(40 if FULL else 3))
def test_answers_are_those_of_sixty_digits(part: int) -> None:
    compared = 0
    for seed in range(10 * part, 10 * part + 10):
        drawn, exponent = draw_mechanism(seed), EXPONENTS[seed % len(EXPONENTS)]
        with imported(with_parameter(drawn.source, seed)) as module:
            try:
                with time_limit(20):
                    meant = brute_force(module.f.bind(n=drawn.n, q=rounded(exponent)).bound, F(3, 2))
                    if meant is None:
                        continue
                    instance = module.f.bind(n=drawn.n, q=f"exp({exponent})")
                    largest, delta = instance.privacy().exp_epsilon, instance.delta(exp_epsilon=F(3, 2)).delta
            except (*REFUSED, TooSlow):
                continue
        assert near(largest, meant[0], CERTAIN), (seed, largest, float(meant[0]))
        assert near(delta, meant[1], CERTAIN), (seed, delta, float(meant[1]))
        compared += 1
    assert compared >= 5
