"""Calls: local functions, the builtins of the language, and methods of lists and tuples."""

from __future__ import annotations

import ast
import fractions
import math
import types
from collections.abc import Callable, Sequence
from typing import Any

from tightdp.core.ir import Expr, TooManyValues
from tightdp.core.lowering.expressions import Step
from tightdp.core.lowering.machine import Dead, Failure, State, numeric
from tightdp.core.lowering.statements import Statements
from tightdp.core.lowering.values import (
    Closure,
    Host,
    Range,
    Reference,
    Stream,
    Value,
    alternatives,
    is_scalar,
    name_of,
)
from tightdp.exact.rationals import as_parameter
from tightdp.language.program import REQUIRED, Program
from tightdp.language.source import read_function

__all__ = ["Calls"]

Arguments = tuple[Value, ...]
Keywords = dict[str, Value]


class Calls(Statements):
    """Execution of calls on all live runs at once."""

    iterating: tuple[Any, ...] = (sum, min, max, tuple, list, sorted)
    """What takes a generator expression as its first argument and goes through all of it."""

    def call(self, function: Value, arguments: Arguments, keywords: Keywords, node: ast.Call) -> Value:
        """Call a function: inline a Python function, or apply a builtin."""
        if isinstance(function, Closure):
            return self.inline(function, self.bind(function, arguments, keywords))
        if not isinstance(function, Host):
            raise Failure(f"TypeError: {name_of(function)} cannot be called", "call a function")
        handler = self.handler(function.object)
        if handler is not None:
            return handler(self, arguments, keywords)
        target = function.object
        program = getattr(target, "program", None)
        if isinstance(program, Program):
            return self._call_mechanism(program, arguments, keywords)
        if isinstance(target, types.FunctionType):
            return self._call_python(target, arguments, keywords)
        raise self.unsupported(
            f"{getattr(target, '__name__', target)!s} is not in the language",
            "use the builtins and random primitives of the language, or a plain Python function",
            node,
        )

    def handler(self, thing: Any) -> Handler | None:
        """Return how a builtin of the language is applied, or None."""
        return BUILTINS.get(thing) if callable(thing) and type(thing).__hash__ is not None else None

    def _call_mechanism(self, program: Program, arguments: Arguments, keywords: Keywords) -> Value:
        """Call a mechanism inside another one: it is given n, and its parameters are read as `bind` reads them."""
        names = list(program.parameters)
        if program.takes_n() and "n" not in keywords and arguments:
            length = self.each(self.items(arguments[0]), len)
            keywords = {**keywords, "n": length}
        given = {name: self.adopt(value) for name, value in program.parameters.items() if value is not REQUIRED}
        given |= dict(zip(names, arguments[1:], strict=False)) | keywords
        return self._call_python(
            program.function, arguments[:1], {name: self._parameter(value) for name, value in given.items()}
        )

    def _parameter(self, value: Value) -> Value:
        if isinstance(value, tuple):
            return tuple(self._parameter(item) for item in value)
        return self.adopt(as_parameter(value)) if isinstance(value, str) else value

    def _call_python(self, target: Callable[..., Any], arguments: Arguments, keywords: Keywords) -> Value:
        source = read_function(target, anonymous=True)
        spec = source.node.args
        positional = [*spec.posonlyargs, *spec.args]
        values = target.__defaults__ or ()
        names = [argument.arg for argument in positional[len(positional) - len(values) :]]
        defaults = {**dict(zip(names, values, strict=True)), **(target.__kwdefaults__ or {})}
        closure = Closure(source.node, source, (), {name: self.adopt(value) for name, value in defaults.items()})
        return self.inline(closure, self.bind(closure, arguments, keywords))

    def bind(self, closure: Closure, arguments: Arguments, keywords: Keywords) -> dict[str, Value]:
        """Return the values of a function's parameters."""
        spec = closure.node.args
        positional = [argument.arg for argument in (*spec.posonlyargs, *spec.args)]
        bound = dict(zip(positional, arguments, strict=False))
        rest = arguments[len(positional) :]
        if spec.vararg is not None:
            bound[spec.vararg.arg] = rest
        elif rest:
            raise Failure(f"TypeError: {closure.name}() takes {len(positional)} arguments, got {len(arguments)}")
        names = [*positional, *(argument.arg for argument in spec.kwonlyargs)]
        for name, value in keywords.items():
            if name not in names or name in bound:
                raise Failure(f"TypeError: {closure.name}() got an unexpected or repeated argument {name!r}")
            bound[name] = value
        for name in names:
            if name not in bound:
                if name not in closure.defaults:
                    raise Failure(f"TypeError: {closure.name}() misses the argument {name!r}", "pass it")
                bound[name] = closure.defaults[name]
        return bound

    def lazy_call(self, function: Value, node: ast.Call) -> Callable[[], Value] | None:
        """Return how to call a builtin whose first argument is a generator expression, or None."""
        if not node.args or not isinstance(node.args[0], ast.GeneratorExp) or not isinstance(function, Host):
            return None
        generator = node.args[0]
        if function.object is any or function.object is all:
            return lambda: self._search(generator, function.object is any)
        if function.object is sum and any(clause.ifs for clause in generator.generators):
            start = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
            return lambda: self._sum_as_it_goes(generator, self.evaluate(start[0]) if start else 0)
        if not any(function.object is known for known in self.iterating):
            return None

        def call() -> Value:
            items = self.new_list(self.comprehension(generator))
            keywords = {keyword.arg or "": self.evaluate(keyword.value) for keyword in node.keywords}
            others = tuple(self.evaluate(argument) for argument in node.args[1:])
            return self.call(function, (items, *others), keywords, node)

        return call

    def _sum_as_it_goes(self, generator: ast.GeneratorExp, start: Value) -> Value:
        """Return the sum of a generator that leaves items out, without a list whose length depends on the run."""
        result = self.new_list((start,))

        def add() -> None:
            item = self.evaluate(generator.elt)
            (done,) = self.state.heap[result.key]
            self.state.heap[result.key] = (self.binary("add", done, item, generator),)

        self.in_comprehension(generator, lambda first: self.clauses(generator.generators, first, add))
        return self.state.heap.pop(result.key)[0]

    def _search(self, generator: ast.GeneratorExp, wanted: bool) -> Value:
        """Return any() or all() of a generator, which stops at the first item that decides."""
        base, mark = self.state.alive, self.departures()
        found: list[State] = []

        def decide() -> None:
            found.append(self.state.copy(self.state.alive))
            self.depart(found)
            self.state.alive = self.builder.false

        def body() -> None:
            condition = self.truth(self.evaluate(generator.elt))
            if not wanted:
                condition = self.builder.negation(condition)
            self.branch(condition, decide, lambda: None)

        def search(first: Value) -> Value:
            self.attempt(lambda: self.clauses(generator.generators, first, body))
            ends: list[tuple[State, Value]] = [(state, wanted) for state in found]
            if self.state.alive is not self.builder.false:
                ends.append((self.state, not wanted))
            kept = self.stayed(mark, found)
            self.arrived(mark, found)
            if not ends:
                raise Dead
            return self.join(base, ends, base if kept else None)

        return self.in_comprehension(generator, search)

    # methods

    def method(self, base: Value, name: str, arguments: Arguments, keywords: Keywords, node: ast.Call) -> Value:
        """Call a method of a list or a tuple."""
        handler = _METHODS.get(name)
        if handler is None or keywords:
            raise self.unsupported(
                f"the method .{name}() is not in the language",
                "lists have append, extend, insert, pop, index, count and copy; tuples index and count",
                node,
            )

        def on(value: Value) -> Value:
            if isinstance(value, Host) and isinstance(value.object, dict) and name == "get":
                raise self.unsupported("dict.get is not in the language", "index the dictionary", node)
            frozen = isinstance(value, (tuple, Range)) and name in ("index", "count")
            if not (isinstance(value, Reference) or frozen):
                raise Failure(f"AttributeError: {name_of(value)} has no .{name}()", "make a list of it first")
            return handler(self, value, *arguments)

        try:
            return self.each(base, on)
        except TypeError as error:
            raise self.unsupported(f".{name}() got the wrong arguments: {error}", "see its documentation") from None

    # numbers

    def total(self, items: Sequence[Value], start: Value = 0) -> Value:
        """Return the sum of values."""
        values = [start, *items]
        if all(is_scalar(value) and numeric(value) for value in values):
            try:
                return self.known(self.builder.sum([self.expr(value) for value in values]))
            except TooManyValues as error:
                raise self.too_many(error) from None
        result = start
        for item in items:
            result = self.binary("add", result, item, self.position[-1])
        return result

    def extremum(self, name: str, items: Sequence[Value], key: Value = None) -> Value:
        """Return the first least or greatest of values."""
        if not items:
            raise Failure(f"ValueError: {name}() of nothing", "make sure that there is at least one value")
        if key is None and all(is_scalar(item) and numeric(item) for item in items):
            return self.known(self.builder.extremum(name, [self.expr(item) for item in items]))
        best, rank = items[0], self.ranked(key, items[0])
        for item in items[1:]:
            other = self.ranked(key, item)
            better = self.truth(self._before(other, rank) if name == "min" else self._before(rank, other))
            best, rank = self.merge(better, item, best), self.merge(better, other, rank)
        return best

    def ranked(self, key: Value, item: Value) -> Value:
        """Return what an item is compared by."""
        if key is None:
            return item
        node = self.position[-1]
        assert isinstance(node, ast.Call)
        return self.call(key, (item,), {}, node)

    def _before(self, left: Value, right: Value) -> Value:
        return self.each(left, lambda a: self.each(right, lambda b: self.ordered("lt", a, b)))

    def arranged(self, items: tuple[Value, ...], key: Value, reverse: bool) -> tuple[Value, ...]:
        """Return items in ascending (or descending) order, stably."""
        if key is None and all(is_scalar(item) and numeric(item) for item in items):
            ordered = self._by_counting([self.expr(item) for item in items])
            return ordered[::-1] if reverse else ordered
        pairs = [(self.ranked(key, item), item) for item in items]
        for end in range(len(pairs) - 1, 0, -1):
            for at in range(end):
                (left, first), (right, second) = pairs[at], pairs[at + 1]
                swap = self.truth(self._before(left, right) if reverse else self._before(right, left))
                pairs[at] = (self.merge(swap, right, left), self.merge(swap, second, first))
                pairs[at + 1] = (self.merge(swap, left, right), self.merge(swap, first, second))
        return tuple(item for _, item in pairs)

    def _by_counting(self, items: list[Expr]) -> tuple[Value, ...]:
        """Return the order statistics of numbers from the counts of items at or below every value."""
        values = sorted({value for item in items for value in item.values})
        counts = [
            self.builder.sum([self.expr(self.operate("le", item, value)) for item in items]) for value in values[:-1]
        ]
        ordered = []
        for at in range(len(items)):
            result: Value = values[-1] if values else 0
            for value, count in zip(reversed(values[:-1]), reversed(counts), strict=True):
                result = self.merge(self.expr(self.operate("gt", self.known(count), at)), value, result)
            ordered.append(result)
        return tuple(ordered)


Handler = Callable[[Calls, Arguments, Keywords], Value]


def _sequence(function: Callable[[Calls, tuple[Value, ...]], Value]) -> Handler:
    """Return the handler of a builtin of one sequence."""

    def handler(machine: Calls, arguments: Arguments, keywords: Keywords) -> Value:
        _expect(arguments, keywords, 1, 1)
        return machine.each(machine.items(arguments[0]), lambda items: function(machine, items))

    return handler


def _expect(arguments: Arguments, keywords: Keywords, low: int, high: int, *names: str) -> None:
    if not low <= len(arguments) <= high:
        raise Failure(f"TypeError: {len(arguments)} arguments where {low} to {high} are taken", "see its documentation")
    for name in keywords:
        if name not in names:
            raise Failure(f"TypeError: no argument is called {name!r}", "see its documentation")


def _sum(machine: Calls, arguments: Arguments, keywords: Keywords) -> Value:
    _expect(arguments, keywords, 1, 2, "start")
    start = arguments[1] if len(arguments) == 2 else keywords.get("start", 0)
    return machine.each(machine.collected(arguments[0]), lambda items: machine.total(items, start))


def _extremum(name: str) -> Handler:
    def handler(machine: Calls, arguments: Arguments, keywords: Keywords) -> Value:
        _expect(arguments, keywords, 1, 1 << 30, "key", "default")
        values = arguments if len(arguments) > 1 else machine.collected(arguments[0])

        def pick(items: tuple[Value, ...]) -> Value:
            if not items and "default" in keywords:
                return keywords["default"]
            return machine.extremum(name, items, keywords.get("key"))

        return machine.each(values, pick)

    return handler


def _sorted(machine: Calls, arguments: Arguments, keywords: Keywords) -> Value:
    _expect(arguments, keywords, 1, 1, "key", "reverse")
    reverse = keywords.get("reverse", False)

    def arrange(items: tuple[Value, ...]) -> Value:
        return machine.over_values(reverse, lambda flag: machine.arranged(items, keywords.get("key"), bool(flag)))

    return machine.new_list(machine.each(machine.collected(arguments[0]), arrange))


def _range(machine: Calls, arguments: Arguments, keywords: Keywords) -> Value:
    _expect(arguments, keywords, 1, 3)

    def over(done: tuple[int, ...], rest: Arguments) -> Value:
        if not rest:
            if len(done) == 3 and done[2] == 0:
                raise Failure("ValueError: range() step must not be zero", "use a step other than 0")
            return Range(tuple(range(*done)))
        return machine.over_values(rest[0], lambda value: over((*done, machine.whole(value)), rest[1:]))

    return over((), arguments)


def _enumerate(machine: Calls, arguments: Arguments, keywords: Keywords) -> Value:
    _expect(arguments, keywords, 1, 2, "start")
    start = arguments[1] if len(arguments) == 2 else keywords.get("start", 0)
    steps = machine.steps(arguments[0])

    def step(at: int) -> Step | None:
        found = steps(at)
        return None if found is None else (found[0], (machine.operate("add", start, at), found[1]))

    return Stream("enumerate", step)


def _zip(machine: Calls, arguments: Arguments, keywords: Keywords) -> Value:
    _expect(arguments, keywords, 0, 1 << 30, "strict")
    strict = keywords.get("strict", False)
    parts = [machine.steps(argument) for argument in arguments]

    def step(at: int) -> Step | None:
        found = [part(at) for part in parts]
        there = [one[0] for one in found if one is not None]
        present = machine.conj(*there) if len(there) == len(parts) else machine.builder.false
        if strict:
            uneven = machine.conj(machine.builder.disjunction(there), machine.builder.negation(present))
            machine.oblige(
                uneven, Failure("ValueError: zip() arguments have different lengths", "make them equally long")
            )
        if present is machine.builder.false:
            return None
        return present, tuple(one[1] for one in found if one is not None)

    return Stream("zip", step)


def _reversed(machine: Calls, arguments: Arguments, keywords: Keywords) -> Value:
    _expect(arguments, keywords, 1, 1)

    def backwards(sequence: Value) -> Value:
        items = machine.items(sequence)
        options = alternatives(items, machine.builder.true)

        def step(at: int) -> Step | None:
            now = machine.items(sequence)
            if now is items:
                pairs = [(guard, len(part), part) for guard, part in options]
            else:
                pairs = [
                    (machine.conj(guard, other), len(part), content)
                    for guard, part in options
                    for other, content in alternatives(now, machine.builder.true)
                ]
            there = [
                (guard, (machine.builder.true, part[length - 1 - at]))
                for guard, length, part in pairs
                if 0 <= length - 1 - at < len(part)
            ]
            return machine.one_of(there, len(there) == len(pairs))

        return Stream("reversed", step)

    return machine.each(arguments[0], backwards)


def _list(machine: Calls, arguments: Arguments, keywords: Keywords) -> Value:
    _expect(arguments, keywords, 0, 1)
    return machine.new_list(machine.collected(arguments[0]) if arguments else ())


def _tuple(machine: Calls, arguments: Arguments, keywords: Keywords) -> Value:
    _expect(arguments, keywords, 0, 1)
    return machine.collected(arguments[0]) if arguments else ()


def _truth(machine: Calls, arguments: Arguments, keywords: Keywords) -> Value:
    _expect(arguments, keywords, 0, 1)
    return machine.known(machine.truth(arguments[0])) if arguments else False


def _scalar(name: str, count: int) -> Handler:
    def handler(machine: Calls, arguments: Arguments, keywords: Keywords) -> Value:
        _expect(arguments, keywords, count, count)

        def over(done: Arguments, rest: Arguments) -> Value:
            if not rest:
                return machine.operate(name, *done)
            return machine.each(rest[0], lambda value: over((*done, value), rest[1:]))

        return over((), arguments)

    return handler


def _junction(wanted: bool) -> Handler:
    def handler(machine: Calls, arguments: Arguments, keywords: Keywords) -> Value:
        _expect(arguments, keywords, 1, 1)
        join = machine.builder.disjunction if wanted else machine.builder.conjunction
        return machine.each(
            machine.collected(arguments[0]), lambda items: machine.known(join([machine.truth(item) for item in items]))
        )

    return handler


def _fraction(machine: Calls, arguments: Arguments, keywords: Keywords) -> Value:
    _expect(arguments, keywords, 1, 2)
    return _scalar("fraction", len(arguments))(machine, arguments, keywords)


def _divmod(machine: Calls, arguments: Arguments, keywords: Keywords) -> Value:
    parts = [_scalar(name, 2)(machine, arguments, keywords) for name in ("floordiv", "mod")]
    return tuple(parts)


def _int(machine: Calls, arguments: Arguments, keywords: Keywords) -> Value:
    return _scalar("int", 1)(machine, arguments, keywords) if arguments else 0


def _pow(machine: Calls, arguments: Arguments, keywords: Keywords) -> Value:
    return _scalar("pow" if len(arguments) < 3 else "powmod", max(len(arguments), 2))(machine, arguments, keywords)


BUILTINS: dict[Any, Handler] = {
    len: _sequence(lambda machine, items: len(items)),
    sum: _sum,
    min: _extremum("min"),
    max: _extremum("max"),
    sorted: _sorted,
    range: _range,
    enumerate: _enumerate,
    zip: _zip,
    reversed: _reversed,
    list: _list,
    tuple: _tuple,
    bool: _truth,
    any: _junction(True),
    all: _junction(False),
    abs: _scalar("abs", 1),
    int: _int,
    pow: _pow,
    divmod: _divmod,
    math.floor: _scalar("floor", 1),
    math.ceil: _scalar("ceil", 1),
    math.comb: _scalar("comb", 2),
    fractions.Fraction: _fraction,
}


def _append(machine: Calls, base: Reference, value: Value) -> None:
    machine.extend(base, (value,))


def _extend(machine: Calls, base: Reference, more: Value) -> None:
    machine.extend(base, more)


def _insert(machine: Calls, base: Reference, index: Value, value: Value) -> None:
    content = machine.content(base)
    machine.state.heap[base.key] = machine.each(
        content, lambda items: machine.over_values(index, lambda at: _inserted(items, machine.whole(at), value))
    )


def _inserted(items: tuple[Value, ...], at: int, value: Value) -> tuple[Value, ...]:
    changed = list(items)
    changed.insert(at, value)
    return tuple(changed)


def _pop(machine: Calls, base: Reference, index: Value = -1) -> Value:
    content = machine.content(base)

    def split(items: tuple[Value, ...]) -> Value:
        def at(position: Any) -> Value:
            where = machine.position_in(items, position)
            return (items[where], items[:where] + items[where + 1 :])

        return machine.over_values(index, at)

    pair = machine.each(content, split)
    machine.state.heap[base.key] = machine.element(pair, 1)
    return machine.element(pair, 0)


def _index(machine: Calls, base: Value, wanted: Value) -> Value:
    def search(items: tuple[Value, ...]) -> Value:
        hits = [machine.expr(machine.equal(item, wanted)) for item in items]
        missing = machine.builder.conjunction([machine.builder.negation(hit) for hit in hits])
        machine.oblige(missing, Failure("ValueError: .index() of a value that is not there", "test with `in` first"))
        result: Value = max(len(items) - 1, 0)
        for at in range(len(items) - 2, -1, -1):
            result = machine.merge(hits[at], at, result)
        return result

    return machine.each(machine.items(base), search)


def _count(machine: Calls, base: Value, wanted: Value) -> Value:
    return machine.each(
        machine.items(base), lambda items: machine.total([machine.equal(item, wanted) for item in items])
    )


def _copy(machine: Calls, base: Reference) -> Value:
    return machine.new_list(machine.items(base))


_METHODS: dict[str, Callable[..., Value]] = {
    "append": _append,
    "extend": _extend,
    "insert": _insert,
    "pop": _pop,
    "index": _index,
    "count": _count,
    "copy": _copy,
}
