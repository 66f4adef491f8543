"""Who lowers what: one handler for every syntax node, builtin, random primitive and method of the language.

A handler takes the machine first. Files of this package register theirs when they are imported. What has no handler is
outside the language: what it is called in messages, and what to write in its place.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from tightdp.language import primitives

Handler = Callable[..., Any]
H = TypeVar("H", bound=Handler)

SYNTAX: dict[type[ast.AST], Handler] = {}
"""Handlers `(machine, node)` of statements and expressions, by the class of the node."""

TARGETS: dict[type[ast.AST], Handler] = {}
"""Handlers `(machine, node, value)` of targets of assignments, by the class of the node."""

FUNCTIONS: dict[Any, Handler] = {}
"""Handlers `(machine, *arguments, **keywords)` of functions of Python and of tightdp, by the function itself."""

FLOATING: dict[Any, Handler] = {}
"""The same of functions of floats, where numbers are doubles."""

OPERANDS: dict[type, Handler] = {}
"""Handlers `(machine, operation, *operands)` of operators, by the class of the first operand."""

METHODS: dict[tuple[type, str], Handler] = {}
"""Handlers `(machine, value, *arguments, **keywords)` of methods, by the class of the value and the name."""


def _into(table: dict[Any, Handler]) -> Callable[..., Callable[[H], H]]:
    """Return what registers handlers in a table, by keys."""

    def keys_of(*keys: object) -> Callable[[H], H]:
        def register(handler: H) -> H:
            for key in keys:
                assert key not in table, f"{key} has two handlers"
                table[key] = handler
            return handler

        return register

    return keys_of


ATTRIBUTES: dict[type, Handler] = {}
"""Handlers `(machine, value, name)` of attributes, by the class of the value."""

CALLS: dict[type, Handler] = {}
"""Handlers `(machine, value, arguments, keywords)` of calls of what is no function, by its class."""

ADOPTED: dict[str, Handler] = {}
"""Handlers `(machine, thing)` that make a value of something of the enclosing module: data of "numpy", an "object"."""

lowers, assigns, builtin, operates = map(_into, (SYNTAX, TARGETS, FUNCTIONS, OPERANDS))
has_attributes, called, adopts = _into(ATTRIBUTES), _into(CALLS), _into(ADOPTED)


NUMPY: dict[str, Handler] = {}
"""Handlers `(machine, *arguments, **keywords)` of functions of numpy, by name: it is not imported for them."""


def of_numpy(*names: str) -> Callable[[H], H]:
    """Register the handler of functions of numpy."""
    return _into(NUMPY)(*names)


def in_doubles(*functions: object) -> Callable[[H], H]:
    """Register the handler of functions of floats, where numbers are doubles."""
    return _into(FLOATING)(*functions)


def method(name: str, *kinds: type) -> Callable[[H], H]:
    """Register the handler of a method of values of these classes."""
    return _into(METHODS)(*((kind, name) for kind in kinds))


def methods(meanings: Mapping[str, Handler], *kinds: type) -> None:
    """Register the handlers of several methods of values of these classes, by their names."""
    for name, handler in meanings.items():
        method(name, *kinds)(handler)


INSTEAD = {
    "OrderedDict": "use a dictionary, which keeps the order of insertion",
    "eval": "write the expression",
    "ExitStack": "write one `with` inside the other",
    "complex": "use a pair of numbers",
    "input": "take a parameter",
    "matrix": "use np.array",
    "mean": "write sum(...) / len(...), which is exact",
    "vectorize": "write [f(v) for v in ...]",
    "namedtuple": "make the class at the top of the module",
    "open": "read the file at the top of the module",
}
"""What to write in place of functions that people reach for."""

_INSTEAD_OF_METHODS = {
    "send": "write a class with a method in place of the generator",
    "throw": "write a class with a method in place of the generator",
    "mean": "write sum(...) / len(...), which is exact",
    "std": "write its formula with sum(...) and len(...), without the root",
    "sum": "write sum(...)",
    "var": "write its formula with sum(...) and len(...)",
}
_INSTEAD_OF_NAMES = {
    "gauss": "discrete_gaussian",
    "gaussian": "discrete_gaussian",
    "expovariate": "exponential",
    "laplacian": "laplace",
    "normal": "discrete_gaussian",
    "bernoulli": "flip",
    "shuffled": "shuffle",
}
_CLASSES = {
    **{each.__name__: each for each in (bool, deque, frozenset, int, list, range, set, str, tuple)},
    "dictionary": dict,
}


def instead_of_method(name: str) -> str:
    """Return what to write in place of a method that is not in the language."""
    if name in _INSTEAD_OF_METHODS:
        return _INSTEAD_OF_METHODS[name]
    return "there are the methods of lists, tuples, dictionaries and sets; see docs/language.md"


def is_method_of(kind: str, name: str) -> bool:
    """Whether values with this name of their class, or of one of their classes, have a method in Python."""
    return any(hasattr(_CLASSES.get(each), name) for each in kind.split(" or "))


def instead_of_name(name: str) -> str:
    """Return what to write in place of a name that is not defined."""
    meant = _INSTEAD_OF_NAMES.get(name, name)
    if meant in primitives.__all__:
        return f"write from tightdp import {meant} at the top of the module"
    return "define it before the mechanism, or import it at the top of the module"


_NAMES: dict[type[ast.AST], tuple[str, str]] = {
    ast.Global: ("global", "pass the value as an argument, and return what changes"),
    ast.TryStar: ("try", "test with if before, so that no exception is raised"),
    ast.AsyncWith: ("async", "write an ordinary function"),
    ast.AsyncFor: ("async", "write an ordinary for loop"),
    ast.AsyncFunctionDef: ("async", "write an ordinary function"),
    ast.Await: ("await", "write an ordinary function"),
    ast.ClassDef: ("a class inside a mechanism", "use tuples, lists and local functions"),
    ast.Starred: ("a starred expression here", "write it inside a tuple, a list or a call"),
    ast.Slice: ("a slice here", "write it as the only index"),
}


def name_of_node(node: ast.AST) -> tuple[str, str]:
    """Return what a node that no handler lowers is called, and the remedy."""
    return _NAMES.get(type(node), ("this syntax", "see the list of supported Python in docs/language.md"))
