"""Objects: records of attributes, of which the class is known, and calls of methods, which are calls with `self`.

An attribute is a cell, as a name of a frame is. Objects of the enclosing module are copied when a run first meets them:
what a run does to them, the next one does not see.
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import functools
import types
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from tightdp.core.lowering.frames import Thrown
from tightdp.core.lowering.functions import call, call_python
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.registry import METHODS, adopts, assigns, builtin, called, has_attributes
from tightdp.core.lowering.scalars import COUNTS, adopt, bind_arguments, member, over_all
from tightdp.core.lowering.store import MISSING
from tightdp.core.lowering.values import (
    UNBOUND,
    Entries,
    Host,
    Object,
    Reference,
    Table,
    Value,
    name_of,
)
from tightdp.errors import LanguageError
from tightdp.language.classes import METACLASSES, readable
from tightdp.language.generators import SEEDED, Maker
from tightdp.language.source import is_foreign
from tightdp.language.stand_ins import stand_in


@dataclass(frozen=True, eq=False)
class Bound:
    """A function whose first argument is given: a method of an object or of a class."""

    function: Any
    first: Value


@dataclass(frozen=True, eq=False)
class Super:
    """What `super()` gives: an object, or a class, of which classes after `owner` are asked."""

    owner: type
    instance: Value


@dataclass(frozen=True, eq=False)
class Remembering:
    """A function that keeps its results for the next run, as `functools.cache` makes it, and those of numbers."""

    function: Any
    results: dict[Any, Value] = field(default_factory=dict)


_CACHES = type(functools.cache(len))


# what a class has


def lookup(mro: tuple[type, ...], name: str) -> Value:
    """Return what the first of some classes that has a name holds under it, else `MISSING`."""
    return next((vars(kind)[name] for kind in mro if name in vars(kind)), MISSING)


def has_method(value: Object, name: str) -> bool:
    """Whether the class of an object defines a method, which is not that of `object`."""
    return lookup(value.kind.__mro__[:-1], name) is not MISSING


def taken(m: Machine, found: Value, kind: type, instance: Value) -> Value:
    """Return what a class holds as an attribute of an instance, or (None) of the class."""
    if isinstance(found, staticmethod):
        return adopt(m, found.__func__)
    if isinstance(found, classmethod):
        return Bound(found.__func__, Host(kind))
    if instance is not None:
        if isinstance(found, property) and found.fget is not None:
            return call_python(m, found.fget, (instance,), {})
        if isinstance(found, (types.FunctionType, types.BuiltinFunctionType)):
            return Bound(found, instance)
        if isinstance(found, types.DynamicClassAttribute) and instance.key in m.hosts:  # value and name of an enum.Enum
            return adopt(m, found.__get__(m.hosts[instance.key]))
        if hasattr(type(found), "__get__"):
            what = f"a {type(found).__name__} in {kind.__name__} is not in the language"
            raise m.unsupported(what, "use methods, properties and attributes")
    return adopt(m, found)


def class_of(kind: Value) -> Host:
    """Return a class as a value; of what stands for a generator, that of the generator."""
    return Host(getattr(kind, "stands_for", kind))


# attributes


@has_attributes(Object)
def attribute(m: Machine, value: Object, name: str) -> Value:
    """Return an attribute of an object, as Python finds it."""
    name = _mangled(m, name)
    if name == "__class__":
        return class_of(value.kind)
    _refuse_special(m, value.kind, "__getattribute__")
    found = lookup(value.kind.__mro__, name)
    if isinstance(found, property):
        return taken(m, found, value.kind, value)
    if issubclass(value.kind, BaseException) and type(found) in _OF_PYTHON and name != "args":
        raise m.unsupported(*_HELD)
    here = held(m, value, name)

    def otherwise(item: Value) -> Value:
        if item is not UNBOUND:
            return item
        if isinstance(found, functools.cached_property):
            result = call_python(m, found.func, (value,), {})
            m.store[value.key, f".{name}"] = result
            return result
        if isinstance(found, _CACHES):
            return METHODS[Object, "remembering"](m, value, found)
        if found is MISSING or isinstance(found, types.MemberDescriptorType) or found is vars(BaseException)["args"]:
            return _without(m, value, name)
        return taken(m, found, value.kind, value)

    return m.each(UNBOUND if here is MISSING else here, otherwise)


def _without(m: Machine, value: Object, name: str) -> Value:
    kind: Any = value.kind
    if hasattr(kind, "stands_for"):
        known_ones = ", ".join(each for each in dir(kind) if not each.startswith("_") and each != "stands_for")
        what = f"{name} of {kind.stands_for.__module__}.{kind.stands_for.__name__} is not in the language"
        raise m.unsupported(what, f"there are {known_ones}")
    if has_method(value, "__getattr__"):
        return call(m, attribute(m, value, "__getattr__"), (name,), {})
    raise Failure(f"AttributeError: {value.kind.__name__} has no attribute {name!r} on this run", "assign it before")


def held(m: Machine, value: Object, name: str) -> Value:
    """Return what an object itself holds under a name; of one that was there before, when it is first asked for."""
    cell = value.key, f".{name}"
    found = m.store.get(cell)
    if found is MISSING and value.key in m.hosts:
        thing = m.hosts[value.key]
        state = getattr(thing, "__dict__", {})
        if name in state:
            m.store.discover(cell, _copied(m, state[name]))
        elif isinstance(lookup(value.kind.__mro__, name), types.MemberDescriptorType) and hasattr(thing, name):
            m.store.discover(cell, _copied(m, getattr(thing, name)))
        else:
            m.store.discover(cell, UNBOUND)
        found = m.store.get(cell)
    return found


def _copied(m: Machine, thing: Value) -> Value:
    """Return what an object of the enclosing module holds, as something that a run may change."""
    if type(thing) is tuple:
        return tuple(_copied(m, item) for item in thing)
    if type(thing) is list:
        reference = Reference(m.store.old_key())
        m.store.discover(reference.key, tuple(_copied(m, item) for item in thing))
        return reference
    if type(thing) is dict:
        table = Table(m.store.old_key())
        m.store.discover(table.key, Entries.of({key: _copied(m, item) for key, item in thing.items()}))
        return table
    return adopt(m, thing)


@has_attributes(Super)
def _of_super(m: Machine, value: Super, name: str) -> Value:
    kind = value.instance.kind if isinstance(value.instance, Object) else value.instance.object
    mro = kind.__mro__
    found = lookup(mro[mro.index(value.owner) + 1 :], name)
    if found is object.__init__ or found is object.__init_subclass__:
        return Host(_nothing)
    if name == "__init__" and issubclass(kind, BaseException) and isinstance(found, types.WrapperDescriptorType):
        return Bound(_message, value.instance)
    if found is MISSING:
        raise Failure(f"AttributeError: super() has no attribute {name!r}", "check the name")
    return taken(m, found, kind, value.instance if isinstance(value.instance, Object) else None)


def _nothing() -> None:
    """What `object` does where a class begins with nothing."""


def _message(error: object, *given: object) -> None:
    """What exceptions do where a class begins with a message: they hold it."""


builtin(_nothing)(lambda m: None)


@builtin(_message)
def _holds(m: Machine, error: Object, *given: Value) -> None:
    m.store[error.key, ".args"] = given


@has_attributes(Host)
def _of_class(m: Machine, value: Host, name: str) -> Value:
    """Return an attribute of a class."""
    kind = value.object
    found = lookup(kind.__mro__, _mangled(m, name))
    if found is MISSING and hasattr(type(kind), name):
        raise m.unsupported(f"the attribute .{name} of a class is not in the language", "write out what it gives")
    if found is MISSING:
        raise Failure(f"AttributeError: {kind.__name__} has no attribute {name!r}", "check the name")
    return taken(m, found, kind, None)


_OF_PYTHON = (types.MemberDescriptorType, types.GetSetDescriptorType, types.MethodDescriptorType)
_HELD = ("what an exception of Python holds is not in the language", "branch on its class: except ValueError")


@has_attributes(Thrown)
def _of_thrown(m: Machine, value: Thrown, name: str) -> Value:
    if name == "__class__":
        return Host(value.kind)
    if value.held is None:
        raise m.unsupported(*_HELD)
    return attribute(m, value.held, name)


def _mangled(m: Machine, name: str) -> str:
    """Return the name that a private attribute has inside a class."""
    owner = m.frame.source.owner.lstrip("_")
    return f"_{owner}{name}" if owner and name.startswith("__") and not name.endswith("__") else name


def _refuse_special(m: Machine, kind: type, name: str) -> None:
    if not isinstance(lookup(kind.__mro__, name), types.WrapperDescriptorType):  # that of Python
        raise m.unsupported(f"{name} of {kind.__name__} is not in the language", "use ordinary attributes")


@assigns(ast.Attribute)
def _to_attribute(m: Machine, target: ast.Attribute, value: Value) -> None:
    m.each(m.evaluate(target.value), lambda one: assign(m, one, target.attr, value, target))


def assign(m: Machine, value: Value, name: str, new: Value, node: ast.AST) -> None:
    """Let an attribute of an object be another one."""
    if not isinstance(value, Object):
        what = f"an attribute of a {name_of(value)} cannot be changed"
        raise m.unsupported(what, "what runs change, other runs must not see: keep it in an object or a list", node)
    name = _mangled(m, name)
    _refuse_special(m, value.kind, "__setattr__")
    found = lookup(value.kind.__mro__, name)
    if isinstance(found, property):
        if found.fset is None:
            raise Failure(f"AttributeError: property {name!r} of {value.kind.__name__} has no setter")
        call_python(m, found.fset, (value, new), {})
        return
    of_slots = isinstance(found, types.MemberDescriptorType)
    if hasattr(type(found), "__set__") and not of_slots:
        what = f"a {type(found).__name__} in {value.kind.__name__} is not in the language"
        raise m.unsupported(what, "use methods, properties and attributes", node)
    if not value.kind.__dictoffset__ and not of_slots:
        raise Failure(f"AttributeError: {value.kind.__name__} has no {name!r} in its __slots__", "name it there")
    put(m, value, name, new)


def put(m: Machine, value: Value, name: str, new: Value) -> None:
    """Let an attribute of an object be another one, as `object` does it."""
    held(m, value, name)
    m.store[value.key, f".{name}"] = new


# calls


@called(Bound)
def _bound(m: Machine, value: Bound, arguments: Value, keywords: Value) -> Value:
    return call(m, Host(value.function), (value.first, *arguments), keywords)


@called(Object)
def _object(m: Machine, value: Object, arguments: Value, keywords: Value) -> Value:
    if not has_method(value, "__call__"):
        raise Failure(f"TypeError: {value.kind.__name__} object is not callable", "call a function")
    return call(m, attribute(m, value, "__call__"), arguments, keywords)


@called(Host)
def made(m: Machine, value: Host, arguments: Value, keywords: Value) -> Value:
    """Make an object of a class, or a generator."""
    kind = value.object
    if isinstance(kind, Maker):
        given = bind_arguments(kind.__name__, kind, 0, arguments, keywords)
        if given.args and isinstance(given.args[0], Object) and issubclass(given.args[0].kind, kind.kind):
            return given.args[0]
        if any(seed is not None for seed in given.args):
            raise m.unsupported(*SEEDED)
        return Object(m.store.new_key(), kind.kind)
    if isinstance(kind, enum.EnumType):
        return over_all(m, arguments, lambda *plain: member(m, kind, kind, *plain))
    if issubclass(kind, tuple) and is_generated(kind.__new__):
        return METHODS[tuple, "made of"](m, kind, arguments, keywords)
    if issubclass(kind, BaseException):
        return _exception(m, kind, arguments, keywords)
    if type(kind) not in METACLASSES or kind.__new__ is not object.__new__:
        what = f"{kind.__name__} makes its objects in its own way, which is not in the language"
        raise m.unsupported(what, "make them at the top of the module, or use a class with __init__ alone")
    if getattr(kind, "__abstractmethods__", None):
        raise Failure(f"TypeError: Can't instantiate abstract class {kind.__name__}", "make one of its subclasses")
    made_one = Object(m.store.new_key(), kind)
    begin = lookup(kind.__mro__, "__init__")
    if dataclasses.is_dataclass(kind) and is_generated(begin):
        _fill(m, made_one, arguments, keywords)
    elif begin is not object.__init__:
        call(m, Bound(begin, made_one), arguments, keywords)
    elif arguments or keywords:
        raise Failure(f"TypeError: {kind.__name__}() takes no arguments", "leave them out")
    return made_one


def _exception(m: Machine, kind: type, arguments: Value, keywords: Value) -> Object:
    begin, made_one = lookup(kind.__mro__, "__init__"), Object(m.store.new_key(), kind)
    m.store[made_one.key, ".args"] = arguments
    if isinstance(begin, types.FunctionType):
        call(m, Bound(begin, made_one), arguments, keywords)
    elif keywords:
        raise m.unsupported("an exception with named arguments is not in the language", "give them in their order")
    return made_one


def is_generated(function: Value) -> bool:
    """Whether Python itself wrote a function, as that which fills a dataclass or makes a named tuple."""
    return hasattr(function, "__code__") and str(function.__code__.co_filename).startswith("<string>")


def _fill(m: Machine, value: Object, arguments: Value, keywords: Value) -> None:
    """Give an object of a dataclass its fields."""
    kind: Any = value.kind
    given = bind_arguments(kind.__name__, kind.__init__, 1, arguments, keywords).arguments
    for each in dataclasses.fields(kind):
        if each.init and each.name in given:
            found = given[each.name]
        elif each.default is not dataclasses.MISSING:
            found = adopt(m, each.default)
        elif each.default_factory is not dataclasses.MISSING:
            found = call(m, adopt(m, each.default_factory), (), {})
        else:
            continue
        m.store[value.key, f".{each.name}"] = found
    if has_method(value, "__post_init__"):
        call(m, attribute(m, value, "__post_init__"), (), {})


# objects of the enclosing module


@adopts("object")
def _adopted(m: Machine, thing: Value) -> Value:
    """Return an object, a method of one, or what stands for a generator."""
    try:
        thing = stand_in(thing)
    except LanguageError as error:
        raise m.unsupported(error.what, error.hint) from None
    if isinstance(thing, types.MethodType):
        owner = adopt(m, thing.__self__)
        return Bound(thing.__func__, owner) if isinstance(owner, (Object, Host)) else Host(thing)
    if isinstance(thing, _CACHES) and not is_foreign(thing.__wrapped__):
        return m.adopted.setdefault(id(thing), Remembering(thing.__wrapped__))
    if type(thing) in (Counter, defaultdict):
        if id(thing) not in m.adopted:
            missing = COUNTS if type(thing) is Counter else adopt(m, thing.default_factory)
            m.adopted[id(thing)] = table = Table(m.store.old_key(), missing)
            m.store.discover(table.key, Entries.of({adopt(m, key): _copied(m, item) for key, item in thing.items()}))
        return m.adopted[id(thing)]
    if isinstance(thing, type) or not readable(type(thing)):
        return Host(thing)
    if id(thing) not in m.adopted:
        m.adopted[id(thing)] = Object(m.store.old_key(), type(thing))
        m.hosts[m.adopted[id(thing)].key] = thing
    return m.adopted[id(thing)]
