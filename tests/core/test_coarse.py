"""Of draws that are seen in part, what is seen is drawn; the laws stay those of the interpreter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import pytest

from agreement import bind, datasets, module_of
from tightdp.core.lowering import lower
from tightdp.core.nodes import Draw, reachable
from tightdp.exact.field import exp
from tightdp.language import interp
from tightdp.language.domains import Bit
from tightdp.language.program import Bound
from tightdp.session.instance import Instance


@contextmanager
def bound_to(body: str, n: int) -> Iterator[Bound]:
    """Give the mechanism with this body on n bits."""
    with module_of(f"def f(x):\n    {body}\n") as module:
        yield bind(module, Bit, n)


def outcomes(bound: Bound) -> list[int]:
    """Return how many outcomes every draw of the core program has, in order."""
    nodes = reachable(lower(bound).roots)
    return [len(node.values) for node in nodes if isinstance(node, Draw)]


@pytest.mark.parametrize(
    ("body", "left"),
    [
        ("return geometric(sum(x), '1/2', 0, 7) >= 3", [2]),
        ("z = randint(0, 9)\n    return (z % 3 + x[0], z > 5)", [6]),  # remainders 0, 1, 2, on both sides of 5
        ("z = randint(0, 9)\n    return (z % 3 + x[0], z)", [10]),
        ("z = randint(0, 5)\n    return z == 0 or 6 // z > 2 + x[0]", [5]),
        ("z = randint(0, 5)\n    return 6 // z if z > 0 and x[0] else None", [5]),
        ("z = randint(0, 9)\n    if z < 4 and flip((z + 1) / 5):\n        return x[0]\n    return z == 9", [2]),
        ("z = randint(0, 9)\n    observe(z % 2 == x[0])\n    return z // 5 == x[1]", [4]),
        ("z = randint(0, 9)\n    return flip(1 / 3) if z > 4 else x[0]", [2]),
        ("z = randint(0, 3)\n    return 1 - x[0] if z * 0 else x[0]", []),
        ("return 1 - flip((x[0] + 1) / 3)", [2]),  # renamed only: it stays as it is written
    ],
)
def test_outcomes_that_nothing_tells_apart_are_one(body: str, left: list[int]) -> None:
    with bound_to(body, 2) as bound:
        assert outcomes(bound) == left
        instance = Instance(bound, method="exhaustive")
        for x in datasets(bound):
            assert dict(instance.distribution(x).law) == interp.law(bound, x)


def test_what_is_seen_has_the_sum_of_the_masses() -> None:
    with bound_to("return randint(0, 9) >= 7", 1) as bound:
        (draw,) = [node for node in reachable(lower(bound).roots) if isinstance(node, Draw)]
    assert dict(draw.laws[0] or ()) == {False: Fraction(7, 10), True: Fraction(3, 10)}


def test_of_noise_on_all_integers_a_comparison_is_one_bit() -> None:
    with bound_to("return 2 * discrete_laplace(sum(x), 2) - 1 > 2", 2) as bound:
        assert outcomes(bound) == [2]
        found = Instance(bound).distribution((0, 1)).probability(True)
    assert found == exp(Fraction(-1, 2)) / (1 + exp(Fraction(-1, 2)))  # the noise is at least 1


def test_a_failing_check_sees_its_draw() -> None:
    with bound_to("z = randint(0, 3)\n    assert z != 2 or x[0] == 0\n    return z > 1", 1) as bound:
        assert Instance(bound).failure().probability == Fraction(1, 4)
