"""Decorated local functions, attributes by the text of their names, and patterns for dictionaries."""

from __future__ import annotations

import pytest

from agreement import assert_agreement, bind, module_of
from tightdp import LanguageError
from tightdp.language.domains import Int
from tightdp.methods.compiled import compile_symbolic

HEAD = """
import functools
from collections import Counter, defaultdict
from enum import Enum
from operator import attrgetter


class Colour(Enum):
    RED = 0
    BLUE = 1


class Box:
    def __init__(self, **given):
        for name, value in given.items():
            setattr(self, name, value)
        self._p = 1

    @property
    def p(self): return self._p

    @p.setter
    def p(self, value): self._p = value * 2

    def private(self): return getattr(self, "__v", 0)


"""
PROGRAMS = {
    "decorated": """
    k = 3
    def twice(g):
        return lambda *a: g(*a) + g(*a)
    @twice
    @(lambda g: lambda v: g(v) * k)
    def g(v): return v + randint(0, 1)
    return g(x[0])
""",
    "wrapped": """
    def pick(flag):
        def decorator(g):
            @functools.wraps(g)
            def inner(v):
                return g(v) if flag else -g(v)
            return inner
        return decorator
    @pick(x[0] > 0)
    def g(v): return v + 1
    return g(x[0]), g(randint(0, 1))
""",
    "decorated in a loop": """
    seen = []
    def note(g):
        seen.append(1)
        return g
    for k in range(2):
        if flip(1/2):
            @note
            def g(v, w=k): return v + w
    return len(seen), g(x[0]) if seen else -1
""",
    "patterns": """
    out = []
    for item in ({"a": 1}, {"a": x[0], 1: randint(0, 1)}, {}, [1], None, "a", Counter("a"), defaultdict(int)):
        match item:
            case {"a": 0}: out.append(0)
            case {"a": v, **more} if v < 2: out.append(v + 10 * len(more))
            case {"a": int() | str() as v}: out.append(50)
            case {}: out.append(99)
            case [*_]: out.append(77)
            case _: out.append(-1)
    return tuple(out)
""",
    "patterns with members": """
    match {Colour.RED: x[0], (1, 2): 3, True: 4}:
        case {Colour.RED: 1, 1: w}: return w
        case {Colour.RED: k, **rest}: return k, len(rest), rest[1]
""",
    "attributes": """
    a = Box(b=x[0], c=2)
    setattr(a, "p", randint(0, 1))
    setattr(a, "b" if x[0] else "c", 9)
    return a.b, a.c, a.p, getattr(a, "zz", 5), getattr(x[0], "zz", 6), getattr(a, "b" if a.p else "c")
""",
    "attrgetter": """
    boxes = [Box(v=x[0], w=2), Box(v=1, w=3)]
    return max(boxes, key=attrgetter("v")).w, attrgetter("v", "w")(boxes[0]), tuple(map(attrgetter("w"), boxes))
""",
    "named twice, or by what is no dictionary": """
    out = []
    for more in (None if flip(1/2) else {"a": x[0]}, [(1, 2)] if flip(1/3) else {"b": 5}, {"c": 7}):
        try:
            out.append((lambda c=0, **k: (c, *k.items()))(**more, **{"c": 1}))
        except TypeError:
            out.append(dict(a=1, **{"d": x[0]})["d"])
    return tuple(out)
""",
    "no name": """
    try:
        return getattr(Box(), x[0])
    except TypeError:
        return "no name"
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_means_what_the_interpreter_says(name: str) -> None:
    with module_of(f"{HEAD}def f(x):{PROGRAMS[name]}") as module:
        assert assert_agreement(bind(module, Int(0, 2), 1), ("cudd",)).failing == 0


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("return Box().private()", "the text of a private name"),
        ('return getattr(x[0], "real", 7)', "the attribute .real"),
        (
            "d = {0: 1}\n    if flip(1/2): d[5] = 1\n    match d:\n        case {5: v}: return v",
            "a dictionary whose keys depend",
        ),
    ],
)
def test_what_is_refused(body: str, said: str) -> None:
    with module_of(f"{HEAD}def f(x):\n    {body}\n") as module, pytest.raises(LanguageError, match=said):
        compile_symbolic(bind(module, Int(0, 2), 1))
