"""Drawn programs that treat all records alike: no upper end is below what the interpreter finds at some n.

Where noise on all integers is drawn, the interpreter goes through the runs in which it stays near its centre, which
encloses every probability.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from generators.noisy_uniform_programs import noisy_uniform_program
from generators.spelled_programs import spelled_program
from generators.uniform_programs import uniform_program
from tightdp import LanguageError
from tightdp.every_n.upper import least_upper, readings
from tightdp.language.interp import law, law_within
from tightdp.language.neighbours import relation_of
from tightdp.session.files import import_file
from tightdp.session.mechanism import mechanisms_of

LARGEST = {2: (1, 2), 3: (1, 2)}
"""The n at which the interpreter is asked, by the number of records."""
BLOCK, FEW, SPELLED = 5, 2, 2
MOST_RUNS = 100
"""So many combinations of noise are followed on one dataset; each is a run for every outcome of the other draws."""


def tight(bound: Any) -> Any:
    laws = {x: law(bound, x) for x in product(bound.record.values, repeat=bound.n)}
    largest: Any = 1
    for x, masses in laws.items():
        for other in relation_of(bound).neighbours(x):
            for y, probability in masses.items():
                below = laws[other].get(y, 0)
                largest = max(largest, probability / below if below else math.inf)
    return largest


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(each, marks=pytest.mark.slow) for each in range(BLOCK, 200, BLOCK))]
)
def test_upper_ends_are_upper_ends(first: int, tmp_path: Path) -> None:
    found: Counter[str] = Counter()
    for seed in range(first, first + BLOCK):
        place = tmp_path / f"drawn_{seed}.py"
        place.write_text(uniform_program(seed), encoding="utf-8")
        program = mechanisms_of(import_file(place))["drawn"].program
        one = program.bind(1)
        try:
            programs = readings(one)
        except LanguageError:
            found["refused"] += 1
            continue
        lower = [tight(program.bind(n)) for n in LARGEST[one.record.size]]
        upper = least_upper(programs, max(lower))
        assert max(lower) <= upper.value, (seed, upper, lower)
        if upper.proof == "growth":
            assert lower == sorted(lower), (seed, lower)
        found["finite" if upper.value < math.inf else "inf"] += 1
        found["met"] += max(lower) == upper.value
    assert found["finite"] > BLOCK // 4
    assert found["met"] > BLOCK // 4
    assert found["refused"] < BLOCK // 4


@pytest.mark.parametrize(
    "first", [0, *(pytest.param(each, marks=pytest.mark.slow) for each in range(SPELLED, 200, SPELLED))]
)
def test_other_spellings_mean_what_python_means(first: int, tmp_path: Path) -> None:
    """Aliases, element writes, local functions, lazy generators, two passes, shadowed builtins, fractions, text."""
    found: Counter[str] = Counter()
    for seed in range(first, first + SPELLED):
        place = tmp_path / f"spelled_{seed}.py"
        place.write_text(spelled_program(seed), encoding="utf-8")
        drawn = mechanisms_of(import_file(place))["drawn"]
        try:
            programs = readings(drawn.program.bind(1))
        except LanguageError:
            found["refused"] += 1
            continue
        lower = [drawn.bind(n=n).privacy().lower for n in range(1, 7 if first else 4)]
        upper = least_upper(programs, max(lower))
        assert max(lower) <= upper.value, (seed, upper, lower)
        found["answered"] += upper.value < math.inf
    assert found["answered"]


def at_least(bound: Any, reach: int) -> Any:
    """Return what the tight e^ε is at least, from runs whose noise stays within reach."""
    laws = {x: law_within(bound, x, reach) for x in product(bound.record.values, repeat=bound.n)}
    largest: Any = 1
    for x, (masses, _) in laws.items():
        for other in relation_of(bound).neighbours(x):
            theirs, beyond = laws[other]
            for y, probability in masses.items():
                most = theirs.get(y, 0) + beyond
                largest = max(largest, probability / most if most else math.inf)
    return largest


def reach_for(source: str, n: int) -> int:
    """Return how far noise may be followed so that there are not too many runs; 0 where there are in any case."""
    once, each = (
        sum(line.startswith(" " * 8) == inside for line in source.split("\n") if "geometric(" in line)
        for inside in (False, True)
    )
    draws = once - 1 + n * each
    return next((reach for reach in (6, 5, 4, 3, 2, 1) if (2 * reach + 2) ** draws <= MOST_RUNS), 0)


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(0, marks=pytest.mark.slow(seconds=15)),
        *(pytest.param(each, marks=pytest.mark.slow) for each in range(FEW, 200, FEW)),
    ],
)
def test_upper_ends_with_noise_on_all_integers(first: int, tmp_path: Path) -> None:
    found: Counter[str] = Counter()
    for seed in range(first, first + FEW):
        place, source = tmp_path / f"noisy_{seed}.py", noisy_uniform_program(seed)
        place.write_text(source, encoding="utf-8")
        program = mechanisms_of(import_file(place))["drawn"].program
        one = program.bind(1)
        lower: list[Any] = [1]
        lower += [at_least(program.bind(n), reach) for n in LARGEST[one.record.size] if (reach := reach_for(source, n))]
        upper = least_upper(readings(one), max(lower))
        assert max(lower) <= upper.value, (seed, upper, lower)
        found["finite" if upper.value < math.inf else "inf"] += 1
    assert found["finite"]
