"""Mechanisms of code that knows nothing of tightdp: any function, or a method of an object made for every run.

The code is not changed: a function of a line is written that calls it with the dataset.
"""

from __future__ import annotations

import ast
import inspect
import itertools
import linecache
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

from tightdp.errors import LanguageError, ParameterError
from tightdp.exact.rationals import as_fraction
from tightdp.language.domains import Bit, Bits, Domain, Int, Tuple, Values
from tightdp.language.program import Program
from tightdp.language.stand_ins import stand_in
from tightdp.session.files import import_file, importing
from tightdp.session.mechanism import Mechanism

_serial = itertools.count()


def of(
    code: Callable[..., Any] | str,
    *,
    record: Domain | Callable[..., Domain] | str = Bit,
    neighbours: str | Callable[[Any], Iterable[Any]] = "replace-one",
    target: Callable[..., Any] | None = None,
    dataset: str = "x",
    source: str | Mapping[str, Any] | None = None,
    arguments: Mapping[str, Any] | None = None,
    catch: Iterable[type[BaseException]] = (),
    floats: bool | int = False,
) -> Mechanism:
    """Make a mechanism of code that was not written for tightdp, which stays as it is.

    `code` is a function, a method of an object, or its place: "module:function", "module:Class.method", or a file in
    place of the module. For "module:Class.method" every run makes an object of the class, with `arguments`; for a
    function these are arguments that are fixed. `dataset` says how it is called with the dataset x, a tuple of n
    records: "x", "x[0]", "list(x)", "np.array(x)", or by name, as "values=list(x)". `source` is the argument that takes
    a generator (a new one of numpy), or generators by the names of arguments. Other arguments that are numbers or
    strings are parameters. Generators of `random`, `secrets` and `numpy.random` draw with their documented laws; with
    `floats` numbers are doubles as they run. What is returned as a list or an array is published as a tuple, and the
    name of an exception where its class is in `catch`. The other arguments are those of `mechanism`. Raises
    ParameterError, or LanguageError with the line that is not read.
    """
    catch = tuple(catch)
    given = (code, record, neighbours, target, dataset, source, arguments, catch, floats)
    called, fixed = _called(code), {**dict(arguments or {}), **_generators(source)}
    names: dict[str, Any] = {"published": published, "np": sys.modules.get("numpy")}
    if isinstance(called, tuple):
        owner, name = called
        names |= {"made": owner, **{f"given_{key}": value for key, value in fixed.items()}}
        target_text = f"made({', '.join(f'{key}=given_{key}' for key in fixed)}).{name}"
        function, fixed = getattr(owner, name), {}
    else:
        target_text, function, name = "called", called, getattr(called, "__name__", "code")
        names |= {"called": called, **{f"given_{key}": value for key, value in fixed.items()}}
    for kind, test in (("a coroutine", inspect.iscoroutinefunction), ("a generator", inspect.isgeneratorfunction)):
        if test(function):
            raise LanguageError(f"{name} is {kind}, which is not in the language", "give a function that returns")
    parameters = _parameters(function, isinstance(called, tuple), dataset, set(fixed))
    taken = [dataset, *(f"{key}=given_{key}" for key in fixed), *(f"{key}={key}" for key in parameters)]
    listed = ["x", *(f"{key}{'' if default is None else f'={default}'}" for key, default in parameters.items())]
    result = f"return published({target_text}({', '.join(taken)}))"
    if catch:
        names |= {f"caught_{at}": kind for at, kind in enumerate(catch)}
        handlers = [f"    except caught_{at}:\n        return {kind.__name__!r}" for at, kind in enumerate(catch)]
        result = "\n".join([f"try:\n        {result}", *handlers])
    names["__name__"] = getattr(function, "__module__", None) or __name__
    made = _compiled(name, f"def {name}({', '.join(listed)}):\n    {result}\n", names)
    made.__doc__ = inspect.getdoc(function)
    made.__dict__ |= {"__tightdp_again__": (again_of, given), "__tightdp_code__": function}
    if dataset.strip() == "x":
        hint = "it is called with all records, a tuple: where it takes one, write --dataset 'x[0]'"
        made.__dict__["__tightdp_hint__"] = hint
    shown = code.rpartition(":")[2] if isinstance(code, str) else str(getattr(code, "__qualname__", name))
    domain = read_domain(record) if isinstance(record, str) else record
    return Mechanism(Program(made, domain, target, neighbours, shown, floats=floats))


def again_of(*given: Any) -> Program:
    """Return the program of the mechanism that `of` makes, in another process."""
    names = ("record", "neighbours", "target", "dataset", "source", "arguments", "catch", "floats")
    return of(given[0], **dict(zip(names, given[1:], strict=True))).program


def published(value: Any) -> Any:
    """What is seen of a result: of a list or an array its items."""
    if isinstance(value, list) or (hasattr(value, "tolist") and hasattr(value, "__len__")):
        return tuple(value)
    return value


def read_domain(text: str) -> Domain:
    """Return the domain of records that is written, as in "Int(0, 3)". Raises ParameterError."""
    hint = "write Bit, Int(0, 3), Values('a', 'b'), Bits(2) or Tuple(Bit, Int(0, 3))"
    try:
        tree = ast.parse(text.strip(), mode="eval")
        found = _domain(tree.body)
        if isinstance(found, Domain):
            return found
        raise TypeError
    except ParameterError:
        raise
    except (SyntaxError, KeyError, AttributeError, ValueError, TypeError):
        raise ParameterError(f"{text!r} is not a domain of records", hint) from None


_DOMAINS: dict[str, Any] = {"Bit": Bit, "Bits": Bits, "Int": Int, "Tuple": Tuple, "Values": Values}


def _domain(node: ast.expr) -> Any:
    if isinstance(node, ast.Name):
        return _DOMAINS[node.id]
    if isinstance(node, ast.Call):
        return _domain(node.func)(*map(_domain, node.args))
    return ast.literal_eval(node)


def _called(code: Callable[..., Any] | str) -> Any:
    """Return the function at a place, or (class, name of the method)."""
    if isinstance(code, str):
        module, _, path = code.rpartition(":")
        if not module or not path:
            raise ParameterError(f"{code} is no place of code", "write module:function or module:Class.method")
        found = _module(module)
        *classes, name = path.split(".")
        try:
            owner = reduce(getattr, classes, found)
            function = getattr(owner, name)
        except AttributeError as error:
            raise ParameterError(f"there is no {path} in {module}: {error}", "check the name") from None
        if classes:
            return owner, name
        if isinstance(function, Mechanism):
            raise ParameterError(f"{code} is a mechanism already", "leave out the domain of records")
        return stand_in(function)
    if isinstance(code, FunctionType) and "." in code.__qualname__ and "<locals>" not in code.__qualname__:
        hint = f"give an object's method, or its place: '{code.__module__}:{code.__qualname__}'"
        raise ParameterError(f"{code.__qualname__} is a method without an object", hint)
    if isinstance(code, type) or not callable(code):
        raise ParameterError(f"{code!r} is not a function or a method", "give what is called with the dataset")
    return stand_in(code)


def _module(name: str) -> Any:
    if name.endswith(".py") or Path(name).is_dir():
        return import_file(Path(name), "a Python file")
    try:
        with importing(Path.cwd()):
            return import_module(name)
    except ImportError as error:
        raise ParameterError(f"{name} cannot be imported: {error}", "install it, or give the path of a file") from None


def at(place: str) -> Any:
    """Return what a dotted name such as `random.Random` stands for."""
    module, _, name = place.rpartition(".")
    return getattr(_module(module), name, None) if module else None


def _generators(source: str | Mapping[str, Any] | None) -> dict[str, Any]:
    if isinstance(source, str):
        return {source: import_module("numpy").random.default_rng()}
    return {name: value() if isinstance(value, type) else value for name, value in (source or {}).items()}


def _parameters(function: Any, unbound: bool, dataset: str, fixed: set[str]) -> dict[str, str | None]:
    """Return the other arguments that are public parameters, with the text of their defaults (None: required)."""
    try:
        listed = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        name = getattr(function, "__name__", repr(function))
        raise LanguageError(f"{name} is not written in Python", "give a function whose source can be read") from None
    if unbound and not isinstance(inspect.getattr_static(function, "__self__", None), type):
        listed = listed[1:]
    by_name = re.match(r"(\w+)\s*=(?!=)", dataset)
    taken = {by_name[1]} if by_name else {each.name for each in listed[:1]}
    found: dict[str, str | None] = {}
    for each in listed:
        if each.name in taken | fixed or each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            continue
        if each.default is each.empty:
            found[each.name] = None
        elif isinstance(each.default, (int, float, str)) and not isinstance(each.default, bool):
            found[each.name] = repr(each.default)
    return dict(sorted(found.items(), key=lambda item: item[1] is not None))


def _compiled(name: str, text: str, names: dict[str, Any]) -> FunctionType:
    """Return the function of a text, which can be read as that of a file."""
    file = f"<tightdp.of {name} {next(_serial)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    try:
        exec(compile(text, file, "exec"), names)
    except SyntaxError as error:
        raise ParameterError(f"the code cannot be called so: {error.text}", "write dataset='x', 'x[0]'") from None
    found: FunctionType = names[name]
    return found


def as_argument(value: Any) -> Any:
    """Return a value of the command line as an argument of code that knows no exact numbers."""
    if isinstance(value, list):
        return [as_argument(item) for item in value]
    if isinstance(value, str):
        if value[:1] in "\"'" and value[:1] == value[-1:]:
            return value[1:-1]
        try:
            number = as_fraction(value)
        except ParameterError:
            return value
        return int(number) if number.denominator == 1 and "." not in value else float(number)
    return value if isinstance(value, (bool, int)) or value is None else float(value)
