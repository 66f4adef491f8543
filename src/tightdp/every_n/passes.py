"""Passes over the records: loops, and expressions that iterate over the records, rewritten as loops."""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from dataclasses import dataclass, field

from tightdp.errors import LanguageError
from tightdp.every_n.syntax import fragment, loads, stores
from tightdp.language.source import FunctionSource

__all__ = ["Pass", "Reader"]

_FOLDS = {
    "tuple": ("NAME = []", "NAME.append(ELT)", "tuple(NAME)"),
    "list": ("NAME = []", "NAME.append(ELT)", "NAME"),
    "set": ("NAME = []", "NAME.append(ELT)", "set(NAME)"),
    "sorted": ("NAME = []", "NAME.append(ELT)", "sorted(NAME)"),
    "sum": ("NAME = 0", "NAME += ELT", "NAME"),
    "any": ("NAME = False", "if ELT:\n    NAME = True", "NAME"),
    "all": ("NAME = True", "if not ELT:\n    NAME = False", "NAME"),
    "max": ("NAME = None", "NOW = ELT\nif NAME is None or NOW > NAME:\n    NAME = NOW", "NAME"),
    "min": ("NAME = None", "NOW = ELT\nif NAME is None or NOW < NAME:\n    NAME = NOW", "NAME"),
}
"""How an expression over the records is written as a loop: before it, in it, and its value afterwards."""
_REPEATING = (ast.For, ast.While, ast.Lambda, ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


@dataclass
class Pass:
    """One loop over the records: what a record is called, what is done with it, and what where no break ended it."""

    target: ast.expr
    body: list[ast.stmt]
    orelse: list[ast.stmt] = field(default_factory=list)


class Reader:
    """Splits the statements of a function into those that leave the dataset alone and passes over the records."""

    def __init__(self, source: FunctionSource, dataset: str) -> None:
        self.source = source
        self.dataset = dataset
        self.indices: set[str] = set()
        self.counted: set[str] = set()
        """The indices that count the records from 0."""
        self._names = 0
        self._positions: set[str] = set()

    def split(self, statements: Sequence[ast.stmt]) -> list[ast.stmt | Pass]:
        """Return statements and passes in the order in which they are run."""
        self._positions = {
            target.id
            for node in ast.walk(ast.Module(list(statements), []))
            if isinstance(node, ast.Assign) and self._anywhere(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        parts: list[ast.stmt | Pass] = []
        for statement in statements:
            if isinstance(statement, ast.For):
                shape = self.iteration(statement.target, statement.iter)
                if shape is not None:
                    target, position = shape
                    body = [self.at_position(each, position) for each in statement.body]
                    parts.append(Pass(target, body, statement.orelse))
                    continue
            hoist = _Hoist(self, statement)
            rest = hoist.visit(statement)
            assert isinstance(rest, ast.stmt)
            for before, found in hoist.found:
                parts += [*before, found]
            parts.append(rest)
        return parts

    def iteration(self, target: ast.expr, over: ast.expr) -> tuple[ast.expr, str] | None:
        """Return the names of one record and of its index; None where this does not iterate over the records."""
        if self._is_dataset(over):
            return target, ""
        if not isinstance(over, ast.Call) or not isinstance(over.func, ast.Name):
            return None
        name, arguments = over.func.id, over.args
        if name == "enumerate" and arguments and self._is_dataset(arguments[0]):
            if isinstance(target, ast.Tuple) and len(target.elts) == 2 and isinstance(target.elts[0], ast.Name):
                self.indices.add(target.elts[0].id)
                self.counted |= {target.elts[0].id} if len(arguments) + len(over.keywords) == 1 else set()
                return target.elts[1], ""
            raise self.refusal("enumerate is not taken apart into an index and a record", over)
        if name == "range" and len(arguments) == 1 and self._is_length(arguments[0]) and isinstance(target, ast.Name):
            self.indices.add(target.id)
            self.counted.add(target.id)
            return ast.copy_location(ast.Name(_RECORD, ast.Store()), target), target.id
        return None

    def at_position(self, node: ast.stmt, position: str) -> ast.stmt:
        """Return a statement with the record itself in place of the dataset at the position of the loop."""
        return _Indexed(self.dataset, position).visit(node) if position else node

    def fresh(self) -> str:
        """Return a name that no program has."""
        self._names += 1
        return f"__tightdp_fold_{self._names}__"

    def refusal(self, what: str, node: ast.AST) -> LanguageError:
        """Return the error for a program that has no answer for every n."""
        hint = "go through the records with the same code for each, as in `for v in x`, or ask for one n"
        return LanguageError(f"no answer for every n: {what}", hint, self.source.span(node))

    def published(self, node: ast.Subscript) -> bool:
        """Whether this is one record at a position drawn uniformly."""
        if isinstance(node.slice, ast.Name):
            return node.slice.id in self._positions
        return self._anywhere(node.slice)

    def _anywhere(self, node: ast.expr) -> bool:
        return ast.unparse(node) == f"randint(0, len({self.dataset}) - 1)"

    def _is_dataset(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id == self.dataset

    def _is_length(self, node: ast.expr) -> bool:
        return ast.unparse(node) == f"len({self.dataset})"


_RECORD = "__tightdp_record__"


class _Indexed(ast.NodeTransformer):
    def __init__(self, dataset: str, position: str) -> None:
        self._text = f"{dataset}[{position}]"

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if ast.unparse(node) == self._text:
            return ast.copy_location(ast.Name(_RECORD, ast.Load()), node)
        return self.generic_visit(node)


class _Renamed(ast.NodeTransformer):
    """Gives the variables of a comprehension names of their own."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Name(self._names.get(node.id, node.id), node.ctx), node)


class _Hoist(ast.NodeTransformer):
    """Moves the expressions of a statement that iterate over the records out of it, into loops before it."""

    def __init__(self, reader: Reader, statement: ast.stmt) -> None:
        self.found: list[tuple[list[ast.stmt], Pass]] = []
        self._reader = reader
        self._statement = statement
        inner = [statement.value] if isinstance(statement, (ast.Assign, ast.AugAssign)) else [statement]
        self._inner: list[ast.AST] = [part for each in inner for part in ast.walk(each)]
        self._repeated = 0

    def visit(self, node: ast.AST) -> ast.AST:
        found = self._folded(node)
        if found is not None:
            return found
        repeats = isinstance(node, _REPEATING)
        self._repeated += repeats
        result: ast.AST = super().visit(node)
        self._repeated -= repeats
        return result

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if self._reader._is_length(node):
            return node
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if self._reader._is_dataset(node.value) and not self._reader.published(node):
            raise self._reader.refusal("this record is picked by its position", node)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if not self._reader._is_dataset(node) or not isinstance(node.ctx, ast.Load):
            return node
        record = ast.copy_location(ast.Name(_RECORD, ast.Load()), node)
        return self._fold("tuple", record, [_over(node)], node)

    def _folded(self, node: ast.AST) -> ast.AST | None:
        """Return the replacement of an expression that iterates over the records; None for others."""
        kind, inner = "list", node
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _FOLDS:
            if len(node.args) != 1 or node.keywords:
                return None
            kind, inner = node.func.id, node.args[0]
            if isinstance(inner, ast.Name) and self._reader._is_dataset(inner):
                record = ast.copy_location(ast.Name(_RECORD, ast.Load()), inner)
                return self._fold(kind, record, [_over(inner)], node)
        if not isinstance(inner, (ast.ListComp, ast.GeneratorExp)):
            return None
        first = inner.generators[0]
        shape = self._reader.iteration(first.target, first.iter)
        if shape is None:
            return None
        if kind in ("max", "min") and (len(inner.generators) > 1 or first.ifs):
            return None
        target, position = shape
        inside = copy.deepcopy(ast.GeneratorExp(inner.elt, inner.generators))
        if position:
            inside = _Indexed(self._reader.dataset, position).visit(inside)
        own = {name: self._reader.fresh() for name in stores([each.target for each in inside.generators])}
        own = {name: new for name, new in own.items() if name not in self._reader.indices}
        inside = _Renamed(own).visit(inside)
        target = _Renamed(own).visit(copy.deepcopy(target))
        generator = ast.comprehension(target, inside.generators[0].iter, inside.generators[0].ifs, 0)
        return self._fold(kind, inside.elt, [generator, *inside.generators[1:]], node)

    def _fold(self, kind: str, elt: ast.expr, generators: list[ast.comprehension], node: ast.AST) -> ast.AST:
        inside_it = set(map(id, ast.walk(node)))
        bound = stores([part for part in self._inner if isinstance(part, ast.Name) and id(part) not in inside_it])
        depends = loads([elt, *(part for each in generators for part in each.ifs)])
        draws = any(isinstance(part, ast.Call) for part in ast.walk(elt))
        if depends & bound or (draws and self._repeated):
            raise self._reader.refusal("this iterates over the records once for each round of another loop", node)
        name = ast.copy_location(ast.Name(self._reader.fresh(), ast.Load()), node)
        before, inside, after = _FOLDS[kind]
        now = ast.copy_location(ast.Name(f"{name.id}now", ast.Load()), node)
        body = fragment(inside, NAME=name, ELT=elt, NOW=now)
        for generator in reversed(generators[1:]):
            body = [ast.For(generator.target, generator.iter, _guarded(body, generator), [])]
        body = _guarded(body, generators[0])
        self.found.append((fragment(before, NAME=name), Pass(generators[0].target, body)))
        value = fragment(after, NAME=name)[0]
        assert isinstance(value, ast.Expr)
        return ast.copy_location(value.value, node)


def _over(node: ast.expr) -> ast.comprehension:
    return ast.comprehension(ast.copy_location(ast.Name(_RECORD, ast.Store()), node), node, [], 0)


def _guarded(body: list[ast.stmt], generator: ast.comprehension) -> list[ast.stmt]:
    for condition in reversed(generator.ifs):
        body = [ast.If(condition, body, [])]
    return body
