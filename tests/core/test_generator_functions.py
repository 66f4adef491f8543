"""Functions with `yield`: what they give is made as it is gone through, and what nobody asks for is not executed."""

from __future__ import annotations

import pytest

from agreement import assert_agreement, module_of
from tightdp import ALL, Bit, mechanism
from tightdp.errors import LanguageError, TightdpError
from tightdp.language.program import Program

HEAD = """\
from itertools import accumulate, chain, groupby, islice, pairwise, takewhile

from tightdp import choice, flip, observe, randint


class Tree:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        for b in self.x:
            if flip("1/2"):
                continue
            yield b
            if flip("1/4"):
                return


class Counting:
    # counts how many of its items have been made

    def __init__(self, x):
        self.x = x
        self.made = 0

    def send(self, b):
        self.made += 1
        return b ^ flip("1/3")

    def __iter__(self):
        for b in self.x:
            yield self.send(b)


def noisy(x):
    for b in x:
        yield b ^ flip("1/4")


"""

_STOPS = """
t = Counting(x)
{}
return found, t.made"""

BODIES = {
    "any-stops": _STOPS.format("found = any(t), all(map(t.send, x)), any(filter(t.send, x))"),
    "in-stops": _STOPS.format("found = 1 in t, 1 in map(t.send, x), 0 in (t.send(b) for b in x)"),
    "chain-stops": _STOPS.format("found = next((v for v in chain(t, (t.send(b) for b in x)) if v), 2)"),
    "accumulate-stops": _STOPS.format("found = any(v > 1 for v in accumulate(t, initial=1))"),
    "accumulate-with-a-function-stops": _STOPS.format("found = 2 in accumulate(t, lambda a, b: a + b)"),
    "pairwise-stops": _STOPS.format("found = (1, 0) in pairwise([*x, *x]), any(a for a, b in pairwise(t))"),
    "all-at-once": "return tuple(noisy(x)), sum(noisy(x)), sorted(noisy(x))[-1]",
    "of-an-object": "return tuple([v for v in Tree(x)]), sum(Tree(x)), max([*Tree(x)], default=-1)",
    "next": "return next((i for i, b in enumerate([*noisy(x)]) if b), None), next(noisy(x))",
    "slice": "return tuple(islice(noisy(x), 1)), sum(islice(x, 1, None)), list(islice((1, 2, 3, 4), 0, 3, 2))[x[0]]",
    "prefix": "return len(list(takewhile(lambda v: v == 0, noisy(x))))",
    "nested": """
def tree(lo, hi):
    if hi - lo == 1:
        yield x[lo] ^ flip("1/3")
        return
    mid = (lo + hi) // 2
    yield from tree(lo, mid)
    yield from tree(mid, hi)
    yield sum(x[lo:hi]) + choice((0, 1))
return tuple(tree(0, len(x)))""",
    "left-early": """
seen = []
def walk():
    for b in x:
        seen.append("d")
        yield b ^ flip("1/3")
        seen.append("a")
    seen.append("e")
for v in walk():
    if v:
        break
    seen.append("b")
else:
    seen.append("n")
return "".join(seen)""",
    "endless": """
def coins(p):
    k = 0
    while True:
        yield k, flip(p)
        k += 1
total = 0
for k, c in coins("1/2"):
    if k >= len(x):
        return total, k
    total += c and x[k]""",
    "observes-later": """
def walk():
    yield flip("1/3")
    observe(x[0] == 0 or flip("1/2"))
    yield 1 // x[1] if x[1] else flip("1/4")
return "first" if any(walk()) else "none" """,
    "raises-in-the-loop": """
def walk():
    for b in x:
        yield 1 // (b + flip("1/2"))
total = 0
try:
    for v in walk():
        total += v
except ZeroDivisionError:
    total += 10
return total""",
}


def _source(body: str) -> str:
    return HEAD + "def f(x):\n    " + body.replace("\n", "\n    ").strip() + "\n"


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", BODIES)
def test_a_function_with_yield_means_what_the_interpreter_runs(name: str) -> None:
    with module_of(_source(BODIES[name])) as module:
        assert assert_agreement(Program(module.f, Bit).bind(2), ("cudd",)).failing == 0


REFUSED = {
    "groupby of what changes": "t = Counting(x)\nfor k, g in groupby(t):\n    break\nreturn t.made",
    "returned a generator": "yield x[0]",
    "the value of yield from": "def g():\n    y = yield from x\n    yield y\nreturn sum(g())",
    "inside try": "def g():\n    try:\n        yield 1 // x[0]\n    finally:\n        pass\nreturn sum(g())",
    "iterated over twice": "g = noisy(x)\nreturn sum(g) + sum(g)",
    "is gone through for long": "def g():\n    while True:\n        yield flip('1/2')\nall(g())\nreturn 0",
    "in a lambda": "g = lambda: (yield 1)\nreturn sum(g())",
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_followed_is_refused(what: str) -> None:
    with module_of(_source(REFUSED[what])) as module, pytest.raises(TightdpError, match=what) as caught:
        mechanism(record=Bit)(module.f).bind(n=2).privacy()
    assert caught.value.hint


def test_n_all_asks_for_a_list() -> None:
    with (
        module_of(_source("return tuple(noisy(x))")) as module,
        pytest.raises(LanguageError, match="every n") as caught,
    ):
        mechanism(record=Bit)(module.f).bind(n=ALL).privacy()
    assert "list" in caught.value.hint
