"""Strings made from values: f-strings, str(), and print, which is ignored."""

from __future__ import annotations

import ast
import warnings

from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.registry import builtin, lowers
from tightdp.core.lowering.scalars import operate
from tightdp.core.lowering.signatures import Arguments, Keywords, expect
from tightdp.core.lowering.values import Value, is_scalar, name_of
from tightdp.core.nodes import Expr

__all__: list[str] = []


@lowers(ast.JoinedStr)
def _joinedstr(m: Machine, node: ast.JoinedStr) -> Value:
    text: Value = ""
    for part in node.values:
        text = operate(m, "add", text, m.evaluate(part))
    return text


@lowers(ast.FormattedValue)
def _formattedvalue(m: Machine, node: ast.FormattedValue) -> Value:
    value = m.evaluate(node.value)
    spec = "" if node.format_spec is None else m.evaluate(node.format_spec)
    if node.conversion in (ord("r"), ord("a")):
        value = m.each(value, lambda item: _text(m, item, "repr"))
    elif node.conversion == ord("s"):
        value = m.each(value, lambda item: _text(m, item, "format", ""))
    return m.each(value, lambda item: _text(m, item, "format", spec))


def _text(m: Machine, value: Value, operation: str, *more: Value) -> Value:
    if m.builder.mixed and _may_be_truth(value):
        raise m.unsupported(
            "a string of what may be a truth value or a number is not in the language", "return it in a tuple"
        )
    if is_scalar(value):
        return operate(m, operation, value, *more)
    if isinstance(value, tuple) and not any(isinstance(item, Expr) or not is_scalar(item) for item in value):
        return format(value, *more) if operation == "format" else repr(value)
    raise Failure(f"TypeError: a {name_of(value)} in a string is not in the language", "put its items in, one by one")


@builtin(str)
def _str(m: Machine, arguments: Arguments, keywords: Keywords) -> Value:
    expect(arguments, keywords, 0, 1)
    return m.each(arguments[0], lambda item: _text(m, item, "format", "")) if arguments else ""


@builtin(print)
def _print(m: Machine, arguments: Arguments, keywords: Keywords) -> None:
    span = m.frame.source.span(m.position[-1])
    warnings.warn(f"{span.place}: print is ignored in a mechanism", stacklevel=2)


def _may_be_truth(value: Value) -> bool:
    """Whether a number may stand for a truth value."""
    if isinstance(value, tuple):
        return any(_may_be_truth(item) for item in value)
    values = value.values if isinstance(value, Expr) and not value.boolean else (value,)
    return any(type(item) is int and item in (0, 1) for item in values)
