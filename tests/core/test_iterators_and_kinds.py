"""Iterators that classes are, generators that return, and exceptions of values of several classes."""

from __future__ import annotations

import pytest

from agreement import assert_agreement, bind, module_of
from tightdp.language.domains import Bit

CLASSES = """
import collections.abc
import copy
import itertools
import types


class Count:
    def __init__(self, low, high): self.at, self.high = low, high
    def __iter__(self): return self
    def __next__(self):
        if self.at >= self.high: raise StopIteration
        self.at += 1
        return self.at - 1


class Bag:
    def __init__(self, items): self.items = items
    def __getitem__(self, at): return self.items[at]


class Marks(collections.abc.MutableMapping):
    def __init__(self, of): self.of = of
    def __getitem__(self, key): return self.of[key]
    def __setitem__(self, key, value): self.of[key] = value
    def __delitem__(self, key): del self.of[key]
    def __iter__(self): return iter(self.of)
    def __len__(self): return len(self.of)


class Line(collections.abc.Sequence):
    def __init__(self, items): self.items = items
    def __getitem__(self, at): return self.items[at]
    def __len__(self): return len(self.items)


class Rows(collections.UserList):
    def last(self): return self[-1]


class Alone:
    def __init__(self, v): self.v = v


class Asked:
    def __init__(self, log): self.log = log
    def __iter__(self):
        self.log.append("asked")
        return iter([1, 2])


def longer(v):
    v += 1


def put(v):
    some = [1, 2, 3]
    some[v] = 1


"""
ACTIONS = [
    "int(v)", "v // 0", "2 / v", "f'{v:d}'", "f'{v:s}'", "longer(v)", "put(v)", "iter(v)", "(w for w in v)", "v[0:1]",
    "sorted([1, 2], reverse=v)", "[4, 5][v]", "Fraction(v)", "v % 2", "-v", "v < 2",
]  # fmt: skip
VALUES = "[1, None, 'a', '7', (2,), 0]", "[True, None]", "[{1: 2}, {}]", "['a', 'b1']"
PROGRAMS = {
    "an iterator": """
        c = Count(x[0], 2 + randint(0, 1))
        first, odd = next(c), [v for v in c if v % 2]
        last = next(c, "end")
        try:
            next(c)
        except StopIteration:
            last += "!"
        for v in Count(0, 5):
            if v == 1: break
        return first, tuple(odd), last, sum(Count(0, 3)), max(Count(1, 3)), v, 2 in Count(0, 3)
    """,
    "no iterators": """
        bag, alone = Bag([1, x[0]]), Alone(2)
        def raised(action):
            try:
                return tuple(action())
            except TypeError:
                return "TypeError"
        met = [raised(lambda: next(bag)), raised(lambda: next(alone, 3)), raised(lambda: reversed(alone))]
        met += [raised(lambda: (1 for v in alone)), raised(lambda: reversed(bag)), raised(lambda: iter(alone))]
        return tuple(met), flip("1/3")
    """,
    "asked when it is begun": """
        log = []
        later = (v + 1 for v in Asked(log))
        log.append("made")
        if x[0]: log.append(sum(later))
        return tuple(log), flip("1/3")
    """,
    "by index": """
        bag = Bag([*x, randint(0, 1)] + ([7] if flip("1/2") else []))
        n = 0
        for v in bag:
            if v == 7: break
            n += v
        first, *rest = bag
        return n, sum(bag), max(bag), 7 in bag, first, len(rest), sorted(bag)[0], tuple(reversed([*bag]))
    """,
    "several of one iterator": """
        it, other, out = iter([*x, 5]), iter("abc"), []
        if flip("1/2"): next(it)
        pairs = tuple(zip(it, it)), next(it, "none")
        while chunk := tuple(itertools.islice(other, 2)): out.append(chunk)
        return pairs, tuple(out), next(other, "end"), next(iter("ab"[x[0]:]))
    """,
    "one that ends once": """
        some, out = [x[0]], []
        live = iter(some)
        some.append(3)
        while True:
            try: out.append(next(live))
            except StopIteration: break
        some.append(4)
        counts = Count(0, 3)
        return tuple(out), next(live, "end"), tuple(zip([1], counts)), tuple(counts), tuple(zip(counts, x)), flip("1/3")
    """,
    "which iterator ends first": """
        c, d = Count(0, x[0] + randint(0, 2)), Count(5, 6 + x[1])
        return tuple(zip(c, d)), next(c, "c"), next(d, "d"), tuple((i, v) for i, v in enumerate(Count(0, x[0])))
    """,
    "copies of all that is inside": """
        class_, bag = Alone([x[0]]), Bag([Alone(1)])
        bag.items.append(bag)
        deep, flat = copy.deepcopy(bag), copy.copy(bag)
        deep.items[0].v += 1
        again = copy.deepcopy(class_ if flip("1/3") else bag.items[0])
        again.new = copy.deepcopy(collections.deque([[1]]))
        again.new[0].append(2)
        rows = collections.deque([[1]])
        turned = copy.deepcopy(rows)
        turned[0].append(x[0])
        return deep.items[0].v, flat.items[0].v, deep.items[1] is deep, again.v == [x[0]], len(rows[0]), len(turned[0])
    """,
    "iterators that end": """
        def endless(items):
            while True: yield next(items)
        def raised(action):
            try:
                return tuple(action())
            except (StopIteration, RuntimeError) as error:
                return "R" if isinstance(error, RuntimeError) else "S"
            except ValueError:
                return "V"
        def two(items):
            a, b = items
            return b, a
        def read(items):
            for v in more(1):
                yield_ = next(items) + v
            return (yield_,)
        def more(n):
            for v in range(n + 1): yield v
        ended, many = iter([x[0]] * randint(0, 2)), iter([1, x[1], 3, 4])
        met = [raised(lambda: endless(iter([1, x[0]]))), raised(lambda: (next(ended) for _ in range(1)))]
        met += [raised(lambda: two(many)), raised(lambda: [next(ended) for _ in range(1)]), raised(lambda: read(ended))]
        return tuple(met), tuple(many)
    """,
    "generators that return": """
        def some(n):
            def more(v): return v + 1
            for i in range(n): yield more(i)
            return 5
        def others():
            yield from some(1)
            if flip("1/2"): return "early"
            yield 9
        return tuple(some(x[0])), tuple(others())
    """,
    "what classes iterators are of": """
        def some():
            yield 1
        things = some(), zip(x), enumerate(x), map(abs, x), iter(x), Count(0, 1), (v for v in x), x
        kinds = collections.abc.Iterator, collections.abc.Iterable, (int, list), collections.abc.Sized
        found = tuple([tuple([isinstance(each, kind) for kind in kinds]) for each in things])
        known = isinstance(things[0], types.GeneratorType), isinstance(things[1], zip), type(things[2]) is enumerate
        asked = tuple([hasattr(each, "__next__") for each in things]), hasattr(things[0], "send"), callable([].append)
        return found, known, asked, randint(0, 1)
    """,
    "one of several at once": """
        some = [x[0] ^ flip("1/4"), x[1]]
        numbered, beside = enumerate(some, x[0]), zip(some, "abc")
        if some[0]:
            next(numbered)
        some.append(4)
        first = next(beside, None)
        some[-1] = 7
        return next(numbered), [a for a, b in beside][-1], tuple(numbered), first, tuple(beside)
    """,
    "one iterator twice": """
        it = iter(x + (1, 0, 1))
        both = zip(it, it, "abc")
        first, other = next(both), next(it)
        return first, other, next(both, 0), (1, 0, "c") in both, next(it, 9), flip("1/3")
    """,
    "what is written inside Python": """
        marks = Marks({0: x[0], 1: randint(0, 1)})
        return marks.get(1), marks.get(2, "none"), 0 in marks, marks.pop(1), len(marks), isinstance(marks, dict)
    """,
    "sequences and views of Python's own": """
        line, rows, marks = Line(x + (2,)), Rows(x), Marks({0: x[0], 1: randint(0, 1)})
        rows.append(randint(0, 1))
        rows += [3]
        found = line.index(2), line.count(1), tuple(reversed(line)), 5 in line, tuple(line)
        held = tuple(marks.items()), 1 in marks.values(), marks == {0: 0, 1: 1}
        return found, tuple(rows[1:]), len(rows), rows.last(), held
    """,
    "after the end": """
        c = Count(x[0], 2)
        both, found = zip(x, c), []
        while (pair := next(both, None)) is not None:
            found.append(pair[0] * 2 + pair[1] + flip("1/4"))
        return tuple(found), tuple(both), next(c, "none left"), isinstance(both, zip)
    """,
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_gone_through_is_that_of_plain_python(name: str) -> None:
    with module_of(f"{CLASSES}\n\ndef f(x):{PROGRAMS[name]}") as module:
        assert assert_agreement(bind(module, Bit, 2)).failing == 0


@pytest.mark.one_in(8)
@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("action", ACTIONS)
def test_exceptions_are_those_of_each_value(action: str, values: str) -> None:
    tried = "try:\n        " + f"({action})" + "\n        return 'nothing'\n"
    caught = "".join(
        f"    except {kind}:\n        return '{kind}'\n"
        for kind in ("ZeroDivisionError", "AttributeError", "IndexError", "KeyError", "TypeError", "ValueError")
    )
    with module_of(f"{CLASSES}def f(x):\n    v = choice({values})\n    {tried}{caught}") as module:
        assert assert_agreement(bind(module, Bit, 1)).failing == 0
