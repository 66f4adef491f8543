"""What is asked of classes: `isinstance`, `type`, `super`, and attributes by their names."""

from __future__ import annotations

import types
from fractions import Fraction
from typing import Any

from tightdp.core.doubles import Double
from tightdp.core.lowering.arrays import np
from tightdp.core.lowering.expressions import named
from tightdp.core.lowering.frames import Thrown
from tightdp.core.lowering.machine import Machine
from tightdp.core.lowering.objects import Bound, Super, class_of, has_method, held, lookup
from tightdp.core.lowering.registry import builtin
from tightdp.core.lowering.store import MISSING
from tightdp.core.lowering.values import (
    UNBOUND,
    Array,
    Closure,
    Collection,
    Element,
    Host,
    Object,
    Range,
    Reference,
    Table,
    Union,
    Value,
    known,
)
from tightdp.core.nodes import Expr
from tightdp.exact.field import ExpNumber
from tightdp.language.generators import Maker


@builtin(super)
def _super(m: Machine, owner: Value = None, instance: Value = None) -> Value:
    if owner is not None:
        return Super(owner.object, instance)
    frame = next(frame for frame in reversed(m.stack) if not frame.comprehension)
    spec = frame.source.node.args
    first = next(iter((*spec.posonlyargs, *spec.args)), None)
    if "__class__" not in frame.source.namespace or first is None:
        raise m.unsupported("super() outside a method is not in the language", "name the class")
    return Super(frame.source.namespace["__class__"], m.store[frame.key, first.arg])


def _kinds_of(m: Machine, value: Value) -> tuple[type, ...]:
    """Return the classes that a value is an instance of, the first one its own."""
    if isinstance(value, Object):
        return (class_of(value.kind).object,)
    if isinstance(value, Element):
        return (value.dtype.type,)
    if isinstance(value, Array):
        return (np.ndarray,)
    if isinstance(value, Collection):
        return (frozenset if value.frozen else set,)
    if isinstance(value, Thrown):
        return (value.kind,)
    if isinstance(value, Host):
        return (type(value.object),)
    if isinstance(value, (Fraction, ExpNumber)):
        return float, Fraction
    return (next((known_as for kind, known_as in _PYTHON if isinstance(value, kind)), type(value)),)


_PYTHON: tuple[tuple[Any, type], ...] = (
    (Reference, list), (Table, dict), (Range, range), (Double, float), (Closure, types.FunctionType),
    (Bound, types.MethodType),
)  # fmt: skip


def _classes(m: Machine, value: Value) -> tuple[type, ...]:
    """Return the classes that `isinstance` is asked about."""
    if isinstance(value, tuple):
        return tuple(kind for item in value for kind in _classes(m, item))
    found = value.object if isinstance(value, Host) else None
    if isinstance(found, Maker):
        return (found.kind.stands_for,)
    if isinstance(found, types.UnionType):
        return found.__args__
    if not isinstance(found, type):
        raise m.unsupported("isinstance with what is not known to be a class", "name the classes")
    return (found,)


@builtin(isinstance)
def _isinstance(m: Machine, value: Value, kinds: Value, /) -> Value:
    classes = _classes(m, kinds)

    def one_of(thing: Value) -> bool:
        return any(issubclass(kind, classes) for kind in _kinds_of(m, thing))

    def of(thing: Value) -> Value:
        if not isinstance(thing, Expr):
            return one_of(thing)
        if thing.boolean:
            return one_of(True)
        values = thing.values[:1] if isinstance(thing.values, range) else thing.values
        found = [item for item in values if one_of(item)]
        if len(found) in (0, len(values)):
            return bool(found)
        return known(m.builder.disjunction([m.builder.equals(thing, item) for item in found]))

    return m.each(value, of)


@builtin(issubclass)
def _issubclass(m: Machine, kind: Value, kinds: Value, /) -> Value:
    return m.each(kind, lambda one: issubclass(_classes(m, one)[0], _classes(m, kinds)))


@builtin(type)
def _type(m: Machine, value: Value, /) -> Value:
    def of(thing: Value) -> Value:
        values = (thing,) if not isinstance(thing, Expr) else (True,) if thing.boolean else thing.values
        kinds = {_kinds_of(m, item)[0] for item in (values[:1] if isinstance(values, range) else values)}
        if len(kinds) > 1:
            raise m.unsupported("the type of this value is not known here", "use isinstance")
        return Host(kinds.pop())

    return m.each(value, of)


@builtin(callable)
def _callable(m: Machine, value: Value, /) -> Value:
    def of(thing: Value) -> bool:
        if isinstance(thing, Object):
            return has_method(thing, "__call__")
        return isinstance(thing, (Closure, Bound)) or (isinstance(thing, Host) and callable(thing.object))

    return m.each(value, of)


@builtin(getattr)
def _getattr(m: Machine, value: Value, name: Value, default: Value = MISSING, /) -> Value:
    if not isinstance(name, str):
        raise m.unsupported("getattr with a name that depends on the run", "branch on it")

    def of(thing: Value) -> Value:
        if default is not MISSING and not _has(m, thing, name):
            return default
        return named(m, thing, name)

    return m.each(value, of)


@builtin(hasattr)
def _hasattr(m: Machine, value: Value, name: Value, /) -> Value:
    return m.each(value, lambda thing: _has(m, thing, name))


def _has(m: Machine, thing: Value, name: Value) -> bool:
    if isinstance(thing, Object) and isinstance(name, str):
        found = held(m, thing, name)
        if isinstance(found, Union):
            raise m.unsupported(f"whether {name} is there depends on the run", "assign it on every path")
        return found not in (MISSING, UNBOUND) or lookup(thing.kind.__mro__, name) is not MISSING
    if isinstance(thing, Host) and isinstance(name, str):
        return hasattr(thing.object, name)
    kinds = _kinds_of(m, thing.values[0] if isinstance(thing, Expr) else thing)
    return isinstance(name, str) and hasattr(kinds[0], name)
