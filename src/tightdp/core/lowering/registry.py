"""Who lowers what: one handler for every syntax node, builtin, random primitive and method of the language.

A handler takes the machine first. Files of this package register theirs when they are imported.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = [
    "FUNCTIONS",
    "METHODS",
    "OPERANDS",
    "SYNTAX",
    "TARGETS",
    "Handler",
    "assigns",
    "builtin",
    "lowers",
    "method",
    "operates",
]

Handler = Callable[..., Any]
H = TypeVar("H", bound=Handler)

SYNTAX: dict[type[ast.AST], Handler] = {}
"""Handlers `(machine, node)` of statements and expressions, by the class of the node."""

TARGETS: dict[type[ast.AST], Handler] = {}
"""Handlers `(machine, node, value)` of targets of assignments, by the class of the node."""

FUNCTIONS: dict[Any, Handler] = {}
"""Handlers `(machine, arguments, keywords)` of functions of Python and of tightdp, by the function itself."""

OPERANDS: dict[type, Handler] = {}
"""Handlers `(machine, operation, left, right)` of binary operators, by the class of the left operand."""

METHODS: dict[tuple[type, str], Handler] = {}
"""Handlers `(machine, value, *arguments, **keywords)` of methods, by the class of the value and the name."""


def lowers(*nodes: type[ast.AST]) -> Callable[[H], H]:
    """Register the handler of classes of syntax nodes."""
    return _register(SYNTAX, nodes)


def assigns(*nodes: type[ast.AST]) -> Callable[[H], H]:
    """Register the handler of assignments to classes of syntax nodes."""
    return _register(TARGETS, nodes)


def builtin(*functions: object) -> Callable[[H], H]:
    """Register the handler of functions."""
    return _register(FUNCTIONS, functions)


def operates(*kinds: type) -> Callable[[H], H]:
    """Register the handler of binary operators whose left operand is of these classes."""
    return _register(OPERANDS, kinds)


def method(name: str, *kinds: type) -> Callable[[H], H]:
    """Register the handler of a method of values of these classes."""
    return _register(METHODS, [(kind, name) for kind in kinds])


def _register(table: dict[Any, Handler], keys: Any) -> Callable[[H], H]:
    def register(handler: H) -> H:
        for key in keys:
            assert key not in table, f"{key} has two handlers"
            table[key] = handler
        return handler

    return register
