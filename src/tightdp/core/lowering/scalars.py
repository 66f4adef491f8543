"""Operations on scalars, truth values, actions for every value that a scalar may take, and what handlers are given."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from enum import Enum, Flag, ReprEnum
from fractions import Fraction
from functools import lru_cache, partial
from inspect import BoundArguments, signature
from types import ModuleType
from typing import Any

from tightdp.core.doubles import Double
from tightdp.core.float_operators import IN_DOUBLES
from tightdp.core.lowering.ledger import Ledger
from tightdp.core.lowering.machine import Dead, Failure, Machine
from tightdp.core.lowering.refusals import refusal, refuse_quotients, unhashable
from tightdp.core.lowering.registry import ADOPTED, METHODS, OPERANDS
from tightdp.core.lowering.store import like
from tightdp.core.lowering.values import (
    INFINITE,
    Array,
    Collection,
    Element,
    Entries,
    Growing,
    Host,
    Infinity,
    Members,
    Object,
    Range,
    Reference,
    Table,
    Union,
    Value,
    View,
    is_scalar,
    known,
    name_of,
    numeric,
)
from tightdp.core.nodes import Const, Expr
from tightdp.core.operators import REFUSED, operation
from tightdp.core.together import values_together
from tightdp.core.unmerged import outside
from tightdp.core.valuesets import TooManyValues, ordered
from tightdp.core.windows import is_far
from tightdp.errors import LanguageError, TooLargeError
from tightdp.exact.field import ExpNumber
from tightdp.exact.rationals import as_fraction
from tightdp.language.classes import PLAIN, readable, redefined
from tightdp.limits.calibrated import FEW_VALUES, TABLE_ENTRIES


def adopt(m: Machine, thing: object) -> Value:
    """Return an object of the enclosing module as a value; lists of the module may be read, not changed."""
    if what := redefined(thing):
        raise m.unsupported(what, PLAIN)
    if thing is None or isinstance(thing, (bool, str)):
        return thing
    if type(thing).__module__ == "numpy" and hasattr(thing, "dtype"):
        return ADOPTED["numpy"](m, thing)
    if isinstance(thing, int):
        if isinstance(thing, Enum):
            if ReprEnum not in type(thing).__mro__ or Flag in type(thing).__mro__:
                what = f"{type(thing).__name__}, an Enum and an int, is not in the language"
                raise m.unsupported(what, "derive it from IntEnum, whose members are written as numbers")
            m.members = True
        return int(thing)
    if isinstance(thing, ExpNumber):
        return float(thing) if m.floats else thing
    if m.floats and isinstance(thing, (float, Fraction)):
        return float(thing)
    if isinstance(thing, float) and math.isinf(thing):
        return INFINITE[thing > 0]
    if isinstance(thing, (float, Decimal, Fraction)):
        return as_fraction(thing)
    if isinstance(thing, tuple):
        return like(thing, (adopt(m, item) for item in thing))
    if isinstance(thing, range):
        return Range(tuple(thing))
    if isinstance(thing, deque):
        raise m.unsupported("a deque of the module is not in the language", "make it in the run, or keep a list")
    if isinstance(thing, list):
        reference = m.new_list(tuple(adopt(m, item) for item in thing))
        m.frozen.add(reference.key)
        return reference
    foreign = not isinstance(thing, (type, ModuleType)) and not readable(type(thing))
    if foreign and hasattr(thing, "__index__"):  # `operator` has a function like it
        return int(thing.__index__())
    return ADOPTED["frozenset" if isinstance(thing, frozenset) else "object"](m, thing)


_OF_INTEGERS = {
    "bitand", "bitor", "bitxor", "lshift", "rshift", "invert", "comb", "perm", "gcd", "factorial", "isqrt", "bin",
    "powmod", "numerator", "denominator", "bit_count", "bit_length", "index",
}  # fmt: skip
"""Operations that raise for a float what they do not for an equal integer; inside `try` that is another way."""

COUNTS = Host(Counter)
"""What makes the values of keys that are not there in a dictionary that counts: 0, and they stay away."""

Arguments = tuple[Value, ...]
Keywords = dict[str, Value]


def bind_arguments(
    name: str, function: Callable[..., object], own: int, arguments: Arguments, keywords: Keywords
) -> BoundArguments:
    """Bind arguments to the parameters of a function but for its first, `own` ones. Raises Failure."""
    taken = _signature(function)
    try:
        return taken.bind(*(None,) * own, *arguments, **keywords)
    except TypeError as error:
        unknown = [keyword for keyword in keywords if keyword not in taken.parameters]
        if unknown:
            what = f"has no argument {unknown[0]!r}"
        elif str(error).startswith("missing"):
            what = f"misses the argument {str(error).rpartition(' ')[2]}"
        else:
            given = len(arguments) + len(keywords)
            what = f"does not take {given} argument{'s' * (given != 1)}"
        raise Failure(f"TypeError: {name}() {what}", "see its documentation") from None


_signature = lru_cache(signature)


def operate(m: Machine, name: str, *values: Value) -> Value:
    """Apply a scalar operation."""
    for value in values:
        if not is_scalar(value):
            for kind in (Infinity, Array, Element, Double, Object):
                if any(isinstance(each, kind) for each in values):
                    return OPERANDS[kind](m, name, *values)
            raise refusal(m, name, values)
    if m.floats:
        name = name_in_doubles(name, values)
    if m.guards and (name in _OF_INTEGERS or (name == "mul" and any(isinstance(value, str) for value in values))):
        for value in values:
            refuse_quotients(m, value, name)
    if m.guards and name in ("round", "fraction") and len(values) == 2:
        for value in values[name == "round" :]:
            refuse_quotients(m, value, name)
    if not any(isinstance(value, Expr) for value in values):
        try:
            result = operation(name)(*values)
        except REFUSED:
            raise refusal(m, name, values) from None
        m.builder.cells.check()
        return result
    try:
        result, bad = _apply(m, name, [m.expr(value) for value in values])
    except TooManyValues as error:
        raise too_many(m, error) from None
    if bad is not None and m.guards and any(isinstance(value, Expr) and not value.numeric for value in values):
        m.branch(bad, lambda: over_all(m, values, partial(operate, m, name)), lambda: None)  # of several classes
    elif bad is not None:
        failure = refusal(m, name, values)
        if isinstance(failure, LanguageError):
            raise failure
        m.oblige(bad, failure)
    if result is None:
        raise Dead
    return known(result)


def name_in_doubles(name: str, values: Sequence[Value]) -> str:
    """Return the operation of doubles that Python does in place of an exact one, for operands of which some are."""
    if name not in IN_DOUBLES:
        return name
    floats = any(isinstance(each, float) for value in values for each in (_values(value)))
    return f"float {name}" if floats or name in ("div", "pow", "exp") else name


def _values(value: Value) -> Sequence[Value]:
    if not isinstance(value, Expr):
        return (value,)
    return () if isinstance(value.values, range) else value.values


def too_many(m: Machine, error: TooManyValues) -> TooLargeError:
    """Return the error for an operation over too many values."""
    return TooLargeError(
        f"this operation would have to tabulate {error.size:,} combinations of values",
        "bound its operands more tightly, or split it into steps with fewer values each",
        m.unsupported("", "").span,
    )


def _apply(m: Machine, name: str, operands: list[Expr]) -> tuple[Expr | None, Expr | None]:
    builder = m.builder
    numbers = all(operand.numeric for operand in operands)
    if numbers and name == "add":
        return builder.add(*operands), None
    if numbers and name == "sub" and not isinstance(operands[0], Const) and not isinstance(operands[1], Const):
        return builder.add(operands[0], builder.total("neg", operands[1])), None
    if all(operand.boolean for operand in operands):
        match name:
            case "not":
                return builder.negation(operands[0]), None
            case "bool":
                return operands[0], None
            case "bitand":
                return builder.conjunction(operands), None
            case "bitor":
                return builder.disjunction(operands), None
            case "bitxor" | "ne":
                return builder.parity(operands), None
            case "eq" | "is":
                return builder.negation(builder.parity(operands)), None
    return builder.apply(name, *operands)


def total(m: Machine, items: Sequence[Value]) -> Value | None:
    """Return the sum of scalars that are all numbers, else None."""
    if not all(is_scalar(item) and numeric(item) for item in items):
        return None
    try:
        return known(m.builder.sum([m.expr(item) for item in items]))
    except TooManyValues as error:
        raise too_many(m, error) from None


def truth(m: Machine, value: Value) -> Expr:
    """Return the truth value of anything, as a node."""
    if is_scalar(value):
        return m.expr(operate(m, "bool", value))
    if isinstance(value, Ledger):
        return m.builder.disjunction([row.present for row in value.rows.values()])
    if isinstance(value, Union):
        return m.expr(m.each(value, lambda item: known(truth(m, item))))
    if isinstance(value, (Reference, Table, View, Collection)):
        return truth(m, m.store[value.key])
    if isinstance(value, Entries):
        return m.builder.const(bool(value.keys))
    if isinstance(value, Members):
        return m.builder.disjunction(value.present)
    if isinstance(value, Range):
        return truth(m, value.items)
    if isinstance(value, (tuple, Growing)):
        return m.builder.const(bool(value))
    if isinstance(value, (Array, Element, Double, Object)):
        return m.expr(OPERANDS[type(value)](m, "bool", value))
    return m.builder.const(bool(value.object) if isinstance(value, Host) else True)


def negated(m: Machine, condition: Value) -> Value:
    """Return the negation of a truth value."""
    return known(m.builder.negation(m.expr(condition)))


def over_values(m: Machine, value: Value, action: Callable[[Any], Value], keys: bool = False) -> Value:
    """Apply an action to every plain value that a scalar may take, and merge the results.

    `keys` says that equal values do the same, be they integers or not. Raises LanguageError where these do not end.
    """
    if isinstance(value, Union):
        return m.each(value, lambda item: over_values(m, item, action, keys))
    if isinstance(value, Element):
        value = OPERANDS[Element](m, "plain", value)
    if m.guards and not keys:
        refuse_quotients(m, value, "an index or a count")
    if isinstance(value, Double):
        value = known(m.expr(value))
    m.builder.cells.check_whole(value)
    if not isinstance(value, Expr):
        return action(value)
    expr = value
    if m.builder.noises and is_far(expr):
        found = outside("says how often, how many or which")
        found.span = m.span(m.position[-1])
        raise found

    def over(first: int, last: int) -> Value:
        m.watch()
        if first == last:
            return action(expr.values[first])
        if last - first < FEW_VALUES or not expr.numeric:
            here = m.builder.equals(expr, expr.values[first])
            return m.branch(here, lambda: action(expr.values[first]), lambda: over(first + 1, last))
        middle = (first + last) // 2
        below = m.expr(operate(m, "le", expr, expr.values[middle]))
        return m.branch(below, lambda: over(first, middle), lambda: over(middle + 1, last))

    return over(0, len(expr.values) - 1)


def over_all(
    m: Machine, values: Sequence[Value], action: Callable[..., Value], over: Callable[..., Value] = over_values
) -> Value:
    """Apply an action to the plain values that several scalars may take, and merge the results.

    `over(m, value, then)` says what of each value goes on instead.
    """

    def rest_of(done: Arguments, rest: Arguments) -> Value:
        return over(m, rest[0], lambda plain: rest_of((*done, plain), rest[1:])) if rest else action(*done)

    return rest_of((), tuple(values))


def over_keys(m: Machine, key: Value, action: Callable[[Any], Value]) -> Value:
    """Apply an action to every plain value that a key of a dictionary, or a member of a set, may take."""

    def of(value: Value) -> Value:
        if isinstance(value, tuple):
            return over_all(m, value, lambda *plain: action(plain), over_keys)
        if isinstance(value, Object):
            return METHODS[Object, "as key"](m, value, action)
        if isinstance(value, Element):
            value = OPERANDS[Element](m, "plain", value)
        if not is_scalar(value):
            raise unhashable(m, value)
        return over_values(m, value, action, keys=True)

    return m.each(key, of)


def member(m: Machine, kind: Value, find: Callable[..., Value], *plain: Value) -> Value:
    """Return the member of an enumeration that is found."""
    try:
        return adopt(m, find(*plain))
    except (KeyError, ValueError) as error:
        name = type(error).__name__
        raise Failure(f"{name}: {kind.__name__} has no such member", "give it one of them", type(error)) from None


def whole(value: Any) -> int:
    """Return an index or a count as an int."""
    if not isinstance(value, int):
        shown = value if is_scalar(value) else name_of(value)
        raise Failure(f"TypeError: {shown!s} is not an integer", "use an int; // divides without a remainder")
    return int(value)


def indexed(m: Machine, value: Value) -> Value:
    """Return the number that an object stands for as an index or a count; anything else as it is."""
    if m.guards:
        refuse_quotients(m, value, "an index or a count")
    return m.each(value, lambda each: operate(m, "index", each) if isinstance(each, Object) else each)


def together(m: Machine, nodes: Sequence[Expr]) -> Sequence[tuple[Value, ...]]:
    """Return the values that nodes can take together."""
    open_ones = [node for node in nodes if not isinstance(node, Const)]
    found = values_together(open_ones, TABLE_ENTRIES, m.watch)
    if found is None:
        size = math.prod(len(node.values) for node in open_ones)
        raise too_many(m, TooManyValues(size))
    known_ones = {node.serial: node.values[0] for node in nodes if isinstance(node, Const)}
    places = {node.serial: at for at, node in enumerate(open_ones)}
    return [
        tuple(known_ones[node.serial] if node.serial in known_ones else values[places[node.serial]] for node in nodes)
        for values in found
    ]


def by_values(m: Machine, nodes: Sequence[Expr], found: Mapping[tuple[Value, ...], Expr]) -> Expr:
    """Return the node that belongs to the values of others, which take these and no others."""
    if not nodes:
        return found[()]
    some = next(iter(found.values()))
    if len(nodes) == 1:
        return m.builder.case(nodes[0], [found.get((value,), some) for value in nodes[0].values])
    joint = m.builder.joint(nodes, ordered(list(found)))
    return m.builder.case(joint, [found.get(values, some) for values in joint.values])
