"""Counters, default dictionaries, enumerations, operators of classes, and functions of Python's library."""

from __future__ import annotations

import pytest

from agreement import assert_agreement, module_of
from tightdp import Bit, mechanism
from tightdp.errors import ProgramError, TightdpError
from tightdp.language.program import Program

HEAD = """\
import bisect
import copy
import heapq
import operator
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field, replace
from enum import Enum, IntEnum
from functools import partial
from itertools import chain, compress, dropwhile, filterfalse, groupby, repeat, starmap, zip_longest

from tightdp import flip


FOUND = Counter("aab")
SEEN = defaultdict(list, {0: [4]})


class Op(Enum):
    KEEP = 0
    DROP = 1

    @property
    def cost(self):
        return 3 * self.value + 1


class Text(str, Enum):
    YES = "y"
    NO = "n"


class Money:
    def __init__(self, v):
        self.v = v

    def __add__(self, other):
        return Money(self.v + (other.v if isinstance(other, Money) else other))

    def __radd__(self, other):
        return Money(self.v + 10 * other)

    def __rsub__(self, other):
        return other - 5 * self.v

    def __neg__(self):
        return Money(-self.v)

    def __lt__(self, other):
        return self.v < other.v

    def __eq__(self, other):
        return isinstance(other, Money) and self.v == other.v

    def __len__(self):
        return self.v


class Rich(Money):
    def __radd__(self, other):
        return "rich"

    def __bool__(self):
        return True


class Mixed(int, Enum):
    ONE = 1


class Level(IntEnum):
    LOW = 1


class Five(int):
    def __add__(self, other):
        return Five((int(self) + other) % 5)


class Letters(str):
    def __len__(self):
        return 26


class Place:
    def __init__(self, at):
        self.at = at

    def __index__(self):
        return self.at

    def __add__(self, other):
        return 10 * self.at + other


class Words(str):
    pass


FIVE, LETTERS, PLACE, QUEUE, WORDS = Five(3), Letters("ab"), Place(3), deque([1]), Words("ab")


class Different:
    def __ne__(self, other):
        return "never"


class Odd:
    def __eq__(self, other):
        return NotImplemented


@dataclass(order=True)
class Item:
    score: int
    name: str = field(compare=False, default="")


class Stack:
    def __init__(self, items=()):
        self.items = list(items)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, at):
        return self.items[at]

    def __setitem__(self, at, value):
        self.items[at] = value

    def __iter__(self):
        return iter(self.items)

    def __iadd__(self, value):
        self.items.append(value)
        return self


def stacked(ys):
    s = t = Stack()
    for b in ys:
        s += b
    t[0] = 7
    return len(s), s[1], 1 in s, tuple(s), sum(t), bool(Stack())


def counted(ys):
    c = Counter(a=1)
    c.update(["b" if b else "a" for b in ys])
    c.subtract({"a": 1})
    d = c.copy()
    d["z"] += 2
    c += Counter(["q"])
    return c, d["z"], c["z"], d["y"], d.get("y"), len(d)


def grouped(ys):
    d = defaultdict(lambda: defaultdict(int))
    for i, b in enumerate(ys):
        d[b][i] += 1
    return d[0][0], len(d), d.get(7), 5 in d


def by_member(ys):
    d = {each: 0 for each in Op}
    for b in ys:
        d[Op(b)] += 1
    return d[Op.KEEP], len({Op(b) for b in ys}), max(d, key=d.get).name


def heaped(ys):
    heap, line = [3, 1, 2], []
    heapq.heapify(heap)
    for b in ys:
        heapq.heappush(heap, b) if flip("1/3") else heapq.heappushpop(heap, 2 * b)
        bisect.insort(line, (b, len(line)), key=lambda pair: pair[0])
    return tuple(heap), heapq.heapreplace(heap, ys[0]), heapq.heappop(heap), tuple(heap), tuple(line)


def copied(ys):
    row = [ys[0]]
    rows = [row, row, [5]] if flip("1/2") else [row, [6], [5]]
    flat, deep = copy.copy(rows), copy.deepcopy(rows)
    flat[0].append(7)
    deep[0].append(ys[1])
    return rows, flat, deep, copy.deepcopy((1, {0: row}))[1][0] is row


def of_module(ys):
    SEEN[ys[0]].append(1)
    return FOUND["a"] + FOUND["z"], len(SEEN), len(SEEN[0]), FOUND.most_common(1)[0]


def f(x):
    ys = [b ^ flip("1/4") for b in x]
    return RESULT
"""

BODIES = {
    "counter": "counted(ys)",
    "counter-order": "tuple(Counter(ys).most_common()), tuple(Counter(ys)), Counter(ys).most_common(1)[0]",
    "counter-parts": "Counter(ys).total(), tuple(Counter(ys).elements()), max(Counter(ys).values())",
    "counter-operators": "Counter(ys) - Counter([1]), Counter(ys) | Counter([1, 1]), Counter(ys) & Counter([0])",
    "counter-dict": "dict(Counter(ys)) == {0: 1, 1: 1}, Counter(ys) == {0: 2}",
    "defaultdict": "grouped(ys)",
    "groupby": "tuple((k, tuple(g)) for k, g in groupby([*ys, 1, 1, 0]))",
    "groupby-stale": "tuple(tuple(g) for k, g in list(groupby([*ys, 1])))",
    "groupby-key": "tuple(next(g)[1] for k, g in groupby([(b, i) for i, b in enumerate(ys)], operator.itemgetter(0)))",
    "groupby-longest": "max(sum(1 for _ in g) for k, g in groupby([*ys, 1]) if k == 1)",
    "chain": "tuple(chain.from_iterable((b, 2) for b in ys)), tuple(zip_longest(ys, 'abc', fillvalue=0))",
    "starmap": "tuple(starmap(operator.add, zip(ys, (1, 2)))), tuple(compress('ab', ys))",
    "filters": "tuple(dropwhile(lambda b: not b, [*ys, 0])), tuple(filterfalse(None, ys)), next(filter(None, ys), 3)",
    "partial": "sum(repeat(ys[0], 3)), partial(lambda a, b, c=0: (a, b, c), 1, c=5)(ys[0]), next(iter(ys))",
    "text": "''.join(chr(ord('a') + b) for b in ys), int(''.join(map(str, ys)), 2), hex(9 + ys[0])",
    "member": "Op(ys[0]).value == 1, Op(ys[1]).cost, (Text.YES if ys[0] else Text.NO).value, Text.YES == 'y'",
    "members": "by_member(ys), Op['DROP'].value, Op.KEEP is Op(ys[0]), len(Op), {Op.KEEP: 2, Op.DROP: 3}[Op(ys[1])]",
    "arithmetic": "(Money(ys[0]) + 1).v, (1 + Money(ys[1])).v, sum(Money(b) for b in ys).v, 7 - Money(ys[0]), -ys[0]",
    "truth": "'some' if Money(sum(ys)) else 'none', not Money(ys[0]), 5 if Rich(0) else 6, Money(1) + Rich(ys[0])",
    "equality": "Money(ys[0]) == Money(ys[1]), Money(0) != Money(ys[0]), 1 == Money(1), Money(2) in [Money(sum(ys))]",
    "order": "Money(ys[0]) < Money(ys[1]), Money(ys[0]) > Money(ys[1]), min(Money(b) for b in ys).v, (-Money(ys[0])).v",
    "dataclass": "max(Item(b, str(i)) for i, b in enumerate(ys)).name, Item(ys[0]) == Item(1, 'z')",
    "dataclass-order": "(Item(ys[0]), 1) < (Item(1), 0)",
    "replaced": "replace(Item(ys[0], 'q'), score=4).name, replace(Item(1), name='w').score",
    "container": "stacked(ys)",
    "heap": "heaped(ys)",
    "largest": "heapq.nlargest(1, enumerate(ys), key=lambda pair: pair[1])[0]",
    "copies": "tuple(tuple(map(tuple, each)) if each else each for each in copied(ys))",
    "classes-of-the-module": "PLACE + ys[0], PLACE.at, len(WORDS) + ys[0], repr(ys[0]), type(ys[0]) is int",
    "of-the-module": "of_module(ys)",
    "item-of": "max(range(2), key=ys.__getitem__), max((0, 1), key={0: 1, 1: ys[1]}.__getitem__)",
    "a method that gives NotImplemented": "Odd() == ys[0]",
}  # fmt: skip


@pytest.mark.one_in(12)
@pytest.mark.parametrize("name", BODIES)
def test_what_python_has_means_what_the_interpreter_runs(name: str) -> None:
    with module_of(HEAD.replace("RESULT", BODIES[name])) as module:
        assert assert_agreement(Program(module.f, Bit).bind(2), ("cudd",)).failing == 0


REFUSED = {
    "comparison of Counters": "Counter(ys) == Counter([0])",
    "objects in it|the Op": "{Op(b): 1 for b in ys}",
    "unhashable: a Item": "{Item(ys[0]): 1}[Item(1)]",
    "Mixed, an Enum and an int": "str(Mixed.ONE)",
    "member of an IntEnum": "isinstance(Level.LOW, Level)",
    "__ne__ of Different": "Different() != ys[0]",
    "class of a member": "type(Level.LOW) is Level",
    "string of a member": "repr(Level.LOW)",
    "__add__ of Five": "FIVE + ys[0]",
    "__len__ of Letters": "len(LETTERS) + ys[0]",
    "deque of the module": "QUEUE[ys[0]]",
    "iterated over twice": "(lambda it: (next(it), next(it)))(b for b in ys if b < 9)",
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_would_mean_something_else_is_refused(what: str) -> None:
    with (
        module_of(HEAD.replace("RESULT", REFUSED[what])) as module,
        pytest.raises(TightdpError, match=what) as caught,
    ):
        mechanism(record=Bit)(module.f).bind(n=2).privacy()
    assert caught.value.hint


@pytest.mark.parametrize(
    "body", ["Op(ys[0] + 1).name", "Op[str(ys[0])].name", "Money(1) * 2", "Item(1) < ys[0]", "len(Op.KEEP)"]
)
def test_what_no_class_has_is_a_run_that_fails(body: str) -> None:
    with module_of(HEAD.replace("RESULT", body)) as module:
        assert assert_agreement(Program(module.f, Bit).bind(2), ("cudd",)).failing > 0
        with pytest.raises(ProgramError):
            mechanism(record=Bit)(module.f).bind(n=2).privacy()
