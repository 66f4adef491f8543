"""What is said where an operation or a dictionary does not take values: what Python raises, or that it is not here."""

from __future__ import annotations

import operator
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import islice, product

from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.values import (
    Array,
    Closure,
    Collection,
    Host,
    Method,
    Object,
    Range,
    Reference,
    Table,
    Value,
    View,
    is_scalar,
    name_of,
    parts_of,
)
from tightdp.core.nodes import Case, Expr, Nary, Shuffled, reachable
from tightdp.core.operators import REFUSED, operation, symbol_of
from tightdp.core.valuesets import Progression
from tightdp.errors import LanguageError, ParameterError
from tightdp.exact.field import ExpNumber
from tightdp.language.source import is_foreign
from tightdp.limits.calibrated import TABLE_ENTRIES


def refusal(m: Machine, name: str, values: Sequence[Value]) -> Failure | LanguageError:
    """Return the error for operands of which some are refused: what Python raises, where it refuses them, too."""
    operands = [value for item in values for value in (item.values if isinstance(item, Expr) else (item,))]
    unknown = any(isinstance(value, ExpNumber) and value.unknown for value in operands)
    if any(isinstance(each, Host) and not is_foreign(type(each.object)) for each in values):
        return _not_here(m, name, values)  # what its class does is nothing to be tried
    scalars, found = all(map(is_scalar, values)), None
    for plain in islice(product(*map(_possible, values)), TABLE_ENTRIES):
        try:
            operation(name)(*plain)
            here = scalars
        except REFUSED as error:
            found, here = found or error, not isinstance(error, TypeError) or not _taken_by_python(name, plain)
        if not here and not unknown:
            return _not_here(m, name, values)
        if found is not None and not isinstance(found, TypeError) and name != "pow":
            break
    if isinstance(found, ParameterError):  # the power is beyond numbers with e^q: nothing that Python raises
        return m.unsupported(found.what, found.hint)
    if isinstance(found, ValueError) and isinstance(found.__cause__, ParameterError):
        return Failure(found.__cause__.what, found.__cause__.hint)  # of no class: nothing that Python raises, either
    if unknown:
        hint = "compare it with numbers, as in `x >= 1/4`, or give the unknown a value"
        return m.unsupported(f"{symbol_of(name)} does not take a number with an unknown", hint)
    if isinstance(found, ZeroDivisionError):
        return Failure("ZeroDivisionError: division by zero", "guard the division, or change the divisor")
    if isinstance(found, (ValueError, OverflowError)):
        return Failure(f"{type(found).__name__}: {found}", "guard the operation, or convert its operands")
    kinds = " and ".join(map(name_of, values))
    return Failure(f"TypeError: {symbol_of(name)} does not take {kinds}", "convert or guard the operands")


def _possible(value: Value) -> Iterable[Value]:
    """Return the plain values of a scalar; of anything else one of the same class in Python."""
    if isinstance(value, Expr):
        return value.values
    if is_scalar(value):
        return (value,)
    if isinstance(value, Collection):
        return (frozenset() if value.frozen else set(),)
    if isinstance(value, View):
        return (getattr({}, value.part)(),)
    if isinstance(value, Table):
        return (Counter() if isinstance(value.missing, Host) and value.missing.object is Counter else {},)
    if isinstance(value, Reference):
        return ([] if type(value) is Reference else deque(),)
    if isinstance(value, (Closure, Method)):
        return (_possible,)
    if isinstance(value, Host):
        return (value.object,)
    return (range(0) if isinstance(value, Range) else () if isinstance(value, tuple) else object(),)


def _taken_by_python(name: str, plain: Sequence[Value]) -> bool:
    """Whether Python raises no TypeError for operands of which doubles are fractions here."""
    of_python = operator.pow if name == "pow" else operation(name)
    try:
        of_python(*(float(each) if isinstance(each, (Fraction, ExpNumber)) else each for each in plain))
    except TypeError:
        return False
    except (ArithmeticError, ValueError):
        pass
    return True


def _not_here(m: Machine, name: str, values: Sequence[Value]) -> LanguageError:
    if name in ("format", "repr"):
        hint = "put its numerator and denominator in, or ask with floats: --floats"
        return m.unsupported("the text of a fraction, which may be a double in Python, is not in the language", hint)
    kinds = " and ".join(map(name_of, values))
    hint = "write it with numbers and lists" if not all(map(is_scalar, values)) else "ask with floats: --floats"
    return m.unsupported(f"{symbol_of(name)} of {kinds} is not in the language", hint)


def unhashable(m: Machine, value: Value) -> Failure | LanguageError:
    """Return the error for what is no key of a dictionary: in Python, or here."""
    hint = "use a number, a string or a tuple of them"
    if _is_unhashable(value) or (isinstance(value, Collection) and not value.frozen):
        return Failure(f"TypeError: unhashable: a {name_of(value)}", hint)
    return m.unsupported(f"a {name_of(value)} as a key is not in the language", hint)


def _is_unhashable(value: Value) -> bool:
    return isinstance(value, (Reference, Table, Array)) or (isinstance(value, Object) and value.kind.__hash__ is None)


def refuse_unhashable(m: Machine, key: Value) -> None:
    """Raise Failure where what is looked for among keys cannot be one. (A set is looked for as a frozenset.)"""

    def check(value: Value) -> None:
        for part in parts_of(value):
            if _is_unhashable(part):
                raise unhashable(m, part)

    m.each(key, check)


def refuse_members(m: Machine, thing: Value, what: str) -> None:
    """Refuse to ask what depends on whether an integer is a member of an IntEnum, where there are any."""
    values = thing.values if isinstance(thing, Expr) else (thing,)
    if m.members and any(type(each) is int for each in values):
        raise m.unsupported(f"{what} of a member of an IntEnum is not in the language", "compare members with ==")


def refuse_mixed(m: Machine, value: Value, what: str, hint: str) -> None:
    """Refuse to ask what depends on whether a value is a truth value or a number, where that is not known."""

    def unknown(part: Value) -> bool:
        if isinstance(part, tuple):
            return any(map(unknown, part))
        values = part.values if isinstance(part, Expr) and not part.boolean else (part,)
        return any(type(item) is int and item in (0, 1) for item in values)

    if m.builder.mixed and unknown(value):
        raise m.unsupported(f"{what} of what may be a truth value or a number is not in the language", hint)


def refuse_quotients(m: Machine, value: Value, what: str) -> None:
    """Refuse to ask what depends on whether a value is an integer or a quotient that is whole, where both met."""

    def both_met(node: Expr) -> bool:
        parts: tuple[Expr, ...] = ()
        if isinstance(node, Case):
            parts = node.branches
        elif isinstance(node, Shuffled) or (isinstance(node, Nary) and node.operator in ("min", "max")):
            parts = node.children
        lists = [part.values for part in parts if not isinstance(part.values, (range, Progression))]
        quotients = {item for items in lists for item in items if type(item) is Fraction and item.denominator == 1}
        return any(type(part.values[part.index[q]]) is int for q in quotients for part in parts if q in part.index)

    number = not value.boolean if isinstance(value, Expr) else type(value) in (int, Fraction)
    if number and (m.builder.met or (isinstance(value, Expr) and any(map(both_met, reachable([value]))))):
        hint = "compare it with a number, or keep integers and quotients apart"
        raise m.unsupported(f"{what} of what may be an integer or a quotient is not in the language", hint)
