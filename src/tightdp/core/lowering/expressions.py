"""Expressions: names, constants, operators, displays, conditional expressions, subscripts and attributes."""

from __future__ import annotations

import ast
import builtins
import enum
import math
import operator
import types
import warnings
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from tightdp.core.between import Between
from tightdp.core.lowering.foreign import computed
from tightdp.core.lowering.frames import of_library
from tightdp.core.lowering.iteration import collected, items_of, joined
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.registry import ATTRIBUTES, FUNCTIONS, METHODS, OPERANDS, SYNTAX, instead_of_name, lowers
from tightdp.core.lowering.scalars import COUNTS, adopt, indexed, negated, operate, over_values, truth, whole
from tightdp.core.lowering.sequences import contains, element, equal, precedes, sliced
from tightdp.core.lowering.values import (
    UNBOUND,
    Array,
    Closure,
    Collection,
    Cut,
    Element,
    Growing,
    Host,
    Infinity,
    Method,
    Object,
    Reference,
    Stream,
    Table,
    Value,
    alternatives,
    is_scalar,
    name_of,
)
from tightdp.core.nodes import Expr
from tightdp.core.operators import Far
from tightdp.errors import LanguageError
from tightdp.language.classes import imported, imports
from tightdp.language.source import is_foreign

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitAnd: "bitand", ast.BitOr: "bitor",
    ast.BitXor: "bitxor", ast.MatMult: "matmul",
}  # fmt: skip

_ORDER: dict[type[ast.cmpop], str] = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}
_SAME: dict[type[ast.cmpop], str] = {ast.Eq: "eq", ast.NotEq: "ne"}
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}


@lowers(ast.Constant)
def _constant(m: Machine, node: ast.Constant) -> Value:
    if isinstance(node.value, float):
        return node.value if m.floats else adopt(m, node.value)
    if node.value is None or isinstance(node.value, (int, str)):
        return node.value
    if node.value is Ellipsis:
        return Host(Ellipsis)
    raise m.unsupported(
        f"a {type(node.value).__name__} constant is not in the language",
        "use ints, rationals, strings, None or tuples of them",
        node,
    )


def look_up(m: Machine, name: str, node: ast.AST) -> Value:
    """Return what a name holds: a local one, one of an enclosing function, of the module, or a builtin."""
    for key in (m.frame.key, *m.frame.enclosing):
        if name in m.scopes[key]:
            return _bound(m, m.store.get((key, name), UNBOUND), name, key == m.frame.key)
    namespace = m.frame.source.namespace
    if name in namespace:
        value = namespace[name] if m.floats else m.frame.source.constant(name)
        if type(value) is float and not m.floats:
            _warn_of_float(m, name, value, node)
        return adopt(m, value)
    if hasattr(builtins, name):
        return Host(getattr(builtins, name))
    raise m.unsupported(f"the name {name!r} is not defined", instead_of_name(name), node)


def _warn_of_float(m: Machine, name: str, value: float, node: ast.AST) -> None:
    """Say that a float is taken as its shortest decimal, where that is hardly what was meant."""
    if math.isfinite(value) and len(Decimal(repr(value)).normalize().as_tuple().digits) > 12:
        place = m.frame.source.span(node).place
        warnings.warn(
            f"{place}: {name} is taken as the decimal {value!r}; where that is a rounded number, "
            f"write Fraction(...) or a string for it, or compute it in the mechanism",
            stacklevel=2,
        )


def _bound(m: Machine, value: Value, name: str, local: bool) -> Value:
    def check(item: Value) -> Value:
        if item is UNBOUND:
            kind = UnboundLocalError if local else NameError
            raise Failure(f"{kind.__name__}: {name!r} is not assigned on this run", "assign it on every path")
        return item

    return m.each(value, check)


@lowers(ast.Import, ast.ImportFrom)
def _import(m: Machine, node: ast.Import | ast.ImportFrom) -> None:
    for name, given in imports(node):
        try:
            found = imported(*given)
        except LanguageError as error:
            raise m.unsupported(error.what, error.hint, node) from None
        except ImportError as error:
            raise Failure(f"{type(error).__name__}: {error}", "install it", type(error)) from None
        held = m.store.get((m.frame.key, name))
        if not isinstance(held, Host) or held.object is not found:
            m.bind(name, adopt(m, found))


# operators


@lowers(ast.BinOp)
def _binop(m: Machine, node: ast.BinOp) -> Value:
    left, right = m.evaluate(node.left), m.evaluate(node.right)
    return binary(m, BINARY.get(type(node.op)), left, right, node)


def binary(m: Machine, name: str | None, left: Value, right: Value, node: ast.AST) -> Value:
    """Apply a binary operator, also to sequences."""
    if name is None:
        raise m.unsupported("this operator is not in the language", "use + - * / // % ** & | ^ << >> @", node)
    return m.each(left, lambda a: m.each(right, lambda b: _binary(m, name, a, b)))


def _binary(m: Machine, name: str, left: Value, right: Value) -> Value:
    if name == "mul" and isinstance(right, Element) and isinstance(left, (tuple, Reference)):
        right = OPERANDS[Element](m, "plain", right)
    growing = isinstance(left, Growing) or isinstance(right, Growing)
    if name == "add" and growing and isinstance(left, (tuple, Growing)) and isinstance(right, (tuple, Growing)):
        return left + right
    tuples = isinstance(left, tuple) and isinstance(right, tuple)
    if name == "add" and (tuples or type(left) is type(right) is Reference):
        whole_of = m.each(items_of(m, left), lambda a: m.each(items_of(m, right), lambda b: a + b))
        return m.new_list(whole_of) if isinstance(left, Reference) else whole_of
    if name == "mul" and (is_scalar(left) != is_scalar(right)):
        sequence, count = (right, left) if is_scalar(left) else (left, right)
        count = indexed(m, count)
        if isinstance(sequence, tuple) or type(sequence) is Reference:
            repeated = m.each(items_of(m, sequence), lambda a: over_values(m, count, lambda times: a * whole(times)))
            return m.new_list(repeated) if isinstance(sequence, Reference) else repeated
    if name == "mod" and isinstance(left, str):
        return computed(m, operator.mod, (left, right), {}, "the format of a string")
    if name == "matmul" and not any(isinstance(each, (Array, Element, Object)) for each in (left, right)):
        raise m.unsupported("this operator is not in the language but for arrays", "use + - * / // % ** & | ^ << >>")
    of_right = isinstance(right, (Array, Element)) or (
        isinstance(right, Object) and not isinstance(left, (Array, Element))
    )
    handler = OPERANDS.get(type(right) if of_right else type(left))
    return operate(m, name, left, right) if handler is None else handler(m, name, left, right)


@lowers(ast.UnaryOp)
def _unaryop(m: Machine, node: ast.UnaryOp) -> Value:
    value = m.evaluate(node.operand)
    if isinstance(node.op, ast.Not):
        return negated(m, truth(m, value))
    name = _UNARY[type(node.op)]

    def of(item: Value) -> Value:
        counts = isinstance(item, Table) and item.missing is COUNTS
        return OPERANDS[Table](m, name, item) if counts else operate(m, name, item)

    return m.each(value, of)


@lowers(ast.BoolOp)
def _boolop(m: Machine, node: ast.BoolOp) -> Value:
    def over(rest: Sequence[ast.expr]) -> Value:
        value = m.evaluate(rest[0])
        if len(rest) == 1:
            return value
        condition = truth(m, value)
        if isinstance(node.op, ast.And):
            return m.branch(condition, lambda: over(rest[1:]), lambda: value)
        return m.branch(condition, lambda: value, lambda: over(rest[1:]))

    return over(node.values)


@lowers(ast.Compare)
def _compare(m: Machine, node: ast.Compare) -> Value:
    def over(left: Value, rest: Sequence[tuple[ast.cmpop, ast.expr]]) -> Value:
        (relation, expression), others = rest[0], rest[1:]
        right = m.evaluate(expression)
        result = _compared(m, relation, left, right)
        if not others:
            return result
        return m.branch(truth(m, result), lambda: over(right, others), lambda: False)

    return over(m.evaluate(node.left), list(zip(node.ops, node.comparators, strict=True)))


def _compared(m: Machine, relation: ast.cmpop, left: Value, right: Value) -> Value:
    name = _ORDER.get(type(relation))
    shapes = [shape for each in (left, right) for _, shape in alternatives(each, m.builder.true)]
    if any(isinstance(shape, (Array, Element)) for shape in shapes):
        name = name or _SAME.get(type(relation))
    if name is not None:
        return m.each(left, lambda a: m.each(right, lambda b: precedes(m, name, a, b)))
    if isinstance(relation, (ast.Eq, ast.NotEq)):
        result = equal(m, left, right)
    elif isinstance(relation, (ast.In, ast.NotIn)):
        result = contains(m, right, left)
    else:
        result = m.each(left, lambda a: m.each(right, lambda b: _identical(m, a, b)))
    negative = isinstance(relation, (ast.NotEq, ast.NotIn, ast.IsNot))
    return negated(m, truth(m, result)) if negative else result


def _identical(m: Machine, left: Value, right: Value) -> Value:
    if left is None or right is None:
        return equal(m, left, right) if is_scalar(left) and is_scalar(right) else False
    if isinstance(left, Host) and isinstance(right, Host) and not isinstance(left, Infinity):
        return left.object is right.object
    if isinstance(left, Object) and isinstance(right, Object) and left.kind in m.adopted:
        raise m.unsupported("`is` between objects that are keys by their fields is not in the language", "use ==")
    held = any(isinstance(each, (Reference, Table, Collection, Object)) for each in (left, right))
    if (held or is_scalar(left) != is_scalar(right)) and not any(isinstance(each, Stream) for each in (left, right)):
        return left == right
    if any(isinstance(item, bool) for item in (left, right)) and all(
        isinstance(item, bool) or (isinstance(item, Expr) and item.boolean) for item in (left, right)
    ):
        return equal(m, left, right)
    if of_library(m.frame) and is_scalar(left) and is_scalar(right):
        return equal(m, left, right)  # Python's library asks for it in `a is b or a == b` alone
    raise m.unsupported("`is` between values is not in the language", "compare with ==")


# displays


def display(m: Machine, elements: Sequence[ast.expr]) -> Value:
    """Return the items of a tuple, a list, or the arguments of a call."""
    content: Value = ()
    for part in elements:
        more = collected(m, m.evaluate(part.value)) if isinstance(part, ast.Starred) else (m.evaluate(part),)
        content = joined(m, content, more)
    return content


# parts


@lowers(ast.Subscript)
def _subscript(m: Machine, node: ast.Subscript) -> Value:
    base = m.evaluate(node.value)
    if isinstance(node.slice, ast.Slice):
        bounds = bounds_of(m, node.slice)
        return m.each(base, lambda value: part_of(m, value, bounds))
    index = m.evaluate(node.slice)
    return m.each(base, lambda value: m.each(index, lambda at: element(m, value, at)))


def part_of(m: Machine, value: Value, bounds: tuple[Value, ...]) -> Value:
    """Return a slice of a sequence, a string or an array."""
    return element(m, value, Cut(bounds)) if isinstance(value, (Array, Object)) else sliced(m, value, bounds)


def bounds_of(m: Machine, node: ast.Slice) -> tuple[Value, ...]:
    """Return the bounds and the step of a slice (None where they are left out)."""
    return tuple(None if part is None else indexed(m, m.evaluate(part)) for part in (node.lower, node.upper, node.step))


def named(m: Machine, value: Value, name: str) -> Value:
    """Return an attribute of a value."""
    if isinstance(value, Host) and isinstance(value.object, types.ModuleType):
        if hasattr(value.object, name):
            return adopt(m, getattr(value.object, name))
        raise m.unsupported(f"module {value.object.__name__} has no {name!r}", "check the name")
    if isinstance(value, Host) and isinstance(value.object, type) and name in _OF_CLASSES:
        return getattr(value.object, name)
    if isinstance(value, Closure) and name == "__name__" and not getattr(value.node, "decorator_list", [value]):
        return value.name
    if isinstance(value, Host) and isinstance(value.object, types.FunctionType) and name == "__name__":
        return value.object.__name__
    if name == "__class__":
        return FUNCTIONS[type](m, value)
    if is_object(value):
        return ATTRIBUTES[tuple if isinstance(value, tuple) else type(value)](m, value, name)
    if (type(value), f"get {name}") in METHODS:
        return METHODS[type(value), f"get {name}"](m, value)
    of_class = isinstance(value, Host) and isinstance(getattr(value.object, name, None), types.MethodDescriptorType)
    if of_class or any(known == name for _, known in METHODS):
        return Method(value, name)
    if isinstance(value, Host) and isinstance(vars(type(value.object)).get(name), types.MemberDescriptorType):
        return adopt(m, getattr(value.object, name))
    if is_scalar(value) and name in ("name", "value"):  # members of an enum.Enum that are strings, too
        return over_values(m, value, lambda one: _of_member(m, one, name))
    if lacks(value, name):
        raise Failure(f"AttributeError: {name_of(value)} has no attribute {name!r}", "test what it is before")
    if name in ("numerator", "denominator") and not isinstance(value, (Between, Far)):
        if m.guards and any(isinstance(one, Fraction) for one in m.expr(value).values):
            what = (
                f".{name} of a fraction, which may be a double in Python and has none, is not in the language in `try`"
            )
            raise m.unsupported(what, "ask for it outside")
        return operate(m, name, value)
    raise _no_attribute(m, name)


_OF_CLASSES = ("__name__", "__qualname__", "__module__")


def lacks(value: Value, name: str) -> bool:
    """Whether a value is None, a truth value, an integer or a string, in Python too, and has no such attribute."""
    listed = (value.values if isinstance(value, Expr) else (value,)) if is_scalar(value) else ()
    kinds = {type(each) for each in listed} if isinstance(listed, tuple) else set()
    return bool(kinds) and kinds <= {type(None), bool, int, str} and not any(hasattr(kind, name) for kind in kinds)


def _of_member(m: Machine, member: Value, name: str) -> Value:
    if not isinstance(member, enum.Enum):
        raise _no_attribute(m, name)
    return adopt(m, getattr(member, name))


def _no_attribute(m: Machine, name: str) -> LanguageError:
    return m.unsupported(
        f"the attribute .{name} is not in the language",
        "only methods of lists, tuples, dictionaries and sets, attributes of objects, and names of modules, are",
    )


def is_object(value: Value) -> bool:
    """Whether a value has attributes of its own: an object, a named tuple, or a class whose methods are read."""
    if isinstance(value, Host):
        kind = value.object
        return isinstance(kind, type) and (issubclass(kind, BaseException) or not is_foreign(kind))
    return hasattr(value, "_fields") if isinstance(value, tuple) else type(value) in ATTRIBUTES


SYNTAX |= {
    ast.Name: lambda m, node: look_up(m, node.id, node),
    ast.IfExp: lambda m, node: m.branch(
        truth(m, m.evaluate(node.test)), lambda: m.evaluate(node.body), lambda: m.evaluate(node.orelse)
    ),
    ast.Tuple: lambda m, node: display(m, node.elts),
    ast.List: lambda m, node: m.new_list(display(m, node.elts)),
    ast.Slice: lambda m, node: Cut(bounds_of(m, node)),
    ast.Attribute: lambda m, node: m.each(m.evaluate(node.value), lambda value: named(m, value, node.attr)),
}
