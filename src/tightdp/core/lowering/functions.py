"""Functions: local ones, those of the module and other mechanisms, each executed in place of its call.

Functions of other modules are evaluated while compiling, where all their arguments are known.
"""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable
from typing import Any

from tightdp.core.lowering.every import columns, has_all
from tightdp.core.lowering.expressions import display, is_object, lacks, named
from tightdp.core.lowering.foreign import computed, instead, is_pure, is_read, own_method, without_texts
from tightdp.core.lowering.iteration import visit
from tightdp.core.lowering.machine import Dead, Failure, Frame, Machine, is_milestone
from tightdp.core.lowering.registry import (
    CALLS,
    FLOATING,
    FUNCTIONS,
    METHODS,
    NUMPY,
    Handler,
    instead_of_method,
    is_method_of,
    lowers,
)
from tightdp.core.lowering.scalars import Arguments, Keywords, adopt, bind_arguments, over_values
from tightdp.core.lowering.sequences import content_of, mapping
from tightdp.core.lowering.values import (
    Array,
    Closure,
    Element,
    Entries,
    Every,
    Generator,
    Host,
    Method,
    Table,
    Union,
    Value,
    alternatives,
    name_of,
    never,
)
from tightdp.core.nodes import Expr
from tightdp.exact.lazily import lazily
from tightdp.exact.parameters import as_parameter
from tightdp.language.generators import Maker
from tightdp.language.liveness import assigned, keeps_names, own_nodes
from tightdp.language.program import REQUIRED, Program
from tightdp.language.source import hands_over, read_function
from tightdp.limits.calibrated import CALL_DEPTH

written: Any = lazily("tightdp.language.array_functions")
_OTHER_METHOD = "make a list of it first: list(...), or sorted(...) of a set"


@lowers(ast.Call)
def _call(m: Machine, node: ast.Call) -> Value:
    if isinstance(node.func, ast.Attribute):
        base = m.evaluate(node.func.value)
        if not (isinstance(base, Host) and isinstance(base.object, types.ModuleType)):
            arguments, keywords = arguments_of(m, node)
            return _call_method(m, base, node.func.attr, arguments, keywords, node)
    function = m.evaluate(node.func)
    if m.single and isinstance(function, Host) and function.object is zip:
        match node.args:
            case [ast.Starred(value=ast.Name() as name)]:
                rows = m.evaluate(name)
                if isinstance(rows, Every) and rows.width and has_all(rows):
                    return columns(m, rows)
    silent = isinstance(function, Host) and function.object is print
    arguments, keywords = arguments_of(m, without_texts(node) if silent else node)
    return call(m, function, arguments, keywords, node)


def arguments_of(m: Machine, node: ast.Call) -> tuple[Arguments, Keywords]:
    """Evaluate what a call gives, in its order."""
    arguments = display(m, node.args)
    if isinstance(arguments, Union):
        raise m.unsupported("the number of arguments depends on the run", "pass one list instead", node)
    keywords: Keywords = {}
    for keyword in node.keywords:
        given = {keyword.arg: m.evaluate(keyword.value)} if keyword.arg is not None else _by_names(m, keyword, node)
        if not given.keys().isdisjoint(keywords):
            raise Failure("TypeError: an argument is given twice by its name", "give it once")
        keywords |= given
    return arguments, keywords


def _by_names(m: Machine, keyword: ast.keyword, node: ast.Call) -> Keywords:
    entries = m.each(m.evaluate(keyword.value), lambda table: content_of(m, mapping(m, table)))
    if not isinstance(entries, Entries):
        raise m.unsupported("the names of arguments depend on the run", "pass the dictionary itself", node)
    if not all(isinstance(key, str) for key in entries.keys):
        raise Failure("TypeError: keywords must be strings", "use strings as keys")
    return entries.table


def call(m: Machine, function: Value, arguments: Arguments, keywords: Keywords, node: ast.AST | None = None) -> Value:
    """Call a function: execute a Python function in place, or apply a builtin."""
    if isinstance(function, Union):
        return m.each(function, lambda one: call(m, one, arguments, keywords, node))
    if isinstance(function, Closure):
        return _inline(m, function, _bind(m, function, arguments, keywords))
    if isinstance(function, Method):
        return _call_method(m, function.base, function.name, arguments, keywords, node)
    if type(function) in CALLS and not isinstance(function, Host):
        return CALLS[type(function)](m, function, arguments, keywords)
    if not isinstance(function, Host):
        raise Failure(f"TypeError: {name_of(function)} cannot be called", "call a function")
    target = function.object
    tables = (FLOATING, FUNCTIONS) if m.floats else (FUNCTIONS,)
    hashed = callable(target) and type(target).__hash__ is not None
    name = _name_in_numpy(target)
    handler = next((table[target] for table in tables if hashed and target in table), NUMPY.get(name))
    if handler is not None and _takes(target, handler, 1, arguments, keywords):
        return handler(m, *arguments, **keywords)
    if name and name not in NUMPY and _takes(target, getattr(written, name), 0, arguments, keywords):
        return call_python(m, getattr(written, name), arguments, keywords)
    program = getattr(target, "program", None)
    if isinstance(program, Program):
        return _call_mechanism(m, program, arguments, keywords)
    if isinstance(target, types.FunctionType) and is_read(m, target, arguments):
        return call_python(m, target, arguments, keywords)
    if is_pure(target):
        return computed(m, target, arguments, keywords, _shown(target, node))
    if isinstance(target, Maker) or is_object(function):
        return CALLS[Host](m, function, arguments, keywords)
    raise m.unsupported(f"{_shown(target, node)} is not in the language", instead(target), node)


def _takes(function: object, handler: Handler, own: int, arguments: Arguments, keywords: Keywords) -> bool:
    """Whether a handler takes arguments but for its `own` ones. Raises Failure where no others will do."""
    try:
        bind_arguments(getattr(function, "__name__", str(function)), handler, own, arguments, keywords)
    except Failure:
        if not is_pure(function):
            raise
        return False
    return True


def _name_in_numpy(function: object) -> str:
    """Return the name of a function of numpy that is in the language; nothing for other things."""
    name, numpy = getattr(function, "__name__", None), sys.modules.get("numpy")
    if numpy is None or not isinstance(name, str) or (name not in NUMPY and name not in written.__all__):
        return ""
    return name if getattr(numpy, name, None) is function else ""


def _shown(target: object, node: ast.AST | None) -> str:
    if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
        return ast.unparse(node.func)
    return str(getattr(target, "__name__", target))


def _call_method(
    m: Machine, base: Value, name: str, arguments: Arguments, keywords: Keywords, node: ast.AST | None
) -> Value:
    if any(is_object(one) for _, one in alternatives(base, m.builder.true)):
        return m.each(base, lambda one: call(m, named(m, one, name), arguments, keywords, node))

    def on(value: Value) -> Value:
        handler = METHODS.get((type(value), name))
        if handler is None and (function := own_method(value, name)) is not None:
            if isinstance(value, (Array, Element)):
                return call(m, Host(function), (value, *arguments), keywords, node)
            return computed(m, function, (value, *arguments), keywords, f"the method .{name}()")
        if handler is None and isinstance(value, Expr) and len({type(each) for each in value.values}) > 1:
            return over_values(m, value, on)
        of_library: Value = getattr(value.object, name, None) if isinstance(value, Host) else None
        if isinstance(of_library, types.MethodDescriptorType) and arguments and not is_pure(of_library):
            if FUNCTIONS[isinstance](m, arguments[0], value) is not True:  # as in set.union(a, b)
                kind = name_of(arguments[0])
                raise Failure(f"TypeError: {name} of {value.object.__name__} is given a {kind}", "check its arguments")
            return _call_method(m, arguments[0], name, arguments[1:], keywords, node)
        if is_pure(of_library):
            return computed(m, of_library, arguments, keywords, f"the method .{name}()")
        if not any(known == name for _, known in METHODS) and not lacks(value, name):
            hint = instead_of_method(name) if of_library is None else instead(of_library)
            raise m.unsupported(f"the method .{name}() is not in the language", hint, node)
        if handler is None:
            kind = name_of(value)
            if not is_method_of(kind, name) and (other := instead_of_method(name)) != instead_of_method(""):
                raise m.unsupported(f"the method .{name}() of a {kind} is not in the language", other, node)
            if is_method_of(kind, name):
                raise m.unsupported(f"the method .{name}() of a {kind} is not in the language", _OTHER_METHOD, node)
            raise Failure(f"AttributeError: {kind} has no .{name}()", "make a list of it first")
        bind_arguments(f".{name}", handler, 2, arguments, keywords)
        return handler(m, value, *arguments, **keywords)

    return m.each(base, on)


def _call_mechanism(m: Machine, program: Program, arguments: Arguments, keywords: Keywords) -> Value:
    """Call a mechanism inside another one: it is given n, and its parameters are read as `bind` reads them."""
    names = list(program.parameters)
    if program.takes_n() and "n" not in keywords and arguments:
        keywords = {**keywords, "n": FUNCTIONS[len](m, arguments[0])}
    given = {name: adopt(m, value) for name, value in program.parameters.items() if value is not REQUIRED}
    given |= dict(zip(names, arguments[1:], strict=False)) | keywords
    return call_python(
        m, program.function, arguments[:1], {name: _parameter(m, value) for name, value in given.items()}
    )


def _parameter(m: Machine, value: Value) -> Value:
    if isinstance(value, tuple):
        return tuple(_parameter(m, item) for item in value)
    return adopt(m, as_parameter(value)) if isinstance(value, str) else value


def call_python(m: Machine, target: Callable[..., Any], arguments: Arguments, keywords: Keywords) -> Value:
    """Call a function of a module."""
    source = read_function(target, anonymous=True)
    spec = source.node.args
    positional = [*spec.posonlyargs, *spec.args]
    values = target.__defaults__ or ()
    names = [argument.arg for argument in positional[len(positional) - len(values) :]]
    keyword_defaults = target.__kwdefaults__ or {}
    defaults = {**dict(zip(names, values, strict=True)), **keyword_defaults}
    closure = Closure(source.node, source, (), {name: adopt(m, value) for name, value in defaults.items()})
    return _inline(m, closure, _bind(m, closure, arguments, keywords))


def _bind(m: Machine, closure: Closure, arguments: Arguments, keywords: Keywords) -> dict[str, Value]:
    spec = closure.node.args
    positional = [argument.arg for argument in (*spec.posonlyargs, *spec.args)]
    bound = dict(zip(positional, arguments, strict=False))
    rest = arguments[len(positional) :]
    if spec.vararg is not None:
        bound[spec.vararg.arg] = rest
    elif rest:
        raise Failure(f"TypeError: {closure.name}() takes {len(positional)} arguments, got {len(arguments)}")
    names = [*positional, *(argument.arg for argument in spec.kwonlyargs)]
    by_name = names[len(spec.posonlyargs) :]
    others: dict[str, Value] = {}
    for name, value in keywords.items():
        if name not in by_name and spec.kwarg is not None:
            others[name] = value
            continue
        if name not in by_name or name in bound:
            raise Failure(f"TypeError: {closure.name}() got an unexpected or repeated argument {name!r}")
        bound[name] = value
    for name in names:
        if name not in bound:
            if name not in closure.defaults:
                raise Failure(f"TypeError: {closure.name}() misses the argument {name!r}", "pass it")
            bound[name] = closure.defaults[name]
    if spec.kwarg is not None:
        bound[spec.kwarg.arg] = Table(m.store.new_key())
        m.store[bound[spec.kwarg.arg].key] = Entries.of(others)
    return bound


# definitions


@lowers(ast.FunctionDef)
def _functiondef(m: Machine, node: ast.FunctionDef) -> None:
    decorators = [m.evaluate(each) for each in node.decorator_list]
    made: Value = _closure(m, node)
    for decorator in reversed(decorators):
        made = m.each(decorator, lambda one: call(m, one, (made,), {}))  # noqa: B023 (it is called at once)
    m.bind(node.name, made)


@lowers(ast.Nonlocal)
def _nonlocal(m: Machine, node: ast.Nonlocal) -> None:
    """The names are looked up in the enclosing frames."""


def _closure(m: Machine, node: ast.FunctionDef | ast.Lambda) -> Closure:
    """Return a local function with its defaults evaluated now and its free names looked up when called."""
    spec = node.args
    positional = [*spec.posonlyargs, *spec.args]
    with_default = [argument.arg for argument in positional[len(positional) - len(spec.defaults) :]]
    defaults = {name: m.evaluate(value) for name, value in zip(with_default, spec.defaults, strict=True)}
    for argument, value in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
        if value is not None:
            defaults[argument.arg] = m.evaluate(value)
    return Closure(node, m.frame.source, (m.frame.key, *m.frame.enclosing), defaults)


lowers(ast.Lambda)(_closure)


# execution


@lowers(ast.Return)
def _return(m: Machine, node: ast.Return) -> None:
    if node in m.frame.late:
        m.leave(m.frame.returns, m.frame.level, node)
        return
    value = None if node.value is None else m.evaluate(node.value)
    if len(m.stack) == 2:
        m.results.append((node.value or node, value))
    m.leave(m.frame.returns, m.frame.level, value)


def _inline(m: Machine, closure: Closure, bindings: dict[str, Value]) -> Value:
    depth = len(m.stack)
    if depth > CALL_DEPTH:
        raise m.unsupported("calls nest too deeply", "bound the recursion, or write it as a while loop")
    if is_milestone(depth) and not m.some_run_is_left():
        raise Dead
    node = closure.node
    frame = Frame(m.store.new_key(), closure.frames, frozenset(bindings) | assigned(node), closure.source, node)
    if isinstance(node, ast.FunctionDef) and hands_over(node):
        return _generator(m, node, frame, bindings)
    return _executed(m, node, frame, bindings)


def _executed(m: Machine, node: ast.FunctionDef | ast.Lambda, frame: Frame, bindings: dict[str, Value]) -> Value:
    m.enter(frame, bindings)
    try:
        return m.evaluate(node.body) if isinstance(node, ast.Lambda) else _body(m, node, frame)
    finally:
        m.stack.pop()
        if not keeps_names(node):
            m.store.drop(frame.key)


def _body(m: Machine, node: ast.FunctionDef, frame: Frame) -> Value:
    base, mark = m.alive, m.departures()
    frame.level = m.store.open()
    m.block(node.body)
    value = m.meet(frame.level, base, mark, frame.returns, frame=None if keeps_names(node) else frame.key)
    m.store.keep(frame.level)
    return value


def _generator(m: Machine, node: ast.FunctionDef, frame: Frame, bindings: dict[str, Value]) -> Value:
    """Return what gives the values that a function yields: it is executed as they are gone through.

    What is done with a value stands in place of the `yield`, in frames before; of a `with` (None) also inside `try`.
    """
    if m.single:
        what = "no answer for every n: a function with yield is not followed here"
        raise m.unsupported(what, "let it return a list, or ask for one n")
    parts = [*own_nodes(node)]
    unread = {part.value for part in parts if isinstance(part, ast.Expr)}
    if any(isinstance(part, ast.YieldFrom) and part not in unread for part in parts):
        raise m.unsupported("the value of yield from is not in the language", "let a list hold it")

    def visit_items(first: Value, action: Callable[[Value], None]) -> None:
        if first is not None and any(isinstance(part, (ast.Try, ast.With)) and hands_over(part) for part in parts):
            raise m.unsupported("yield inside try or with is not in the language", "yield after it")
        frame.yielded = action
        _executed(m, node, frame, bindings)

    return Generator("generator", never, node, (), frame.enclosing, frame.source, visit_items)


@lowers(ast.Yield)
def _yield(m: Machine, node: ast.Yield) -> None:
    _hand_over(m, None if node.value is None else m.evaluate(node.value))


@lowers(ast.YieldFrom)
def _yield_from(m: Machine, node: ast.YieldFrom) -> None:
    visit(m, m.evaluate(node.value), lambda item: _hand_over(m, item))


def _hand_over(m: Machine, item: Value) -> None:
    action = m.frame.yielded
    if action is None:
        raise m.unsupported("yield in a lambda is not in the language", "write it as a def function")
    inside = m.stack.pop()
    try:
        action(item)
    finally:
        m.stack.append(inside)
