"""Streams for every length: ε as the page has it, against plain counting and sums over a window."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction as F
from itertools import pairwise, product
from math import inf
from pathlib import Path
from typing import Any

import pytest
from programs.streams import automata, continual

from conftest import FULL
from tightdp import ALL, Int, flip, geometric, mechanism
from tightdp.exact.numbers import as_text

PAGE = Path(__file__).parents[2] / "docs" / "streams.md"
REACH = 24

Rows = list[list[int]]


def tree(steps: int, levels: int) -> Rows:
    """The rows of the matrix whose product with the stream is published: which steps a node sums up."""
    size = 2 ** (levels - 1)
    ends = ((t, level) for t in range(1, steps + 1) for level in range(levels) if t % size % 2**level == 0)
    return [[int(t - 2**level < s <= t) for s in range(1, steps + 1)] for t, level in ends]


def smart_sum(steps: int, block: int) -> Rows:
    return [
        [int(t - block < s <= t if t % block == 0 else s == t) for s in range(1, steps + 1)]
        for t in range(1, steps + 1)
    ]


def banded(steps: int, first: int, second: int) -> Rows:
    return [[first * (s == t) + second * (s == t - 1) for s in range(steps)] for t in range(steps)]


LINEAR: list[tuple[Any, Callable[..., Rows], dict[str, int]]] = [
    (continual.tree, tree, {"levels": 2}),
    (continual.tree, tree, {"levels": 3}),
    (continual.tree, tree, {"levels": 4}),
    (continual.smart_sum, smart_sum, {"block": 2}),
    (continual.smart_sum, smart_sum, {"block": 5}),
    (continual.banded, banded, {"first": 2, "second": 1}),
    (continual.banded, banded, {"first": 3, "second": -1}),
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("program", "rows", "given"), LINEAR if FULL else LINEAR[1::2], ids=lambda each: getattr(each, "__name__", None)
)
def test_sums_of_a_stream(program: Any, rows: Callable[..., Rows], given: dict[str, int]) -> None:
    """A step changes every published number by its coefficient, and each unit costs the ratio of the noise, 1/2."""
    tight = {t: F(2) ** max(map(sum, zip(*map(_sizes, rows(t, **given)), strict=True))) for t in range(1, 20)}
    found = program.bind(n=ALL, **given).privacy()
    assert (found.status, found.proof, found.attained) == ("exact", "alignment", True)
    assert found.upper == max(tight.values())
    first = min(t for t, value in tight.items() if value == found.upper)
    assert found.n >= first
    for t in (1, 2, 3):
        assert program.bind(n=t, **given).privacy().exp_epsilon == tight[t]
    words = " ".join(f"{name}={value}" for name, value in given.items())
    assert f"| `{program.name} {words}` | {found.upper} | {first} |" in PAGE.read_text(encoding="utf-8")


def _sizes(row: list[int]) -> list[int]:
    return [abs(each) for each in row]


def mass(z: int) -> float:
    """P(noise = z) at the ratio 1/2."""
    return 0.5 ** abs(z) / 3


def at_least(z: int) -> float:
    return 0.5**z / 1.5 if z > 0 else 1 - 0.5 ** (1 - z) / 1.5


Law = dict[tuple[Any, ...], float]
VALUES = range(-4, 6)


def above(x: Any, times: int, said: tuple[Any, ...], ends: Callable[[int, int], Iterator[tuple[Any, float]]]) -> Law:
    """The sparse vector technique, `times` thresholds one after the other."""
    found: Law = {}
    for t in range(-REACH, REACH):
        below = mass(t - 1)
        for i, v in enumerate(x):
            for told, share in ends(v, t):
                rest = x[i + 1 :]
                start = (*(said[0],) * i, told)
                later = above(rest, times - 1, said, ends) if times > 1 else {(): 1.0}
                for more, p in later.items():
                    found[*start, *more] = found.get((*start, *more), 0.0) + below * share * p
            below *= 1 - at_least(t - v)
        found[(said[0],) * len(x)] = found.get((said[0],) * len(x), 0.0) + below
    return found


def svt(x: Any) -> Law:
    return above(x, 1, ("below",), lambda v, t: iter([("above", at_least(t - v))]))


def svt_twice(x: Any) -> Law:
    return above(x, 2, ("below",), lambda v, t: iter([("above", at_least(t - v))]))


def numeric_sparse(x: Any) -> Law:
    return above(x, 1, (None,), lambda v, t: ((y, at_least(t - v) * mass(y - v)) for y in VALUES))


def numeric_leaking(x: Any) -> Law:
    return above(x, 1, (None,), lambda v, t: ((y, mass(y - v)) for y in VALUES if y >= t))


def ranges(x: Any, ends: Callable[[int, int, int], Iterator[tuple[Any, float]]]) -> Law:
    found: Law = {}
    for low, high in product(range(-24, 25), repeat=2):
        within = mass(low) * mass(high - 1)
        for i, v in enumerate(x):
            for told, share in ends(v, low, high):
                key = (*("within",) * i, told)
                found[key] = found.get(key, 0.0) + within * share
            within *= sum(mass(y - v) for y in range(low, high + 1))
        found[("within",) * len(x)] = found.get(("within",) * len(x), 0.0) + within
    return found


def range_query(x: Any) -> Law:
    """An answer may be below the lower threshold and above the upper one: then it counts as below."""

    def ends(v: int, low: int, high: int) -> Iterator[tuple[Any, float]]:
        yield "below", 1 - at_least(low - v)
        yield "above", at_least(max(low, high + 1) - v)

    return ranges(x, ends)


def numeric_range(x: Any) -> Law:
    def ends(v: int, low: int, high: int) -> Iterator[tuple[Any, float]]:
        outside = 1 - sum(mass(y - v) for y in range(low, high + 1))
        return ((y, outside * mass(y - v)) for y in VALUES)

    return ranges(x, ends)


def leaking_cycle(x: Any) -> Law:
    now: dict[tuple[Any, int], float] = {((), t): mass(t) for t in range(-REACH, REACH)}
    for v in x:
        later: dict[tuple[Any, int], float] = {}
        for ((said, t), p), y in product(now.items(), range(-REACH // 2, REACH // 2)):
            key = (*said, y >= t), y
            later[key] = later.get(key, 0.0) + p * mass(y - v)
        now = later
    found: Law = {}
    for (said, _), p in now.items():
        found[said] = found.get(said, 0.0) + p
    return found


def disclosing_cycle(x: Any) -> Law:
    laws = product(*([(y, mass(y - v)) for y in VALUES] for v in x))
    return {tuple(y for y, _ in each): _product(p for _, p in each) for each in laws}


def _product(numbers: Iterator[float]) -> float:
    found = 1.0
    for each in numbers:
        found *= each
    return found


def largest(law: Callable[[Any], Law], n: int) -> float:
    """The largest ratio at n."""
    laws = {x: law(x) for x in product((0, 1), repeat=n)}
    return max(p / other[y] for one, other in product(laws.values(), repeat=2) for y, p in one.items())


PRIVATE = {"svt": (8, svt), "svt_twice": (64, svt_twice), "numeric_sparse": (16, numeric_sparse)}
PRIVATE |= {"range_query": (16, range_query), "numeric_range": (32, numeric_range)}
LEAKING: dict[str, tuple[Callable[[Any], Law], list[tuple[Any, Any]]]] = {
    "numeric_leaking": (numeric_leaking, [((0,) * m, (1,) * m) for m in range(1, 5)]),
    "leaking_cycle": (leaking_cycle, [((1, 0) * m, (0, 1) * m) for m in range(1, 4)]),
    "disclosing_cycle": (disclosing_cycle, [((0,) * m, (1,) * m) for m in range(1, 4)]),
}


@pytest.mark.slow(seconds=5)
@pytest.mark.parametrize("name", PRIVATE if FULL else ["numeric_sparse"])
def test_automata_that_are_private(name: str) -> None:
    """The upper end is proved, and at n = 2 no ratio is larger; the exact one there is that of plain sums."""
    upper, law = PRIVATE[name]
    program = getattr(automata, name)
    found = program.bind(n=ALL).privacy()
    assert (found.upper, found.proof) == (upper, "alignment")
    two = largest(law, 2)
    assert float(program.bind(n=2).privacy().exp_epsilon) == pytest.approx(two, rel=1e-5)
    assert two <= float(found.lower) <= upper
    low = as_text(found.lower) if len(as_text(found.lower)) < 12 else f"{float(found.lower):.6f}"
    assert f"| `{name}` | private | {low} (n = {found.n}) | {upper} |" in PAGE.read_text(encoding="utf-8")


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", LEAKING)
def test_automata_that_leak(name: str) -> None:
    """Refuted for every ε; repeated answers multiply the ratio by a factor that does not shrink."""
    law, repeated = LEAKING[name]
    found = getattr(automata, name).bind(n=ALL).privacy()
    assert (found.status, found.upper, found.attained, found.proof) == ("exact", inf, False, "growth")
    ratios = []
    for x, other in repeated:
        ours, theirs = law(x), law(other)
        ratios.append(max(p / theirs[y] for y, p in ours.items()))
    assert all(later / one > 1.5 for one, later in pairwise(ratios))
    assert f"| `{name}` | not private |" in PAGE.read_text(encoding="utf-8")


@mechanism(record=Int(0, 1), neighbours="unit-all")
def mixed(x: Any, lam: Any) -> Any:
    """Noisy answers that are compared with the last one, some of them at random."""
    last = geometric(0, "1/3")
    said = []
    for v in x:
        noisy = geometric(v, "1/3")
        said.append((noisy > last) ^ flip(lam))
        last = noisy
    return tuple(said)


@mechanism(record=Int(0, 1), neighbours="unit-all")
def forgotten(x: Any) -> Any:
    """Noise that is kept, compared and never told, on answers that are not looked at."""
    last = geometric(0, "1/3")
    said = []
    for _ in x:
        noisy = geometric(0, "1/3")
        said.append(noisy > last)
        last = noisy
    return tuple(said)


@pytest.mark.slow(seconds=3)
def test_repetition_decides_others() -> None:
    """Unbounded where answers are told a little, and never where they make no difference."""
    assert mixed.bind(n=ALL, lam="1/10").privacy().upper == inf
    found = forgotten.bind(n=ALL).privacy()
    assert (found.status, found.upper) == ("exact", 1)
