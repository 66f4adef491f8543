"""Functions recompiled to compute with exact rationals, so that what runs has the meaning that is verified."""

from __future__ import annotations
import __future__

import ast
import builtins
import copy
import math
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, reduce, wraps
from operator import truediv
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, ModuleType
from typing import Any, Protocol, cast, runtime_checkable

from tightdp.errors import LanguageError
from tightdp.exact.field import ExpNumber, Number, exp
from tightdp.exact.lazily import lazily
from tightdp.exact.rationals import Symbolic, as_fraction, refusing
from tightdp.exact.weights import as_exact
from tightdp.language import primitives, rounds
from tightdp.language.classes import IMPORTED, Importing, Outside, imported, once
from tightdp.language.doubles import BITS
from tightdp.language.source import (
    AnyFunction,
    FunctionNode,
    FunctionSource,
    as_written,
    closure_of,
    file_lines_of,
    is_foreign,
    locate,
    owner_of,
    remember,
    remembered,
    shown_name,
)
from tightdp.language.stand_ins import stand_in

arrays: Any = lazily("tightdp.language.arrays")
written: Any = lazily("tightdp.language.array_functions")
_FUTURE = __future__.annotations.compiler_flag


@runtime_checkable
class Runnable(Protocol):
    """What a mechanism called inside another one must have as its attribute `program`."""

    def raw(self, x: Any, /, *arguments: Any, **parameters: Any) -> Any:
        """Run the function on `x` under the source of randomness in place."""


MEETING: ContextVar[bool] = ContextVar("tightdp_meeting", default=False)
"""Whether functions are to tell the source of randomness with what they go on (`rounds`)."""


def exact(function: AnyFunction, own: CellType | None = None) -> AnyFunction:
    """The same function with exact arithmetic: `/` and `**` give rationals, a float is its decimal.

    Functions and constants that it finds in its closure and module are treated likewise, and mechanisms among
    them run under the source of randomness in place. Builtins and primitives are returned as they are. Raises
    LanguageError when the source cannot be had. Of a method, `own` holds the class.
    """
    if not isinstance(function, FunctionType) or function.__module__ == primitives.__name__:
        return function
    meeting = MEETING.get() and own is None
    name = "__tightdp_meeting__" if meeting else "__tightdp_exact__"
    known: FunctionType | None = remembered(function, name)
    if known is not None:
        return known
    recompiled = _recompile(function, own, meeting)
    recompiled = rounds.called(recompiled) if meeting else recompiled
    remember(function, name, recompiled)
    return recompiled


def strictly() -> AbstractContextManager[Any]:
    """Let scalars of numpy raise where they would go on with another number, unless numbers are doubles."""
    if "numpy" not in sys.modules:
        return nullcontext()
    what = "ignore" if BITS.get() else "raise"
    return cast(AbstractContextManager[Any], sys.modules["numpy"].errstate(over=what, divide=what, invalid=what))


def exactly(value: Any) -> Any:
    """The value as an exact function sees it: floats are rationals, functions exact, also in containers."""
    value = stand_in(value)
    kind = type(value)
    if kind is float:
        return as_fraction(value) if math.isfinite(value) else value
    if "numpy" in sys.modules and not isinstance(value, ModuleType) and arrays.of_numpy(value):
        if isinstance(value, sys.modules["numpy"].ndarray):
            return once(value, lambda: arrays.exactly(value))
        name = getattr(value, "__name__", "")
        return exact(getattr(written, name)) if name in written.EXACT else arrays.exactly(value)
    if value is math.exp or value is primitives.exp:
        return _exponential
    if kind is FunctionType and not is_foreign(value):
        return exact(value)
    if kind is FunctionType:
        return _with_exact_result(value) if value.__closure__ else refusing(exact(value))
    if kind is BuiltinFunctionType and isinstance(value.__self__, ModuleType) and value.__self__ is not builtins:
        return _with_exact_result(value)
    program = getattr(value, "program", None)
    if program is not None and isinstance(program, Runnable):
        return program.raw
    return _OUTSIDE.seen(value)


_OUTSIDE = Outside(exactly, exact)


@lru_cache(256)
def _with_exact_result(function: AnyFunction) -> AnyFunction:
    """A function of a module in C, whose results are read exactly."""

    @refusing
    @wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        return exactly(function(*arguments, **keywords))

    return call


def _isinstance(value: Any, kinds: Any) -> bool:
    """In place of `isinstance`: what is exact stands for a float, what is not known yet for whichever it is."""
    if type(value) in (Fraction, ExpNumber):
        if isinstance(value, kinds) and not isinstance(0.5, kinds):
            what = "whether a number is a Fraction or a float is not in the language"
            primitives.stop(LanguageError(what, "ask for both"))
        return isinstance(0.5, kinds)
    if not isinstance(value, Symbolic):
        return isinstance(value, kinds)
    of_integers, of_others = isinstance(0, kinds), _isinstance(Fraction(1, 2), kinds)
    return of_integers if of_integers is of_others or value.is_whole() else of_others


def _hasattr(value: Any, name: str) -> bool:
    """In place of `hasattr`: what is not known yet has the attributes of whichever type it has."""
    return hasattr((int if value.is_whole() else float) if isinstance(value, Symbolic) else value, name)


_INSTEAD = {"print": lambda *_, **__: None, "isinstance": _isinstance, "hasattr": _hasattr}


class _ExactNames(dict[str, Any]):
    """The global names of an exact function: always what the function itself would see, read exactly."""

    def __init__(self, function: FunctionType, constants: Mapping[str, Fraction]) -> None:
        super().__init__(constants)
        self[_DIVIDE], self[_POWER], self[_INT], self[_FRACTION] = _divide, _power, _integer, _fraction
        self[_ATTRIBUTE], self[_MATCHED], self[_FLOAT] = _attribute, _matched, _float
        self[IMPORTED] = lambda *given: exactly(imported(*given))
        self.update(rounds.NAMES)
        self["__builtins__"] = function.__globals__.get("__builtins__", __builtins__)
        self._function = function
        self._written: dict[str, tuple[Any, Any]] = {}

    def __missing__(self, name: str) -> Any:
        for free, value in closure_of(self._function):
            if free == name:
                return exactly(value)
        names = self._function.__globals__
        if name in _INSTEAD and name not in names:
            return _INSTEAD[name]
        value = names[name]
        if self._written.get(name, (self, None))[0] is not value:
            self._written[name] = value, as_written(names, name, value)
        return exactly(self._written[name][1])


def _recompile(function: FunctionType, own: CellType | None, meeting: bool) -> FunctionType:
    around = {**function.__globals__, **dict(closure_of(function))}
    rewriter = _Rewriter({name for name, value in around.items() if value is Fraction or value is Decimal})
    inner = recompiled(function, rewriter.visit, meeting)
    names = _ExactNames(function, rewriter.constants)
    cells = None if not inner.co_freevars else (own or _class_of(function),)
    return _OUTSIDE.function(function, inner, names, cells)


def recompiled(function: FunctionType, rewrite: Callable[[Any], Any], meeting: bool = False) -> CodeType:
    """Return a function on its own, written anew, whose loops tell of their rounds. Raises LanguageError."""
    source: FunctionSource | None = remembered(function, "__tightdp_source__")
    node = Importing().visit(copy.deepcopy(source.node if source else locate(function, file_lines_of(function))))
    _strip(node)
    file, code = function.__code__.co_filename, function.__code__
    around = {**function.__globals__, **dict(closure_of(function))} if meeting else None
    tree = ast.fix_missing_locations(_wrapped(rewrite(rounds.telling(node, file, around)), owner_of(function)))
    try:
        mode = "eval" if isinstance(tree, ast.Expression) else "exec"
        compiled = compile(tree, file, mode, code.co_flags & _FUTURE, dont_inherit=True, optimize=0)
    except SyntaxError as error:
        what = f"{shown_name(function)} cannot be compiled on its own: {error.msg}"
        raise LanguageError(what, "pass what it changes as arguments and results") from None
    inner: CodeType = compiled
    while inner.co_name != code.co_name or inner is compiled:
        inner = next(constant for constant in inner.co_consts if isinstance(constant, CodeType))
    return inner


def _class_of(function: FunctionType) -> CellType:
    """The cell with the class of a method that is called on its own."""
    return CellType(exactly(dict(closure_of(function))["__class__"]))


def _strip(node: FunctionNode) -> None:
    """Leave out what is evaluated when the function is defined: that has happened already."""
    node.args.defaults = []
    node.args.kw_defaults = [None for _ in node.args.kwonlyargs]
    spec = node.args
    for argument in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs, spec.vararg, spec.kwarg):
        if argument is not None:
            argument.annotation = None
    if not isinstance(node, ast.Lambda):
        node.decorator_list, node.returns = [], None
        if hasattr(node, "type_params"):
            node.type_params = []


def _wrapped(node: Any, owner: str) -> ast.Module | ast.Expression:
    """A function to be compiled; a method inside a class, which `super()` and private names need."""
    if isinstance(node, ast.Lambda):
        return ast.Expression(node)
    inside = ast.ClassDef(owner, [], [], [node], [])
    if hasattr(inside, "type_params"):
        inside.type_params = []
    return ast.Module([ast.copy_location(inside, node) if owner else node], [])


_DIVIDE, _POWER, _INT, _FLOAT = "__tightdp_divide__", "__tightdp_power__", "__tightdp_int__", "__tightdp_float__"
_FRACTION, _ATTRIBUTE, _MATCHED = "__tightdp_fraction__", "__tightdp_attribute__", "__tightdp_matched__"
_OF_NUMBERS = {*dir(int), *dir(float)} - {"numerator", "denominator"}
_BASE, _INDEX = "__tightdp_base__", "__tightdp_index__"
_OPERATIONS: dict[type[ast.operator], str] = {ast.Div: _DIVIDE, ast.Pow: _POWER}


class _Rewriter(ast.NodeTransformer):
    """Replaces `/`, `**`, `int(...)`, `Fraction(...)`, by whichever name, attributes of numbers, and float literals.

    All else keeps its node and place.
    """

    def __init__(self, fractions: Collection[str]) -> None:
        self.constants: dict[str, Fraction] = {}
        self._fractions = {"Fraction", "Decimal", *fractions}

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, float) or not math.isfinite(node.value):
            return node
        name = f"__tightdp_constant_{len(self.constants)}__"
        self.constants[name] = as_fraction(node.value)
        return ast.copy_location(ast.Name(name, ast.Load()), node)

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.MatchValue:
        return node  # a pattern takes no names; 1/2 == 0.5 holds

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.MatchClass:
        return node  # nor attributes

    def visit_Match(self, node: ast.Match) -> ast.Match:
        self.generic_visit(node)
        if any(isinstance(part, ast.MatchClass) for case in node.cases for part in ast.walk(case.pattern)):
            node.subject = ast.copy_location(ast.Call(ast.Name(_MATCHED, ast.Load()), [node.subject], []), node.subject)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.ctx, ast.Load) or node.attr not in _OF_NUMBERS:
            return node
        return _call(_ATTRIBUTE, node.value, ast.Constant(node.attr), node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(ast.Name("int" | "type" | "float"), [value], []) if not isinstance(value, ast.Starred):
                return _call(_INT, node.func, value, node)
            case ast.Call(ast.Name("map"), [ast.Name("float") as kind, *_], []):
                node.args[0] = ast.copy_location(ast.Name(_FLOAT, ast.Load()), kind)
            case ast.Call(ast.Name(name) | ast.Attribute(attr=name), [above, *below], []) if (
                name in self._fractions and not isinstance(above, ast.Starred)
            ):
                return _call(_FRACTION, node.func, ast.Tuple([above, *below], ast.Load()), node)
        return node

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


_NUMBERS = (int, float, Fraction, Decimal, ExpNumber)


def _exponential(exponent: Any) -> Number:
    """In place of `exp`: the exact number."""
    return exp(as_exact(exponent))


def _integer(kind: Any, value: Any) -> Any:
    """In place of `int`, of a noisy number, which Python asks for its value, of its `type`, and of `float`."""
    if kind is float:
        return _float(value)
    if kind not in (int, type) or not isinstance(value, Symbolic):
        return kind(value)
    noisy: Any = value
    return math.trunc(noisy) if kind is int else int if noisy.is_whole() else float


def _float(value: Any) -> Any:
    """In place of `float`: the number that it stands for."""
    if isinstance(value, (int, Fraction, ExpNumber, Symbolic)):
        return _divide(value, 1)
    of_class = getattr(type(value), "__float__", None)
    return _float(of_class(value)) if isinstance(of_class, FunctionType) else exactly(float(value))


def _attribute(value: Any, name: str) -> Any:
    """In place of an attribute that numbers have: of noisy ones the type and the real part are known."""
    if not isinstance(value, Symbolic):
        return getattr(value, name)
    if name == "__class__":
        return _integer(type, value)
    return value if name == "real" else value.refused()


def _matched(value: Any) -> Any:
    """What is matched with classes: it is refused where numbers in it are noisy, whose classes are not Python's."""
    for item in value if isinstance(value, (tuple, list)) else (value,):
        if isinstance(item, Symbolic):
            item.refused()
    return value


def _fraction(kind: Any, parts: Sequence[Any]) -> Any:
    """In place of `Fraction` and `Decimal`: noisy numbers and those with e^q are divided; one alone stays as it is."""
    divided = kind is Fraction and any(isinstance(part, (Symbolic, ExpNumber)) for part in parts)
    return reduce(truediv, parts) if divided and len(parts) < 3 else refusing(kind)(*parts)


def _divide(left: Any, right: Any) -> Any:
    left, right = _whole(left), _whole(right)
    if not isinstance(left, _NUMBERS) or not isinstance(right, _NUMBERS):
        return left / right
    if right == 0:
        raise ZeroDivisionError("division by zero")
    return _rational(left) / _rational(right)


def _power(base: Any, exponent: Any) -> Any:
    if not isinstance(base, _NUMBERS) or not isinstance(exponent, _NUMBERS):
        return base**exponent
    power = _rational(exponent)
    if isinstance(power, Fraction) and isinstance(base, ExpNumber):
        return base**power
    if isinstance(power, ExpNumber) or power.denominator != 1:
        raise ValueError(f"{base} ** {power} is not rational in general")
    if power >= 0 and isinstance(base, int):
        return base**power.numerator
    if base == 0 and power < 0:
        raise ZeroDivisionError("0 cannot be raised to a negative power")
    return _rational(base) ** power.numerator


def _whole(number: Any) -> Any:
    """An integer of numpy as one of Python."""
    of_numpy = type(number).__module__ == "numpy" and hasattr(number, "__index__")
    return int(number) if of_numpy and not number.shape else number


def _rational(number: Any) -> Number:
    return Fraction(int(number)) if isinstance(number, int) else as_exact(number)
