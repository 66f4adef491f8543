"""Where the source of a mechanism draws: the calls of random primitives in its function and its helpers."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

from tightdp.errors import LanguageError
from tightdp.language.primitives import PRIMITIVES, choice, observe, shuffle
from tightdp.language.program import Program
from tightdp.language.source import FunctionSource, read_function
from tightdp.results.report import SourceText

__all__ = ["called", "marked_sources", "sources_of"]


def marked_sources(program: Program) -> tuple[SourceText, ...]:
    """Return the text of the mechanism and of the helpers in its file, with the places of their draws."""
    return tuple(_marked(source) for source in sources_of(program))


def sources_of(program: Program) -> tuple[FunctionSource, ...]:
    """Return the source of the mechanism, then of the functions of the same file that it calls, in their order."""
    found = {program.source.node.lineno: program.source}
    pending = [program.source]
    while pending:
        source = pending.pop()
        for node in ast.walk(source.node):
            helper = _helper(called(node, source.namespace), program.source.file)
            if helper is not None and helper.node.lineno not in found:
                found[helper.node.lineno] = helper
                pending.append(helper)
    first = found.pop(program.source.node.lineno)
    return (first, *(found[line] for line in sorted(found)))


def _helper(value: object, file: str) -> FunctionSource | None:
    program = getattr(value, "program", None)  # of a mechanism
    function = program.function if isinstance(program, Program) else value
    if not isinstance(function, FunctionType) or function.__code__.co_filename != file:
        return None
    try:
        return read_function(function)
    except LanguageError:
        return None


def _marked(source: FunctionSource) -> SourceText:
    marks = []
    for call in _draws(source):
        span = source.span(call.func)
        marks.append((span.line, span.column, span.end_column))
    return SourceText(source.node.name, source.first_line, _without_ends(source.lines), tuple(sorted(marks)))


def _without_ends(lines: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(line.rstrip("\r\n") for line in lines)


def _draws(source: FunctionSource) -> Iterator[ast.Call]:
    for node in ast.walk(source.node):
        if isinstance(node, ast.Call):
            value = called(node.func, source.namespace)
            if isinstance(value, FunctionType) and (value in PRIMITIVES or value in (choice, shuffle, observe)):
                yield node


def called(node: ast.AST, namespace: Mapping[str, Any]) -> object:
    """Return what a name, or an attribute of a module, stands for in the user's file; None where that is not known."""
    if isinstance(node, ast.Name):
        return namespace.get(node.id)
    if isinstance(node, ast.Attribute):
        owner = called(node.value, namespace)
        return getattr(owner, node.attr, None) if isinstance(owner, ModuleType) else None
    return None
