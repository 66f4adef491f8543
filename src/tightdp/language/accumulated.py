"""Comprehensions as loops, and lists of which only sums and lengths are read as these numbers.

Runs meet in loops, where they go on with the same values (`rounds`). So what is drawn into a list of which no more than
the sum is read leads to as many ways as there are sums, and a loop may add to it without end.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import groupby
from numbers import Number
from typing import Any, NamedTuple, TypeAlias, TypeGuard

from tightdp.language.liveness import assignments, bound_by, own_nodes, placed, with_bodies

_GOES_THROUGH = frozenset({"frozenset", "list", "max", "min", "set", "sorted", "sum", "tuple"})
"""Builtins that read all of their first argument before they do anything else."""
_READ = frozenset({"all", "any", "len", "sum"})
_ARITHMETIC = (
    *(ast.Constant, ast.Name, ast.Tuple, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.IfExp, ast.expr_context, ast.operator),
    *(ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.unaryop, ast.boolop),
    *(ast.ListComp, ast.GeneratorExp, ast.comprehension),
)
_EFFECTS = (
    *(ast.Break, ast.Return, ast.Raise, ast.Assert, ast.FunctionDef, ast.ClassDef, ast.With, ast.Delete),
    *(ast.Call, ast.Attribute, ast.Subscript, ast.Import, ast.ImportFrom, ast.Match),
)
"""Of these no more is known than when they come."""
Comprehension: TypeAlias = "ast.ListComp | ast.GeneratorExp"


def calls_others(node: ast.AST) -> bool:
    """Whether something calls what may draw, as far as it is written."""
    return isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in _READ | {"range"})


def accumulated(node: ast.FunctionDef, around: Mapping[str, Any]) -> None:
    """Write a function anew that means the same; what stands `around` it, and its own names, are no builtins.

    No function inside may give names of this one other values, and no exceptions are caught in it.
    """
    own = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)}
    known = (_GOES_THROUGH | _READ | {"map"}) - own - {*otherwise_bound(node)} - set(around)
    node.body = _Loops(node, known).written(_Comprehended(known, own).visit(node).body)
    numbers_around = {name for name, value in around.items() if isinstance(value, Number)}
    read = sorted(_Lists(node, known, numbers_around).read, key=lambda each: each.of.id)
    for name, numbers in groupby(read, key=lambda each: each.of.id):
        _Numbers(name, numbers).visit(node)


class _Comprehended(ast.NodeTransformer):
    """Makes comprehensions of `map` and `list`."""

    def __init__(self, known: Collection[str], stored: Collection[str]) -> None:
        self._known, self._stored = known, stored

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Write a call anew; the function of a `map` is evaluated once, so that it has to be a name."""
        self.generic_visit(node)
        if _is_name(node.func) and node.func.id in _GOES_THROUGH and node.func.id in self._known and node.args:
            match node.args[0]:
                case ast.Call(ast.Name(id="map"), [function, items], []) if "map" in self._known:
                    if _is_name(function) and function.id not in self._stored and not isinstance(items, ast.Starred):
                        item, its_name = ast.Name("item.map", ast.Load()), ast.Name("item.map", ast.Store())
                        clause = ast.comprehension(its_name, items, [], 0)
                        node.args[0] = ast.GeneratorExp(ast.Call(function, [item], []), [clause])
                        placed(node.args[0], function)
            if node.func.id == "list" and isinstance(made := node.args[0], ast.GeneratorExp):
                return ast.copy_location(ast.ListComp(made.elt, made.generators), made)
        return node


class _Loops:
    """Makes loops of comprehensions that call something, before the statements that evaluate them first."""

    def __init__(self, node: ast.FunctionDef, known: frozenset[str]) -> None:
        self._known, self._number = known, 0
        self._before: list[ast.stmt] = []
        self._numbers = _numbers_in(node)
        inner = (part for part in own_nodes(node) if isinstance(part, ast.FunctionDef | ast.Lambda))
        self._read_inside = {part.id for each in inner for part in ast.walk(each) if _is_name(part)}
        self._uses = Counter(part.id for part in ast.walk(node) if _is_name(part))

    def written(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Return the statements of a body written anew."""
        found: list[ast.stmt] = []
        for at, statement in enumerate(body):
            self._before = []
            match statement:
                case ast.Assign([ast.Name(id=name)], ast.ListComp() as made) if self._is_loop(made):
                    if self._goes_on(name, made, body[at + 1 :]):
                        continue
                    if name not in self._seen(made):
                        self._loop(made, name)
                        found += self._before
                        continue
                    statement.value = self._loop(made)
                case ast.Assign() | ast.AugAssign(target=ast.Name()) | ast.Return() | ast.Expr():
                    statement.value = statement.value and self._first(statement.value)
                case ast.If():
                    statement.test = self._first(statement.test)
                case ast.For() if (by_item := self._each_item(statement)) is not statement:
                    found += self.written([by_item])
                    continue
                case ast.For():
                    statement.iter = self._first(statement.iter)
            found += [*self._before, with_bodies(statement, self.written)]
        return found

    def _goes_on(self, name: str, made: ast.ListComp, later: Sequence[ast.stmt]) -> bool:
        """Make a list where a loop goes through it, if nothing else reads it. Return whether that is done."""
        for statement in later if self._uses[name] == 2 else ():
            if isinstance(statement, ast.For) and _is_name(statement.iter) and statement.iter.id == name:
                statement.iter = made
                return True
            between = list(ast.walk(statement))
            skips = any(isinstance(part, ast.Continue) for part in between)  # then nobody goes through it
            if skips or not _commutes(between, self._seen(made), self._numbers):
                break
        return False

    def _first(self, node: ast.expr) -> ast.expr:
        """Return an expression without the comprehensions in it that are evaluated whatever else is."""
        match node:
            case ast.ListComp() if self._is_loop(node):
                return self._loop(node)
            case ast.Call(ast.Name(id=name), [ast.GeneratorExp() as items, *more]) if (
                name in self._known & _GOES_THROUGH
            ):  # what else is given is evaluated before the items are
                others = (*more, *(keyword.value for keyword in node.keywords))
                if self._is_loop(items) and all(isinstance(each, ast.Constant) for each in others):
                    node.args[0] = self._loop(items)
            case ast.Call():
                node.func, *node.args = self._each([node.func, *node.args])
            case ast.Tuple() | ast.List():
                node.elts = self._each(node.elts)
            case ast.BinOp():
                node.left, node.right = self._each([node.left, node.right])
            case ast.Compare(comparators=[right]):
                node.left, *node.comparators = self._each([node.left, right])
            case ast.UnaryOp():
                node.operand = self._first(node.operand)
            case ast.IfExp():
                node.test = self._first(node.test)
            case ast.Subscript() | ast.Starred() | ast.Attribute():
                node.value = self._first(node.value)
        return node

    def _each(self, parts: Sequence[ast.expr]) -> list[ast.expr]:
        """Return what is evaluated one after the other: what comes before a loop has a name then."""
        found = list(parts)
        for at, part in enumerate(parts):
            number = len(self._before)
            found[at] = self._first(part)
            values = []
            for k in range(at if len(self._before) > number else 0):
                if not isinstance(found[k], ast.Constant | ast.Name):
                    self._number += 1
                    name = f"value.{self._number}"
                    values.append(placed(ast.Assign([ast.Name(name, ast.Store())], found[k]), found[k]))
                    found[k] = ast.copy_location(ast.Name(name, ast.Load()), found[k])
            self._before[number:number] = values
            if isinstance(part, ast.Starred):
                break
        return found

    def _seen(self, made: Comprehension) -> set[str]:
        """Return the names that a comprehension reads, as far as it may be known."""
        return self._read_inside | {part.id for part in ast.walk(made) if _is_name(part)}

    @staticmethod
    def _is_loop(node: Comprehension) -> bool:
        """Whether a comprehension calls something, and can be a loop."""
        inside = list(ast.walk(node))
        late = (ast.Lambda, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom)
        calls = any(map(calls_others, inside))
        return calls and not any(isinstance(part, late) or getattr(part, "is_async", 0) for part in inside)

    def _loop(self, node: Comprehension, name: str = "") -> ast.expr:
        """Return the name of the list that a comprehension makes, in a loop that comes before."""
        name = name or f"list.{self._number}"
        add = ast.Call(ast.Attribute(ast.Name(name, ast.Load()), "append", ast.Load()), [node.elt], [])
        loop = self._nested(node, [placed(ast.Expr(add), node.elt)])
        empty = placed(ast.Assign([ast.Name(name, ast.Store())], ast.List([], ast.Load())), node)
        before = self._before
        self._before = [*before, empty, *self.written([loop])]
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def _each_item(self, node: ast.For) -> ast.stmt:
        """Return a loop over the items of a comprehension as one that computes each of them in its own round."""
        made = node.iter
        if not isinstance(made, ast.ListComp | ast.GeneratorExp) or node.orelse or not self._is_loop(made):
            return node
        inside = [part for statement in (node.target, *node.body) for part in ast.walk(statement)]
        if isinstance(made, ast.ListComp):  # then all items are there before the first round
            own = {part.id for part in ast.walk(node.target) if _is_name(part)}
            if not _commutes(inside, self._seen(made), self._numbers | own):
                return node
        elif len(made.generators) > 1 and any(isinstance(part, ast.Break) for part in inside):
            return node
        item = placed(ast.Assign([node.target], made.elt), made.elt)
        return self._nested(made, [item, *node.body])

    def _nested(self, node: Comprehension, body: list[ast.stmt]) -> ast.stmt:
        """Return the loops of a comprehension around what is done with an item; its variables get other names."""
        self._number += 1
        first, *_ = node.generators
        items, first.iter = first.iter, ast.Constant(None)  # the first ones are evaluated outside
        targets = [clause.target for clause in node.generators]
        bound = {part.id for target in targets for part in ast.walk(target) if _is_name(part, ast.Store)}
        for part in ast.walk(node):
            if _is_name(part) and part.id in bound:
                part.id = f"{part.id}.{self._number}"  # no name that a function can have
        first.iter = items
        for clause in reversed(node.generators):
            for test in reversed(clause.ifs):
                body = [placed(ast.If(test, body, []), test)]
            body = [placed(ast.For(clause.target, clause.iter, body, []), clause.target)]
        return body[0]


class _Read(NamedTuple):
    """A number that is read off a list."""

    of: ast.Name
    call: ast.Call

    def joined(self, before: ast.expr) -> ast.expr:
        """Return that of two lists one after the other: of the first one it is known."""
        match self.call.func:
            case ast.Name(id="any" | "all" as name):
                return ast.BoolOp(ast.Or() if name == "any" else ast.And(), [before, deepcopy(self.call)])
        return ast.BinOp(before, ast.Add(), deepcopy(self.call))


class _Lists:
    """Lists that are made here, to which items are added, and of which nothing but such numbers are `read`."""

    def __init__(self, node: ast.FunctionDef, known: Collection[str], numbers: Collection[str]) -> None:
        self._known = known
        self._stored = {part.id for part in ast.walk(node) if _is_name(part) and not isinstance(part.ctx, ast.Load)}
        self._steady = {
            *numbers,
            *(part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)),
        } - self._stored
        fit, read = set[ast.AST](), list[_Read]()
        for part in own_nodes(node):
            match part:
                case ast.Assign(targets=[_]):
                    fit |= {name for name, value in assignments(part) if isinstance(value, ast.List | ast.ListComp)}
                case ast.AugAssign(
                    target=ast.Name() as name, op=ast.Add(), value=ast.List() | ast.ListComp()
                ) | ast.Expr(ast.Call(ast.Attribute(ast.Name() as name, "append"), [_], [])):
                    fit.add(name)
                case ast.Call() if found := self.read_off(part):
                    fit.add(found.of)
                    read.append(found)
        others = {part.id for part in ast.walk(node) if _is_name(part) and part not in fit} | {*otherwise_bound(node)}
        self.read = [each for each in read if each.of.id in self._stored - others]

    def read_off(self, call: ast.Call) -> _Read | None:
        """Return which number a call reads off which list, None where it is no such number."""
        match call:
            case ast.Call(ast.Attribute(ast.Name() as of, "count"), [item], []) if self._is_fixed(item):
                return _Read(of, call)
            case ast.Call(ast.Name(id="sum" | "len" | "any" | "all" as name), [items], []) if name in self._known:
                match items:
                    case ast.Name():
                        return _Read(items, call)
                    case ast.ListComp(_, [clause]) | ast.GeneratorExp(_, [clause]) if _is_name(clause.iter):
                        return _Read(clause.iter, call) if self._is_fixed(items, clause.iter) else None
        return None

    def _is_fixed(self, node: ast.expr, of: ast.expr | None = None) -> bool:
        """Whether arithmetic on the items of a list is the same at any time."""
        inside = list(ast.walk(node))
        own = {part.id for part in inside if _is_name(part, ast.Store)}
        names = {part.id for part in inside if _is_name(part, ast.Load) and part is not of} - own
        return all(isinstance(part, _ARITHMETIC) for part in inside) and names <= self._steady


def otherwise_bound(node: ast.AST) -> Iterator[str]:
    """Yield the names that are bound inside without being written as names."""
    for part in ast.walk(node):
        yield from (part.arg,) if isinstance(part, ast.arg) else bound_by(part)


class _Numbers(ast.NodeTransformer):
    """Numbers that are read off a list, in place of it."""

    def __init__(self, name: str, read: Iterable[_Read]) -> None:
        self._name = name
        self._read = {ast.dump(each.call): each for each in read}
        self._place = {call: f"{name}.{at}" for at, call in enumerate(self._read)}

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """Read a number."""
        name = self._place.get(ast.dump(node))
        if name is not None:
            return ast.copy_location(ast.Name(name, ast.Load()), node)
        self.generic_visit(node)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        """Begin with the numbers of a list."""
        self.generic_visit(node)
        if self._name not in {target.id for target, _ in assignments(node)}:
            return node
        own = [self._set(name, deepcopy(self._read[call].call), node) for call, name in self._place.items()]
        return [node, *own, self._set(self._name, ast.Constant(None), node)]

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt | list[ast.stmt]:
        """Add those of another list."""
        self.generic_visit(node)
        own = _is_name(node.target) and node.target.id == self._name
        return self._longer(node.value, node) if own else node

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | list[ast.stmt]:
        """Add an item."""
        self.generic_visit(node)
        match node.value:
            case ast.Call(ast.Attribute(ast.Name(id=self._name), "append"), [item]):
                return self._longer(ast.List([item], ast.Load()), node)
        return node

    def _longer(self, more: ast.expr, place: ast.stmt) -> list[ast.stmt]:
        found = [self._set(self._name, more, place)]
        for call, name in self._place.items():
            found.append(self._set(name, self._read[call].joined(ast.Name(name, ast.Load())), place))
        return [*found, self._set(self._name, ast.Constant(None), place)]

    @staticmethod
    def _set(name: str, value: ast.expr, place: ast.AST) -> ast.stmt:
        return placed(ast.Assign([ast.Name(name, ast.Store())], value), place)


def _numbers_in(node: ast.FunctionDef) -> set[str]:
    """Return the names that begin as numbers wherever they do, and to which something is added."""
    begun, stored = Counter[str](), Counter(part.id for part in ast.walk(node) if _is_name(part, ast.Store))
    for part in own_nodes(node):
        match part:
            case ast.Assign([ast.Name(id=name)], ast.Constant(int())) | ast.AugAssign(ast.Name(id=name)):
                begun[name] += 1
    return {name for name, times in begun.items() if times == stored[name]} - {*otherwise_bound(node)}


def _commutes(parts: Iterable[ast.AST], seen: Collection[str], numbers: Collection[str]) -> bool:
    """Whether pieces of a function may come before a comprehension that reads some names as well as after it."""
    for part in parts:
        if isinstance(part, _EFFECTS):
            return False
        if _is_name(part) and (part.id not in numbers if isinstance(part.ctx, ast.Load) else part.id in seen):
            return False
    return True


def _is_name(node: ast.AST, context: type[ast.expr_context] = ast.expr_context) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, context)
