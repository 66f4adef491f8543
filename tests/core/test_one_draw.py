"""Clients draw once what others see of their draws, and a function of a record is one node, in every spelling."""

from __future__ import annotations

from itertools import product

import pytest

from agreement import bind, module_of
from tightdp.core.lowering import lower
from tightdp.core.nodes import Draw, reachable
from tightdp.core.outputs import TupleOf
from tightdp.language import interp
from tightdp.language.domains import Int
from tightdp.language.program import Bound
from tightdp.session.instance import Instance

MESSAGE = {
    "slices": """
    out = []
    for v in x:
        others = shuffle([u for u in range(3) if u != v])
        out.append(tuple(sorted(others[:1] + (v,) if flip("2/3") else others[:2])))
    return tuple(out)""",
    "sets": """
    def message(v):
        others = list(shuffle(tuple(u for u in range(3) if u != v)))
        chosen = {v} if flip("2/3") else {others.pop()}
        while len(chosen) < 2:
            chosen.add(others.pop())
        return tuple(sorted(chosen))
    return tuple(message(v) for v in x)""",
    "loops": """
    out = ()
    for v in x:
        others, message = [], []
        for u in range(3):
            if v != u:
                others.append(u)
        order = shuffle(others)
        if flip("2/3"):
            message.append(v)
        for u in order:
            if len(message) < 2:
                message.append(u)
        message.sort()
        out += (tuple(message),)
    return out""",
}
DROPOUTS = {
    "loop": """
    total = alive = 0
    for v in x:
        if flip("3/4"):
            alive += 1
            total += v + binomial(1, "1/3")
    return total, alive""",
    "filtered": """
    sent = [v + flip("1/3") if flip("3/4") else None for v in x]
    arrived = [m for m in sent if m is not None]
    return sum(arrived), len(arrived)""",
    "pairs": """
    pairs = [(v + int(flip("1/3")), 1) if flip("3/4") else (0, 0) for v in x]
    return sum(p[0] for p in pairs), sum(p[1] for p in pairs)""",
}
OTHERS = {
    "shared": 'noise = flip("1/3")\n    return tuple((v + flip("1/4") + noise) % 3 for v in x)',
    "seen-by-others": 'c = [flip("1/3") for _ in x]\n    return tuple(v + a for v, a in zip(x, c)), sum(c)',
    "observed": 'c = [v if flip("1/2") else randint(0, 2) for v in x]\n    observe(c[0] != 1)\n    return tuple(c)',
    "fails": 'c = [v - flip("1/2") for v in x]\n    return 6 // c[0], c[1]',
    "shuffled": 'return shuffle([v if flip("1/2") else choice(shuffle((0, 1, 1))) for v in x])',
    "one-and-true": 'c = [v > 0 if flip("1/3") else v for v in x]\n    return c[0], c[1] == 1',
    "idle": 'return tuple(choice(range(v), [1] * v) if v and flip("1/2") else None for v in x)',
}


def _laws_agree(bound: Bound) -> None:
    instance = Instance(bound)
    for x in product(bound.record.values, repeat=bound.n):
        assert dict(instance.distribution(x).law) == interp.law(bound, x)


def _draws(bound: Bound) -> list[list[list[object]]]:
    """Return the masses of the laws of all draws, sorted, without the names of their outcomes."""
    draws = [node for node in reachable(lower(bound).roots) if isinstance(node, Draw)]
    return [[sorted(mass for _, mass in law or ()) for law in draw.laws] for draw in draws]


@pytest.mark.parametrize("spellings", [MESSAGE, DROPOUTS], ids=["message", "dropouts"])
def test_spellings_make_the_same_draws(spellings: dict[str, str]) -> None:
    found = []
    for body in spellings.values():
        with module_of(f"def f(x):\n    {body.strip()}\n") as module:
            bound = bind(module, Int(0, 2), 2)
            assert isinstance(lower(bound).shape, TupleOf)
            found.append((_draws(bound), len(lower(bound).components)))
            _laws_agree(bound)
    assert found == [found[0]] * len(spellings)
    assert len(found[0][0]) == 2


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", OTHERS)
def test_laws_stay_as_they_are(name: str) -> None:
    with module_of(f"def f(x):\n    {OTHERS[name]}\n") as module:
        bound = bind(module, Int(0, 2), 2)
        if name != "fails":
            _laws_agree(bound)
        else:
            x = (2, 1)
            assert dict(Instance(bound).distribution(x).law) == interp.law(bound, x)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "body",
    [
        "counts = {0: 0, 1: 0, 2: 0}\n    for v in x:\n        counts[v] += 1\n"
        "    return sum(k * count for k, count in counts.items())",
        "return sum(k * sum(v == k for v in x) for k in range(3))",
        "total = 0\n    for v in x:\n        total += len([u for u in range(3) if u < v])\n    return total",
    ],
)
def test_a_sum_of_records_is_one(body: str) -> None:
    with module_of(f"def f(x):\n    {body}\n") as module:
        bound = bind(module, Int(0, 2), 3)
        program = lower(bound)
        assert [expr.children for expr in program.components] == [program.inputs]
        _laws_agree(bound)
