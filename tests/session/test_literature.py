"""Mechanisms of the literature, right and broken: all answers at several n are those of brute force."""

from __future__ import annotations

import pytest

from generators.comparison import imported, meanings
from literature_central import CENTRAL
from literature_local import LOCAL
from questions import AGREES, ask
from tightdp import Instance

CASES = [(name, n, text) for name, (sizes, text) in {**LOCAL, **CENTRAL}.items() for n in sizes]
MOST_RUNS = 20_000


@pytest.mark.parametrize(
    ("name", "n", "text"),
    [
        pytest.param(*case, marks=pytest.mark.slow(seconds=1) if place % 5 else (), id=f"{case[0]}-{case[1]}")
        for place, case in enumerate(CASES)
    ],
)
def test_answers_are_those_of_brute_force(name: str, n: int, text: str) -> None:
    with imported(text) as module:
        instance: Instance = module.f.bind(n=n)
        laws = meanings(instance.bound, MOST_RUNS)
        assert laws is not None
        assert ask(instance, laws) == AGREES


def test_there_are_many() -> None:
    assert len(LOCAL) + len(CENTRAL) >= 30
    assert not LOCAL.keys() & CENTRAL.keys()
