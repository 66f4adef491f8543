"""Functions of modules that are evaluated while compiling, where all their arguments are known."""

from __future__ import annotations

import sys
import types
from typing import Any

from tightdp.core.lowering.adopt import adopt
from tightdp.core.lowering.machine import Failure, Machine
from tightdp.core.lowering.messages import INSTEAD
from tightdp.core.lowering.values import Range, Reference, Value, is_scalar
from tightdp.core.nodes import Expr
from tightdp.language.exactness import exactly

__all__ = ["UNKNOWN", "folded", "instead", "is_foreign"]

UNKNOWN: Any = object()
"""What is returned for a call that cannot be evaluated now."""

_IMPURE = {
    "random", "secrets", "time", "os", "sys", "io", "datetime", "uuid", "builtins", "subprocess", "socket", "threading",
}  # fmt: skip
"""Modules whose functions are not functions of their arguments."""
_FOREIGN = ("numpy", "scipy", "sympy", "mpmath", "pandas", "torch")
"""Libraries whose functions are evaluated where their arguments are known, and otherwise not in the language."""


def folded(m: Machine, function: object, arguments: tuple[Value, ...], keywords: dict[str, Value]) -> Value:
    """Return the result of a pure function of an imported module for known arguments, or `UNKNOWN`."""
    if not _is_pure(function):
        return UNKNOWN
    plain = [_plain(m, value) for value in arguments]
    named = {name: _plain(m, value) for name, value in keywords.items()}
    if any(value is UNKNOWN for value in (*plain, *named.values())):
        return UNKNOWN
    try:
        result = exactly(function)(*plain, **named)
    except Exception as error:
        raise Failure(f"{type(error).__name__}: {error}", "check the arguments") from None
    return adopt(m, result) if _is_data(result) else UNKNOWN


def is_foreign(function: object) -> bool:
    """Whether a function belongs to Python's library or to one that is not written in the language."""
    top = (getattr(function, "__module__", None) or "").partition(".")[0]
    return top in sys.stdlib_module_names - {"__main__"} or top in _FOREIGN


def instead(function: object) -> str:
    """Return what to write in place of a function that is not in the language."""
    owner = getattr(function, "__self__", None)
    module = getattr(function, "__module__", None) or type(owner).__module__
    top = module.partition(".")[0]
    if top in ("random", "secrets") or module.startswith("numpy.random"):
        return "draw with flip, randint, choice, binomial, geometric or shuffle of tightdp"
    if top in _FOREIGN:
        return "use sum, min, max, sorted, abs and loops on tuples; its functions are taken of constants only"
    if top == "math":
        return "use + - * / // % ** on bounded numbers; this one is taken of constants only"
    return INSTEAD.get(
        getattr(function, "__name__", ""), "use the builtins and random primitives of the language, or write a function"
    )


def _is_pure(function: object) -> bool:
    module = getattr(function, "__module__", None) or ""
    if not isinstance(function, (types.BuiltinFunctionType, types.FunctionType)) and not _of_numpy(function):
        return False
    owner = getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType):
        return False
    top = module.partition(".")[0]
    if top in _IMPURE or module.startswith("numpy.random"):
        return False
    return top in sys.stdlib_module_names or top in _FOREIGN


def _of_numpy(function: object) -> bool:
    return (type(function).__module__ or "").partition(".")[0] == "numpy" and callable(function)


def _plain(m: Machine, value: Value) -> Any:
    """Return a value as Python would have it, or `UNKNOWN` where it depends on the run."""
    if isinstance(value, Expr):
        return UNKNOWN
    if is_scalar(value):
        return value
    if isinstance(value, (Reference, Range)):
        items = _plain(m, m.store[value.key] if isinstance(value, Reference) else value.items)
        return items if items is UNKNOWN or isinstance(value, Range) else list(items)
    if isinstance(value, tuple):
        parts = tuple(_plain(m, item) for item in value)
        return UNKNOWN if any(part is UNKNOWN for part in parts) else parts
    return UNKNOWN


def _is_data(value: object) -> bool:
    if isinstance(value, (tuple, list)):
        return all(_is_data(item) for item in value)
    return value is None or isinstance(value, (bool, str, int, float)) or hasattr(value, "numerator")
