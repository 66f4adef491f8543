"""Which values some nodes can take together, where they are far fewer than the combinations of what each can take.

Scores of one dataset are an example: each is a count, but all of them follow from which records there are. And how
likely these values are, where records are given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from fractions import Fraction

from tightdp.core.nodes import (
    Apply,
    Case,
    Const,
    Draw,
    Expr,
    Input,
    Nary,
    Shuffled,
    canonical,
    computed,
    joined,
)
from tightdp.core.operators import NOTHING, Value
from tightdp.exact.field import Number
from tightdp.limits import pay
from tightdp.limits.calibrated import OPERATION_COMBINATIONS

_SURE: Number = Fraction(1)

State = tuple[Value, ...]
Outcome = tuple[dict[int, Value], Number]
"""Values by the serial number of nodes, and how likely they are."""


def values_together(
    nodes: Sequence[Expr], most: int, watch: Callable[[], None] = lambda: None
) -> tuple[State, ...] | None:
    """Return the tuples of values that nodes may take together, or more; None where they are more than `most`.

    Leaves are visited in the order in which the nodes reach them, draws as if every outcome were possible. Of
    every state only what is still needed is kept: an n-ary operation is one value, that of the operands so far.
    """
    walk = _Walk(nodes)
    states: list[State] = [()]
    work = 0
    for place in range(-1, len(walk.leaves)):
        step = _Step(walk, place)
        work += step.size * len(states)
        if work > OPERATION_COMBINATIONS:
            return None
        pay(watch, step.size * len(states) / 4)
        states = list(dict.fromkeys(following for state in states for following, _ in step.after(state)))
        if len(states) > most:
            return None
    known = (dict(zip(walk.kept, state, strict=True)) for state in states)
    whole = dict.fromkeys(tuple(walk.get(node, values) for node in nodes) for values in known)
    return tuple(values for values in whole if all(value is not NOTHING for value in values))


def law_together(
    nodes: Sequence[Expr],
    given: Mapping[int, Value],
    conditions: Container[int],
    most: int,
    watch: Callable[[], None] = lambda: None,
) -> dict[State, Number] | None:
    """Return the joint law of nodes where inputs have given values (by serial number).

    Only `conditions` are looked at to see whether a draw is made. None where some of the law cannot be computed, or
    takes more than `most` values of nodes.
    """
    walk = _Walk(nodes, given, conditions)
    states: dict[State, Number] = {(): Fraction(1)}
    for place in range(-1, len(walk.leaves)):
        step = _Step(walk, place)
        found: dict[State, Number] = {}
        for state, mass in states.items():
            watch()
            for following, more in step.after(state):
                most -= step.cost
                found[following] = found[following] + mass * more if following in found else mass * more
            if most < 0:
                return None
        states = found
    law: dict[State, Number] = {}
    for state, mass in states.items():
        known = dict(zip(walk.kept, state, strict=True))
        values = tuple(canonical(node, walk.get(node, known)) for node in nodes)
        if any(value is NOTHING for value in values):
            return None
        law[values] = law.get(values, Fraction(0)) + mass
    return law


class _Walk:
    """The nodes below some nodes, down to leaves, and at which leaf each is known.

    Where values of inputs are `given`, the selectors of draws and the items of shuffles are below these.
    """

    def __init__(
        self, nodes: Sequence[Expr], given: Mapping[int, Value] | None = None, conditions: Container[int] = ()
    ) -> None:
        self.given = given
        self._conditions = conditions
        self.leaves: list[Expr] = []
        self.shuffles: dict[int, list[Shuffled]] = {}
        """The places of every shuffle that are looked at."""
        self.known: dict[int, int] = {}
        """The place of the last leaf below every node, -1 where there is none."""
        self.inner: list[Expr] = []
        self.needed: dict[int, int] = {}
        """The place of the last leaf at which the value of a node is still used, or asked for at the end."""
        self.computed: dict[int, list[tuple[Expr, list[Expr]]]] = {}
        """What is computed at every place: a node, and which of its operands are known there and not before."""
        self.kept: tuple[int, ...] = ()
        for node in nodes:
            self._add(node)
        self.inner.sort(key=lambda expr: expr.serial)
        for expr in self.inner:
            now: dict[int, list[Expr]] = {self.known[expr.serial]: []}
            for operand in expr.children:
                now.setdefault(self.known[operand.serial], []).append(operand)
            for place in now if isinstance(expr, Nary) else (self.known[expr.serial],):
                self.computed.setdefault(place, []).append((expr, now[place]))
        for expr in (*self.inner, *self.leaves):
            for operand in self._below(expr):
                used = self.known[operand.serial] if isinstance(expr, Nary) else self.known[expr.serial]
                self.needed[operand.serial] = max(self.needed.get(operand.serial, -1), used)
        for node in nodes:
            self.needed[node.serial] = len(self.leaves)

    def _below(self, expr: Expr) -> tuple[Expr, ...]:
        if self.given is None and isinstance(expr, (Draw, Shuffled)):
            return ()
        condition = self._condition(expr)
        return expr.children if condition is None else (*expr.children, condition)

    def _condition(self, expr: Expr) -> Expr | None:
        active = expr.active if isinstance(expr, Draw) else None
        known = active.operands[0] if isinstance(active, Apply) and active.operator == "not" else active
        return active if known is not None and known.serial in self._conditions else None

    def _add(self, node: Expr) -> None:
        stack = [(node, False)]
        while stack:
            expr, done = stack.pop()
            if expr.serial in self.known:
                continue
            if isinstance(expr, Const) or (isinstance(expr, Input) and self.given is not None):
                self.known[expr.serial] = -1
            elif not done:
                stack.append((expr, True))
                stack += [(below, False) for below in reversed(self._below(expr))]
            elif not isinstance(expr, (Input, Draw, Shuffled)):
                self.known[expr.serial] = max(self.known[below.serial] for below in expr.children)
                self.inner.append(expr)
            else:
                self._add_leaf(expr)

    def _add_leaf(self, leaf: Expr) -> None:
        if isinstance(leaf, Shuffled) and self.given is not None:
            places = self.shuffles.setdefault(leaf.group, [])
            places.append(leaf)
            if places[0] is not leaf:
                self.known[leaf.serial] = self.known[places[0].serial]
                return
        self.known[leaf.serial] = len(self.leaves)
        self.leaves.append(leaf)

    def found_at(self, leaf: Expr) -> list[int]:
        """Return the serial numbers of what is drawn together with a leaf."""
        places = self.shuffles.get(leaf.group, [leaf]) if isinstance(leaf, Shuffled) else [leaf]
        return [place.serial for place in places]

    def outcomes(self, leaf: Expr, values: dict[int, Value]) -> Iterator[Outcome]:
        """Yield what a leaf can be; how likely that is, is told where inputs are given."""
        if self.given is None:
            yield from (({leaf.serial: value}, _SURE) for value in leaf.values)
        elif isinstance(leaf, Draw):
            at, condition = leaf.selector.index.get(self.get(leaf.selector, values)), self._condition(leaf)
            idle = at is None or (condition is not None and self.get(condition, values) is False)
            law = None if at is None or idle else leaf.laws[at]  # None: this run fails, or makes no such draw
            yield from (({leaf.serial: value}, mass) for value, mass in law or [(leaf.values[0], _SURE)])
        elif isinstance(leaf, Shuffled):
            items = Counter(self.get(item, values) for item in leaf.items)
            yield from _arranged(self.found_at(leaf), items, len(leaf.items))

    def get(self, expr: Expr, values: dict[int, Value]) -> Value:
        """Return the value of a node that is known."""
        if isinstance(expr, Input) and self.given is not None:
            return self.given[expr.serial]
        return expr.values[0] if isinstance(expr, Const) else values[expr.serial]


class _Step:
    """What one more leaf makes known."""

    def __init__(self, walk: _Walk, place: int) -> None:
        self._walk, self._before = walk, walk.kept
        self._leaf = walk.leaves[place] if place >= 0 else None
        known, needed = walk.known, walk.needed
        self._computed = walk.computed.get(place, [])
        fresh = [*self._before, *(expr.serial for expr, _ in self._computed)]
        if self._leaf is not None:
            fresh += walk.found_at(self._leaf)
        walk.kept = self._kept = tuple(
            serial for serial in dict.fromkeys(fresh) if known[serial] > place or needed[serial] > place
        )
        self.cost = 1 + len(self._computed)
        self.size = self.cost * (1 if self._leaf is None else len(self._leaf.values))

    def after(self, state: State) -> Iterator[tuple[State, Number]]:
        """Yield the states that follow one state, and how likely they are."""
        before = dict(zip(self._before, state, strict=True))
        for outcome, mass in [({}, _SURE)] if self._leaf is None else self._walk.outcomes(self._leaf, before):
            values = before | outcome
            for expr, now in self._computed:
                values[expr.serial] = self._value(expr, now, values)
            yield tuple(values[serial] for serial in self._kept), mass

    def _value(self, expr: Expr, now: Sequence[Expr], values: dict[int, Value]) -> Value:
        get = self._walk.get
        if isinstance(expr, Nary):
            so_far = [values[expr.serial]] if expr.serial in values else []
            return joined(expr.operator, [*so_far, *(get(operand, values) for operand in now)])
        if isinstance(expr, Case):
            at = expr.selector.index.get(get(expr.selector, values))
            return NOTHING if at is None else get(expr.branches[at], values)
        return computed(expr, [get(operand, values) for operand in expr.children])


def _arranged(places: Sequence[int], items: Counter[Value], left: int) -> Iterator[Outcome]:
    """Yield what stands in some places of a uniformly random arrangement."""
    if not places:
        yield {}, Fraction(1)
        return
    for item, number in list(items.items()):
        if number:
            items[item] -= 1
            for others, mass in _arranged(places[1:], items, left - 1):
                yield {places[0]: item, **others}, mass * Fraction(number, left)
            items[item] += 1
