"""The value of a node from the values of its children."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tightdp.core.nodes import Apply, Case, Expr, Nary
from tightdp.core.operators import NOTHING, Value, applied, connected, operation

__all__ = ["canonical", "computed", "joined"]

_NARY: dict[str, Callable[..., Value]] = {
    "sum": lambda *values: sum(values),
    "min": lambda *values: min(values),
    "max": lambda *values: max(values),
    "xor": lambda *values: sum(values) % 2 == 1,
}
_ABSORBING = {"and": False, "or": True}


def computed(expr: Expr, given: Sequence[Value]) -> Value:
    """Return the value of an operation; `NOTHING` where Python refuses it."""
    if isinstance(expr, Case):
        place = expr.selector.index.get(given[0])
        return NOTHING if place is None else given[1 + place]
    if isinstance(expr, Nary):
        return joined(expr.operator, given)
    assert isinstance(expr, Apply)
    return applied(operation(expr.operator), given)


def joined(operator: str, values: Sequence[Value]) -> Value:
    """Return the value of an n-ary operation."""
    if len(values) == 1:
        return values[0]
    if operator in _ABSORBING:
        return connected(_ABSORBING[operator], values)
    return applied(_NARY[operator], values)


def canonical(expr: Expr, value: Value) -> Value:
    """Return a value as it is listed in a node; `NOTHING` where it is not."""
    place = expr.index.get(value)
    return NOTHING if place is None else expr.values[place]
