# ruff: noqa: E501
"""Long and wide programs are lowered in time near to linear, and every loop of lowering can be stopped."""

from __future__ import annotations

import contextlib
import itertools

import pytest

from agreement import bind, module_of
from thinned import thinned
from tightdp.core.lowering import lower
from tightdp.errors import LimitError
from tightdp.language.domains import Bit, Domain, Int
from work import counted

"""Far more than is needed: a tenth to a fifth of it on an idle machine; what is quadratic takes minutes."""


def straight(size: int) -> str:
    lines = [f"    v{at} = flip(1/3) ^ v{at - 1}" for at in range(1, size)]
    return "\n".join(["def f(x):", "    v0 = x[0]", *lines, f"    return v{size - 1}"])


def branches(size: int) -> str:
    return "\n".join(["def f(x):", "    a = x[0]", *["    if flip(1/3):\n        a = 1 - a"] * size, "    return a"])


def returns(size: int) -> str:
    return "\n".join(["def f(x):", *[f"    if flip(1/3):\n        return {at % 7}" for at in range(size)]])


def network(size: int) -> str:
    lines = [
        f"    v{at} = (flip(1/3) if v{at - 3} else flip(1/5)) if v{at - 1} and v{at - 2} else flip(1/7)"
        for at in range(3, size)
    ]
    return "\n".join(["def f(x):", "    v0 = v1 = v2 = x[0]", *lines, f"    return v{size - 1}"])


LONG = {
    "lines": straight(3_000),
    "branches": branches(1_500),
    "returns": returns(800),
    "network": network(1_041),
    "parity": "def f(x):\n    t = x[0]\n    for _ in range(10_000):\n        t = (t + flip(1/2)) % 2\n    return t",
    "sum": "def f(x):\n    return sum([flip(1/2) for _ in range(8_000)]) + x[0]",
    "counter": "def f(x):\n    t = 0\n    for _ in range(2_000):\n        if flip(1/2):\n            t += 1\n    return t",
    "fractions": """
def f(x):
    s = x[0]
    for _ in range(60):
        if s < 10:
            s = s + choice((1/2, 1/3, 1/5))
    return s > 10""",
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", thinned(LONG, 4))
def test_long_programs_are_lowered_with_little_work(name: str) -> None:
    with module_of(LONG[name] + "\n") as module:
        bound = bind(module, Bit, 1)
        with counted() as work:
            lower(bound)
        assert work.calls < 100_000_000


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("source", "record"),
    [
        ("def f(x):\n    return sum(x)", Int(0, 1_000_000)),
        ("def f(x):\n    return (x[0] - x[1]) * 2 < x[2]", Int(0, 200_000)),
        ("def f(x):\n    return max(x) - min(x) == 7", Int(-100_000, 100_000)),
        ("def f(x):\n    return abs(x[0] - x[1]) // 1_000 % 7", Int(-100_000, 100_000)),
    ],
)
def test_values_of_large_ranges_follow_from_their_ends(source: str, record: Domain) -> None:
    with module_of(source + "\n") as module:
        with counted() as work:
            lower(bind(module, record, 3))
        assert work.calls < 100_000_000


@pytest.mark.slow(seconds=3)
def test_an_output_of_too_many_shapes_is_refused() -> None:
    source = (
        "def f(x):\n    r = (x[0],)\n    for _ in range(40):\n        r = (r, 1) if flip(1/2) else (r,)\n    return r\n"
    )
    with module_of(source) as module, pytest.raises(LimitError, match="shapes"):
        lower(bind(module, Bit, 1))


class Stopped(Exception):
    """The limit of these tests."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return sum([flip(1/2) for _ in range(3_000)])",
        "def f(x):\n    r = (x[0],)\n    for _ in range(40):\n        r = (r, 1) if flip(1/2) else (r,)\n    return r",
        "def f(x):\n    return sorted([(flip(1/2), j) for j in range(60)])[0][1]",
        "def f(x):\n    return randint(1, 1_000) * randint(1, 1_000) % 97",
        "def f(x):\n    return flip(1 / (1 + randint(0, 4_000)))",
    ],
)
def test_lowering_looks_at_its_limits_all_the_time(source: str) -> None:
    looks: list[int] = [0]

    def watch() -> None:
        looks.append(work.calls)
        if len(looks) > 400 or looks[-1] > 20_000_000:
            raise Stopped

    with module_of(source + "\n") as module, counted() as work, contextlib.suppress(Stopped, LimitError):
        lower(bind(module, Bit, 1), watch=watch)
    looks.append(work.calls)
    gaps = [after - before for before, after in itertools.pairwise(looks)]
    assert len(looks) > 20
    assert max(gaps) < 4_000_000
