"""Expressions: names, operators, comparisons, containers, subscripts, comprehensions and calls."""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tightdp.core.ir import Expr
from tightdp.core.lowering.machine import Dead, Failure, Frame, Machine
from tightdp.core.lowering.values import (
    UNBOUND,
    Closure,
    Host,
    Range,
    Reference,
    Stream,
    Union,
    Value,
    alternatives,
    is_scalar,
    name_of,
)
from tightdp.exact.rationals import as_fraction

__all__ = ["BINARY", "Expressions", "Step"]

Step = tuple[Expr, Value]
"""An item of a loop: the condition that it is there, and the item."""

_MAX_GROWTH = 100
"""How many items a list may gain while a loop goes over it."""

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv", ast.Mod: "mod",
    ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitAnd: "bitand", ast.BitOr: "bitor",
    ast.BitXor: "bitxor",
}  # fmt: skip
_UNARY = {ast.USub: "neg", ast.UAdd: "pos", ast.Not: "not", ast.Invert: "invert"}
_COMPARE = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}


class Expressions(Machine):
    """Evaluation of Python expressions on all live runs at once."""

    def evaluate(self, node: ast.expr) -> Value:
        """Return the value of an expression."""
        handler = getattr(self, "_eval_" + type(node).__name__.lower(), None)
        if handler is None:
            raise self.unsupported(
                f"{_describe(node)} is not in the language", "see the list of supported Python in the README", node
            )
        self.position.append(node)
        try:
            return handler(node)
        except Failure as failure:
            failure.span = failure.span or self.frame.source.span(node)
            raise
        finally:
            self.position.pop()

    # leaves

    def _eval_constant(self, node: ast.Constant) -> Value:
        if isinstance(node.value, float):
            return as_fraction(node.value)
        if node.value is None or isinstance(node.value, (int, str)):
            return node.value
        raise self.unsupported(
            f"a {type(node.value).__name__} constant is not in the language",
            "use ints, rationals, strings, None or tuples of them",
            node,
        )

    def _eval_name(self, node: ast.Name) -> Value:
        for key in (self.frame.key, *self.frame.enclosing):
            if node.id in self.scopes[key]:
                return self._bound(self.state.frames.get(key, {}).get(node.id, UNBOUND), node.id)
        namespace = self.frame.source.namespace
        if node.id in namespace:
            return self.adopt(namespace[node.id])
        if hasattr(builtins, node.id):
            return Host(getattr(builtins, node.id))
        raise self.unsupported(f"the name {node.id!r} is not defined", "define it before the mechanism", node)

    def _bound(self, value: Value, name: str) -> Value:
        def check(item: Value) -> Value:
            if item is UNBOUND:
                raise Failure(f"NameError: {name!r} is not assigned on this run", "assign it on every path")
            return item

        return self.each(value, check)

    def adopt(self, thing: Any) -> Value:
        """Return an object of the enclosing module as a value; lists of the module may be read, not changed."""
        if thing is None or isinstance(thing, (bool, str)):
            return thing
        if isinstance(thing, int):
            return int(thing)
        if isinstance(thing, (float, Decimal, Fraction)):
            return as_fraction(thing)
        if isinstance(thing, tuple):
            return tuple(self.adopt(item) for item in thing)
        if isinstance(thing, range):
            return Range(tuple(thing))
        if isinstance(thing, list):
            reference = self.new_list(tuple(self.adopt(item) for item in thing))
            self.frozen.add(reference.key)
            return reference
        if hasattr(thing, "__index__") and not isinstance(thing, type):
            return int(thing.__index__())
        return Host(thing)

    # operators

    def _eval_binop(self, node: ast.BinOp) -> Value:
        left, right = self.evaluate(node.left), self.evaluate(node.right)
        return self.binary(BINARY.get(type(node.op)), left, right, node)

    def binary(self, name: str | None, left: Value, right: Value, node: ast.AST) -> Value:
        """Apply a binary operator, also to sequences."""
        if name is None:
            raise self.unsupported("this operator is not in the language", "use + - * / // % ** & | ^ << >>", node)
        return self.each(left, lambda a: self.each(right, lambda b: self._binary(name, a, b)))

    def _binary(self, name: str, left: Value, right: Value) -> Value:
        if name == "add" and isinstance(left, (tuple, Reference)) and type(left) is type(right):
            joined = self.each(self.items(left), lambda a: self.each(self.items(right), lambda b: a + b))
            return self.new_list(joined) if isinstance(left, Reference) else joined
        if name == "mul" and (is_scalar(left) != is_scalar(right)):
            sequence, count = (right, left) if is_scalar(left) else (left, right)
            if isinstance(sequence, (tuple, Reference)):
                repeated = self.each(
                    self.items(sequence), lambda a: self.over_values(count, lambda times: a * self.whole(times))
                )
                return self.new_list(repeated) if isinstance(sequence, Reference) else repeated
        return self.operate(name, left, right)

    def _eval_unaryop(self, node: ast.UnaryOp) -> Value:
        value = self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            return self.known(self.builder.negation(self.truth(value)))
        return self.each(value, lambda item: self.operate(_UNARY[type(node.op)], item))

    def _eval_boolop(self, node: ast.BoolOp) -> Value:
        def over(rest: Sequence[ast.expr]) -> Value:
            value = self.evaluate(rest[0])
            if len(rest) == 1:
                return value
            condition = self.truth(value)
            if isinstance(node.op, ast.And):
                return self.branch(condition, lambda: over(rest[1:]), lambda: value)
            return self.branch(condition, lambda: value, lambda: over(rest[1:]))

        return over(node.values)

    def _eval_ifexp(self, node: ast.IfExp) -> Value:
        return self.branch(
            self.truth(self.evaluate(node.test)),
            lambda: self.evaluate(node.body),
            lambda: self.evaluate(node.orelse),
        )

    def _eval_compare(self, node: ast.Compare) -> Value:
        def over(left: Value, rest: Sequence[tuple[ast.cmpop, ast.expr]]) -> Value:
            (operator, expression), others = rest[0], rest[1:]
            right = self.evaluate(expression)
            result = self.compare(operator, left, right)
            if not others:
                return result
            return self.branch(self.truth(result), lambda: over(right, others), lambda: False)

        return over(self.evaluate(node.left), list(zip(node.ops, node.comparators, strict=True)))

    def compare(self, operator: ast.cmpop, left: Value, right: Value) -> Value:
        """Return a comparison as a truth value."""
        match operator:
            case ast.Eq():
                return self.equal(left, right)
            case ast.NotEq():
                return self.known(self.builder.negation(self.expr(self.equal(left, right))))
            case ast.In() | ast.NotIn():
                inside = self.contains(right, left)
                return inside if isinstance(operator, ast.In) else self.known(self.builder.negation(self.expr(inside)))
            case ast.Is() | ast.IsNot():
                same = self.each(left, lambda a: self.each(right, lambda b: self._identical(a, b)))
                return same if isinstance(operator, ast.Is) else self.known(self.builder.negation(self.expr(same)))
        name = _COMPARE[type(operator)]
        return self.each(left, lambda a: self.each(right, lambda b: self.ordered(name, a, b)))

    def _identical(self, left: Value, right: Value) -> Value:
        if left is None or right is None:
            return self.equal(left, right)
        if isinstance(left, Reference) or isinstance(right, Reference) or is_scalar(left) != is_scalar(right):
            return left == right
        if any(isinstance(item, bool) for item in (left, right)) and all(
            isinstance(item, bool) or (isinstance(item, Expr) and item.boolean) for item in (left, right)
        ):
            return self.equal(left, right)
        raise self.unsupported("`is` between values is not in the language", "compare with ==")

    def equal(self, left: Value, right: Value) -> Value:
        """Return whether two values are equal in Python's sense."""

        def same(a: Value, b: Value) -> Value:
            if is_scalar(a) and is_scalar(b):
                return self.operate("eq", a, b)
            if type(a) is type(b) and isinstance(a, (Range, Reference)):
                return self.equal(self.items(a), self.items(b))
            if isinstance(a, tuple) and isinstance(b, tuple):
                if len(a) != len(b):
                    return False
                parts = [self.expr(self.equal(x, y)) for x, y in zip(a, b, strict=True)]
                return self.known(self.builder.conjunction(parts))
            return a is b

        return self.each(left, lambda a: self.each(right, lambda b: same(a, b)))

    def contains(self, container: Value, item: Value) -> Value:
        """Return whether an item is in a sequence."""

        def inside(sequence: Value) -> Value:
            if isinstance(sequence, Host) and isinstance(sequence.object, (dict, set, frozenset)):
                sequence = tuple(self.adopt(key) for key in sequence.object)
            if is_scalar(sequence):
                return self.each(item, lambda part: self.operate("in", part, sequence))
            return self.each(
                self.collected(sequence),
                lambda items: self.known(
                    self.builder.disjunction([self.expr(self.equal(item, other)) for other in items])
                ),
            )

        return self.each(container, inside)

    def ordered(self, name: str, left: Value, right: Value) -> Value:
        """Return an order comparison; tuples and lists compare lexicographically."""
        if isinstance(left, Reference) and isinstance(right, Reference):
            return self.each(
                self.items(left), lambda a: self.each(self.items(right), lambda b: self.ordered(name, a, b))
            )
        if not (isinstance(left, tuple) and isinstance(right, tuple)):
            return self.operate(name, left, right)
        if not left or not right:
            return self.operate(name, len(left), len(right))
        first = self.truth(self.equal(left[0], right[0]))
        return self.branch(
            first,
            lambda: self.ordered(name, left[1:], right[1:]),
            lambda: self.each(left[0], lambda a: self.each(right[0], lambda b: self.ordered(name, a, b))),
        )

    # containers

    def new_list(self, content: Value) -> Reference:
        """Return a new list with this content (a tuple, or a union of tuples)."""
        reference = Reference(self.new_key())
        self.state.heap[reference.key] = content
        return reference

    def items(self, sequence: Value) -> Value:
        """Return the items of a sequence: a tuple, or a union of tuples of different lengths."""

        def of(value: Value) -> Value:
            match self._opened(value):
                case Reference(key):
                    return self.state.heap[key]
                case Range(items):
                    return items
                case Stream(name):
                    raise Failure(f"TypeError: {name} is not a sequence", f"write list({name}(...))")
                case items:
                    return items

        return self.each(sequence, of)

    def collected(self, iterable: Value) -> Value:
        """Return the items of anything that a loop can go through, all at once."""
        return self.each(
            iterable, lambda value: self._drained(value) if isinstance(value, Stream) else self.items(value)
        )

    def _opened(self, value: Value) -> Value:
        """Return something to loop over as a tuple, range, list or stream."""
        if isinstance(value, (tuple, Range, Reference, Stream)):
            return value
        if isinstance(value, Host) and isinstance(value.object, dict):
            return tuple(self.adopt(key) for key in value.object)
        if isinstance(value, str):
            return tuple(value)
        if isinstance(value, Expr) and any(isinstance(item, str) for item in value.values):
            return self.over_values(value, self._opened)
        raise Failure(f"TypeError: {name_of(value)} is not a sequence", "use a tuple, a list or a range")

    def _drained(self, stream: Stream) -> Value:
        steps = list(self.iterate(stream))
        items = tuple(item for _, item in steps)
        there = [self.builder.true, *(present for present, _ in steps), self.builder.false]
        options = []
        for length in range(len(items) + 1):
            guard = self.conj(there[length], self.builder.negation(there[length + 1]))
            if guard is not self.builder.false:
                options.append((guard, items[:length]))
        return options[0][1] if len(options) == 1 else Union(tuple(options))

    def _eval_tuple(self, node: ast.Tuple) -> Value:
        return self._display(node.elts)

    def _eval_list(self, node: ast.List) -> Value:
        return self.new_list(self._display(node.elts))

    def _display(self, elements: Sequence[ast.expr]) -> Value:
        content: Value = ()
        for element in elements:
            if isinstance(element, ast.Starred):
                more = self.collected(self.evaluate(element.value))
            else:
                more = (self.evaluate(element),)
            content = self._concatenate(content, more)
        return content

    def _concatenate(self, left: Value, right: Value) -> Value:
        return self.joined(left, right)

    def over_values(self, value: Value, action: Callable[[Any], Value]) -> Value:
        """Apply an action to every plain value that a scalar may take, and merge the results."""
        if isinstance(value, Union):
            return self.each(value, lambda item: self.over_values(item, action))
        if not isinstance(value, Expr):
            return action(value)
        conditions = [self.builder.equals(value, item) for item in value.values]

        def over(position: int) -> Value:
            if position == len(value.values) - 1:
                return action(value.values[position])
            return self.branch(conditions[position], lambda: action(value.values[position]), lambda: over(position + 1))

        return over(0)

    def whole(self, value: Any) -> int:
        """Return an index or a count as an int."""
        if not isinstance(value, int):
            shown = value if is_scalar(value) else name_of(value)
            raise Failure(f"TypeError: {shown!s} is not an integer", "use an int; // divides without a remainder")
        return int(value)

    def _eval_subscript(self, node: ast.Subscript) -> Value:
        base = self.evaluate(node.value)
        if isinstance(node.slice, ast.Slice):
            bounds = tuple(
                None if part is None else self.evaluate(part)
                for part in (node.slice.lower, node.slice.upper, node.slice.step)
            )
            return self.each(base, lambda value: self._sliced(value, bounds))
        index = self.evaluate(node.slice)
        return self.each(base, lambda value: self.each(index, lambda at: self.element(value, at)))

    def _sliced(self, value: Value, bounds: tuple[Value, ...]) -> Value:
        def cut(items: tuple[Value, ...]) -> Value:
            low, high, step = bounds
            return self.over_values(
                low,
                lambda a: self.over_values(high, lambda b: self.over_values(step, lambda c: self._cut(items, a, b, c))),
            )

        if is_scalar(value):
            return self.over_values(value, lambda text: self._joined(cut(self.items(text))))
        part = self.each(self.items(value), cut)
        if isinstance(value, Range):
            return self.each(part, Range)
        return self.new_list(part) if isinstance(value, Reference) else part

    def _joined(self, characters: Value) -> Value:
        return self.each(characters, "".join)

    def _cut(self, items: tuple[Value, ...], *bounds: Any) -> Value:
        for bound in bounds:
            if bound is not None:
                self.whole(bound)
        if bounds[2] == 0:
            raise Failure("ValueError: slice step cannot be zero", "use a step other than 0")
        return items[slice(*bounds)]

    def element(self, value: Value, index: Value) -> Value:
        """Return the element of a sequence or of a dictionary at an index that may depend on the run."""
        if isinstance(value, Host) and isinstance(value.object, dict):
            return self._looked_up(value.object, index)
        if isinstance(value, Host) or not is_scalar(index):
            raise Failure(f"TypeError: an index must be an integer, not {name_of(index)}", "use an int")
        return self.each(self.items(value), lambda items: self._at(items, index))

    def _looked_up(self, table: dict[Any, Any], key: Value) -> Value:
        hits = [(self.expr(self.equal(key, self.adopt(known))), content) for known, content in table.items()]
        missing = self.builder.conjunction([self.builder.negation(hit) for hit, _ in hits])
        self.oblige(missing, Failure("KeyError: a key that is not in the dictionary", "give it every key that occurs"))
        found = [(hit, self.adopt(content)) for hit, content in hits if hit is not self.builder.false]
        if not found:
            raise Dead
        result = found[-1][1]
        for hit, content in reversed(found[:-1]):
            result = self.merge(hit, content, result)
        return result

    def _at(self, items: tuple[Value, ...], index: Value) -> Value:
        if not isinstance(index, Expr):
            return items[self.position_in(items, index)]
        positions = dict(self.valid_positions(items, index))
        some = next(iter(positions.values()))
        return self._select(index, [items[positions.get(value, some)] for value in index.values])

    def _select(self, index: Expr, branches: list[Value]) -> Value:
        """Return the branch at the position of the index's value, component by component."""
        if all(is_scalar(branch) for branch in branches):
            return self.known(self.builder.case(index, tuple(self.expr(branch) for branch in branches)))
        lengths = {len(branch) if isinstance(branch, tuple) else None for branch in branches}
        if len(lengths) == 1 and None not in lengths:
            return tuple(self._select(index, list(column)) for column in zip(*branches, strict=True))
        result = branches[-1]
        for value, branch in zip(reversed(index.values[:-1]), reversed(branches[:-1]), strict=True):
            result = self.merge(self.builder.equals(index, value), branch, result)
        return result

    def position_in(self, items: Sequence[Value], index: Any) -> int:
        """Return a plain index as a position from the start."""
        at = self.whole(index)
        if not -len(items) <= at < len(items):
            raise Failure(f"IndexError: index {at} in a sequence of length {len(items)}", "keep the index in range")
        return at % len(items)

    def valid_positions(self, items: Sequence[Value], index: Expr) -> list[tuple[Any, int]]:
        """Return (value, position) for the values of an index that are in range; oblige the others not to occur."""
        valid = [
            (value, value % len(items))
            for value in index.values
            if isinstance(value, int) and -len(items) <= value < len(items)
        ]
        accepted = {value for value, _ in valid}
        wrong = [value for value in index.values if value not in accepted]
        if wrong:
            self.oblige(
                self.builder.disjunction([self.builder.equals(index, value) for value in wrong]),
                Failure(
                    f"IndexError: index {wrong[0]!r} in a sequence of length {len(items)}", "keep the index in range"
                ),
            )
        if not valid:
            raise Dead
        return valid

    # comprehensions

    def _eval_listcomp(self, node: ast.ListComp) -> Value:
        return self.new_list(self.comprehension(node))

    def _eval_generatorexp(self, node: ast.GeneratorExp) -> Value:
        raise self.unsupported(
            "a generator expression may only be the argument of all, any, sum, min, max, tuple, list or sorted",
            "write a list comprehension [...] instead",
            node,
        )

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> Value:
        """Return the items that a comprehension produces."""
        result = self.new_list(())

        def add() -> None:
            item = self.evaluate(node.elt)
            self.state.heap[result.key] = self._concatenate(self.state.heap[result.key], (item,))

        self.in_comprehension(node, lambda first: self.clauses(node.generators, first, add))
        return self.state.heap.pop(result.key)

    def in_comprehension(self, node: ast.ListComp | ast.GeneratorExp, action: Callable[[Value], Value]) -> Value:
        """Evaluate the outermost iterable, and run an action on it where the targets have a scope of their own."""
        first = self.evaluate(node.generators[0].iter)
        frame = self._enter_comprehension(node)
        try:
            return action(first)
        finally:
            self.stack.remove(frame)
            if not any(isinstance(part, ast.Lambda) for part in ast.walk(node)):
                self.state.frames.pop(frame.key, None)

    def _enter_comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> Frame:
        targets = {
            name.id
            for generator in node.generators
            for name in ast.walk(generator.target)
            if isinstance(name, ast.Name)
        }
        outer = self.frame
        enclosing = (outer.key, *outer.enclosing)
        frame = Frame(self.new_key(), enclosing, frozenset(targets), outer.source, comprehension=True)
        self.enter(frame, {})
        return frame

    def clauses(self, generators: Sequence[ast.comprehension], first: Value, body: Callable[[], None]) -> None:
        """Run the body for every item that the clauses of a comprehension produce; `first` is the outer iterable."""
        generator, inner = generators[0], generators[1:]
        if generator.is_async:
            raise self.unsupported("async is not in the language", "write an ordinary comprehension")

        def conditions(rest: Sequence[ast.expr]) -> None:
            if rest:
                self.branch(self.truth(self.evaluate(rest[0])), lambda: conditions(rest[1:]), lambda: None)
            elif inner:
                self.clauses(inner, self.evaluate(inner[0].iter), body)
            else:
                body()

        for present, item in self.iterate(first):
            if self.state.alive is self.builder.false:
                raise Dead

            def step(item: Value = item) -> None:
                self.assign(generator.target, item)
                conditions(generator.ifs)

            self.branch(present, step, lambda: None)

    def iterate(self, iterable: Value) -> Iterator[tuple[Expr, Value]]:
        """Yield (condition that it is there, item) for every item that a loop over a value may meet.

        A list is read anew at every step, as in Python.
        """
        step, at = self.steps(iterable), 0
        while (found := step(at)) is not None:
            yield found
            at += 1

    def steps(self, iterable: Value) -> Callable[[int], Step | None]:
        """Return what gives (condition that it is there, item) for a place in anything to loop over."""
        opened = self.each(iterable, self._opened)
        parts = [(guard, self._steps(item)) for guard, item in alternatives(opened, self.builder.true)]

        def step(at: int) -> Step | None:
            there = [(guard, found) for guard, part in parts if (found := part(at)) is not None]
            return self.one_of(there, len(there) == len(parts))

        return step

    def _steps(self, iterable: Value) -> Callable[[int], Step | None]:
        if isinstance(iterable, Stream):
            if iterable in self.spent:
                raise self.unsupported(
                    f"what {iterable.name}() gives is gone through twice", f"keep list({iterable.name}(...))"
                )
            self.spent.add(iterable)
            return iterable.step
        longest = max(len(items) for _, items in alternatives(self.items(iterable), self.builder.true))

        def step(at: int) -> Step | None:
            if at > longest + _MAX_GROWTH:
                raise self.unsupported("this loop goes over a list that grows without end", "loop over a copy of it")
            options = alternatives(self.items(iterable), self.builder.true)
            longer = [(guard, (self.builder.true, items[at])) for guard, items in options if len(items) > at]
            return self.one_of(longer, len(longer) == len(options))

        return step

    def one_of(self, options: Sequence[tuple[Expr, Step]], always: bool) -> Step | None:
        """Return the item of whichever option holds; `always` says that one of them does."""
        if not options:
            return None
        value = options[-1][1][1]
        for guard, (_, item) in reversed(options[:-1]):
            value = self.merge(guard, item, value)
        if always and all(present is self.builder.true for _, (present, _) in options):
            return self.builder.true, value
        return self.builder.disjunction([self.conj(guard, present) for guard, (present, _) in options]), value

    # calls

    def _eval_attribute(self, node: ast.Attribute) -> Value:
        value = self.evaluate(node.value)
        if isinstance(value, Host) and isinstance(value.object, types.ModuleType):
            if hasattr(value.object, node.attr):
                return self.adopt(getattr(value.object, node.attr))
            raise self.unsupported(f"module {value.object.__name__} has no {node.attr!r}", "check the name", node)
        raise self.unsupported(
            f"the attribute .{node.attr} is not in the language",
            "only list methods (append, extend, insert, pop, index, count, copy) and names of modules are",
            node,
        )

    def _eval_call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Attribute):
            base = self.evaluate(node.func.value)
            if not (isinstance(base, Host) and isinstance(base.object, types.ModuleType)):
                arguments, keywords = self._arguments(node)
                return self.method(base, node.func.attr, arguments, keywords, node)
        function = self.evaluate(node.func)
        lazy = self.lazy_call(function, node)
        if lazy is not None:
            return lazy()
        arguments, keywords = self._arguments(node)
        return self.each(function, lambda item: self.call(item, arguments, keywords, node))

    def _arguments(self, node: ast.Call) -> tuple[tuple[Value, ...], dict[str, Value]]:
        arguments = self._display(node.args)
        if isinstance(arguments, Union):
            raise self.unsupported("the number of arguments depends on the run", "pass one list instead", node)
        keywords = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self.unsupported("**arguments are not in the language", "name the arguments", node)
            keywords[keyword.arg] = self.evaluate(keyword.value)
        return arguments, keywords

    def _eval_lambda(self, node: ast.Lambda) -> Value:
        return self.closure(node)

    def _eval_namedexpr(self, node: ast.NamedExpr) -> Value:
        value = self.evaluate(node.value)
        self.assign(node.target, value)
        return value

    def closure(self, node: ast.FunctionDef | ast.Lambda) -> Closure:
        """Return a local function with its defaults evaluated now and its free names looked up when called."""
        spec = node.args
        if spec.kwarg is not None:
            raise self.unsupported("**arguments are not in the language", "name the arguments", node)
        positional = [*spec.posonlyargs, *spec.args]
        defaults = dict(
            zip(
                (arg.arg for arg in positional[len(positional) - len(spec.defaults) :]),
                (self.evaluate(value) for value in spec.defaults),
                strict=True,
            )
        )
        for argument, value in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
            if value is not None:
                defaults[argument.arg] = self.evaluate(value)
        frames = (self.frame.key, *self.frame.enclosing)
        return Closure(node, self.frame.source, frames, defaults)

    # implemented by the classes that build on this one

    def assign(self, target: ast.expr, value: Value) -> None:
        """Assign to a target."""
        raise NotImplementedError

    def call(self, function: Value, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.Call) -> Value:
        """Call a function."""
        raise NotImplementedError

    def lazy_call(self, function: Value, node: ast.Call) -> Callable[[], Value] | None:
        """Return how to call a function whose argument is a generator, or None."""
        raise NotImplementedError

    def method(
        self, base: Value, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.Call
    ) -> Value:
        """Call a method."""
        raise NotImplementedError


def _describe(node: ast.AST) -> str:
    names = {
        "JoinedStr": "an f-string", "Dict": "a dictionary display", "Set": "a set display",
        "SetComp": "a set comprehension", "DictComp": "a dictionary comprehension", "Await": "await",
        "Yield": "yield", "YieldFrom": "yield from", "Starred": "a starred expression here",
    }  # fmt: skip
    return names.get(type(node).__name__, f"this ({type(node).__name__})")
