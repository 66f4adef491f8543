"""Small questions about syntax trees: which names are read, written, and read before they are written."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

__all__ = ["Nodes", "exposed", "fragment", "loads", "stores"]

Nodes = Iterable[ast.AST]


def loads(nodes: Nodes) -> set[str]:
    """Return the names that are read somewhere in these nodes."""
    found = (part for node in nodes for part in ast.walk(node))
    return {part.id for part in found if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)}


def stores(nodes: Nodes) -> set[str]:
    """Return the names that are assigned somewhere in these nodes, also those that a comprehension binds."""
    return set(_stored(nodes))


def _stored(nodes: Nodes) -> Iterator[str]:
    for part in (part for node in nodes for part in ast.walk(node)):
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            yield part.id
        elif isinstance(part, (ast.FunctionDef, ast.ClassDef, ast.MatchAs, ast.MatchStar)):
            yield part.name or ""
        elif isinstance(part, ast.MatchMapping) and part.rest:
            yield part.rest
        elif isinstance(part, ast.ExceptHandler) and part.name:
            yield part.name


def exposed(statements: Iterable[ast.stmt], known: frozenset[str] = frozenset()) -> set[str]:
    """Return the names that may be read before these statements assign them; an overestimate."""
    return _exposed(statements, known)[0]


def _exposed(statements: Iterable[ast.stmt], known: frozenset[str]) -> tuple[set[str], frozenset[str] | None]:
    """The same, with the names that are assigned for certain afterwards; None where nothing comes afterwards."""
    read: set[str] = set()
    for statement in statements:
        if isinstance(statement, ast.If):
            read |= loads([statement.test]) - known
            ends = []
            for branch in (statement.body, statement.orelse):
                more, end = _exposed(branch, known)
                read |= more
                ends.append(end)
            after = [end for end in ends if end is not None]
            if not after:
                return read, None
            known = frozenset.intersection(*after)
            continue
        if isinstance(statement, ast.For):
            inside = known | {part.id for part in ast.walk(statement.target) if isinstance(part, ast.Name)}
            read |= loads([statement.iter]) - known | _exposed(statement.body, inside)[0]
            read |= _exposed(statement.orelse, known)[0]
            continue
        read |= loads([statement]) - known
        if isinstance(statement, ast.AugAssign):
            read |= {part.id for part in ast.walk(statement.target) if isinstance(part, ast.Name)} - known
        if isinstance(statement, ast.Assign):
            targets = [part for target in statement.targets for part in ast.walk(target)]
            known |= {part.id for part in targets if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
        if isinstance(statement, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
            return read, None
    return read, known


def fragment(text: str, **parts: ast.expr | list[ast.stmt]) -> list[ast.stmt]:
    """Return parsed statements in which names stand for expressions, and a name as a statement for statements."""
    parsed = ast.parse(text)
    for node in ast.walk(parsed):
        for place in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            node.__dict__.pop(place, None)
    tree = _Filled(parts).visit(parsed)
    body: list[ast.stmt] = tree.body
    return body


class _Filled(ast.NodeTransformer):
    """Puts parts into a fragment."""

    def __init__(self, parts: dict[str, ast.expr | list[ast.stmt]]) -> None:
        self._parts = parts

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        if isinstance(node.value, ast.Name):
            part = self._parts.get(node.value.id)
            if isinstance(part, list):
                return part
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        part = self._parts.get(node.id)
        if part is None or isinstance(part, list):
            return node
        if isinstance(part, ast.Name):
            return ast.copy_location(ast.Name(part.id, node.ctx), part)
        return part
