"""What is written in Python's library in Python, or with classes: keys, caches, iterators, contexts and dispatch."""

from __future__ import annotations

import pytest

from agreement import assert_agreement, bind, module_of
from tightdp import LanguageError
from tightdp.language.domains import Int
from tightdp.methods.compiled import compile_symbolic

HEAD = """
import bisect, contextlib, copy, functools, heapq, itertools, operator, typing
from collections import ChainMap, Counter, UserDict, UserList, defaultdict, deque
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from functools import cache, lru_cache, partial


@dataclass(frozen=True)
class Query:
    low: int
    high: int = 2
    def holds(self, v): return self.low <= v < self.high


@dataclass(frozen=True)
class Clamped:
    v: int
    def __post_init__(self): object.__setattr__(self, "v", max(self.v, 1))


@dataclass
class Kept:
    query: Query
    log: list = field(default_factory=list)
    sums: tuple = ()


class Memo:
    @cache
    def drawn(self, v): return v + randint(0, 1)


class Shared:
    def __init__(self, v): self.v = v
    @lru_cache(maxsize=1)
    def drawn(self, k): return self.v + randint(0, 1)


class Compared:
    def __init__(self, v): self.v = v
    def __lt__(self, other): return randint(0, 1) == 1


class Rows(typing.Generic[typing.TypeVar("T")]):
    def __init__(self, rows): self.rows = rows
    def __getitem__(self, at): return Rows(self.rows[at]) if isinstance(at, slice) else self.rows[at]
    def close(self): self.rows = ()


@functools.singledispatch
def noisy(v): return "other"
@noisy.register(int)
def _(v): return v + randint(0, 1)
@noisy.register(tuple)
@noisy.register(str)
def _(v): return len(v)


@contextlib.contextmanager
def either(kind, log):
    if kind:
        try:
            yield 1
        except ValueError:
            log.append("V")
    else:
        yield 2
    log.append(3)


class Keyed:
    def __init__(self, last): self.last = last
    def keys(self): return (0, 1, 2)
    def __getitem__(self, key): return {at: at for at in range(self.last + 1)}[key]


class Kinds(UserDict): pass


class Turned:
    def __init__(self, v): self.v = v
    def __gt__(self, other): return self.v < other.v
    def __lt__(self, other): return self.v < other.v


class Upto:
    def __init__(self, end): self.end = end
    def __iter__(self): return iter(range(self.end))


QUERIES = (Query(0, 1), Query(1))


def plain(value):
    if isinstance(value, (list, tuple)): return tuple(plain(item) for item in value)
    return tuple((key, plain(item)) for key, item in value.items()) if isinstance(value, dict) else value


def f(x): return plain(mechanism_of(x))


"""
PROGRAMS = {
    "objects as keys": """
    counts = {query: sum(query.holds(v) for v in x) + randint(0, 1) for query in QUERIES}
    counts[Query(x[0] // 2, 1)] = 5
    most = max(counts, key=counts.get)
    return {query.low: count for query, count in counts.items()}, counts.get(Query(7), 0), most.low
""",
    "objects in sets": """
    found = {Query(x[0]), Query(randint(0, 1), 2)}
    found.discard(Query(1))
    more = found | {Query(9)}
    return len(found), sorted(q.low for q in found), Query(0) in found, found == {Query(0, 2)}, more > found
""",
    "objects in tuples as keys, counted": """
    table = Counter((Query(v), 1) for v in (x[0], 1, randint(0, 1)))
    other = defaultdict(list)
    other[Clamped(x[0])].append(1)
    return table[Query(1), 1], len(table), table.most_common(1)[0][1], other[Clamped(1)]
""",
    "no keys": """
    found = []
    for make in (lambda: {Kept(QUERIES[0]): x[0]}, lambda: {Query([x[0]])}, lambda: Kept(QUERIES[0]) in {}):
        try: found.append(make())
        except TypeError: found.append("TypeError")
    return found
""",
    "fields of dataclasses": """
    kept = Kept(QUERIES[x[0] // 2], [Query(x[0])], (Query(randint(0, 1)), 1))
    plain = asdict(kept)
    plain["log"].append(4)
    return plain, astuple(kept), len(kept.log), [each.name for each in fields(kept)], replace(kept, sums=(2,)).sums
""",
    "local functions that keep results": """
    @lru_cache(maxsize=None)
    def fib(k): return k if k < 2 else fib(k - 1) + fib(k - 2)
    @lru_cache
    def drawn(v, w=0): return v + randint(0, 1)
    @lru_cache(maxsize=1)
    def last(v): return randint(0, 1)
    return fib(9), drawn(x[0]), drawn(1), drawn(1, 0), drawn(x[0]), last(x[0]), last(1), last(x[0])
""",
    "methods that keep results": """
    memo, other = Memo(), Memo()
    first = memo.drawn(x[0])
    again = copy.copy(memo)
    return first, memo.drawn(x[0]), other.drawn(x[0]), memo.drawn(1), again.drawn(x[0])
""",
    "a method that keeps results of a branch": """
    memo = Memo()
    if x[0]: memo.drawn(0)
    else: memo.drawn(2)
    return memo.drawn(2), memo.drawn(0), memo.drawn(2)
""",
    "generator expressions that are begun": """
    k = 1
    noise = (k * randint(0, 1) for _ in range(3))
    first = next(noise) if x[0] else 9
    k = 5
    return first, next(noise), any(noise), list(noise), next(noise, None)
""",
    "generator expressions and maps after an exception": """
    found = []
    for items in ((1 // v for v in (1, x[0], 1)), map(lambda v: 1 // v, (1, x[0], 1))):
        found.append(next(items))
        try: found.append(next(items))
        except ZeroDivisionError: found.append("Z")
        found.append(list(items))
    return found
""",
    "iterators of iterators, and pairs of them": """
    items = iter(v + randint(0, 1) for v in (x[0], 1))
    before, after = itertools.tee([next(items), next(items), 5])
    next(after)
    return [a < b for a, b in zip(before, after)]
""",
    "objects that give an iterator of a length that depends on the run": """
    each = Upto(x[0] + randint(0, 1))
    return list(each), tuple(v for v in each), sum(each), sorted(each, reverse=True), [*each], max(each, default=9)
""",
    "maps that are begun": """
    def take(items, k): return [next(items) for _ in range(k)]
    items = map(lambda v: v + randint(0, 1), (x[0], 1, 2))
    both = take(items, 2)
    try: return both, take(items, 2)
    except StopIteration: return both, "ended"
""",
    "iterators of itertools": """
    ones, turns = itertools.count(5, 2), itertools.cycle([x[0], 7])
    a, b = itertools.tee(v + randint(0, 1) for v in (x[0], 1))
    return next(ones), next(ones), [next(turns) for _ in range(3)], sum(a), list(b), list(zip(itertools.count(), "ab"))
""",
    "partial functions": """
    f = partial(partial(lambda a, b, c=1: (a, b, c), x[0], c=2), 3)
    return f(), f(c=randint(0, 1)), f.func(1, 2), f.args, f.keywords
""",
    "heaps and sorted lists": """
    heap, line = [3, x[0], 2, 1], [0, 1, 2]
    heapq.heapify(heap)
    heapq.heappush(heap, randint(0, 2))
    bisect.insort(line, x[0]); bisect.insort_left(line, randint(0, 1), key=lambda v: v)
    try: bisect.insort(line, 1, -1)
    except ValueError: line.append("V")
    return heapq.heapreplace(heap, 5), heapq.heappop(heap), heap, line
""",
    "functions of operator": """
    kept = Kept(Query(x[0]), [1, 2])
    operator.setitem(kept.log, x[0] // 2, randint(0, 1))
    order = functools.cmp_to_key(lambda a, b: b - a)
    held = operator.attrgetter("query.low", "log")(kept)
    return held, operator.methodcaller("holds", 1)(kept.query), sorted((x[0], 1), key=order)
""",
    "dispatch by the first argument": """
    return noisy(x[0]), noisy("abc"), noisy((1,)), noisy(None), (1).__class__ is int, "a".__class__.__name__
""",
    "contexts of several yields": """
    log = []
    for v in (x[0], randint(0, 1)):
        try:
            with either(v, log) as w:
                log.append(w)
                if v != 1: raise ValueError
        except ValueError: log.append("out")
    return log
""",
    "contexts of the library": """
    log = []
    with contextlib.suppress(KeyError, ValueError):
        if randint(0, 1): raise KeyError
        log.append(1)
    with contextlib.nullcontext(x[0]) as v: log.append(v)
    with contextlib.closing(Rows((1,))) as rows: log.append(len(rows.rows))
    return log, rows.rows
""",
    "chained dictionaries": """
    chain = ChainMap({"a": x[0]}, {"a": 5, "b": 6}).new_child({"b": randint(0, 1)})
    chain["z"] = 3
    return chain["a"], chain["b"], len(chain), sorted(chain), "q" in chain, chain.get("q", 4), chain.parents["b"]
""",
    "counters and dictionaries": """
    counter, table = Counter((x[0], 1)), {1: 5}
    return counter | table, table | counter, isinstance(counter | table, Counter), (counter | Counter([1, 1]))[1]
""",
    "slices of objects, and their types": """
    rows = Rows[int]([x[0], 1, randint(0, 1)])
    return rows[1:].rows, rows[::2].rows, rows[x[0]:].rows, rows[-1]
""",
    "functions in a branch": """
    kept = Kept(None)
    if x[0]: kept.log = lambda v: v + 1
    else: kept.log = lambda v: randint(0, v)
    return kept.log(3)
""",
    "results kept for all objects of a class": """
    one, other = Shared(x[0]), Shared(2)
    return one.drawn(1), other.drawn(1), one.drawn(1)
""",
    "results kept by a call inside": """
    made = []
    def numbered(v):
        made.append(v)
        mine = len(made)
        if mine < 3 and randint(0, 1) == 1: kept(v)
        return mine
    kept = lru_cache(numbered)
    return kept(x[0]), kept(x[0])
""",
    "keys that compare": """
    key = functools.cmp_to_key(lambda a, b: a % 2 - b % 2)
    items = [x[0], 2, 3, 1 + randint(0, 1)]
    return sorted(items, key=lambda v: (key(v), -v)), key(3) >= key(x[0]), key(x[0]) != key(2), max(items, key=key)
""",
    "heaps in a branch, and no heaps": """
    heap = [1, 2] if randint(0, 1) else (1, 2)
    try: return heapq.heappop(heap)
    except TypeError: pass
    try: return heapq.heappop(heap=[1])
    except TypeError: return "T"
""",
    "what is not called": """
    try: return partial(x[0])()
    except TypeError: pass
    try: return len(itertools.tee(x, -1))
    except ValueError: return randint(0, 1)
""",
    "types of dictionaries": """
    kinds = Counter(x), defaultdict(list), copy.deepcopy(Counter(x)), copy.copy(defaultdict(list))
    return [type(kind).__name__ for kind in kinds], [isinstance(kind, Counter) for kind in kinds], randint(0, 1)
""",
    "counters take dictionaries": """
    counter = Counter({1: -1, 2: x[0], 3: 3})
    counter |= {7: randint(0, 1), 9: -1} if x[0] else Counter({2: randint(0, 1)})
    return counter
""",
    "dispatch on objects": """
    return noisy(Rows(())), noisy(x[0])
""",
    "objects as dictionaries": """
    chain, after = ChainMap({1: x[0]}, {randint(0, 1): 5}), {7: 7}
    try:
        after.update(Keyed(x[0]))
    except KeyError:
        after[8] = 8
    counts = Counter(chain)
    counts.update(UserDict(after))
    return dict(chain), {**chain, 2: 3}, after, list(counts.items())
""",
    "copies of UserList and UserDict": """
    rows = UserList([[v] for v in x])
    kept = Kinds({0: rows})
    copied, inside, made = copy.copy(rows), copy.deepcopy(kept), kept.copy()
    rows[0].append(randint(0, 1))
    rows.append(5)
    kept[1] = 2
    begun = Kinds.fromkeys(x, copied)
    return list(copied), list(inside[0]), len(inside), len(made), list(made[0]), list(begun), type(begun) is Kinds
""",
    "the largest by >": """
    return max(Turned(x[0]), Turned(randint(0, 1))).v, max([Turned(1)]).v
""",
    "items taken ahead of time": """
    rows, found = [], []
    for v in x + (1,):
        rows.append(v)
        found.append([(key, len(list(group))) for key, group in itertools.groupby(rows)])
    found.append(list(itertools.zip_longest(rows, [randint(0, 1)])))
    return found
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_means_what_the_interpreter_says(name: str) -> None:
    with module_of(f"{HEAD}def mechanism_of(x):{PROGRAMS[name]}") as module:
        assert assert_agreement(bind(module, Int(0, 2), 1), ("cudd",)).failing == 0


REFUSED = {
    "q = Query(x[0])\n    return [key is q for key in {q: 1}]": "`is` between objects that are keys",
    "items = (v for v in x)\n    list(items)\n    return next(items, 0)": "is iterated over twice",
    "q = deque(x)\n    it = iter(q)\n    next(it)\n    q.append(1)\n    return list(it)": "is iterated over twice",
    "memo = MEMO\n    return memo.drawn(1)": "whose results are kept for the next run",
    "try: return defaultdict.fromkeys(x)\n    except AttributeError: return 7": "fromkeys of a type",
    "return len(heapq.nlargest(2, [Compared(v) for v in x]))": "a class without __eq__",
    "with twice() as v: return v": "two yields on one run",
    "l = [1]\n    c = itertools.cycle(l)\n    l.append(x[0])\n    return next(c), next(c)": "a list that changes",
    "l = [1]\n    c = itertools.cycle(v for v in l)\n    l.append(9)\n    return next(c)": "expression that changes",
    "l = [1]\n    a, b = itertools.tee(l)\n    l.append(x[0])\n    return list(a)": "a list that changes",
    "l = [1]\n    g = itertools.groupby(l)\n    l.append(x[0])\n    return [k for k, _ in g]": "a list that changes",
    "l = []\n    z = itertools.zip_longest(l)\n    l.append(x[0])\n    return list(z)": "a list that changes",
    "i = iter(x)\n    c = itertools.cycle(i)\n    return next(i)": "cycle of what changes something",
    "return [a.v for a in sorted([Compared(x[0]), Compared(3)])]": "comparisons that draw",
    "q = Query(x[0])\n    d = {q: 1}\n    object.__setattr__(q, 'low', 5)\n    return d": "changes after it was a key",
    "items = Upto(x[0] + randint(0, 1))\n    return list(zip(items, items))": "a generator here",
    "try: return (x[0] / 4).numerator\n    except AttributeError: return 7": "numerator of a fraction",
}


@pytest.mark.parametrize("body", REFUSED)
def test_what_is_refused(body: str) -> None:
    more = "MEMO = Memo()\n@contextlib.contextmanager\ndef twice():\n    yield 1\n    yield 2\n"
    source = f"{HEAD}{more}def mechanism_of(x):\n    {body}\n"
    with module_of(source) as module, pytest.raises(LanguageError, match=REFUSED[body]) as caught:
        compile_symbolic(bind(module, Int(0, 2), 1))
    assert caught.value.span.line > 70  # the place in the program, not in the library
