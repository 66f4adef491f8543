"""Programs that ask of records nothing but where noise is are run once for all datasets: as they run on each."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from tightdp import Int, discrete_laplace, exponential, flip, laplace, mechanism, observe
from tightdp.cells.draws import Path
from tightdp.cells.followed import Loops
from tightdp.cells.laws import mass_of
from tightdp.cells.paths import paths
from tightdp.cells.together import paths_together
from tightdp.language.program import Bound


def caught(record: Any) -> Any:
    """Return whether a record is positive, None where that cannot be asked."""
    try:
        return record >= 1
    except Exception:
        return None


def scaled(record: Any) -> Any:
    """Return how noise compares whose scale a record is, None where there is none."""
    try:
        return laplace(0, record + 2) >= 1
    except Exception:
        return None


def told_by_type(record: Any) -> Any:
    """Return whether a record is an integer."""
    return isinstance(record, int)


def planned(x: Any, plan: Any) -> Any:
    """A program of steps: on numbers that are held, and told."""
    held, told = [*x], []
    for kind, a, b, c in plan:
        if kind == "plus":
            held.append(held[a] + c * held[b])
        elif kind == "real":
            held.append(laplace(held[a], 1 + b))
        elif kind == "above":
            held.append(exponential(held[a], 1 + b))
        elif kind == "whole":
            held.append(discrete_laplace(x[a % len(x)] * c, 1 + b))
        elif kind == "coin":
            held.append(held[a] if flip("1/3") else held[b])
        elif kind == "shown":
            told.append(held[a])
        elif kind == "compared":
            told.append(held[a] - held[b] >= c)
        elif kind == "end" and held[a] >= c:
            break
    return tuple(told)


def number_noise(x: Any) -> Any:
    """Records that are told where noise is enough."""
    return tuple(record if laplace(record, 2) >= 0 else Fraction(1, 2) * record for record in x)


def asks(x: Any) -> Any:
    """A record is compared."""
    return tuple(laplace(record, 2 if record > 0 else 1) >= 0 for record in x)


def rejects(x: Any) -> Any:
    """Runs are rejected."""
    z = laplace(x[0], 1)
    observe(z >= 0)
    return z >= 1


def catches(x: Any) -> Any:
    """What is refused is caught."""
    return tuple((caught(record), laplace(record, 2) >= 0) for record in x)


def catches_scales(x: Any) -> Any:
    """The same of a scale."""
    return tuple((scaled(record), laplace(record, 2) >= 0) for record in x)


def told_types(x: Any) -> Any:
    """A type is asked for."""
    return tuple((told_by_type(record), laplace(record, 2) >= 0) for record in x)


def drawn_again(x: Any) -> Any:
    """A loop that may go on for long."""
    z = laplace(x[0], 1)
    while not -1 <= z <= 2:
        z = laplace(x[0], 1)
    return z > 0


def _bound(function: Any, n: int = 2, **parameters: Any) -> Bound:
    bound: Bound = mechanism(function, record=Int(-1, 1)).bind(n=n, **parameters).engine.program.bound
    return bound


def _loops() -> Loops:
    return Loops(lambda path: mass_of(path, lambda: None), lambda: None)


def _alike(bound: Bound) -> bool:
    """Whether runs for all datasets together have the paths that runs on each have; False where there are none."""
    every = list(product(bound.record.values, repeat=bound.n))
    together = paths_together(bound, every, _loops())
    for x in every if together else ():
        assert together is not None
        ours, theirs = together(x), paths(bound, x, _loops())[0]
        assert _named(ours) == _named(theirs) or _masses(ours) == _masses(theirs), x  # unions differ by their order
    return together is not None


def _named(found: list[Path]) -> dict[Any, Any]:
    total: dict[Any, Any] = {}
    for path in found:
        total[path.name()] = total.get(path.name(), 0) + path.weight
    return total


def _masses(found: list[Path]) -> dict[Any, Any]:
    total: dict[Any, Any] = {}
    for path in found:
        total[path.output] = total.get(path.output, 0) + mass_of(path, lambda: None)
    return {output: mass for output, mass in total.items() if mass}


def _drawn(seed: int) -> tuple[Any, ...]:
    """Draw a plan: a step reads numbers that are held before it."""
    chance = random.Random(seed)
    noise = chance.choice((["real", "real", "above"], ["whole"]))
    plan: list[Any] = []
    held = 2
    for _ in range(chance.randint(4, 7)):
        kind = chance.choice([*noise, *noise, "plus", "coin"])
        plan.append((kind, chance.randrange(held), chance.randrange(min(held, 3)), chance.choice((-1, 1, 2))))
        held += 1
    for _ in range(chance.randint(1, 3)):
        kind = chance.choice(["compared", "compared", "end", "shown"])
        plan.append((kind, held - 1 - chance.randrange(4), chance.randrange(held), chance.randint(-1, 1)))
    return tuple(plan)


@pytest.mark.parametrize("part", range(4))
def test_drawn_programs_have_the_paths_that_they_have_on_each_dataset(part: int) -> None:
    answered = [_alike(_bound(planned, plan=_drawn(seed))) for seed in range(15 * part, 15 * part + 15)]
    assert any(answered)


def test_records_may_be_published() -> None:
    assert _alike(_bound(number_noise))


@pytest.mark.parametrize("function", [asks, rejects, catches, catches_scales, told_types])
def test_what_asks_records_for_more_is_run_on_each_dataset(function: Any) -> None:
    assert not _alike(_bound(function))


def test_a_loop_that_goes_on_for_long_is_not_gone_through_again_on_each_dataset() -> None:
    bound, loops = _bound(drawn_again), _loops()
    every = list(product(bound.record.values, repeat=bound.n))
    assert paths_together(bound, every, loops) is None
    assert len(loops.followed) == 1
    for x in every:
        assert _masses(paths(bound, x, loops)[0]) == _masses(paths(bound, x, _loops())[0])
