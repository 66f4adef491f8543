# ruff: noqa: E501
"""Programs that break compilers: control flow, numbers and truth values. Each is compared with the interpreter on every dataset."""

from __future__ import annotations

from fractions import Fraction

import pytest

from handwritten import Nasty
from parametrised import value_at
from tightdp import flip, mechanism
from tightdp.language.domains import Bit, Int, Values

PROGRAMS = [
    # control flow
    Nasty(
        "loop-variable-reassigned",
        "def f(x):\n    s = 0\n    for b in x:\n        b = b + 1\n        s += b\n    return (s, b)",
    ),
    Nasty(
        "loop-variable-survives",
        "def f(x):\n    for i in range(3):\n        if flip(1/3):\n            break\n    return i",
    ),
    Nasty(
        "for-else",
        """
def f(x):
    for i, b in enumerate(x):
        if b and flip(1/3):
            break
    else:
        return "none"
    return i""",
    ),
    Nasty(
        "return-in-for-else",
        """
def f(x):
    for b in x:
        for c in (0, 1):
            if flip(1/3):
                break
            if b == c:
                continue
        else:
            return (b, c)
        if b:
            return "broken"
    return None""",
    ),
    Nasty(
        "fractions-of-numbers-with-e",
        "def f(x):\n    q = exp(-1 - x[0])\n    return flip(Fraction(q)), flip(Fraction(q, 2)), flip(Fraction(1, 1 + 1 / q)), Fraction(x[1], 2)",
    ),
    Nasty(
        "while-else",
        "def f(x):\n    i = 0\n    while i < 3:\n        if flip(1/3) and x[0]:\n            break\n        i += 1\n    else:\n        i = 10\n    return i",
    ),
    Nasty(
        "while-true",
        """
def f(x):
    i = 0
    while True:
        i += 1
        if x[0]:
            if flip(1/3):
                break
            elif i > 2:
                break
        else:
            if i > 1:
                return "out"
    return i""",
    ),
    Nasty(
        "countdown-from-a-record",
        "def f(x):\n    k, s = x[0], 0\n    while k != 0:\n        k -= 1\n        s += flip(1/3)\n    return s",
        Int(0, 3),
        1,
    ),
    Nasty(
        "binary-search",
        """
def f(x):
    low, high = 0, 7
    while low < high:
        middle = (low + high) // 2
        if middle < x[0]:
            low = middle + 1
        else:
            high = middle
    return low""",
        Int(0, 7),
        1,
    ),
    Nasty(
        "greatest-common-divisor",
        "def f(x):\n    a, b = x\n    while b:\n        a, b = b, a % b\n    return a",
        Int(0, 5),
    ),
    Nasty(
        "collatz",
        """
def f(x):
    v, c = x[0], 0
    while v != 1:
        v = v // 2 if v % 2 == 0 else 3 * v + 1
        c += 1
    return c""",
        Int(1, 6),
        1,
    ),
    Nasty(
        "cyclic-but-ends",
        "def f(x):\n    v = x[0]\n    while v != 1:\n        v = v * 2 % 5\n    return v",
        Int(1, 4),
        1,
    ),
    Nasty(
        "while-a-list-is-left",
        "def f(x):\n    q, s = list(x), 0\n    while q:\n        s = 2 * s + q.pop()\n        if flip(1/3):\n            break\n    return s",
        Bit,
        3,
    ),
    Nasty(
        "while-a-closure-says",
        """
def f(x):
    left = 3
    def again():
        nonlocal left
        left -= 1
        return left > 0 or flip(0)
    s = 0
    while again():
        s += x[0] + flip(1/3)
    return s""",
    ),
    Nasty(
        "recursion",
        "def f(x):\n    def g(k):\n        return 0 if k == 0 or flip(1/3) else 1 + g(k - 1)\n    return (g(x[0]), g(3))",
        Int(0, 3),
        1,
    ),
    Nasty(
        "mutual-recursion",
        "def even(k):\n    return k == 0 or odd(k - 1)\n\n\ndef odd(k):\n    return k != 0 and even(k - 1)\n\n\ndef f(x):\n    return (even(x[0]), odd(x[0]))",
        Int(0, 4),
        1,
    ),
    Nasty(
        "early-return-in-nested-loops",
        """
def f(x):
    for i in range(2):
        for j, b in enumerate(x):
            if b and flip(1/3):
                return (i, j)
            if i and not b:
                return None
    return False""",
    ),
    Nasty(
        "return-from-helper-loops",
        """
def f(x):
    def first(p):
        for i, b in enumerate(x):
            if b or flip(p):
                return i
    a, b = first(1/3), first(0)
    return (a, b, a == b)""",
    ),
    Nasty(
        "range-loop-with-counter-changed",
        "def f(x):\n    s = []\n    for i in range(4):\n        s.append(i)\n        i += 5 * x[0]\n        if i > 6:\n            continue\n        s.append(-i)\n    return tuple(s)",
    ),
    Nasty(
        "big-range",
        "def f(x):\n    s = 0\n    for i in range(1000):\n        if i % 250 == 3:\n            s += x[0] ^ flip(1/3)\n    return s",
        Bit,
        1,
    ),
    Nasty(
        "target-fails-after-break",
        "def f(x):\n    for a, b in [(1, 2), 5]:\n        if x[0] < 7:\n            break\n    return a",
    ),
    Nasty(
        "test-fails-after-break",
        "def f(x):\n    i = 0\n    while 6 // (2 - i) > 0:\n        i += 1\n        if i == 2 or x[0]:\n            break\n    return i",
    ),
    # numbers and truth values
    Nasty("true-is-one", "def f(x):\n    return choice([True, 1, x[0] == 1, 1.0])", Bit, 1),
    Nasty(
        "booleans-count",
        "def f(x):\n    a, b = x[0] == 1, flip(1/3)\n    return (a + b, a * 3, a - b, a & b, a | b, a ^ b, a < b, -a, ~b, a / 2, a == 1, [4, 5][b], not a)",
    ),
    Nasty(
        "bits-of-mixed",
        "def f(x):\n    a, b = flip(1/3), x[0] + 2\n    return (a & b, a | b, b ^ a, b << a, b >> 1, ~b)",
    ),
    Nasty(
        "floor-and-modulo",
        "def f(x):\n    a = [x[0] - 3, -7, 7]\n    return tuple((v // 2, v % 3, v // -2, v % -3, divmod(v, -4)) for v in a)",
        Int(0, 3),
        1,
    ),
    Nasty(
        "powers",
        "def f(x):\n    return (2 ** -1, 2 ** x[0], (x[0] - 2) ** 2, 2 ** (x[0] - 2), 0 ** 0, (-2) ** 3, pow(2, x[0]), pow(3, 2, 4 + x[0]))",
        Int(0, 2),
        1,
    ),
    Nasty(
        "fractions",
        "def f(x):\n    return (x[0] / 3, sum([Fraction(1, 3), 0.5, x[0]]), 1.5 // 1, 7 / 2 % 1, (x[0] + 1) / 2 == 1, int(7 / 2), abs(-1 / 2), Fraction('2/3') * x[0])",
    ),
    Nasty("float-is-its-decimal", "def f(x):\n    return (0.1 + 0.2 == 0.3, 0.1 * 3, flip(0.1))", Bit, 1),
    Nasty(
        "chained-comparison",
        "def f(x):\n    return (0 <= x[0] < x[1] <= 1, 0 < x[0] == 1, x[0] != x[1] != x[0], 3 > randint(0, 2) > 0 >= x[0])",
    ),
    Nasty("chained-comparison-stops", "def f(x):\n    return x[0] > 1 > 1 // x[0]"),
    Nasty(
        "and-or-return-operands",
        'def f(x):\n    return (x[0] and "a", x[0] or None, 0 or () or x[1], x[0] and x[1] or 2, None and 1 // 0, not x[0] or 1 // x[0])',
    ),
    Nasty(
        "conditional-expressions-nest", "def f(x):\n    return (1 if x[0] else 2 if flip(1/3) else (3 if x[1] else 4),)"
    ),
    Nasty(
        "min-max",
        'def f(x):\n    return (min(x), max(x[0], True), min([3, x[0], flip(1/3)]), max("ab", "b"), min((1, 2), (x[0], 5)), max([], default=None), min(x, default=4))',
    ),
    Nasty(
        "max-with-key-and-ties",
        "def f(x):\n    a = [(0, x[0]), (1, x[1]), (2, flip(1/3))]\n    return (max(a, key=lambda t: t[1])[0], min(a, key=lambda t: t[1]), max(range(3), key=lambda i: -a[i][1]))",
    ),
    Nasty(
        "min-of-unsorted-domain",
        "def f(x):\n    return (min(x), max(x), sum(x), max(x, default=2), sorted(x)[0])",
        Values(2, -1, 5),
    ),
    Nasty(
        "sum",
        "def f(x):\n    return (sum(x), sum([], start=3), sum([(1,), x], ()), tuple(sum([[1], [x[0]]], [])), sum(b == 1 for b in x), sum([1, 2], x[0]))",
    ),
    Nasty(
        "sorted",
        "def f(x):\n    a = [(x[0], 2), (1, x[1]), (0, flip(1/3))]\n    return (tuple(sorted(a)), tuple(sorted(a, key=lambda t: t[0])), tuple(sorted(a, key=lambda t: -t[1], reverse=True)))",
    ),
    Nasty(
        "sorted-numbers",
        "def f(x):\n    return (tuple(sorted(x)), tuple(sorted([*x, flip(1/3)], reverse=True)), tuple(sorted('bca')), sorted(x)[1], tuple(sorted(range(3), key=lambda i: x[i % 2])))",
        Int(-1, 1),
    ),
    Nasty(
        "any-all",
        "def f(x):\n    return (any(x), all(x), any([]), all(()), any(flip(1/3) for b in x if b), all(b > 0 or flip(1/3) for b in x))",
    ),
    Nasty(
        "any-stops",
        "def f(x):\n    seen = []\n    found = any(seen.append(b) or b for b in [*x, 1, 1])\n    return (found, len(seen))",
    ),
    Nasty(
        "all-stops-before-failing", "def f(x):\n    return all(1 // b for b in x if b) and all(b and 1 // b for b in x)"
    ),
    Nasty(
        "strings",
        """
def f(x):
    s = "low" if flip(1/3) else "a" * x[0]
    return (s, len(s), s == "a", "o" in s, s + "!", s[:1], s < "b", tuple(s), [c for c in s if c != "o"] == list(s), s or 0)""",
    ),
    Nasty(
        "output-shapes",
        """
def f(x):
    k = randint(0, 8)
    if k == 0:
        return None
    if k == 1:
        return ()
    if k == 2:
        return (x[0],)
    if k == 3:
        return (x, (1, (None, "a")))
    if k == 4:
        return x[0] == 1
    if k == 5:
        return "a"
    if k == 6:
        return 1 / 3
    if k == 7:
        return (None, ())
    return -3""",
        Bit,
        1,
    ),
    Nasty("no-return", "def f(x):\n    if flip(1/3):\n        return x[0]", Bit, 1),
    Nasty(
        "is",
        "def f(x):\n    a = None if flip(1/3) else x[0]\n    return (a is None, a is not None, None is None, (x[0] > 0) is True, [] is None, a is None is x)",
    ),
    Nasty(
        "in",
        "def f(x):\n    return (x[0] in (1, 2), 1 not in x, (0, 1) in [x, (1,)], None in [x[0], None], x[0] in range(1, 5), 'a' in ('b', 'a'))",
    ),
    Nasty(
        "tuples-compare",
        "def f(x):\n    return (x < (0, 1), x == (1, flip(1/3)), (x[0],) <= (0, 5), (1, (2, x[0])) > (1, (2, 0)), x >= (), (1, None) == (1, None))",
    ),
]


@pytest.mark.one_in(8)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_program_means_what_the_interpreter_says(program: Nasty) -> None:
    program.check()


def test_names_are_distinct() -> None:
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)


def test_fractions_of_an_unknown() -> None:
    @mechanism
    def noisy(x, e):  # type: ignore[no-untyped-def]
        return sum(b ^ flip(Fraction(1, e + 1)) for b in x), flip(Fraction(1, 3) / Fraction(e) ** x[0])

    found = noisy.bind(n=2, e="?[1,5]").privacy()
    for e in (Fraction(3, 2), Fraction(4)):
        assert value_at(found, e) == noisy.bind(n=2, e=e).privacy().exp_epsilon
