"""Comprehensions as loops, and lists of which only sums and lengths are read as these numbers.

Runs meet in loops, where they go on with the same values (`rounds`). So what is drawn into a list of which no more than
the sum is read leads to as many ways as there are sums, and a loop may add to it without end.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias, TypeGuard

from tightdp.language.liveness import assignments, bound_by, own_nodes, placed, with_bodies

_GOES_THROUGH = frozenset({"frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple"})
"""Builtins that read all of their first argument before they do anything else."""
_READ = frozenset({"len", "sum"})
Comprehension: TypeAlias = "ast.ListComp | ast.GeneratorExp"


def accumulated(node: ast.FunctionDef, hidden: Collection[str]) -> None:
    """Write a function anew that means the same; names in `hidden`, and its own, are no builtins."""
    own = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}
    known = (_GOES_THROUGH | _READ) - own - {*_otherwise_bound(node)} - set(hidden)
    node.body = _Loops(known).written(node.body)
    for name, read in _only_summed(node, known & _READ).items():
        _Numbers(name, read).visit(node)


class _Loops:
    """Makes loops of comprehensions that call something, before the statements that evaluate them first."""

    def __init__(self, known: frozenset[str]) -> None:
        self._known, self._number = known, 0
        self._before: list[ast.stmt] = []

    def written(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return the statements of a body written anew."""
        found: list[ast.stmt] = []
        for statement in body:
            self._before = []
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.ListComp() as value) if self._is_loop(
                    value
                ) and name not in {part.id for part in ast.walk(value) if _is_name(part)}:
                    self._loop(value, name)
                    found += self._before
                    continue
                case ast.Assign() | ast.AugAssign(target=ast.Name()) | ast.Return() | ast.Expr():
                    statement.value = statement.value and self._first(statement.value)[0]
                case ast.If():
                    statement.test = self._first(statement.test)[0]
                case ast.For():
                    statement.iter = self._first(statement.iter)[0]
            found += [*self._before, with_bodies(statement, self.written)]
        return found

    def _first(self, node: ast.expr) -> tuple[ast.expr, bool]:
        """Return an expression without the comprehensions in it that come before everything that has effects.

        The second part says whether it has none itself, so that what is evaluated next may be evaluated earlier.
        """
        match node:
            case ast.Constant() | ast.Name() | ast.Attribute(value=ast.Name()):
                return node, True
            case ast.ListComp() if self._is_loop(node):
                return self._loop(node), True
            case ast.Call(ast.Name(id=name), [ast.GeneratorExp() as items, *_]) if name in self._known - {"len"}:
                node.args[0] = self._loop(items) if self._is_loop(items) else items
                return node, name == "sum" and len(node.args) == 1 and not node.keywords
            case ast.Call(func=function, args=args, keywords=keywords):
                reads = isinstance(function, ast.Name) and function.id in self._known & _READ
                return node, self._first(function)[1] and self._each(args) and reads and not keywords
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return node, self._each(parts)
            case ast.BinOp(left, op, right):
                without = self._each(parts := [left, right]) and isinstance(op, (ast.Add, ast.Sub, ast.Mult))
                node.left, node.right = parts
                return node, without
            case ast.Compare(left, [_], [right]):
                self._each(parts := [left, right])
                node.left, node.comparators = parts[0], parts[1:]
            case ast.UnaryOp():
                node.operand, without = self._first(node.operand)
                return node, without
            case ast.IfExp():
                node.test = self._first(node.test)[0]
            case ast.Subscript() | ast.Starred():
                node.value = self._first(node.value)[0]
        return node, False

    def _each(self, parts: list[ast.expr]) -> bool:
        for at, part in enumerate(parts):
            parts[at], without = self._first(part)
            if not without:
                return False
        return True

    @staticmethod
    def _is_loop(node: Comprehension) -> bool:
        """Whether a comprehension calls something, and can be a loop."""
        inside = list(ast.walk(node))
        late = (ast.Lambda, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
        calls = any(isinstance(part, ast.Call) for part in inside)
        return calls and not any(isinstance(part, late) or getattr(part, "is_async", 0) for part in inside)

    def _loop(self, node: Comprehension, name: str = "") -> ast.expr:
        """Return the name of the list that a comprehension makes, in a loop that comes before."""
        self._number += 1
        name = name or f"list.{self._number}"
        first, *_ = node.generators
        items, first.iter = first.iter, ast.Constant(None)  # the first ones are evaluated outside
        targets = [clause.target for clause in node.generators]
        bound = {part.id for target in targets for part in ast.walk(target) if _is_name(part, ast.Store)}
        for part in ast.walk(node):
            if _is_name(part) and part.id in bound:
                part.id = f"{part.id}.{self._number}"  # no name that a function can have
        first.iter = items
        add = ast.Call(ast.Attribute(ast.Name(name, ast.Load()), "append", ast.Load()), [node.elt], [])
        body: list[ast.stmt] = [placed(ast.Expr(add), node.elt)]
        for clause in reversed(node.generators):
            for test in reversed(clause.ifs):
                body = [placed(ast.If(test, body, []), test)]
            body = [placed(ast.For(clause.target, clause.iter, body, []), clause.target)]
        empty = placed(ast.Assign([ast.Name(name, ast.Store())], ast.List([], ast.Load())), node)
        before = self._before
        self._before = [*before, empty, *self.written(body)]
        return ast.copy_location(ast.Name(name, ast.Load()), node)


def _only_summed(node: ast.FunctionDef, known: Collection[str]) -> dict[str, set[str]]:
    """Return lists made here of which nothing but sums and lengths are read, with which of these; items are added."""
    fit, numbers = set[ast.AST](), dict[str, set[str]]()
    for part in own_nodes(node):
        match part:
            case ast.Assign(targets=[_]):
                fit |= {name for name, value in assignments(part) if isinstance(value, ast.List | ast.ListComp)}
            case ast.AugAssign(target=ast.Name() as name, op=ast.Add(), value=ast.List() | ast.ListComp()) | ast.Expr(
                ast.Call(ast.Attribute(ast.Name() as name, "append"), [_], [])
            ):
                fit.add(name)
            case ast.Call(ast.Name(id=function), [ast.Name() as name], []) if function in known:
                fit.add(name)
                numbers.setdefault(name.id, set()).add(function)
    others = {part.id for part in ast.walk(node) if _is_name(part) and part not in fit} | {*_otherwise_bound(node)}
    return {name: read for name, read in numbers.items() if name not in others}


def _otherwise_bound(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        yield from (part.arg,) if isinstance(part, ast.arg) else bound_by(part)


class _Numbers(ast.NodeTransformer):
    """The sum and the length of a list, so far as they are read, in place of it."""

    def __init__(self, name: str, read: Collection[str]) -> None:
        self._name, self._read = name, sorted(read)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Read a number."""
        match node:
            case ast.Call(ast.Name(id=function), [ast.Name(id=self._name)], []) if function in self._read:
                return ast.copy_location(self._number(function), node)
        self.generic_visit(node)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        """Begin with the numbers of a list."""
        self.generic_visit(node)
        if self._name not in {target.id for target, _ in assignments(node)}:
            return node
        return [node, *(self._set(function, self._called(function), node) for function in self._read)]

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt | list[ast.stmt]:
        """Add those of another list."""
        self.generic_visit(node)
        if not _is_name(node.target) or node.target.id != self._name:
            return node
        other = placed(ast.Assign([node.target], node.value), node)
        return [other, *(self._added(function, self._called(function), node) for function in self._read)]

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | list[ast.stmt]:
        """Add an item."""
        self.generic_visit(node)
        match node.value:
            case ast.Call(ast.Attribute(ast.Name(id=self._name), "append"), [item]):
                added = {"sum": item, "len": ast.Constant(1)}
                found = [self._added(function, added[function], node) for function in reversed(self._read)]
                return found if "sum" in self._read else [placed(ast.Expr(item), node), *found]
        return node

    def _added(self, function: str, value: ast.expr, place: ast.AST) -> ast.stmt:
        return self._set(function, ast.BinOp(self._number(function), ast.Add(), value), place)

    def _set(self, function: str, value: ast.expr, place: ast.AST) -> ast.stmt:
        return placed(ast.Assign([ast.Name(f"{self._name}.{function}", ast.Store())], value), place)

    def _number(self, function: str) -> ast.expr:
        return ast.Name(f"{self._name}.{function}", ast.Load())

    def _called(self, function: str) -> ast.expr:
        return ast.Call(ast.Name(function, ast.Load()), [ast.Name(self._name, ast.Load())], [])


def _is_name(node: ast.AST, context: type[ast.expr_context] = ast.expr_context) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, context)
