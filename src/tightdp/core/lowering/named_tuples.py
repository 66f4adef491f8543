"""Tuples that have names for their items: those of `namedtuple`, and of classes under `NamedTuple`.

They are kept as what they are, tuples of their class, so that all that is done with tuples is done with them.
"""

from __future__ import annotations

import types

from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.objects import Bound, lookup, taken
from tightdp.core.lowering.registry import builtin, has_attributes, method
from tightdp.core.lowering.scalars import adopt, bind_arguments
from tightdp.core.lowering.store import MISSING, like
from tightdp.core.lowering.values import Entries, Method, Table, Value


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
