"""Methods of lists, tuples and ranges; strings made from values; and print, which is ignored."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tightdp.core.lowering.arranging import arranged
from tightdp.core.lowering.builtins import summed
from tightdp.core.lowering.comprehensions import sum_as_it_goes
from tightdp.core.lowering.frames import Thrown
from tightdp.core.lowering.iteration import items_of
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.positions import position_in
from tightdp.core.lowering.refusals import refuse_members, refuse_mixed, refuse_quotients
from tightdp.core.lowering.registry import METHODS, builtin, lowers, method, methods
from tightdp.core.lowering.scalars import indexed, operate, over_all, over_values, whole
from tightdp.core.lowering.sequences import content, element, equal, extend, is_item, plain
from tightdp.core.lowering.store import like
from tightdp.core.lowering.values import (
    SCALARS,
    Element,
    Every,
    Growing,
    Object,
    Range,
    Reference,
    Table,
    Value,
    View,
    is_scalar,
    known,
    name_of,
)
from tightdp.core.nodes import Expr


@method("insert", Reference)
def _insert(m: Machine, base: Reference, index: Value, value: Value) -> None:
    def into(items: tuple[Value, ...]) -> Value:
        return over_values(m, indexed(m, index), lambda at: (*items[: whole(at)], value, *items[whole(at) :]))

    _changed(m, base, into)


@method("pop", Reference)
def _pop(m: Machine, base: Reference, index: Value = -1) -> Value:
    def split(items: tuple[Value, ...]) -> Value:
        def at(position: Any) -> Value:
            if not items:
                raise Failure("IndexError: pop from an empty list", "test with if before")
            where = position_in(items, position)
            return (items[where], items[:where] + items[where + 1 :])

        return over_values(m, indexed(m, index), at)

    pair = m.each(content(m, base), split)
    m.store[base.key] = element(m, pair, 1)
    return element(m, pair, 0)


def _changed(m: Machine, base: Reference, action: Callable[[tuple[Value, ...]], Value]) -> None:
    m.store[base.key] = m.each(content(m, base), action)


method("__getitem__", Reference, tuple, Range, Table)(element)


@method("sort", Reference)
def _sort(m: Machine, base: Reference, /, *, key: Value = None, reverse: Value = False) -> None:
    held = content(m, base)
    with m.store.instead(base.key, ()):  # as Python has it: keys and comparisons find the list empty
        result = m.each(held, lambda items: arranged(m, items, key, reverse))
        if m.store[base.key] != ():
            raise m.unsupported("a list that is changed while it is sorted", "let keys look at nothing else")
    m.store[base.key] = result


@method("clear", Reference)
def _clear(m: Machine, base: Reference) -> None:
    content(m, base)
    m.store[base.key] = ()


@method("index", Reference, tuple, Range)
def _index(m: Machine, base: Value, wanted: Value, *places: Value) -> Value:
    if places and isinstance(base, Range):
        raise Failure("TypeError: .index() of a range takes one argument", "slice the range first")
    if places:
        raise m.unsupported(".index() from a place on is not in the language", "look for it in a slice")

    def search(items: tuple[Value, ...]) -> Value:
        hits = [is_item(m, item, wanted) for item in items]
        missing = m.conj(*(m.builder.negation(hit) for hit in hits))
        m.oblige(missing, Failure("ValueError: .index() of a value that is not there", "test with `in` first"))
        result: Value = max(len(items) - 1, 0)
        for at in range(len(items) - 2, -1, -1):
            result = m.merge(hits[at], at, result)
        return result

    items = items_of(m, base)
    return m.of_growing("index", items, wanted) if isinstance(items, Growing) else m.each(items, search)


methods({
    "append": lambda m, base, value: extend(m, base, (value,)),
    "extend": extend,
    "copy": lambda m, base: m.new_list(items_of(m, base)),
    "reverse": lambda m, base: _changed(m, base, lambda items: items[::-1]),
    "remove": lambda m, base, wanted: (_pop(m, base, _index(m, base, wanted)), None)[1],
}, Reference)  # fmt: skip


@method("count", Every)
def _count_every(m: Machine, base: Every, wanted: Value) -> Value:
    hits = lambda record, index: operate(m, "int", equal(m, base.step(record, index), wanted))  # noqa: E731
    return sum_as_it_goes(m, replace(base, step=hits), 0)


@method("count", Reference, tuple, Range)
def _count(m: Machine, base: Value, wanted: Value) -> Value:
    def of(items: Value) -> Value:
        if isinstance(items, Growing) and is_scalar(wanted) and not isinstance(wanted, Expr):
            return m.of_growing("count", items, wanted)
        return summed(m, tuple(known(is_item(m, item, wanted)) for item in items))

    return m.each(items_of(m, base), of)


for _name in ("bit_count", "bit_length"):
    method(_name, *SCALARS)(lambda m, value, _name=_name: operate(m, _name, value))


@lowers(ast.JoinedStr)
def _joinedstr(m: Machine, node: ast.JoinedStr) -> Value:
    text: Value = ""
    for part in node.values:
        text = operate(m, "add", text, m.evaluate(part))
    return text


@lowers(ast.FormattedValue)
def _formattedvalue(m: Machine, node: ast.FormattedValue) -> Value:
    value = m.evaluate(node.value)
    spec = "" if node.format_spec is None else m.evaluate(node.format_spec)
    if node.conversion in (ord("r"), ord("a")):
        value = _repr(m, value)
    elif node.conversion == ord("s"):
        value = _str(m, value)
    return m.each(value, lambda item: _text(m, item, "format", spec))


def _text(m: Machine, value: Value, operation: str, *more: Value, within: tuple[Value, ...] = ()) -> Value:
    if isinstance(value, Element) and operation == "repr":
        raise m.unsupported("the text of a scalar of numpy is not in the language", "make an int of it first")
    value = plain(m, value)
    if is_scalar(value):
        refuse_mixed(m, value, "a string", "return it in a tuple")
        refuse_quotients(m, value, "a string")
        if operation == "repr":
            refuse_members(m, value, "a string")
        return operate(m, operation, value, *more)
    if type(value) in (tuple, Reference) or (isinstance(value, Table) and value.missing is None):
        if any(spec != "" for spec in more):
            raise Failure(f"TypeError: unsupported format string passed to {name_of(value)}", "format its items")
        if value in within:
            raise m.unsupported("the text of a list that is in itself is not in the language", "leave it out")
        items = items_of(m, View(value.key, "items") if isinstance(value, Table) else value)
        held = within if isinstance(value, tuple) else (*within, value)
        return m.each(items, lambda all_of: _display(m, value, all_of, held))
    if isinstance(value, (Thrown, Object)):
        return METHODS[Object, "as text"](m, value, operation, *more)
    if _is_named(value) and all(map(is_scalar, value)) and not any(spec != "" for spec in more):
        for part in value:
            _text(m, part, "repr")  # refuses what has no text here
        return over_all(m, value, lambda *plain: repr(like(value, plain)))
    raise m.unsupported(f"a {name_of(value)} in a string is not in the language", "put its items in, one by one")


def _is_named(value: Value) -> bool:
    """Whether a value is a named tuple whose class leaves its text as it is."""
    own: Any = type(value)
    left = own.__str__ is object.__str__ and own.__format__ is object.__format__
    return left and isinstance(value, tuple) and own.__repr__.__module__ == "collections"


def _display(m: Machine, value: Value, items: tuple[Value, ...], within: tuple[Value, ...]) -> Value:
    """Return the text of a list, a tuple or a dictionary with these items."""
    start, end = "()" if isinstance(value, tuple) else "[]" if isinstance(value, Reference) else "{}"
    text: Value = start
    for at, item in enumerate(items):
        parts = item if isinstance(value, Table) else (item,)
        for sign, part in zip((", " if at else "", ": "), parts, strict=False):
            shown = m.each(part, lambda one: _text(m, one, "repr", within=within))
            text = operate(m, "add", operate(m, "add", text, sign), shown)
    return operate(m, "add", text, f",{end}" if isinstance(value, tuple) and len(items) == 1 else end)


@builtin(str)
def _str(m: Machine, value: Value = "", /) -> Value:
    def of(item: Value) -> Value:
        if isinstance(item, (Thrown, Object)):
            return METHODS[Object, "as text"](m, item, "str")
        return _text(m, item, "format", "")

    return m.each(value, of)


@builtin(format)
def _format(m: Machine, value: Value, spec: Value = "", /) -> Value:
    if not is_scalar(spec) or any(not isinstance(each, str) for each in m.expr(spec).values):
        raise m.unsupported("format with what may be no text is not in the language", "give it a string")
    return m.each(value, lambda item: _text(m, item, "format", spec))


@builtin(repr)
def _repr(m: Machine, value: Value, /) -> Value:
    return m.each(value, lambda item: _text(m, item, "repr"))


@builtin(print)
def _print(m: Machine, *values: Value, **options: Value) -> None:
    span = m.frame.source.span(m.position[-1])
    warnings.warn(f"{span.place}: print is ignored in a mechanism", stacklevel=2)
