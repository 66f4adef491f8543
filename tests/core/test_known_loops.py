"""Programs of the kinds in Prodigy's and genfer's repositories against values that are computed by formulas."""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

sys.path.append(str(Path(__file__).resolve().parent.parent.parent / "benchmarks"))

import loops

ENCLOSED = {
    "modulo": 2e-23,
    "fair_walk": 0.04,
    "fair_walk_counted": 0.06,
    "walk_downhill": 1e-20,
    "two_counters": 1e-23,
    "progeny": 1e-4,
    "branching": 1e-5,
}
"""How wide the enclosures are at most; all others are exact."""
_EXACT_AND_LONG = {"ruin", "coupons", "by_twos_and_threes", "runs_of_heads", "flips_observed", "fibonacci"}
LONG = dict.fromkeys({*ENCLOSED, *_EXACT_AND_LONG} - {"modulo"}, 6) | {"progeny": 30}


@pytest.mark.one_in(12)
@pytest.mark.parametrize(
    ("function", "source", "output", "value"),
    [
        pytest.param(
            *row,
            id=row[0].__name__,
            marks=pytest.mark.slow(seconds=LONG[row[0].__name__]) if row[0].__name__ in LONG else (),
        )
        for row in loops.ROWS
    ],
)
def test_the_value_is_found(function: Callable[..., Any], source: str, output: Any, value: Fraction) -> None:
    status, low, high = loops.answer(function, output)
    assert low <= value <= high
    assert high - low <= ENCLOSED.get(function.__name__, 0)
    assert status == ("bounded" if function.__name__ in ENCLOSED else "exact")


def test_there_are_as_many_as_are_asked_for() -> None:
    assert len(loops.ROWS) >= 25
    assert {source for _, source, _, _ in loops.ROWS} == {"Prodigy", "genfer", "longer", "papers"}
