"""Laws of published noise against runs within a reach, and largest ratios against all outputs of a box."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from flint import fmpq

from agreement import module_of
from generators.published_noise import published_noise_program
from tightdp.cells.comparing import Comparing
from tightdp.cells.laws import CellLaws, cell_laws
from tightdp.cells.symbols import Outside
from tightdp.errors import LimitError, ProgramError
from tightdp.language import interp
from tightdp.language.program import Bound

_REACH = {1: 40, 2: 8, 3: 3}
_PAIRS = [((0,), (1,)), ((1,), (0,))]


def _laws(seed: int) -> tuple[Bound, CellLaws, str]:
    source = published_noise_program(seed)
    with module_of(source, "") as module:
        bound = module.drawn.bind(n=1).bound
        try:
            return bound, cell_laws(bound, lambda: None), source
        except Outside as error:
            pytest.skip(str(error))


def _masses(bound: Bound, x: Any, reach: int) -> tuple[dict[Any, Fraction], Fraction]:
    """The law of the runs within a reach, and how much larger a probability may be."""
    found, beyond = interp.law_within(bound, x, reach)
    total = sum(found.values()) 
    low, high = total, total + beyond
    return {output: mass / high for output, mass in found.items()}, (1 + beyond) / low - 1 / high if False else beyond / low  # type: ignore


def check(seed: int) -> None:
    bound, laws, source = _laws(seed)
    draws = source.count("geometric(")
    law: dict[Any, dict[Any, Fraction]] = {}
    for x in ((0,), (1,)):
        found, beyond = interp.law_within(bound, x, _REACH[draws])
        inside = sum(found.values(), Fraction(0))
        assert "observe" in source or inside + beyond == 1
        law[x] = {output: laws.number(laws.probability(x, output)) for output in found}
        for output, mass in found.items():
            assert mass / (inside + beyond) <= law[x][output] <= (mass + beyond) / inside, (source, x, output)
    try:
        best = Comparing(laws, lambda: None).largest(_PAIRS)
    except LimitError as error:
        pytest.skip(str(error))
    value = 1 if best is None else best.value
    if best is not None:
        place = best.start
        ratios = []
        for far in (0, 6, 12, 24):
            output = best.label.output([s + far * m for s, m in zip(best.start, best.moved, strict=True)])
            p, q = laws.probability(best.x, output), laws.probability(best.x_prime, output)
            ratios.append(math.inf if not q else p / q)
        if best.attained:
            assert ratios[0] == value, (source, best)
        elif value == math.inf:
            assert ratios[-1] == math.inf or ratios[-1] > ratios[0], (source, best, ratios)
        else:
            assert abs(float_(ratios[-1]) / float_(value) - 1) < 0.2, (source, best, ratios)
    if value != math.inf:
        for x, y in _PAIRS:
            for output in law[x].keys() | law[y].keys():
                assert laws.probability(x, output) <= value * laws.probability(y, output), (source, x, output, best)


def float_(value: Any) -> float:
    return int(value.p) / int(value.q) if isinstance(value, fmpq) else float(value)


@pytest.mark.parametrize("seed", range(60))
def test_laws_and_ratios_of_drawn_programs(seed: int) -> None:
    check(seed)
