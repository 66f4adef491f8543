"""The steps in which elimination goes through a program: what is computed when, on which rows, and what is kept.

A step adds one column, the value of a node, and drops the columns that no later step reads. Its guard says on which
rows it is needed: values that a known selector has not chosen, or that cannot change a conjunction already false, are
skipped, and the row goes straight on to the next step that may be needed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import log2
from operator import itemgetter
from typing import TypeAlias

from tightdp.core.nodes import Case, CoreProgram, Expr
from tightdp.core.operators import Value
from tightdp.methods.elimination_guards import ALWAYS, Atom, Guard, Guards
from tightdp.methods.elimination_nodes import Nodes, leaf_orders, make_nodes

__all__ = ["Plan", "Row", "Step", "TooWide", "first_plan", "plans"]

Row: TypeAlias = tuple[Value, ...]
"""The values of some columns."""

_MOST_WIDTH = 20_000_000
"""How many columns a plan may have, summed over its steps."""
_CHEAP = 18
"""Where at most 2 to this power rows are made, no other order is tried."""


class TooWide(Exception):
    """A program keeps too many values at a time for a plan."""


@dataclass
class Step:
    """One step. `kind` is input, draw, apply, case, and, or, check; `node` the place of the node it is about.

    `layout` are the columns of the rows that it gets; `pick` makes the row after it from the row before it with the
    new value appended (None: nothing is dropped). Where the value of `active` is false a run makes no draw, and any
    outcome will do. `past` is the next step that may be needed where the guard fails.
    """

    kind: str
    node: int
    guard: Guard = ALWAYS
    active: int | None = None
    layout: tuple[int, ...] = ()
    pick: Callable[[Row], Row] | None = None
    past: int = 0
    cache: dict[Value, dict[Value, Value]] = field(default_factory=dict)


@dataclass
class Plan:
    """The steps for one program, in order. `layout` are the columns at the end; `plain[r]` the nodes without draws
    that are known once leaf r is (-1: from the start). `logarithm` bounds the number of rows of all steps
    for one dataset, base 2."""

    program: CoreProgram
    nodes: Nodes
    steps: list[Step]
    layout: tuple[int, ...]
    plain: dict[int, list[int]]
    logarithm: float

    def distinct(self, at: int) -> int:
        """Return how many steps from this one on take every row, and keep all of them apart before they are made."""
        end = at
        while end < len(self.steps) and self.steps[end].guard == ALWAYS:
            end += 1
            if self.steps[end - 1].pick is not None or self.steps[end - 1].kind == "check":
                break
        return end - at

    def onto(self, start: int, end: int) -> Callable[[Row], Row]:
        """Return a function that takes a row from a step to a later one; columns skipped hold the last entry."""
        before = self.steps[start].layout
        after = self.steps[end].layout if end < len(self.steps) else self.layout
        place = {column: at for at, column in enumerate(before)}
        return picker([place.get(column, len(before)) for column in after])


def picker(places: Sequence[int]) -> Callable[[Row], Row]:
    """Return a function that gives the entries of a tuple at some places, as a tuple."""
    if not places:
        return lambda row: ()
    if len(places) == 1:
        (place,) = places
        return lambda row: (row[place],)
    return itemgetter(*places)


def first_plan(program: CoreProgram) -> Plan:
    """Return the plan that the first order of the leaves gives. Raises TooWide."""
    return _Planner(program, next(leaf_orders(program))).run()


def plans(program: CoreProgram) -> list[Plan]:
    """Return the plans that some orders of the leaves give: one where it is certainly cheap. Raises TooWide."""
    orders = leaf_orders(program)
    found = [_Planner(program, next(orders)).run()]
    if found[0].logarithm >= _CHEAP:
        found += [_Planner(program, leaves).run() for leaves in orders]
    return found


class _Planner:
    def __init__(self, program: CoreProgram, leaves: Sequence[Expr]) -> None:
        self.program = program
        self.all = make_nodes(program, leaves)
        self.nodes = self.all.nodes
        self.position = [-1] * len(self.nodes)
        self.guards = Guards(self.nodes, self.position)

    def run(self) -> Plan:
        steps, plain = self._ordered()
        self._guard(steps)
        self._leap(steps)
        layout, logarithm = self._lay_out(steps)
        return Plan(self.program, self.all, steps, layout, plain, logarithm)

    def _ordered(self) -> tuple[list[Step], dict[int, list[int]]]:
        every, checks = self.all, set(self.all.checks)
        plain: dict[int, list[int]] = {}
        steps: list[Step] = []
        for place in sorted(range(len(self.nodes)), key=lambda place: (every.rank[place], place)):
            node = self.nodes[place]
            if node.kind == "input":
                steps.append(Step("input", place))
            if every.plain[place]:
                self.position[place] = len(steps) - 1
                plain.setdefault(every.rank[place], []).append(place)
            else:
                self.position[place] = len(steps)
                steps.append(Step(node.kind, place))
            if place in checks:
                steps.append(Step("check", place))
        return steps, plain

    # guards

    def _guard(self, steps: Sequence[Step]) -> None:
        """Work out, from the last step to the first, where each value is needed."""
        uses: dict[int, list[tuple[Guard, Atom | None]]] = {}
        ending = None if self.all.evidence is None else (self.all.evidence, frozenset([True]))
        for place in self.all.components:
            uses.setdefault(place, []).append((ALWAYS, ending))
        for place in (*self.all.checks, *(() if self.all.evidence is None else (self.all.evidence,))):
            uses.setdefault(place, []).append((ALWAYS, None))
        for place in sorted(range(len(self.nodes)), key=lambda place: (self.position[place], place), reverse=True):
            if self.all.plain[place]:
                continue
            guard = steps[self.position[place]].guard = self.guards.find(place, uses.pop(place, []))
            active = self.all.active.get(place)
            if active is not None and self.position[active] < self.position[place]:
                uses.setdefault(active, []).append((guard, None))
                steps[self.position[place]].active = active
            for operand, atom in self._operands(place):
                uses.setdefault(operand, []).append((guard, atom))

    def _operands(self, place: int) -> list[tuple[int, Atom | None]]:
        """Return the operands of a node, and what must hold for each to matter."""
        node = self.nodes[place]
        match node.kind:
            case "and" | "or":
                first, second = node.operands
                if self.position[first] > self.position[second]:
                    first, second = second, first
                return [(first, None), (second, (first, frozenset([node.kind == "and"])))]
            case "case":
                assert isinstance(node.expr, Case)
                selector = node.operands[0]
                chosen: dict[int, list[Value]] = {}
                for value, branch in zip(node.expr.selector.values, node.operands[1:], strict=True):
                    chosen.setdefault(branch, []).append(value)
                return [(selector, None), *((b, (selector, frozenset(values))) for b, values in chosen.items())]
        return [(operand, None) for operand in node.operands]

    def _leap(self, steps: Sequence[Step]) -> None:
        """Find, for every guard that fails, the next step that may be needed all the same."""
        for at in range(len(steps) - 1, -1, -1):
            step, to = steps[at], at + 1
            if step.guard != ALWAYS:
                while (
                    to < len(steps) and steps[to].kind != "input" and self.guards.implies(steps[to].guard, step.guard)
                ):
                    to = steps[to].past
            step.past = to

    # columns

    def _lay_out(self, steps: Sequence[Step]) -> tuple[tuple[int, ...], float]:
        end = len(steps)
        last: dict[int, int] = {}
        for at, step in enumerate(steps):
            reads = () if step.kind == "input" else self.nodes[step.node].operands
            if step.kind == "check":
                reads = (step.node,)
            for column in reads if step.active is None else (*reads, step.active):
                last[column] = at
            for conjunction in step.guard:
                last.update((column, at) for column, _ in conjunction)
        for column in (*self.all.components, *(() if self.all.evidence is None else (self.all.evidence,))):
            last[column] = end
        ending: dict[int, list[int]] = {}
        for column, at in last.items():
            ending.setdefault(at, []).append(column)
        layout: tuple[int, ...] = ()
        bits = branching = 0.0
        width, most = 0, 0.0
        for at, step in enumerate(steps):
            step.layout = layout
            width += len(layout)
            if width > _MOST_WIDTH:
                raise TooWide
            made = () if step.kind in ("input", "check") else (step.node,)
            columns = (*layout, *made)
            over = {column for column in ending.get(at, ()) if column in columns}
            over.update(column for column in made if last.get(column, at) <= at)
            layout = columns
            if over:
                kept = [place for place, column in enumerate(columns) if column not in over]
                step.pick = picker(kept)
                bits -= sum(log2(self.nodes[column].size) for column in over)
                layout = tuple(columns[place] for place in kept)
            if made:
                bits += log2(self.nodes[step.node].size)
            if step.kind == "draw":
                branching += log2(self.nodes[step.node].size)
            rows = max(min(bits, branching), 0.0)
            most = max(most, rows) + log2(1 + 2 ** (min(most, rows) - max(most, rows)))
        return layout, most
