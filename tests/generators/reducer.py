"""Makes a program smaller as long as what is wrong with it stays: a reducer over the syntax tree."""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator

Wrong = Callable[[str], bool]


def reduced(source: str, wrong: Wrong, seconds: float = 60) -> str:
    """The smallest program found on which `wrong` still holds.

    Statements are deleted, compound ones replaced by one of their blocks, expressions by one of their parts or by a
    constant. `wrong` is asked about module texts; one that does not run is not wrong.
    """
    end = time.monotonic() + seconds
    best = ast.unparse(ast.parse(source))
    progress = True
    while progress and time.monotonic() < end:
        progress = False
        at = 0
        while time.monotonic() < end:
            candidate = _candidate(best, at)
            if candidate is None:
                break
            if candidate != best and len(candidate) <= len(best) and wrong(candidate):
                best, progress = candidate, True
            else:
                at += 1
    return best


def _candidate(source: str, number: int) -> str | None:
    """The change with this number, applied; None where there are no more."""
    tree = ast.parse(source)
    for at, change in enumerate(_changes(tree)):
        if at == number:
            change()
            try:
                return ast.unparse(ast.fix_missing_locations(tree))
            except Exception:
                return source
    return None


def _changes(tree: ast.Module) -> Iterator[Callable[[], None]]:
    """All single changes of a tree: large ones first."""
    nodes = list(ast.walk(tree))
    for node in nodes:
        for name in ("body", "orelse"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                for at in reversed(range(len(block))):
                    yield from _statement_changes(block, at, required=name == "body" and node is not tree)
                if name == "orelse" and block:
                    yield block.clear
    for node in nodes:
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr) and _replaceable(node, name):
                yield from (_setting(node, name, part) for part in _simpler(value))
            elif isinstance(value, list):
                for at, item in enumerate(value):
                    if isinstance(item, ast.expr) and _replaceable(node, name):
                        yield from (_placing(value, at, part) for part in _simpler(item))
                        if len(value) > 1 and isinstance(node, (ast.List, ast.Tuple, ast.Call, ast.BoolOp)):
                            yield _removing(value, at)
                    elif isinstance(item, ast.comprehension) and item.ifs:
                        yield item.ifs.clear


def _statement_changes(block: list[ast.stmt], at: int, required: bool) -> Iterator[Callable[[], None]]:
    statement = block[at]
    if not isinstance(statement, ast.Pass) or len(block) > 1:
        yield _removing(block, at) if len(block) > 1 or not required else _placing(block, at, ast.Pass())
    for name in ("body", "orelse"):
        inner = getattr(statement, name, None)
        if isinstance(inner, list) and inner and not isinstance(statement, ast.FunctionDef):
            yield _splicing(block, at, inner)


def _replaceable(node: ast.AST, name: str) -> bool:
    """Whether an expression in this field may be any other one."""
    return name not in ("target", "targets", "func", "decorator_list", "optional_vars")


def _simpler(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, (ast.Slice, ast.Starred, ast.JoinedStr)) or isinstance(getattr(node, "ctx", None), ast.Store):
        return
    if not isinstance(node, ast.Constant):
        for value in (0, 1, True):
            yield ast.Constant(value)
    if isinstance(node, ast.Name):
        return
    for part in ast.iter_child_nodes(node):
        if isinstance(part, ast.expr) and not isinstance(part, (ast.Slice, ast.Starred)):
            yield copy.deepcopy(part)


def _setting(node: ast.AST, name: str, value: ast.AST) -> Callable[[], None]:
    return lambda: setattr(node, name, value)


def _placing(items: list, at: int, value: ast.AST) -> Callable[[], None]:  # type: ignore[type-arg]
    return lambda: items.__setitem__(at, value)


def _removing(items: list, at: int) -> Callable[[], None]:  # type: ignore[type-arg]
    return lambda: items.__delitem__(at)


def _splicing(block: list, at: int, inner: list) -> Callable[[], None]:  # type: ignore[type-arg]
    return lambda: block.__setitem__(slice(at, at + 1), inner)
