"""Drawn programs that treat all records alike: no upper end is below what the interpreter finds at some n."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from generators.uniform_programs import uniform_program
from tightdp import LanguageError
from tightdp.every_n.states import chain_of
from tightdp.every_n.upper import least_upper
from tightdp.language.interp import law
from tightdp.language.neighbours import relation_of
from tightdp.session.files import import_file, mechanisms_of

LARGEST = {2: (1, 2), 3: (1, 2)}
"""The n at which the interpreter is asked, by the number of records."""
BLOCK = 20


def tight(bound: Any) -> Any:
    laws = {x: law(bound, x) for x in product(bound.record.values, repeat=bound.n)}
    largest: Any = 1
    for x, masses in laws.items():
        for other in relation_of(bound).neighbours(x):
            for y, probability in masses.items():
                below = laws[other].get(y, 0)
                largest = max(largest, probability / below if below else math.inf)
    return largest


@pytest.mark.parametrize("first", range(0, 60, BLOCK))
def test_upper_ends_are_upper_ends(first: int, tmp_path: Path) -> None:
    found: Counter[str] = Counter()
    for seed in range(first, first + BLOCK):
        place = tmp_path / f"drawn_{seed}.py"
        place.write_text(uniform_program(seed), encoding="utf-8")
        program = mechanisms_of(import_file(place))["drawn"].program
        one = program.bind(1)
        try:
            chain = chain_of(one)
        except LanguageError:
            found["refused"] += 1
            continue
        lower = [tight(program.bind(n)) for n in LARGEST[one.record.size]]
        upper = least_upper(chain, max(lower))
        assert max(lower) <= upper.value, (seed, upper, lower)
        if upper.proof == "growth":
            assert lower == sorted(lower), (seed, lower)
        found["finite" if upper.value < math.inf else "inf"] += 1
        found["met"] += max(lower) == upper.value
    assert found["finite"] > BLOCK // 4
    assert found["met"] > BLOCK // 4
    assert found["refused"] < BLOCK // 4
