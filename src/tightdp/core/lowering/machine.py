"""The state of a lowering: the runs that are alive, what their names hold, and how two sets of runs are joined.

All runs of a program are followed at once. Where they part (an `if` on something random), each side is lowered under
its own path condition and the two states are merged again, value by value.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from tightdp.core.ir import Builder, Check, Const, Expr, Nary, TooManyValues
from tightdp.core.lowering.values import (
    UNBOUND,
    Host,
    Range,
    Reference,
    Stream,
    Union,
    Value,
    alternatives,
    is_scalar,
    kind,
    name_of,
)
from tightdp.core.operators import REFUSED, is_number, operation
from tightdp.errors import LanguageError, LimitError, Span
from tightdp.language.source import FunctionSource

__all__ = ["Dead", "Failure", "Frame", "Machine", "Probe", "State", "is_milestone", "numeric"]

Probe = Callable[[Expr, Sequence[Expr]], Sequence[Sequence[bool]]]
"""Says of each node which of its values it can take where a condition holds (none where that is impossible)."""

_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "pow": "**", "neg": "-",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "bitand": "&", "bitor": "|", "bitxor": "^",
    "lshift": "<<", "rshift": ">>", "invert": "~",
}  # fmt: skip


MAX_ITEMS = 8_000
"""How many items a sequence whose length depends on the run may have, over all its lengths."""


class Failure(Exception):
    """The runs at hand would raise an exception in Python."""

    def __init__(self, message: str, hint: str = "make sure that no run gets here") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.span: Span | None = None


class Dead(Exception):
    """No run is left at this point."""


@dataclass
class State:
    """A set of runs: the condition under which they are alive, their names by frame, and their lists."""

    alive: Expr
    frames: dict[int, dict[str, Value]] = field(default_factory=dict)
    heap: dict[int, Value] = field(default_factory=dict)

    def copy(self, alive: Expr) -> State:
        """Return a copy for the runs that satisfy `alive`."""
        return State(alive, {key: dict(names) for key, names in self.frames.items()}, dict(self.heap))


@dataclass
class Frame:
    """The function that is being lowered: where its names live, and how runs leave it or its loops."""

    key: int
    enclosing: tuple[int, ...]
    locals: frozenset[str]
    source: FunctionSource
    comprehension: bool = False
    returns: list[tuple[State, Value]] = field(default_factory=list)
    loops: list[tuple[list[State], list[State]]] = field(default_factory=list)


class Machine:
    """Branching, merging and scalar operations; the statements and expressions of Python build on it."""

    def __init__(self, probe: Probe | None = None, watch: Callable[[], None] = lambda: None) -> None:
        self.probe = probe
        self.watch = watch
        self.builder = Builder()
        self.state = State(self.builder.true)
        self.checks: list[Check] = []
        self.evidence: list[Expr] = []
        self.stack: list[Frame] = []
        self.scopes: dict[int, frozenset[str]] = {}
        self.position: list[ast.AST] = []
        self.frozen: set[int] = set()
        self.spent: set[Stream] = set()
        self._departures: list[object] = []
        self._keys = 0
        self._possible: dict[tuple[int, ...], list[bool]] = {}

    # positions and errors

    @property
    def frame(self) -> Frame:
        """The innermost function."""
        return self.stack[-1]

    def enter(self, frame: Frame, bindings: dict[str, Value]) -> None:
        """Begin to lower a function or comprehension whose parameters hold these values."""
        self.scopes[frame.key] = frame.locals
        self.state.frames[frame.key] = bindings
        self.stack.append(frame)

    def new_key(self) -> int:
        """Return a fresh key for a frame or a list."""
        self._keys += 1
        return self._keys

    def unsupported(self, what: str, hint: str, node: ast.AST | None = None) -> LanguageError:
        """Return the error for Python that is outside the language."""
        return LanguageError(what, hint, span=self.frame.source.span(node or self.position[-1]))

    def fail(self, failure: Failure) -> None:
        """Record that the runs at hand fail, and end them."""
        self.oblige(self.builder.true, failure)
        self.state.alive = self.builder.false

    def oblige(self, condition: Expr, failure: Failure) -> None:
        """Record that `condition` must not hold on any run that is alive."""
        condition = self.builder.conjunction([self.state.alive, condition])
        if condition is not self.builder.false:
            span = failure.span or self.frame.source.span(self.position[-1])
            self.checks.append(Check(condition, failure.message, failure.hint, span))

    # scalars

    def expr(self, value: Value) -> Expr:
        """Return a scalar as a node."""
        return value if isinstance(value, Expr) else self.builder.const(value)

    @staticmethod
    def known(value: Value) -> Value:
        """Return the plain value of a node that is constant."""
        return value.values[0] if isinstance(value, Const) else value

    def operate(self, name: str, *values: Value) -> Value:
        """Apply a scalar operation."""
        for value in values:
            if not is_scalar(value):
                raise self._type_failure(name, values)
        if not any(isinstance(value, Expr) for value in values):
            try:
                return operation(name)(*values)
            except REFUSED as error:
                raise self._type_failure(name, values, error) from None
        try:
            result, bad = self._apply(name, [self.expr(value) for value in values])
        except TooManyValues as error:
            raise self.too_many(error) from None
        if bad is not None:
            self.oblige(bad, self._type_failure(name, values, self._first_refusal(name, values)))
        if result is None:
            raise Dead
        return self.known(result)

    def too_many(self, error: TooManyValues) -> LanguageError:
        """Return the error for an operation over too many values."""
        return self.unsupported(
            f"this operation would have to tabulate {error.size:,} combinations of values",
            "bound its operands more tightly, or split it into steps with fewer values each",
        )

    def _apply(self, name: str, operands: list[Expr]) -> tuple[Expr | None, Expr | None]:
        builder = self.builder
        numbers = all(numeric(operand) for operand in operands)
        if numbers and name == "add":
            return builder.add(*operands), None
        if numbers and name == "sub" and not isinstance(operands[0], Const) and not isinstance(operands[1], Const):
            return builder.add(operands[0], builder.total("neg", operands[1])), None
        if all(operand.boolean for operand in operands):
            match name:
                case "not":
                    return builder.negation(operands[0]), None
                case "bool":
                    return operands[0], None
                case "bitand":
                    return builder.conjunction(operands), None
                case "bitor":
                    return builder.disjunction(operands), None
                case "bitxor" | "ne":
                    return builder.parity(operands), None
                case "eq" | "is":
                    return builder.negation(builder.parity(operands)), None
        return builder.apply(name, *operands)

    def _first_refusal(self, name: str, values: Sequence[Value]) -> Exception | None:
        """Return what Python raises for the first values of the operands that it refuses."""
        for combination in product(*(self.expr(value).values for value in values)):
            try:
                operation(name)(*combination)
            except REFUSED as error:
                return error
        return None

    @staticmethod
    def _type_failure(name: str, values: Sequence[Value], error: Exception | None = None) -> Failure:
        if isinstance(error, ZeroDivisionError):
            return Failure("ZeroDivisionError: division by zero", "guard the division, or change the divisor")
        symbol = _SYMBOLS.get(name, name)
        operands = " and ".join(name_of(value) for value in values)
        return Failure(f"TypeError: {symbol} does not take {operands}", "convert or guard the operands")

    def truth(self, value: Value) -> Expr:
        """Return the truth value of anything, as a node."""
        if is_scalar(value):
            return self.expr(self.operate("bool", value))
        if isinstance(value, Union):
            return self.expr(self.each(value, lambda item: self.known(self.truth(item))))
        if isinstance(value, Reference):
            return self.truth(self.state.heap[value.key])
        if isinstance(value, Range):
            return self.truth(value.items)
        if isinstance(value, tuple):
            return self.builder.const(bool(value))
        return self.builder.const(bool(value.object) if isinstance(value, Host) else True)

    # runs that leave

    def depart(self, target: list[Any] | None) -> None:
        """Note that runs leave the normal course for the place where `target` is collected (None: they end)."""
        self._departures.append(target)

    def departures(self) -> int:
        """Return a mark for `stayed`."""
        return len(self._departures)

    def stayed(self, mark: int, *own: list[Any]) -> bool:
        """Whether no run has left since the mark, except for the places `own`."""
        return all(any(target is place for place in own) for target in self._departures[mark:])

    def arrived(self, mark: int, place: list[Any]) -> None:
        """Forget those who left for a place since the mark: they have rejoined the others."""
        self._departures[mark:] = [target for target in self._departures[mark:] if target is not place]

    # runs that part and meet

    def conj(self, *conditions: Expr) -> Expr:
        """Return the conjunction of conditions."""
        return self.builder.conjunction(conditions)

    def attempt(self, action: Callable[[], Value]) -> Value:
        """Run an action; runs that fail in it end there."""
        try:
            return action()
        except Failure as failure:
            self.fail(failure)
        except Dead:
            self.state.alive = self.builder.false
        return None

    def branch(self, condition: Expr, yes: Callable[[], Value], no: Callable[[], Value]) -> Value:
        """Lower two actions, each for the runs on its side of the condition, and merge what they leave."""
        if isinstance(condition, Const):
            return yes() if condition.values[0] else no()
        before, mark = self.state, self.departures()
        ends = []
        for side, action in ((condition, yes), (self.builder.negation(condition), no)):
            alive = self.conj(before.alive, side)
            self.state = before.copy(alive)
            ends.append((self.attempt(action) if alive is not self.builder.false else None, self.state))
        (first, left), (second, right) = ends
        if left.alive is self.builder.false or right.alive is self.builder.false:
            self.state, value = (right, second) if left.alive is self.builder.false else (left, first)
            if self.state.alive is self.builder.false:
                raise Dead
            return value
        if self.stayed(mark):
            alive = before.alive
        else:
            known = self.facts(before.alive)
            stay = self.relative(left.alive, known | self.facts(condition))
            skip = self.relative(right.alive, known | self.facts(self.builder.negation(condition)))
            alive = self.conj(before.alive, self.builder.case(condition, (skip, stay)))
        self.state = self.merge_states(condition, left, right, alive)
        return self.merge(condition, first, second)

    def each(self, value: Value, action: Callable[[Value], Value]) -> Value:
        """Apply an action to every shape that a value may have, and merge the results."""
        value = self._pruned(value)
        if not isinstance(value, Union):
            return action(value)

        def over(rest: tuple[tuple[Expr, Value], ...]) -> Value:
            (guard, item), others = rest[0], rest[1:]
            if not others:
                return action(item)
            return self.branch(guard, lambda: action(item), lambda: over(others))

        return over(value.alternatives)

    def joined(self, left: Value, right: Value) -> Value:
        """Return two tuples, or unions of tuples of different lengths, one after the other."""
        found: dict[int, tuple[Expr, tuple[Value, ...]]] = {}
        for first, head in alternatives(left, self.builder.true):
            for second, tail in alternatives(right, self.builder.true):
                guard = self.conj(first, second)
                if self.conj(self.state.alive, guard) is self.builder.false:
                    continue
                items = head + tail
                if len(items) in found:
                    other, present = found[len(items)]
                    guard, items = self.builder.disjunction([other, guard]), self.merge(other, present, items)
                found[len(items)] = (guard, items)
        if not found:
            raise Dead
        options = tuple(found.values())
        return options[0][1] if len(options) == 1 else Union(options)

    def _pruned(self, value: Value) -> Value:
        """Leave out the shapes that no run here can have; it pays to look when their number has doubled."""
        if self.probe is None or not isinstance(value, Union) or not is_milestone(len(value.alternatives)):
            return value
        guards = [guard for guard, _ in value.alternatives]
        key = (self.state.alive.serial, *(guard.serial for guard in guards))
        if key not in self._possible:
            self._possible[key] = [kept[-1] for kept in self.probe(self.state.alive, guards)]
        left = [option for option, kept in zip(value.alternatives, self._possible[key], strict=True) if kept]
        if not left:
            raise Dead
        return left[0][1] if len(left) == 1 else Union(tuple(left))

    def some_run_is_left(self) -> bool:
        """Whether a run can be alive here, as far as the probe can tell."""
        return self.probe is None or any(self.probe(self.state.alive, [self.builder.true])[0])

    def merge(self, condition: Expr, yes: Value, no: Value) -> Value:
        """Return the value that is `yes` where the condition holds and `no` elsewhere."""
        if isinstance(condition, Const):
            return yes if condition.values[0] else no
        if yes is no or (type(yes) is type(no) and is_scalar(yes) and not isinstance(yes, Expr) and yes == no):
            return yes
        if is_scalar(yes) and is_scalar(no):
            return self.known(self.builder.case(condition, (self.expr(no), self.expr(yes))))
        if isinstance(yes, tuple) and isinstance(no, tuple) and len(yes) == len(no):
            return tuple(self.merge(condition, left, right) for left, right in zip(yes, no, strict=True))
        if isinstance(yes, Range) and isinstance(no, Range) and len(yes.items) == len(no.items):
            return Range(self.merge(condition, yes.items, no.items))
        if kind(yes) == kind(no) and not isinstance(yes, Union):
            return yes
        return self._merge_shapes(condition, yes, no)

    def _merge_shapes(self, condition: Expr, yes: Value, no: Value) -> Value:
        """Merge values of different shapes, shape by shape."""
        never, always = self.builder.false, self.builder.true
        left = {kind(item): (guard, item) for guard, item in alternatives(yes, always)}
        right = {kind(item): (guard, item) for guard, item in alternatives(no, always)}
        merged = []
        for shape in {**left, **right}:
            ours, theirs = left.get(shape, (never, None)), right.get(shape, (never, None))
            guard = self.builder.either(condition, ours[0], theirs[0])
            if shape not in left or shape not in right:
                item = ours[1] if shape in left else theirs[1]
            else:
                item = self.merge(condition, ours[1], theirs[1])
            if guard is not never:
                merged.append((guard, item))
        items = sum(len(item) for _, item in merged if isinstance(item, tuple))
        if items > MAX_ITEMS:
            raise LimitError(
                f"a sequence may have {len(merged):,} lengths, and {items:,} items in all of them together",
                "bound how far it grows where its growth depends on the run",
            )
        return merged[0][1] if len(merged) == 1 else Union(tuple(merged))

    def merge_states(self, condition: Expr, left: State, right: State, alive: Expr) -> State:
        """Return the state that is `left` where the condition holds and `right` elsewhere."""
        if isinstance(condition, Const):
            chosen = left if condition.values[0] else right
            return State(alive, chosen.frames, chosen.heap)
        frames = {**left.frames, **right.frames}
        for key in left.frames.keys() & right.frames.keys():
            ours, theirs = left.frames[key], right.frames[key]
            missing = dict.fromkeys({**ours, **theirs}, UNBOUND)
            frames[key] = self._merge_contents(condition, {**missing, **ours}, {**missing, **theirs})
        return State(alive, frames, self._merge_contents(condition, left.heap, right.heap))

    def _merge_contents(self, condition: Expr, left: dict[Any, Value], right: dict[Any, Value]) -> dict[Any, Value]:
        """Merge what names or lists hold; what only one side has stays as it is."""
        merged = {**left, **right}
        for key, ours in left.items():
            theirs = merged[key]
            if theirs is not ours:
                merged[key] = self.merge(condition, ours, theirs)
        return merged

    def facts(self, condition: Expr) -> set[int]:
        """Return the serial numbers of the conditions that a path condition is made of."""
        parts = condition.operands if isinstance(condition, Nary) and condition.operator == "and" else (condition,)
        return {part.serial for part in parts}

    def relative(self, condition: Expr, known: Iterable[int]) -> Expr:
        """Return a path condition without the parts that are known to hold."""
        if isinstance(condition, Nary) and condition.operator == "and":
            return self.conj(*(part for part in condition.operands if part.serial not in known))
        return self.builder.true if condition.serial in known else condition

    def join(self, base: Expr, ends: Sequence[tuple[State, Value]], alive: Expr | None) -> Value:
        """Merge the states and values with which runs that were alive under `base` arrive at one point.

        `alive` is their path condition where it is known to be that of the start.
        """
        known = self.facts(base)
        guards = []
        for state, _ in ends[:-1]:
            guard = self.relative(state.alive, known)
            guards.append(guard)
            known.add(self.builder.negation(guard).serial)
        if alive is None:
            alive = self.builder.disjunction([state.alive for state, _ in ends])
        state, value = ends[-1]
        for guard, (other, result) in zip(reversed(guards), reversed(ends[:-1]), strict=True):
            state = self.merge_states(guard, other, state, alive)
            value = self.merge(guard, result, value)
        state.alive = alive
        self.state = state
        return value


def numeric(value: Value) -> bool:
    """Whether every value that a scalar may take is a number."""
    values = value.values if isinstance(value, Expr) else (value,)
    return isinstance(values, range) or all(is_number(item) for item in values)


def is_milestone(count: int) -> bool:
    """Whether a count is one at which it pays to look what can still happen: 8, 16, 32, ..."""
    return count >= 8 and count & (count - 1) == 0
