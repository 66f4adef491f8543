# ruff: noqa: E501
"""Hand-written programs that break compilers, each compared with the interpreter on every dataset, in every way."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import pytest

from agreement import assert_agreement, bind, module_of
from tightdp.language.domains import Bit, Bits, Domain, Int, Tuple, Values


@dataclass(frozen=True)
class Nasty:
    """A program: its name, the text of `f`, and what it is bound to. `fails` says on how many datasets it fails."""

    name: str
    source: str
    record: Domain = Bit
    n: int = 2
    parameters: dict[str, Any] = field(default_factory=dict)
    neighbours: str = "replace-one"
    fails: int = 0


PROGRAMS = [
    # lists: aliasing, nesting, growth
    Nasty("alias", "def f(x):\n    a = []\n    b = a\n    b.append(x[0])\n    a.append(x[1])\n    return tuple(b)"),
    Nasty(
        "alias-or-copy",
        """
def f(x):
    a = [x[0]]
    b = a if flip(1/3) else a.copy()
    b.append(7)
    b[0] = 5
    return (tuple(a), tuple(b), len(a) == len(b))""",
    ),
    Nasty(
        "alias-through-union",
        """
def f(x):
    a, b = [0], [1, 2]
    c = a if flip(1/3) else b
    c.append(x[0])
    c += [9]
    c[-1] = 4
    return (tuple(a), tuple(b))""",
    ),
    Nasty(
        "augmented-is-in-place",
        """
def f(x):
    a = [1]
    b = a
    b += x
    c = a
    c *= 2
    d = a
    d = d + [3]
    return (tuple(a), len(b), len(c), len(d))""",
    ),
    Nasty("augmented-tuple-is-new", "def f(x):\n    a = (1,)\n    b = a\n    b += x\n    return (a, b)"),
    Nasty(
        "list-of-lists",
        """
def f(x):
    rows = [[] for _ in range(3)]
    for b in x:
        rows[b + flip(1/3)].append(b)
    return tuple(tuple(row) for row in rows)""",
    ),
    Nasty(
        "same-row-three-times",
        "def f(x):\n    rows = [[0]] * 3\n    rows[x[0]].append(x[1])\n    return tuple(map_rows(rows))\n\n\ndef map_rows(rows):\n    return [tuple(row) for row in rows]",
    ),
    Nasty(
        "replace-a-row",
        """
def f(x):
    rows = [[1], [2]]
    other = rows[1]
    if flip(1/3):
        rows[1] = rows[0]
    rows[1].append(x[0])
    other.append(8)
    return (tuple(tuple(r) for r in rows), tuple(other))""",
    ),
    Nasty(
        "lists-compare", "def f(x):\n    return (list(x) == [0, 1], [x[0]] < [x[1], 0], list(x) != x, [1, 2] == [1, 2])"
    ),
    Nasty(
        "list-is-empty-or-not",
        """
def f(x):
    a = []
    if x[0] and flip(1/3):
        a.append(0)
    return ("full" if a else "empty", not a, bool(a), a and 3 or 4, len(a or (1, 2)), any([a, []]))""",
    ),
    Nasty(
        "element-under-condition",
        """
def f(x):
    a = [0, 0, 0]
    if flip(1/3):
        a[x[0]] = x[1] + 1
    a[-1 - x[0]] += 2
    return tuple(a)""",
    ),
    Nasty(
        "random-index",
        "def f(x):\n    a = [5, 6, 7]\n    a[randint(-3, 2)] = x[0]\n    return (tuple(a), a[randint(-2, 1)])",
    ),
    Nasty(
        "index-of-lists-in-lists",
        "def f(x):\n    a = [[1, 2], [3], []]\n    return a[randint(0, 1)][-1] + len(a[x[0] + x[1]])",
    ),
    Nasty(
        "pop",
        """
def f(x):
    a = list(x) + [2]
    first = a.pop(0)
    last = a.pop()
    return (first, last, a.pop(-1), tuple(a))""",
    ),
    Nasty("pop-at-random", "def f(x):\n    a = [1, 2, 3]\n    return (a.pop(x[0]), a.pop(-1 - x[1]), tuple(a))"),
    Nasty(
        "insert",
        "def f(x):\n    a = [1]\n    a.insert(x[0], 5)\n    a.insert(-9, 6)\n    a.insert(9, x[1])\n    return tuple(a)",
    ),
    Nasty(
        "index-and-count",
        "def f(x):\n    a = [x[0], 1, x[1], 0]\n    return (a.index(1), a.count(0), x.count(1), (2, 3).index(3), range(4).index(2))",
    ),
    Nasty(
        "slices",
        """
def f(x):
    a = [x[0], 2, 3, x[1]]
    return (tuple(a[1:]), tuple(a[:-1]), tuple(a[::-1]), tuple(a[x[0]:]), tuple(a[-2 - x[1]::2]), tuple(a[5:]), x[::-1])""",
    ),
    Nasty(
        "slice-is-a-copy", "def f(x):\n    a = [1, 2]\n    b = a[:]\n    b[0] = x[0]\n    return (tuple(a), tuple(b))"
    ),
    Nasty(
        "grows-while-looping",
        """
def f(x):
    queue = [x[0]]
    for v in queue:
        if len(queue) < 4 and flip(1/3):
            queue.append(v + 1)
    return tuple(queue)""",
    ),
    Nasty(
        "changes-while-enumerated",
        """
def f(x):
    a = [3, x[0], 2, x[1]]
    for i, v in enumerate(a):
        if i + 1 < len(a) and v > a[i + 1]:
            a[i], a[i + 1] = a[i + 1], v
    return tuple(a)""",
    ),
    Nasty(
        "changes-while-reversed",
        """
def f(x):
    a = [1, 2, x[0]]
    seen = []
    for v in reversed(a):
        a[0] = v + 1
        seen.append(v)
    return tuple(seen)""",
    ),
    Nasty(
        "shrinks-while-reversed",
        """
def f(x):
    a = [1, 2, 3, 4]
    seen = []
    for v in reversed(a):
        if x[0]:
            a.pop()
        seen.append(v)
    return tuple(seen)""",
    ),
    Nasty(
        "zip-of-the-same-list",
        "def f(x):\n    a = [1, 2, x[0]]\n    for v, w in zip(a, a):\n        a[2] = v + w\n    return tuple(a)",
    ),
    Nasty(
        "bubble-sort",
        """
def f(x):
    a = list(x)
    for i in range(len(a)):
        for j in range(len(a) - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return tuple(a)""",
        Int(0, 2),
        3,
    ),
    Nasty(
        "mixed-list-filtered",
        """
def f(x):
    a = []
    for b in x:
        a.append(None if flip(1/3) else (b, 1) if flip(1/2) else b)
    kept = [v for v in a if v is not None and v != (0, 1)]
    return (len(kept), tuple(kept))""",
    ),
    Nasty(
        "none-filtered-then-summed",
        "def f(x):\n    a = [b if flip(1/3) else None for b in x]\n    return sum(v for v in a if v is not None)",
    ),
    Nasty(
        "random-length",
        """
def f(x):
    a = [v for v in (1, 2, 3) if v > x[0] + flip(1/3)]
    return (len(a), a[0], a[-1], sum(a), max(a), tuple(reversed(a)), 3 in a)""",
    ),
    Nasty(
        "range-of-random-length",
        "def f(x):\n    k = x[0] + randint(0, 2)\n    return (tuple(range(k)), len(range(k)), sum(range(1, k + 1)))",
    ),
    Nasty("repeat", "def f(x):\n    return ([0] * x[0] == [], (1,) * (x[1] + 1), 2 * (x[0],), (3,) * -1)"),
    Nasty(
        "concatenate-random-lengths",
        "def f(x):\n    a = [0] * randint(0, 2)\n    b = [1] * x[0]\n    c = a + b\n    return (tuple(c), len(c))",
    ),
    # names and scopes
    Nasty(
        "late-binding", "def f(x):\n    fs = [lambda: i + x[0] for i in range(3)]\n    return tuple(g() for g in fs)"
    ),
    Nasty(
        "default-argument-binds-early",
        "def f(x):\n    fs = [lambda i=i: i + x[0] for i in range(3)]\n    return tuple(g() for g in fs)",
    ),
    Nasty(
        "late-binding-local",
        """
def f(x):
    k = 1
    def g():
        return k + x[0]
    a = g()
    k = 10
    return (a, g())""",
    ),
    Nasty(
        "closure-chosen-at-random",
        """
def f(x):
    def make(k):
        return lambda y: y + k
    g = make(1) if flip(1/3) else make(20)
    return g(x[0])""",
    ),
    Nasty(
        "counter-closure",
        """
def f(x):
    count = 0
    def tick(by=1):
        nonlocal count
        count += by
        return count
    for b in x:
        if b and flip(1/3):
            tick(2)
    return (tick(), count)""",
    ),
    Nasty(
        "mutable-default",
        """
def f(x):
    def add(v, to=[]):
        to.append(v)
        return len(to)
    return (add(x[0]), add(1), add(2, [0]), add(3))""",
    ),
    Nasty(
        "comprehension-shadows",
        "def f(x):\n    i = 5\n    a = [i for i in x]\n    return (i, sum(a), [i for _ in x][0])",
    ),
    Nasty("comprehension-outer-iterable", "def f(x):\n    a = [1, 2]\n    return sum(a + x[0] for a in a)"),
    Nasty(
        "nested-comprehension",
        "def f(x):\n    return tuple((a, b) for a in x for b in range(a + 1) if a != b or flip(1/3))",
    ),
    Nasty(
        "walrus", "def f(x):\n    if (s := sum(x)) > 1 or (t := s + flip(1/3)):\n        return s\n    return t + 10"
    ),
    Nasty(
        "walrus-in-comprehension",
        "def f(x):\n    last = 9\n    a = [last := b + 1 for b in x if b]\n    return (last, len(a))",
    ),
    Nasty(
        "walrus-in-any",
        "def f(x):\n    hit = None\n    found = any((hit := b) and flip(1/3) for b in x)\n    return (found, hit)",
    ),
    Nasty(
        "star-unpacking",
        "def f(x):\n    a, *b, c = [7, *x, 8]\n    *d, e = b\n    (g, h), k = x, a\n    return (a, tuple(b), c, tuple(d), e, g, h, k)",
    ),
    Nasty(
        "star-in-displays-and-calls",
        "def f(x):\n    def g(*a, b=0):\n        return (len(a), sum(a), b)\n    return (g(*x, 1), g(*[], b=x[0]), (*x, *range(2)), max(*x, 0))",
    ),
    Nasty(
        "swap", "def f(x):\n    a, b, c = x[0], x[1], 2\n    a, b = b, a\n    a, b, c = c, a, b\n    return (a, b, c)"
    ),
    Nasty(
        "swap-elements",
        "def f(x):\n    a = [0, 1, 2]\n    i, j = x[0], randint(1, 2)\n    a[i], a[j] = a[j], a[i]\n    return tuple(a)",
    ),
    Nasty(
        "chained-assignment",
        "def f(x):\n    a = b = [x[0]]\n    a.append(1)\n    c = a[0] = 5\n    return (tuple(b), c)",
    ),
    Nasty("unpack-a-union", "def f(x):\n    a, b = (1, 2) if flip(1/3) else [x[0], (3,)]\n    return (a, b)"),
    Nasty(
        "unpack-in-loop",
        "def f(x):\n    s = 0\n    for i, (a, *b) in enumerate([(1, 2), (x[0],), (3, 4, 5)]):\n        s += i * a + sum(b)\n    return s",
    ),
    Nasty(
        "name-assigned-on-one-path",
        "def f(x):\n    if x[0]:\n        y = 1\n    if x[0] and flip(1/3):\n        return y\n    return 0",
    ),
    Nasty(
        "name-of-the-module-is-shadowed",
        "k = 5\n\n\ndef f(x):\n    if x[0]:\n        k = 1\n    return sum(k for _ in x) if x[0] else 0",
    ),
    Nasty(
        "helpers-of-the-module",
        "def double(v, by=2):\n    return v * by\n\n\ndef f(x):\n    return (double(x[0]), double(by=3, v=x[1]), apply(double, 4))\n\n\ndef apply(g, v):\n    return g(v)",
    ),
    Nasty(
        "constants-of-the-module",
        """
RATE = 0.1
PAIR = (1, [2, 0.5])
ROWS = [[1, 2], [3]]
D = {0: "no", 1: "yes", None: 0.25, (0, 1): 4}


def f(x):
    return (1 - RATE, PAIR[1][x[0]], ROWS[x[0]][-1], D[x[1]], D[None], D[x[0] * 0, 1], x[0] in D, len(D), sum(ROWS[0]))""",
    ),
    Nasty(
        "dictionary-with-a-random-key",
        'D = {0: (1, 2), 1: None, 2: "a"}\n\n\ndef f(x):\n    return D[x[0] + flip(1/3)]',
    ),
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
    # the random primitives
    Nasty(
        "certain-flips",
        "def f(x):\n    return (flip(0), flip(1), flip(x[0]), flip(False), flip(True), flip('0.25'))",
        Bit,
        1,
    ),
    Nasty(
        "probability-of-the-run",
        "def f(x):\n    b = x[0] + randint(0, 2)\n    return (flip(b / 4), flip(Fraction(1, 1 + b)), flip(1 / (b + 2)))",
        Bit,
        1,
    ),
    Nasty(
        "randint",
        "def f(x):\n    k = randint(-1, x[0])\n    return (k, randint(k, k), randint(k - 1, x[0] + 1))",
        Bit,
        1,
    ),
    Nasty(
        "choice",
        'def f(x):\n    return (choice("ab"), choice([(1, 2), None, x]), choice(range(2), weights=[1, 3]), choice([1, 2, 3], [x[0], 0, 1]))',
        Bit,
        1,
    ),
    Nasty(
        "choice-weights-of-the-run",
        "def f(x):\n    w = [flip(1/3), x[0], 1]\n    return choice([10, 20, 30], w)",
        Bit,
        1,
    ),
    Nasty(
        "choice-of-lists",
        "def f(x):\n    a, b = [1], [2, 3]\n    c = choice([a, b])\n    c.append(x[0])\n    return (tuple(a), tuple(b))",
        Bit,
        1,
    ),
    Nasty(
        "choice-of-random-length",
        "def f(x):\n    a = [b for b in (0, 1, 2) if b >= x[0] + flip(1/3)]\n    return choice(a)",
        Bit,
        1,
    ),
    Nasty(
        "choice-with-many-weights",
        "def f(x):\n    w = [1 + v for v in (*x, *x, *x, *x, *x, *x)]\n    return choice(range(12), w)",
        Int(0, 3),
        2,
    ),
    Nasty(
        "binomial",
        "def f(x):\n    k = binomial(2, 1/3)\n    return (k, binomial(k, 0.5), binomial(0, 1/2), binomial(3, x[0]))",
        Bit,
        1,
    ),
    Nasty(
        "geometric",
        'def f(x):\n    return (geometric(x[0], "1/2", -1, 1), geometric(-5, 1/3, 0, 2), geometric(9, 1/3, 0, 2), geometric(0, 1/2, 0, 0), geometric(1, 0, 0, 2))',
        Bit,
        1,
    ),
    Nasty(
        "geometric-of-the-run",
        "def f(x):\n    lo = -randint(0, 1)\n    return geometric(lo - x[0], Fraction(1, 2 + x[0]), lo, lo + 2)",
        Bit,
        1,
    ),
    Nasty(
        "shuffle",
        'def f(x):\n    return (shuffle(x), shuffle([]), shuffle([x[0]]), shuffle([1, 1]), shuffle((("a", x[0]), ("b",))))',
    ),
    Nasty("shuffle-then-positions", "def f(x):\n    a, b, c = shuffle([*x, 2])\n    return (a < b, c)"),
    Nasty("shuffle-of-random-length", "def f(x):\n    return shuffle([b for b in (x[0], 5) if flip(1/3)])", Bit, 1),
    Nasty(
        "shuffle-of-strings-and-none", 'def f(x):\n    return shuffle(["a", None if x[0] else "b", flip(1/3)])', Bit, 1
    ),
    Nasty("shuffle-twice", "def f(x):\n    a = shuffle([0, 1, x[0]])\n    return (a, shuffle(a)[0])", Bit, 1),
    Nasty("sample-without-replacement", "def f(x):\n    return sum(x[i] for i in shuffle(range(3))[:2])", Bit, 3),
    Nasty(
        "draws-in-a-comprehension",
        "def f(x):\n    return tuple(flip(1/3) for _ in range(x[0] + 1)) + tuple([randint(0, b) for b in x])",
    ),
    Nasty(
        "draw-in-a-default",
        "def f(x):\n    def g(a=flip(1/3)):\n        return a\n    return (g(), g(), g(x[0]))",
        Bit,
        1,
    ),
    Nasty(
        "the-same-draw-twice",
        "def f(x):\n    a = flip(1/3)\n    return (a, a, a == a, a != a, a ^ a, a - a, (a, x[0]) == (a, x[0]))",
        Bit,
        1,
    ),
    # observe and assert
    Nasty(
        "observe",
        "def f(x):\n    a, b = randint(0, 3), randint(0, 3)\n    observe(a + b >= 3 + x[0])\n    return (a, b)",
        Bit,
        1,
    ),
    Nasty(
        "observe-on-one-branch",
        "def f(x):\n    a = flip(1/3)\n    if x[0]:\n        observe(a or flip(1/4))\n    else:\n        return a\n    return (a, 1)",
        Bit,
        1,
    ),
    Nasty(
        "observe-after-return",
        "def f(x):\n    a = randint(0, 2)\n    if a == 0:\n        return 0\n    observe(a == 1 or x[0])\n    return a",
        Bit,
        1,
    ),
    Nasty(
        "observe-in-a-loop-and-a-helper",
        "def f(x):\n    def see(v):\n        observe(v < 2)\n        return v\n    s = 0\n    for b in x:\n        s = see(s + (b ^ flip(1/3)))\n    return s",
    ),
    Nasty(
        "observe-in-any",
        "def f(x):\n    a = [flip(1/3) for _ in x]\n    r = any(observe(v or not b) or b for v, b in zip(a, x))\n    return (r, tuple(a))",
    ),
    Nasty(
        "observe-guards-a-failure",
        "def f(x):\n    a = randint(0, 2)\n    observe(a > x[0] * 0)\n    return 6 // a",
        Bit,
        1,
    ),
    Nasty(
        "observe-contradiction",
        "def f(x):\n    a = flip(1/3)\n    observe(a != (x[0] == 1))\n    observe(a or x[0])\n    observe(not x[0] or a)\n    return a",
        Bit,
        1,
        fails=1,
    ),
    Nasty("observe-of-a-container", "def f(x):\n    observe([b for b in x if flip(1/3)])\n    return x[0]"),
    Nasty(
        "assert-holds",
        "def f(x):\n    s = sum(b ^ flip(1/3) for b in x)\n    assert 0 <= s <= len(x), 'a sum'\n    return s",
    ),
    Nasty("assert-fails-on-some", "def f(x):\n    assert x[0] or not flip(1/3)\n    return x", Bit, 2, fails=2),
    # unreachable failures
    Nasty(
        "unreachable-failures",
        """
def f(x):
    a = randint(0, 2)
    if a == 0:
        return x[0] if x[0] in (0, 1) else 1 // 0
    if a > 2:
        return x[9] + None
    if a < 0 and x[0]:
        raise ValueError("never")
    return 2 // a + [1, 2][a - 1] + (None + 1 if a == 7 else 0)""",
    ),
    Nasty(
        "failure-behind-a-break",
        "def f(x):\n    for i in range(3):\n        if i == x[0] + x[1]:\n            break\n        assert i < 2\n    return 1 // i if i else 0",
    ),
    Nasty("division-on-one-dataset", "def f(x):\n    return 1 // x[0] if flip(1/3) else 0", Bit, 1, fails=1),
    Nasty("index-on-one-dataset", "def f(x):\n    return [1, 2][x[0] + x[1]]", fails=1),
    Nasty("key-error", "D = {0: 1}\n\n\ndef f(x):\n    return D[x[0]]", Bit, 1, fails=1),
    Nasty("unbound-on-one-path", "def f(x):\n    if x[0]:\n        y = 1\n    return y", Bit, 1, fails=1),
    Nasty("none-plus-one", "def f(x):\n    v = None if x[0] and flip(1/3) else 1\n    return v + 1", Bit, 1, fails=1),
    Nasty("tuple-plus-list", "def f(x):\n    return (1,) + [x[0]]", Bit, 1, fails=2),
    Nasty(
        "range-is-no-tuple",
        "def f(x):\n    return (range(2) == (0, 1), range(2) == range(x[0], 2), [*range(2)] == [0, 1])",
        Bit,
        1,
    ),
    Nasty("range-plus-tuple", "def f(x):\n    return range(2) + (1,)", Bit, 1, fails=2),
    Nasty("enumerate-has-no-length", "def f(x):\n    return len(enumerate(x))", fails=4),
    Nasty("zip-strict", "def f(x):\n    return tuple(zip(x, [1] * (1 + x[0]), strict=True))", fails=2),
    Nasty("probability-above-one", "def f(x):\n    return flip((x[0] + x[1] + 1) / 2)", fails=1),
    Nasty("empty-randint", "def f(x):\n    return randint(1, 2 * x[0])", Bit, 1, fails=1),
    Nasty("weights-all-zero", "def f(x):\n    return choice([1, 2], [x[0], x[1]])", fails=1),
    Nasty("negative-binomial", "def f(x):\n    return binomial(x[0] - 1, 1/2)", Bit, 1, fails=1),
    Nasty("unpack-too-many", "def f(x):\n    a, b = [1] * (1 + x[0])\n    return a", Bit, 1, fails=1),
    Nasty("index-not-whole", "def f(x):\n    return [1, 2][2 / (1 + x[0])]", Bit, 1, fails=2),
    Nasty("min-of-nothing", "def f(x):\n    return min(b for b in x if b)", fails=1),
    Nasty("mixed-comparison", 'def f(x):\n    return max(x[0], "a")', Values(1, "b"), 1, fails=1),
    # domains
    Nasty("values", 'def f(x):\n    return tuple((v is None, v == "a", v == 3, v) for v in x)', Values(None, "a", 3)),
    Nasty(
        "values-none-filtered",
        "def f(x):\n    return sum(v for v in x if v is not None and v != 'a') + flip(1/3)",
        Values(None, "a", 3),
    ),
    Nasty(
        "values-of-booleans",
        "def f(x):\n    return (x[0] and not x[1], x[0] + x[1], x[0] ^ flip(1/3))",
        Values(True, False),
    ),
    Nasty(
        "values-of-tuples",
        "def f(x):\n    return (len(x[0]), sum(x[0]), x[0] == x[1], x[0] < x[1], x[1] + (flip(1/3),))",
        Values((0, 1), (2,), ()),
    ),
    Nasty(
        "values-of-mixed-shapes",
        "def f(x):\n    a = x[0]\n    if a is None:\n        return 'none'\n    if a == 1:\n        return a\n    return a[0] + sum(a[1])",
        Values(None, 1, (2, (3, 4))),
        1,
    ),
    Nasty(
        "values-of-fractions",
        "def f(x):\n    return (flip(x[0]), x[0] + x[1], x[0] * 2 == 1)",
        Values(Fraction(1, 2), Fraction(1, 3), 1),
    ),
    Nasty("one-value", "def f(x):\n    return (x[0], flip(1/3))", Values(7)),
    Nasty(
        "tuples",
        "def f(x):\n    return sum(a * (b or 1) for a, b in x) + x[0][0] * flip(1/3)",
        Tuple(Bit, Values(None, 2)),
    ),
    Nasty(
        "nested-tuples",
        "def f(x):\n    (a, (b, c)), = x\n    return (a + b, c, x[0][1][0])",
        Tuple(Int(-1, 0), Tuple(Bit, Values("u", "v"))),
        1,
    ),
    Nasty("bits", "def f(x):\n    return tuple(sum(v[j] ^ flip(1/3) for v in x) for j in range(2))", Bits(2)),
    Nasty(
        "add-remove", "def f(x):\n    return sum(b for b in x if b is not None) + (None in x)", Bit, 2, {}, "add-remove"
    ),
    Nasty(
        "add-remove-of-tuples",
        "def f(x):\n    return sum(a + b for a, b in [v for v in x if v is not None]) + flip(1/3)",
        Tuple(Bit, Bit),
        2,
        {},
        "add-remove",
    ),
    Nasty("one-record", "def f(x):\n    (b,) = x\n    return (b ^ flip(1/3), len(x), x[-1])", Bit, 1),
    Nasty(
        "x-has-tuples-at-a-random-index",
        "def f(x):\n    return x[randint(0, 1)][flip(1/3)] + x[flip(1/3) - 1][0]",
        Tuple(Bit, Int(0, 2)),
    ),
    # parameters and mechanisms
    Nasty(
        "parameters",
        "def f(x, p, w, k=2, *, name='a', n):\n    return (flip(p), choice(range(2), w), k, name, n, p + 1)",
        Bit,
        1,
        {"p": "1/3", "w": ["0.5", 2], "name": "b"},
    ),
    Nasty(
        "mechanisms-call-mechanisms",
        """
@mechanism(record=Bit)
def inner(x, lam="1/3", *, n):
    return (sum(1 - b if flip(1 - lam) else b for b in x), n)


@mechanism(record=Bit)
def f(x, p="1/5"):
    return inner(x, "1/4") if flip(p) else inner([1 - b for b in x[:1]], lam=0.5)""",
    ),
    Nasty("nothing-random", "def f(x):\n    return x"),
    Nasty("nothing-at-all", "def f(x):\n    pass"),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_program_means_what_the_interpreter_says(program: Nasty) -> None:
    with module_of(program.source) as module:
        bound = bind(module, program.record, program.n, neighbours=program.neighbours, **program.parameters)
        assert assert_agreement(bound).failing == program.fails


def test_names_are_distinct() -> None:
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)
