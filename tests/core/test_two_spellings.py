"""One meaning, several spellings: whatever Python writes in two ways is accepted in both, with the same laws."""

from __future__ import annotations

from itertools import product

import pytest

from agreement import bind, module_of
from tightdp.language import interp
from tightdp.language.domains import Int
from tightdp.session.instance import Instance

SAME = {
    "two names at once": [
        "s, out = randint(0, 1), []\nout.append(s + x[0])\nreturn (s, tuple(out))",
        "s = randint(0, 1)\nout = []\nout.append(s + x[0])\nreturn (s, tuple(out))",
        "(s, out) = [randint(0, 1), list()]\nout += [s + x[0]]\nreturn (s, tuple(out))",
        "s, *out = randint(0, 1),\nout.extend((s + x[0],))\nreturn (s, tuple(out))",
        "out: list = []\nout.append((s := randint(0, 1)) + x[0])\nreturn (s, (*out,))",
    ],
    "swapped": [
        "a, b = x[0], int(flip(1/3))\na, b = b, a\nreturn (a, b)",
        "a = x[0]\nb = int(flip(1/3))\nt = a\na = b\nb = t\nreturn (a, b)",
        "[a, b] = x[0], int(flip(1/3))\nreturn (a, b)[::-1]",
        "p = x[0], int(flip(1/3))\nreturn tuple(reversed(p))",
        "p = [x[0], int(flip(1/3))]\np[0], p[1] = p[1], p[0]\nreturn tuple(p)",
    ],
    "a list that grows": [
        "out = []\nfor v in x:\n    out.append(v ^ flip(1/3))\nreturn tuple(out)",
        "out = []\nfor v in x:\n    out += [v ^ flip(1/3)]\nreturn tuple(out)",
        "out = []\nfor v in x:\n    out = out + [v ^ flip(1/3)]\nreturn tuple(out)",
        "out = []\nfor v in x:\n    out = [*out, v ^ flip(1/3)]\nreturn tuple(out)",
        "out = []\nfor v in x:\n    out.extend([v ^ flip(1/3)])\nreturn tuple(out)",
        "out = []\nfor v in x:\n    out.insert(len(out), v ^ flip(1/3))\nreturn tuple(out)",
        "out = []\nfor v in x:\n    out[len(out):] = [v ^ flip(1/3)]\nreturn tuple(out)",
        "out = ()\nfor v in x:\n    out += (v ^ flip(1/3),)\nreturn out",
        "out = ()\nfor v in x:\n    out = out + (v ^ flip(1/3),)\nreturn out",
        "out = [0] * len(x)\nfor i in range(len(x)):\n    out[i] = x[i] ^ flip(1/3)\nreturn tuple(out)",
        "out = [None for _ in x]\nfor i, v in enumerate(x):\n    out[i] = v ^ flip(1/3)\nreturn tuple(out)",
        "return tuple(v ^ flip(1/3) for v in x)",
        "return tuple([v ^ flip(1/3) for v in x])",
        "return (*[v ^ flip(1/3) for v in x],)",
        "return tuple(map(lambda v: v ^ flip(1/3), x))",
        "def noisy(v):\n    return v ^ flip(1/3)\nreturn tuple(noisy(v) for v in x)",
        "def noisy(v, p=1/3):\n    return v ^ flip(p)\nreturn tuple(noisy(v=v) for v in x)",
        "out = []\ni = 0\nwhile i < len(x):\n    out.append(x[i] ^ flip(1/3))\n    i += 1\nreturn tuple(out)",
        "out = list(x)\nfor i in range(len(out)):\n    out[i] ^= flip(1/3)\nreturn tuple(out)",
        "def go(rest):\n    return () if not rest else (rest[0] ^ flip(1/3), *go(rest[1:]))\nreturn go(x)",
        "d = {}\nfor i, v in enumerate(x):\n    d[i] = v ^ flip(1/3)\nreturn tuple(d.values())",
        "return tuple({i: v ^ flip(1/3) for i, v in enumerate(x)}.values())",
        "return tuple([(v ^ flip(1/3)) for v, _ in zip(x, x)])",
    ],
    "a sum": [
        "s = 0\nfor v in x:\n    s += v and flip(1/3)\nreturn s",
        "s = 0\nfor v in x:\n    if v:\n        s = s + flip(1/3)\nreturn s",
        "return sum(1 for v in x if v and flip(1/3))",
        "return sum(v and flip(1/3) for v in x)",
        "return len([v for v in x if v if flip(1/3)])",
        "return sum([flip(1/3) if v else 0 for v in x])",
        "return [bool(v) and flip(1/3) for v in x].count(True)",
        "s = 0\nfor v in x:\n    if not v:\n        continue\n    s += 1 if flip(1/3) else 0\nreturn s",
        "return sum(map(lambda v: int(v and flip(1/3)), x))",
        "s = [0]\nfor v in x:\n    s[0] += v and flip(1/3)\nreturn s[0]",
        "s = (0,)\nfor v in x:\n    s = (s[0] + (v and flip(1/3)),)\nreturn s[0]",
        "d = {'s': 0}\nfor v in x:\n    d['s'] += v and flip(1/3)\nreturn d['s']",
        "s = 0\ndef add(a):\n    nonlocal s\n    s += a\nfor v in x:\n    add(v and flip(1/3))\nreturn s",
        "return len(list(filter(lambda v: v and flip(1/3), x)))",
    ],
    "the first": [
        "for i, v in enumerate(x):\n    if v and flip(1/2):\n        return i\nreturn None",
        "found = None\nfor i in range(len(x)):\n    if x[i] and flip(1/2):\n        found = i\n        break\nreturn found",  # noqa: E501
        "found = None\nfor i, v in enumerate(x):\n    if found is None and v and flip(1/2):\n        found = i\nreturn found",  # noqa: E501
        "return next((i for i, v in enumerate(x) if v and flip(1/2)), None)",
        "for i, v in enumerate(x):\n    if v and flip(1/2):\n        break\nelse:\n    return None\nreturn i",
        "i = 0\nwhile i < len(x):\n    if x[i] and flip(1/2):\n        return i\n    i += 1\nreturn None",
        "i = 0\nwhile True:\n    if i == len(x):\n        return None\n    if x[i] and flip(1/2):\n        return i\n    i += 1",  # noqa: E501
    ],
    "a set": [
        "s = {1}\nif x[0]:\n    s = {2}\nif flip(1/3):\n    s.add(x[1] + 2)\nreturn tuple(sorted(s))",
        "s = {2} if x[0] else {1}\nif flip(1/3):\n    s |= {x[1] + 2}\nreturn tuple(sorted(s))",
        "s = [1]\nif x[0]:\n    s = [2]\ns = set(s)\nif flip(1/3):\n    s = s | {x[1] + 2}\nreturn tuple(sorted(s))",
        "s = set()\ns.add(2 if x[0] else 1)\nif flip(1/3):\n    s.update([x[1] + 2])\nreturn tuple(sorted(s))",
        "s = frozenset((2 if x[0] else 1,))\nif flip(1/3):\n    s = s.union([x[1] + 2])\nreturn tuple(sorted(s))",
        "s = {1}\nif x[0]:\n    s = {2}\nif flip(1/3):\n    s = {*s, x[1] + 2}\nreturn tuple(sorted({v for v in s}))",
        "s = {1}\nif x[0]:\n    s = {2}\nif flip(1/3):\n    s = s.union({x[1] + 2})\nreturn s",
    ],
    "of a set": [
        "s = {1}\nif x[0]:\n    s = {2, 3}\nreturn (sum(s), len(s), max(s), min(s), 2 in s, 3 in s)",
        "s = [1]\nif x[0]:\n    s = [2, 3]\nreturn (sum(s), len(s), max(s), min(s), 2 in s, 3 in s)",
        "s = {2, 3} if x[0] else {1}\nt = sorted(s)\nreturn (sum(t), len(t), t[-1], t[0], 2 in t, 3 in t)",
        "s = (1,)\nif x[0]:\n    s = (2, 3)\nreturn (sum(s), len(s), s[-1], s[0], s.count(2) > 0, s[-1] > 2)",
        "s = {1: 0}\nif x[0]:\n    s = {2: 0, 3: 0}\nreturn (sum(s), len(s), max(s), min(s), 2 in s, 3 in s)",
    ],
    "a dictionary": [
        "d = {}\nfor v in x:\n    k = v + randint(0, 1)\n    d[k] = d.get(k, 0) + 1\nreturn d",
        "d = {}\nfor v in x:\n    k = v + randint(0, 1)\n    if k in d:\n        d[k] += 1\n    else:\n        d[k] = 1\nreturn d",  # noqa: E501
        "d = {}\nfor v in x:\n    d.setdefault(k := v + randint(0, 1), 0)\n    d[k] += 1\nreturn d",
        "ks = [v + randint(0, 1) for v in x]\nreturn {k: ks.count(k) for k in sorted(set(ks))}",
        "ks = [v + randint(0, 1) for v in x]\nreturn tuple(sorted((k, ks.count(k)) for k in sorted(set(ks))))",
    ],
    "retries": [
        "t = [1]\nwhile t[0] == 1:\n    t = [randint(0, 1 + x[0])]\nreturn t[0]",
        "t = [1]\nwhile t[0] == 1:\n    t[0] = randint(0, 1 + x[0])\nreturn t[0]",
        "t = (1,)\nwhile t[0] == 1:\n    t = (randint(0, 1 + x[0]),)\nreturn t[0]",
        "t = 1\nwhile t == 1:\n    t = randint(0, 1 + x[0])\nreturn t",
        "while (t := randint(0, 1 + x[0])) == 1:\n    pass\nreturn t",
        "while True:\n    t = randint(0, 1 + x[0])\n    if t != 1:\n        return t",
        "while True:\n    t = randint(0, 1 + x[0])\n    if t != 1:\n        break\nreturn t",
        "t = [[1], 0]\nwhile t[0][0] == 1:\n    t = [[randint(0, 1 + x[0])], 0]\nreturn t[0][0]",
        "s = t = [1]\nwhile s[0] == 1:\n    s = t = [5]\n    t[0] = randint(0, 1 + x[0])\nreturn t[0]",
        "s = t = [1]\nwhile s[0] == 1:\n    s = t = [0]\n    while s[0] == 0:\n        s[0] = 9\n    s[0] = randint(0, 1 + x[0])\nreturn t[0]",  # noqa: E501
        "t = []\nwhile not t or t[-1] == 1:\n    t = [randint(0, 1 + x[0])]\nreturn t.pop()",
    ],
    "chosen": [
        "return x[0] if flip(1/4) else x[1]",
        "if flip(1/4):\n    return x[0]\nreturn x[1]",
        "i = 0 if flip(1/4) else 1\nreturn x[i]",
        "return x[1 - flip(1/4)]",
        "return (x[1], x[0])[flip(1/4)]",
        "return {True: x[0], False: x[1]}[flip(1/4)]",
        "match flip(1/4):\n    case True:\n        r = x[0]\n    case _:\n        r = x[1]\nreturn r",
        "f = (lambda: x[0]) if flip(1/4) else (lambda: x[1])\nreturn f()",
        "return choice((x[0], x[1]), weights=(1, 3))",
        "a, b, *_ = x\nreturn flip(1/4) and a or not _ and b if False else (a if flip(1/4) else b)",
        "y = x\nif not flip(1/4):\n    y = x[::-1]\nreturn y[0]",
        "r = list(x)\nif flip(1/4):\n    r.pop()\nelse:\n    del r[0]\nreturn r[0]",
    ],
    "compared": [
        "c = randint(0, 2)\nreturn 0 < c <= x[0]",
        "c = randint(0, 2)\nreturn c > 0 and c <= x[0]",
        "c = randint(0, 2)\nreturn not (c <= 0 or c > x[0])",
        "c = randint(0, 2)\nreturn c in range(1, x[0] + 1)",
        "c = randint(0, 2)\nreturn all((c > 0, c <= x[0]))",
        "c = randint(0, 2)\nreturn any(c == k for k in range(1, x[0] + 1))",
        "c = randint(0, 2)\nreturn bool((c > 0) * (c <= x[0]))",
        "c = randint(0, 2)\nreturn min(c > 0, c <= x[0])",
        "c = randint(0, 2)\nreturn (c > 0) & (c <= x[0])",
    ],
    "a quotient of noise on all integers": [
        "z = geometric(x[0], 1/2)\nreturn z / -2 > 5, max(z / -3, -1)",
        "z = geometric(x[0], 1/2)\nreturn Fraction(z, -2) > 5, max(Fraction(z, -3), -1)",
    ],
    "noise on all integers": [
        "z = geometric(x[0], 1/2)\nreturn (z > 1, z == 0)",
        "z = x[0] + geometric(0, 1/2)\nreturn (z > 1, not z)",
        "z = geometric(0, 1/2)\nz += x[0]\nreturn (z >= 2, z in (0,))",
        "z = geometric(x[0], 1/2)\nreturn (max(z, 1) != 1, -1 < z < 1)",
        "z = [geometric(x[0], 1/2)]\nreturn (2 * z[0] > 3, z[0] + 1 == 1)",
        "z, w = geometric(x[0], 1/2), 1\nreturn (z - w > 0, abs(z) == 0)",
        "z = geometric(x[0], 1/2)\nreturn (z / 2 > 1/2, z / 2 == 0)",
        "z = -geometric(-x[0], 1/2)\nreturn (z > 1, z * z == 0 if False else z == 0)",
        "z = geometric(x[0], 1/2)\nreturn (sorted([z, 1])[1] > 1, min(max(z, -1), 1) == 0)",
    ],
}  # fmt: skip
"""Bodies of a mechanism on two records of 0..1 that say the same."""


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", SAME)
def test_spellings_have_the_same_laws(name: str) -> None:
    first: dict[object, object] = {}
    for body in SAME[name]:
        source = "def f(x):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
        with module_of(source) as module:
            bound = bind(module, Int(0, 1), 2)
            for x in product((0, 1), repeat=2):
                found = Instance(bound).distribution(x)
                assert found.status == "exact", body
                law = dict(found.law)
                assert law == first.setdefault(x, law), (body, x)
                if name != "retries" and "noise on all integers" not in name:
                    assert law == interp.law(bound, x), (body, x)
