"""Which laws are no mixtures of others."""

from __future__ import annotations

import random
from fractions import Fraction as F
from typing import Any

import pytest

from tightdp.exact.extremes import extremes
from tightdp.exact.field import UNKNOWN, exp, ratio
from tightdp.exact.polynomials import RING


def mixed(laws: list[dict[Any, Any]], shares: list[F]) -> dict[Any, Any]:
    outcomes = dict.fromkeys(outcome for law in laws for outcome in law)
    found = {o: sum((s * law.get(o, 0) for s, law in zip(shares, laws, strict=True)), F(0)) for o in outcomes}
    return {outcome: mass for outcome, mass in found.items() if mass}


def test_of_rounded_numbers_the_levels_are_left() -> None:
    levels = [0, 3, 7, 12]
    laws = []
    for value in range(13):
        low = max(level for level in levels if level <= value)
        high = min(level for level in levels if level >= value)
        up = F(value - low, high - low) if high > low else F(0)
        laws.append({level: mass for level, mass in ((low, 1 - up), (high, up)) if mass})
    assert extremes(laws) == levels


@pytest.mark.parametrize("seed", range(20))
def test_mixtures_of_independent_laws_are_left_out_and_no_other(seed: int) -> None:
    drawn = random.Random(seed)
    outcomes = drawn.randint(2, 5)
    corners = []
    for at in range(outcomes):
        weights = [drawn.randint(0, 3) + 10 * (at == other) for other in range(outcomes)]
        corners.append({other: F(weight, sum(weights)) for other, weight in enumerate(weights) if weight})
    laws = [(True, corner) for corner in corners]
    for _ in range(6):
        weights = [drawn.randint(0, 3) for _ in corners]
        if sum(map(bool, weights)) > 1:
            laws.append((False, mixed(corners, [F(weight, sum(weights)) for weight in weights])))
    drawn.shuffle(laws)
    assert extremes([law for _, law in laws]) == [at for at, (corner, _) in enumerate(laws) if corner]


def test_a_law_beyond_the_others_is_no_mixture() -> None:
    laws = [{0: F(1, 2), 1: F(1, 2)}, {0: F(1, 3), 1: F(2, 3)}, {0: F(1, 4), 1: F(3, 4)}]
    assert extremes(laws) == [0, 2]
    assert extremes([*laws, {2: F(1)}]) == [0, 2, 3]


def test_powers_of_e_are_compared_term_by_term() -> None:
    up, down = exp(F(1, 2)) / (1 + exp(F(1, 2))), 1 / (1 + exp(F(1, 2)))
    ends = [{0: up, 1: down}, {0: down, 1: up}]
    assert extremes([mixed(ends, [F(1, 3), F(2, 3)]), *ends, mixed(ends, [F(4, 5), F(1, 5)])]) == [1, 2]


def test_laws_with_an_unknown_are_all_kept() -> None:
    half, unknown = F(1, 2), ratio(UNKNOWN, RING.constant(1))
    ends = [{0: unknown, 1: 1 - unknown}, {0: 1 - unknown, 1: unknown}, {0: half, 1: half}]
    assert extremes(ends) == [0, 1, 2]
