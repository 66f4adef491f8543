"""Whether the largest ratio is that of an output, or only approached: drawn programs beside densities on a grid."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from agreement import module_of
from tightdp import Bit, exponential, flip, geometric, laplace, mechanism, uniform
from tightdp.cells.laws import cell_laws
from tightdp.results import DensityWitness, LimitWitness

HEAD = "from tightdp import *\n\n\n@mechanism(record=Bit)\n"
Density = Callable[[float, int], float]
CENTRES: dict[str, Callable[[int], int]] = {
    "0": lambda x: 0,
    "x[0]": lambda x: x,
    "1 - x[0]": lambda x: 1 - x,
    "2 * x[0]": lambda x: 2 * x,
    "3": lambda x: 3,
}


def drawn_noise(draw: random.Random) -> tuple[str, Density]:
    """Return noise on the reals as text, and its density."""
    text = draw.choice(list(CENTRES))
    centre, scale = CENTRES[text], draw.choice((1, 2))
    kind = draw.choice(("laplace", "exponential", "uniform", "upside down"))
    if kind == "laplace":
        return f"laplace({text}, {scale})", lambda z, x: math.exp(-abs(z - centre(x)) / scale) / (2 * scale)
    if kind == "exponential":
        return (
            f"exponential({text}, {scale})",
            lambda z, x: math.exp(-(z - centre(x)) / scale) / scale if z > centre(x) else 0,
        )
    if kind == "upside down":
        return (
            f"{text} - exponential(0, {scale})",
            lambda z, x: math.exp((z - centre(x)) / scale) / scale if z < centre(x) else 0,
        )
    return f"{text} + uniform(-3, {scale + 3})", lambda z, x: float(-3 < z - centre(x) < scale + 3) / (scale + 6)


def drawn_program(seed: int) -> tuple[str, list[Density]]:
    """Return a program that publishes a number, beside a tag or not, and the densities under each tag."""
    draw = random.Random(seed)
    count, tagged = draw.choice((1, 2, 3)), draw.random() < 0.3
    chosen = [drawn_noise(draw) for _ in range(count)]
    lines, left = ["def drawn(x):"], 1.0
    shares: list[float] = []
    for at, (text, _) in enumerate(chosen):
        said = f"return {at}, {text}" if tagged else f"return {text}"
        if at < count - 1:
            lines += [f"    if flip(1/{at + 2}):", f"        {said}"]
            shares.append(left / (at + 2))
            left -= shares[-1]
        else:
            lines.append(f"    {said}")
            shares.append(left)

    def part(at: int) -> Density:
        return lambda z, x: shares[at] * chosen[at][1](z, x)

    parts = [part(at) for at in range(count)]
    return HEAD + "\n".join(lines), parts if tagged else [lambda z, x: sum(each(z, x) for each in parts)]


def ratios(density: Density, first: int) -> list[float]:
    """Return likelihood ratios beside each other, at places between those where densities may jump."""
    places = [k / 8 + 0.0517 for k in range(-400, 400)]
    both = ((density(z, first), density(z, 1 - first)) for z in places)
    return [math.inf if not q else p / q for p, q in both if p > 0]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(80))
def test_a_ratio_of_densities_is_attained_where_many_outputs_have_it(seed: int) -> None:
    source, densities = drawn_program(seed)
    with module_of(source, "") as module:
        found = module.drawn.bind(n=1).privacy()
    every = [each for density, first in product(densities, (0, 1)) for each in ratios(density, first)]
    most = float(found.exp_epsilon)
    assert max(every) <= most * (1 + 1e-12), source
    if found.status == "exact" and most > 1:
        near = sum(each == most or abs(each - most) < 1e-13 * most for each in every)
        assert found.attained is (near > 3), (source, found.witness, near)
    if isinstance(found.witness, DensityWitness) and most < math.inf:
        witness = found.witness
        at, side = ((w[-1] if isinstance(w, tuple) else w) for w in (witness.output, witness.side or 0))
        density = densities[witness.output[0]] if len(densities) > 1 else densities[0]
        p, q = (density(float(at + Fraction(side) / 10**9), *each) for each in (witness.x, witness.x_prime))
        assert p / q == pytest.approx(float(found.lower), rel=1e-6), (source, witness)
        assert (witness.side is None) is bool(witness.attained)


@mechanism(record=Bit)
def jumping(x: Any) -> Any:
    return exponential(x[0], 2) if flip("1/2") else laplace(0, 1)


@mechanism(record=Bit)
def clamped(x: Any) -> Any:
    return min(max(laplace(x[0], 1), 0), 2)


@mechanism(record=Bit)
def an_atom_has_what_densities_approach(x: Any) -> Any:
    """Above 3 the density of e^-|z - x| + e^-|z| changes; below 0 its ratio is that of two atoms."""
    return max(laplace(x[0], 1), 3) if flip("1/2") else flip(Fraction(1, 2)) + 7


@mechanism(record=Bit)
def whole(x: Any) -> Any:
    return round(laplace(x[0], 1))


@mechanism(record=Bit)
def integer_and_real(x: Any) -> Any:
    return geometric(x[0], "1/2"), laplace(1 - x[0], 1)


@mechanism(record=Bit)
def beside_an_integer(x: Any) -> Any:
    z = geometric(x[0], "1/2")
    return (z, laplace(x[0], 1)) if z > 2 else (0, uniform(0, 1))


@mechanism(record=Bit)
def sums(x: Any) -> Any:
    return laplace(x[0], 1) + laplace(0, 1)


@mechanism(record=Bit)
def least(x: Any) -> Any:
    return min(exponential(x[0], 1), exponential(0, 1))


@pytest.mark.parametrize(
    ("made", "attained"),
    [
        (jumping, False),
        (clamped, True),
        (an_atom_has_what_densities_approach, True),
        (whole, True),
        (integer_and_real, True),
        (beside_an_integer, True),
        (sums, False),
        (least, True),
    ],
)
def test_what_is_attained(made: Any, attained: bool) -> None:
    found = made.bind(n=1).privacy()
    assert (found.status, found.attained) == ("exact", attained)


def test_a_limit_at_a_jump_is_told_from_its_side() -> None:
    found = jumping.bind(n=1).privacy()
    assert isinstance(found.witness, DensityWitness)
    assert (found.witness.output, found.witness.side, found.witness.attained) == (1, -1, False)
    assert "It is approached, and not attained, on x = (0,)" in str(found)
    assert "by the densities of the outputs 1 + -1/k as k grows" in str(found)
    assert found.to_dict()["result"]["witness"]["attained"] is False


@pytest.mark.parametrize(
    ("body", "pairs"),
    [
        (
            "a, b = geometric(0, '1/9'), geometric(2 * x[0], '1/2'); return b + a, (a if flip('1/3') else -b) // 2",
            True,
        ),
        (
            "a, b = geometric(1 - x[0], '1/3'), geometric(x[0], '1/3'); return b - a, a - 1 if flip('1/3') else b",
            True,
        ),
        ("z = geometric(x[0], '1/2'); return z - geometric(0, '1/2')", False),
    ],
)
def test_what_integers_approach_no_output_has(body: str, pairs: bool) -> None:
    with module_of(f"{HEAD}def f(x):\n    {body}\n", "") as module:
        instance = module.f.bind(n=1)
        found = instance.privacy()
        assert isinstance(found.witness, LimitWitness) is not found.attained
        laws = cell_laws(instance.bound, lambda: None)
    far = range(-17, 18)
    outputs = list(product(far, range(-5, 6))) if pairs else far
    both = [(laws.probability(x, y), laws.probability((1 - x[0],), y)) for x, y in product(((0,), (1,)), outputs)]
    assert max(p / q for p, q in both if p) <= laws.exact(found.exp_epsilon)
    assert any(p == laws.exact(found.exp_epsilon) * q for p, q in both if p) is found.attained


@pytest.mark.parametrize("noise", ["laplace(0, 1 + x[0])", "exponential(0, 1 + x[0])", "geometric(0, 1 / (2 + x[0]))"])
@pytest.mark.parametrize(("share", "attained"), [("1 + x[0]", False), ("2 - x[0]", False), ("x[0]", True)])
def test_an_output_without_numbers_has_no_ratio_that_noise_beside_it_approaches(
    noise: str, share: str, attained: bool
) -> None:
    body = f"return None if flip(({share}) / 9) else {noise}"
    with module_of(f"{HEAD}def f(x):\n    {body}\n", "") as module:
        found = module.f.bind(n=1).privacy()
    assert (found.exp_epsilon, found.attained) == (math.inf, attained)
    if attained:
        assert (found.witness.x, found.witness.output, found.witness.probability_prime) == ((1,), None, 0)
    else:
        assert isinstance(found.witness, LimitWitness)
        assert "It is approached, and not attained" in str(found)
