"""Loops whose length is drawn, and much longer at times, against sums over all lengths."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from agreement import bind, module_of
from tightdp import Bit
from tightdp.session.instance import Instance


def most_heads(n: int, most: int, p: Fraction) -> dict[int, Fraction]:
    """The law of the heads among n tosses that end with the last of the most heads that there may be."""
    law = {0: Fraction(1)}
    for _ in range(n):
        after = {most: law.get(most, Fraction(0))}
        for heads, mass in law.items():
            if heads < most:
                after[heads] = after.get(heads, Fraction(0)) + mass * (1 - p)
                after[heads + 1] = after.get(heads + 1, Fraction(0)) + mass * p
        law = after
    return {heads: mass for heads, mass in law.items() if mass}


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("lengths", "outside"), [((0, 150), 1), ((3, 130, 1), 2), ((205, 0), 1), ((0, 1), 1)])
def test_a_loop_whose_length_is_drawn_may_be_much_longer_at_times(lengths: tuple[int, ...], outside: int) -> None:
    """A loop over none of its items is no list that grows."""
    text = (
        "def f(x):\n    z, rounds = 0, 0\n    while rounds < 2:\n"
        if outside == 2
        else "def f(x):\n    z = 0\n    if True:\n"
    )
    text += f"        n = {lengths}[randint(0, {len(lengths) - 1})]\n        for _ in range(n):\n"
    text += "            if z == 2: break\n            z += flip('1/4' if x[0] else '1/3')\n"
    text += "        rounds += 1\n    return z\n" if outside == 2 else "    return z\n"
    with module_of(text) as module:
        instance = Instance(bind(module, Bit, 1))
        for x, p in ((0, Fraction(1, 3)), (1, Fraction(1, 4))):
            expected: dict[int, Fraction] = {}
            for several in product(lengths, repeat=outside):
                for heads, mass in most_heads(sum(several), 2, p).items():
                    expected[heads] = expected.get(heads, Fraction(0)) + mass / len(lengths) ** outside
            assert dict(instance.distribution((x,)).law) == expected


def test_loops_over_noise_inside_one_another_with_irrational_powers_have_an_exact_delta() -> None:
    """The masses are those of (1/2) / (1 - ((1 - p)·z + p·(2/3)/(1 - z²/3)) / 2), where one law falls more slowly."""
    text = "def f(x):\n    z = 0\n    for _ in range(one_sided_geometric(0, '1/2')):\n"
    text += "        if flip('3/4' if x[0] else '1/2'):\n"
    text += "            for _ in range(one_sided_geometric(0, '1/3')):\n                z += 2\n"
    text += "        else:\n            z += 1\n    return z\n"

    def masses(p: Fraction) -> list[Fraction]:
        each = [p * Fraction(2, 3 ** (1 + at // 2)) if at % 2 == 0 else (1 - p) * (at == 1) for at in range(60)]
        found: list[Fraction] = []
        for at in range(60):
            inside = sum((each[k] * found[at - k] for k in range(1, at + 1)), Fraction(at == 0))
            found.append(inside / 2 / (1 - each[0] / 2))
        return found

    differences = [a - b for a, b in zip(masses(Fraction(3, 4)), masses(Fraction(1, 2)), strict=True)]
    sign = -1 if differences[-1] > 0 else 1
    expected = sum((max(sign * each, Fraction(0)) for each in differences), Fraction(0))
    assert max(at for at, each in enumerate(differences) if sign * each > 0) in range(1, 40)
    with module_of(text) as module:
        assert Instance(bind(module, Bit, 1)).delta(exp_epsilon=1).delta == expected
