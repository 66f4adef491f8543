"""Noise with infinitely many outcomes that meets numbers only: finite draws of cells, against the algebra and runs."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import pytest

from agreement import module_of
from tightdp import (
    Bit,
    Int,
    Mechanism,
    exponential,
    laplace,
    mechanism,
    one_sided_geometric,
    uniform,
)
from tightdp.cells.laws import cell_laws
from tightdp.cells.noise import Outside
from tightdp.core.between import Between, Cut, cells_of
from tightdp.core.lowering import lower
from tightdp.core.unmerged import Uncut
from tightdp.errors import LanguageError
from tightdp.exact.field import exp
from tightdp.language import laws


@mechanism(record=Int(-1, 1), neighbours="unit-step")
def histogram(x, eps):
    return tuple(round(max(-1, min(laplace(count, 1 / eps), 1))) for count in x)


@mechanism(record=Bit)
def far_above(x):
    return laplace(sum(x), 2) > Fraction(len(x), 2)


@mechanism(record=Bit)
def largest(x):
    noisy = [exponential(v, 1) - 1 for v in x]
    return sum(max(noisy) > t for t in range(3))


def test_clients_share_nothing_however_many_there_are() -> None:
    found = histogram.bind(n=20, eps=1).privacy()
    assert (found.status, found.exp_epsilon) == ("exact", exp(1))
    assert histogram.bind(n=20, eps="?").verify(epsilon="eps").holds


def test_sums_are_counted() -> None:
    found = far_above.bind(n=60).privacy()
    assert (found.status, found.exp_epsilon) == ("exact", exp(Fraction(1, 2)))


def test_the_largest_is_counted() -> None:
    """P(max <= t) = Π P(noise of v <= t + 1): of k ones, with F(t) = 1 - e^-t."""
    n = 12

    def at_most(ones: int, t: int) -> float:
        return (1 - math.exp(-(t + 1))) ** (n - ones) * (1 - math.exp(-t)) ** ones

    def law(ones: int) -> list[float]:
        below = [0.0, *(at_most(ones, t) for t in range(3)), 1.0]
        return [b - a for a, b in pairwise(below)]

    instance = largest.bind(n=n)
    for ones in (0, 5, n):
        x = (1,) * ones + (0,) * (n - ones)
        assert [float(instance.probability(x, y)) for y in range(4)] == pytest.approx(law(ones), rel=1e-9)
    assert instance.privacy().exp_epsilon == math.inf  # of a one alone the noise is never below 0


@pytest.mark.parametrize(
    "law",
    [
        laws.laplace(Fraction(1, 3), 2), laws.exponential(-1, Fraction(1, 2)), laws.continuous_uniform(0, 3),
        laws.one_sided_geometric(2, Fraction(1, 3)), laws.one_sided_geometric(0, exp(-1)),
    ],
)  # fmt: skip
def test_cells_share_the_mass(law: Any) -> None:
    cuts = [Fraction(k, 6) for k in range(-20, 50, 7)]
    found = cells_of(law, sorted({*cuts, *(Fraction(2 * k + 1, 2) for k in range(6))}), "", set())
    assert sum(mass for _, mass in found) == 1
    assert all(mass > 0 for _, mass in found)
    assert len({value for value, _ in found}) == len(found)


def test_a_question_that_a_cell_does_not_answer_says_where_to_cut() -> None:
    wanted: set[Cut] = set()
    ((value, _),) = cells_of(laws.laplace(0, 1), (), "z", wanted)
    assert isinstance(value, Between)
    (3 - 2 * value).below(1)
    assert wanted == {("z", 1)}
    with pytest.raises(Uncut):
        value + value


@mechanism(record=Bit)
def same_cell(x):
    return laplace(x[0], 1) < laplace(0, 1)


@mechanism(record=Bit)
def is_listed(x):
    z, w = laplace(x[0], 1), laplace(0, 1)
    return z > 1, [z, w].index(max(z, w))


@mechanism(record=Bit)
def widening(x):
    z, w = laplace(x[0], 1), laplace(0, 2)
    return max(z, 2 * w) > 1


@mechanism(record=Bit)
def apart(x):
    return uniform(0, 1) < uniform(2, 3), uniform(x[0], 3) > 2


@pytest.mark.parametrize(("made", "finite"), [(same_cell, False), (is_listed, False), (widening, True), (apart, True)])
def test_which_programs_are_finite(made: Mechanism, finite: bool) -> None:
    bound = made.bind(n=1).bound
    known = cell_laws(bound, lambda: None).finite()
    assert known is not None
    if finite:
        lower(bound, enclosed=False)
    else:
        with pytest.raises(Uncut):
            lower(bound, enclosed=False)
    for x, law in known.items():
        assert {y: made.bind(n=1).probability(x, y) for y in law} == law


@mechanism(record=Bit)
def failures(x):
    z = one_sided_geometric(x[0], "1/2")
    return min(z, 3), z in (5, 7), z == 0


def test_one_sided_noise_on_the_integers() -> None:
    law = failures.bind(n=1).distribution((0,)).law
    law = dict(law)
    assert law[0, False, True] == Fraction(1, 2)
    assert law[3, True, False] == Fraction(1, 64) + Fraction(1, 256)
    assert sum(law.values()) == 1


def drawn(seed: int) -> str:
    """Return a program whose noise is compared with numbers, mostly."""
    draw = random.Random(seed)
    numbers = ["-1", "0", "Fraction(1, 2)", "1", "2", "Fraction(-5, 3)"]

    def number() -> str:
        return draw.choice(numbers)

    def noise() -> str:
        centre = draw.choice(["x[0]", "sum(x)", "0", "2 * x[0]", "-x[0]", "x[0] * x[-1]"])
        kind = draw.choice(["laplace", "exponential", "uniform", "one_sided_geometric"])
        if kind == "uniform":
            return f"uniform({centre} - 1, {centre} + 2)"
        return f"{kind}({centre}, {draw.choice(['Fraction(1, 2)', 'Fraction(1, 3)'])})"

    names = [f"z{k}" for k in range(draw.randint(1, 2))]

    def form(depth: int = 0) -> str:
        z = draw.choice(names)
        found = [
            z, f"{z} + {number()}", f"-{z}", f"2 * {z}", f"{z} / 2 - {number()}", f"abs({z})", f"sum(x) - {z}",
            f"({z} if x[0] else -{z})", f"max({z}, {number()})", f"max({', '.join(names)}, 0)",
        ]  # fmt: skip
        if depth < 2:
            found += [f"max({form(depth + 1)}, {number()})", f"abs({form(depth + 1)})", f"1 - 3 * {form(depth + 1)}"]
        return draw.choice(found)

    def told() -> str:
        compared = f"{form()} {draw.choice(['<', '<=', '>', '>=', '==', '!='])} {number()}"
        return draw.choice([
            compared, compared, f"({compared}) + ({form()} < {number()})", f"round(max(-1, min({form()}, 2)))",
            f"int(max(-2, min({form()}, 2)))", f"{number()} in ({form()}, 3)", f"bool({form()})",
            f"[{form()}, 1].count(1)", f"'yes' if {compared} else x[0] ^ flip(\"1/3\")",
        ])  # fmt: skip

    lines = [f"    {name} = {noise()}" for name in names]
    if draw.random() < 0.15:
        lines.append(f"    observe({form()} > {number()})")
    head = "from fractions import Fraction\nfrom tightdp import *\n\n@mechanism(record=Bit)\ndef drawn(x):\n"
    return head + "\n".join([*lines, f"    return {told()}, {told()}"]) + "\n"


_BLOCK = 8


@pytest.mark.parametrize("first", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(_BLOCK, 240, _BLOCK))])
def test_drawn_programs_have_the_laws_of_the_algebra(first: int) -> None:
    compared = 0
    for seed in range(first, first + _BLOCK):
        with module_of(drawn(seed), "") as module:
            instance = module.drawn.bind(n=2)
            try:
                lower(instance.bound, enclosed=False)
                known = cell_laws(instance.bound, lambda: None).finite()
            except (Uncut, Outside):
                continue
            if known is None:
                continue
            for x in product((0, 1), repeat=2):
                assert {y: instance.probability(x, y) for y in known[x]} == known[x], (seed, x)
            compared += 1
    assert compared > _BLOCK // 3


@mechanism(record=Bit)
def keyed(x):
    z, w = laplace(x[0], 1), laplace(0, 1)
    return {z: 1}.get(w, 2)


@mechanism(record=Bit)
def in_a_set(x):
    z, w = laplace(x[0], 1), laplace(0, 1)
    return w in {z}


@pytest.mark.parametrize("made", [keyed, in_a_set])
def test_numbers_of_one_cell_are_no_equal_keys(made: Mechanism) -> None:
    with pytest.raises(LanguageError, match="is used otherwise than in sums, comparisons and roundings") as raised:
        made.bind(n=1).privacy()
    assert type(raised.value) is LanguageError
