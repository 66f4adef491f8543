"""What a condition says about the values of other nodes, as far as is easily seen."""

from __future__ import annotations

from collections.abc import Sequence

from tightdp.core.nodes import Apply, Case, Const, Expr, Nary, children
from tightdp.core.operators import REFUSED, Value, operation

__all__ = ["tested_value", "tests", "values_where"]


def tested_value(condition: Expr) -> tuple[Expr | None, int]:
    """Return the node and the position of the value that a condition of the form `node == value` asks for."""
    if isinstance(condition, Apply) and condition.operator == "eq" and isinstance(condition.operands[1], Const):
        node, value = condition.operands[0], condition.operands[1].values[0]
        if value in node.index:
            return node, node.index[value]
    return None, 0


def tests(condition: Expr, holds: bool) -> dict[int, list[Apply]]:
    """Return, by serial number, the nodes that a condition compares with constants where it has this truth value.

    Every comparison in the lists then has the truth value `holds` too.
    """
    joined = isinstance(condition, Nary) and condition.operator == ("and" if holds else "or")
    found: dict[int, list[Apply]] = {}
    for part in children(condition) if joined else (condition,):
        if isinstance(part, Apply) and (tested := _only_unknown(part)) is not None and not tested.boolean:
            found.setdefault(tested.serial, []).append(part)
    return found


def values_where(expr: Expr, tests: dict[int, list[Apply]], holds: bool, depth: int = 3) -> Sequence[Value]:
    """Return the values that a node can take where comparisons have a truth value, as far as is easily seen."""
    values = expr.values
    if not tests or isinstance(expr, Const):
        return values
    if depth and isinstance(expr, Case) and expr.selector.boolean:
        inner = {v for branch in expr.branches for v in values_where(branch, tests, holds, depth - 1)}
        values = [value for value in values if value in inner]
    elif depth and isinstance(expr, Apply) and (operand := _only_unknown(expr)) is not None:
        below = values_where(operand, tests, holds, depth - 1)
        if len(below) < len(operand.values):
            results = {_result(expr, value) for value in below}
            values = [value for value in values if value in results]
    for test in tests.get(expr.serial, ()):
        if test.operator == "eq" and isinstance(test.operands[1], Const) and test.operands[0] is expr:
            wanted = test.operands[1].values[0]
            if holds:
                values = (expr.values[expr.index[wanted]],) if wanted in expr.index else ()
            elif wanted in expr.index:
                values = [value for value in values if value != wanted]
        else:
            values = [value for value in values if _result(test, value) in (holds, REFUSED)]
    return values


def _only_unknown(expr: Apply) -> Expr | None:
    unknown = [operand for operand in expr.operands if not isinstance(operand, Const)]
    return unknown[0] if len(unknown) == 1 else None


def _result(expr: Apply, value: Value) -> Value:
    """Return the result of an operation on its one unknown operand, `REFUSED` where Python refuses it."""
    try:
        return operation(expr.operator)(
            *(operand.values[0] if isinstance(operand, Const) else value for operand in expr.operands)
        )
    except REFUSED:
        return REFUSED
