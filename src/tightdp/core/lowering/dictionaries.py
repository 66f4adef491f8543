"""Dictionaries: displays, comprehensions and methods."""

from __future__ import annotations

import ast

from tightdp.core.lowering.comparisons import contains
from tightdp.core.lowering.comprehensions import clauses, surroundings, within
from tightdp.core.lowering.iteration import collected, items_of, visit
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.registry import builtin, lowers, method, operates
from tightdp.core.lowering.scalars import truth
from tightdp.core.lowering.sequences import content_of, element, insert, looked_up, over_keys
from tightdp.core.lowering.signatures import Arguments, Keywords, expect
from tightdp.core.lowering.store import MISSING
from tightdp.core.lowering.values import Entries, Host, Table, Value, View, is_scalar, name_of

__all__: list[str] = []


def _new(m: Machine, entries: Value) -> Table:
    table = Table(m.store.new_key())
    m.store[table.key] = entries
    return table


@lowers(ast.Dict)
def _dict(m: Machine, node: ast.Dict) -> Value:
    table = _new(m, Entries((), ()))
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            _update(m, table, m.evaluate(value))
        else:
            at = m.evaluate(key)
            insert(m, table, at, m.evaluate(value))
    return table


@lowers(ast.DictComp)
def _dictcomp(m: Machine, node: ast.DictComp) -> Value:
    first = m.evaluate(node.generators[0].iter)
    table = _new(m, Entries((), ()))

    def add() -> None:
        key = m.evaluate(node.key)
        insert(m, table, key, m.evaluate(node.value))

    within(m, node, surroundings(m), lambda: clauses(m, node.generators, first, add))
    return table


@builtin(dict)
def _make(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    table = _new(m, Entries((), ()))
    _update(m, table, *arguments, **keywords)
    return table


@method("update", Table)
def _update(m: Machine, base: Table, /, *more: Value, **named: Value) -> None:
    expect(more, {}, 0, 1)

    def pairs(value: Value) -> Value:
        if isinstance(value, Table) or (isinstance(value, Host) and isinstance(value.object, dict)):
            return _pairs(m, value)
        return collected(m, value)

    def into(items: tuple[Value, ...]) -> None:
        for item in items:
            parts = items_of(m, item)
            insert(m, base, element(m, parts, 0), element(m, parts, 1))

    for each in more:
        m.each(m.each(each, pairs), into)
    for name, value in named.items():
        insert(m, base, name, value)


def _pairs(m: Machine, value: Value) -> Value:
    return m.each(content_of(m, value), lambda e: tuple(zip(e.keys, e.values, strict=True)))


def _seen(part: str) -> None:
    @method(part, Table, Host)
    def handler(m: Machine, base: Value) -> Value:
        table = base if isinstance(base, Table) else _new(m, content_of(m, base))
        return View(table.key, part)


for _part in ("items", "keys", "values"):
    _seen(_part)


@method("get", Table, Host)
def _get(m: Machine, base: Value, key: Value, default: Value = None) -> Value:
    _hashable(m, key)
    return m.each(content_of(m, base), lambda entries: looked_up(m, entries, key, default))


@method("setdefault", Table)
def _setdefault(m: Machine, base: Table, key: Value, default: Value = None) -> Value:
    there = truth(m, contains(m, base, key))
    m.branch(there, lambda: None, lambda: insert(m, base, key, default))
    return m.each(m.store[base.key], lambda entries: looked_up(m, entries, key))


@method("pop", Table)
def _pop(m: Machine, base: Table, key: Value, default: Value = MISSING) -> Value:
    found = m.each(m.store[base.key], lambda entries: looked_up(m, entries, key, default))

    def without(entries: Entries) -> Value:
        return over_keys(m, key, lambda plain: _without(entries, plain))

    m.store[base.key] = m.each(m.store[base.key], without)
    return found


def _without(entries: Entries, key: object) -> Entries:
    left = [(have, value) for have, value in zip(entries.keys, entries.values, strict=True) if have != key]
    return Entries(tuple(have for have, _ in left), tuple(value for _, value in left))


@method("popitem", Table)
def _popitem(m: Machine, base: Table) -> Value:
    def last(entries: Entries) -> Value:
        if not entries.keys:
            raise Failure("KeyError: popitem() of an empty dictionary", "test with if before")
        *keys, key = entries.keys
        *values, value = entries.values
        return Entries(tuple(keys), tuple(values)), (key, value)

    both = m.each(m.store[base.key], last)
    m.store[base.key] = element(m, both, 0)
    return element(m, both, 1)


@method("fromkeys", Host)
def _fromkeys(m: Machine, base: Host, keys: Value, value: Value = None) -> Value:
    if base.object is not dict:
        raise Failure(f"AttributeError: {name_of(base)} has no .fromkeys()", "write dict.fromkeys(...)")
    table = _new(m, Entries((), ()))
    m.each(keys, lambda iterable: visit(m, iterable, lambda key: insert(m, table, key, value)))
    return table


@method("copy", Table, Host)
def _copy(m: Machine, base: Value) -> Value:
    return _new(m, content_of(m, base))


@method("clear", Table)
def _clear(m: Machine, base: Table) -> None:
    m.store[base.key] = Entries((), ())


@operates(Table)
def _operator(m: Machine, name: str, left: Table, right: Value) -> Value:
    if name != "bitor":
        raise Failure(f"TypeError: a dictionary and a {name_of(right)}", "use a method of dictionaries")
    result = _new(m, m.store[left.key])
    m.each(right, lambda more: _update(m, result, more))
    return result


def _hashable(m: Machine, key: Value) -> None:
    def check(value: Value) -> Value:
        if isinstance(value, tuple):
            for item in value:
                _hashable(m, item)
        elif not is_scalar(value):
            raise Failure(f"TypeError: unhashable: a {name_of(value)}", "use a number, a string or a tuple of them")
        return None

    m.each(key, check)
