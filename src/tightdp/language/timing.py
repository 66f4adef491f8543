"""What an observer of the time sees: functions that publish the rounds of their loops, or how many bits they drew.

A function is written anew: every loop counts its rounds, every draw its fair bits, and what is returned has the counts
beside it. The result is a function of the language like any other.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections import ChainMap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import FunctionType, ModuleType
from typing import Any

from tightdp.errors import LanguageError
from tightdp.language.classes import readable
from tightdp.language.primitives import PRIMITIVES, choice, flip, randint, shuffle
from tightdp.language.source import (
    AnyFunction,
    FunctionSource,
    closure_of,
    is_foreign,
    is_ours,
    read_function,
    remember,
)
from tightdp.language.stand_ins import stand_in

ROUNDS, BITS = "rounds", "bits"
COUNTS = (ROUNDS, BITS)
"""What can be counted."""

_INNER = (ast.FunctionDef, ast.Lambda)
_TO_THE_END = {sum, list, tuple, set, frozenset, dict, sorted, max, min}
"""Functions that take all items of a generator."""


def publishing(function: AnyFunction, counts: Sequence[str]) -> AnyFunction:
    """Return a function that returns what `function` does, in a tuple with the counts of its run.

    These are a tuple with the rounds of every loop in order, those of the function first, where ROUNDS are counted,
    and the number of fair bits where BITS are. Raises LanguageError where not all of them can be counted.
    """
    return _Writer(frozenset(counts)).outermost(function)


def flipped(spent: list[int], at: int, p: Any) -> bool:
    """Do what `flip` does, and count the bits with which a coin of probability a / 2^k is compared with a."""
    below = Fraction(p).denominator
    assert below & (below - 1) == 0, "flip(p) takes a number of fair bits only where p is some a / 2^k"
    spent[at] += below.bit_length() - 1
    return flip(p)


def drawn(spent: list[int], at: int, lo: int, hi: int) -> int:
    """Do what `randint` does, and count the bits of a number below 2^k."""
    number = hi - lo + 1
    assert number & (number - 1) == 0, "randint(lo, hi) takes a number of fair bits only for 2^k numbers"
    spent[at] += number.bit_length() - 1
    return randint(lo, hi)


def item(spent: list[int], at: int) -> bool:
    """Count an item of a generator, which is then looked at."""
    spent[at] += 1
    return True


_COUNTED: dict[Any, AnyFunction] = {flip: flipped, randint: drawn}
_DRAWING = {*PRIMITIVES, choice, shuffle}


@dataclass
class _Writer:
    """Writes one function, and those that it calls, anew; they count in one list, but for the loops of the first."""

    counts: frozenset[str]
    entries: int = 0
    written: dict[AnyFunction, AnyFunction | None] = field(default_factory=dict)
    pending: set[AnyFunction] = field(default_factory=set)

    def outermost(self, function: AnyFunction) -> AnyFunction:
        """Return the function that publishes its counts."""
        source = read_function(function)
        bits = self.entry() if BITS in self.counts else None
        self.pending.add(function)
        here = _Function(self, function, source, bits, own=True)
        node = here.node
        places = [_item(here.spent, at) for at in range(self.entries) if at != bits]
        rounds = ast.Tuple([*map(_name, here.names), *places], ast.Load())
        published: list[ast.expr] = [rounds] if ROUNDS in self.counts else []
        published += [] if bits is None else [_item(here.spent, bits)]
        node.body.append(ast.Return(None))
        for each in here.returns(node):
            each.value = ast.Tuple([each.value or ast.Constant(None), *copy.deepcopy(published)], ast.Load())
        begin: list[ast.stmt] = [ast.Assign([_name(name, ast.Store())], ast.Constant(0)) for name in here.names]
        zeros: list[ast.expr] = [ast.Constant(0) for _ in range(self.entries)]
        if self.entries:
            begin.append(ast.Assign([_name(here.spent, ast.Store())], ast.List(zeros, ast.Load())))
        node.body[:0] = begin
        return here.function()

    def inner(self, function: FunctionType) -> AnyFunction | None:
        """Return a function that counts in a list that it is handed; None where it has nothing to count."""
        if function in self.pending:
            what = f"{function.__qualname__} calls itself, and how deep it goes is not counted"
            raise LanguageError(what, "write it as a loop", read_function(function, anonymous=True).span())
        if function not in self.written:
            self.pending.add(function)
            here = _Function(self, function, read_function(function, anonymous=True), 0, own=False)
            if here.counting:
                here.node.args.kwonlyargs.append(ast.arg(here.spent))
                here.node.args.kw_defaults.append(None)
            self.written[function] = here.function() if here.counting else None
            self.pending.discard(function)
        return self.written[function]

    def entry(self) -> int:
        self.entries += 1
        return self.entries - 1


class _Function(ast.NodeTransformer):
    """One function: its loops and draws counted, the functions that it calls replaced."""

    def __init__(
        self, writer: _Writer, function: AnyFunction, source: FunctionSource, bits: int | None, own: bool
    ) -> None:
        self.writer, self.bits, self.own = writer, bits, own
        self.node, self._plain, self._source = copy.deepcopy(source.node), function, source
        named = {part.id for part in ast.walk(self.node) if isinstance(part, ast.Name)}
        self._taken = named | {part.arg for part in ast.walk(self.node) if isinstance(part, ast.arg)}
        stored = {part.id for part in ast.walk(self.node) if isinstance(part, ast.Name) and _is_stored(part)}
        arguments = {part.arg for part in ast.walk(self.node) if isinstance(part, ast.arg)}
        inner = {part.name for part in ast.walk(self.node) if isinstance(part, ast.FunctionDef)}
        self._locals = stored | arguments | (inner - {self.node.name})
        self.spent = self._free("counts")
        self.names: list[str] = []
        self.counting = False
        self._added: dict[str, Any] = {}
        self._whole: set[ast.AST] = set()
        self._depth = 0
        self.node.body = [self.visit(statement) for statement in self.node.body]

    def function(self) -> AnyFunction:
        """Return what was written as a function."""
        for part in ast.walk(self.node):
            for child in ast.iter_child_nodes(part):
                if "lineno" in child._attributes and not hasattr(child, "lineno"):
                    ast.copy_location(child, part if hasattr(part, "lineno") else self.node)
        plain: Any = self._plain
        names = {**plain.__globals__, **self._added}
        found = FunctionType(plain.__code__, names, plain.__name__, plain.__defaults__, plain.__closure__)
        found.__kwdefaults__, found.__doc__ = plain.__kwdefaults__, plain.__doc__
        found.__qualname__, found.__module__ = plain.__qualname__, plain.__module__
        namespace = ChainMap(dict(closure_of(plain)), names)
        remember(found, "__tightdp_source__", replace(self._source, node=self.node, namespace=namespace))
        return found

    def returns(self, node: ast.AST) -> Iterator[ast.Return]:
        """Yield where the function itself returns."""
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Return):
                yield child
            elif not isinstance(child, _INNER):
                yield from self.returns(child)

    # loops

    def visit(self, node: Any) -> Any:
        """Count the rounds of a loop; write anything else anew."""
        if not isinstance(node, (ast.For, ast.While)):
            return super().visit(node)
        counted = ROUNDS in self.writer.counts
        place: ast.Name | ast.Subscript | None = None
        if counted and self.own and not self._depth:
            self.names.append(self._free("rounds"))
            place = _name(self.names[-1], ast.Store())
        elif counted:
            self.counting = True
            place = _item(self.spent, self.writer.entry(), ast.Store())
        self.generic_visit(node)
        if place is not None:
            node.body.insert(0, ast.copy_location(ast.AugAssign(place, ast.Add(), ast.Constant(1)), node))
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if any(isinstance(part, ast.Name) and part.id == node.name for part in ast.walk(node)):
            raise self._refused(node, f"{node.name} calls itself, and how deep it goes is not counted", "write a loop")
        self._depth += 1
        self.generic_visit(node)
        self._depth -= 1
        return node

    # calls

    def visit_Call(self, node: ast.Call) -> ast.Call:
        target = self._stands_for(node.func)
        if _hashable(target) and target in _TO_THE_END:
            self._whole.update(part for part in node.args if isinstance(part, ast.GeneratorExp))
        node.args = [self.visit(part) for part in node.args]
        node.keywords = [self.visit(part) for part in node.keywords]
        if BITS in self.writer.counts and _hashable(target) and target in _DRAWING:
            if target not in _COUNTED:
                what = f"{target.__name__} takes no fixed number of fair bits"
                raise self._refused(node, what, "write it with flip and randint, as a sampler does")
            self.counting = True
            node.func = self._global(_COUNTED[target])
            node.args[:0] = [_name(self.spent), ast.Constant(self.bits)]
        elif (written := self._written(target)) is not None:
            self.counting = True
            node.func = self._global(written)
            node.keywords.append(ast.keyword(self.spent, _name(self.spent)))
        else:
            node.func = self.visit(node.func)
        return node

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.GeneratorExp:
        """Count the items, unless all of them are taken anyway."""
        self.generic_visit(node)
        if ROUNDS in self.writer.counts and node not in self._whole:
            self.counting = True
            counted = self._global(item)
            for clause in node.generators:
                place: list[ast.expr] = [_name(self.spent), ast.Constant(self.writer.entry())]
                clause.ifs.insert(0, ast.Call(counted, place, []))
        return node

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """Refuse functions that count where they are not called."""
        self._check(node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self._check(node)
        return self.generic_visit(node)

    def _check(self, node: ast.Name | ast.Attribute) -> None:
        if not _is_stored(node) and self._counts(self._stands_for(node)):
            what = f"what {ast.unparse(node)} counts is not seen here"
            raise self._refused(node, what, "call the function by its name, and mechanisms as functions")

    def _counts(self, value: Any, depth: int = 0) -> bool:
        """Whether a value is, or has in it, a function that has something to count."""
        if isinstance(value, (tuple, list, dict)) and depth < 3:
            items = value.values() if isinstance(value, dict) else value
            return any(self._counts(item, depth + 1) for item in items)
        if BITS in self.writer.counts and ((_hashable(value) and value in _DRAWING) or stand_in(value) is not value):
            return True
        owner = getattr(value, "__self__", value)
        if readable(owner if isinstance(owner, type) else type(owner)):  # methods count in places that are not seen
            return True
        program = getattr(value, "program", None)
        value = getattr(value, "func", value) if program is None else program.function
        return self._written(value) is not None

    def _written(self, target: Any) -> AnyFunction | None:
        target = getattr(target, "py_func", target)  # of what numba compiles
        if not isinstance(target, FunctionType) or is_foreign(target) or is_ours(target):
            return None
        return self.writer.inner(target)

    def _stands_for(self, node: ast.expr) -> Any:
        """Return what a name, or a name of a module, stands for outside the function; None where that is not known."""
        if isinstance(node, ast.Attribute):
            module = self._stands_for(node.value)
            return getattr(module, node.attr, None) if isinstance(module, ModuleType) else None
        if not isinstance(node, ast.Name):
            return None
        found = self._source.namespace.get(node.id, getattr(builtins, node.id, None))
        if node.id not in self._locals:
            return found
        if found is not None and isinstance(found, FunctionType) and self._written(found) is not None:
            what = f"{node.id} is a name of this function, and one of a function that counts"
            raise self._refused(node, what, "rename one of the two")
        return None

    def _global(self, function: AnyFunction) -> ast.Name:
        known = next((name for name, value in self._added.items() if value is function), None)
        name = known or self._free(getattr(function, "__name__", "").strip("<>") or "function")
        self._added[name] = function
        return _name(name)

    def _free(self, name: str) -> str:
        """Return a name that stands for nothing yet."""
        number, found = 1, name
        while found in self._taken or found in self._source.namespace or hasattr(builtins, found):
            number += 1
            found = f"{name}{number}"
        self._taken.add(found)
        return found

    def _refused(self, node: ast.AST, what: str, hint: str) -> LanguageError:
        return LanguageError(what, hint, span=self._source.span(node))


def _is_stored(node: ast.AST) -> bool:
    return isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))


def _hashable(value: Any) -> bool:
    return callable(value) and type(value).__hash__ is not None


def _name(name: str, context: ast.expr_context | None = None) -> ast.Name:
    return ast.Name(name, context or ast.Load())


def _item(name: str, at: int, context: ast.expr_context | None = None) -> ast.Subscript:
    return ast.Subscript(_name(name), ast.Constant(at), context or ast.Load())
