"""Infinite numbers: what a search for the best of several begins with. They are compared; sums of them are refused."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial

from tightdp.core.lowering.foreign import computed
from tightdp.core.lowering.machine import Machine
from tightdp.core.lowering.refusals import refusal
from tightdp.core.lowering.registry import OPERANDS, builtin, operates
from tightdp.core.lowering.scalars import operate, over_values
from tightdp.core.lowering.sequences import plain
from tightdp.core.lowering.values import INFINITE, Array, Infinity, Object, Value, is_scalar, numeric
from tightdp.core.nodes import Expr
from tightdp.errors import LanguageError

_COMPARED = ("lt", "le", "gt", "ge", "eq", "ne")
_CHANGED: dict[str, Callable[[float], float]] = {"neg": operator.neg, "pos": operator.pos, "abs": abs}
_REFUSED = {"int", "floor", "ceil", "round", "index", "bitand", "bitor", "bitxor", "lshift", "rshift", "invert"}
"""What Python does not do with an infinite number either."""


@operates(Infinity)
def _operated(m: Machine, name: str, *operands: Value) -> Value:
    """Compare infinite numbers with others; to them all finite ones are as 0 is."""
    operands = tuple(plain(m, one) for one in operands)
    for at, one in enumerate(operands):
        if isinstance(one, Object):
            return OPERANDS[Object](m, name, *operands)
        if isinstance(one, Expr) and not one.numeric:
            return over_values(m, one, partial(_with, m, name, operands, at))
    if not all(isinstance(one, Infinity) or (is_scalar(one) and numeric(one)) for one in operands):
        raise _outside(m) if any(isinstance(one, Array) for one in operands) else refusal(m, name, operands)
    floats = [one.object if isinstance(one, Infinity) else 0 for one in operands]
    if name in _COMPARED:
        return bool(getattr(operator, name)(*floats))
    if name in _CHANGED:
        return INFINITE[_CHANGED[name](*floats) > 0]
    raise refusal(m, name, operands) if name in _REFUSED else _outside(m)


def _with(m: Machine, name: str, operands: tuple[Value, ...], at: int, one: Value) -> Value:
    return operate(m, name, *operands[:at], one, *operands[at + 1 :])


def _outside(m: Machine) -> LanguageError:
    return m.unsupported("infinity is not in the language here", "compare it with numbers, and replace it before")


def _asked(function: Callable[[float], bool]) -> None:
    def handler(m: Machine, value: Value, /) -> Value:
        def of(one: Value) -> Value:
            if isinstance(one, Infinity) or (is_scalar(one) and numeric(one)):
                return function(one.object if isinstance(one, Infinity) else 0)
            return computed(m, function, (one,), {}, function.__name__)

        return m.each(value, lambda one: of(plain(m, one)))

    builtin(function)(handler)


for _function in (math.isinf, math.isfinite, math.isnan):
    _asked(_function)
