"""What runs see of what stands outside a function: collections, modules, classes and objects, in the numbers of a run.

Classes have methods that run as functions do, objects and collections are copies: what a run changes in one of the
enclosing module, the next run does not see.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib.util
import inspect
import sys
from abc import ABCMeta
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from contextvars import ContextVar
from enum import Enum
from fractions import Fraction
from types import (
    CellType,
    CodeType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

from tightdp.errors import LanguageError
from tightdp.language.source import FOREIGN, closure_of, is_foreign, is_ours

COPIES: ContextVar[dict[int, tuple[Any, Any]] | None] = ContextVar("tightdp_copies", default=None)
"""The objects that the run at hand has met, with their copies."""
Value = Any
Remake = Callable[[FunctionType, CellType], Any]
"""What makes a method of a function and a cell that holds its class."""

METACLASSES = (type, ABCMeta)
_KEPT = frozenset({
    "__dict__", "__weakref__", "__slots__", "__module__", "__qualname__", "__doc__", "__abstractmethods__", "_abc_impl",
    "__annotations__", "__class_getitem__",
})  # fmt: skip


def readable(kind: type) -> bool:
    """Whether the methods of a class are read: it is written in Python, not part of Python or of a known library."""
    if is_ours(kind):
        return hasattr(kind, "stands_for")
    return not is_foreign(kind) and not isinstance(vars(kind).get("__call__"), WrapperDescriptorType)


_UNSEEN = frozenset({
    "__new__", "__init__", "__init_subclass__", "__class_getitem__", "__reduce__", "__reduce_ex__", "__getnewargs__",
    "__getstate__", "__setstate__", "__dir__", "__sizeof__", "__set_name__",
})  # fmt: skip


_PYTHON = frozenset({bool, int, float, str, Fraction, tuple, list, frozenset})


def redefined(thing: object) -> str:
    """Say which method a number, string or sequence has in place of that of Python's class; nothing where it has none.

    It is read as what it is under, without such a method.
    """
    kind: Any = type(thing)
    name = _redefined(kind) if kind not in _PYTHON and isinstance(thing, tuple(_PYTHON)) else ""
    return name and f"{name} of {kind.__name__}, which is under a class of Python, is not in the language"


PLAIN = "use plain numbers, strings and tuples, or an object that has one inside"
"""What to use in place of them."""


@functools.cache
def _redefined(kind: type) -> str:
    own = [each for each in kind.__mro__ if not is_foreign(each)]
    above = next(each for each in kind.__mro__ if each not in own and not issubclass(each, Enum))
    return next(
        (
            name
            for each in own
            for name, held in vars(each).items()
            if isinstance(held, (FunctionType, property, classmethod, staticmethod)) and name not in _UNSEEN
            if hasattr(above, name) or name.startswith("__")
            if not is_foreign(held)
        ),
        "",
    )


def once(value: Value, made: Callable[[], Value]) -> Value:
    """Return what a run sees of a collection of the enclosing module: one copy, so that the next run sees no change."""
    copies = COPIES.get()
    if copies is None:
        return value
    if id(value) not in copies:
        copies[id(value)] = value, made()
    return copies[id(value)][1]


class Module:
    """A module whose members are as a run sees them."""

    def __init__(self, module: ModuleType, value: Callable[[Value], Value]) -> None:
        self._module, self._value = module, value

    def __getattr__(self, name: str) -> Value:
        return self._value(getattr(self._module, name))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Module) and (self._module, self._value) == (other._module, other._value)

    def __hash__(self) -> int:
        return hash(self._module)


class Outside:
    """What runs see of what stands outside, in one of the meanings that numbers have."""

    def __init__(self, value: Callable[[Value], Value], method: Remake) -> None:
        self._value, self._method = value, method
        self._known: dict[type, type] = {}

    def function(
        self, plain: FunctionType, code: CodeType, names: dict[str, Value], cells: tuple[CellType, ...] | None
    ) -> FunctionType:
        """Return a function in place of another one, with this code, which sees these names and cells."""
        found = FunctionType(code, names, plain.__name__, self._value(plain.__defaults__), cells)
        found.__kwdefaults__ = self._value(plain.__kwdefaults__)
        found.__qualname__, found.__module__, found.__doc__ = plain.__qualname__, plain.__module__, plain.__doc__
        return found

    def seen(self, value: Value) -> Value:
        """Return a collection, a module, a class, an object or a bound method as a run sees it; else the value."""
        kind = type(value)
        if kind in (list, set):
            return once(value, lambda: kind(map(self._value, value)))
        if kind in (dict, Counter, defaultdict):
            return once(value, lambda: self._dictionary(value))
        if kind in (tuple, frozenset):
            converted = [self._value(item) for item in value]
            return value if all(new is old for new, old in zip(converted, value, strict=True)) else kind(converted)
        if isinstance(value, tuple) and hasattr(kind, "_make"):
            return self.remade(kind)._make(map(self._value, value))  # type: ignore[attr-defined]
        if isinstance(value, ModuleType):
            return Module(value, self._value)
        if isinstance(value, MethodType):
            owner = self._value(value.__self__)
            return value if owner is value.__self__ else getattr(owner, value.__name__)
        if isinstance(value, type):
            return self.remade(value)
        unchanging = isinstance(value, (int, float, str, Fraction, tuple, frozenset))
        return value if unchanging or self.remade(kind) is kind else self._copied(value)

    def _dictionary(self, value: dict[Value, Value]) -> dict[Value, Value]:
        made = value.copy()
        made.clear()
        for key, item in value.items():
            made[self._value(key)] = self._value(item)
        return made

    def remade(self, kind: type) -> type:
        """Return a class whose methods are as they run; one that is not read as it is."""
        if type(kind) not in METACLASSES or not readable(kind) or hasattr(kind, "stands_for"):
            return kind
        if kind not in self._known:
            bases = tuple(self.remade(base) for base in kind.__bases__)
            held = {name: value for name, value in vars(kind).items() if not isinstance(value, MemberDescriptorType)}
            raw = {name: value for name, value in held.items() if name not in _KEPT or name.startswith("__q")}
            raw |= {name: held[name] for name in ("__module__", "__doc__", "__slots__") if name in held}
            made = self._known[kind] = type(kind)(kind.__name__, bases, {**raw, "__qualname__": kind.__qualname__})
            own = CellType(made)
            for name, value in raw.items():
                if name not in _KEPT:
                    setattr(made, name, self._member(value, own))
        return self._known[kind]

    def _member(self, value: Value, own: CellType) -> Value:
        if isinstance(value, FunctionType):
            if inspect.unwrap(value).__code__.co_filename == "<string>":  # __repr__ of a dataclass
                return value
            try:
                return self._method(value, own)
            except LanguageError:  # made without source, as __init__ of a dataclass
                return value
        if isinstance(value, (staticmethod, classmethod)):
            return type(value)(self._member(value.__func__, own))
        if isinstance(value, property):
            parts = (value.fget, value.fset, value.fdel)
            return property(*(None if part is None else self._member(part, own) for part in parts))
        if isinstance(value, functools.cached_property):
            again = functools.cached_property(self._member(value.func, own))
            again.attrname = value.attrname
            return again
        return value if isinstance(value, type) else self._value(value)

    def _copied(self, value: Value) -> Value:
        """Return the copy of an object that the run at hand sees."""
        copies = COPIES.get()
        if copies is not None and id(value) in copies:
            return copies[id(value)][1]
        kind = self.remade(type(value))
        made: Any = object.__new__(kind)
        if copies is not None:
            copies[id(value)] = value, made
        for name, item in state_of(value).items():
            object.__setattr__(made, name, self._again(item))
        return made

    def _again(self, value: Value) -> Value:
        """Return what an object holds, as something that a run may change."""
        if type(value) in (list, tuple, set):
            return type(value)(self._again(item) for item in value)
        if type(value) is dict:
            return {key: self._again(item) for key, item in value.items()}
        return self._value(value)


def import_before(function: ast.AST) -> None:
    """Import what a function imports, if that is there: numpy draws a seed then, which no run does."""
    for node in ast.walk(function):
        for _, given in imports(node) if isinstance(node, (ast.Import, ast.ImportFrom)) else ():
            with suppress(ImportError, LanguageError):
                imported(*given)


IMPORTED = "__tightdp_imported__"
"""The name of `imported` in functions that are written anew."""


def imported(module: str, name: str = "") -> Value:
    """Return a module of Python's library, or of one that is known, or what has a name in it. Raises ImportError."""
    if module.partition(".")[0] not in {*sys.stdlib_module_names, *FOREIGN}:
        raise LanguageError(f"an import of {module} inside a mechanism", "import it at the top of the module")
    found = importlib.import_module(module)
    if name and not hasattr(found, name):
        try:
            return importlib.import_module(f"{module}.{name}")
        except ModuleNotFoundError:
            raise ImportError(f"cannot import name {name!r} from {module!r}") from None
    return getattr(found, name) if name else found


@functools.cache
def in_python(name: str) -> ModuleType:
    """Return a module of Python's library as it is written in Python, without what is written in C in its place."""

    def importing(wanted: str, *how: Any, **named: Any) -> ModuleType:
        if wanted == f"_{name}":
            raise ImportError(wanted)
        return __import__(wanted, *how, **named)

    spec, module = importlib.util.find_spec(name), ModuleType(f"tightdp.{name}")
    code: Any = spec and spec.loader and spec.loader.get_code(name)  # type: ignore[attr-defined]
    vars(module)["__builtins__"] = {**vars(builtins), "__import__": importing}
    exec(code, vars(module))
    return module


def imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the names that an import binds, each with the arguments of `imported` for what it holds, in order."""
    for each in node.names:
        if isinstance(node, ast.ImportFrom):
            yield each.asname or each.name, ("." * node.level + (node.module or ""), each.name)
            continue
        top = each.name.partition(".")[0]
        if not each.asname and top != each.name:
            yield top, (each.name,)
        yield each.asname or top, (each.name if each.asname else top,)


class Importing(ast.NodeTransformer):
    """Replaces imports by assignments of what they bind."""

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> list[ast.stmt]:
        return [
            ast.copy_location(
                ast.Assign(
                    [ast.Name(name, ast.Store())],
                    ast.Call(ast.Name(IMPORTED, ast.Load()), [*map(ast.Constant, given)], []),
                ),
                node,
            )
            for name, given in imports(node)
        ]

    visit_ImportFrom = visit_Import  # noqa: N815


def state_of(value: Value) -> dict[str, Value]:
    """Return what an object holds, by the names of its attributes."""
    slots = [
        name for kind in type(value).__mro__ for name, held in vars(kind).items()
        if isinstance(held, MemberDescriptorType) and hasattr(value, name)
    ]  # fmt: skip
    return {**{name: getattr(value, name) for name in slots}, **getattr(value, "__dict__", {})}


def reaches(function: Value, primitive: Value) -> bool:
    """Whether a function may call a primitive: it, or a function, class or object that it can name, names that."""
    seen: set[int] = set()
    pending = [function]
    while pending:
        value = pending.pop()
        if value is primitive:
            return True
        if id(value) not in seen:
            seen.add(id(value))
            pending += _named_in(value)
    return False


def _named_in(value: Value) -> Iterable[Value]:
    """Return what can be called by way of a value of the enclosing module."""
    match value:
        case tuple() | list() | set() | frozenset():
            return value
        case dict():
            return [*value, *value.values()]
        case FunctionType():
            return () if is_ours(value) or is_foreign(value) else _seen_by(value)
        case MethodType():
            return value.__func__, value.__self__
        case staticmethod() | classmethod():
            return (value.__func__,)
        case property():
            return value.fget, value.fset, value.fdel
        case functools.cached_property():
            return (value.func,)
        case functools.partial():
            return value.func, value.args, value.keywords
    if is_ours(type(value)):
        return (getattr(getattr(value, "program", None), "function", None),)  # of a mechanism
    kinds = [kind for kind in (value if isinstance(value, type) else type(value)).__mro__ if readable(kind)]
    held = [] if isinstance(value, type) or not kinds else state_of(value).values()
    return [*(member for kind in kinds for member in vars(kind).values()), *held]


def _seen_by(function: FunctionType) -> Iterator[Value]:
    """Yield what the names in a function stand for, and the attributes of modules among them."""
    named = {name for code in _codes(function.__code__) for name in code.co_names}
    names = {name for name in named if name.isidentifier()}  # what pytest writes into assertions is none
    yield from (value for _, value in closure_of(function))
    yield from (function.__defaults__, function.__kwdefaults__)
    modules, met = [], set[int]()
    for value in (function.__globals__[name] for name in names & function.__globals__.keys()):
        yield value
        modules += [value] if isinstance(value, ModuleType) else []
    while modules:
        module = modules.pop()
        for name in () if id(module) in met else names:
            value = getattr(module, name, None) if module.__name__ == "tightdp" else vars(module).get(name)
            yield value
            modules += [value] if isinstance(value, ModuleType) else []
        met.add(id(module))


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
