"""Comprehensions and generator expressions, and the functions that stop in the middle of one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from tightdp.core.lowering.expressions import binary
from tightdp.core.lowering.iteration import (
    collected,
    everyone,
    for_all,
    plainly,
    sift,
    sifted,
    template,
    unordered,
    visit,
)
from tightdp.core.lowering.machine import End, Failure, Frame, Machine
from tightdp.core.lowering.registry import lowers
from tightdp.core.lowering.scalars import truth
from tightdp.core.lowering.store import MISSING
from tightdp.core.lowering.values import Generator, Value, known, never
from tightdp.language.source import FunctionSource

Comprehension = ast.ListComp | ast.GeneratorExp


@lowers(ast.ListComp)
def _listcomp(m: Machine, node: ast.ListComp) -> Value:
    first = m.evaluate(node.generators[0].iter)
    return m.new_list(within(m, node, surroundings(m), lambda: _items(m, node, first)))


@lowers(ast.GeneratorExp)
def _generatorexp(m: Machine, node: ast.GeneratorExp) -> Value:
    first = m.evaluate(node.generators[0].iter)
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

    return Generator("generator expression", never, node, first, *outside, visit_items)


def surroundings(m: Machine) -> tuple[tuple[int, ...], FunctionSource]:
    """Return what a comprehension sees around it: the frames, and the source."""
    return (m.frame.key, *m.frame.enclosing), m.frame.source


def _items(m: Machine, node: Comprehension, first: Value) -> Value:
    """Return the items that a comprehension produces."""
    alike = template(m, first)
    if alike is not None:
        return for_all(m, alike, lambda items: _items(m, node, items))
    result = m.new_list(sifted(m))
    clauses(m, node.generators, first, lambda: sift(m, result, m.evaluate(node.elt)))
    return plainly(m, m.store.pop(result.key))


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
    m.enter(frame, {})
    try:
        return action()
    finally:
        m.stack.remove(frame)
        if not any(isinstance(part, (ast.Lambda, ast.GeneratorExp)) for part in ast.walk(node) if part is not node):
            m.store.drop(frame.key)


def clauses(m: Machine, generators: Sequence[ast.comprehension], first: Value, body: Callable[[], None]) -> None:
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

    visit(m, first, step)


# functions that consume a generator as they need it


def search(m: Machine, iterable: Value, wanted: bool) -> Value:
    """Return any() (`wanted`) or all() of an iterable; a generator stops at the first item that decides."""
    if not isinstance(iterable, Generator) and not everyone(iterable):
        join = m.builder.disjunction if wanted else m.builder.conjunction
        items = collected(m, unordered(m, iterable))
        return m.each(items, lambda each: known(join([truth(m, item) for item in each])))

    def decided(item: Value, leave: Callable[[Value], None]) -> None:
        condition = truth(m, item)
        decides = condition if wanted else m.builder.negation(condition)
        m.branch(decides, lambda: leave(wanted), lambda: None)

    return _until_left(m, iterable, decided, not wanted)


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
    """Return next() of a generator expression; the default (`MISSING`: such runs fail) where it gives nothing."""
    return _until_left(m, generator, lambda item, leave: leave(item), default)


def sum_as_it_goes(m: Machine, items: Value, start: Value) -> Value:
    """Return the sum of items of which some are left out, without a list whose length depends on the run."""
    result = m.new_list((start,))

    def add(item: Value) -> None:
        (done,) = m.store[result.key]
        m.store[result.key] = (binary(m, "add", done, item, m.position[-1]),)

    visit(m, items, add)
    return m.store.pop(result.key)[0]
