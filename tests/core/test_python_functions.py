# ruff: noqa: E501
"""Functions and statements of Python that people reach for, each compared with the interpreter on every dataset."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from agreement import assert_agreement, bind, module_of
from tightdp.core.lowering import lower
from tightdp.errors import ProgramError
from tightdp.language.domains import Int

PROGRAMS: dict[str, str] = {
    "next": "def f(x):\n    g = (b for b in x if b > flip(1/3))\n    return next(g, None), next((1 for b in x if b == 2), -1)",
    "next-of-two": "def f(x):\n    return next((a * b for a in x for b in (0, 1, flip(1/2)) if a + b > 1 or flip(1/3)), 5)",
    "next-in-a-loop": "def f(x):\n    out = []\n    for b in x:\n        k = next((j for j in range(3) if flip(1/3) or j == b), 7)\n        if k == 1:\n            break\n        out.append(k)\n    else:\n        out.append(9)\n    return tuple(out)",
    "next-of-nothing": "def f(x):\n    return next(i for i, b in enumerate(x) if b)",
    "operator": "import operator\n\n\ndef f(x):\n    return operator.sub(*x), functools.reduce(operator.xor, x, 2), tuple(map(operator.add, x, x)), functools.reduce(operator.or_, [{b} for b in x])",
    "prod": "def f(x):\n    return math.prod(x) + math.prod([1 + flip(1/2), 2], start=3)",
    "round": "def f(x):\n    return round(x[0] / 2), round(x[0] / 3 + flip(1/2) / 4, 1) * 10",
    "map": "def f(x):\n    return tuple(map(lambda a, b: a + 2 * b, x, (flip(1/3), 1)))",
    "map-loop": "def f(x):\n    s = 0\n    for v in map(lambda b: b + flip(1/3), x):\n        if v == 2:\n            break\n        s = 3 * s + v\n    return s",
    "map-stops": "def f(x):\n    log = []\n    def g(b):\n        log.append(b)\n        return b\n    for v in map(g, x):\n        if v:\n            break\n    return tuple(log)",
    "map-fails-later": "def f(x):\n    def g(b):\n        observe(b < 2)\n        return b\n    for v in map(g, (x[0] % 2, 2)):\n        if v or flip(1/2):\n            break\n    return v",
    "generator-fails-later": "def f(x):\n    def g(b):\n        observe(b < 2)\n        return b\n    for v in (g(b) for b in (x[0] % 2, 2)):\n        if v or flip(1/2):\n            break\n    return v",
    "filter": "def f(x):\n    return tuple(filter(lambda b: b > flip(1/3), x))",
    "filter-none": "def f(x):\n    return len(list(filter(None, x))), sum(filter(None, x))",
    "filter-loop": """
def f(x):
    s = 0
    def wanted(b):
        observe(flip(1/3) or b < 2)
        return b
    for v in filter(wanted, x):
        s = 3 * s + v
        if flip(1/2):
            break
    else:
        s += 100
    return s""",
    "generator-kept": "def f(x):\n    k = 1\n    g = (b + k for b in x if flip(1/2))\n    k = 2\n    return tuple(g)",
    "generator-loop": """
def f(x):
    s = 0
    for v in (b + c for b in x if b for c in range(2) if flip(1/3)):
        if v == 2:
            continue
        s += v
        if s > 2:
            break
    else:
        s = -s
    return s""",
    "generator-passed": "def f(x):\n    def total(g):\n        return sum(g)\n    return total(b for b in x if flip(1/2))",
    "generator-stops": """
def f(x):
    def risky(b):
        observe(b < 2 or flip(1/5))
        return b
    for v in (risky(b) for b in x):
        if v == 1:
            return v
    return 7""",
    "sort": "def f(x):\n    a = [b + flip(1/3) for b in x] + [1]\n    a.sort()\n    b = list(x)\n    b.sort(key=lambda v: (v % 2, -v), reverse=True)\n    return tuple(a), tuple(b)",
    "reverse-remove-clear": "def f(x):\n    a = [x[0], 1, x[1], 2]\n    a.reverse()\n    a.remove(1)\n    b = [1]\n    b.clear()\n    return tuple(a), len(b)",
    "bits": "def f(x):\n    v = 5 * x[0] + flip(1/2)\n    return v.bit_count(), v.bit_length(), (6).bit_count()",
    "slice-target": """
def f(x):
    a = [0, 1, 2, 3]
    a[x[0]:3] = [7] * x[1]
    a[::2] = list(a[::2])
    a[-1:] = (flip(1/2), 9)
    return tuple(a)""",
    "slice-target-fails": "def f(x):\n    a = [0, 1, 2, 3]\n    a[::2] = [5] * x[0]\n    return tuple(a)",
    "product": "def f(x):\n    return sum(a * b for a, b in itertools.product(x, repeat=2)), len(list(itertools.product(x, (1, 2, 3))))",
    "combinations": "def f(x):\n    return tuple(a < b for a, b in itertools.combinations([*x, flip(1/2)], 2)), tuple(itertools.permutations(x))",
    "accumulate": "def f(x):\n    return tuple(itertools.accumulate([b + flip(1/3) for b in x], initial=1)), tuple(itertools.accumulate(x, max)), tuple(itertools.accumulate(x, func=lambda a, b: a * b))",
    "chain-pairwise": "def f(x):\n    return tuple(itertools.chain(x, [flip(1/2)], (3,))), tuple(itertools.pairwise(x))",
    "numbered-as-it-goes": """
def f(x):
    s, k = 0, 1
    for i, v in enumerate((k * b for b in x), 1):
        s += i * v
        k += 1
    for i, v in enumerate(itertools.accumulate(x)):
        s += i * v
    for i, v in enumerate(reversed(x)):
        s = 2 * s + i * v
    return s + flip(1/3)""",
    "zip-as-it-goes": """
def f(x):
    s, longer = 0, [1]
    for a, i, b in zip(x, (v for v in x if flip(1/2)), longer):
        longer.append(a + i)
        s += 4 * a + 2 * i + b
    return s, tuple(zip(itertools.chain(x, [3]), [5, 6, 7])), sum(map(lambda a, b: a * b, reversed(x), [1, 2, 3]))""",
    "zip-ends-before-a-generator": """
def f(x):
    log = []
    def told(b):
        log.append(b)
        return b ^ flip(1/3)
    for pair in zip([5] * x[0], (told(b) for b in x if b >= 0)):
        pass
    for pair in zip((told(b) for b in x if b >= 0), [5] * x[0]):
        pass
    return tuple(log)""",
    "zip-of-generators": """
def f(x):
    log = []
    def told(name):
        def g(b):
            log.append(name)
            return b ^ flip(1/3)
        return g
    k = 1
    for a, b, c in zip(map(told('a'), x), (k * told('b')(v) for v in (*x, 1)), map(told('c'), reversed(x))):
        k += 1
        if a and flip(1/2):
            break
    return k, a, b, c, ''.join(log)""",
    "pairwise-as-it-goes": """
def f(x):
    s, k = 0, 1
    for a, b in itertools.pairwise(k * v for v in (*x, 1)):
        s += a + 3 * b
        k = 2
    return s + flip(1/3)""",
    "reduce": "def f(x):\n    return functools.reduce(lambda a, b: 3 * a + b, x), functools.reduce(max, x, flip(1/2))",
    "f-string": "def f(x):\n    return f'{x[0]}-{flip(1/2)!r}: {x[1] // 3} {x[0]:03d} {(1, 2)}', str(x[0] + 1)",
    "f-string-of-strings": "def f(x):\n    return f\"{'a' if flip(1/2) else 'b'}{x[0]}\"",
    "assert-message": "def f(x):\n    assert x[0] < 2, f'{x[0]} is large'\n    return x[0]",
    "print": "def f(x):\n    print(x, flip)\n    return x[0]",
    "folded": "def f(x):\n    return math.gcd(12, 18) + x[0], flip(math.sqrt(1/4)), math.perm(4, x[0]), math.hypot(3, 4) == 5, math.log2(8) * x[0]",
    "folded-from": "from statistics import mean\nfrom math import sqrt\n\n\ndef f(x):\n    return mean([1, 2, 3]) + x[0], sqrt(2) > 1",
    "match-values": """
def f(x):
    match x[0] + flip(1/3):
        case 0:
            return 'none'
        case 1 | 2 if x[1]:
            return 'some'
        case 2:
            r = 5
        case n:
            r = n
    return r""",
    "match-sequences": """
def f(x):
    v = (x[0], [x[1], 3]) if flip(1/2) else 7
    match v:
        case (0, [a, *rest]):
            return a, tuple(rest)
        case (b, [c, _]) if c > b:
            return b + c
        case (1 | 2 as d, _):
            return 10 + d
        case (_, _, _):
            return 'never'
        case 7:
            return 'seven'
    return None""",
    "match-singletons": "def f(x):\n    v = None if x[0] else flip(1/2)\n    match v:\n        case None:\n            return 0\n        case True:\n            return 1\n        case _:\n            return 2",
    "match-in-a-loop": "def f(x):\n    s = 0\n    for b in x:\n        match b:\n            case 0:\n                continue\n            case 2 if flip(1/3):\n                break\n        s += b\n    else:\n        s += 10\n    return s",
}


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.filterwarnings("ignore:.*print is ignored")
def test_what_people_reach_for_has_the_law_of_the_interpreter(name: str) -> None:
    with module_of("import functools\nimport itertools\n" + PROGRAMS[name] + "\n") as module:
        seen = assert_agreement(bind(module, Int(0, 2), 2))
    assert (seen.failing > 0) == (name in ("slice-target-fails", "assert-message", "next-of-nothing")), seen.failing


def test_print_is_ignored_with_a_warning(capsys: Any) -> None:
    with (
        module_of("def f(x):\n    print('here')\n    return x[0]\n") as module,
        pytest.warns(UserWarning, match="print is ignored"),
    ):
        lower(bind(module, Int(0, 1), 1))
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("value", "warned"),
    [
        ("1 / (1 + math.log(2))", True),
        ("1 / (1 + math.exp(0.5))", False),
        ("0.125", False),
        ("1e-9", False),
        ("1/3", True),
    ],
)
def test_a_float_of_the_module_that_is_no_short_decimal_is_named(value: str, warned: bool) -> None:
    with (
        module_of(f"Q = {value}\n\n\ndef f(x):\n    return flip(Q)\n") as module,
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        lower(bind(module, Int(0, 1), 1))
    assert [str(one.message).split(": ")[1].split()[0] for one in caught] == ["Q"] * warned


def test_an_observation_that_never_holds_is_pointed_at() -> None:
    source = "def f(x):\n    b = x[0]\n    observe(b > 7)\n    return b\n"
    with module_of(source) as module, pytest.raises(ProgramError) as caught:
        lower(bind(module, Int(0, 1), 1))
    assert caught.value.span is not None
    assert "observe(b > 7)" in caught.value.span.text


def test_a_negative_shift_is_called_by_its_name() -> None:
    with module_of("def f(x):\n    return 1 << (x[0] - 1)\n") as module:
        program = lower(bind(module, Int(0, 1), 1))
    assert [check.message for check in program.checks] == ["ValueError: negative shift count"]
