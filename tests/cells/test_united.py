"""Paths that differ in a condition alone are one: nothing else is in their union, and nothing is in it twice."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from tightdp import Int, geometric, laplace, mechanism
from tightdp.cells import draws, meetings
from tightdp.cells.draws import Path, united
from tightdp.cells.laws import cell_laws
from tightdp.cells.linear import REAL, Row, needed, opposite, row, tightest
from tightdp.language.laws import Exponentials


def cells_of(r: random.Random, laws: dict[int, Exponentials], rows: frozenset[Row], depth: int) -> list[frozenset[Row]]:
    """The cells of a tree of decisions that may occur."""
    if not depth or r.random() < 0.1:
        return [needed(rows)]
    first, second = r.sample(sorted(laws), 2)
    cut = row({first: 1, second: r.choice([-1, 0, -1])}, Fraction(r.randrange(-2, 3)))
    parts = [tightest([*rows, each]) for each in (cut, opposite(cut))]
    return [cell for part in parts if draws.may_occur(laws, part) for cell in cells_of(r, laws, part, depth - 1)]


@pytest.mark.parametrize("seed", range(60))
def test_the_union_is_the_same(seed: int) -> None:
    r = random.Random(seed)
    real = seed % 2 == 0
    side = (Fraction(0), None, Fraction(1, 2))  # no law, but where draws lie
    pieces = (side,) if real and seed % 4 else (side, (None, Fraction(-1), Fraction(2)))
    law = Exponentials(0, Fraction(1), pieces, real)
    laws = {at + REAL * real: law for at in range(3)}
    cells = [each for each in cells_of(r, laws, frozenset(), 4) if r.random() < 0.7]
    found = united([Path(Fraction(1), laws, rows, {}, "output") for rows in cells])
    assert len(found) <= len(cells)

    def inside(rows: frozenset[Row], at: dict[int, Any]) -> bool:
        return all(sum(c * at[v] for v, c in normal) <= bound for normal, bound in rows)

    away = [Fraction(1, 7), Fraction(2, 9), Fraction(4, 11)] if real else [0, 0, 0]  # no point is on a border
    for place in product(range(0 if real and seed % 4 else -4, 5), repeat=3):
        at = dict(zip(laws, map(sum, zip(place, away, strict=True)), strict=True))
        before = sum(inside(rows, at) for rows in cells)
        assert sum(inside(path.rows, at) for path in found) == before, (seed, at)


@mechanism(record=Int(0, 1))
def where_the_largest_is(x):
    noisy = [laplace(query, 1) for query in x]
    return noisy.index(max(noisy))


@mechanism(record=Int(0, 1))
def largest_of_integers(x):
    noisy = [geometric(query, "1/2") for query in x]
    return noisy.index(max(noisy)), noisy[0] >= 0


@mechanism(record=Int(0, 1))
def middle(x):
    noisy = [laplace(query, at + 1) for at, query in enumerate(x)]
    return noisy.index(sorted(noisy)[len(x) // 2])


def test_where_the_largest_number_is_each_output_has_one_path() -> None:
    laws = cell_laws(where_the_largest_is.bind(n=4).bound, lambda: None)
    assert all(len(parts) == 1 for law in laws.laws.values() for parts in law.values())


@pytest.mark.parametrize("made", [where_the_largest_is, largest_of_integers, middle])
def test_laws_are_those_of_all_paths(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    bound = made.bind(n=3).bound
    found = cell_laws(bound, lambda: None).finite()
    monkeypatch.setattr(meetings, "united", list)
    assert cell_laws(bound, lambda: None).finite() == found


@mechanism(record=Int(0, 1))
def equal_or_not(x):
    a, b = laplace(sum(x), 1), laplace(0, 1)
    return a == b, a != 0, bool(a - b), a == a, [a, b].index(b), 2 * a - a in (b, a)


def test_real_numbers_are_equal_to_nothing_but_themselves() -> None:
    laws = cell_laws(equal_or_not.bind(n=1).bound, lambda: None).finite()
    assert laws == {(x,): {(False, True, True, True, 1, True): 1} for x in (0, 1)}
