# ruff: noqa: E501
"""Corners of what Python does with generators, dictionaries, sets, slices and patterns, against the interpreter."""

from __future__ import annotations

import pytest

from agreement import assert_agreement, bind, module_of
from tightdp.language.domains import Int

PROGRAMS: dict[str, str] = {
    "gen-closure": "def f(x):\n    k = x[0]\n    g = (k * 10 + b for b in x)\n    k = 5\n    return tuple(g)",
    "except-name": "def f(x):\n    e = 5\n    try:\n        if flip(1/2) or x[0]:\n            raise KeyError\n    except KeyError as e:\n        pass\n    try:\n        return e\n    except UnboundLocalError:\n        return 'gone'",
    "unbound": "def f(x):\n    a = x[0]\n    if flip(1/2):\n        del a\n    def g():\n        return a\n    try:\n        return g() if x[1] else a\n    except UnboundLocalError:\n        return -1\n    except NameError:\n        return -2",
    "iterated-once-on-every-run": "import itertools\n\n\ndef f(x):\n    z = [b for b in x if flip(1/2)]\n    d = {b: 1 for b in z}\n    return tuple(itertools.chain(enumerate(d), zip(z, x))), tuple(reversed(z)) + (0,)",
    "gen-walrus": "def f(x):\n    t = 0\n    g = [t := t + b for b in x]\n    return tuple(g), t",
    "gen-nested-any": "def f(x):\n    return any(all(flip(1/2) or c for c in x if c >= b) for b in x)",
    "gen-break-outer": "def f(x):\n    s = 0\n    for b in x:\n        for v in (c for c in range(3) if flip(1/3)):\n            if v == b:\n                break\n            s += v\n        else:\n            continue\n        s += 10\n    return s",
    "gen-return": "def f(x):\n    for v in (c for c in range(3) if flip(1/3) and c != x[0]):\n        return v\n    return 9",
    "gen-in-gen": "def f(x):\n    g = (b for b in x if flip(1/2))\n    h = (2 * v for v in g if v or flip(1/3))\n    return sum(h)",
    "gen-mutates": "def f(x):\n    a = []\n    def note(b):\n        a.append(b)\n        return b\n    n = 0\n    for v in (note(b) for b in x if b):\n        n += len(a)\n        if flip(1/2):\n            break\n    return n, tuple(a)",
    "filter-in-gen": "def f(x):\n    return [v for v in filter(lambda b: flip((b + 1) / 4), x)] == list(x)",
    "map-laziness": "def f(x):\n    log = []\n    def g(b):\n        log.append(b)\n        return b\n    for v in map(g, x):\n        if v:\n            break\n    return tuple(log)",
    "filter-mutates": "def f(x):\n    k = [0]\n    def w(b):\n        return b == k[0]\n    r = []\n    for v in filter(w, (0, 1, 0, 1)):\n        r.append(v)\n        k[0] = x[0] if flip(1/2) else 1 - x[0]\n    return tuple(r)",
    "dict-mutate-alias": "def f(x):\n    d = {0: [0], 1: [1]}\n    e = d[x[0]]\n    e.append(7)\n    d[x[1]] = e\n    d[0].append(3)\n    return {k: tuple(v) for k, v in d.items()}",
    "dict-loop-break": "def f(x):\n    d = {}\n    for b in x:\n        if flip(1/3):\n            d[b] = 1\n            break\n        d[2] = b\n    else:\n        d[b] = 5\n    return tuple(d.items())",
    "dict-pop-order": "def f(x):\n    d = {0: 1, 1: 2, 2: 3}\n    d.pop(x[0])\n    d[x[1]] = 9\n    return tuple(d)",
    "dict-bool-keys": "def f(x):\n    d = {True: 'a', 0: 'b'}\n    d[x[0]] = 'c'\n    return tuple(d.values()), len(d)",
    "dict-none-keys": "def f(x):\n    d = {None: 1, 'a': 2}\n    k = None if x[0] else 'a'\n    d[k] += flip(1/2)\n    return d[None], d['a'], d.get('zz')",
    "dict-unhash": "def f(x):\n    d = {}\n    d[[1]] = 2\n    return 1",
    "set-alias": "def f(x):\n    s = {0}\n    t = s if flip(1/2) else {5}\n    t.add(x[0])\n    t |= {9}\n    return s, t",
    "set-frozen-aug": "def f(x):\n    s = frozenset({0})\n    t = s\n    s |= {x[0]}\n    return s, t",
    "set-tuples": "def f(x):\n    s = {(x[0], flip(1/2)), (x[1], True)}\n    return len(s), (0, 1) in s, s",
    "set-in-loop": "def f(x):\n    seen = set()\n    n = 0\n    for b in x:\n        if b in seen:\n            n += 1\n            continue\n        if flip(1/2):\n            seen.add(b)\n    return n, seen",
    "slice-grow": "def f(x):\n    a = [0, 1]\n    for b in x:\n        a[b:b] = [7, flip(1/2)]\n    return tuple(a)",
    "slice-self": "def f(x):\n    a = list(x)\n    a[1:] = a\n    a[:1] = (v for v in a if v)\n    return tuple(a)",
    "match-return": "def f(x):\n    for b in x:\n        match (b, flip(1/2)):\n            case (0, True):\n                continue\n            case (1, c) if c:\n                return 'one'\n            case (k, False):\n                break\n    else:\n        return 'end'\n    return k",
    "match-unbound": "def f(x):\n    match x[0]:\n        case 1 as k:\n            pass\n    return k",
    "match-str": "def f(x):\n    match 'ab' if x[0] else ('a', 'b'):\n        case [a, b]:\n            return 1\n        case 'ab':\n            return 2",
    "match-list-grow": "def f(x):\n    a = [b for b in x]\n    match a:\n        case [p, q] if p > q:\n            return p\n        case [p, *_]:\n            return -p",
    "round-neg": "def f(x):\n    return round((x[0] - 1) / 2), round(-x[0] * 5 / 2), round(15 + x[0], -1)",
    "accum-draw": "def f(x):\n    return tuple(itertools.accumulate(x, lambda a, b: a + b if flip(1/2) else a))",
    "reduce-draw": "def f(x):\n    return functools.reduce(lambda a, b: (a, b) if flip(1/3) else b, x)",
    "perm-index": "def f(x):\n    return choice(list(itertools.permutations((0, 1, x[0]))))",
    "fold-fail": "def f(x):\n    return math.sqrt(-1) if x[0] else 2",
    "fold-dict": "def f(x):\n    return math.dist((0, 0), (3, 4)) + x[0]",
    "isqrt": "def f(x):\n    return math.isqrt(x[0] * 5), math.factorial(x[1])",
    "min-default-set": "def f(x):\n    s = {b for b in x if b}\n    return min(s, default=7)",
    "any-set": "def f(x):\n    return any({b for b in x}), all(v for v in sorted({*x})), sum({*x}, 10)",
    "nonlocal-dict": "def f(x):\n    d = {}\n    def g(b):\n        d[b] = len(d)\n        return d[b]\n    return tuple(g(b) for b in (*x, 2)), d",
    "while-dict": "def f(x):\n    d = {0: x[0]}\n    while len(d) < 3:\n        d[len(d)] = flip(1/2)\n        if d[len(d) - 1]:\n            break\n    else:\n        d[9] = 1\n    return d",
    "while-set": "def f(x):\n    s, k = set(), 0\n    while len(s) < 2 and k < 3:\n        s.add(x[k % 2] + k * flip(1/2))\n        k += 1\n    return s",
    "dict-eq-order": "def f(x):\n    a, b = {0: 1}, {1: x[0]}\n    a[1] = 1\n    b[0] = 1\n    return a == b, [a] == [b], (a,) in [(b,)]",
    "setdefault-list": "def f(x):\n    d = {}\n    for at, b in enumerate(x):\n        d.setdefault(b, []).append(at)\n    return {k: tuple(v) for k, v in d.items()}",
}

FAILING = {"dict-mutate-alias", "dict-unhash", "match-unbound", "fold-fail"}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_corners_have_the_law_of_the_interpreter(name: str) -> None:
    with module_of("import functools\nimport itertools\n" + PROGRAMS[name] + "\n") as module:
        seen = assert_agreement(bind(module, Int(0, 2), 2), ("cudd",))
    assert (seen.failing > 0) == (name in FAILING)
