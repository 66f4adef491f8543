"""The rounds of a loop, how they end, and their runs, enumerated one by one: what nodes are, and what is drawn."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

from tightdp.core.lowering.given import Given
from tightdp.core.lowering.machine import End, Failure, Machine
from tightdp.core.lowering.store import MISSING, Cell, like
from tightdp.core.lowering.values import Closure, Host, Reference, Union, Value, all_plain, is_scalar
from tightdp.core.nodes import Apply, Case, Const, Draw, Expr, Nary, computed, reachable
from tightdp.core.operators import Far
from tightdp.exact.field import Number
from tightdp.language.laws import Law

T = TypeVar("T")
Context = dict[int, Any]
"""The values of some nodes, by their serials."""
Values = tuple[Any, ...]
State = tuple[int, Values]  # the place of the next item, and the values of the cells
Outcome = tuple[str, Values, Any]
"""How a round or a loop ends ("on", "end", "break", "return", "late", "fail", "reject"), the cells, and what it brings.

What is returned late is a statement.
"""
Place: TypeAlias = State | Outcome
Action: TypeAlias = Callable[[Value, Any], None]
"""What lowers a part of a round with its item, unrolled."""


@dataclass
class Ends:
    """How the runs of one round part: where they go on or leave, each under a condition, with what they wrote.

    `observed` are the conditions of `observe` that they must meet.
    """

    ways: list[tuple[str, End]] = field(default_factory=list)
    failures: list[tuple[Expr, Failure]] = field(default_factory=list)
    observed: list[Expr] = field(default_factory=list)

    def looked_at(self) -> Iterator[Expr]:
        """Yield the nodes that are asked for their values."""
        yield from (condition for condition, _ in self.failures)
        yield from self.observed
        for _, end in self.ways:
            yield end.alive
            for value in (*end.changes.values(), end.value):
                yield from _nodes(value)


@dataclass(frozen=True)
class Rounds:
    """The rounds of a loop: `play` lowers `parts` of one, in order, with its item, from given values of cells.

    A `while` loop has no items, and its test is a part of its own; where rounds are `alike` they do not look at them. A
    loop that could be unrolled says how fast its states may become more, see `LOOP_GROWTH`. One that is `cut` has too
    many states.
    """

    node: ast.For | ast.While
    play: Callable[[Sequence[Action], Value, dict[Cell, Value]], Ends]
    parts: Sequence[Action]
    items: Sequence[Value] | None = None
    alike: bool = True
    growth: int = 0
    cut: bool = False


def _nodes(value: Value) -> Iterator[Expr]:
    """Yield the nodes inside a value."""
    if isinstance(value, Expr):
        yield value
    elif isinstance(value, tuple) and not all_plain(value):
        for item in value:
            yield from _nodes(item)
    elif isinstance(value, Union):
        for guard, item in value.alternatives:
            yield guard
            yield from _nodes(item)


class NotAChain(Exception):
    """Why a loop is not followed this way."""


class Split(NotAChain):
    """A loop depends on too many values of some nodes.

    In the round of a loop around it one of the draws that decide may be `given`, outcome by outcome: that `at` a place,
    with its `law`. All that came before such a draw stays as it was.
    """

    def __init__(self, what: str, given: Given | None, operands: Sequence[Expr]) -> None:
        super().__init__(what)
        drawn = [node for node in reachable(operands) if isinstance(node, Draw) and isinstance(node.selector, Const)]
        last = -1 if given is None else max(given.outcomes, default=-1)
        here = [node for node in drawn if given is not None and given.places.get(node.serial, -1) > last]
        self.given: Given | None = None
        self.at = 0
        self.law: Law = ()
        if given is not None and here:
            draw = max(here, key=lambda node: len(node.values))
            self.given, self.at, self.law = given, given.places[draw.serial], draw.laws[0] or ()


class Outer(Exception):
    """A value from before the loop is needed."""

    def __init__(self, expr: Expr) -> None:
        super().__init__()
        self.expr = expr


Alike = dict[int, dict[object, object]]
"""Of draws, by their serials, which outcome stands for each of those that a round does not tell apart from it."""


class Run:
    """One run of a round: the values of its nodes, with the outcomes of its draws as they are given or the first."""

    def __init__(self, born: int, context: Context, past: list[tuple[Law, int]], alike: Alike | None = None) -> None:
        self._born, self._context, self._past, self._alike = born, context, past, alike or {}
        self._values: Context = {}
        self.draws: list[tuple[Law, int]] = []
        self.read: Context = {}
        """What it looked at of the context."""

    def value(self, expr: Expr) -> Value:
        if isinstance(expr, Const):
            return expr.values[0]
        if expr.serial in self._context:
            self.read[expr.serial] = self._context[expr.serial]
            return self.read[expr.serial]
        if expr.serial not in self._values:
            if expr.serial <= self._born and not (isinstance(expr, Apply) and expr.operator == "not"):
                raise Outer(expr)
            self._values[expr.serial] = self._computed(expr)
        return self._values[expr.serial]

    def _computed(self, expr: Expr) -> Value:
        match expr:
            case Draw():
                law = expr.laws[expr.selector.index[self.value(expr.selector)]]
                assert law is not None
                if expr.serial in self._alike:
                    law = _of_those_told_apart(law, self._alike[expr.serial])
                at = len(self.draws)
                self.draws.append(self._past[at] if at < len(self._past) else (law, 0))
                return law[self.draws[at][1]][0]
            case Case():
                return self.value(expr.branches[expr.selector.index[self.value(expr.selector)]])
            case Nary(operator="and" | "or") as join:
                decided = join.operator == "or"
                return decided if any(self.value(each) is decided for each in join.operands) else not decided
            case Nary() | Apply():
                return computed(expr, [self.value(operand) for operand in expr.operands])
        raise NotAChain("it shuffles")

    def whole(self, value: Value) -> Value:
        """Return what a name holds, with nothing open in it."""
        if isinstance(value, Expr):
            return self.value(value)
        if isinstance(value, tuple):
            return value if all_plain(value) else like(value, (self.whole(item) for item in value))
        if isinstance(value, Union):
            *others, last = value.alternatives
            return self.whole(next((item for guard, item in others if self.value(guard)), last[1]))
        if not (value is MISSING or is_scalar(value) or isinstance(value, (Reference, Closure, Host))):
            raise NotAChain("it goes on with what is neither a number nor a tuple or list of numbers")
        return value

    @property
    def probability(self) -> Number:
        product: Number = Fraction(1)
        for law, at in self.draws:
            product = product * law[at][1]
        return product


def _of_those_told_apart(law: Law, alike: dict[object, object]) -> Law:
    found: dict[Any, Number] = {}
    for outcome, mass in law:
        first = alike[outcome]
        found[first] = found[first] + mass if first in found else mass
    return tuple(found.items())


def runs(born: int, context: Context, alike: Alike, action: Callable[[Run], T]) -> Iterator[tuple[T, Run]]:
    """Yield what an action makes of each run, and the run."""
    past: list[tuple[Law, int]] = []
    while True:
        run = Run(born, context, past, alike)
        outcome = action(run)
        yield outcome, run
        past = run.draws
        while past and past[-1][1] + 1 == len(past[-1][0]):
            past.pop()
        if not past:
            return
        past[-1] = past[-1][0], past[-1][1] + 1


# the lists that a round made, as part of a state: what they hold, and which names share one


@dataclass(frozen=True)
class Listed:
    """A list that a round made: its number among them, by which names share it, and its items, none inside itself."""

    number: int
    items: tuple[Value, ...] = ()

    def __repr__(self) -> str:
        return repr(list(self.items))


class Lists:
    """The lists that a round made, in what it goes on with."""

    def __init__(self, run: Run, changes: dict[Cell, Value], keys: int) -> None:
        self._run, self._changes, self._keys = run, changes, keys
        self._numbers: dict[int, int] = {}
        self._around: set[int] = set()

    def content(self, value: Value) -> Value:
        """Return a value with nothing open in it, and with lists that were made meanwhile as what they hold."""
        whole = self._run.whole(value)
        return self._listed(whole) if isinstance(whole, (tuple, Reference)) else whole

    def _listed(self, whole: Value) -> Value:
        if isinstance(whole, tuple):
            return whole if all_plain(whole) else like(whole, map(self._listed, whole))
        if not isinstance(whole, Reference) or whole.key <= self._keys:
            return whole
        number = self._numbers.setdefault(whole.key, len(self._numbers))
        if number in self._around:
            return Listed(number)
        self._around.add(number)
        items = self.content(self._changes[whole.key])
        self._around.remove(number)
        return Listed(number, items)


def remade(m: Machine, values: Sequence[Value]) -> Sequence[Value]:
    """Return values with new lists in place of those that a round made."""
    made: dict[int, Reference] = {}

    def thawed(value: Value) -> Value:
        if isinstance(value, tuple):
            return value if all_plain(value) else like(value, map(thawed, value))
        if not isinstance(value, Listed):
            return value
        if value.number not in made:
            made[value.number] = m.new_list(())
            m.store[made[value.number].key] = thawed(value.items)
        return made[value.number]

    return tuple(map(thawed, values))


def is_endless(value: Value) -> bool:
    """Whether what a round goes on with may be any integer: it would have to be compared with what comes later."""
    inner = value.items if isinstance(value, Listed) else value
    return isinstance(value, Far) or (isinstance(inner, tuple) and not all_plain(inner) and any(map(is_endless, inner)))


def nested(value: Value) -> object:
    """Return how a value is nested, whatever its numbers are."""
    inner = value.items if isinstance(value, Listed) else value
    return tuple(map(nested, inner)) if isinstance(inner, tuple) else len(inner) if isinstance(inner, str) else None
