"""Constants as the source writes them: `Q = 1 / (1 + exp(1))` is exact, though Python made a float of it."""

from __future__ import annotations

import ast
import linecache
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

from tightdp.errors import ParameterError
from tightdp.exact.expressions import ARITHMETIC
from tightdp.exact.field import ExpNumber, Number, exp
from tightdp.exact.rationals import as_fraction
from tightdp.exact.weights import quotient
from tightdp.language import primitives

__all__ = ["as_written", "evaluated"]

_NEAR = 1e-9
"""What the source says is taken where it agrees with the value to so much."""


def as_written(names: Mapping[str, Any], name: str, value: Any) -> Any:
    """Return a constant of a module, whose global names are given: exact where its source makes it with `exp`.

    It is `value` itself where the source does not compute it with `exp`, or assigns the name more than once.
    """
    if type(value) not in (float, tuple, list):
        return value
    expression = _assigned(tuple(linecache.getlines(str(names.get("__file__")))), name)
    return value if expression is None else evaluated(expression, names, value)


def evaluated(expression: ast.expr, names: Mapping[str, Any], value: Any) -> Any:
    """Return what an expression stands for if it computes with `exp` and agrees with `value`, and else `value`."""
    if isinstance(expression, (ast.Tuple, ast.List)) and type(value) in (tuple, list):
        if len(expression.elts) != len(value) or any(isinstance(item, ast.Starred) for item in expression.elts):
            return value
        return type(value)(evaluated(item, names, old) for item, old in zip(expression.elts, value, strict=True))
    if type(value) is not float or not math.isfinite(value):
        return value
    try:
        found = _number(expression, names)
    except (_Unknown, ArithmeticError, ParameterError):
        return value
    exact = isinstance(found, ExpNumber) and math.isclose(float(found), value, rel_tol=_NEAR)
    return found if exact else value


class _Unknown(Exception):
    """An expression is not made of numbers and exp."""


def _number(node: ast.expr, names: Mapping[str, Any]) -> Number:
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            return as_fraction(node.value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_number(operand, names)
        case ast.BinOp(left=left, op=operation, right=right):
            return _combined(_number(left, names), operation, _number(right, names))
        case ast.Call(func=function, args=[argument], keywords=[]) if _is_exp(function, names):
            return exp(_number(argument, names))
        case ast.Call(func=ast.Name(id=name), args=arguments) if names.get(name) is Fraction:
            values = [item.value for item in arguments if isinstance(item, ast.Constant)]
            return Fraction(*map(str, values)) if len(values) == 1 else quotient(*_integers(values))
        case ast.Name(id=name) if name in names:
            value = as_written(names, name, names[name])
            if isinstance(value, ExpNumber):
                return value
            if isinstance(value, (int, float, Fraction)) and not isinstance(value, bool):
                return as_fraction(value)
    raise _Unknown


def _integers(values: Sequence[object]) -> tuple[int, int]:
    match values:
        case [int(above), int(below)]:
            return above, below
    raise _Unknown


def _combined(left: Number, operation: ast.operator, right: Number) -> Number:
    if type(operation) in ARITHMETIC:
        return ARITHMETIC[type(operation)](left, right)
    if isinstance(operation, ast.Pow) and isinstance(right, Fraction) and right.denominator == 1:
        return left**right.numerator
    raise _Unknown


def _is_exp(function: ast.expr, names: Mapping[str, Any]) -> bool:
    """Whether a call is one of `exp` of tightdp or of `math`."""
    found: Any = None
    match function:
        case ast.Name(id=name):
            found = names.get(name)
        case ast.Attribute(value=ast.Name(id=module), attr=attribute):
            found = getattr(names.get(module), attribute, None)
    return found is math.exp or found is primitives.exp


@lru_cache(maxsize=1024)
def _assigned(lines: Sequence[str], name: str) -> ast.expr | None:
    """Return the expression that a module assigns to a name, at its top level and nowhere else."""
    if "exp" not in "".join(lines):
        return None
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return None
    stored: list[ast.AST] = [node for node in ast.walk(tree) if isinstance(node, ast.Global) and name in node.names]
    found: list[ast.expr] = []
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                found.append(value)
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value) if target == name:
                found.append(value)
            case ast.FunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom():
                pass
            case _:
                stored += [
                    node
                    for node in ast.walk(statement)
                    if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
                ]
    return found[0] if len(found) == 1 and not stored else None
