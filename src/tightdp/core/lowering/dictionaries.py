"""Dictionaries and sets: displays, comprehensions, operators and methods."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from tightdp.core.lowering.comprehensions import clauses, generator_of, surroundings, within
from tightdp.core.lowering.functions import call_python
from tightdp.core.lowering.iteration import by_key, collected, in_any_order, items_of, sieved, unordered, visit
from tightdp.core.lowering.ledger import Ledger, content_with, rows_of
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.refusals import unhashable
from tightdp.core.lowering.registry import FUNCTIONS, METHODS, adopts, builtin, lowers, method, operates
from tightdp.core.lowering.scalars import COUNTS, adopt, over_keys, truth
from tightdp.core.lowering.sequences import (
    contains,
    content_of,
    element,
    insert,
    looked_up,
    mapping,
    none_of,
    over_content,
    set_operation,
)
from tightdp.core.lowering.store import MISSING
from tightdp.core.lowering.values import (
    Array,
    Collection,
    Element,
    Entries,
    Host,
    Members,
    Object,
    Table,
    Union,
    Value,
    View,
    is_scalar,
    name_of,
    parts_of,
)
from tightdp.exact.lazily import lazily
from tightdp.language.outputs import order_of

written: Any = lazily("tightdp.language.library_objects")

# dictionaries


def new_table(m: Machine, entries: Value, missing: Value = None) -> Table:
    table = Table(m.store.new_key(), missing)
    m.store[table.key] = entries
    return table


@lowers(ast.Dict)
def _dict(m: Machine, node: ast.Dict) -> Value:
    table = new_table(m, Entries((), ()))
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            m.each(m.evaluate(value), lambda more: _update_table(m, table, mapping(m, more)))
        else:
            at = m.evaluate(key)
            insert(m, table, at, m.evaluate(value))
    return table


@lowers(ast.DictComp)
def _dictcomp(m: Machine, node: ast.DictComp) -> Value:
    first = m.evaluate(node.generators[0].iter)

    def made(items: Value) -> Table:
        table = new_table(m, Entries((), ()))

        def add() -> None:
            key = m.evaluate(node.key)
            insert(m, table, key, m.evaluate(node.value))

        within(m, node, surroundings(m), lambda: clauses(m, node.generators, items, add, table))
        return table

    through = m.store[first.key] if isinstance(first, (Table, View)) else None
    if not isinstance(through, Ledger) or not _keeps_keys(node, first):
        return made(first)

    def ranked(items: Value) -> Table:
        table = made(items)
        rows = rows_of(m.builder, m.store[table.key])
        kept = {key: replace(row, rank=through.rows[key].rank) for key, row in rows.items()}
        m.store[table.key] = content_with(m.builder, kept)
        return table

    return in_any_order(m, first, ranked)


def _keeps_keys(node: ast.DictComp, first: Table | View) -> bool:
    """Whether every key of a comprehension is that of the dictionary that it goes through."""
    target = node.generators[0].target
    part = first.part if isinstance(first, View) else "keys"
    if part == "items" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        target = target.elts[0]
    elif part != "keys":
        return False
    return len(node.generators) == 1 and ast.unparse(target) == ast.unparse(node.key)


@builtin(dict)
def _make_table(m: Machine, entries_or_pairs: Value = (), /, **named: Value) -> Value:
    table = new_table(m, Entries((), ()))
    _update_table(m, table, entries_or_pairs, **named)
    return table


@method("update", Table)
def _update_table(m: Machine, base: Table, entries_or_pairs: Value = (), /, **named: Value) -> None:
    def pairs(value: Value) -> Value:
        if isinstance(value, Table) or (isinstance(value, Host) and isinstance(value.object, dict)):
            return m.each(content_of(m, value), lambda entries: tuple(entries.table.items()))
        if isinstance(value, Object) and FUNCTIONS[hasattr](m, value, "keys"):
            return call_python(m, written.put_all, (base, value), {}) or ()
        return collected(m, value)

    def into(items: tuple[Value, ...]) -> None:
        for item in items:
            m.each(items_of(m, item), pair)

    def pair(parts: tuple[Value, ...]) -> None:
        if len(parts) != 2:
            raise Failure(f"ValueError: {len(parts)} items in place of a key and a value", "make pairs")
        insert(m, base, *parts)

    m.each(m.each(entries_or_pairs, pairs), into)
    for name, value in named.items():
        insert(m, base, name, value)


def _seen(part: str) -> None:
    @method(part, Table, Host)
    def handler(m: Machine, base: Value) -> Value:
        table = base if isinstance(base, Table) else new_table(m, content_of(m, base))
        return View(table.key, part)


for _part in ("items", "keys", "values"):
    _seen(_part)


@method("get", Table, Host)
def _get(m: Machine, base: Value, key: Value, default: Value = None) -> Value:
    _hashable(m, key)
    return over_content(m, content_of(m, base), lambda entries: looked_up(m, entries, key, default))


@method("setdefault", Table)
def _setdefault(m: Machine, base: Table, key: Value, default: Value = None) -> Value:
    there = truth(m, contains(m, base, key))
    m.branch(there, lambda: None, lambda: insert(m, base, key, default))
    return over_content(m, m.store[base.key], lambda entries: looked_up(m, entries, key))


@method("pop", Table)
def _pop(m: Machine, base: Table, key: Value, default: Value = MISSING) -> Value:
    found = over_content(m, m.store[base.key], lambda entries: looked_up(m, entries, key, default))

    def without(entries: Entries | Ledger) -> Value:
        def left(plain: Value) -> Value:
            rows = rows_of(m.builder, entries).items()
            return content_with(m.builder, {have: row for have, row in rows if have != plain})

        return over_keys(m, key, left)

    m.store[base.key] = over_content(m, m.store[base.key], without)
    return found


@method("popitem", Table)
def _popitem(m: Machine, base: Table) -> Value:
    def last(entries: Entries) -> Value:
        if not entries.keys:
            raise Failure("KeyError: popitem() of an empty dictionary", "test with if before")
        *left, item = entries.table.items()
        return Entries.of(dict(left)), item

    both = m.each(m.store[base.key], last)
    m.store[base.key] = element(m, both, 0)
    return element(m, both, 1)


@method("copy", Table, Host)
def _copy_table(m: Machine, base: Value) -> Value:
    return new_table(m, content_of(m, base), getattr(base, "missing", None))


@method("clear", Table, Collection)
def _clear(m: Machine, base: Table | Collection) -> None:
    if isinstance(base, Collection):
        _changeable(base)
    m.store[base.key] = Entries((), ()) if isinstance(base, Table) else Members((), ())


@operates(Table)
def _operator(m: Machine, name: str, left: Table, right: Value) -> Value:
    if isinstance(right, View):
        return _of_two_sets(m, name, View(left.key, "keys"), right)
    if name != "bitor" or isinstance(right, Object):
        raise Failure(f"TypeError: a dictionary and a {name_of(right)}", "use a method of dictionaries")
    missing = getattr(right, "missing", None)
    result = new_table(m, m.store[left.key], left.missing or (None if missing is COUNTS else missing))
    _update_table(m, result, mapping(m, right))
    return result


def _hashable(m: Machine, key: Value) -> None:
    def check(value: Value) -> Value:
        for part in parts_of(value):
            if not is_scalar(part) and not isinstance(part, (tuple, Union, Object, Element)):
                raise unhashable(m, part)
        return None

    m.each(key, check)


# sets


def _new_set(m: Machine, members: Members, frozen: bool = False) -> Collection:
    collection = Collection(m.store.new_key(), frozen)
    m.store[collection.key] = members
    return collection


def _members(m: Machine, *iterables: Value) -> Members:
    collection = _new_set(m, Members((), ()))
    _take(m, collection, *iterables)
    members: Members = m.store.pop(collection.key)
    return members


def _set_where(m: Machine, base: Collection, item: Value, present: bool) -> None:
    """Let a value be in a set, or not, on the runs at hand."""
    members, condition = m.store[base.key], m.builder.const(present)
    m.store[base.key] = over_keys(m, item, lambda plain: Members.of({**members.conditions, plain: condition}))


@lowers(ast.Set)
def _set(m: Machine, node: ast.Set) -> Value:
    collection = _new_set(m, Members((), ()))
    for part in node.elts:
        if isinstance(part, ast.Starred):
            _take(m, collection, m.evaluate(part.value))
        else:
            _set_where(m, collection, m.evaluate(part), True)
    return collection


lowers(ast.SetComp)(lambda m, node: _new_set(m, _members(m, generator_of(m, node))))
builtin(set)(lambda m, iterable=(), /: _new_set(m, _members(m, iterable)))
builtin(frozenset)(lambda m, iterable=(), /: _new_set(m, _members(m, iterable), frozen=True))


@adopts("frozenset")
def _adopted_set(m: Machine, thing: frozenset[Value]) -> Value:
    """Return a frozen set of the enclosing module, or of a record."""
    members = [adopt(m, item) for item in thing]
    if id(thing) not in m.adopted:
        made = m.adopted[id(thing)] = Collection(m.store.old_key(), frozen=True)
        m.store.discover(made.key, Members.of(dict.fromkeys(members, m.builder.true)))
        m.hosts[made.key] = thing
    return m.adopted[id(thing)]


def _take(m: Machine, base: Collection, *more: Value) -> None:
    def add(item: Value) -> None:
        _set_where(m, base, item, True)

    for at, part in enumerate(more):
        m.each(part, lambda value: visit(m, unordered(m, value), add, (base, at)))  # noqa: B023 (it is called at once)


def _changeable(base: Collection) -> None:
    if base.frozen:
        raise Failure("AttributeError: a frozenset cannot be changed", "make a set of it first: set(...)")


@method("add", Collection)
def _add(m: Machine, base: Collection, item: Value) -> None:
    _changeable(base)
    _set_where(m, base, item, True)


@method("update", Collection)
def _update_set(m: Machine, base: Collection, *more: Value) -> None:
    _changeable(base)
    _take(m, base, *more)


@method("discard", Collection)
def _discard(m: Machine, base: Collection, item: Value) -> None:
    _changeable(base)
    _set_where(m, base, item, False)


@method("remove", Collection)
def _remove(m: Machine, base: Collection, item: Value) -> None:
    _changeable(base)
    missing = m.builder.negation(truth(m, contains(m, base, item)))
    m.oblige(missing, Failure("KeyError: an element that is not in the set", "use .discard(...)"))
    _discard(m, base, item)


@method("copy", Collection)
def _copy_set(m: Machine, base: Collection) -> Value:
    return _new_set(m, m.store[base.key], base.frozen)


@operates(Collection, View)
def _of_two_sets(m: Machine, name: str, left: Collection | View, right: Value) -> Value:
    views = [each.part for each in (left, right) if isinstance(each, View)]
    if name not in _NAMED.values() or "values" in views or not (views or isinstance(right, Collection)):
        raise Failure(f"TypeError: a {name_of(left)} and a {name_of(right)}", "combine two sets with | & ^ -")
    both = [m.store[each.key] if isinstance(each, Collection) else _members(m, each) for each in (left, right)]
    return _new_set(m, set_operation(m, name, *both), isinstance(left, Collection) and left.frozen and not views)


def _of_sets(name: str, operation: str) -> None:
    def change(m: Machine, base: Collection, more: tuple[Value, ...]) -> None:
        for part in more:
            m.store[base.key] = set_operation(m, operation, m.store[base.key], _members(m, part))

    @method(name, Collection)
    def combined(m: Machine, base: Collection, *more: Value) -> Value:
        result = _copy_set(m, base)
        change(m, result, more)
        return result

    if operation != "bitor":  # which is called .update()

        @method(f"{name}_update", Collection)
        def changed(m: Machine, base: Collection, *more: Value) -> None:
            _changeable(base)
            change(m, base, more)


_NAMED = {"union": "bitor", "intersection": "bitand", "difference": "sub", "symmetric_difference": "bitxor"}
for _method, _operation in _NAMED.items():
    _of_sets(_method, _operation)


def _where_empty(name: str, operation: str, mirrored: bool = False) -> None:
    @method(name, Collection)
    def handler(m: Machine, base: Collection, other: Value) -> Value:
        ours, theirs = m.store[base.key], _members(m, other)
        return none_of(m, set_operation(m, operation, *((theirs, ours) if mirrored else (ours, theirs))))


_where_empty("issubset", "sub")
_where_empty("issuperset", "sub", mirrored=True)
_where_empty("isdisjoint", "bitand")


# outputs


def sorted_output(m: Machine, value: Value) -> Value:
    """Return an output with dictionaries and sets as sorted tuples, and named tuples as what they are equal to."""

    def plain(part: Value) -> bool:
        return type(part) is tuple or not isinstance(part, (tuple, Table, Collection, Array, Element))

    def within(value: Value) -> Value:
        if all(map(plain, parts_of(value))):
            return value
        if isinstance(value, (Array, Element)):
            return within(METHODS[type(value), "as output"](m, value))
        if isinstance(value, tuple):
            return tuple(map(within, value))
        if isinstance(value, Union):
            return m.each(value, within)
        if not isinstance(value, (Table, Collection)):
            return value
        return over_content(m, m.store[value.key], in_order)

    def in_order(content: Entries | Ledger | Members) -> Value:
        keys = content.values if isinstance(content, Members) else rows_of(m.builder, content)
        if any(isinstance(part, Object) for key in keys for part in parts_of(key)):
            raise m.unsupported("an output cannot have objects in it", "return their attributes")
        if isinstance(content, Ledger):
            return by_key(m, content, lambda key, item: (key, within(item)))
        if isinstance(content, Entries):
            return tuple((key, within(content.table[key])) for key in sorted(content.table, key=order_of))
        present = content.conditions
        return sieved(m, ((present[value], value) for value in sorted(present, key=order_of)))

    return within(value)
