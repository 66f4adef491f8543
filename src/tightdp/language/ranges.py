"""Loops over `range(noise)` as `while` loops that count: how often they go round is decided round by round."""

from __future__ import annotations

import ast
from copy import deepcopy
from typing import Any

from tightdp.exact.rationals import Symbolic
from tightdp.language.liveness import placed

ENDS = "__tightdp_ends__"
_DEEPEST = 2
"""So many loops inside one another are written twice."""


def ends(kind: Any, *bounds: Any) -> tuple[Any, Any] | None:
    """Return where a range with noisy ends begins and ends; None for any other."""
    if kind is not range or not any(isinstance(each, Symbolic) for each in bounds):
        return None
    first, last = bounds if len(bounds) > 1 else (0, *bounds)
    for each in (first, last):
        if isinstance(each, Symbolic):
            each.as_integer("an end of a range")
        else:
            range(each)
    return first, last


class Counting(ast.NodeTransformer):
    """Writes loops over ranges whose ends may be noisy a second time, for the runs on which they are."""

    def __init__(self) -> None:
        self._made, self._deep = 0, 0

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        """Return a loop, after what asks which kind of range it goes through."""
        outside, self._deep = self._deep, 0
        self.generic_visit(node)
        inside, self._deep = self._deep, max(outside, self._deep)
        if node.orelse or inside == _DEEPEST or not _may_be_noisy(node.iter):
            return node
        assert isinstance(node.iter, ast.Call)
        self._deep, self._made = max(outside, inside + 1), self._made + 1
        bounds, found, at, last = (f"_tightdp_{what}_{self._made}" for what in ("bounds", "ends", "at", "last"))
        asked = ast.Call(_name(ENDS), [node.iter.func, ast.Starred(_name(bounds), ast.Load())], [])
        counted = ast.Assign([deepcopy(node.target)], _name(at))
        count = ast.AugAssign(_name(at, ast.Store()), ast.Add(), ast.Constant(1))
        goes_on = ast.Compare(_name(at), [ast.Lt()], [_name(last)])
        both = ast.Tuple([_name(at, ast.Store()), _name(last, ast.Store())], ast.Store())
        loop = [
            ast.Assign([both], _name(found)),
            ast.While(goes_on, [counted, count, *map(deepcopy, node.body)], []),
        ]
        as_written = ast.Call(node.iter.func, [ast.Starred(_name(bounds), ast.Load())], [])
        each = ast.copy_location(ast.For(node.target, placed(as_written, node.iter), node.body, []), node)
        written: list[ast.stmt] = [
            ast.Assign([_name(bounds, ast.Store())], ast.Tuple(node.iter.args, ast.Load())),
            ast.Assign([_name(found, ast.Store())], asked),
            ast.If(ast.Compare(_name(found), [ast.Is()], [ast.Constant(None)]), [each], loop),
        ]
        return [placed(statement, node) for statement in written]


def _name(name: str, context: ast.expr_context | None = None) -> ast.Name:
    return ast.Name(name, context or ast.Load())


def _may_be_noisy(items: ast.expr) -> bool:
    """Whether a loop goes through a range with one or two ends, and not only constants and lengths."""
    match items:
        case ast.Call(func=ast.Name(id="range"), args=[_] | [_, _] as bounds, keywords=[]):
            return not all(map(_is_plain, bounds))
    return False


def _is_plain(bound: ast.expr) -> bool:
    """Whether a bound is computed from constants and lengths, or is a star, which may bring any number."""
    match bound:
        case ast.Constant() | ast.Starred() | ast.Call(func=ast.Name(id="len")):
            return True
        case ast.BinOp(left=left, right=right):
            return _is_plain(left) and _is_plain(right)
    return False
