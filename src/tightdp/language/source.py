"""The source text of a function, and the same function recompiled to compute with exact rationals."""

from __future__ import annotations
import __future__

import ast
import builtins
import copy
import inspect
import linecache
import math
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, wraps
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType, TracebackType
from typing import Any, Protocol, TypeAlias, runtime_checkable

from tightdp.errors import LanguageError, Span
from tightdp.exact.rationals import as_fraction

AnyFunction: TypeAlias = Callable[..., Any]

_FUTURE = __future__.annotations.compiler_flag
_PACKAGE = __name__.partition(".")[0]


@runtime_checkable
class Runnable(Protocol):
    """What a mechanism called inside another one must have as its attribute `program`."""

    def raw(self, x: Any, /, *arguments: Any, **parameters: Any) -> Any:
        """Run the function on `x` under the source of randomness in place."""


# Reading


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
        start = self.node.col_offset + len("def ")
        return self.span_at(self.node.lineno, start, start + len(self.node.name.encode()))


def read_function(function: AnyFunction, anonymous: bool = False) -> FunctionSource:
    """The source of a function that was written with `def`, or (`anonymous`) of a lambda, as a `def` that returns.

    Works for files, notebook cells and doctests, for decorated and for nested functions. Raises LanguageError
    for anything else, and where Python cannot tell the source.
    """
    plain = _plain_function(function, anonymous)
    known: FunctionSource | None = _remembered(plain, "__tightdp_source__")
    if known is not None:
        return known
    lines = _file_lines(plain)
    node = _locate(plain, lines)
    if isinstance(node, ast.Lambda):
        node = _named(node)
    if not isinstance(node, ast.FunctionDef):
        raise LanguageError(f"{_name(plain)} is not written with def", "write the mechanism as a def function")
    source = FunctionSource(plain.__code__.co_filename, node, _namespace(plain), lines)
    if "." in plain.__qualname__ and not plain.__qualname__.endswith(f"<locals>.{plain.__name__}"):
        raise LanguageError(f"{_name(plain)} is a method", "write it as a function outside the class", source.span())
    plain.__dict__["__tightdp_source__"] = (plain, source)
    return source


def failure_span(source: FunctionSource, traceback: TracebackType | None) -> Span | None:
    """The innermost place of a traceback that lies in the file of `source`."""
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


def _remembered(function: FunctionType, what: str) -> Any:
    """What was stored on the function itself; functools.wraps copies attributes to other functions."""
    owner, value = function.__dict__.get(what, (None, None))
    return value if owner is function else None


def _named(node: ast.Lambda) -> ast.FunctionDef:
    """A lambda as a `def` at the same place."""
    result = ast.copy_location(ast.Return(node.body), node.body)
    return ast.copy_location(ast.FunctionDef(_LAMBDA, node.args, [result], [], None, None), node)


_LAMBDA = "<lambda>"


def _plain_function(function: object, anonymous: bool) -> FunctionType:
    if inspect.ismethod(function):
        raise LanguageError(f"{_name(function)} is a method", "write it as a function outside any class")
    if not isinstance(function, FunctionType):
        raise LanguageError(
            f"{_name(function)} is not a Python function", "write the mechanism as a def function in Python"
        )
    if function.__name__ == _LAMBDA and not anonymous:
        raise LanguageError("a lambda cannot be a mechanism", "give it a name: write it as a def function")
    return function


def _name(function: object) -> str:
    return getattr(function, "__qualname__", None) or repr(function)


def _file_lines(function: FunctionType) -> tuple[str, ...]:
    file = function.__code__.co_filename
    linecache.checkcache(file)
    lines = linecache.getlines(file, function.__globals__)
    if not lines:
        try:
            lines = list(inspect.findsource(function)[0])
        except (OSError, TypeError):
            hint = "define it in a file or a notebook cell, not through exec or standard input"
            raise LanguageError(f"the source of {_name(function)} ({file}) cannot be found", hint) from None
    return tuple(lines)


@lru_cache(32)
def _tree(lines: tuple[str, ...], file: str) -> ast.Module:
    try:
        return ast.parse("".join(lines), file)
    except SyntaxError as error:
        hint = "reload it: it seems to have changed since it was imported"
        raise LanguageError(f"{file} line {error.lineno} is not Python: {error.msg}", hint) from None


_FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def _locate(function: FunctionType, lines: tuple[str, ...]) -> _FunctionNode:
    code = function.__code__
    found = [node for node in ast.walk(_tree(lines, code.co_filename)) if _defines(node, code)]
    if len(found) > 1:  # several lambdas on a line: the smallest that has all of the code inside
        places = [place for place in code.co_positions() if None not in place and place[2:] != (0, 0)]
        found = [node for node in found if all(_contains(node, place) for place in places)][-1:]
    if not found:
        hint = "reload it: its file seems to have changed since it was imported"
        raise LanguageError(f"{_name(function)} is not at line {code.co_firstlineno} of {code.co_filename}", hint)
    return found[0]  # type: ignore[return-value]


def _defines(node: ast.AST, code: CodeType) -> bool:
    if isinstance(node, ast.Lambda):
        return code.co_name == "<lambda>" and node.lineno == code.co_firstlineno
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return node.name == code.co_name and _first_line(node) == code.co_firstlineno
    return False


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


def _closure(function: FunctionType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not assigned yet
            continue


def _namespace(function: FunctionType) -> Mapping[str, Any]:
    return ChainMap(dict(_closure(function)), function.__globals__)


# Recompiling


def exact(function: AnyFunction) -> AnyFunction:
    """The same function with exact arithmetic: `/` and `**` give rationals, a float is its decimal.

    Functions and constants that it finds in its closure and module are treated likewise, and mechanisms among
    them run under the source of randomness in place. Builtins and functions of this package are returned as
    they are. Raises LanguageError when the source cannot be had.
    """
    if not isinstance(function, FunctionType) or _is_ours(function):
        return function
    known: FunctionType | None = _remembered(function, "__tightdp_exact__")
    if known is not None:
        return known
    recompiled = _recompile(function)
    function.__dict__["__tightdp_exact__"] = (function, recompiled)
    return recompiled


def exactly(value: Any) -> Any:
    """The value as an exact function sees it: floats are rationals, functions exact, also in containers."""
    kind = type(value)
    if kind is float:
        return as_fraction(value) if math.isfinite(value) else value
    if kind in (tuple, list, set, frozenset):
        converted = [exactly(item) for item in value]
        same = all(new is old for new, old in zip(converted, value, strict=True))
        return value if same else kind(converted)
    if kind is dict:
        pairs = [(exactly(key), exactly(item)) for key, item in value.items()]
        same = all(key is old and item is value[old] for (key, item), old in zip(pairs, value, strict=True))
        return value if same else dict(pairs)
    if kind is FunctionType:
        return exact(value)
    if kind is BuiltinFunctionType and isinstance(value.__self__, ModuleType) and value.__self__ is not builtins:
        return value if value is math.exp else _with_exact_result(value)
    if isinstance(value, ModuleType):
        return _ExactModule(value)
    program = getattr(value, "program", None)
    return program.raw if program is not None and isinstance(program, Runnable) else value


@lru_cache(256)
def _with_exact_result(function: AnyFunction) -> AnyFunction:
    """A function of a module in C, whose results are read exactly."""

    @wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        return exactly(function(*arguments, **keywords))

    return call


def _unheard(*arguments: Any, **keywords: Any) -> None:
    """In place of `print`: runs are tried many times over."""


class _ExactModule:
    """A module whose members are read exactly."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return exactly(getattr(self._module, name))


class _ExactNames(dict[str, Any]):
    """The global names of an exact function: always what the function itself would see, read exactly."""

    def __init__(self, function: FunctionType, constants: Mapping[str, Fraction]) -> None:
        super().__init__(constants)
        self[_DIVIDE], self[_POWER] = _divide, _power
        self["__builtins__"] = function.__globals__.get("__builtins__", __builtins__)
        self._function = function

    def __missing__(self, name: str) -> Any:
        for free, value in _closure(self._function):
            if free == name:
                return exactly(value)
        if name == "print" and name not in self._function.__globals__:
            return _unheard
        return exactly(self._function.__globals__[name])


def _is_ours(function: FunctionType) -> bool:
    return (function.__module__ or "").partition(".")[0] == _PACKAGE


def _recompile(function: FunctionType) -> FunctionType:
    source: FunctionSource | None = _remembered(function, "__tightdp_source__")
    node = copy.deepcopy(source.node if source else _locate(function, _file_lines(function)))
    _strip(node)
    file, code = function.__code__.co_filename, function.__code__
    rewriter = _Rewriter()
    tree = ast.fix_missing_locations(_wrapped(rewriter.visit(node)))
    try:
        compiled = compile(tree, file, _mode(tree), code.co_flags & _FUTURE, dont_inherit=True, optimize=0)
    except SyntaxError as error:
        what = f"{_name(function)} cannot be compiled on its own: {error.msg}"
        raise LanguageError(what, "pass what it changes as arguments and results") from None
    inner = next(constant for constant in compiled.co_consts if isinstance(constant, CodeType))
    names = _ExactNames(function, rewriter.constants)
    result = FunctionType(inner, names, function.__name__, exactly(function.__defaults__))
    result.__kwdefaults__ = exactly(function.__kwdefaults__)
    result.__qualname__, result.__module__, result.__doc__ = (
        function.__qualname__, function.__module__, function.__doc__,
    )  # fmt: skip
    return result


def _strip(node: _FunctionNode) -> None:
    """Leave out what is evaluated when the function is defined: that has happened already."""
    node.args.defaults = []
    node.args.kw_defaults = [None for _ in node.args.kwonlyargs]
    for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        argument.annotation = None
    for variadic in (node.args.vararg, node.args.kwarg):
        if variadic is not None:
            variadic.annotation = None
    if not isinstance(node, ast.Lambda):
        node.decorator_list, node.returns = [], None
        if hasattr(node, "type_params"):
            node.type_params = []


def _wrapped(node: Any) -> ast.Module | ast.Expression:
    return ast.Expression(node) if isinstance(node, ast.Lambda) else ast.Module([node], [])


def _mode(tree: ast.Module | ast.Expression) -> str:
    return "eval" if isinstance(tree, ast.Expression) else "exec"


_DIVIDE, _POWER = "__tightdp_divide__", "__tightdp_power__"
_BASE, _INDEX = "__tightdp_base__", "__tightdp_index__"
_OPERATIONS: dict[type[ast.operator], str] = {ast.Div: _DIVIDE, ast.Pow: _POWER}


class _Rewriter(ast.NodeTransformer):
    """Replaces `/`, `**` and float literals. Everything else keeps its node, and its place in the file."""

    def __init__(self) -> None:
        self.constants: dict[str, Fraction] = {}

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, float) or not math.isfinite(node.value):
            return node
        name = f"__tightdp_constant_{len(self.constants)}__"
        self.constants[name] = as_fraction(node.value)
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.MatchValue:
        return node  # a pattern takes no names; 1/2 == 0.5 holds

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        operation = _OPERATIONS.get(type(node.op))
        return node if operation is None else _call(operation, node.left, node.right, node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        operation = _OPERATIONS.get(type(node.op))
        if operation is None:
            return node
        before, after = _load_and_store(node.target)
        return ast.copy_location(ast.Assign([after], _call(operation, before, node.value, node)), node)


def _load_and_store(target: ast.expr) -> tuple[ast.expr, ast.expr]:
    """The value of an assignment target, and the target; the parts of `a[i]` are evaluated only once."""
    if not isinstance(target, ast.Subscript) or isinstance(target.slice, ast.Slice):
        value = copy.copy(target)
        value.ctx = ast.Load()  # type: ignore[attr-defined]
        return value, target
    base = ast.NamedExpr(ast.Name(_BASE, ast.Store()), target.value)
    index = ast.NamedExpr(ast.Name(_INDEX, ast.Store()), target.slice)
    stored = ast.Subscript(ast.Name(_BASE, ast.Load()), ast.Name(_INDEX, ast.Load()), ast.Store())
    return ast.Subscript(base, index, ast.Load()), stored


def _call(name: str, left: ast.expr, right: ast.expr, place: ast.AST) -> ast.expr:
    return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [left, right], []), place)


_NUMBERS = (int, float, Fraction, Decimal)


def _divide(left: Any, right: Any) -> Any:
    if not isinstance(left, _NUMBERS) or not isinstance(right, _NUMBERS):
        return left / right
    if right == 0:
        raise ZeroDivisionError("division by zero")
    return _rational(left) / _rational(right)


def _power(base: Any, exponent: Any) -> Any:
    if not isinstance(base, _NUMBERS) or not isinstance(exponent, _NUMBERS):
        return base**exponent
    power = _rational(exponent)
    if power.denominator != 1:
        raise ValueError(f"{base} ** {power} is not rational in general")
    if power >= 0 and isinstance(base, int):
        return base**power.numerator
    if base == 0 and power < 0:
        raise ZeroDivisionError("0 cannot be raised to a negative power")
    return _rational(base) ** power.numerator


def _rational(number: Any) -> Fraction:
    return Fraction(int(number)) if isinstance(number, int) else as_fraction(number)
