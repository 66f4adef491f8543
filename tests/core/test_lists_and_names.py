# ruff: noqa: E501
"""Programs that break compilers: lists (aliasing, nesting, growth), names and scopes. Each is compared with the interpreter on every dataset."""

from __future__ import annotations

import pytest

from handwritten import Nasty
from tightdp.language.domains import Int

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
        "augmented-element-of-a-row",
        """
def f(x):
    rows = [[0, 0], [1, 2, 3], {0: 4, 1: 5}]
    for b in x:
        rows[b + flip(1/3)][flip(1/4)] += b + flip(1/2)
    return (tuple(rows[0]), tuple(rows[1]), rows[2])""",
    ),
    Nasty(
        "augmented-element-that-one-row-lacks",
        "def f(x):\n    rows = [[0], [1, 2]]\n    rows[flip(1/2)][x[0]] += flip(1/3)\n    return tuple(map(tuple, rows))",
        fails=2,
    ),
    Nasty(
        "augmented-element-changed-meanwhile",
        "def f(x):\n    a, b = [5, 6], [7, 8]\n    c = a if flip(1/3) else b\n    c[x[0]] += c.pop()\n    return (tuple(a), tuple(b))",
        fails=2,
    ),
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
        "sorted-while-empty",
        """
def f(x):
    a, b = [*x, flip(1/3), 2], [1, x[1], 0]
    a.sort(key=lambda v: (len(a), -v))
    try:
        b.sort(key=lambda v: 1 // v if b == [] else 0)
    except ZeroDivisionError:
        b.append(7)
    return tuple(a), tuple(b)""",
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
]


@pytest.mark.one_in(8)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_program_means_what_the_interpreter_says(program: Nasty) -> None:
    program.check()


def test_names_are_distinct() -> None:
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)
