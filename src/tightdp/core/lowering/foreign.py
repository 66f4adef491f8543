"""Functions of Python's library, of NumPy and of SciPy that the language does not have: computed for all that is given.

Such a function is called on every combination of values that its arguments can take; its result is a table of them. So
it must be a function of its arguments.
"""

from __future__ import annotations

import ast
import math
import operator
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import compress, product, starmap
from typing import Any, TypeAlias

from tightdp.core.doubles import Double
from tightdp.core.lowering.arrays import INFINITE_CELL, allowed, made, np, objects, read
from tightdp.core.lowering.iteration import collected
from tightdp.core.lowering.machine import Dead, Failure, Machine
from tightdp.core.lowering.refusals import refuse_quotients
from tightdp.core.lowering.registry import INSTEAD
from tightdp.core.lowering.scalars import Arguments, Keywords, adopt, by_values, over_all, over_values, together
from tightdp.core.lowering.store import like
from tightdp.core.lowering.values import (
    Array,
    Collection,
    Element,
    Entries,
    Host,
    Infinity,
    Members,
    Object,
    Range,
    Reference,
    Stream,
    Table,
    Value,
    is_scalar,
    known,
    name_of,
)
from tightdp.core.nodes import Expr
from tightdp.core.windows import is_far
from tightdp.exact.field import ExpNumber
from tightdp.language.exactness import exactly
from tightdp.language.source import FOREIGN, is_foreign

_FUNCTIONS = (
    "math", "cmath", "operator", "bisect", "heapq", "statistics", "string", "re", "textwrap", "itertools", "functools",
    "collections", "fractions", "decimal", "numbers", "colorsys", "zlib", "binascii", "hashlib", "struct", "json",
    "numpy", "scipy.special", "scipy.linalg", "scipy.fft", "scipy.spatial", "scipy.integrate",
    "scipy.interpolate", "sympy", "mpmath",
)  # fmt: skip
"""Modules whose functions are functions of their arguments, the generators of numpy apart."""
_OF_LAWS = {"pdf", "pmf", "cdf", "sf", "ppf", "isf", "logpdf", "logpmf", "logcdf", "logsf", "mean", "var", "std"}
"""Methods of a law of `scipy.stats` that draw nothing."""


def is_pure(function: object) -> bool:
    """Whether a function of a library is a function of its arguments."""
    if isinstance(function, types.MethodType):
        return type(function.__self__).__module__.startswith("scipy.stats.") and function.__name__ in _OF_LAWS
    of_numpy = (type(function).__module__ or "").partition(".")[0] == "numpy" and callable(function)
    if any(function is each for each in (ord, chr, hex, oct)):
        return True
    if not isinstance(function, (types.BuiltinFunctionType, types.FunctionType)) and not of_numpy:
        return False
    owner = getattr(function, "__self__", None)
    if owner is not None and not isinstance(owner, types.ModuleType):
        return False
    listed = getattr(function, "types", None)
    if listed is not None:  # a ufunc; one that calls a function of Python has objects only
        return any("O" not in each for each in listed)
    module = (getattr(function, "__module__", None) or "").lstrip("_")
    return not module.startswith("numpy.random") and any(f"{module}.".startswith(f"{each}.") for each in _FUNCTIONS)


def is_read(m: Machine, function: types.FunctionType, arguments: Arguments) -> bool:
    """Whether a function is executed as it is written; of Python's library those of objects and what they call are."""
    first: Any = arguments[0] if arguments else None
    of_class = isinstance(first, Host) and isinstance(getattr(first.object, function.__name__, None), types.MethodType)
    if not is_foreign(function) or isinstance(first, Object) or (of_class and not is_foreign(first.object)):
        return True
    return function.__code__.co_filename == m.frame.source.file and not is_pure(function)


Values: TypeAlias = tuple[Value, ...]
"""Values of some nodes, in order."""
_IN_PLACE = {"partition", "resize"}
"""Methods that change an array, where the functions of numpy of the same name return another one."""
_DATA = {bool, int, float, str, type(None), Fraction}
"""What results consist of."""


def own_method(value: Value, name: str) -> Callable[..., Value] | None:
    """Return a method of a string or a number, or the function of numpy that an array has as a method."""
    if isinstance(value, (Array, Element)):
        found = getattr(np, name, None) if hasattr(np.ndarray, name) and name not in _IN_PLACE else None
        return found if is_pure(found) else None
    kinds = {type(each) for each in (value.values if isinstance(value, Expr) else (value,))}
    kind = kinds.pop() if is_scalar(value) and len(kinds) == 1 else object
    found = None if name.startswith("_") else getattr(kind, name, None)
    return found if callable(found) and kind in (str, int, float, bool) else None


@dataclass(frozen=True)
class _Given:
    """An argument: the nodes that it depends on, and what it is for their values, by serial number."""

    nodes: tuple[Expr, ...]
    of: Callable[[Mapping[int, Value]], Value]


class _Unread(Exception):
    """An argument is none that Python would have."""


def without_texts(node: ast.Call) -> ast.Call:
    """Return a call with what texts are made of in their place, as nobody reads what is printed."""

    def made_of(each: ast.expr) -> list[ast.expr]:
        match each:
            case ast.JoinedStr(values):
                return [part.value for part in values if isinstance(part, ast.FormattedValue)]
            case ast.Call(ast.Name("str" | "repr"), [part], []):
                return [part]
            case ast.BinOp(left, ast.Add(), right) if is_text(left) and is_text(right):
                return [*made_of(left), *made_of(right)]
        return [each]

    def is_text(each: ast.expr) -> bool:
        return (isinstance(each, ast.Constant) and isinstance(each.value, str)) or made_of(each) != [each]

    arguments = [part for each in node.args for part in made_of(each)]
    return ast.copy_location(ast.Call(node.func, arguments, node.keywords), node)


def computed(m: Machine, function: Callable[..., Value], arguments: Arguments, keywords: Keywords, name: str) -> Value:
    """Return what a function of its arguments gives. Raises LanguageError where these cannot be listed."""
    for value in (*arguments, *keywords.values()) if m.guards else ():
        refuse_quotients(m, value, name)

    def of(*given: _Given) -> Value:
        named = dict(zip(keywords, given[len(arguments) :], strict=True))
        return _tabulated(m, function, given[: len(arguments)], named, name)

    try:
        return over_all(m, (*arguments, *keywords.values()), of, _given)
    except _Unread as error:
        raise m.unsupported(f"{name} of {error} is not in the language", "give it numbers, strings or lists") from None


def _given(m: Machine, value: Value, then: Callable[[_Given], Value]) -> Value:
    return m.each(value, lambda one: _shaped(m, one, then))


def _shaped(m: Machine, value: Value, then: Callable[[_Given], Value]) -> Value:
    """Go on with an argument, for every shape that it may have."""
    if isinstance(value, Double):
        value = known(m.expr(value))
    if is_scalar(value):
        m.builder.cells.check_whole(value)
    if isinstance(value, Expr):
        if m.builder.noises and is_far(value):
            raise m.unsupported("noise on all integers is given to it", "clamp it first, as in max(lo, min(value, hi))")
        serial = value.serial
        return then(_Given((value,), lambda values: values[serial]))
    if is_scalar(value):
        return then(_Given((), lambda _: value))
    if isinstance(value, Host):
        if isinstance(value, Infinity) or isinstance(value.object, types.FunctionType):
            raise _Unread("infinity" if isinstance(value, Infinity) else "a function")
        return then(_Given((), lambda _: value.object))
    if isinstance(value, Stream):
        return m.each(collected(m, value), lambda items: _content(m, items, list, then))
    if isinstance(value, (Reference, Table, Collection)):
        make = list if isinstance(value, Reference) else frozenset if getattr(value, "frozen", False) else set
        return m.each(m.store[value.key], lambda content: _content(m, content, make, then))
    return _content(m, value, tuple, then)


def _content(m: Machine, value: Value, make: Callable[..., Value], then: Callable[[_Given], Value]) -> Value:
    if isinstance(value, Range):
        value = value.items
    if isinstance(value, tuple):
        return _several(m, value, make, then)
    if isinstance(value, Entries):
        return _several(m, value.values, lambda items: dict(zip(value.keys, items, strict=True)), then)
    if isinstance(value, Members):
        members = value.values
        return _several(m, value.present, lambda here: make(compress(members, here)), then)
    if isinstance(value, (Array, Element)) and (m.floats or value.dtype.kind != "f"):
        kind, cells = value.dtype, read(m, value) if isinstance(value, Array) else objects((value.value,), ())
        return _several(m, tuple(cells.flat), lambda items: np.array(items, kind).reshape(cells.shape)[()], then)
    raise _Unread(name_of(value))


def _several(m: Machine, items: Sequence[Value], make: Callable[..., Value], then: Callable[[_Given], Value]) -> Value:
    """Go on with what is made of several values."""

    def of(*done: _Given) -> Value:
        nodes = tuple(node for given in done for node in given.nodes)
        return then(_Given(nodes, lambda values: make([given.of(values) for given in done])))

    return over_all(m, items, of, _given)


def _tabulated(
    m: Machine, function: Callable[..., Value], arguments: Sequence[_Given], keywords: dict[str, _Given], name: str
) -> Value:
    given = (*arguments, *keywords.values())
    nodes = list({node.serial: node for each in given for node in each.nodes}.values())
    called = function if m.floats else exactly(function)
    results: dict[Values, Value] = {}
    refused: dict[Values, Exception] = {}
    for values in together(m, nodes):
        m.watch()
        plain = _plain(given, nodes, values)
        writes = function is operator.mod or getattr(function, "__objclass__", None) is str
        rounded = _parts(plain) if writes else values if nodes else ()
        if not m.floats and any(isinstance(value, (Fraction, ExpNumber)) for value in rounded):
            raise m.unsupported(f"{name} is not in the language", instead(function))
        try:
            named = dict(zip(keywords, plain[len(arguments) :], strict=True))
            result = called(*plain[: len(arguments)], **named)
            if isinstance(result, types.FunctionType):  # as it is written
                result = function(*plain[: len(arguments)], **named)
        except Exception as error:
            refused[values] = error
            continue
        if not _same(plain, _plain(given, nodes, values)):
            raise m.unsupported(f"{name} changes what it is given, which is not in the language", "write it as a loop")
        if _shares(result, plain):
            what = f"{name} gives lists or arrays that are parts of what it is given, which is not in the language"
            raise m.unsupported(what, "take these by indices or slices")
        kinds = {type(part) for part in _parts(result)}
        if kinds - _DATA and not nodes and not any(issubclass(kind, Iterator) for kind in kinds):
            return Host(result)
        if kinds - _DATA:
            what = f"{name} gives {min(kind.__name__ for kind in kinds - _DATA)}, which is not in the language"
            raise m.unsupported(
                what, "compute what comes of it at the top of the module, in a dictionary by its arguments"
            )
        if nodes and not m.floats and kinds & {float, Fraction}:
            raise m.unsupported(f"{name} is not in the language", instead(function))
        if any(part != part for part in _parts(result)):
            refused[values] = ValueError("the result is not a number (nan)")
        else:
            results[values] = result
    for raised in list(refused.values())[:1]:
        failure = Failure(f"{type(raised).__name__}: {raised}", "check the arguments", type(raised))
        fails = by_values(m, nodes, {values: m.builder.const(values in refused) for values in (*results, *refused)})
        m.oblige(fails, failure)
        if not results:
            raise Dead
        results |= dict.fromkeys(refused, next(iter(results.values())))
    return _by_shape(m, nodes, results)


def _plain(given: Sequence[_Given], nodes: Sequence[Expr], values: Values) -> list[Value]:
    found = {node.serial: value for node, value in zip(nodes, values, strict=True)}
    return [each.of(found) for each in given]


def _same(left: Value, right: Value) -> bool:
    """Whether what a function was given is what it was."""
    if isinstance(left, np.ndarray):
        return bool(np.array_equal(left, right))
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(map(_same, left.values(), right.values()))
    return bool(left == right or left != left)


def _shares(result: Value, given: list[Value]) -> bool:
    """Whether what changes a result would change what a function was given."""
    ours, theirs = _changeable(result), _changeable(given)
    arrays = [[part for part in parts if isinstance(part, np.ndarray)] for parts in (ours, theirs)]
    return not {*map(id, ours)}.isdisjoint(map(id, theirs)) or any(starmap(np.may_share_memory, product(*arrays)))


def _changeable(value: Value) -> list[Value]:
    """Return the lists, dictionaries, sets and arrays that a value is or has inside."""
    inside = list(value.values()) if type(value) is dict else value if isinstance(value, (tuple, list)) else ()
    own = [value] if isinstance(value, (list, dict, set, np.ndarray)) else []
    return own + [part for item in inside for part in _changeable(item)]


def _parts(value: Value) -> list[Value]:
    """Return the scalars of a result, as those of Python."""
    if isinstance(value, (tuple, list)):
        return [part for item in value for part in _parts(item)]
    if type(value) is dict:
        return _parts([*value, *value.values()])
    if isinstance(value, (np.ndarray, np.generic)):
        return list(np.asarray(value).reshape(-1).tolist())
    return [value]


def _shape(value: Value) -> Value:
    """Return what two results have in common that are put together part by part."""
    if isinstance(value, (tuple, list)):
        return type(value), *map(_shape, value)
    if type(value) is dict:
        return dict, *((key, _shape(item)) for key, item in value.items())
    if isinstance(value, (np.ndarray, np.generic)):
        return type(value), value.dtype, value.shape
    return value if isinstance(value, float) and math.isinf(value) else None


def _by_shape(m: Machine, nodes: Sequence[Expr], results: Mapping[Values, Value]) -> Value:
    groups: dict[Value, dict[Values, Value]] = {}
    for values, result in results.items():
        groups.setdefault(_shape(result), {})[values] = result
    several = list(groups.values())
    which = {values: m.builder.const(at) for at, group in enumerate(several) for values in group}
    return over_values(m, known(by_values(m, nodes, which)), lambda at: _joined(m, nodes, several[at]))


def _joined(m: Machine, nodes: Sequence[Expr], results: Mapping[Values, Value]) -> Value:
    """Return results of one shape as one value."""
    some = next(iter(results.values()))
    if isinstance(some, (tuple, list)):
        items = tuple(_joined(m, nodes, {v: each[at] for v, each in results.items()}) for at in range(len(some)))
        return like(some, items) if isinstance(some, tuple) else m.new_list(items)
    if type(some) is dict:
        table = Table(m.store.new_key())
        m.store[table.key] = Entries.of(
            {key: _joined(m, nodes, {v: r[key] for v, r in results.items()}) for key in some}
        )
        return table
    if isinstance(some, (np.ndarray, np.generic)):
        flat = {values: _parts(each) for values, each in results.items()}
        if any(isinstance(adopt(m, part), Infinity) for each in flat.values() for part in each):
            raise m.unsupported(*INFINITE_CELL)
        cells = [_joined(m, nodes, {v: each[at] for v, each in flat.items()}) for at in range(some.size)]
        return made(m, objects(cells, some.shape), allowed(m, some.dtype))
    if isinstance(first := adopt(m, some), Infinity):
        return first
    return known(by_values(m, nodes, {values: m.expr(adopt(m, each)) for values, each in results.items()}))


_WORLD = {
    "time", "datetime", "os", "posix", "sys", "io", "pathlib", "socket", "subprocess", "uuid", "tempfile", "platform",
    "locale", "shutil", "glob", "genericpath", "posixpath", "sqlite3", "urllib", "http",
}  # fmt: skip
_AT_ONCE = {"threading", "thread", "multiprocessing", "concurrent", "asyncio", "queue", "contextvars", "signal"}


def instead(function: object) -> str:
    """Return what to write in place of a function, or of something of a class, that is not in the language."""
    name = getattr(function, "__name__", "")
    if name in INSTEAD:
        return INSTEAD[name]
    owner = getattr(function, "__self__", None)
    module = (getattr(function, "__module__", None) or type(owner or function).__module__).lstrip("_")
    top = module.partition(".")[0]
    if is_pure(function):
        return "its results are rounded: ask with floats, as the machine computes it (--floats), or give it constants"
    if name == "seed":
        return "the same draws in every run: leave it out"
    if top == "logging":
        return "take it out: who reads the log sees it too"
    if top in ("random", "secrets") or name in ("rvs", "urandom") or module.startswith("numpy.random"):
        return "draw with the generators of random, secrets and numpy that are read, or with flip, randint, choice"
    if top in _AT_ONCE:
        return "a run does one thing after the other: call the function itself"
    if top in _WORLD:
        return "a run depends on its records and its draws alone: give what it needs as a parameter"
    if top in (*FOREIGN, *sys.stdlib_module_names):
        return "what it computes from constants, compute at the top of the module; else write it with numbers and lists"
    if getattr(function, "__wrapped__", None) is not None:
        return "what it remembers goes on to the next run: take off its decorator, such as functools.lru_cache"
    return (
        "it is not written in Python, or its text is not there: use the builtins of the language, or write a function"
    )
