"""Operators that classes leave to others, objects that stand for integers, and what calls and assignments store."""

from __future__ import annotations

import pytest

from agreement import assert_agreement, bind, module_of
from tightdp import mechanism
from tightdp.errors import TightdpError
from tightdp.language.domains import Bit

CLASSES = """
import collections
import functools
import itertools
from collections import deque
from dataclasses import dataclass


class Money:
    def __init__(self, v): self.v = v
    def __add__(self, o):
        if isinstance(o, Money): return Money(self.v + o.v)
        return Money(self.v + o) if isinstance(o, int) else NotImplemented
    __radd__ = __add__
    def __iadd__(self, o):
        if o == 0: return NotImplemented
        self.v += 10
        return self
    def __eq__(self, o): return self.v == o.v if isinstance(o, Money) else NotImplemented
    def __lt__(self, o): return self.v < o.v if isinstance(o, Money) else NotImplemented
    def __gt__(self, o): return NotImplemented


class Rest:
    def __radd__(self, o): return "rest"
    def __gt__(self, o): return "above"
    def __eq__(self, o): return "alike"


@dataclass(order=True)
class Dated:
    v: int


@functools.total_ordering
class Ranked:
    def __init__(self, v): self.v = v
    def __lt__(self, o): return self.v < o.v
    def __eq__(self, o): return self.v == o.v


class Place:
    def __init__(self, at): self.at = at
    def __index__(self): return self.at


class Times(Place):
    def __rmul__(self, o): return "times"


class Plain:
    def __init__(self, v): self.v = v
    def __lshift__(self, o): return "left"
    def __rlshift__(self, o): return "right"
    def __eq__(self, o): return None if self.v else [o]
    def __rpow__(self, o): return "power"
    def __ror__(self, o): return "or"


class Wary:
    def __init__(self, v, log): self.v, self.log = v, log
    def __eq__(self, o):
        self.log.append((self.v, o.v))
        if self.v == 2: raise TypeError
        return self.v == o.v


class Inheriting(Plain): pass


class Overriding(Plain):
    def __rlshift__(self, o): return "own"


class Held: pass


class Slim:
    __slots__ = ("a", "b")
    def __init__(self, a): self.a = a


class Both(Held):
    def __init__(self, a, b): self.a, self.b = a, b
    def __lt__(self, o): return self.a < o.a and self.b < o.b


class Choosy(Ranked):
    def __lt__(self, o):
        if self.v == 2 and o.v == 0: raise TypeError
        return self.v < o.v


def setting(slim): slim.c = 1


def lacking(action):
    try:
        return action()
    except AttributeError:
        return "AttributeError"


def positional(a, /, b=1, **more): return a, b, tuple(sorted(more.items()))


def attempt(action, *arguments, **named):
    try:
        return action(*arguments, **named)
    except TypeError:
        return "TypeError"

"""
PROGRAMS = {
    "arithmetic": """
        a, b = Money(x[0]) + 1, sum([Money(1), Money(randint(0, 1))])
        c = d = a
        c += x[-1]
        return a.v, b.v, c.v, c is d, Money(1) + Rest(), attempt(lambda: a + "s"), a == b, a == 3, Money(1) in [1, b]
    """,
    "order": """
        a, b = Money(x[0]), Money(randint(0, 1))
        pairs = (a, b), (b, a), (a, 1), (1, b), (a, Rest())
        below = [attempt(lambda: p < q) for p, q in pairs]
        return tuple(below), tuple([attempt(lambda: p > q) for p, q in pairs[:-1]])
    """,
    "dataclass and another": """
        a = Dated(x[0] + randint(0, 1))
        return attempt(lambda: a < 3), a < Rest(), a == Rest(), a == 1, Dated(1) <= a, a != Rest()
    """,
    "total_ordering": """
        a, b = Ranked(x[0] + randint(0, 1)), Ranked(1)
        return a <= b, a >= b, a > b, a != b, max([a, b]) == b
    """,
    "reflected methods that are inherited": """
        a, b, c = Plain(x[0]), Inheriting(1), Overriding(randint(0, 1))
        return a << b, a << c, b << a, c << a, c << b, b << b, {1: 2} ** a, {1} ** a, [1] ** b
    """,
    "what is true of ==": """
        a, b, c = Plain(x[0]), Plain(randint(0, 1)), Plain(1)
        inside = a in [b, c], c in (a, c), a not in [b], (a, 1) == (b, 1), [a, b].count(c), a != b, 3 != b
        return inside, a in iter([b]), attempt(lambda: (a, 1) < (b, 2)), bool(a == b), [c, b, a].index(b)
    """,
    "compared until it is known": """
        log = []
        a, b, c = Wary(x[0], log), Wary(randint(0, 1), log), Wary(2, log)
        found = [attempt(lambda: a in [b, c]), attempt(lambda: (a, c) == (b, a)), attempt(lambda: c in (a, b, a))]
        return tuple(found), tuple(log)
    """,
    "in place": """
        some, few = [1], {1}
        kept = some
        few |= Plain(x[0])
        some *= Times(2)
        kept *= Place(randint(0, 2))
        i = Place(1)
        def repeated():
            nonlocal i
            i *= [1]
        return few, some, tuple(kept), attempt(repeated)
    """,
    "repeated": """
        i = Place(x[0] + randint(0, 1))
        some, text = [1], "ab"
        some *= i
        text *= i
        more = tuple([7] * i), i * (1, 2), choice(["a", "bc"]) * i
        return more, [1] * Times(2), tuple(some), text, attempt(lambda: i * 2), attempt(lambda: i * [0][0])
    """,
    "places": """
        i = Place(x[0] + randint(0, 1))
        some = [1, 2, 3, 4]
        some.insert(i, 9)
        some[i] += 1
        last, turned = some.pop(i), deque(some)
        turned.rotate(i)
        del some[i]
        some[i:i] = [5]
        return tuple(some), last, tuple(turned), (1, 2, 3)[i:], "abc"[:i], tuple(range(i)), tuple(range(0, 4, Place(2)))
    """,
    "counts": """
        i = Place(x[0] + randint(0, 1))
        few = tuple(itertools.combinations("abc", i)), len(tuple(itertools.product((0, 1), repeat=i)))
        return few, int(i), bin(i), math.comb(3, i), math.floor(i), attempt(lambda: pow(2, i)), attempt(abs, i)
    """,
    "positional only": """
        def own(a, b=1, /, c=2): return a, b, c
        named = [attempt(own, 0, b=1), attempt(own, 0, c=4), attempt(own, a=1), attempt(positional, a=1)]
        return tuple(named), positional(x[0], a=2, b=flip("1/3"))
    """,
    "until a value": """
        some, met = [1, 2, 0, 3], []
        def roll():
            met.append(0)
            return randint(0, 2) if len(met) < 3 else x[0]
        return tuple(iter(some.pop, 2)), len(some), tuple(iter(roll, x[0])), next(iter(x))
    """,
    "slots": """
        slim = Slim(x[0])
        met = [lacking(lambda: setting(slim)), lacking(lambda: slim.b)]
        slim.b = randint(0, 1)
        return tuple(met), slim.a, slim.b
    """,
    "None has no attributes": """
        some = Slim(None)
        if x[0] and flip("1/2"):
            some.a = Slim(2)
        text = {0: "a"}.get(x[-1])
        found = some.a.a if some.a else 0, text.upper() if text is not None else "none"
        return found, lacking(lambda: some.a.a), lacking(lambda: text.upper()), lacking(lambda: x[0].walk())
    """,
    "slices and Counters": """
        text, i, counts = choice(["abc", "hello"]), x[0] + randint(-1, 2), collections.Counter(x)
        parts = text[i:], text[:i], text[:: i or 1], tuple(range(5)[i : i + 2])
        del counts[0]
        return parts, len(counts), counts[0]
    """,
    "a list inside of a pattern": """
        d = 0
        (d, e), g = ([1, x[0]], 1)
        return d
    """,
    "an element and a name": """
        some, held = [0], Held()
        held.v = 0
        some[0], g = 5, 1
        held.v = g = 1
        g, held.v = 2, 3
        return some[0] + x[0], held.v
    """,
    "sorted by what a class says": """
        some = [Ranked(v + randint(0, 1)) for v in x] + [Ranked(1), Ranked(3)][: 1 + x[0]]
        few = sorted(enumerate(some), key=lambda item: item[1], reverse=True)
        sets = sorted([{1}, set(), {1, 2}, set(x[:1])][: 3 + x[0]])
        return tuple([at for at, _ in few]), tuple([v.v for v in sorted(some)]), tuple([len(each) for each in sets])
    """,
    "a draw and a name": """
        d = 0
        g, (d, e) = 1, choice([(1, 2), (3, 4)])
        for _ in range(2):
            [d, e], g = (x[0] + d, 1), 1
        return d
    """,
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_laws_are_those_of_plain_python(name: str) -> None:
    with module_of(f"{CLASSES}\n\ndef f(x):{PROGRAMS[name]}") as module:
        assert assert_agreement(bind(module, Bit, 2)).failing == 0


NO_ORDERS = {
    "both ways": ("tuple(sorted(x, key=functools.cmp_to_key(lambda a, b: 1 if a > b else -1)))", "no order"),
    "in part": ("sorted([Both(0, 1), Both(x[0], 0), Both(1, 1)])[0].a", "no order"),
    "in part, and drawn": ("sorted([Both(0, 1), Both(randint(0, 1), 0), Both(1, 1)])[0].a", "no order"),
    "sets": ("len(sorted([{0, 1}, {2, x[0]}, {0}])[0])", "no order"),
    "the smallest": ("heapq.nsmallest(1, [Both(0, 1), Both(0, 0), Both(1, 1)])[0].a", "without __eq__"),
    "what raises": ("attempt(lambda: len(sorted([Choosy(2), Choosy(1), Choosy(x[0])])))", "may raise"),
}


@pytest.mark.parametrize("name", NO_ORDERS)
def test_what_is_no_order_does_not_sort(name: str) -> None:
    source, message = NO_ORDERS[name]
    with (
        module_of(f"{CLASSES}\nimport heapq\n\ndef f(x):\n    return {source}") as module,
        pytest.raises(TightdpError, match=message),
    ):
        mechanism(record=Bit)(module.f).bind(n=2).privacy()
