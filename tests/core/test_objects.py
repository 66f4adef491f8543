"""Classes, exceptions and generators as Python code has them: the compiler reads what the interpreter runs."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from agreement import assert_agreement, module_of
from tightdp import Int, mechanism
from tightdp.errors import LanguageError, ProgramError, TightdpError
from tightdp.language import interp
from tightdp.language.program import Program

HEAD = """\
import random
import secrets
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property, wraps
from numbers import Integral, Real

import numpy as np


class Noise(ABC):
    scale = 2

    def __init__(self, low, high=3, **more):
        self.low, self.high, self.more, self.calls = low, high, more, 0
        self.__seen = []
        self.rng = secrets.SystemRandom()

    @property
    def width(self):
        return self.high - self.low

    @width.setter
    def width(self, width):
        self.high = self.low + width

    @classmethod
    def made(cls, *numbers, **named):
        return cls(*numbers, **named)

    @staticmethod
    def coin():
        return random.getrandbits(1)

    @cached_property
    def shift(self):
        return self.rng.randint(0, 1)

    @abstractmethod
    def draw(self, v):
        self.calls += 1
        self.__seen.append(v)
        return v + self.scale * self.rng.randint(self.low, self.high)

    def seen(self):
        return len(self.__seen), self.calls, self.width


def doubled(function):
    @wraps(function)
    def inner(*args, **kwargs):
        return 2 * function(*args, **kwargs)

    return inner


class Clamped(Noise):
    def __init__(self, low, high, top):
        super().__init__(low, high, top=top)
        self.top = self.more["top"]

    @doubled
    def draw(self, v):
        if v > 0 and self.coin():
            raise ValueError(f"no {v}")
        return min(self.top, super().draw(v))

    def __call__(self, v):
        return self.draw(v)


@dataclass
class Point:
    a: int
    b: int = 5
    c: list = field(default_factory=list)

    def __post_init__(self):
        self.sum = self.a + self.b


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a):
        self.a = a


class Context:
    def __init__(self, log, stops):
        self.log, self.stops = log, stops

    def __enter__(self):
        self.log.append("in")
        return self

    def __exit__(self, kind, error, trace):
        self.log.append("out")
        return self.stops and kind is not None and issubclass(kind, ValueError)


class Overdrawn(ValueError):
    pass


SHARED = Clamped(0, 1, 3)
POINT = Point(1)


def inner(v, log):
    with Context(log, True):
        if v:
            return random.sample([1, 2, 3], 2)
    return [0]


def risky(v):
    try:
        return 10 // (v - 2) if v == 2 else v
    finally:
        POINT.b += 1


"""

PROGRAMS = {
    "inheritance": """
    n = Clamped.made(0, 1, 3)
    try:
        r = n.draw(x[0])
    except (KeyError, ValueError) as e:
        r = "failed"
    else:
        n.width = 7
    finally:
        n.calls += 10
    return r, n.seen(), isinstance(n, Noise), type(n).__name__, n.shift == n.shift""",
    "shared": """
    SHARED.top = 4 + x[0]
    if random.choice([True, False]):
        SHARED.high = 2
    return SHARED.high, SHARED.top, SHARED.rng.randrange(1, 7, 2), SHARED.seen()""",
    "attributes": """
    s, p = Slotted(x[0]), Point(x[0], c=[1])
    p.c.append(s.a)
    if x[0]:
        s.b = 7
    POINT.c.append(1)
    return hasattr(p, "b"), getattr(p, "z", 3), p.sum, tuple(p.c), tuple(Point(1).c), len(POINT.c), callable(SHARED)""",
    "kinds": """
    v = "a" if x[0] == 2 else x[0]
    return isinstance(v, str), isinstance(x[0], Integral), isinstance(0.5, float), isinstance(True, (Real, str)), \\
        isinstance(random, Noise), issubclass(Clamped, Noise), isinstance([1], list), isinstance({}, (tuple, dict))""",
    "ways-out": """
    out = []
    for i in range(3):
        try:
            out.append(risky(x[0] * random.randrange(2)) + {0: 1, 1: 2}[x[0]])
        except ZeroDivisionError:
            out.append("zero")
        except LookupError:
            continue
    return tuple(out), POINT.b""",
    "reraised": """
    try:
        try:
            if random.getrandbits(1):
                raise Overdrawn("a")
            [][x[0]]
        except ValueError:
            raise
        except IndexError as error:
            raise KeyError("b") from error
    except Overdrawn:
        return "overdrawn"
    except Exception:
        return "other"
    return "never\"""",
    "with": """
    log = []
    with Context(log, True) as c, Context(log, False):
        if x[0] == 1:
            raise Overdrawn("a")
        log.append(random.choice("ab"))
    return tuple(log), c is None""",
    "return-inside": """
    log = []
    r = inner(x[0], log)
    random.shuffle(r)
    return len(r), r[0], tuple(log), tuple(random.choices([1, 2], [1, 3], k=2)), secrets.randbelow(3)""",
    "numpy-generator": """
    rng = np.random.default_rng()
    a = np.array([1, 2, 3])
    rng.shuffle(a)
    return rng.integers(3) + rng.integers(1, 2, endpoint=True), tuple(rng.integers(0, 2, size=2)), a[0] + x[0]""",
    "numpy-laws": """
    rng = np.random.default_rng()
    return rng.binomial(2, 0.25), tuple(rng.permutation(2)), rng.choice([4, 5], p=[0.25, 0.75]), \\
        tuple(rng.multinomial(2, [0.5, 0.25, 0.25]))""",
    "numpy-legacy": """
    state = np.random.RandomState()
    known = isinstance(state, np.random.RandomState)
    return np.random.randint(2), tuple(state.choice(3, size=1, replace=False)), known""",
    "raised-in-a-loop": """
    k = 0
    try:
        while True:
            k += 1
            if random.getrandbits(1) or k > 2 + x[0]:
                raise StopIteration
    except StopIteration:
        return k""",
    "deleted": """
    y = x[0]
    del y
    try:
        return y
    except NameError:
        return SHARED(0) if x[0] == 0 else x[0]""",
}  # fmt: skip


def _module(body: str) -> Any:
    return module_of(f"{HEAD}def f(x):\n    {body.strip()}\n")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("bits", [0, 3])
@pytest.mark.parametrize("name", PROGRAMS)
def test_objects_have_the_law_of_their_runs(name: str, bits: int) -> None:
    with _module(PROGRAMS[name]) as module:
        bound = Program(module.f, Int(0, 2), floats=bits).bind(1)
        found = assert_agreement(bound, ("cudd",))
        assert found.failing == 0
        assert module.SHARED.high == 1
        assert module.POINT.c == []


DOUBLES = {
    "drawn": "rng = np.random.default_rng()\n    return rng.random() < 0.3 + 0.1 * x[0], rng.uniform(1, 2) > 1.5",
    "array": "return tuple(np.random.default_rng().random(2) < 0.4), random.SystemRandom().uniform(0, 2) < x[0]",
    "infinite": "try:\n        return int(np.log(SHARED.rng.random()))\n    except OverflowError:\n        return x[0]",
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", DOUBLES)
def test_generators_in_doubles(name: str) -> None:
    with _module(DOUBLES[name]) as module:
        bound = Program(module.f, Int(0, 2), floats=4).bind(1)
        assert assert_agreement(bound, ("cudd",)).failing == 0


def test_a_generator_draws_real_numbers_where_numbers_mean_what_is_written() -> None:
    with _module("return 1 - x[0] if SHARED.rng.random() < 0.3 else x[0]") as module:
        found = mechanism(record=Int(0, 1))(module.f).bind(n=1).privacy()
    assert found.exp_epsilon == Fraction(7, 3)


FAILING = {
    "raised": ("raise Overdrawn(x[0])", "raise Overdrawn"),
    "in-finally": ("try:\n        return 1 // x[0]\n    finally:\n        pass", "ZeroDivisionError"),
    "not-caught": ("try:\n        return 1 // x[0]\n    except KeyError:\n        return 0", "ZeroDivisionError"),
    "no-attribute": ("return POINT.z", "AttributeError"),
    "abstract": ("return Noise(1)", "abstract"),
    "no-operator": ("return POINT + 1", "no add of Point and int"),
}


@pytest.mark.parametrize("name", FAILING)
def test_what_nothing_catches_is_a_run_that_fails(name: str) -> None:
    body, what = FAILING[name]
    with _module(body) as module:
        bound = Program(module.f, Int(0, 1)).bind(1)
        assert assert_agreement(bound, ("cudd",)).failing > 0
        with pytest.raises(ProgramError, match=what):
            mechanism(record=Int(0, 1))(module.f).bind(n=1).privacy()


REFUSED = {
    "seed": ("return np.random.default_rng(3).integers(2)", "seed"),
    "python-seed": ("return random.Random(3).randint(0, 1)", "seed"),
    "no-law": ("return random.gauss(0, 1)", "gauss of random.Random is not in the language"),
    "no-law-of-numpy": ("return np.random.default_rng().normal()", "normal of numpy.random"),
    "class-changed": ("Noise.scale = x[0]\n    return 1", "cannot be changed"),
    "metaclass": ("import_ = type('A', (), {})\n    return 1", "type"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_read_is_refused_at_its_line(name: str) -> None:
    body, what = REFUSED[name]
    with _module(body) as module, pytest.raises(TightdpError, match=what) as caught:
        mechanism(record=Int(0, 1))(module.f).bind(n=1).privacy()
    assert getattr(caught.value, "span", None) is not None
    assert caught.value.hint


def test_randomness_that_is_not_seen_is_no_meaning() -> None:
    """Drawn inside Python's own library, of a class of its own: runs would look as if there were one of them."""
    source = (
        "import random\nimport statistics\ndef f(x):\n    return int(statistics.NormalDist().samples(1)[0] > x[0])\n"
    )
    with module_of(source) as module, pytest.raises(LanguageError, match="not known"):
        interp.law(Program(module.f, Int(0, 1)).bind(1), (0,))
    with module_of(source.replace("statistics.NormalDist().samples(1)[0]", "__import__('uuid').uuid4().int")) as module:
        bound = Program(module.f, Int(0, 1)).bind(1)
        with pytest.raises(TightdpError):
            mechanism(record=Int(0, 1))(module.f).bind(n=1).privacy()
    assert bound.n == 1


def test_the_probability_of_a_law_is_the_double_that_it_is() -> None:
    """0.1 as it runs is a little more than a tenth, for generators too."""
    with _module("return np.random.binomial(1, 0.1), random.choices([0, 1], [0.1, 0.2 + x[0]])[0]") as module:
        bound = Program(module.f, Int(0, 1), floats=3).bind(1)
        found = assert_agreement(bound, ("cudd",)).laws[(0,)]
    assert found is not None
    assert sum(mass for (first, _), mass in found.items() if first) == Fraction(0.1)
    assert sum(mass for (_, second), mass in found.items() if not second) == Fraction(0.1) / (
        Fraction(0.1) + Fraction(0.2)
    )
