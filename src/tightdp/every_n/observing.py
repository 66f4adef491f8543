"""Programs that condition their runs have no answer for every n: they are refused before any analysis."""

from __future__ import annotations

import ast
from types import FunctionType

from tightdp.errors import LanguageError
from tightdp.language.exactness import Runnable
from tightdp.language.primitives import observe
from tightdp.language.source import FunctionSource, read_function

__all__ = ["refuse_observe"]


def refuse_observe(source: FunctionSource) -> None:
    """Raise LanguageError with the place where a function, or one that it calls by name, may observe."""
    _search(source, set())


def _search(source: FunctionSource, seen: set[int]) -> None:
    for node in ast.walk(source.node):
        if isinstance(node, ast.Attribute) and node.attr == "observe":
            raise _refusal(source, node)
        if not isinstance(node, ast.Name) or node.id not in source.namespace:
            continue
        value = source.namespace[node.id]
        inner = getattr(value, "program", value)
        called = inner.function if isinstance(inner, Runnable) and hasattr(inner, "function") else inner
        if called is observe:
            raise _refusal(source, node)
        if isinstance(called, FunctionType) and id(called) not in seen and not called.__module__.startswith("tightdp."):
            seen.add(id(called))
            _search(read_function(called, anonymous=True), seen)


def _refusal(source: FunctionSource, node: ast.AST) -> LanguageError:
    what = "no answer for every n: observe conditions the run, and the proofs hold without conditions only"
    return LanguageError(what, "leave out observe, or ask for one n", source.span(node))
