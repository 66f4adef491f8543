# ruff: noqa: E501
"""Programs that break compilers: random primitives, observe, failures that are not reached, domains, parameters. Each is compared with the interpreter on every dataset."""

from __future__ import annotations

from fractions import Fraction

import pytest

from handwritten import Nasty
from tightdp.language.domains import Bit, Bits, Int, Tuple, Values

PROGRAMS = [
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
    Nasty(
        "shuffle-of-parts",
        "def f(x):\n    y = shuffle([((b, 0), flip(1/3)) if flip(1/2) else None if b else ((b,), 'x') for b in x])\n    return y, y[0]",
        Bit,
        2,
    ),
    Nasty(
        "sets-as-records",
        "def f(x):\n    a, b = x\n    return len(a), sorted(a | b)[:1] == [1], a < b, 1 in b, tuple(sorted(a)), sum(v for v in sorted(a) if flip(1/3))",
        Values(frozenset(), frozenset({1}), frozenset({1, 2})),
    ),
    Nasty(
        "shuffle-of-truths-and-numbers",
        "def f(x):\n    return shuffle([(True, 1) if b else (1, True) for b in x])",
        Bit,
        2,
    ),
    Nasty("shuffle-of-lists", "def f(x):\n    return tuple(map(tuple, shuffle([[b, flip(1/3)] for b in x])))", Bit, 2),
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


@pytest.mark.one_in(8)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_program_means_what_the_interpreter_says(program: Nasty) -> None:
    program.check()


def test_names_are_distinct() -> None:
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS)
