"""The source text of a function: what it is, where it stands, and what it can see.

Constants are read as the source writes them: `Q = 1 / (1 + exp(1))` is exact, though Python made a float of it.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import math
import sys
from collections import ChainMap, UserDict, UserList
from collections.abc import Callable, ItemsView, Iterator, KeysView, Mapping, Sequence, ValuesView
from contextlib import closing, nullcontext, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from types import CellType, FunctionType, TracebackType
from typing import Any, TypeAlias

from tightdp.errors import LanguageError, ParameterError, Span
from tightdp.exact.field import ExpNumber, Number
from tightdp.exact.parameters import Reader
from tightdp.exact.rationals import as_fraction
from tightdp.language import primitives
from tightdp.language.travel import Remembered

_NEAR = 1e-9
"""What the source says is taken where it agrees with the value to so much."""


def as_written(names: Mapping[str, Any], name: str, value: Any) -> Any:
    """Return a constant of a module, whose global names are given: exact where its source makes it with `exp`.

    It is `value` itself where the source does not compute it with `exp`, or assigns the name more than once.
    """
    if type(value) not in (float, tuple, list):
        return value
    expression = _assigned(tuple(linecache.getlines(str(names.get("__file__")))), name)
    return value if expression is None else evaluated(expression, names, value)


def evaluated(expression: ast.expr, names: Mapping[str, Any], value: Any) -> Any:
    """Return what an expression stands for if it computes with `exp` and agrees with `value`, and else `value`."""
    if isinstance(expression, (ast.Tuple, ast.List)) and type(value) in (tuple, list):
        if len(expression.elts) != len(value) or any(isinstance(item, ast.Starred) for item in expression.elts):
            return value
        items = [evaluated(item, names, old) for item, old in zip(expression.elts, value, strict=True)]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else type(value)(items)
    if type(value) is not float or not math.isfinite(value):
        return value
    try:
        found = _OfModule("", names).value(expression)
    except (ArithmeticError, ValueError, ParameterError):
        return value
    exact = isinstance(found, ExpNumber) and math.isclose(float(found), value, rel_tol=_NEAR)
    return found if exact else value


class _OfModule(Reader):
    """Expressions of numbers, `exp`, and the global names of a module."""

    def value(self, node: ast.expr, depth: int = 0) -> Number:
        match node:
            case ast.Call(func=ast.Name(id=name), args=arguments) if self.names.get(name) is Fraction:
                match [item.value for item in arguments if isinstance(item, ast.Constant)]:
                    case [int(above), int(below)]:
                        return Fraction(above, below)
                    case [written]:
                        return Fraction(str(written))
            case ast.Name(id=name) if name in self.names:
                value = as_written(self.names, name, self.names[name])
                return value if isinstance(value, ExpNumber) else as_fraction(value)
        return super().value(node, depth)

    def number(self, node: ast.Constant) -> Fraction:
        return as_fraction(node.value)

    def is_exp(self, function: ast.expr) -> bool:
        """Whether a call is one of `exp` of tightdp or of `math`."""
        found: Any = None
        match function:
            case ast.Name(id=name):
                found = self.names.get(name)
            case ast.Attribute(value=ast.Name(id=module), attr=attribute):
                found = getattr(self.names.get(module), attribute, None)
        return found is math.exp or found is primitives.exp


@lru_cache(maxsize=1024)
def _assigned(lines: Sequence[str], name: str) -> ast.expr | None:
    """Return the expression that a module assigns to a name, at its top level and nowhere else."""
    if "exp" not in "".join(lines):
        return None
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return None
    stored: list[ast.AST] = [node for node in ast.walk(tree) if isinstance(node, ast.Global) and name in node.names]
    found: list[ast.expr] = []
    for statement in tree.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                found.append(value)
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value) if target == name:
                found.append(value)
            case ast.FunctionDef() | ast.ClassDef() | ast.Import() | ast.ImportFrom():
                pass
            case _:
                stored += [
                    node
                    for node in ast.walk(statement)
                    if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
                ]
    return found[0] if len(found) == 1 and not stored else None


AnyFunction: TypeAlias = Callable[..., Any]

FOREIGN = ("numpy", "scipy", "sympy", "mpmath", "pandas", "torch")
"""Libraries whose functions are evaluated where their arguments are known, and otherwise not in the language."""


_AS_WRITTEN = (ChainMap, UserDict, UserList, closing, nullcontext, suppress, KeysView, ItemsView, ValuesView)
"""Classes of Python's library that are read as they are written there, which is in the language."""


def is_ours(thing: object) -> bool:
    """Whether a function belongs to tightdp."""
    return (getattr(thing, "__module__", None) or "").partition(".")[0] == "tightdp"


def is_foreign(thing: object) -> bool:
    """Whether a function or a class belongs to Python's library or to one that is not written in the language."""
    top = (getattr(thing, "__module__", None) or "").partition(".")[0]
    known = top in sys.stdlib_module_names - {"__main__"} or top in FOREIGN
    return known and not (isinstance(thing, type) and thing in _AS_WRITTEN)


@dataclass(frozen=True)
class FunctionSource:
    """The text and syntax tree of a function; line numbers and columns are those of the user's file.

    `node` is shared with other readers of the file: copy it before changing it. `namespace` maps the names
    that the function can see outside itself, first its closure and then its module (not the builtins).
    """

    file: str
    node: ast.FunctionDef
    namespace: Mapping[str, Any] = field(repr=False)
    file_lines: tuple[str, ...] = field(repr=False)
    owner: str = ""
    """The name of the class that a method stands in."""
    called: FunctionSource | None = None
    """The code that it is written to call, whose places are shown."""

    def constant(self, name: str) -> Any:
        """What a name outside the function holds; with the numbers exact that its module computes with `exp`."""
        value = self.namespace[name]
        if not isinstance(self.namespace, ChainMap) or name in self.namespace.maps[0]:
            return value
        return as_written(self.namespace.maps[-1], name, value)

    def default(self, name: str, value: Any) -> Any:
        """The default value of a parameter, likewise."""
        arguments = self.node.args
        places = [*arguments.posonlyargs, *arguments.args]
        written = dict(zip([place.arg for place in places][::-1], arguments.defaults[::-1], strict=False))
        written |= {
            place.arg: default
            for place, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
            if default is not None
        }
        return evaluated(written[name], self.namespace, value) if name in written else value

    @property
    def first_line(self) -> int:
        """The line on which the function starts, its first decorator included."""
        return _first_line(self.node)

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines of the function, decorators included."""
        return self.file_lines[self.first_line - 1 : self.node.end_lineno]

    def span(self, node: ast.AST | None = None) -> Span:
        """The place of a node of this function; without one, the place of its name."""
        if node is None:
            return self._header()
        line, start, last, end = _position(node)
        return self.span_at(line, start, end if last == line else None)

    def span_at(self, line: int, start: int, end: int | None) -> Span:
        """The place from byte `start` to byte `end` (None: the end of the line) of a line of the file."""
        text = self.file_lines[line - 1].rstrip("\r\n") if line <= len(self.file_lines) else ""
        encoded = text.encode()
        last = len(encoded) if end is None else end
        return Span(self.file, line, _characters(encoded, start) + 1, _characters(encoded, last) + 1, text)

    def _header(self) -> Span:
        if self.called is not None:
            return self.called.span()
        start = self.node.col_offset + len("def ")
        return self.span_at(self.node.lineno, start, start + len(self.node.name.encode()))


_OF_METHOD = "give it to tightdp.of, as in of('module:Class.method', record=...)"


def read_function(function: AnyFunction, anonymous: bool = False) -> FunctionSource:
    """The source of a function that was written with `def`, or (`anonymous`) of a method or a lambda, as a `def`.

    Works for files, notebook cells and doctests, for decorated and for nested functions. Raises LanguageError
    for anything else, and where Python cannot tell the source.
    """
    plain = _plain_function(function, anonymous)
    if not anonymous and owner_of(plain):
        raise LanguageError(f"{shown_name(plain)} is a method", _OF_METHOD)
    known: FunctionSource | None = remembered(plain, "__tightdp_source__")
    if known is not None:
        return known
    lines = file_lines_of(plain)
    node = locate(plain, lines)
    if isinstance(node, ast.Lambda):
        node = _named(node)
    if not isinstance(node, ast.FunctionDef):
        raise LanguageError(f"{shown_name(plain)} is not written with def", "write the mechanism as a def function")
    called = None
    with suppress(LanguageError):
        called = read_function(plain.__tightdp_code__, anonymous=True) if hasattr(plain, "__tightdp_code__") else None
    source = FunctionSource(plain.__code__.co_filename, node, _namespace(plain), lines, owner_of(plain), called)
    remember(plain, "__tightdp_source__", source)
    return source


@lru_cache(4096)
def hands_over(node: ast.AST) -> bool:
    """Whether a function, or a part of one, yields itself."""
    inner = (ast.FunctionDef, ast.Lambda)
    found = (part for part in ast.iter_child_nodes(node) if not isinstance(part, inner))
    return any(isinstance(part, (ast.Yield, ast.YieldFrom)) or hands_over(part) for part in found)


def owner_of(function: FunctionType) -> str:
    """The name of the class that a method stands in, "" for other functions."""
    owner = function.__qualname__.rpartition(".")[0].rpartition(".")[2]
    return "" if owner == "<locals>" else owner


def failure_span(source: FunctionSource, traceback: TracebackType | None) -> Span | None:
    """The innermost place of a traceback that lies in the file of `source`, or of what it is written to call."""
    if source.called is not None and (inside := failure_span(source.called, traceback)) is not None:
        return inside
    found = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_filename == source.file:
            found = (code, traceback.tb_lasti, traceback.tb_lineno)
        traceback = traceback.tb_next
    if found is None:
        return None
    line, last, start, end = list(found[0].co_positions())[found[1] // 2]
    if line is None or start is None:
        return source.span_at(found[2], 0, None)
    return source.span_at(line, start, end if last == line else None)


def remembered(function: FunctionType, what: str) -> Any:
    """What was stored on the function itself; functools.wraps copies attributes to other functions."""
    found = function.__dict__.get(what)
    return found.value if isinstance(found, Remembered) and found.owner is function else None


def remember(function: FunctionType, what: str, value: Any) -> None:
    """Store something on a function."""
    function.__dict__[what] = Remembered(function, value)


def _named(node: ast.Lambda) -> ast.FunctionDef:
    """A lambda as a `def` at the same place."""
    result = ast.copy_location(ast.Return(node.body), node.body)
    return ast.copy_location(ast.FunctionDef(_LAMBDA, node.args, [result], [], None, None), node)


_LAMBDA = "<lambda>"


def _plain_function(function: object, anonymous: bool) -> FunctionType:
    if inspect.ismethod(function):
        raise LanguageError(f"{shown_name(function)} is a method", _OF_METHOD)
    if not isinstance(function, FunctionType):
        raise LanguageError(
            f"{shown_name(function)} is not a Python function", "write the mechanism as a def function in Python"
        )
    if function.__name__ == _LAMBDA and not anonymous:
        raise LanguageError("a lambda cannot be a mechanism", "give it a name: write it as a def function")
    return function


def shown_name(function: object) -> str:
    """The name of a function in messages."""
    return getattr(function, "__qualname__", None) or repr(function)


def file_lines_of(function: FunctionType) -> tuple[str, ...]:
    """The lines of the file of a function. Raises LanguageError where Python cannot tell them."""
    names, file = function.__globals__, function.__code__.co_filename
    file = names.get("__file__", file) if file.startswith("<frozen ") else file  # what Python has inside itself
    linecache.checkcache(file)
    lines = linecache.getlines(file, names)
    if not lines:
        try:
            lines = list(inspect.findsource(function)[0])
        except (OSError, TypeError):
            raise _without_source(function) from None
    return tuple(lines)


def _without_source(function: FunctionType) -> LanguageError:
    what = f"the source of {shown_name(function)} ({function.__code__.co_filename}) cannot be found"
    return LanguageError(what, "define it in a file or a notebook cell, not through exec or standard input")


@lru_cache(32)
def _tree(lines: tuple[str, ...], file: str) -> ast.Module:
    try:
        return ast.parse("".join(lines), file)
    except SyntaxError as error:
        hint = "reload it: it seems to have changed since it was imported"
        raise LanguageError(f"{file} line {error.lineno} is not Python: {error.msg}", hint) from None


FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@lru_cache(32)
def _functions(lines: tuple[str, ...], file: str) -> dict[tuple[str, int], list[FunctionNode]]:
    """The functions of a file by what their code says: the name and the first line."""
    found: dict[tuple[str, int], list[FunctionNode]] = {}
    for node in ast.walk(_tree(lines, file)):
        if isinstance(node, ast.Lambda):
            found.setdefault((_LAMBDA, node.lineno), []).append(node)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found.setdefault((node.name, _first_line(node)), []).append(node)
    return found


def locate(function: FunctionType, lines: tuple[str, ...]) -> FunctionNode:
    """The syntax tree of a function in its file. Raises LanguageError where the file has changed."""
    code = function.__code__
    found = _functions(lines, code.co_filename).get((code.co_name, code.co_firstlineno), [])
    if len(found) > 1:  # several lambdas on a line: the smallest that has all of the code inside
        places = [place for place in code.co_positions() if None not in place and place[2:] != (0, 0)]
        found = [node for node in found if all(_contains(node, place) for place in places)][-1:]
    if not found:
        if code.co_filename == "<string>":  # from 3.13 on `python -c` is known, what exec defines is not
            raise _without_source(function)
        hint = "reload it: its file seems to have changed since it was imported"
        raise LanguageError(f"{shown_name(function)} is not at line {code.co_firstlineno} of {code.co_filename}", hint)
    return found[0]


def _first_line(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _contains(node: ast.AST, place: tuple[int | None, ...]) -> bool:
    line, start, last, end = _position(node.body if isinstance(node, ast.Lambda) else node)
    return (line, start) <= (place[0] or 0, place[2] or 0) and (place[1] or 0, place[3] or 0) <= (last, end)


def _position(node: Any) -> tuple[int, int, int, int]:
    """First line, first byte, last line and the byte after the last of a node."""
    return (
        node.lineno,
        node.col_offset,
        node.end_lineno or node.lineno,
        node.end_col_offset or node.col_offset,
    )


def _characters(encoded: bytes, count: int) -> int:
    return len(encoded[:count].decode(errors="replace"))


def closure_of(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """The names that a function takes from enclosing functions, with what they hold."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield from ((name, value) for value in held_by(cell))


def held_by(cell: CellType) -> Iterator[Any]:
    """Yield what a variable holds, nothing where it is not assigned yet."""
    with suppress(ValueError):
        yield cell.cell_contents


def _namespace(function: FunctionType) -> Mapping[str, Any]:
    return ChainMap(dict(closure_of(function)), function.__globals__)
