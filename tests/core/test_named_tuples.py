"""Named tuples, deques and patterns of classes: the compiler reads what the interpreter runs."""

from __future__ import annotations

import pytest

from agreement import assert_agreement, module_of
from tightdp import Bit, LanguageError, Values, mechanism
from tightdp.errors import ProgramError
from tightdp.language.program import Program

HEAD = """\
from collections import deque, namedtuple
from dataclasses import dataclass
from typing import NamedTuple

P = namedtuple("P", ["x", "y"], defaults=[0])
ORIGIN = P(1, 2)


class Vote(NamedTuple):
    name: str
    weight: int = 1

    @property
    def heavy(self):
        return self.weight > 1

    def times(self, k):
        return self._replace(weight=k * self.weight)


class Vector(P):
    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)


@dataclass
class Send:
    bit: int
    who: int = 0


class Loud(Send):
    pass


@dataclass
class Quiet:
    pass


class Store:
    def __init__(self, items):
        self.items = items

    def __delitem__(self, at):
        del self.items[at]


"""
BODIES = {
    "names": """
    p = P(x[0])
    if flip(1/3):
        p = p._replace(y=x[1])
    elif flip(1/2):
        p = ORIGIN
    a, b = p
    return p, p.y, a, len(p), p[1], p == (0, 0), p + (3,), p._asdict(), p.index(p.y), p[:1]""",
    "as tuples": """
    out = [P(x[0], 1) if flip(1/2) else (x[1], 1), Vote(x[0], 1) if x[1] else P(x[0], 1)]
    return tuple(out), ((P(1, 2), 5) if x[0] else (Vote(1, 2), 5)) if flip(1/3) else (1, 2)""",
    "classes": """
    p = P(x[0], 1) if flip(1/2) else (x[1], 0)
    return isinstance(p, P), isinstance(p, tuple)""",
    "methods": """
    votes = [Vote('a', 2) if b ^ flip(1/3) else Vote(name='b') for b in x]
    return votes[0].heavy, votes[1].times(3), max(votes, key=lambda v: v.weight).name, sum(v.weight for v in votes)""",
    "sorted": """
    ps = sorted([P(b, geometric(0, '1/2', -1, 1)) for b in x], key=lambda p: (p.y, -p.x))
    return ps[0].x, ps[randint(0, 1)].y, {p: i for i, p in enumerate(ps)}[ps[0]]""",
    "loop": """
    s = P(0, 0)
    for _ in range(4):
        s = P(s.x + 1, s.y ^ x[1]) if flip(1/2) else s
        if s.x > 1:
            break
    return s.y""",
    "deque": """
    q = deque(x, maxlen=2)
    q.appendleft(1 - x[0] if flip(1/3) else x[0])
    if flip(1/4):
        q.rotate(1)
    q.extendleft([0] if flip(1/2) else [])
    last = q.pop()
    q += (1,)
    return tuple(q), last, len(q), q.maxlen, isinstance(q, list), isinstance(q, deque), bool(q), q.copy() == q""",
    "ends": """
    q = deque()
    for b in x:
        q.append(b) if flip(3/4) else q.appendleft(b)
    total = 0
    while q:
        total = 2 * total + q.popleft()
    return total""",
    "deleted": """
    s = Store(list(x))
    del s[x[0]]
    return tuple(s.items)""",
    "patterns": """
    out = []
    for i, b in enumerate(x):
        sent = Loud(b)
        if flip(1/2):
            sent = Send(b ^ flip(1/4), i) if flip(1/2) else Quiet()
        match sent:
            case Loud(bit=v):
                out.append(('loud', v))
            case Send(1, w):
                out.append(('one', w))
            case Send(bit=0) as s:
                out.append(('zero', s.who))
            case Quiet():
                out.append(None)
    return tuple(out)""",
    "plain classes": """
    v = ('a', P(x[0], 1), None, x[1])[randint(0, 3)]
    match v:
        case str(s):
            return s + '!'
        case P(0, y) | P(_, y):
            return y, v.x
        case int(k):
            return k
        case _:
            return ()""",
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("body", BODIES)
def test_the_meaning_is_that_of_python(body: str) -> None:
    with module_of(f"{HEAD}def f(x):{BODIES[body]}\n") as module:
        assert_agreement(Program(module.f, Bit).bind(2))


def test_records_may_have_names() -> None:
    with module_of(f"{HEAD}def f(x):\n    return x[0].x ^ flip(1/3)\n") as module:
        assert_agreement(Program(module.f, record=Values(module.P(0, 1), module.P(1, 0))).bind(1))


ONE_STATE = {
    "named": """
    s = P(0, 0)
    for b in x:
        s = s._replace(x=1) if b ^ flip('1/4') else P(s.x, 1)
    return s""",
    "deque": """
    q = deque([0, 0], maxlen=2)
    for b in x:
        q.append(b ^ flip('1/4'))
    return tuple(q)""",
    "made anew": """
    q = deque()
    for b in x:
        q = deque(q, maxlen=1)
        q.append(b ^ flip('1/4'))
    return q.pop()""",
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("body", ONE_STATE)
def test_they_go_from_one_record_to_the_next(body: str) -> None:
    with module_of(f"{HEAD}def f(x):{ONE_STATE[body]}\n") as module:
        found = mechanism()(module.f)
        assert found.bind("all").privacy().exp_epsilon == found.bind(3).privacy().exp_epsilon == 3


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return P(x[0]).z", "P has no attribute 'z'"),
        ("return P()", "misses the argument 'x'"),
        ("return P(x[0])._replace(z=1)", "P has no field 'z'"),
        ("return deque(x).pop(0)", "does not take 1 argument"),
        ("return deque(x)[:1]", "a deque has no slices"),
        ("q = deque(x)\n    del q[:1]\n    return q[0]", "a deque has no slices"),
    ],
)
def test_runs_that_fail(body: str, said: str) -> None:
    with module_of(f"{HEAD}def f(x):\n    {body}\n") as module, pytest.raises(ProgramError, match=said):
        mechanism()(module.f).bind(1).privacy()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return Vector(x[0], 1) + Vector(0, 1)", "__add__ of Vector, a named tuple"),
        ("return deque(x, maxlen=x[0] + 1)[0]", "greatest length of a deque"),
        ("match x[0] / 3:\n        case float():\n            return 1", "a pattern for a float"),
        ("match Store(1):\n        case Store(1, 2):\n            return 1", "no attributes for so many places"),
    ],
)
def test_what_is_refused(body: str, said: str) -> None:
    with module_of(f"{HEAD}def f(x):\n    {body}\n") as module, pytest.raises(LanguageError, match=said):
        mechanism()(module.f).bind(1).privacy()
