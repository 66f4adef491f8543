"""Operations in a `try` are what they are in plain Python, or refused: none raises what Python does not raise."""

from __future__ import annotations

from typing import Any

import pytest

import tightdp
from agreement import module_of
from tightdp import Int, LanguageError, ProgramError

HEAD = """
import heapq
import itertools
import math
import random
import secrets
from collections import Counter, deque, namedtuple
from fractions import Fraction

import numpy as np

from tightdp import flip, randint

Named = namedtuple("Named", "a b")


class Shown(Named):
    def __repr__(self): return "shown"


class Meta(type):
    def __add__(self, other): raise KeyError(other)


class Made(metaclass=Meta): pass


class Pair:
    def __init__(self, v): self.v = v
    def __getitem__(self, i): return [self.v, 5][i]


"""
SAME = """
sum(Pair(v)[0:1]) ; {(np.int64(v),): 1}[(v,)] ; {np.int64(v): 1}[v] ; {np.array([v])[0], v} ; v in {np.int64(1)}
len({v: 1}.keys() - {9}) ; sorted({v: 1}.keys() & {0, 1}) ; {v: 1, 5: 2}.keys() | [7] ; {v: 1}.keys() ^ {0: 2}.keys()
{v} & {v: 1}.keys() ; {v} - {0: 1}.keys() ; {v: 1}.items() & {(0, 1)} ; frozenset([v]) | {1: 2}.keys()
{v: 1}.values() & {1} ; {v} | [1] ; {v: 1} | [1] ; {[v]: 1} ; {{v}: 1} ; {(v, [1]): 1} ; [v] + (1,) ; (v,) < [v]
v + None ; "a" < v ; v & 0.5 ; [v] * "a" ; [1, 2][v / 1] ; "ab" * (v / 1) ; abs("a") ; -"a" ; round("a") ; v << 0.5
(lambda **k: k)(**{1: v}) ; (lambda **k: k)(**{"a": v}) ; f"{[v]:>5}" ; f"{v:d}|{v!r:>3}" ; f"{'a':d}" ; 0 ** -v
f"{[v, 'a']} {(v,)} {()} {[]}" ; str({v: [v > 0], 'k': (None, 2)}) ; repr([(v, 1), "it's"]) ; "%s" % [v]
str([[v] * v]) ; f"{Named(v, 'a')}" ; str(Named(randint(1, 1), None)) ; f"{[Named(v, 2)]!r}"
[1] in {1, v} ; (v, [1]) in {1, 2} ; [v] in {1: 2} ; {}[[v]] ; {1: 2}[({},)] ; {v} in {7, 8}
[1, 2, 3][randint(1, 1) / 1] ; (1, 2)[None if flip(1) else 1]
f"{sum(b > 5 for b in {k for k in (v, 7) if flip(1)})}"
np.array_split([v, 1, 2], 2)[1] ; np.array([v, 1]).max(axis=1) ; np.array([v, 1]).reshape(3)
np.split(np.array([v]), 1)[0]
[v, 3].remove(3) ; deque([v, 3]).remove(3) ; frozenset([v]).remove(9) ; range(9).index(3, 0) ; sorted([v > 1, v > 0])
hasattr(None if v else v, "real") ; isinstance(v / 2, (float, Fraction)) ; dict([(v,)]) ; dict("a")
dict(["ab", "cde"]) ; list(enumerate([v], 0.5)) ; int("1", None) ; list(itertools.combinations([v], -1))
len(Counter(None)) ; list(itertools.combinations([v], None)) ; list(itertools.permutations([v, 1], None))
heapq.heappush((), v) ; heapq.heapify(()) ; np.bincount(np.array([]))
f"{float(v) == v}" ; float("0.5") / 2 + v == v + 1 / 4 ; float("a") ; float(None) ; [1, 2][float(v)]
isinstance(float(v), int) ; isinstance(float(v), (int, float)) ; list(map(float, [v])) == [v]
int(float(v / 2)) ; int(float(np.array([v])[0]))
float("1" if flip(1) else None) == 1
{**[(v, 1)]} ; {**"ab"} ; {**{v: 1}, 5: 2} ; {v: 1} | [(3, 4)] ; {v: 1} | {5: 2} ; {v: 1} | {3: v}.keys() ; {v: 1} | {3}
{v: 1} & {v: 2, 7: 0}.keys() ; {v: 1} - {1: 2}.keys()
np.diagonal([[v, 1], [2, 3]]) ; np.diag([[v, 1], [2, 3]]) ; np.diag([v, 1]) ; np.broadcast_to([v], (2, 1))
"""
REFUSED = """
{frozenset([v]): 1} ; {v: 1}.keys() <= {0} ; Counter([v]) <= Counter([v, 1]) ; deque([v]) + deque([1])
Made + v ; deque([v]) * 2 ; deque([v]).insert(0, 1) ; 2 ** 0.5 ; 4 ** 0.5 + v ; (v - 3) ** (1 / 2) ; {len: v}
f"{v / 2}" ; f"{v / 4:.2f}" ; str(v * 0.5) ; repr(Fraction(v, 2)) ; "%s" % (v / 2)
"{:.1f}".format(v / 2) ; str([v / 2]) ; str(sorted([v > 0, 0, 1])) ; type(sorted([True, 1, v])[1])
[v, 1].index(1, 0) ; (v, 1).index(1, 0, 2) ; deque([v, 1]).index(1, 1) ; list((5).to_bytes(2, "big")) ; "ab".encode()[0]
[d.append(2) for d in [deque([v])] for _ in d] ; Pair.__call__(v)
isinstance(v / 2, Fraction) ; np.sum({v: v}.values()) ; np.array({v: 1}) ; np.array(k for k in [v])
np.max(map(abs, [v])) ; np.array(zip([v], [v])).shape ; np.sum({v})
f"{Named(v / 2, 1)}" ; f"{Shown(v, 1)}" ; f"{Counter([v])}" ; f"{[np.int64(v)]}" ; f"{ {v} }" ; f"{[Pair(v)]}"
"""
UNKNOWN = "np.array([v, 1]) // 0 ; np.array([v, 1]) % (v - v) ; np.array([v, 1]) / 0 ; np.int8(127) + np.int8(v + 1)"


def _listed(text: str) -> list[str]:
    return [each.strip() for line in text.strip().splitlines() for each in line.split(" ; ")]


def _source(operation: str) -> str:
    return (
        f"{HEAD}def f(x):\n    v = x[0]\n    try:\n        r = {operation}\n"
        "    except Exception as error:\n        return 'raised', isinstance(error, TypeError)\n"
        "    return tuple(r) if isinstance(r, (list, Pair)) else r\n"
    )


def _output(value: Any) -> Any:
    """Return what is published as tightdp writes it."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (set, frozenset)):
        value = sorted(value)
    if isinstance(value, dict):
        value = sorted(value.items())
    return tuple(map(_output, value)) if isinstance(value, (list, tuple)) else value


def _law(source: str, v: int) -> tuple[Any, Any]:
    with module_of(source) as module:
        plain = _output(module.f((v,)))
        law = tightdp.mechanism(record=Int(0, 2))(module.f).bind(n=1).distribution((v,)).law
    ((output, _),) = law
    return _output(output), plain


@pytest.mark.one_in(2)
@pytest.mark.parametrize("operation", _listed(SAME))
def test_an_operation_is_what_it_is_in_python(operation: str) -> None:
    for v in range(3):
        found, plain = _law(_source(operation), v)
        assert (found, type(found)) == (plain, type(plain))


@pytest.mark.parametrize("operation", _listed(REFUSED))
def test_what_python_takes_is_refused_where_it_is_not_here(operation: str) -> None:
    with pytest.raises(LanguageError):
        _law(_source(operation), 1)


@pytest.mark.parametrize("operation", _listed(UNKNOWN))
def test_what_numpy_goes_on_with_is_caught_by_nothing(operation: str) -> None:
    with pytest.raises(ProgramError, match=r"fails with (a division by zero in numpy|an overflow)"):
        _law(_source(operation), 1)


DRAWS = {
    "random.randint(v, -1)": "ValueError",
    "random.randint(v, 1)": "ValueError",
    "random.randrange(v)": "ValueError",
    "random.randrange(0, v, 0)": "ValueError",
    "random.getrandbits(v - 2)": "ValueError",
    "secrets.randbelow(v)": "ValueError",
    "random.sample([1, 1], v + 1)": "ValueError",
    "random.sample({1: v}, 1)": "TypeError",
    "random.choice([1] * v)": "IndexError",
    "secrets.choice((1,) * v)": "IndexError",
    "random.choice({1: v}) * 0": "KeyError",
    "random.choices([1] * v)[0]": "IndexError",
    "random.choices([1] * v, k=v)": "",
    "random.choices([], weights=[], k=v)": "IndexError",
    "random.choices([1, 1], weights=[1] * v)[0]": "ValueError",
    "random.choices([1, 1], weights=[0, v])[0]": "ValueError",
    "random.choices([1, 1], [1, 1], cum_weights=[v, 2])": "TypeError",
    "np.random.default_rng().integers(v, 1) * 0": "ValueError",
    "np.random.default_rng().binomial(1, v * 2)": "ValueError",
    "np.random.default_rng().choice([1] * v)": "ValueError",
    "np.random.default_rng().choice([1, 1], p=[1] * v)": "ValueError",
}


@pytest.mark.parametrize("draw", DRAWS)
def test_a_draw_raises_what_it_raises_in_python(draw: str) -> None:
    caught = "".join(
        f"    except {name}:\n        return '{name}'\n"
        for name in ("TypeError", "KeyError", "IndexError", "ValueError")
    )
    source = f"{HEAD}def f(x):\n    v = x[0]\n    try:\n        r = {draw}\n{caught}"
    source += "    return tuple(r) if isinstance(r, list) else int(r > 1)\n"
    seen = set()
    for v in range(3):
        with module_of(source) as module:
            plain = {_output(module.f((v,))) for _ in range(20)}
            law = tightdp.mechanism(record=Int(0, 2))(module.f).bind(n=1).distribution((v,)).law
        assert {output for output, _ in law} == plain
        seen |= plain
    assert {each for each in seen if isinstance(each, str)} == ({DRAWS[draw]} if DRAWS[draw] else set())


def test_a_cast_in_place_is_a_type_error() -> None:
    source = "import numpy as np\n\n\ndef f(x):\n    a = np.array(x)\n    try:\n        a += 0.5\n"
    assert _law(f"{source}    except TypeError:\n        return 'no'\n    return a\n", 1) == ("no", "no")


WRITES = {
    "np.diagonal(a)": "ro",
    "a.diagonal()[0:1]": "ro",
    "np.diag(a)": "ro",
    "np.broadcast_to(a, (3, 2, 2))[0, 0]": "ro",
    "np.broadcast_to(1, (3,))": "ro",
    "np.broadcast_to(x[0], (2, 2))[1]": "ro",
    "np.broadcast_to([x[0], 2], (2,))": "ro",
    "np.diagonal([[x[0], 1], [2, 3]])": "ro",
    "np.array_split([x[0], 1], 2)[1]": "fine",
    "np.atleast_1d(5)": "fine",
    "np.diagonal(a).copy()": "fine",
    "np.diag(a[0])[0]": "fine",
    "a.T[0]": "fine",
}


@pytest.mark.parametrize("place", WRITES)
def test_views_that_numpy_protects_are_not_written_to(place: str) -> None:
    source = (
        "import numpy as np\n\n\ndef f(x):\n    a = np.array([[x[0], 1], [2, 3]])\n"
        f"    try:\n        ({place})[0] = 7\n"
        "    except ValueError:\n        return 'ro', a\n    return 'fine', a\n"
    )
    found, plain = _law(source, 2)
    assert found == plain
    assert found[0] == WRITES[place]


def test_what_is_broadcast_sees_what_is_written_later() -> None:
    source = "import numpy as np\n\n\ndef f(x):\n    a = np.array(x)\n    b = np.broadcast_to(a, (2, 1))\n"
    source += (
        "    d = np.diag([a, a])\n    e = np.broadcast_to(a, (1, 1)).diagonal()\n    a[0] = 5\n    return b, d, e\n"
    )
    found, plain = _law(source, 1)
    assert found == plain == (((5,), (5,)), (1,), (5,))


def test_what_is_printed_is_not_read() -> None:
    source = "def f(x):\n    print(f'a {x[0] / 2}' + str(x[0] / 2) + '.', repr(x[0] / 2), x)\n    return x[0]\n"
    with pytest.warns(UserWarning, match="print is ignored"):
        assert _law(source, 1) == (1, 1)


OBJECTS = """
from collections import deque

import numpy as np


class Place:
    def __init__(self, at): self.at = at
    def __index__(self): return self.at


class Divided:
    def __init__(self, value): self.value = value
    def __floordiv__(self, other): return 7
    def __mod__(self, other): return 8


class Turned(Divided):
    def __reversed__(self): return iter((self.value, 5))
    def __len__(self): return 1
    def __getitem__(self, at): return 6


class Sized(Divided):
    def __len__(self): return 2
    def __getitem__(self, at): return self.value + at


class Both(Divided):
    def __divmod__(self, other): return self.value, other
    def __rdivmod__(self, other): return other, self.value


def f(x):
    try:
        return {}
    except TypeError:
        return "TypeError"
"""
CALLS = [
    "(10, 20)[Place(x[0])]",
    "[10, 20][Place(x[0]) if flip(1) else Place(0)]",
    "(10, 20)[Divided(x[0])]",
    "divmod(Divided(x[0]), 3)",
    "divmod(Both(x[0]), 3)",
    "divmod(3, Both(x[0]))",
    "divmod(Both(x[0]), Divided(1))[0]",
    "divmod(x[0] + 5, 3)",
    "tuple(reversed(Turned(x[0])))",
    "tuple(reversed(Sized(x[0])))",
    "tuple(reversed(Divided(x[0])))",
    "tuple(reversed({x[0]: 1, 5: 2}.keys()))",
    "tuple(reversed({x[0]: 1, 5: 2}.values()))",
    "tuple(reversed([x[0], 2])) + tuple(reversed('ab')) + tuple(reversed({x[0]: 1, 7: 3}))",
    "tuple(reversed(np.array([x[0], 2]))) + tuple(reversed(deque([x[0], 2])))",
    "sum([['a', 'b'][x[0]]], '')",
    "sum([], ['a', 'b'][x[0]])",
    "sum([], x[0])",
]


@pytest.mark.parametrize("call", CALLS)
def test_methods_that_stand_for_operations_and_sums_of_strings(call: str) -> None:
    found, plain = _law(OBJECTS.replace("{}", call), 1)
    assert found == plain


@pytest.mark.parametrize("written", ["np.exp(10**9 + x[0])", "exp(10**9 + x[0])", "exp(exp(x[0] + 1))"])
def test_an_exponential_out_of_reach_is_nothing_that_python_raises(written: str) -> None:
    source = f"import numpy as np\nfrom tightdp import exp\n\n\ndef f(x):\n    try:\n        return {written} > 1\n"
    with module_of(f"{source}    except ValueError:\n        return 'no'\n") as module:
        program = tightdp.mechanism(record=Int(0, 2))(module.f).bind(n=1)
        with pytest.raises(ProgramError, match=r"out of reach|no number with e"):
            program.distribution((1,))


def test_a_power_out_of_reach_is_nothing_that_python_raises() -> None:
    source = "from tightdp import exp\n\n\ndef f(x):\n    try:\n        return exp(1) ** (10**7 + x[0]) > 1\n"
    with module_of(f"{source}    except ValueError:\n        return 'no'\n") as module:
        program = tightdp.mechanism(record=Int(0, 2))(module.f).bind(n=1)
        with pytest.raises(LanguageError, match="out of reach"):
            program.distribution((1,))
