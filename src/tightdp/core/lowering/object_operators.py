"""Operators of objects: the methods that Python calls for them, in its order."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Sequence
from functools import partial
from typing import Any

from tightdp.core.lowering.expressions import binary
from tightdp.core.lowering.fields import by_fields
from tightdp.core.lowering.functions import call, call_python
from tightdp.core.lowering.iteration import collected, entered
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.objects import (
    has_method,
    is_generated,
    lookup,
    taken,
)
from tightdp.core.lowering.registry import builtin, method, operates
from tightdp.core.lowering.scalars import indexed, operate, truth
from tightdp.core.lowering.sequences import contains
from tightdp.core.lowering.values import (
    Host,
    Object,
    Stream,
    Value,
    is_scalar,
    known,
    name_of,
    numeric,
)
from tightdp.exact.lazily import lazily

written: Any = lazily("tightdp.language.library_objects")

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
        return True if asked is None else truth(m, special(m, asked, first))
    if name == "contains":
        if not has_method(first, "__contains__"):
            inside = entered(m, first)
            return contains(m, inside if isinstance(inside, Stream) else collected(m, inside), operands[1])
        return known(truth(m, special(m, "__contains__", *operands)))
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
        found = special(m, asked, one, *others)
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


def special(m: Machine, name: str, value: Object, *others: Value) -> Value:
    """Call a method that stands for an operation."""
    found = lookup(value.kind.__mro__, name)
    if isinstance(found, types.FunctionType) and dataclasses.is_dataclass(value.kind) and is_generated(found):
        return by_fields(m, name.strip("_"), value, *others)
    return call(m, taken(m, found, value.kind, value), others, {})


@builtin(Sequence.__iter__)
def _by_index(m: Machine, sequence: Value) -> Value:
    return call_python(m, written.items_by_index, (sequence,), {})
