"""Dictionaries that have a value for every key, and functions of Python's library that are read as they are written."""

from __future__ import annotations

import bisect
import copy
import functools
import heapq
import itertools
import operator
from collections import Counter, UserDict, UserList, defaultdict
from collections.abc import Callable
from dataclasses import replace
from enum import Enum
from fractions import Fraction
from functools import partial
from typing import Any

from tightdp.core.lowering.dictionaries import new_table
from tightdp.core.lowering.functions import call, call_python
from tightdp.core.lowering.iteration import collected
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.objects import Remembering, attribute, has_method
from tightdp.core.lowering.registry import FUNCTIONS, METHODS, OPERANDS, Handler, builtin, called, method, operates
from tightdp.core.lowering.scalars import COUNTS, Arguments, Keywords, truth
from tightdp.core.lowering.sequences import contains, insert
from tightdp.core.lowering.undoing import tentatively
from tightdp.core.lowering.values import (
    UNBOUND,
    Collection,
    Entries,
    Generator,
    Host,
    Object,
    Range,
    Reference,
    Stream,
    Table,
    Value,
    alternatives,
    is_scalar,
    name_of,
    parts_of,
)
from tightdp.core.nodes import Draw, Expr, reachable
from tightdp.core.valuesets import Progression
from tightdp.exact.lazily import lazily
from tightdp.language.classes import in_python

written: Any = lazily("tightdp.language.library_functions")
of_objects: Any = lazily("tightdp.language.library_objects")


_AT_ONCE = ("Cycling", "groupby", "tee", "zip_longest")
"""Those that go through all items when they are called, where Python does so later."""


def _read(function: Callable[..., object], home: Callable[[], object], name: str = "") -> None:
    name = name or function.__name__

    @builtin(function)
    def handler(m: Machine, /, *arguments: Value, **keywords: Value) -> Value:
        made = partial(call, m, Host(getattr(home(), name)), arguments, keywords)
        if name not in _AT_ONCE:
            return made()
        FUNCTIONS[of_objects.unchanged] = _unchanged
        unseen, value = tentatively(m, made, lambda cell: False)
        if not unseen:
            what = f"{function.__name__} of what changes something as it is made is not in the language"
            raise m.unsupported(what, "keep list(...) of it")
        return value


def _read_heap(function: Callable[..., object]) -> None:
    name = function.__name__

    @builtin(function)
    def handler(m: Machine, /, *arguments: Value, **keywords: Value) -> Value:
        def of(heap: Value) -> Value:
            if name_of(heap) != "list":
                raise Failure("TypeError: heap argument must be a list", "make a list of it")
            return call(m, Host(getattr(in_python("heapq"), name)), (heap, *arguments[1:]), {})

        if keywords or not arguments:
            raise Failure(f"TypeError: {name} takes positional arguments", "give it a list")
        return m.each(arguments[0], of)


def _unchanged(m: Machine, source: Value, items: Reference) -> None:
    """Refuse that what Python goes through only now has changed since its items were taken."""

    def of(one: Value) -> None:
        generator = isinstance(one, Generator)
        if is_scalar(one) or isinstance(one, (tuple, Range)) or (isinstance(one, Stream) and not generator):
            return
        draws, fresh = m.builder.draws, replace(one) if generator else one
        done, found = tentatively(m, partial(collected, m, fresh), lambda cell: False)
        if m.builder.draws == draws and not (done and found == m.store[items.key]):
            what = f"a {name_of(one)} that changes as it is gone through is not in the language here"
            raise m.unsupported(what, "give tuple(...) of it")

    m.each(source, of)


_OF_ITERTOOLS = (
    "accumulate", "chain", "compress", "dropwhile", "filterfalse", "groupby", "islice", "pairwise",
    "repeat", "starmap", "takewhile", "tee", "zip_longest",
)  # fmt: skip
for _function in (
    filter, map, reversed, heapq.nsmallest, heapq.nlargest, *(getattr(itertools, name) for name in _OF_ITERTOOLS),
):  # fmt: skip
    _read(_function, lambda: written)
for _function in (
    operator.itemgetter, operator.attrgetter, operator.methodcaller, operator.getitem, operator.setitem,
    operator.delitem, bisect.insort_left, bisect.insort_right,
):  # fmt: skip
    _read(_function, partial(in_python, _function.__module__.lstrip("_")))
for _function in (heapq.heapify, heapq.heappush, heapq.heappop, heapq.heappushpop, heapq.heapreplace):
    _read_heap(_function)
_OF_OBJECTS: dict[Callable[..., object], str] = {
    partial: "Partial", itertools.count: "Counting", itertools.cycle: "Cycling", functools.cache: "cache",
    functools.lru_cache: "lru_cache", functools.cmp_to_key: "cmp_to_key", functools.wraps: "wraps",
}  # fmt: skip
for _function, _name in _OF_OBJECTS.items():
    _read(_function, lambda: of_objects, _name)


@builtin(copy.copy)
def _copied(m: Machine, x: Value, /) -> Value:
    def of(value: Value) -> Value:
        if is_scalar(value) or isinstance(value, tuple) or (isinstance(value, Object) and issubclass(value.kind, Enum)):
            return value
        if isinstance(value, Object):
            own = has_method(value, "__copy__")
            return call(m, attribute(m, value, "__copy__"), (), {}) if own else _same_attributes(m, value)
        if (handler := METHODS.get((type(value), "copy"))) is None:
            raise m.unsupported(f"a copy of a {name_of(value)} is not in the language", "make it anew, of its parts")
        return handler(m, value)

    return m.each(x, of)


_OF_COPIES = {
    "__deepcopy__", "__getstate__", "__setstate__", "__reduce__", "__reduce_ex__", "__new__",
    "__getnewargs__",
}  # fmt: skip


def _same_attributes(m: Machine, value: Object) -> Object:
    """Return another object with the attributes of one that the run has made."""
    special = any(not _OF_COPIES.isdisjoint(vars(each)) for each in value.kind.__mro__[:-1])
    if special or value.key in m.hosts or issubclass(value.kind, BaseException):
        raise m.unsupported(f"a copy of this {name_of(value)} is not in the language", "make it anew, of its parts")
    made = Object(m.store.new_key(), value.kind)
    for name, held in m.store.names(value.key):
        m.store[made.key, name] = held
    return made


@builtin(UserDict.__copy__)
@builtin(UserList.__copy__)
def _with_other_data(m: Machine, value: Value) -> Value:
    made = _same_attributes(m, value)
    m.store[made.key, ".data"] = _copied(m, attribute(m, value, "data"))
    return made


@builtin(copy.deepcopy)
def _copied_inside(m: Machine, x: Value, /) -> Value:
    return call_python(m, written.deepcopy, (x, Host(_same_attributes), Host(_renew)), {})


def _renew(copied: object, copy_of: object) -> None:
    """Let a copy hold copies of what it holds."""


@builtin(_same_attributes)
def _begun(m: Machine, value: Value) -> Value:
    return _same_attributes(m, value) if isinstance(value, Object) else _copied(m, value)


@builtin(_renew)
def _renewed(m: Machine, copied: Value, copy_of: Value) -> None:
    if isinstance(copied, Object):
        for name, held in m.store.names(copied.key):
            m.store[copied.key, name] = call(m, copy_of, (held,), {})
    elif isinstance(copied, (Collection, Table)) and any(
        isinstance(part, Object)
        for _, content in alternatives(m.store[copied.key], m.builder.true)
        for key in (content.values if isinstance(copied, Collection) else content.keys)
        for part in parts_of(key)
    ):
        raise m.unsupported("a deep copy of what has objects as keys is not in the language", "make it anew")


@method("remembering", Object)
def _remembering(m: Machine, value: Object, found: Value) -> Value:
    """Return a method that keeps its results, in a run those of all objects of the class."""
    if value.key in m.hosts or has_method(value, "__eq__"):
        what = f"{found.__name__}, whose results are kept for the next run, is not in the language here"
        raise m.unsupported(what, "make the object in the run, of a class that does not define ==")
    if found not in m.adopted:
        m.adopted[found] = m.store.old_key(), ".kept"
        m.store.discover(m.adopted[found], UNBOUND)

    def of(kept: Value) -> Value:
        if kept is UNBOUND:
            caching = call(m, Host(functools.lru_cache), (), {**found.cache_parameters()})
            kept = m.store[m.adopted[found]] = call(m, caching, (Host(found.__wrapped__),), {})
        return call(m, Host(functools.partial), (kept, value), {})

    return m.each(m.store[m.adopted[found]], of)


@called(Remembering)
def _remembered(m: Machine, value: Remembering, arguments: Arguments, keywords: Keywords) -> Value:
    """Call what gives the same whenever it is called, so that it does not matter whether its results are kept."""
    given = (*arguments, *keywords.items())
    key = [part for part in parts_of(given) if type(part) is not tuple]
    kinds = tuple(map(_kinds, key))
    plain = all(is_scalar(part) for part in key)
    known_ones = plain and not any(isinstance(part, Expr) for part in key)
    results = value.results.setdefault(kinds, {})
    if known_ones and given in results:
        return results[given]
    mark, noises = m.builder.newest, len(m.builder.noises)
    same, result = tentatively(m, lambda: call(m, Host(value.function), arguments, keywords), lambda cell: False)
    parts = [*parts_of(result)]
    made = reachable([part for part in parts if isinstance(part, Expr)])
    drawn = any(isinstance(node, Draw) and node.serial > mark for node in made) or len(m.builder.noises) > noises
    if drawn or not (plain and same and all(is_scalar(part) or type(part) is tuple for part in parts)):
        what = f"{value.function.__name__}, whose results are kept for the next run, is not in the language here"
        raise m.unsupported(what, "keep results of numbers that are made without draws and change nothing else")
    results[given if known_ones else None] = result
    for others, known in value.results.items():  # 1, 1.0 and True are one key: they give what one of them gave first
        if others != kinds and _may_be_equal(kinds, others) and not (known_ones and None not in known):
            raise m.unsupported(*_OF_EQUALS)
        if others != kinds and known_ones and given in known and _typed(known[given]) != _typed(result):
            raise m.unsupported(*_OF_EQUALS)
    return result


_OF_EQUALS = (
    "a function whose results are kept, and that is given equal numbers of several types, is not in the language here",
    "convert what it is given",
)


def _kinds(value: Value) -> frozenset[type]:
    """Return the types that a scalar may have."""
    if not isinstance(value, Expr):
        return frozenset({type(value)})
    progresses = isinstance(value.values, (range, Progression))
    return frozenset({bool} if value.boolean else {int} if progresses else map(type, value.values))


def _may_be_equal(left: tuple[frozenset[type], ...], right: tuple[frozenset[type], ...]) -> bool:
    numbers = {bool, int, Fraction}
    pairs = zip(left, right, strict=False)
    return len(left) == len(right) and all(
        a & b or not (numbers.isdisjoint(a) or numbers.isdisjoint(b)) for a, b in pairs
    )


def _typed(result: Value) -> list[object]:
    return [(type(part), part if not isinstance(part, tuple) else len(part)) for part in parts_of(result)]


def _of_class(owner: type, name: str) -> None:
    @method(name, Host)
    def handler(m: Machine, base: Host, /, *arguments: Value) -> Value:
        if hasattr(base.object, name) and base.object is not owner:
            raise m.unsupported(f"{name} of a {name_of(base)} is not in the language", f"write {owner.__name__}.{name}")
        if base.object is not owner:
            raise Failure(f"AttributeError: {name_of(base)} has no .{name}()", f"write {owner.__name__}.{name}(...)")
        return call_python(m, getattr(written, name), arguments, {})


_of_class(itertools.chain, "from_iterable")
_of_class(dict, "fromkeys")


@builtin(defaultdict)
def _defaultdict(m: Machine, default_factory: Value = None, /, *more: Value, **named: Value) -> Value:
    table = new_table(m, Entries((), ()), default_factory)
    METHODS[Table, "update"](m, table, *more, **named)
    return table


@builtin(Counter)
def _counter(m: Machine, iterable: Value = (), /, **named: Value) -> Value:
    table = new_table(m, Entries((), ()), COUNTS)
    _count(m, table, iterable, 1, named)
    return table


def _count(m: Machine, table: Table, more: Value, sign: int, named: dict[str, Value]) -> None:
    call_python(m, written.counted, (table, more, sign), {})
    if named:
        others = new_table(m, Entries.of(named))
        call_python(m, written.counted, (table, others, sign), {})


def _of_counters(name: str, handler: Handler) -> None:
    """Let a method be one of counters; other dictionaries have theirs, or none."""
    other = METHODS.pop((Table, name), None)

    @method(name, Table)
    def chosen(m: Machine, base: Table, /, *arguments: Value, **keywords: Value) -> Value:
        if base.missing is COUNTS:
            return handler(m, base, *arguments, **keywords)
        if other is None:
            raise m.unsupported(f"the method .{name}() of a dictionary is not in the language", "make it a Counter")
        return other(m, base, *arguments, **keywords)


def _adding(sign: int) -> Handler:
    return lambda m, base, iterable=(), /, **named: _count(m, base, iterable, sign, named)


def _as_written(name: str) -> Handler:
    return lambda m, base, /, *arguments, **keywords: call_python(
        m, getattr(written, name), (base, *arguments), keywords
    )


_of_counters("update", _adding(1))
_of_counters("subtract", _adding(-1))
for _name in ("most_common", "elements", "total"):
    _of_counters(_name, _as_written(_name))


@method("value at", Table)
def _value_at(m: Machine, base: Table, key: Value) -> Value:
    """Return what a dictionary has for a key that may not be there; one that does not count has it from then on."""
    if base.missing is COUNTS:
        return METHODS[Table, "get"](m, base, key, 0)
    there = truth(m, contains(m, base, key))
    m.branch(there, lambda: None, lambda: insert(m, base, key, call(m, base.missing, (), {})))
    return METHODS[Table, "get"](m, base, key)


_COMBINED = {"add": operator.add, "sub": operator.sub, "bitor": max, "bitand": min}


_of_dictionaries = OPERANDS.pop(Table)


@operates(Table)
def _operator(m: Machine, name: str, left: Table, right: Value = None) -> Value:
    """Return what an operator makes of one or two counters, counts above 0, or of two other dictionaries."""
    if right is None and name in ("pos", "neg"):
        return _operator(m, "add" if name == "pos" else "sub", new_table(m, Entries((), ()), COUNTS), left)
    if left.missing is not COUNTS or (name == "bitor" and isinstance(right, Table) and right.missing is not COUNTS):
        return _of_dictionaries(m, name, replace(left, missing=None) if left.missing is COUNTS else left, right)
    if name not in _COMBINED or not (isinstance(right, Table) and right.missing is COUNTS):
        raise m.unsupported(f"{name} of a Counter and a {name_of(right)} is not in the language", "go through the keys")
    result = new_table(m, Entries((), ()), left.missing)
    call_python(m, written.combined, (result, left, right, Host(_COMBINED[name])), {})
    return result
