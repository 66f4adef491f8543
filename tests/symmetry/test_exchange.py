"""Clients that the core program treats alike: found as written, and their exchange changes no law."""

from __future__ import annotations

from itertools import pairwise

import pytest

from agreement import bind, datasets, module_of
from conftest import FULL
from generators.comparison import imported
from generators.mechanisms import draw_mechanism
from tightdp.core.lowering import lower
from tightdp.errors import TightdpError
from tightdp.language import interp
from tightdp.language.domains import Int
from tightdp.language.program import Bound
from tightdp.symmetry.symmetries import exchangeable_clients


def exchanged(bound: Bound, x: tuple[object, ...], one: int, other: int) -> tuple[object, ...]:
    """Return a dataset with two records exchanged."""
    new = list(x)
    new[one], new[other] = new[other], new[one]
    return tuple(new)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("body", "classes"),
    [
        ("return geometric(sum(x), 1/2, 0, 6)", ((0, 1, 2),)),
        ("return max(x) - min(x) + flip(1/3)", ((0, 1, 2),)),
        (
            "w = 1\n    for _ in range(2):\n        w += sum(v > w for v in x) > randint(0, 3)\n    return w",
            ((0, 1, 2),),
        ),
        (
            "w = 1\n    for _ in range(2):\n        votes = 0\n        for v in x:\n"
            "            s = 1 if v > w else -1\n            votes += -s if flip(1/4) else s\n"
            "        w += votes > 0\n    return w",
            ((0, 1, 2),),
        ),
        (
            "w = 1\n    for _ in range(2):\n"
            "        votes = sum((1 if v > w else -1) * (-1 if flip(1/4) else 1) for v in x)\n"
            "        w += votes > 0\n    return w",
            ((0, 1, 2),),
        ),
        (
            "w = 1\n    for _ in range(2):\n        votes = 0\n        for i, v in enumerate(x):\n"
            "            s = 1 if v > w else -1\n            votes += -s if flip((1 + i // 2) / 4) else s\n"
            "        w += votes > 0\n    return w",
            ((0, 1), (2,)),
        ),
        ("return any(v == 2 for v in x) and flip(1/2)", ((0, 1, 2),)),
        ("return sum(flip((v + 1) / 4) for v in x) >= 2", ((0, 1, 2),)),
        ("return x[0] * x[1] == 2 or flip((x[2] + 1) / 4)", ((0, 1), (2,))),
        ("return (x[1] + x[2], x[0] > flip(1/2))", ((0,), (1, 2))),
        ("return shuffle([v + flip(1/2) for v in x])", ((0, 1, 2),)),
        ("return tuple(flip((v + 1) / 4) for v in x)", ((0,), (1,), (2,))),
        ("return sum(2 ** i * v for i, v in enumerate(x)) % 3", ((0,), (1,), (2,))),
        ("return x[0] - x[1] + randint(0, x[2])", ((0,), (1,), (2,))),
        ("z = randint(0, 2)\n    return (z + x[0], z + x[1], x[2])", ((0,), (1,), (2,))),
        ("observe(x[0] <= x[1])\n    return flip(1/2)", ((0,), (1,), (2,))),
        ("observe(x[0] + x[1] < 4)\n    return x[2] + flip(1/2)", ((0, 1), (2,))),
    ],
)
def test_classes(body: str, classes: tuple[tuple[int, ...], ...]) -> None:
    with module_of(f"def f(x):\n    {body}\n") as module:
        bound = bind(module, Int(0, 2), 3)
        assert exchangeable_clients([lower(bound)], 3) == classes
        laws = {x: interp.law(bound, x) for x in datasets(bound) if "observe" not in body}
        for same in classes:
            for one, other in pairwise(same):
                assert all(law == laws[exchanged(bound, x, one, other)] for x, law in laws.items())


@pytest.mark.slow(seconds=4)
def test_exchanges_of_drawn_programs_change_no_law() -> None:
    found = 0
    for seed in range(1000 if FULL else 120):
        drawn = draw_mechanism(seed)
        with imported(drawn.source) as module:
            bound = module.f.bind(n=drawn.n).bound
            if bound.record.size**drawn.n > 100:
                continue
            try:
                classes = exchangeable_clients([lower(bound)], drawn.n)
                laws = {x: interp.law(bound, x) for x in datasets(bound)} if len(classes) < drawn.n else {}
            except TightdpError:
                continue  # some run fails
            found += bool(laws)
            for same in classes:
                for one, other in pairwise(same):
                    assert all(law == laws[exchanged(bound, x, one, other)] for x, law in laws.items()), seed
    assert found >= 8
