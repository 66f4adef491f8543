"""What is asked of classes: `isinstance`, `type`, `super`, attributes by their names; and operators of objects."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import types
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

from tightdp.core.between import Between
from tightdp.core.doubles import Double
from tightdp.core.lowering.arrays import np
from tightdp.core.lowering.deques import Deque
from tightdp.core.lowering.expressions import binary, named
from tightdp.core.lowering.fields import by_fields
from tightdp.core.lowering.frames import Thrown
from tightdp.core.lowering.functions import call
from tightdp.core.lowering.iteration import collected, entered
from tightdp.core.lowering.machine import Failure, Machine
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
    taken,
)
from tightdp.core.lowering.refusals import refuse_members, refuse_mixed, refuse_quotients
from tightdp.core.lowering.registry import FUNCTIONS, builtin, method, operates
from tightdp.core.lowering.scalars import COUNTS, indexed, operate, over_values, truth
from tightdp.core.lowering.sequences import contains
from tightdp.core.lowering.store import MISSING
from tightdp.core.lowering.values import (
    UNBOUND,
    Array,
    Closure,
    Collection,
    Cut,
    Element,
    Every,
    Growing,
    Host,
    Object,
    Range,
    Reference,
    Stream,
    Table,
    Union,
    Value,
    View,
    is_scalar,
    known,
    name_of,
    numeric,
)
from tightdp.core.nodes import Expr
from tightdp.core.operators import Far
from tightdp.core.unmerged import outside
from tightdp.exact.field import ExpNumber
from tightdp.exact.lazily import lazily
from tightdp.language.generators import Maker

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
    return (next((known_as for kind, known_as in _PYTHON if isinstance(value, kind)), type(value)),)


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
        found = [issubclass(kind, classes) for kind in _kinds_of(m, thing)]
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
        if len(kinds) > 1 or any(kind.__module__.startswith(str(__package__)) for kind in kinds):
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
    if isinstance(thing, Object) and isinstance(name, str):
        found = held(m, thing, name)
        if isinstance(found, Union):
            raise m.unsupported(f"whether {name} is there depends on the run", "assign it on every path")
        return found not in (MISSING, UNBOUND) or lookup(thing.kind.__mro__, name) is not MISSING
    if isinstance(thing, Host) and isinstance(name, str):
        return hasattr(thing.object, name)
    return isinstance(name, str) and hasattr(_kinds_of(m, thing)[0], name)


# operators of objects

_SPECIAL = {"bitand": "and", "bitor": "or", "bitxor": "xor", "div": "truediv"}
"""The methods that stand for operations of other names than theirs."""
_MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq"}
_OF_ONE = ("len", "iter", "getitem", "setitem", "delitem", "contains")
_OF_INTEGERS = ("int", "bin", "floor", "ceil", "comb", "perm", "gcd", "factorial", "isqrt")
"""The operations that take an object that stands for an integer for this integer."""
_IN_PLACE = "in place "


@operates(Object)
def _operated(m: Machine, name: str, *operands: Value) -> Value:
    """Apply an operation to objects: call the method that a class has for it."""
    first = operands[0]
    if name == "bool":
        asked = next((each for each in ("__bool__", "__len__") if has_method(first, each)), None)
        return True if asked is None else truth(m, _special(m, asked, first))
    if name == "contains":
        if not has_method(first, "__contains__"):
            inside = entered(m, first)
            return contains(m, inside if isinstance(inside, Stream) else collected(m, inside), operands[1])
        return known(truth(m, _special(m, "__contains__", *operands)))
    for each in operands if name == "eq" else ():
        if isinstance(each, Object) and has_method(each, "__ne__"):
            raise m.unsupported(f"__ne__ of {name_of(each)} is not in the language", "leave it to __eq__")
    plain = name.removeprefix(_IN_PLACE)
    ways = _ways(plain, operands)
    if plain != name:
        ways.insert(0, (f"__i{_SPECIAL.get(plain, plain)}__", operands))

    def first_from(at: int) -> Value:
        if at == len(ways):
            return _by_no_method(m, name, operands)
        asked, (one, *others) = ways[at]
        if not (isinstance(one, Object) and has_method(one, asked)):
            return first_from(at + 1)
        found = _special(m, asked, one, *others)
        return m.each(found, lambda result: first_from(at + 1) if _is_refusal(result) else opened(result))

    def opened(result: Value) -> Value:
        stepped = name == "iter" and isinstance(result, Object) and has_method(result, "__next__")
        return call(m, Host(written.items_one_by_one), (result,), {}) if stepped else result

    return first_from(0)


def _is_refusal(result: Value) -> bool:
    return isinstance(result, Host) and result.object is NotImplemented


def _by_no_method(m: Machine, name: str, operands: tuple[Value, ...]) -> Value:
    """Return what Python makes of operands whose classes have no method for an operation."""
    first, plain = operands[0], name.removeprefix(_IN_PLACE)
    special = _SPECIAL.get(plain, plain)
    if name == "eq":
        return first == operands[1]
    if name == "iter" and has_method(first, "__getitem__"):
        return call(m, Host(written.items_by_index), operands, {})
    for one, other in (operands, operands[::-1]) if name == "mul" else ():
        if isinstance(other, Object) and has_method(other, "__index__") and not (is_scalar(one) and numeric(one)):
            return binary(m, name, one, indexed(m, other), m.position[-1])
    if name in _OF_INTEGERS and all(has_method(each, "__index__") for each in operands if isinstance(each, Object)):
        return operate(m, name, *(indexed(m, each) for each in operands))
    if special == plain and plain not in (*_MIRRORED, *_OF_ONE) and not hasattr(int, f"__{plain}__"):
        raise m.unsupported(f"{plain} of a {name_of(first)} is not in the language", "give it an attribute")
    failed = " and ".join(name_of(each) for each in operands)
    raise Failure(f"TypeError: there is no {plain} of {failed}", f"define __{special}__ in the class")


for _name in ("getitem", "setitem", "delitem"):
    method(f"__{_name}__", Object)(partial(lambda name, m, *operands: _operated(m, name, *operands), _name))


def _ways(name: str, operands: tuple[Value, ...]) -> list[tuple[str, tuple[Value, ...]]]:
    """Return the methods that Python looks for, in its order, and what each is given."""
    special = _SPECIAL.get(name, name)
    ways = [(f"__{special}__", operands)]
    kinds = [each.kind if isinstance(each, Object) else object for each in operands]
    if len(operands) == 2 and name not in _OF_ONE and (name in _MIRRORED or kinds[0] is not kinds[1]):
        ways.append((f"__{_MIRRORED[name]}__" if name in _MIRRORED else f"__r{special}__", operands[::-1]))
        own = name in _MIRRORED or len({lookup(kind.__mro__, ways[1][0]) for kind in kinds}) > 1
        if kinds[0] is not object and kinds[0] is not kinds[1] and issubclass(kinds[1], kinds[0]) and own:
            ways.reverse()
    return ways


def _special(m: Machine, name: str, value: Object, *others: Value) -> Value:
    """Call a method that stands for an operation."""
    found = lookup(value.kind.__mro__, name)
    if isinstance(found, types.FunctionType) and dataclasses.is_dataclass(value.kind) and is_generated(found):
        return by_fields(m, name.strip("_"), value, *others)
    return call(m, taken(m, found, value.kind, value), others, {})


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
        return _special(m, "__format__", value, spec)
    if spec != "":
        raise Failure(f"TypeError: unsupported format string passed to {name_of(value)}", "leave it out")
    ways = [each for each in ("__str__", "__repr__") if has_method(value, each)][-1 if operation == "repr" else 0 :]
    found = lookup(value.kind.__mro__, ways[0]) if ways else None
    if isinstance(found, types.FunctionType):
        generated = dataclasses.is_dataclass(value.kind) and is_generated(inspect.unwrap(found))
        names = [each.name for each in dataclasses.fields(value.kind) if each.repr] if generated else []
        parts = [(f"{name}=", attribute(m, value, name)) for name in names]
        return _joined(m, value.kind.__qualname__, parts) if generated else _special(m, ways[0], value)
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
