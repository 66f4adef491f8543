"""The question `report`: all questions, with the source and the draws marked."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any, TypeVar

from tightdp.errors import LanguageError, TightdpError
from tightdp.exact.field import Number
from tightdp.language.primitives import PRIMITIVES, choice, observe, shuffle
from tightdp.language.program import Program
from tightdp.language.source import FunctionSource, read_function
from tightdp.limits import Allowance
from tightdp.limits.calibrated import LISTED_ROWS
from tightdp.results.answers import Likelihood
from tightdp.results.report import Report, SourceText
from tightdp.results.result import TripleWitness
from tightdp.session.asked import Asked

R = TypeVar("R")


def report(instance: Asked, alpha: Number) -> Report:
    """Return the report on an instance; accuracy is measured at α = `alpha` where the mechanism has a target."""
    left_out: list[tuple[str, str]] = []

    def asked(name: str, query: Callable[[], R]) -> R | None:
        try:
            return query()
        except TightdpError as error:
            left_out.append((name, error.what))
            return None

    privacy = instance.privacy()
    limited = instance if instance.timeout is not None else _limited(instance)
    bound = instance.bound
    if bound.program.target is None:
        left_out.append(("accuracy", "the mechanism names no target"))
    return Report(
        subject=instance.subject,
        status=privacy.status,
        stats=privacy.stats,
        reason=privacy.reason,
        hint=privacy.hint,
        documentation=bound.program.documentation,
        sources=marked_sources(bound.program),
        privacy=privacy,
        likelihood=asked("the outputs of the worst pair", lambda: _likelihood(instance, privacy.witness)),
        curve=asked("the privacy curve", instance.curve),
        tradeoff=asked("the trade-off function", instance.tradeoff),
        accuracy=None if bound.program.target is None else asked("accuracy", lambda: instance.accuracy(alpha, top=12)),
        efficacy=asked("efficacy", limited.efficacy),
        structure=asked("the diagram", instance.show),
        left_out=tuple(left_out),
    )


def _limited(instance: Asked) -> Asked:
    found = instance.on(instance.bound, **{name: instance.limits[name] for name in ("backend", "max_nodes")})
    found.engine.allowance = Allowance(LISTED_ROWS)
    return found


def _likelihood(instance: Asked, witness: object) -> Likelihood | None:
    return instance.likelihood(witness.x, witness.x_prime) if isinstance(witness, TripleWitness) else None


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
