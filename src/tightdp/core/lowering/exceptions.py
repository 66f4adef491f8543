"""Exceptions: a way out of a block, like `break`, to the handlers of the `try` around it; and `with`.

What is raised where nothing catches it is a run that fails, which a program must not have.
"""

from __future__ import annotations

import ast
import contextlib
import threading
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from tightdp.core.lowering.foreign import without_texts
from tightdp.core.lowering.frames import End, Failure, Guard, Loop, Thrown
from tightdp.core.lowering.functions import arguments_of, call, call_python
from tightdp.core.lowering.iteration import spend
from tightdp.core.lowering.machine import Machine
from tightdp.core.lowering.objects import attribute, has_method
from tightdp.core.lowering.registry import builtin, called, lowers
from tightdp.core.lowering.scalars import truth
from tightdp.core.lowering.values import UNBOUND, Generator, Host, Object, Table, Value, is_scalar, name_of
from tightdp.language.liveness import own_nodes
from tightdp.language.source import hands_over


@lowers(ast.Raise)
def _raise(m: Machine, node: ast.Raise) -> None:
    hint = "make sure that no run gets here, or catch it"
    if node.exc is None:
        if not m.handled:
            raise Failure("RuntimeError: No active exception to reraise", hint)
        raise m.handled[-1].failure
    if isinstance(node.exc, ast.IfExp):
        ways = [ast.copy_location(ast.Raise(way, node.cause), node) for way in (node.exc.body, node.exc.orelse)]
        m.branch(truth(m, m.evaluate(node.exc.test)), *(partial(_raise, m, way) for way in ways))
        return
    thrown = _exception(m, node.exc)
    if node.cause is not None:
        _exception(m, node.cause)

    def thrown_now(one: Value) -> None:
        if isinstance(one, Thrown):
            raise one.failure
        if isinstance(one, Object) and issubclass(one.kind, BaseException):
            raise Failure(f"raise {ast.unparse(node)[6:]}", hint, one.kind, one)
        if is_scalar(one):
            raise Failure("TypeError: exceptions must derive from BaseException", hint)
        raise m.unsupported("what is raised here is not known to be an exception", "raise an exception by its class")

    m.each(thrown, thrown_now)


def _exception(m: Machine, node: ast.expr) -> Value:
    """Return an exception that a statement names or makes, as an object.

    Texts that it is given are made where a handler reads them only.
    """

    def is_class(one: Value) -> bool:
        return isinstance(one, Host) and isinstance(one.object, type)

    found = m.evaluate(node.func if isinstance(node, ast.Call) else node)
    if isinstance(node, ast.Call):
        silent = is_class(found) and not any(guard.reads for guard in m.guards)
        given, named = arguments_of(m, without_texts(node) if silent else node)
        return m.each(found, lambda one: call(m, one, given, named, node))
    return m.each(found, lambda one: call(m, one, (), {}, node) if is_class(one) else one)


@lowers(ast.Try)
def _try(m: Machine, node: ast.Try) -> None:
    def guarded() -> None:
        handler = partial(_handled, m, node.handlers)
        _caught(m, lambda: m.block(node.body), handler, lambda: m.block(node.orelse), any(map(_reads, node.handlers)))

    if node.finalbody:
        _on_all_ways(m, guarded, lambda raised: m.block(node.finalbody))
    else:
        guarded()


@lru_cache
def _reads(handler: ast.ExceptHandler) -> bool:
    """Whether a handler may read what an exception holds: does more with it than raise it, or ask for its class."""
    told: set[ast.AST] = set()
    for part in ast.walk(handler):
        match part:
            case ast.Raise():
                told |= {each for each in (part.exc, part.cause) if each is not None}
            case ast.Call(ast.Name("isinstance" | "type" | "print"), arguments):
                told |= set(arguments)
    names = (part for part in ast.walk(handler) if isinstance(part, ast.Name) and part.id == handler.name)
    return handler.name is not None and any(name not in told for name in names)


def _caught(
    m: Machine,
    body: Callable[[], None],
    handler: Callable[[Thrown], None],
    orelse: Callable[[], None],
    reads: bool = False,
) -> None:
    """Execute a body; what it raises goes to the handler, other runs to `orelse`, and all meet behind."""
    base, mark, level = m.alive, m.departures(), m.store.open()
    guard = Guard(level, len(m.stack), reads)
    m.guards.append(guard)
    try:
        m.attempt(body)
    finally:
        m.guards.pop()
    if m.alive is not m.builder.false:
        m.attempt(orelse)
    if guard.raised:
        ended: list[End] = []
        if m.alive is not m.builder.false:
            m.leave(ended, level)
        thrown = m.meet(level, base, mark, guard.raised)
        m.attempt(lambda: m.each(thrown, handler))
        if ended:
            m.meet(level, base, mark, ended)
    m.store.keep(level)


def _handled(m: Machine, handlers: Sequence[ast.ExceptHandler], thrown: Thrown) -> None:
    """Execute the first handler that takes an exception; what none takes is raised again."""
    for handler in handlers:
        if issubclass(thrown.kind, BaseException if handler.type is None else _kinds(m, handler.type)):
            if handler.name is not None:
                m.bind(handler.name, thrown if thrown.held is None else thrown.held)
            _while_handled(m, thrown, partial(_in_handler, m, handler))
            return
    raise thrown.failure


def _in_handler(m: Machine, handler: ast.ExceptHandler) -> None:
    """Execute a handler's body; its name is gone behind it, whichever way that is left."""
    if handler.name is None:
        m.block(handler.body)
    else:
        _on_all_ways(m, lambda: m.block(handler.body), lambda raised: m.bind(str(handler.name), UNBOUND))


def _while_handled(m: Machine, thrown: Thrown, action: Callable[[], Value]) -> Value:
    """Do something during which `raise` alone raises an exception again."""
    m.handled.append(thrown)
    try:
        return action()
    finally:
        m.handled.pop()


def _kinds(m: Machine, node: ast.expr) -> tuple[type[BaseException], ...]:
    """Return the classes that a handler names."""
    value = m.evaluate(node)
    found = tuple(each.object for each in (value if isinstance(value, tuple) else (value,)) if isinstance(each, Host))
    if not found or not all(isinstance(kind, type) and issubclass(kind, BaseException) for kind in found):
        raise m.unsupported("what is caught here is not known", "name the classes of exceptions", node)
    return found


def _on_all_ways(m: Machine, body: Callable[[], None], last: Callable[[Thrown | None], Value]) -> None:
    """Execute a body, and `last` on every way out of it; an exception goes on unless `last` returns True for it."""
    frame, base, mark, level = m.frame, m.alive, m.departures(), m.store.open()
    returns, outside = frame.returns, frame.level
    around, inside = list(frame.loops), Loop([], level, [], level)
    thrown: list[End] = []
    frame.returns, frame.level = [], level
    frame.loops.append(inside)
    try:
        _caught(m, body, partial(m.leave, thrown, level), lambda: None)
    finally:
        ends, frame.returns, frame.level = frame.returns, returns, outside
        del frame.loops[len(around) :]

    def goes_on(exception: Thrown) -> None:
        if _while_handled(m, exception, lambda: last(exception)) is not True:
            raise exception.failure

    if m.alive is not m.builder.false:
        m.attempt(lambda: last(None))
    ways = [(thrown, thrown, level), (ends, returns, outside)]
    for loop in around[-1:]:
        ways += [(inside.breaks, loop.breaks, loop.outside), (inside.continues, loop.continues, loop.inside)]
    ended: list[End] = []
    for left, place, outer in ways:
        if not left:
            continue
        if m.alive is not m.builder.false:
            m.leave(ended, level)
        value = m.meet(level, base, mark, left)
        m.attempt(partial(m.each, value, goes_on) if left is thrown else partial(last, None))
        if left is not thrown and m.alive is not m.builder.false:
            m.leave(place, outer, value)
    if ended:
        m.meet(level, base, mark, ended)
    m.store.keep(level)


# with


@dataclass(frozen=True, eq=False)
class Managed:
    """A context that a function with `yield` makes: the block stands in the place of the one that a run gets to."""

    generator: Generator


builtin(contextlib.contextmanager)(lambda m, func: call_python(m, contextlib.contextmanager, (func,), {}))


@builtin(contextlib._GeneratorContextManager)
def _managed(m: Machine, func: Value, args: tuple[Value, ...], kwds: Table) -> Managed:
    made = call(m, func, args, m.store[kwds.key].table)
    node = made.node if isinstance(made, Generator) else None
    again = (ast.For, ast.While, ast.YieldFrom)
    if (
        node is None
        or not any(isinstance(part, ast.Yield) for part in own_nodes(node))
        or any(isinstance(part, again) and hands_over(part) for part in own_nodes(node))
    ):
        what = "a context manager without yield, or with one in a loop, is not in the language"
        raise m.unsupported(what, "write a class")
    return Managed(made)


@called(Managed)
def _as_decorator(m: Machine, *_: Value) -> Value:
    raise m.unsupported("a context as a decorator is not in the language", "write `with` in the function")


@dataclass(frozen=True, eq=False)
class _Way:
    """How runs leave the block of a context: the place where they go on (None: behind it), and what they bring."""

    place: list[End] | None
    outside: int = 0
    value: Value = None


_BEHIND = _Way(None)


def _in_its_place(m: Machine, context: Managed, body: Callable[[Value], None]) -> None:
    """Execute a function up to its `yield`, there the body, and then the rest, whichever way the body is left."""
    frame, taken = m.frame, m.new_list((None,))

    def at_yield(item: Value) -> None:
        if m.store[taken.key] != (None,):
            raise m.unsupported("a context manager with two yields on one run is not in the language", "write a class")
        m.store[taken.key] = (_BEHIND,)
        base, mark, level = m.alive, m.departures(), m.store.open()
        around, inside = frame.loops[-1:], Loop([], level, [], level)
        returns, outside, ends, ended = frame.returns, frame.level, list[End](), list[End]()
        frame.returns, frame.level = ends, level
        frame.loops.append(inside)
        try:
            m.attempt(partial(body, item))
        finally:
            frame.returns, frame.level = returns, outside
            frame.loops.pop()
        ways = [(ends, returns, outside)]
        for loop in around:
            ways += [(inside.breaks, loop.breaks, loop.outside), (inside.continues, loop.continues, loop.inside)]
        for left, place, outer in ways:
            if left:
                if m.alive is not m.builder.false:
                    m.leave(ended, level)
                m.store[taken.key] = (_Way(place, outer, m.meet(level, base, mark, left)),)
        if ended:
            m.meet(level, base, mark, ended)
        m.store.keep(level)

    spend(m, context.generator)
    context.generator.visit(None, at_yield)

    def go_on(way: _Way | None) -> None:
        if way is None:
            raise Failure("RuntimeError: generator didn't yield", "yield on every path")
        if way.place is not None:
            m.leave(way.place, way.outside, way.value)

    m.each(m.store.pop(taken.key)[0], go_on)


@lowers(ast.With)
def _with(m: Machine, node: ast.With) -> None:
    _within(m, node, node.items)


def _within(m: Machine, node: ast.With, items: Sequence[ast.withitem]) -> None:
    """Enter the first of some contexts, and the others inside, and execute the body."""
    if not items:
        m.block(node.body)
        return
    context = m.evaluate(items[0].context_expr)
    if _does_nothing(context):
        if items[0].optional_vars is not None:
            m.assign(items[0].optional_vars, None)
        _within(m, node, items[1:])
        return
    if isinstance(context, Managed):

        def managed(item: Value) -> None:
            if items[0].optional_vars is not None:
                m.assign(items[0].optional_vars, item)
            _within(m, node, items[1:])

        _in_its_place(m, context, managed)
        return
    if not isinstance(context, Object) or not has_method(context, "__exit__"):
        what = f"with of a {name_of(context)} is not in the language"
        raise m.unsupported(what, "there are classes with __enter__ and __exit__, errstate and locks")
    entered = call(m, attribute(m, context, "__enter__"), (), {})

    def body() -> None:
        if items[0].optional_vars is not None:
            m.assign(items[0].optional_vars, entered)
        _within(m, node, items[1:])

    def leave(thrown: Thrown | None) -> Value:
        kind = None if thrown is None else Host(thrown.kind)
        found = call(m, attribute(m, context, "__exit__"), (kind, thrown, None), {})
        if thrown is None or found is None or isinstance(found, bool):
            return found
        raise m.unsupported("whether __exit__ stops an exception depends on the run", "return True or False")

    _on_all_ways(m, body, leave)


def _does_nothing(value: Value) -> bool:
    """Whether a context is one of Python or numpy that changes nothing that is computed here."""
    if not isinstance(value, Host):
        return False
    kind = type(value.object)
    of_numpy = kind.__module__ == "numpy" and kind.__name__ == "errstate"
    return of_numpy or isinstance(value.object, _WITHOUT_EFFECT)


_WITHOUT_EFFECT = (warnings.catch_warnings, type(threading.Lock()), type(threading.RLock()))
