"""Uses of noise on all integers that have no exact finite form: enclosures against runs within a reach, and sums."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from flint import arb, ctx, fmpq

from agreement import bind, module_of
from tightdp import choice, discrete_gaussian, flip, geometric, mechanism
from tightdp.core import published
from tightdp.errors import LanguageError, ProgramError
from tightdp.language import interp
from tightdp.language.domains import Bit, Int, Values
from tightdp.language.laws import Gaussian, TwoSided
from tightdp.session.instance import Instance

NARROW = Fraction(1, 10**12)

PROGRAMS = {
    "sum of Gaussians": "def f(x):\n    return discrete_gaussian(x[0], 1/2) + discrete_gaussian(x[1], 1/3)",
    "sum of geometrics": "def f(x):\n    return geometric(0, 1/9) + geometric(x[0], 1/9)",
    "published twice": "def f(x):\n    z = geometric(0, 1/9)\n    return (z, z + x[0])",
    "variance that depends": "def f(x):\n    return discrete_gaussian(0, 1 + x[0])",
    "quotient": "def f(x):\n    return geometric(x[0], 1/9) // 2",
    "remainder": "def f(x):\n    return (geometric(x[0], 1/9) % 3, discrete_gaussian(x[1], 1) % 2)",
    "more than two": "def f(x):\n    return sum(geometric(v, 1/9) for v in (x[0], 0, 1)) >= 1",
    "published and compared": "def f(x):\n    z = geometric(x[0], 1/9)\n    return z if z > geometric(0, 1/9) else 0",
    "largest of two": """
def f(x):
    a, b = discrete_gaussian(x[0], 1), discrete_gaussian(x[1], 1)
    return (a > b, a + b > 1)
""",
    "product": "def f(x):\n    z = geometric(x[0], 1/9)\n    return z * z",
    "fraction": "def f(x):\n    z = geometric(x[0], 1/9)\n    return z * z / (3 + x[1])",
}

CLOSED = ("sum of geometrics", "quotient", "more than two", "published and compared")
"""These have laws in closed form."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_laws_enclose_runs_within_a_reach(name: str) -> None:
    with module_of(PROGRAMS[name] + "\n") as module:
        bound = bind(module, Int(0, 2), 2)
        for x in ((0, 2), (1, 0)):
            found = Instance(bound).distribution(x)
            masses, beyond = interp.law_within(bound, x, 6)
            assert found.status == ("exact" if name in CLOSED else "bounded")
            if name in CLOSED:
                assert all(inside <= found.probability(y) <= inside + beyond for y, inside in masses.items())
                continue
            lower, upper = dict(found.law), dict(found.upper)
            assert set(masses) <= set(upper)
            for output, low in lower.items():
                inside = masses.get(output, Fraction(0))
                assert inside * (1 - NARROW**4) <= upper[output]
                assert low <= (inside + beyond) * (1 + NARROW**4)
            assert 1 - NARROW < sum(lower.values()) <= 1 <= sum(upper.values()) + NARROW


def _gaussian(centre: int, variance: int, reach: int = 40) -> dict[int, arb]:
    terms = {k: (-arb(fmpq(k * k, 2 * variance))).exp() for k in range(-reach, reach + 1)}
    total = sum(terms.values(), arb(0))
    return {k + centre: term / total for k, term in terms.items()}


@mechanism(record=Bit)
def noisy_max(x: Any) -> Any:
    noisy = [discrete_gaussian(b, 2) for b in x]
    best = 0
    for i in range(1, len(x)):
        if noisy[i] > noisy[best]:
            best = i
    return best


@mechanism(record=Bit)
def first_above(x: Any) -> Any:
    threshold = discrete_gaussian(1, 2)
    for place, b in enumerate(x):
        if discrete_gaussian(b, 2) >= threshold:
            return place
    return None


def _law_of_max(x: tuple[int, ...]) -> dict[Any, arb]:
    laws = [_gaussian(b, 2) for b in x]
    below = [{z: sum((p for w, p in law.items() if w < z), arb(0)) for z in range(-42, 44)} for law in laws]
    found = {}
    for i, law in enumerate(laws):
        found[i] = arb(0)
        for z, p in law.items():
            for j in range(len(x)):
                if j != i:
                    p = p * (below[j][z] + (laws[j].get(z, arb(0)) if j > i else 0))
            found[i] += p
    return found


def _law_of_first(x: tuple[int, ...]) -> dict[Any, arb]:
    found: dict[Any, arb] = {}
    for t, p in _gaussian(1, 2).items():
        for place, b in enumerate(x):
            below = sum((q for z, q in _gaussian(b, 2).items() if z < t), arb(0))
            found[place] = found.get(place, arb(0)) + p * (1 - below)
            p = p * below
        found[None] = found.get(None, arb(0)) + p
    return found


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("program", "law", "n"), [(noisy_max, _law_of_max, 2), (noisy_max, _law_of_max, 3), (first_above, _law_of_first, 3)]
)
def test_gaussian_draws_that_meet_have_the_privacy_of_their_sums(program: Any, law: Any, n: int) -> None:
    found = program.bind(n=n).privacy()
    assert found.status == "bounded"
    with ctx.workprec(300):
        laws = {x: law(x) for x in product((0, 1), repeat=n)}
        wanted = arb(1)
        for x, z in product(laws, repeat=2):
            if sum(a != b for a, b in zip(x, z, strict=True)) == 1:
                for y, p in laws[x].items():
                    wanted = max(wanted, p / laws[z][y], key=lambda value: value.mid())
        low, high = (arb(fmpq(end.numerator, end.denominator)) for end in (found.lower, found.upper))
        assert low.union(high).overlaps(wanted)
    assert found.upper - found.lower < NARROW * found.lower
    at_delta = program.bind(n=n).privacy(delta="1/1000")
    assert at_delta.upper <= found.upper
    assert program.bind(n=n).renyi(2).exp_moment < found.upper
    assert program.bind(n=n).zcdp().rho < math.inf


def test_a_sum_of_two_gaussians_has_the_delta_of_the_convolution() -> None:
    @mechanism(record=Bit, target=sum)
    def twice(x: Any) -> Any:
        return discrete_gaussian(sum(x), 2) + discrete_gaussian(0, 2)

    instance = twice.bind(n=2)
    found = instance.delta(exp_epsilon=2)
    with ctx.workprec(300):
        noise = _gaussian(0, 2)
        both = {y: sum((p * noise.get(y - z, arb(0)) for z, p in noise.items()), arb(0)) for y in range(-60, 61)}
        parts = [both[y] - 2 * both[y - 1] for y in range(-40, 41)]
        wanted = sum((part for part in parts if part > 0), arb(0))
        low, high = (arb(fmpq(end.numerator, end.denominator)) for end in (found.lower, found.delta))
        assert low.union(high).overlaps(wanted + arb(0, arb(10) ** -40))
    assert found.delta - found.lower < NARROW * found.lower
    assert instance.privacy().exp_epsilon == instance.renyi(2).exp_moment == math.inf
    assert instance.accuracy(2).upper - instance.accuracy(2).lower < NARROW


def test_pure_epsilon_has_an_upper_end_where_no_output_is_missing() -> None:
    """The remainder of two-sided noise of ratio r by m has the odds of a geometric series."""

    @mechanism(record=Bit)
    def residue(x: Any) -> Any:
        return geometric(x[0], "1/2") % 3

    found = residue.bind(n=1).privacy()
    masses = [sum(Fraction(1, 3) * Fraction(1, 2) ** abs(z) for z in range(-150, 151) if z % 3 == y) for y in range(3)]
    wanted = max(masses[y] / masses[y - 1] for y in range(3))
    assert found.lower <= wanted * (1 + NARROW**2)
    assert wanted * (1 - NARROW**2) <= found.upper <= wanted * (1 + NARROW)


@pytest.mark.parametrize("result", ["z + v == 120", "(z + w + v == 1) + (z > 200)"])
def test_outputs_of_rare_runs_are_not_forgotten(result: str) -> None:
    draws = "z, w, v = geometric(x[0], 1/2), geometric(0, 1/2), discrete_gaussian(0, 1)"
    source = f"def f(x):\n    {draws}\n    return v > 40 or {result}\n"
    with module_of(source) as module:
        found = Instance(bind(module, Bit, 1)).privacy()
    assert found.upper == math.inf


@pytest.mark.parametrize(
    ("condition", "centre", "holds"),
    [
        ("z // 2 == 30", -50, lambda z: z // 2 == 30),
        ("z % 101 == 50", 0, lambda z: z % 101 == 50),
        ("(z // 2) % 40 == 20", 0, lambda z: z % 80 in (40, 41)),
    ],
)
def test_outputs_far_from_the_centre_and_of_long_periods_are_known(
    condition: str, centre: int, holds: Callable[[int], bool]
) -> None:
    with module_of(f"def f(x):\n    z = geometric(x[0] + {centre}, 1/9)\n    return {condition}\n") as module:
        found = Instance(bind(module, Bit, 1)).privacy()
    inside = [[z - centre - b for z in range(-400, 401) if holds(z)] for b in (0, 1)]
    masses = [sum(Fraction(1, 9) ** abs(z) for z in each) for each in inside]
    wanted = max(masses[1] / masses[0], masses[0] / masses[1])
    assert found.lower <= wanted * (1 + NARROW**4)
    assert wanted * (1 - NARROW**4) <= found.upper < math.inf


@pytest.mark.parametrize("noise", ["z", "z - geometric(0, 1/2)"])
def test_multiples_that_are_no_integers_are_compared_wherever_they_are(noise: str) -> None:
    source = f"def f(x):\n    z = geometric(x[0], 1/2)\n    return max(-1, min(({noise}) * Fraction(1, 30), 1))\n"
    with module_of("from fractions import Fraction\n" + source) as module:
        bound = bind(module, Bit, 1)
        found = Instance(bound).distribution((0,))
        masses, beyond = interp.law_within(bound, (0,), 15)
    assert found.status == "exact"
    assert len(masses) > 3
    assert all(inside <= found.probability(output) <= inside + beyond for output, inside in masses.items())


def test_noise_that_reaches_too_far_keeps_its_refusal() -> None:
    source = "def f(x):\n    return discrete_gaussian(x[0], 10**6) > discrete_gaussian(0, 10**6)\n"
    with module_of(source) as module, pytest.raises(LanguageError, match="Gaussian") as caught:
        Instance(bind(module, Bit, 1)).privacy()
    assert caught.value.span is not None


def test_an_index_that_noise_can_pass_fails() -> None:
    source = "def f(x):\n    return (5, 6, 7)[geometric(x[0], 1/2)]\n"
    with module_of(source) as module, pytest.raises(ProgramError, match="IndexError"):
        Instance(bind(module, Bit, 1)).privacy()


def test_a_loop_without_a_bound_that_ends_has_an_answer() -> None:
    source = "def f(x):\n    z = 0\n    while z % 3 != 1:\n        z = geometric(x[0], 1/2)\n    return 1\n"
    with module_of(source) as module:
        assert Instance(bind(module, Bit, 1)).privacy().exp_epsilon == 1


def test_conditioned_runs_are_enclosed() -> None:
    draws = "discrete_gaussian(x[0], 1/2) + discrete_gaussian(0, 1/2)"
    source = f"def f(x):\n    z = {draws}\n    observe(z > 1)\n    return min(z, 5)\n"
    masses = {z: math.exp(-z * z) for z in range(-30, 31)}
    with module_of(source) as module:
        found = Instance(bind(module, Bit, 1)).distribution((1,))
    joint = {z: sum(masses[a - 1] * masses[z - a] for a in range(-9, 11)) for z in range(2, 20)}
    for (output, low), (_, high) in zip(found.law, found.upper or (), strict=True):
        mass = sum(each for z, each in joint.items() if min(z, 5) == output) / sum(joint.values())
        assert float(low) - 1e-12 <= mass <= float(high) + 1e-12
        assert high - low < Fraction(1, 10**18)
    assert [output for output, _ in found.law if isinstance(output, int)] == [2, 3, 4, 5]


@pytest.mark.parametrize("law", [Gaussian(3, Fraction(5, 2)), TwoSided(-2, Fraction(1, 3))])
def test_cut_laws_add_up_and_lose_little(law: Any) -> None:
    reach = published.reach_of_cut(law, 1)
    found = published.cut_law(law, reach)
    assert sum(mass for _, mass in found) == 1
    assert 0 < found[0][1] + found[-1][1] < Fraction(1, 1 << 78)


@mechanism(record=Values(0, 1 << 25))
def beside_large(x: Any) -> Any:
    """A large record beside noise that never meets it."""
    return (x[0] if flip("1/3") else 0, geometric(0, "1/2") > 1)


@mechanism(record=Values(0, 1 << 25))
def on_large(x: Any) -> Any:
    return x[0] + geometric(0, "1/2")


@mechanism(record=Bit)
def in_large_steps(x: Any) -> Any:
    return x[0] + geometric(0, "1/2") * (1 << 22)


def test_numbers_of_any_size_stand_beside_noise() -> None:
    found = beside_large.bind(n=1).privacy()
    assert (found.status, found.exp_epsilon) == ("exact", math.inf)
    for large, distance in ((on_large, 1 << 25), (in_large_steps, 1)):
        law = large.bind(n=1).distribution((large.bind(n=1).bound.record.values[1],))
        assert law.status == "exact"
        assert max(law.law, key=lambda each: each[1]) == (distance, Fraction(1, 3))


@mechanism(record=Bit)
def large_weights(x: Any) -> Any:
    return choice((0, 1), weights=((1 << 24) + x[0], 1 << 24))


def test_large_weights_are_no_noise() -> None:
    assert large_weights.bind(n=1).privacy().exp_epsilon == Fraction(2**25 + 1, 2**25)


@mechanism(record=Bit)
def asks_again(x: Any) -> Any:
    """A noisy query against a noisy threshold publishes their difference, or else a further query."""
    threshold = geometric(0, "1/2")
    first = geometric(x[0], "1/2")
    return ("above", first - threshold) if first >= threshold else ("below", geometric(x[0], "1/4"))


def below(centre: int) -> Fraction:
    """P(first < threshold), for two-sided geometric noise with the ratio 1/2 around `centre` and 0."""
    reach = range(-90, 91)
    mass = {z: Fraction(1, 3) * Fraction(1, 2) ** abs(z) for z in reach}
    return sum((mass[a] * mass[b] for a in reach for b in reach if a + centre < b), Fraction(0))


def test_noisy_queries_and_differences_of_noise_are_published_together() -> None:
    """The query with the ratio 4 is asked below the threshold, which has the ratio 11/7."""
    found = asks_again.bind(n=1).privacy()
    assert (found.status, found.exp_epsilon) == ("exact", Fraction(44, 7))
    assert float(4 * below(0) / below(1)) == pytest.approx(44 / 7)
