"""The index of a record that is published after later ones: report noisy max and what is like it, true and false."""

from __future__ import annotations

import math
import random
from contextlib import suppress
from fractions import Fraction
from typing import Any

import pytest

from agreement import module_of
from tightdp import ALL, Bit, Int, TightdpError, exponential, flip, geometric, laplace, mechanism, one_sided_geometric
from tightdp.every_n.covering import apart, covers
from tightdp.every_n.paths import Affine, Path
from tightdp.every_n.upper import least_upper, readings
from tightdp.exact.field import exp
from tightdp.language import laws

answers = mechanism(record=Int(0, 1), neighbours="unit-all")


@answers
def where_the_greatest_is(x):
    noisy = [laplace(query, 2) for query in x]
    return noisy.index(max(noisy))


@answers
def in_a_loop(x):
    best = at = None
    for i, query in enumerate(x):
        z = laplace(query, 2)
        if best is None or z > best:
            best, at = z, i
    return at


@answers
def exponential_noise(x):
    best, at = -1, 0
    for i, query in enumerate(x):
        z = exponential(query, 2)
        if z >= best:
            best, at = z, i
    return at + 1


@answers
def on_integers(x):
    noisy = [geometric(query, "1/2") for query in x]
    return noisy.index(max(noisy)), "told"


@answers
def failures(x):
    noisy = [one_sided_geometric(query, "1/3") for query in x]
    return noisy.index(max(noisy))


@answers
def half_of_the_noise(x):
    noisy = [laplace(query, 1) for query in x]
    return noisy.index(max(noisy))


@mechanism(record=Bit)
def one_query_moves(x):
    noisy = [laplace(query, 2) for query in x]
    return noisy.index(min(noisy))


@answers
def with_its_value(x):
    """CheckDP's badnoisymax, with the index."""
    best = at = None
    for i, query in enumerate(x):
        z = laplace(query, 2)
        if best is None or z > best:
            best, at = z, i
    return at, best


@answers
def least_exponential(x):
    """Noise that ends where it matters."""
    noisy = [exponential(query, 2) for query in x]
    return noisy.index(min(noisy))


@answers
def bare_threshold(x):
    """The last one above a threshold without noise: every later answer tells something."""
    at = -1
    for i, query in enumerate(x):
        if laplace(query, 2) > 1:
            at = i
    return at


@answers
def last_above(x):
    """Sparse vector from its end."""
    t, at = laplace(0, 2), -1
    for i, query in enumerate(x):
        if laplace(query, 4) >= t:
            at = i
    return at


@answers
def with_fresh_noise(x):
    """The noisy answer is published with more noise."""
    best = at = None
    for i, query in enumerate(x):
        z = laplace(query, 2)
        if best is None or z > best:
            best, at = z, i
    return at, laplace(best, 2)


ENDS = [
    (last_above, exp(1)),
    (with_fresh_noise, exp(Fraction(3, 2))),
    (where_the_greatest_is, exp(1)),
    (in_a_loop, exp(1)),
    (exponential_noise, exp(1)),
    (on_integers, Fraction(4)),
    (failures, Fraction(9)),
    (half_of_the_noise, exp(2)),
    (one_query_moves, exp(Fraction(1, 2))),
    (with_its_value, math.inf),
    (least_exponential, math.inf),
    (bare_threshold, math.inf),
]


def upper(program: Any) -> Any:
    return least_upper(readings(program.bind(n=1).bound), Fraction(1)).value


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("program", "value"), ENDS, ids=lambda each: getattr(each, "__name__", ""))
def test_upper_ends_are_known_and_hold(program, value):
    assert upper(program) == value
    for n in (1, 2):
        assert program.bind(n=n).privacy().lower <= value


@mechanism(record=Bit)
def last_told(x):
    at = -1
    for i, bit in enumerate(x):
        if flip("1/3") ^ bit:
            at = i
    return at


@mechanism(record=Bit)
def between_two(x):
    one = other = -1
    for i, bit in enumerate(x):
        if flip("1/3") ^ bit:
            one = i
        if flip("1/4"):
            other = 2 * i + 1
    return one - other


@mechanism(record=Bit)
def kept_apart(x):
    """Two names for indices, which may be the same one."""
    first = last = None
    for i, bit in enumerate(x):
        if flip("1/4") ^ bit:
            first = i if first is None else first
            last = i
    return None if first is None else last - first


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("program", "value"), [(last_told, 2), (between_two, 2), (kept_apart, 3)])
def test_indices_of_finite_programs(program, value):
    found = program.bind(n=ALL).privacy()
    assert found.upper >= value
    assert found.lower == max(program.bind(n=n).privacy().exp_epsilon for n in range(1, found.n + 1))
    if program is last_told:
        assert (found.status, found.upper) == ("exact", value)


_NOISE = ("laplace({c}, {s})", "exponential({c}, {s})", "geometric({c}, '1/2')", "one_sided_geometric({c}, '1/3')")


def drawn(chance: random.Random) -> str:
    """The source of a program that looks for an extreme answer, right or wrong in one of many ways."""

    def noise(centre: str) -> str:
        return chance.choice(_NOISE).format(c=centre, s=chance.choice((1, 2, 3)))

    start, compared = chance.choice(("None", "None", "0", noise("0"))), chance.choice((">", ">=", "<"))
    guard = "best is None or " if start == "None" else ""
    shape = chance.choice(
        (
            "            best, at = z, i",
            "            best, at = z, i",
            "            second, at = at, i\n            best = z",
            "            at = i",
            f"            at = i\n            best = {noise('0')}",
            "            best, at = z, i\n        elif z > 1:\n            second = i",
        )
    )
    relation = chance.choice(("unit-all", "unit-all", "replace-one"))
    told = ("at", "at", "second", "at, second", "at, best", "best", "at, best is None or best > 1", "at or -7")
    return "\n".join(
        (
            f"@mechanism(record={chance.choice(('Bit', 'Bit', 'Int(-1, 1)'))}, neighbours={relation!r})",
            "def program(x):",
            f"    best, at, second = {start}, {chance.choice(('None', '-1'))}, None",
            "    for i, v in enumerate(x):",
            f"        z = {noise(chance.choice(('v', 'v', '2*v', '-v', '0')))}",
            f"        if {guard}z {compared} best{chance.choice(('', '', ' + 1', ' - v'))}:",
            shape,
            f"    return {chance.choice(told)}",
        )
    )


@pytest.mark.parametrize(("seed", "programs", "least"), [(1, 3, 1), pytest.param(2, 150, 30, marks=pytest.mark.slow)])
def test_no_proof_is_below_a_tight_answer(seed: int, programs: int, least: int) -> None:
    chance, compared = random.Random(seed), 0
    for _ in range(programs):
        source = drawn(chance)
        with module_of(source, "from tightdp import *\n") as module, suppress(TightdpError):
            value = upper(module.program)
            for n in () if value == math.inf else (1, 2) if seed == 1 else (1, 2, 3, 4):
                tight = module.program.bind(n=n).privacy()
                assert tight.lower <= value, source
                compared += tight.status == "exact" and n == 2
    assert compared >= least


def test_covers_hold_at_points():
    """Every run on our path is on one of those that cover it, and its values differ by as much as is said."""
    chance, covered, alone = random.Random(5), 0, 0
    law = laws.laplace(0, 1)
    forms = (
        ((("fresh", 0), Fraction(1)), (("held", 0), Fraction(-1))),
        ((("fresh", 0), Fraction(1)),),
        ((("held", 0), Fraction(1)),),
        ((("fresh", 0), Fraction(1)), (("held", 0), Fraction(1))),
    )

    def path() -> Path:
        bounds = {}
        for terms in chance.sample(forms, chance.choice((1, 1, 2))):
            low = Fraction(chance.randint(-3, 2))
            bounds[terms] = chance.choice(((low, math.inf), (-math.inf, low), (low, low + 2)))
        return Path(Fraction(1), (law,), bounds, (), (), 0, (Affine(chance.choice(forms), Fraction(0)),))

    def value(terms: Any, held: float, fresh: float) -> float:
        return sum(float(times) * (held if kind == "held" else fresh) for (kind, _), times in terms)

    def on(one: Path, held: float, fresh: float) -> bool:
        return all(low <= value(terms, held, fresh) <= high for terms, (low, high) in one.bounds.items())

    for _ in range(120):
        ours, theirs = path(), [path() for _ in range(3)]
        low = Fraction(chance.randint(-2, 1))
        gaps = ((low, low + chance.randint(0, 2)),)
        found = covers(ours, theirs, gaps, ((True,), (True,)))
        others = [theirs[at - 1] for at in apart([ours, *theirs], (True,))[0]]
        points = [(chance.uniform(-5, 5), chance.uniform(-5, 5)) for _ in range(60)]
        for held, fresh in points:
            if not on(ours, held, fresh):
                continue
            alone += len(others)
            assert not any(on(other, held, fresh) for other in others)
            if found is None:
                continue
            before = held - chance.uniform(float(gaps[0][0]), float(gaps[0][1]))
            there = [(at, after) for at, after in found if on(theirs[at], before, fresh)]
            assert there
            for at, ((least, most),) in there:
                gap = value(ours.values[0].terms, held, fresh) - value(theirs[at].values[0].terms, before, fresh)
                assert float(least) - 1e-9 <= gap <= float(most) + 1e-9
            covered += 1
    assert covered > 50
    assert alone > 100
