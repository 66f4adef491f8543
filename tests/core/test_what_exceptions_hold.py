"""What exceptions hold where a handler reads it, and the texts of objects, against plain Python."""

from __future__ import annotations

import pytest

from agreement import PROLOGUE, assert_agreement, bind, module_of
from tightdp import LanguageError
from tightdp.language.domains import Int
from tightdp.methods.compiled import compile_symbolic

HEAD = """
from dataclasses import dataclass, field
from enum import Enum


class Bad(ValueError):
    def __init__(self, code=3):
        super().__init__(code)
        self.code = code


class Spent(Exception):
    def __init__(self, need, have, *, note="n"):
        super().__init__(f"need {need}, have {have}")
        self.need, self.have, self.note = need, have, note


class Told(Exception):
    def __str__(self): return "told " + str(self.args[0])


class Guard:
    def __enter__(self): return self
    def __exit__(self, kind, error, trace): return False


class Shape:
    def __init__(self, n): self.n = n
    def __repr__(self): return f"Shape({self.n})"


class Named(Shape):
    def __str__(self): return "named " + str(self.n)
    def __format__(self, spec): return spec + "!" + repr(self)


@dataclass
class Inner:
    a: int
    b: list = field(default_factory=list)
    c: int = field(default=3, repr=False)


@dataclass(frozen=True)
class Outer:
    inner: Inner
    s: str = "q"


class Colour(Enum):
    RED = 0
    BLUE = 1
    def __str__(self): return self.name.lower()


def spend(have, need):
    if need > have:
        raise Spent(need, have)
    return have - need


"""
PROGRAMS = {
    "attributes": """
    try:
        if x[0] == 0: raise Bad(7)
        if flip(1/2): raise Bad
        raise ValueError("a", x[0])
    except Bad as e:
        return e.code, str(e), repr(e)
    except ValueError as e:
        return e.args, str(e), type(e).__name__, repr(e)
""",
    "in a loop": """
    out = []
    for k in range(3):
        try:
            if (x[0] + k) % 3 == 1: raise KeyError(f"no {k}")
            if (x[0] + k) % 3 == 2: raise Bad(k)
            out.append(k)
        except (KeyError, Bad) as e:
            out.append(str(e))
        finally:
            out.append(-1)
    return tuple(out)
""",
    "again": """
    try:
        try:
            with Guard():
                raise ValueError(x[0], flip(1/2))
        except ValueError:
            raise
    except ValueError as e:
        return e.args[0] + 10 * e.args[1]
""",
    "called": """
    have = 1
    try:
        have = spend(have, x[0])
        have = spend(have, randint(0, 1))
    except Spent as e:
        return e.need - e.have, str(e), e.note
    return have
""",
    "kept": """
    errors = []
    for k in (0, 1):
        try:
            if k == x[0] or flip(1/3): raise Told(k)
        except Told as e:
            errors.append(e)
    return len(errors), tuple(f"{e}" for e in errors)
""",
    "without end": """
    n = 0
    while True:
        try:
            n += 1
            if flip(1/2) and n < 3: raise StopIteration(n)
            raise Bad(n + x[0])
        except StopIteration:
            continue
        except Bad as e:
            return e.code, n
""",
    "of python": """
    try:
        (4, 5)[x[0] + flip(1/2)]
    except LookupError as e:
        return type(e).__name__, e.__class__ is IndexError
""",
    "texts of objects": """
    s, t = Shape(x[0]), Named(randint(0, 1))
    return str(s), repr(t), str(t), f"{s}", f"{t:x}", f"{t!r}", f"{t!s:>8}", str([s, t]), str({1: t})
""",
    "texts of dataclasses": """
    i = Inner(x[0], [1, randint(0, 1)])
    return str(i), repr(Outer(i)), f"{Colour.RED} {Colour(x[0] % 2)!r} {str(Colour.BLUE):>5}"
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_held_is_what_it_is_in_python(name: str) -> None:
    with module_of(f"{HEAD}def f(x):{PROGRAMS[name]}") as module:
        laws = assert_agreement(bind(module, Int(0, 2), 1), ("cudd",)).laws
    plain = PROLOGUE.replace("tightdp.language.primitives", "random").replace("from random import *", "import random")
    with module_of(f"{HEAD}{COINS}def f(x):{PROGRAMS[name]}", plain) as module:
        for (v,), law in laws.items():
            assert law is not None
            assert {module.f((v,)) for _ in range(60)} == set(law)


COINS = """
def flip(p): return random.random() < p
def randint(a, b): return random.randint(a, b)


"""


@pytest.mark.parametrize(
    ("read", "said"),
    [
        ("return str(e)", "the text of an exception that Python raises"),
        ("return e.__cause__ is None", "what an exception of Python holds"),
        ("return e.args", "what an exception of Python holds"),
    ],
)
def test_what_python_says_is_refused(read: str, said: str) -> None:
    source = f"def f(x):\n    try:\n        (1,)[x[0]]\n    except IndexError as e:\n        {read}\n"
    with module_of(source) as module, pytest.raises(LanguageError, match=said):
        compile_symbolic(bind(module, Int(0, 2), 1))
