"""Drawn programs that publish noise: their laws against runs within a reach, and the answers about all outputs."""

from __future__ import annotations

import math
from contextlib import suppress
from fractions import Fraction
from typing import Any

import pytest

from agreement import module_of
from generators.published_noise import published_noise_program
from tightdp.cells import deltas
from tightdp.cells.comparing import Comparing, Largest
from tightdp.cells.laws import CellLaws, cell_laws
from tightdp.cells.paths import Outside
from tightdp.cells.suprema import TooLong
from tightdp.errors import ProgramError
from tightdp.language import interp
from tightdp.language.program import Bound

_REACH = {1: 30, 2: 8, 3: 3}
"""How far runs are enumerated, by the number of draws."""
_PAIRS = [((0,), (1,)), ((1,), (0,))]


def check(seed: int) -> None:
    """Compare everything that is known of a program with what its runs within a reach show."""
    source = published_noise_program(seed)
    with module_of(source, "") as module:
        bound = module.drawn.bind(n=1).bound
        try:
            laws = cell_laws(bound, lambda: None)
            comparing = Comparing(laws, lambda: None)
        except Outside as error:
            pytest.skip(str(error))
        except ProgramError as error:
            if "a contradiction" not in str(error) or not any(
                _no_run_is_accepted(bound, x, _REACH[source.count("geometric(")]) for x, _ in _PAIRS
            ):
                raise
            return
        near: dict[Any, dict[Any, Fraction]] = {}
        for x, _ in _PAIRS:
            found, beyond = interp.law_within(bound, x, _REACH[source.count("geometric(")])
            inside = sum(found.values(), Fraction(0))
            near[x] = {output: laws.probability(x, output) for output in found}
            for output, mass in found.items():
                known = laws.number(near[x][output])
                assert mass / (inside + beyond) <= known <= (mass + beyond) / inside, (source, x, output)
    best = comparing.largest(_PAIRS)
    assert comparing.upper == 0, source
    value = laws.one if best is None else best.value
    if best is not None:
        _check_approached(laws, best, source)
    for x, y in _PAIRS if value != math.inf else ():
        for output in near[x].keys() | near[y].keys():
            ratio = laws.probability(x, output), laws.probability(y, output)
            assert ratio[0] <= value * ratio[1], (source, x, output, best)
    with suppress(TooLong):
        _check_delta(laws, comparing, near, source)


def _no_run_is_accepted(bound: Bound, x: tuple[int, ...], reach: int) -> bool:
    try:
        return not interp.law_within(bound, x, reach)[0]
    except ProgramError as error:
        return "contradiction" in str(error)


def _check_approached(laws: CellLaws, best: Largest, source: str) -> None:
    """The ratio of the witness is the value; those of outputs in its direction come close."""
    ratios: list[Any] = []
    for far in (0, 12, 24):
        output = best.label.output([s + far * m for s, m in zip(best.start, best.moved, strict=True)])
        p, q = laws.probability(best.x, output), laws.probability(best.x_prime, output)
        ratios.append(laws.number(p / q) if q else math.inf)
    if best.value == math.inf:
        assert ratios[2] == math.inf or ratios[2] > 100 * ratios[0], (source, best, ratios)
    elif best.attained:
        assert ratios[0] == laws.number(best.value), (source, best)
    else:
        value = laws.number(best.value)
        assert ratios[0] <= ratios[2] < value, (source, best, ratios)
        assert ratios[2] > Fraction(4, 5) * value, (source, best, ratios)


def _check_delta(laws: CellLaws, comparing: Comparing, near: Any, source: str) -> None:
    """δ is at least what outputs within the reach show, and larger by no more than what is beyond."""
    besides = deltas.Besides(comparing)
    for x, y in _PAIRS:
        beyond = 1 - sum(near[x].values(), 0 * laws.one)
        for t in (laws.exact(Fraction(4, 3)), laws.one, 2 * laws.one):
            found, _ = besides.excess(besides.beside(x, y), t).integrals()
            shown = sum((max(0 * t, p - t * laws.probability(y, output)) for output, p in near[x].items()), 0 * t)
            assert shown <= found <= shown + beyond, (source, t)
        assert besides.excess(besides.beside(x, y), 0 * laws.one).integrals()[0] == 1, source
    delta = Fraction(1, 50)
    least, upper, pair = deltas.Deltas(comparing, _PAIRS).least_ratio(delta)
    assert least == upper, source
    if least != math.inf and least != 1:
        assert deltas.Deltas(comparing, _PAIRS).delta(least) == (delta, delta, pair), source


@pytest.mark.one_in(12)
@pytest.mark.parametrize("seed", range(24))
def test_answers_about_drawn_programs_are_those_of_their_runs(seed: int) -> None:
    check(seed)


@pytest.mark.slow(seconds=200)
@pytest.mark.parametrize("seed", range(24, 400))
def test_answers_about_many_drawn_programs_are_those_of_their_runs(seed: int) -> None:
    check(seed)
