"""Rewriting the code of a mechanism: what it adds up becomes messages, the number of records a symbolic value."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence

__all__ = ["EMIT", "SIZED", "Emission", "Sized", "name_of", "sum_of"]

EMIT, SIZED = "__tightdp_emit__", "__tightdp_size__"


class Sized(ast.NodeTransformer):
    """Makes the number of records a symbolic value."""

    def __init__(self, dataset: str, size: str | None) -> None:
        self._dataset = dataset
        self._size = size

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if ast.unparse(node) == f"len({self._dataset})":
            return ast.copy_location(name_of(SIZED), node)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(name_of(SIZED), node) if node.id == self._size else node


class Emission(ast.NodeTransformer):
    """Turns additions to emitted variables into calls, and their sums, where the body reads them, into variables."""

    def __init__(self, names: set[str]) -> None:
        self._names = names
        self._summed: set[str] = set()
        self.added = 0

    def statements(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        body = copy.deepcopy(list(body))
        for node in (node for each in body for node in ast.walk(each)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "sum" and len(node.args) == 1:
                argument = node.args[0]
                if isinstance(argument, ast.Name) and argument.id in self._names:
                    self._summed.add(argument.id)
        return [self.visit(each) for each in body]

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        call = node.value
        if isinstance(call, ast.Call) and len(call.args) == 1:
            for name in self._names:
                if ast.unparse(call.func) == f"{name}.append":
                    return self._added(name, call.args[0], node)
        return self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if isinstance(node.target, ast.Name) and node.target.id in self._names and isinstance(node.op, ast.Add):
            return self._added(node.target.id, node.value, node)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if ast.unparse(node.func) == "sum" and len(node.args) == 1:
            argument = node.args[0]
            if isinstance(argument, ast.Name) and argument.id in self._names:
                return ast.copy_location(name_of(sum_of(argument.id)), node)
        return self.generic_visit(node)

    def _added(self, name: str, value: ast.expr, node: ast.stmt) -> ast.stmt:
        self.added += 1
        emission = ast.Call(name_of(EMIT), [ast.Constant(name), self.visit(value)], [])
        if name in self._summed:
            return ast.copy_location(ast.AugAssign(name_of(sum_of(name), ast.Store()), ast.Add(), emission), node)
        return ast.copy_location(ast.Expr(emission), node)


def name_of(name: str, context: ast.expr_context | None = None) -> ast.Name:
    return ast.Name(name, context or ast.Load())


def sum_of(name: str) -> str:
    return f"__tightdp_sum_{name}__"
