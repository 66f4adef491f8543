"""Real noise: known values, integrals by quadrature, and drawn programs against runs of the functions themselves."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from scipy import integrate

from small_mechanisms import above_threshold
from tightdp import (
    Bit,
    Int,
    LanguageError,
    Mechanism,
    ProgramError,
    exponential,
    flip,
    geometric,
    laplace,
    mechanism,
    observe,
    one_sided_geometric,
    shuffle,
    uniform,
)
from tightdp.exact.field import exp as power_of_e
from tightdp.language.outputs import as_output
from tightdp.language.primitives import PseudoRandom, Rejected, using
from tightdp.session.files import import_file
from tightdp.session.mechanism import mechanisms_of


def exp(exponent: Any) -> Any:
    return power_of_e(Fraction(exponent))


def bits(function: Callable[..., Any]) -> Mechanism:
    return mechanism(record=Bit)(function)


@bits
def count(x):
    return laplace(sum(x), 2)


@bits
def scaled(x):
    return 2 * laplace(x[0], 1) + 3


@bits
def independent(x):
    return laplace(x[0], 2), -laplace(x[0], 3)


@bits
def told_twice(x):
    z = laplace(sum(x), 2)
    return z, z + 1, z > 1


@bits
def clamped(x):
    return max(0, min(1, laplace(sum(x), 2)))


@bits
def rounded(x):
    return round(laplace(2 * sum(x), 2))


@bits
def floored_twice(x):
    z = laplace(x[0], 1)
    return z // 1, z // 2


@bits
def sum_of_two(x):
    return laplace(x[0], 2) + laplace(0, 2)


@bits
def either(x):
    return laplace(x[0], 2) if flip("1/2") else laplace(0, 1)


@bits
def absolute(x):
    return abs(laplace(x[0], 1))


@bits
def running_totals(x):
    first = laplace(x[0], 2)
    second = first + laplace(x[0], 3)
    return first, second


@bits
def exponential_sign(x):
    return exponential(x[0], 2) > 2


@bits
def one_sided(x):
    return one_sided_geometric(x[0], "1/2")


@bits
def two_uniforms(x):
    return uniform(0, 3) + x[0] > uniform(0, 2)


@bits
def below_and_above(x):
    z, t = laplace(x[0], 2), geometric(0, "1/2")
    return z > t


@bits
def positive(x):
    z = laplace(x[0], 1)
    observe(z > 0)
    return z > 1


@bits
def larger_part(x):
    return uniform(0, 1 + x[0])


@bits
def of_half(x):
    return laplace(sum(shuffle(x)[: len(x) // 2]), 1)


@bits
def each_with_a_coin(x):
    return laplace(sum(v for v in x if flip("1/4")), 1)


@mechanism(record=Int(0, 30))
def wide_sum(x):
    return laplace(sum(x), 10)


KNOWN = [
    (count, 1, exp("1/2")), (count, 3, exp("1/2")), (scaled, 1, exp(1)), (independent, 1, exp("5/6")),
    (told_twice, 1, exp("1/2")), (clamped, 1, exp("1/2")), (rounded, 1, exp(1)), (floored_twice, 1, exp(1)),
    (sum_of_two, 1, exp("1/2")), (either, 1, exp("1/2")), (absolute, 1, exp(1)), (running_totals, 1, exp("5/6")),
    (wide_sum, 1, exp(3)), (two_uniforms, 1, 4), (larger_part, 1, math.inf), (one_sided, 1, math.inf),
    (of_half, 6, (1 + exp(1)) / 2), (each_with_a_coin, 8, (3 + exp(1)) / 4),
]  # fmt: skip


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("made", "n", "expected"), KNOWN, ids=lambda each: getattr(each, "__name__", ""))
def test_values_that_are_known(made: Mechanism, n: int, expected: Any) -> None:
    found = made.bind(n=n).privacy()
    assert (found.status, found.exp_epsilon) == ("exact", expected)


def test_an_exponential_tail_is_compared() -> None:
    found = exponential_sign.bind(n=1).privacy()
    assert found.exp_epsilon == max((1 - exp(-1)) / (1 - exp("-1/2")), exp("1/2"))


def test_conditions_on_real_noise_condition_the_run() -> None:
    found = positive.bind(n=1).privacy()
    low, high = exp(-1), Fraction(1, 2) / (1 - exp(-1) / 2)
    assert found.exp_epsilon == max((1 - low) / (1 - high), high / low)


def test_supports_of_different_lines_are_told_apart() -> None:
    @bits
    def slopes(x):
        z = laplace(0, 1)
        return z, (z if x[0] else 2 * z)

    assert slopes.bind(n=1).privacy().exp_epsilon == math.inf


def test_delta_of_one_number_is_exact_where_densities_cross_at_a_rational() -> None:
    assert count.bind(n=2).delta(exp_epsilon=1).delta == 1 - exp("-1/4")
    assert count.bind(n=2).delta(epsilon="1/4").delta == 1 - exp("-1/8")
    assert larger_part.bind(n=1).delta(exp_epsilon=1).delta == Fraction(1, 2)


def test_accuracy_and_errors_are_integrals() -> None:
    instance = mechanism(record=Bit, target=sum)(count.program.function).bind(n=2)
    assert instance.accuracy(1).one_minus_beta == 1 - exp("-1/2")
    assert instance.utility().value("expected absolute error") == 2


def density(kind: str, z: float, centre: float, scale: float) -> float:
    if kind == "laplace":
        return math.exp(-abs(z - centre) / scale) / (2 * scale)
    return math.exp(-(z - centre) / scale) / scale if z >= centre else 0.0


def below(kind: str, z: float, centre: float, scale: float) -> float:
    if kind == "exponential":
        return 1 - math.exp(-(z - centre) / scale) if z >= centre else 0.0
    tail = math.exp(-abs(z - centre) / scale) / 2
    return tail if z < centre else 1 - tail


@mechanism(record=Int(0, 1), neighbours="unit-all")
def noisy_max(x, scale):
    best, found = None, 0
    for i, v in enumerate(x):
        z = laplace(v, scale)
        if best is None or z > best:
            best, found = z, i
    return found


@mechanism(record=Int(0, 1), neighbours="unit-all")
def noisy_max_exponential(x, scale):
    noisy = [exponential(v, scale) for v in x]
    return noisy.index(max(noisy))


@pytest.mark.parametrize(("made", "kind"), [(noisy_max, "laplace"), (noisy_max_exponential, "exponential")])
def test_noisy_max_is_an_integral(made: Mechanism, kind: str) -> None:
    laws: dict[Any, list[float]] = {}
    for x in product((0, 1), repeat=3):
        laws[x] = [
            integrate.quad(
                lambda z, i=i, x=x: density(kind, z, x[i], 2)
                * math.prod(below(kind, z, v, 2) for j, v in enumerate(x) if j != i),
                -60, 60, points=[0, 1], limit=200,
            )[0]
            for i in range(3)
        ]  # fmt: skip
    tight = max(laws[x][i] / laws[y][i] for x in laws for y in laws for i in range(3))
    assert float(made.bind(n=3, scale=2).privacy().exp_epsilon) == pytest.approx(tight, rel=1e-6)


def test_above_threshold_is_an_integral() -> None:
    noisy = mechanism(record=Int(0, 1), neighbours="unit-all")(above_threshold)

    def chance(x: Any, stops: int | None) -> float:
        def integrand(t: float) -> float:
            before = math.prod(below("laplace", t, v, 4) for v in x[:stops])
            return density("laplace", t, 0, 2) * before * (1 if stops is None else 1 - below("laplace", t, x[stops], 4))

        return float(integrate.quad(integrand, -80, 80, points=[0, 1], limit=200)[0])

    outputs = (0, 1, None)
    laws = {x: [chance(x, stops) for stops in outputs] for x in product((0, 1), repeat=2)}
    tight = max(laws[x][i] / laws[y][i] for x in laws for y in laws for i in range(3))
    assert float(noisy.bind(n=2).privacy().exp_epsilon) == pytest.approx(tight, rel=1e-6)


def drawn(seed: int) -> str:
    """Return a program with up to three real draws, which publishes what it finds by comparing them."""
    draw = random.Random(seed)

    def number() -> str:
        return str(draw.choice([-1, 0, "Fraction(1, 2)", 1, 2]))

    def noise() -> str:
        centre = draw.choice(["x[0]", "sum(x)", "0", "2 * x[0]", "-x[0]"])
        kind = draw.choice(["laplace", "laplace", "exponential", "uniform"])
        return f"uniform({centre} - 1, {centre} + 2)" if kind == "uniform" else f"{kind}({centre}, {draw.choice('12')})"

    names = [f"z{k}" for k in range(draw.randint(1, 3))]
    lines = [f"    {name} = {noise()}" for name in names]

    def form() -> str:
        z, other = draw.choice(names), draw.choice(names)
        return draw.choice([
            z, f"{z} + {number()}", f"-{z}", f"2 * {z}", f"{z} - {other}", f"abs({z})", f"sum(x) - {z}",
            f"max({', '.join(names)}, 0)", f"{z} // 1",
        ])  # fmt: skip

    def told() -> str:
        return draw.choice([
            f"{form()} > {form()}", f"{form()} < {number()}", f"({form()} > 0) + ({form()} >= {number()})",
            f"round(max(-1, min({form()}, 2)))", f"'yes' if {form()} > {form()} else x[0] ^ flip(\"1/3\")",
        ])  # fmt: skip

    if draw.random() < 0.2:
        lines.append(f"    observe({form()} > {number()})")
    head = "from fractions import Fraction\nfrom tightdp import *\n\n@mechanism(record=Bit)\ndef drawn(x):\n"
    return (
        head
        + "\n".join([*lines, f"    return {told()}, {told()}" if draw.random() < 0.5 else f"    return {told()}"])
        + "\n"
    )


RUNS = 2_000


def frequencies(made: Mechanism, x: tuple[int, ...], seed: int) -> Counter[Any]:
    found: Counter[Any] = Counter()
    with using(PseudoRandom(seed)):
        while found.total() < RUNS:
            try:
                found[as_output(made.program.function(x))] += 1
            except Rejected:
                continue
    return found


BLOCK = 5


@pytest.mark.parametrize("first", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(BLOCK, 100, BLOCK))])
def test_drawn_programs_have_the_laws_of_their_runs(first: int, tmp_path: Path) -> None:
    answered = 0
    for seed in range(first, first + BLOCK):
        place = tmp_path / f"drawn_{seed}.py"
        place.write_text(drawn(seed), encoding="utf-8")
        made = mechanisms_of(import_file(place))["drawn"]
        try:
            ratio = made.bind(n=1).privacy().exp_epsilon
        except LanguageError:
            continue
        except ProgramError as error:
            if "false in every run" not in error.what:  # else the program observes what is never so
                raise
            continue
        answered += 1
        runs = {x: frequencies(made, x, seed) for x in ((0,), (1,))}
        tight = 1.0
        laws = {x: {y: float(made.bind(n=1).probability(x, y)) for y in {*runs[(0,)], *runs[(1,)]}} for x in runs}
        for x, seen in runs.items():
            assert sum(laws[x].values()) <= 1 + 1e-9, seed
            for y, p in laws[x].items():
                assert abs(seen[y] / RUNS - p) <= 5 * math.sqrt(max(p * (1 - p), 1 / RUNS) / RUNS), (seed, x, y)
                other = laws[(1 - x[0],)][y]
                tight = max(tight, p / other if other else (math.inf if p else 1))
        assert float(ratio) >= tight * (1 - 1e-9), seed
    assert answered > BLOCK // 3


@mechanism(record=Int(0, 1), neighbours="unit-all")
def best_of_exponentials(x):
    """That none is above 0 has probability 0."""
    best, at = 0, None
    for i, query in enumerate(x):
        noisy = exponential(query, 2)
        if noisy > best:
            best, at = noisy, i
    return at + 1


@bits
def unless_equal(x):
    z, w = uniform(x[0], 2), exponential(0, 1)
    assert z != w
    assert w >= 0
    assert z > x[0]
    return z > w


@bits
def where_integers_are_equal(x):
    z, w = one_sided_geometric(x[0], "1/2"), one_sided_geometric(0, "1/3")
    assert z + w >= 0
    assert z - w != 3
    return z > laplace(0, 1)


@pytest.mark.slow(seconds=2)
def test_runs_of_probability_0_do_not_fail() -> None:
    """The second is larger with probability 1 - e^(-1/2)/2 where its query is larger by 1, else e^(-1/2)/2."""
    tight = best_of_exponentials.bind(n=2).privacy()
    assert tight.exp_epsilon == 2 * exp(Fraction(1, 2)) - 1
    law = dict(unless_equal.bind(n=1).distribution((1,)).law)  # w below z, which is uniform between 1 and 2
    assert law[True] == 1 - exp(-1) + exp(-2)
    with pytest.raises(ProgramError, match="z - w != 3"):
        where_integers_are_equal.bind(n=1).privacy()
