"""Comprehensions, generator expressions, and functions that give iterators or take from them as they need."""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from tightdp.core.lowering.every import as_every, has_all, together
from tightdp.core.lowering.expressions import binary
from tightdp.core.lowering.frames import of_library
from tightdp.core.lowering.functions import call, call_python
from tightdp.core.lowering.iteration import (
    Step,
    collected,
    entered,
    everyone,
    items_of,
    one_of,
    steps,
    unordered,
    visit,
)
from tightdp.core.lowering.machine import Dead, End, Failure, Frame, Machine, is_milestone
from tightdp.core.lowering.registry import builtin, called, lowers, method
from tightdp.core.lowering.scalars import indexed, operate, over_all, over_values, truth, whole
from tightdp.core.lowering.sequences import is_item
from tightdp.core.lowering.store import MISSING
from tightdp.core.lowering.values import (
    Every,
    Generator,
    Host,
    Object,
    Range,
    Reference,
    Sieve,
    Stream,
    Value,
    alternatives,
    is_scalar,
    known,
    never,
)
from tightdp.core.nodes import Expr
from tightdp.exact.lazily import lazily
from tightdp.language.source import FunctionSource

written: Any = lazily("tightdp.language.library_functions")
of_objects: Any = lazily("tightdp.language.library_objects")


@lowers(ast.ListComp)
def _listcomp(m: Machine, node: ast.ListComp) -> Value:
    return m.new_list(collected(m, generator_of(m, node)))


@lowers(ast.GeneratorExp)
def generator_of(m: Machine, node: ast.GeneratorExp | ast.ListComp | ast.SetComp) -> Generator:
    """Return what gives the items of a comprehension."""
    first = m.each(m.evaluate(node.generators[0].iter), partial(_begun, m))
    outside = surroundings(m)

    def visit_items(first: Value, action: Callable[[Value], None]) -> None:
        def body() -> None:
            item = m.evaluate(node.elt)
            inside = m.stack.pop()
            try:
                action(item)
            finally:
                m.stack.append(inside)

        within(m, node, outside, lambda: clauses(m, node.generators, first, body))

    def made(item: Value) -> Value:
        def evaluated() -> Value:
            m.assign(node.generators[0].target, item)
            return m.evaluate(node.elt)

        return within(m, node, outside, evaluated)

    one_each = len(node.generators) == 1 and not node.generators[0].ifs and not node.generators[0].is_async
    return Generator("generator expression", never, node, first, *outside, visit_items, made if one_each else None)


def _begun(m: Machine, iterable: Value) -> Value:
    """Return what is gone through later, which an object is asked for at once; what has no items raises at once."""
    if is_scalar(iterable):
        items_of(m, iterable)
    return entered(m, iterable)


def surroundings(m: Machine) -> tuple[tuple[int, ...], FunctionSource]:
    """Return what a comprehension sees around it: the frames, and the source."""
    return (m.frame.key, *m.frame.enclosing), m.frame.source


def within(
    m: Machine, node: ast.AST, outside: tuple[tuple[int, ...], FunctionSource], action: Callable[[], Value]
) -> Value:
    """Run an action where the targets of a comprehension have a scope of their own."""
    enclosing, source = outside
    targets = {
        name.id
        for generator in node.generators  # type: ignore[attr-defined]
        for name in ast.walk(generator.target)
        if isinstance(name, ast.Name)
    }
    frame = Frame(m.store.new_key(), enclosing, frozenset(targets), source, comprehension=True)
    frame.yielded = (lambda item: None) if isinstance(node, ast.GeneratorExp) else None
    m.enter(frame, {})
    try:
        return action()
    finally:
        m.stack.remove(frame)
        if not any(isinstance(part, (ast.Lambda, ast.GeneratorExp)) for part in ast.walk(node) if part is not node):
            m.store.drop(frame.key)


def clauses(
    m: Machine, generators: Sequence[ast.comprehension], first: Value, body: Callable[[], None], kept: Value = None
) -> None:
    """Run the body for every item that the clauses of a comprehension produce; `first` is the outer iterable."""
    generator, inner = generators[0], generators[1:]
    if generator.is_async:
        raise m.unsupported("async is not in the language", "write an ordinary comprehension")

    def conditions(rest: Sequence[ast.expr]) -> None:
        if rest:
            m.branch(truth(m, m.evaluate(rest[0])), lambda: conditions(rest[1:]), lambda: None)
        elif inner:
            clauses(m, inner, m.evaluate(inner[0].iter), body)
        else:
            body()

    def step(item: Value) -> None:
        m.assign(generator.target, item)
        conditions(generator.ifs)

    visit(m, first, step, kept)


# functions that consume a generator as they need it


def search(m: Machine, iterable: Value, wanted: bool) -> Value:
    """Return any() (`wanted`) or all() of an iterable; what is made as it goes stops at the first item that decides."""
    iterable = entered(m, iterable)
    items = iterable if m.single and isinstance(iterable, Stream) else unordered(m, iterable)
    if not isinstance(items, Sieve) and not any(
        isinstance(one, Stream) or everyone(one) for _, one in alternatives(items, m.builder.true)
    ):
        join = m.builder.disjunction if wanted else m.builder.conjunction
        return m.each(collected(m, items), lambda each: known(join([truth(m, item) for item in each])))

    def decided(item: Value, leave: Callable[[Value], None]) -> None:
        condition = truth(m, item)
        decides = condition if wanted else m.builder.negation(condition)
        m.branch(decides, lambda: leave(wanted), lambda: None)

    return _until_left(m, items, decided, not wanted)


@method("item in", Stream)
def _item_in(m: Machine, stream: Stream, item: Value) -> Value:
    """Return whether an item is among others, of which no more are made than it takes."""

    def compared(other: Value, leave: Callable[[Value], None]) -> None:
        m.branch(is_item(m, other, item), lambda: leave(True), lambda: None)

    return _until_left(m, stream, compared, False)


def _until_left(
    m: Machine, iterable: Value, look: Callable[[Value, Callable[[Value], None]], None], otherwise: Value
) -> Value:
    """Look at items until that leaves with a value; return that, or the other one (`MISSING`: such runs fail)."""
    base, mark, level = m.alive, m.departures(), m.store.open()
    found: list[End] = []
    m.attempt(lambda: visit(m, iterable, lambda item: look(item, lambda value: m.leave(found, level, value))))
    if otherwise is MISSING and m.alive is not m.builder.false:
        ended = Failure("StopIteration: next() of a generator that gives nothing", "give a default: next(..., None)")
        m.attempt(lambda: m.oblige(m.alive, ended))
        m.alive = m.builder.false
    value = m.meet(level, base, mark, found, otherwise)
    m.store.keep(level)
    return value


def first_of(m: Machine, generator: Generator, default: Value) -> Value:
    """Return next() of what is gone through once; the default (`MISSING`: such runs fail) where it gives nothing."""
    return _until_left(m, generator, lambda item, leave: leave(item), default)


def sum_as_it_goes(m: Machine, items: Value, start: Value) -> Value:
    """Return the sum of items of which some are left out, without a list whose length depends on the run."""
    result = m.new_list((start,))

    def add(item: Value) -> None:
        (done,) = m.store[result.key]
        m.store[result.key] = (binary(m, "add", done, item, m.position[-1]),)

    visit(m, items, add, result)
    return m.store.pop(result.key)[0]


# streams


@dataclass(frozen=True, eq=False)
class _Made:
    """What makes an item of a generator expression of one of what it goes through."""

    of: Callable[[Value], Value]


called(_Made)(lambda m, made, arguments, keywords: made.of(*arguments))


@dataclass(frozen=True, eq=False)
class _Beside(Stream):
    """What gives the items of several iterables at once."""

    iterables: tuple[Value, ...]
    start: Value = None
    """The number of the first ones, where they are counted."""


@method("begun", Stream)
def _begun_with(m: Machine, stream: Stream) -> Value:
    """Return what is asked for one item after the other as an object that knows where it is, where it has one each."""
    if stream in m.spent or stream in m.adopted:
        return m.adopted.get(stream, stream)
    if isinstance(stream, Generator) and stream.made is not None and type(stream.first) in _SEQUENCES:
        made, ends = _Made(stream.made), not of_library(stream)
        m.adopted[stream] = _as_begun(m, of_objects.Mapped, items=stream.first, at=0, made=made, ends=ends)
    if isinstance(stream, _Beside) and all(_has_a_place(each) for each in stream.iterables):
        counted = () if stream.start is None else (_as_begun(m, of_objects.Counting, next=stream.start, step=1),)
        parts = counted + tuple(
            _as_begun(m, of_objects.Items, items=each, at=0) if type(each) in _SEQUENCES else each
            for each in stream.iterables
        )
        m.adopted[stream] = _as_begun(m, of_objects.Zipped, iterators=parts)
    return m.adopted.get(stream, stream)


_SEQUENCES = (tuple, str, Range, Reference)


def _has_a_place(iterable: Value) -> bool:
    return type(iterable) in _SEQUENCES or (isinstance(iterable, Object) and hasattr(iterable.kind, "__next__"))


def _as_begun(m: Machine, kind: type, **held: Value) -> Object:
    """Return an object that all runs have, which those at hand are the first to ask."""
    made = Object(m.store.old_key(), kind)
    for name, value in held.items():
        m.store.discover((made.key, f".{name}"), value)
    return made


@builtin(enumerate)
def _enumerate(m: Machine, iterable: Value, start: Value = 0) -> Value:
    iterable, start = as_every(iterable), indexed(m, start)
    if not isinstance(start, Expr):
        start = whole(start)
    if isinstance(iterable, Every):
        return together(m, [iterable], lambda place, item: (operate(m, "add", start, place()), item))
    if isinstance(iterable, Generator):
        return call_python(m, written.enumerate, (iterable, start), {})
    inner = steps(m, iterable)

    def step(at: int) -> Step | None:
        found = inner(at)
        return None if found is None else (found[0], (operate(m, "add", start, at), found[1]))

    return _Beside("enumerate", step, (iterable,), start)


@builtin(zip)
def _zip(m: Machine, *iterables: Value, strict: Value = False) -> Value:
    parts = list(map(as_every, iterables))
    if parts and all(isinstance(each, Every) and (strict is False or has_all(each)) for each in parts):
        return together(m, parts, lambda place, *items: items)
    places = [at for at, each in enumerate(iterables) if not isinstance(each, (tuple, Range, Reference))]
    if len(places) == 1 and isinstance(iterables[places[0]], Generator) and strict is False:
        (at,) = places
        return call_python(m, written.zipped, (iterables[at], iterables[:at], iterables[at + 1 :]), {})
    stepped = [steps(m, iterable) for iterable in iterables]
    asks = any(isinstance(one, Object) for each in iterables for _, one in alternatives(each, m.builder.true))
    going: Expr = m.builder.true

    def step(at: int) -> Step | None:
        nonlocal going
        present, there, items = going, [], []
        for part in stepped:  # the next one is asked where all before it have an item
            found = part(at) if strict else _where(m, present, partial(part, at))
            here, item = found or (m.builder.false, None)
            present = m.conj(present, here)
            there.append(here)
            items.append(item)
        going = present if asks else going  # an iterator is not asked again where another one has ended
        if strict:
            uneven = m.conj(m.builder.disjunction(there), m.builder.negation(present))
            m.oblige(uneven, Failure("ValueError: zip() arguments have different lengths", "make them equally long"))
        return (present, tuple(items)) if stepped and present is not m.builder.false else None

    return Stream("zip", step) if strict else _Beside("zip", step, iterables)


def _where(m: Machine, condition: Expr, step: Callable[[], Step | None]) -> Step | None:
    """Return what a step gives the runs on which a condition holds; no other run makes it."""
    found: list[Step | None] = []

    def value() -> Value:
        found.append(step())
        return found[0] and found[0][1]

    item = m.branch(condition, value, lambda: None)
    return (m.conj(condition, found[0][0]), item) if found and found[0] is not None else None


@method("stream", Object)
def _one_by_one(m: Machine, iterator: Object) -> Stream:
    """Return what an iterator that is an object gives; no run asks it again once it has ended."""
    going: Expr = m.builder.true

    def step(at: int) -> Step | None:
        nonlocal going

        def another() -> Value:
            if is_milestone(at) and not m.some_run_is_left():
                raise Dead
            return call(m, Host(of_objects.another), (iterator,), {})

        found = m.branch(going, another, lambda: ())
        options = alternatives(found, m.builder.true)
        there = [(guard, (m.builder.true, item[0])) for guard, item in options if item]
        going = m.builder.disjunction([guard for guard, _ in there])
        return one_of(m, there, len(there) == len(options))

    return Stream("iterator", step)


@builtin(functools.reduce)
def _reduce(m: Machine, function: Value, iterable: Value, *initial: Value) -> Value:
    def folded(items: tuple[Value, ...]) -> Value:
        if not (values := [*initial[:1], *items]):
            raise Failure("TypeError: reduce() of an empty iterable", "give it an initial value")
        return functools.reduce(lambda done, item: call(m, function, (done, item), {}), values)

    return m.each(collected(m, iterable), folded)


# itertools


def _stream(m: Machine, name: str, items: Sequence[Value]) -> Stream:
    return Stream(name, lambda at: (m.builder.true, items[at]) if at < len(items) else None)


def _over_items(m: Machine, iterables: Sequence[Value], action: Callable[..., Value]) -> Value:
    """Apply an action to the items of each of some iterables, whose lengths may depend on the run."""
    each = [collected(m, iterable) for iterable in iterables]
    return over_all(m, each, action, lambda m, items, then: m.each(items, then))


@builtin(itertools.product)
def _product(m: Machine, *iterables: Value, repeat: Value = 1) -> Value:
    def times(count: Value, items: Sequence[Value]) -> Value:
        return _stream(m, "product", list(itertools.product(*items, repeat=whole(count))))

    return _over_items(m, iterables, lambda *items: over_values(m, indexed(m, repeat), partial(times, items=items)))


def _chosen(choose: Callable[..., object]) -> None:
    name = getattr(choose, "__name__", "")

    @builtin(choose)
    def handler(m: Machine, iterable: Value, r: Value = None) -> Value:
        def of(items: tuple[Value, ...]) -> Value:
            count = len(items) if r is None and choose is itertools.permutations else r
            return over_values(m, indexed(m, count), lambda size: chosen(items, whole(size)))

        def chosen(items: tuple[Value, ...], size: int) -> Value:
            if size < 0:
                raise Failure("ValueError: r must be non-negative", "choose at least 0 items")
            return _stream(m, name, [*choose(items, size)])  # type: ignore[misc]

        return m.each(collected(m, iterable), of)


for _choose in (itertools.combinations, itertools.permutations, itertools.combinations_with_replacement):
    _chosen(_choose)
