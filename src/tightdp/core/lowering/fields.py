"""What has names for its parts: tuples of `namedtuple` and of classes under `NamedTuple`, and objects of dataclasses.

Such tuples are kept as what they are, tuples of their class, so that all that is done with tuples is done with them.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable
from typing import Any

from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.objects import Bound, attribute, has_method, is_generated, lookup, taken
from tightdp.core.lowering.refusals import unhashable
from tightdp.core.lowering.registry import builtin, has_attributes, method
from tightdp.core.lowering.scalars import adopt, bind_arguments, over_keys
from tightdp.core.lowering.sequences import equal, precedes
from tightdp.core.lowering.store import MISSING, like
from tightdp.core.lowering.values import Entries, Host, Method, Object, Table, Value, name_of


@method("made of", tuple)
def _made(m: Machine, kind: Value, arguments: Value, keywords: Value) -> Value:
    """Make a tuple of a class that has names for its items."""
    operators = {
        name
        for each in kind.__mro__[: kind.__mro__.index(tuple)]
        for name, held in vars(each).items()
        if isinstance(held, types.FunctionType) and name[:2] == "__" and name not in _WRITTEN
    }
    if operators:
        what = f"{min(operators)} of {kind.__name__}, a named tuple, is not in the language"
        raise m.unsupported(what, "use a dataclass, or a method with another name")
    given = bind_arguments(kind.__name__, kind.__new__, 1, arguments, keywords)
    defaults = kind._field_defaults
    items = (given.arguments[name] if name in given.arguments else adopt(m, defaults[name]) for name in kind._fields)
    return kind._make(items)


_WRITTEN = ("__new__", "__repr__", "__getnewargs__", "__replace__")
"""The special methods that Python itself writes for such a class."""


@has_attributes(tuple)
def _attribute(m: Machine, value: Value, name: str) -> Value:
    """Return an item by its name, or what the class holds under it."""
    kind = type(value)
    if name in kind._fields:
        return value[kind._fields.index(name)]
    if name in _METHODS:
        return Bound(_METHODS[name], value)
    if hasattr(tuple, name):
        return Method(tuple(value), name)
    found = lookup(kind.__mro__, name)
    if found is MISSING:
        raise Failure(f"AttributeError: {kind.__name__} has no attribute {name!r}", "check the name")
    return taken(m, found, kind, value)


def _replace(value: Value, /, **changed: Value) -> Value:
    return value._replace(**changed)


def _asdict(value: Value, /) -> Value:
    return value._asdict()


_METHODS = {"_replace": _replace, "_asdict": _asdict}


@builtin(_replace)
def _replaced(m: Machine, value: Value, /, **changed: Value) -> Value:
    for name in changed:
        if name not in value._fields:
            raise Failure(f"ValueError: {type(value).__name__} has no field {name!r}", "check the name")
    return like(value, (changed.get(name, item) for name, item in zip(value._fields, value, strict=True)))


@builtin(_asdict)
def _as_dictionary(m: Machine, value: Value, /) -> Value:
    table = Table(m.store.new_key())
    m.store[table.key] = Entries(value._fields, tuple(value))
    return table


# dataclasses


def by_fields(m: Machine, name: str, left: Object, right: Value) -> Value:
    """Compare two objects of a dataclass by their fields; those of different classes are not equal."""
    if not isinstance(right, Object) or right.kind is not left.kind:
        return Host(NotImplemented)
    names = [each.name for each in dataclasses.fields(left.kind) if each.compare]
    mine, other = (tuple(attribute(m, each, name) for name in names) for each in (left, right))
    return equal(m, mine, other) if name == "eq" else precedes(m, name, mine, other)


@method("as key", Object)
def _as_key(m: Machine, value: Object, action: Callable[[Value], Value]) -> Value:
    """Apply an action to an object as a key: of frozen dataclasses one object stands for all that are equal."""
    kind: Any = value.kind
    if kind.__hash__ is None:
        raise unhashable(m, value)
    if not has_method(value, "__eq__"):
        return action(value)
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    held_names = {name[1:] for name, _ in m.store.names(value.key)} | {*getattr(m.hosts.get(value.key), "__dict__", ())}
    if (
        not (fields and kind.__dataclass_params__.frozen and is_generated(kind.__eq__) and is_generated(kind.__hash__))
        or any(each.compare is False or each.hash is False for each in fields)
        or not held_names <= {each.name for each in fields}
    ):
        what = f"a {name_of(value)} as a key is not in the language, as its class defines =="
        raise m.unsupported(what, "use a frozen dataclass, or a tuple of its attributes")

    def standing(plain: tuple[Value, ...]) -> Value:
        m.adopted[kind] = Host(kind)
        if (kind, plain) not in m.adopted:
            m.adopted[kind, plain] = made = Object(m.store.old_key(), kind)
            for each, part in zip(fields, plain, strict=True):
                m.store.discover((made.key, f".{each.name}"), part)
        found = m.adopted[kind, plain]
        if _kinds(tuple(m.store[found.key, f".{each.name}"] for each in fields)) != _kinds(plain):
            m.builder.mixed = m.builder.met = True
        m.adopted[value] = m.adopted[found] = found
        return action(found)

    return over_keys(m, tuple(attribute(m, value, each.name) for each in fields), standing)


def _kinds(value: Value) -> Value:
    return tuple(map(_kinds, value)) if isinstance(value, tuple) else type(value)
