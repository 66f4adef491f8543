"""Lists whose items are there or not: counted and summed item by item, written out by length where they must be."""

from __future__ import annotations

import pytest

from agreement import assert_agreement, bind, module_of
from thinned import thinned
from tightdp import Bit, Int, Mechanism, flip, mechanism
from tightdp.language.domains import Domain

KEPT = "def f(x):\n    kept = [b for b in x if flip(1/3)]\n    "

PROGRAMS = {
    "length": "def f(x):\n    return len([b for b in x if flip(1/2) and b])",
    "sum": KEPT + "return sum(kept), len(kept)",
    "written-out": KEPT + "return tuple(kept)",
    "generator": "def f(x):\n    kept = list(b + 1 for b in x if b or flip(1/3))\n    return kept[-1] if kept else -1",
    "again": KEPT + "return len([v for v in kept if v or flip(1/5)]), sum(2 * v for v in kept)",
    "in-a-branch": "def f(x):\n    kept = [1]\n    if flip(1/2):\n        kept = [b for b in x if flip(1/3)]\n"
    "        total = sum(kept)\n    return len(kept) + sum(kept)",
    "either": KEPT + "kept = kept if flip(1/2) else [2 * b for b in x if b]\n    return len(kept), sum(kept)",
    "asked-in-a-branch": KEPT + "a = kept[0] if kept and flip(1/2) else 9\n    return a, len(kept), tuple(kept)",
    "changed": KEPT + "kept.append(5)\n    kept.sort()\n    return sum(kept), kept[0], len(kept)",
    "changed-in-a-branch": KEPT + "if flip(1/4):\n        kept.append(7)\n    return sum(kept), len(kept)",
    "loop": KEPT + "total = 0\n    for v in kept:\n        total = 2 * total + v\n        if total > 2:\n"
    "            break\n    return total",
    "nested": "def f(x):\n    return sum([a * b for a in x if flip(1/2) for b in x if b > a or flip(1/3)])",
    "equal": KEPT + "return kept == list(x), kept == [], 1 in kept",
    "joined": KEPT + "return len(kept + kept), max(kept + [0]), sum(kept[1:])",
    "pairs": "def f(x):\n    kept = [(b, 2) for b in x if flip(1/2)]\n    return sum(a for a, _ in kept), len(kept)",
    "returns": "def f(x):\n    for b in x:\n        if len([1 for c in x if c > b and flip(1/2)]) > 0:\n"
    "            return b\n    return None",
    "aliased": KEPT + "other = kept\n    other.append(1)\n    return len(kept)",
    "while": KEPT + "while kept and kept[-1] == 0:\n        kept.pop()\n    return len(kept)",
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("record", [Bit, Int(0, 2)], ids=str)
@pytest.mark.parametrize("name", thinned(PROGRAMS, 2))
def test_sieves_mean_what_the_interpreter_says(name: str, record: Domain) -> None:
    with module_of(PROGRAMS[name] + "\n") as module:
        for n in (1, 3 if record is Bit else 2):
            assert assert_agreement(bind(module, record, n)).failing == 0


@mechanism(record=Bit)
def filtered(x: tuple[int, ...]) -> object:
    kept = [b if flip("3/4") else 1 - b for b in x if flip("1/2")]
    return sum(kept), len(kept)


@mechanism(record=Bit)
def counted(x: tuple[int, ...]) -> object:
    return len([b for b in x if flip("3/4") == b])


@pytest.mark.parametrize("one", [filtered, counted], ids=lambda one: one.name)
def test_random_filters_take_many_records(one: Mechanism) -> None:
    assert one.bind(n=60).privacy().exp_epsilon == 3
