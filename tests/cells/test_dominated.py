"""Pairs that others dominate are left out, and the largest ratio is the same without them."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import pytest

from agreement import module_of
from tightdp.cells import comparing, dominated
from tightdp.cells.dominated import undominated
from tightdp.cells.laws import cell_laws
from tightdp.cells.noise import Outside
from tightdp.language.neighbours import relation_of

_PROGRAM = """
from tightdp import *

@mechanism(record=Int({low}, 1), neighbours="{relation}")
def drawn(x):
    t, told = {threshold}, []
    for at, query in enumerate(x):
        z = {noise}
        if {condition}:
            told.append({above})
            {stop}
        else:
            told.append({below})
    return {output}
"""


def drawn_program(seed: int) -> str:
    """A mechanism that goes through queries, compares noisy ones, and publishes something of them."""
    r = random.Random(seed)
    real = r.random() < 0.7
    scale = r.choice(["1", "2", "3/2"]) if real else r.choice(['"1/2"', '"1/3"'])
    noise = r.choice(["laplace", "laplace", "exponential"]) if real else "geometric"
    return _PROGRAM.format(
        low=r.choice([-1, -1, 0]),
        relation=r.choice(["unit-all", "unit-step", "replace-one"]),
        threshold=r.choice(["0", f"{noise}(0, {scale.strip()!s})", f"{noise}(0, {scale})"]).replace("3/2", '"3/2"'),
        noise=f"{noise}({r.choice(['query', '2 * query', '-query', 'query * query', 'query + at'])}, {scale})".replace(
            "3/2", '"3/2"'
        ),
        condition=r.choice(["z >= t", "z < t", "z >= t + query", "z - t >= 1", "z >= 0", "-1 <= z < 1"]),
        above=r.choice(["True", "True", "query >= 0", "at"]),
        stop=r.choice(["break", "break", "pass"]),
        below=r.choice(["False", "False", "query == 0"]),
        output=r.choice(
            ["tuple(told)", "tuple(told)", "len(told)", "(tuple(told), z)", "(len(told), z - t)", "sum(told)"]
        ),
    )


def found_with(few: int, source: str, n: int, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The largest ratio, its upper end and whether an output has it; how many pairs were left."""
    monkeypatch.setattr(dominated, "_FEW_PAIRS", few)
    with module_of(source, "") as module:
        bound = module.drawn.bind(n=n).bound
        compare = comparing.Comparing(cell_laws(bound, lambda: None), lambda: None)
        datasets = [*compare.laws.laws]
        pairs = [(x, y) for x in datasets for y in relation_of(bound).neighbours(x) if x != y]
        best = compare.largest(pairs)
        left = len(dominated.left(list(compare._unlike(pairs)), compare.laws, compare._below))
    value = compare.laws.one if best is None else best.value
    if best is not None and not any(best.moved) and not best.label.real:
        output = best.label.output(best.start)
        p, q = (compare.laws.probability(x, output) for x in (best.x, best.x_prime))
        assert (p / q if q else math.inf) == value, source
    return (value, compare.upper, best and best.attained), left


def check(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    source, n = drawn_program(seed), 2 + seed % 2
    try:
        whole, most = found_with(1 << 30, source, n, monkeypatch)
    except Outside as outside:
        pytest.skip(str(outside))
    known, left = found_with(0, source, n, monkeypatch)
    assert known == whole, source
    assert left <= most, source


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(40))
def test_the_largest_ratio_is_that_of_all_pairs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check(seed, monkeypatch)


@pytest.mark.slow(seconds=200)
@pytest.mark.parametrize("seed", range(40, 300))
def test_the_largest_ratio_of_many_programs_is_that_of_all_pairs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    check(seed, monkeypatch)


@pytest.mark.parametrize("seed", range(60))
def test_of_functions_the_largest_ratio_is_left(seed: int) -> None:
    """Functions with few values, so that many are equal, or 0 somewhere."""
    r = random.Random(seed)
    functions = [[r.randrange(3) for _ in range(2)] for _ in range(7)]

    def ratio(pair: tuple[int, int]) -> Any:
        both = zip(*(functions[at] for at in pair), strict=True)
        return max((math.inf if not q else Fraction(p, q) for p, q in both if p), default=Fraction(0))

    every = [(i, j) for i in range(7) for j in range(7) if r.random() < 0.6]
    beside = [(i, j) for i in range(7) for j in range(7) if r.random() < 0.5]
    left = undominated(every, beside, lambda i, j: all(p <= q for p, q in zip(functions[i], functions[j], strict=True)))
    assert left <= set(every)
    assert max(map(ratio, left)) == max(map(ratio, every))


def test_of_a_sparse_vector_few_pairs_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    source = _PROGRAM.format(
        low=-1, relation="unit-all", threshold="laplace(0, 2)", noise="laplace(query, 2)", condition="z >= t",
        above="True", stop="pass", below="False", output="tuple(told)",
    )  # fmt: skip
    _, most = found_with(1 << 30, source, 3, monkeypatch)
    _, left = found_with(0, source, 3, monkeypatch)
    assert 10 * left < most
