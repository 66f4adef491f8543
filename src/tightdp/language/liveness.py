"""Which names of a function are read from a place on, before they are written.

What is read only to compute what nobody reads does not count (strong liveness: Nielson, Nielson and Hankin 1999, 2.1).
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, reduce
from typing import TypeAlias, TypeGuard, TypeVar

N = TypeVar("N", ast.stmt, ast.expr)
Names: TypeAlias = frozenset[str]
Loop: TypeAlias = ast.While | ast.For

_AT_ONCE = {"all", "any", "dict", "frozenset", "list", "max", "min", "next", "set", "sorted", "sum", "tuple"}
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def own_nodes(node: ast.AST) -> Iterable[ast.AST]:
    """Yield the nodes of a function that belong to no function inside it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield from own_nodes(child)


def bound_by(part: ast.AST) -> Iterable[str]:
    """Return the names that a piece of a function binds without writing them as names."""
    match part:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return (name,)
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            return (name,)
        case ast.alias(name=name, asname=other):
            return (other or name.partition(".")[0],)
    return ()


def names_in(node: ast.AST) -> Iterator[str]:
    """Yield the names that occur in a piece of a function."""
    for part in ast.walk(node):
        yield from (part.id,) if isinstance(part, ast.Name) else bound_by(part)


@lru_cache(4096)
def keeps_names(node: ast.AST) -> bool:
    """Whether something made by a function may look up the function's names after it has returned."""
    inner = (ast.FunctionDef, ast.Lambda, ast.GeneratorExp)
    return any(isinstance(part, inner) for part in ast.walk(node) if part is not node)


@lru_cache(4096)
def assigned(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """Return the names that a function binds itself."""
    names, outer = set[str](), set[str]()
    stack: list[ast.AST] = list(node.body) if isinstance(node, ast.FunctionDef) else [node.body]
    while stack:
        part = stack.pop()
        names.update(bound_by(part))
        if isinstance(part, ast.Nonlocal):
            outer.update(part.names)
        elif isinstance(part, (ast.FunctionDef, ast.Lambda)):
            continue
        elif isinstance(part, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            stack.extend(inner.target for inner in ast.walk(part) if isinstance(inner, ast.NamedExpr))
            continue
        elif isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load):
            names.add(part.id)
        elif isinstance(part, ast.ExceptHandler) and part.name is not None:
            names.add(part.name)
        stack.extend(ast.iter_child_nodes(part))
    return frozenset(names - outer)


def with_bodies(node: ast.stmt, written: Callable[[list[ast.stmt]], list[ast.stmt]]) -> ast.stmt:
    """Return a statement whose bodies are written anew, but for functions and classes."""
    if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        for part in (node, *getattr(node, "cases", ()), *getattr(node, "handlers", ())):
            for name in ("body", "orelse", "finalbody"):
                if isinstance(getattr(part, name, None), list):
                    setattr(part, name, written(getattr(part, name)))
    return node


def placed(node: N, place: ast.AST) -> N:
    """Return a statement or an expression with the place in the file of another piece, where it has none."""
    for part in ast.walk(node):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, place)
    return node


def read(*nodes: ast.AST | None) -> Names:
    """Return the names that are read anywhere inside, but for those that a comprehension makes for itself."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name):
            found |= set() if isinstance(node.ctx, ast.Store) else {node.id}
        elif isinstance(node, COMPREHENSIONS):
            inside = read(*ast.iter_child_nodes(node)) - {
                part.id for clause in node.generators for part in ast.walk(clause.target) if isinstance(part, ast.Name)
            }
            found |= inside | read(node.generators[0].iter)
        elif node is not None:
            found |= read(*ast.iter_child_nodes(node))
    return frozenset(found)


def read_from(node: ast.AST, after: Names) -> Names:
    """Return the names that are read from an expression on, given those that are read after it.

    What it assigns itself, wherever it goes, is not read before.
    """
    match node:
        case _ if not any(isinstance(part, ast.NamedExpr) for part in ast.walk(node)):
            return after | read(node)
        case ast.NamedExpr(target=target, value=value):
            return read_from(value, after - {target.id})
        case ast.BoolOp(values=[first, *rest]) | ast.Compare(comparators=[first, *rest]):
            live = after
            for part in reversed(rest):  # it may end before each of these
                live = after | read_from(part, live)
            live = read_from(first, live)
            return read_from(node.left, live) if isinstance(node, ast.Compare) else live
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return read_from(test, read_from(body, after) | read_from(orelse, after))
        case ast.UnaryOp(operand=operand):
            return read_from(operand, after)
        case ast.BinOp(left=left, right=right):
            return read_from(left, read_from(right, after))
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return reduce(lambda live, part: read_from(part, live), reversed(parts), after)
    return after | read(node)


def written(target: ast.AST) -> Iterable[ast.Name]:
    """Yield the names that an assignment writes."""
    if isinstance(target, ast.Name):
        yield target
    elif isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from written(part)
    elif isinstance(target, ast.Starred):
        yield from written(target.value)


def assignments(node: ast.AST) -> Iterator[tuple[ast.Name, ast.expr]]:
    """Yield the names that a statement assigns, each with an expression for what it may then hold."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _taken(target, value)
        case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
            yield target, ast.BinOp(ast.Name(name, ast.Load()), op, value)


def _assigns_others(node: ast.AST) -> bool:
    """Whether a statement assigns to something that `assignments` does not yield."""
    parts = [part for target in getattr(node, "targets", ()) for part in _leaves(target)]
    return isinstance(node, ast.Assign) and len(parts) != len(list(assignments(node)))


def _leaves(target: ast.expr) -> list[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        return [leaf for part in target.elts for leaf in _leaves(part)]
    return [target]


def _taken(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.Name, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for one, item in zip(target.elts, value.elts, strict=True):
            yield from _taken(one, item)


def _integers(node: ast.FunctionDef, own: Sequence[ast.AST]) -> Names:
    """Return names that hold integers wherever they are read: computing with them draws nothing, and cannot fail."""
    if any(isinstance(part, (ast.Global, ast.Nonlocal)) for part in ast.walk(node)):
        return frozenset()
    values: dict[str, list[ast.expr]] = {}
    for part in own:
        for target, value in assignments(part):
            values.setdefault(target.id, []).append(value)
    stored = Counter(part.id for part in own if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load))
    met, begun = {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}, set[str]()
    for statement in node.body:
        if isinstance(statement, ast.Assign):
            begun |= {target.id for target, _ in assignments(statement)} - met - read(statement)
        met |= {part.id for part in ast.walk(statement) if isinstance(part, ast.Name)}
    found = frozenset(name for name in begun if len(values[name]) == stored[name])
    while left := {name for name in found if not all(_is_arithmetic(value, found) for value in values[name])}:
        found -= left
    return found


def _is_arithmetic(value: ast.expr, integers: Names) -> bool:
    match value:
        case ast.Constant(value=int()):
            return True
        case ast.Name(id=name):
            return name in integers
        case ast.BinOp(left, ast.Add() | ast.Sub() | ast.Mult(), right):
            return _is_arithmetic(left, integers) and _is_arithmetic(right, integers)
    return False


def _consumes(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether a call goes through its first argument at once."""
    return (
        isinstance(node, ast.Call) and bool(node.args) and isinstance(node.func, ast.Name) and node.func.id in _AT_ONCE
    )


@lru_cache(256)
def liveness_of(node: ast.FunctionDef) -> Liveness:
    """Return the liveness of a function's names."""
    return Liveness(node)


class Liveness:
    """For every loop of a function the names that are read from its body on, from its `else` on, and after it.

    `before` has those that are read from a statement on, where that stands in no `with`, `try` or `match`. Functions
    inside, and generators that are kept, may read names at any time (`inner`). Statements are `idle` whose only effect
    is on names that are not read.
    """

    def __init__(self, node: ast.FunctionDef) -> None:
        own = list(own_nodes(node))
        consumed = {part.args[0] for part in own if _consumes(part)}
        late = (ast.FunctionDef, ast.Lambda, ast.GeneratorExp)
        self.inner = read(*(part for part in own if isinstance(part, late) and part not in consumed))
        self._all = read(*own) | {part.id for part in own if isinstance(part, ast.Name)}
        self.heads: dict[ast.AST, Names] = {}
        self.ends: dict[ast.AST, Names] = {}
        self.after: dict[ast.AST, Names] = {}
        self.before: dict[ast.stmt, Names] = {}
        self.idle: set[ast.AST] = set()
        self._integers = _integers(node, own)
        self._before(node.body, frozenset(), frozenset(), frozenset())

    def _before(self, body: Sequence[ast.stmt], after: Names, broken: Names, continued: Names) -> Names:
        """Return the names that are read from the beginning of a body on, before they are written."""
        live = after
        for statement in reversed(body):
            live = self.before[statement] = self._at(statement, live, broken, continued)
        return live

    def _at(self, node: ast.stmt, after: Names, broken: Names, continued: Names) -> Names:
        self.idle.discard(node)
        if self._is_idle(node, after | self.inner):
            self.idle.add(node)
            return after
        match node:
            case ast.Break():
                return broken
            case ast.Continue():
                return continued
            case ast.Pass():
                return after
            case ast.Expr(value=value):
                return read_from(value, after)
            case ast.Return() | ast.Raise():
                return read(node)
            case ast.Assign(targets=targets, value=value):
                killed = {part.id for target in targets for part in written(target)}
                return read_from(value, (after - killed) | read(*targets))
            case ast.AnnAssign(target=target, value=value) if value is not None:
                return (after - {part.id for part in written(target)}) | read(value, target)
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                return after | {name} | read(value)
            case ast.If(test=test, body=body, orelse=orelse):
                either = self._before(body, after, broken, continued) | self._before(orelse, after, broken, continued)
                return read_from(test, either)
            case ast.While(test=test, body=body, orelse=orelse):
                end = self.ends[node] = self._before(orelse, after, broken, continued)
                always = isinstance(test, ast.Constant) and bool(test.value)  # then its test never ends it
                return self._looped(node, body, lambda live: live if always else read_from(test, live | end), after)
            case ast.For(target=target, iter=items, body=body, orelse=orelse):
                end = self.ends[node] = self._before(orelse, after, broken, continued)
                names = {part.id for part in written(target)}
                return self._looped(node, body, lambda live: (live - names) | read(target) | end, after) | read(items)
            case _:
                for part in ast.walk(node):
                    if isinstance(part, Loop):
                        self.heads[part] = self.ends[part] = self.after[part] = self._all
                    if isinstance(part, ast.AugAssign):
                        after |= {part.target.id} if isinstance(part.target, ast.Name) else frozenset()
                return after | broken | continued | read(node)

    def _is_idle(self, node: ast.stmt, after: Names) -> bool:
        found = list(assignments(node))
        unread = all(target.id in self._integers - after for target, _ in found)
        plain = unread and all(_is_arithmetic(value, self._integers) for _, value in found)
        return bool(found) and plain and not _assigns_others(node)

    def _looped(self, node: Loop, body: Sequence[ast.stmt], again: Callable[[Names], Names], after: Names) -> Names:
        """Return the names that are read from where a round may begin: `again`, given those from its body on."""
        found: Names = frozenset()
        while True:
            live = again(found)
            new = self._before(body, live, after, live)
            if new <= found:
                self.heads[node], self.after[node] = found, after
                return live
            found |= new
