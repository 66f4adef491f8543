"""What is asked of classes: `isinstance`, `type`, `super`, attributes by their names; and operators of objects."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import types
from collections import Counter, abc, defaultdict, deque
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from tightdp.core.between import Between
from tightdp.core.doubles import Double
from tightdp.core.lowering.arrays import np
from tightdp.core.lowering.deques import Deque
from tightdp.core.lowering.expressions import binary, named
from tightdp.core.lowering.frames import Thrown, of_library
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.object_operators import special
from tightdp.core.lowering.objects import (
    Bound,
    Super,
    assign,
    attribute,
    class_of,
    has_method,
    held,
    is_generated,
    lookup,
    put,
)
from tightdp.core.lowering.refusals import refuse_members, refuse_mixed, refuse_quotients
from tightdp.core.lowering.registry import CALLS, FUNCTIONS, builtin, method
from tightdp.core.lowering.scalars import COUNTS, operate, over_values
from tightdp.core.lowering.store import MISSING
from tightdp.core.lowering.values import (
    UNBOUND,
    Array,
    Closure,
    Collection,
    Cut,
    Element,
    Every,
    Generator,
    Growing,
    Host,
    Method,
    Object,
    Range,
    Reference,
    Stream,
    Table,
    Union,
    Value,
    View,
    known,
    name_of,
)
from tightdp.core.nodes import Expr
from tightdp.core.operators import Far
from tightdp.core.unmerged import outside
from tightdp.exact.field import ExpNumber
from tightdp.exact.lazily import lazily
from tightdp.language.generators import Maker
from tightdp.language.source import is_foreign

written: Any = lazily("tightdp.language.library_objects")


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
    if isinstance(value, Table) and value.missing is not None:
        return (Counter if value.missing is COUNTS else defaultdict,)
    if isinstance(value, View):
        return (type(getattr({}, value.part)()),)
    if isinstance(value, (Fraction, ExpNumber)) or (isinstance(value, Between) and not value.whole):
        return float, Fraction
    if isinstance(value, (Far, Between)):
        parts = (value.rest, *(c for _, c in value.parts)) if isinstance(value, Far) else (value.times, value.plus)
        if not all(type(part) is int for part in parts):
            raise outside("is multiplied, or added to, and asked for its type")
        return (int,)
    if isinstance(value, Growing) or (isinstance(value, Every) and not value.parts):
        return (tuple,)
    if isinstance(value, (Stream, Every)):
        generator = isinstance(value, Generator) and not of_library(value)
        return (types.GeneratorType if generator else _STREAMS.get(getattr(value, "name", ""), written.Items),)
    return (next((known_as for kind, known_as in _PYTHON if isinstance(value, kind)), type(value)),)


_STREAMS = {"zip": zip, "enumerate": enumerate}
_PYTHON: tuple[tuple[Any, type], ...] = (
    (Deque, deque), (Reference, list), (Table, dict), (Range, range), (Double, float), (Closure, types.FunctionType),
    (Bound, types.MethodType), (Cut, slice),
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
    if isinstance(found, enum.EnumType) and issubclass(found, int):
        raise m.unsupported("the class of a member of an IntEnum is not in the language", "compare members with ==")
    return (found,)


@builtin(isinstance)
def _isinstance(m: Machine, value: Value, kinds: Value, /) -> Value:
    classes = _classes(m, kinds)

    def one_of(thing: Value) -> bool:
        kinds = _kinds_of(m, thing)
        if _is_inner(m, kinds[0]) and not all(_tells_apart(kind, kinds[0]) for kind in classes):
            raise m.unsupported(*_UNKNOWN)
        found = [issubclass(kind, classes) for kind in kinds]
        if found == [False, True]:
            raise m.unsupported("whether a number is a Fraction or a float is not in the language", "ask for both")
        return found[0]

    def of(thing: Value) -> Value:
        if one_of(True) is not one_of(1):
            refuse_mixed(m, thing, "isinstance", "compare it with a number, or keep truth values apart")
        if issubclass(int, classes) is not (issubclass(float, classes) or issubclass(Fraction, classes)):
            refuse_quotients(m, thing, "isinstance")
        return _of_which(m, thing, one_of)

    return m.each(value, of)


_UNKNOWN = "the class of this value is not known here", "ask for lists, tuples, numbers and your own classes"
_PLAIN = frozenset(
    {bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, range, type(None), Fraction}
)
_OF_ITERATORS = ("__iter__", "__next__", "__len__", "__getitem__", "__reversed__", "__contains__", "__call__")


def _is_inner(m: Machine, kind: type) -> bool:
    """Whether a class stands for one of Python's library that is not known, asked about by a program."""
    return kind.__module__.startswith("tightdp.") and not of_library(m.frame)


def _tells_apart(kind: type, inner: type) -> bool:
    """Whether nothing of Python's library is of a class, unless what stands for it is."""
    top = kind.__module__.partition(".")[0]
    if inner.__module__ == written.__name__ and top == "collections" and kind.__module__.endswith(".abc"):
        return kind is not abc.Generator
    return kind in _PLAIN or top in ("numpy", "numbers") or not is_foreign(kind)


def _of_which(m: Machine, thing: Value, one_of: Callable[[Value], bool]) -> Value:
    """Return whether something holds that the class of a value decides."""
    if not isinstance(thing, Expr):
        return one_of(thing)
    if thing.boolean:
        return one_of(True)
    values = thing.values[:1] if isinstance(thing.values, range) else thing.values
    found = [item for item in values if one_of(item)]
    if len(found) in (0, len(values)):
        return bool(found)
    return known(m.builder.disjunction([m.builder.equals(thing, item) for item in found]))


@builtin(issubclass)
def _issubclass(m: Machine, kind: Value, kinds: Value, /) -> Value:
    return m.each(kind, lambda one: issubclass(_classes(m, one)[0], _classes(m, kinds)))


@builtin(type)
def _type(m: Machine, value: Value, /) -> Value:
    def of(thing: Value) -> Value:
        refuse_mixed(m, thing, "the type", "compare it with a number, or keep truth values apart")
        refuse_quotients(m, thing, "the type")
        refuse_members(m, thing, "the class")
        values = (thing,) if not isinstance(thing, Expr) else (True,) if thing.boolean else thing.values
        kinds = {_kinds_of(m, item)[0] for item in (values[:1] if isinstance(values, range) else values)}
        if len(kinds) > 1 or any(_is_inner(m, kind) for kind in kinds):
            raise m.unsupported("the type of this value is not known here", "use isinstance")
        return Host(kinds.pop())

    return m.each(value, of)


@builtin(callable)
def _callable(m: Machine, value: Value, /) -> Value:
    def of(thing: Value) -> bool:
        if isinstance(thing, Object):
            return has_method(thing, "__call__")
        return callable(thing.object) if isinstance(thing, Host) else type(thing) in {*CALLS, Closure, Method}

    return m.each(value, of)


@builtin(getattr)
def _getattr(m: Machine, value: Value, name: Value, default: Value = MISSING, /) -> Value:
    def of(thing: Value, one: str) -> Value:
        there = default is MISSING or _of_which(m, thing, lambda each: _has(m, each, one))
        if not isinstance(there, bool):
            raise m.unsupported(f"whether {one} is there depends on the run", "test what it is before")
        return named(m, thing, one) if there else default

    return m.each(value, lambda thing: over_values(m, name, lambda one: of(thing, _written_name(m, one))))


@builtin(setattr)
def _setattr(m: Machine, value: Value, name: Value, new: Value, /) -> None:
    node = m.position[-1]
    m.each(value, lambda thing: over_values(m, name, lambda one: assign(m, thing, _written_name(m, one), new, node)))


@method("__setattr__", Host)
def _set_by_object(m: Machine, base: Host, value: Value, name: Value, new: Value, /) -> None:
    if base.object is not object:
        raise m.unsupported(f"__setattr__ of a {name_of(base)} is not in the language", "write object.__setattr__")
    if value in m.adopted:
        what = f"a {name_of(value)} that changes after it was a key is not in the language"
        raise m.unsupported(what, "make another one")
    put(m, value, _written_name(m, name), new)


def _written_name(m: Machine, name: Value) -> str:
    if not isinstance(name, str):
        raise Failure("TypeError: attribute name must be string", "give it the text of a name")
    if name.startswith("__") and not name.endswith("__"):
        raise m.unsupported("the text of a private name is not in the language", "write the attribute out")
    return name


@builtin(hasattr)
def _hasattr(m: Machine, value: Value, name: Value, /) -> Value:
    return m.each(value, lambda thing: _of_which(m, thing, lambda one: _has(m, one, name)))


def _has(m: Machine, thing: Value, name: Value) -> bool:
    kind = _kinds_of(m, thing)[0]
    if _is_inner(m, kind):
        if name not in _OF_ITERATORS:
            raise m.unsupported(*_UNKNOWN)
        return hasattr(kind, str(name))
    if isinstance(thing, Object) and isinstance(name, str):
        found = held(m, thing, name)
        if isinstance(found, Union):
            raise m.unsupported(f"whether {name} is there depends on the run", "assign it on every path")
        return found not in (MISSING, UNBOUND) or lookup(thing.kind.__mro__, name) is not MISSING
    if isinstance(thing, Host) and isinstance(name, str):
        return hasattr(thing.object, name)
    return isinstance(name, str) and hasattr(kind, name)


# texts


@method("as text", Object)
def _as_text(m: Machine, thing: Object | Thrown, operation: str, spec: str = "") -> Value:
    """Return the text of an object or an exception, by `repr`, `str` or `format`."""
    value: Any = thing.held if isinstance(thing, Thrown) else thing
    if value is None:
        hint = "return the name of its class, type(error).__name__"
        raise m.unsupported("the text of an exception that Python raises is not in the language", hint)
    if isinstance(value.kind, enum.EnumType) and value.key in m.hosts:
        member = m.hosts[value.key]
        return format(member, spec) if operation == "format" else str(member) if operation == "str" else repr(member)
    if operation == "format" and has_method(value, "__format__"):
        return special(m, "__format__", value, spec)
    if spec != "":
        raise Failure(f"TypeError: unsupported format string passed to {name_of(value)}", "leave it out")
    ways = [each for each in ("__str__", "__repr__") if has_method(value, each)][-1 if operation == "repr" else 0 :]
    found = lookup(value.kind.__mro__, ways[0]) if ways else None
    if isinstance(found, types.FunctionType):
        generated = dataclasses.is_dataclass(value.kind) and is_generated(inspect.unwrap(found))
        names = [each.name for each in dataclasses.fields(value.kind) if each.repr] if generated else []
        parts = [(f"{name}=", attribute(m, value, name)) for name in names]
        return _joined(m, value.kind.__qualname__, parts) if generated else special(m, ways[0], value)
    if found not in (BaseException.__str__, BaseException.__repr__, KeyError.__str__):
        raise m.unsupported(f"a {name_of(value)} in a string is not in the language", "put its items in, one by one")

    def with_arguments(given: tuple[Value, ...]) -> Value:
        if found is BaseException.__repr__:
            return _joined(m, value.kind.__name__, [("", each) for each in given])
        if len(given) != 1:
            return FUNCTIONS[str](m, given) if given else ""
        return FUNCTIONS[repr if found is KeyError.__str__ else str](m, given[0])

    return m.each(attribute(m, value, "args"), with_arguments)


def _joined(m: Machine, name: str, parts: list[tuple[str, Value]]) -> Value:
    text: Value = f"{name}("
    for at, (sign, part) in enumerate(parts):
        text = operate(m, "add", text, (", " if at else "") + sign)
        text = binary(m, "add", text, FUNCTIONS[repr](m, part), m.position[-1])
    return operate(m, "add", text, ")")
